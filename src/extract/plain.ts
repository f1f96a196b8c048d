/**
 * Text as it stands: letters, logs, source code, Markdown, JSON, in any encoding.
 *
 * Files that stand in a text as uuencode or yEnc blocks are taken out and read as members.
 * Not responsible for the encoding (mail/charset.ts) or the blocks (mail/blocks.ts).
 */
import type { Extractor } from './extractor.js'

export const plain: Extractor = {
  name: 'plain',
  version: 2,
  title: 'Plain text, Markdown, JSON, logs and source code in any encoding',
  types: [
    'text/plain',
    'text/markdown',
    'application/json',
    'text/javascript',
    'text/css',
    'application/x-sylk',
  ],
  extensions: ['txt', 'md', 'json', 'log'],
  lane: 'text',
  async extract({ bytes, charset, type }, sink, context) {
    const { decodeText } = await import('../mail/charset.js')
    const { takeBlocks } = await import('../mail/blocks.js')
    const taken = takeBlocks(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const { text } = decodeText(taken?.rest ?? bytes, { declared: charset })
    sink.write(type === 'application/json' ? asWritten(text) : withoutEscapes(text))
    for (const block of taken?.blocks ?? []) {
      context.budget.takeBytes(block.bytes.length)
      await context.nested(block.bytes, block.name)
    }
  },
}

/** Logs keep the colours of a terminal: ECMA-48 control sequences, which nobody reads. */
function withoutEscapes(text: string): string {
  return text.includes('\x1b') ? text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, '') : text
}

/** Of a value that is looked at; a longer one stays as it is written. */
const JSON_CHARS = 8_000_000
const ESCAPED: Record<string, string> = { n: '\n', r: '\n', t: '\t', b: '', f: '\n' }

/**
 * JSON with the escapes of its strings undone: programs write `Gr\u00fc\u00dfe` there. The whole of it, or each line
 * that is a value of its own; what is no JSON stays.
 */
function asWritten(text: string): string {
  if (!text.includes('\\')) return text
  if (isJson(text)) return withoutJsonEscapes(text)
  const lines = text.split('\n')
  return lines
    .map((line) => (line.includes('\\') && isJson(line) ? withoutJsonEscapes(line) : line))
    .join('\n')
}

function withoutJsonEscapes(json: string): string {
  return json.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code: string | undefined, mark: string) =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : (ESCAPED[mark] ?? mark),
  )
}

function isJson(text: string): boolean {
  if (text.length > JSON_CHARS || !/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
