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
  async extract({ bytes, charset }, sink, context) {
    const { decodeText } = await import('../mail/charset.js')
    const { takeBlocks } = await import('../mail/blocks.js')
    const taken = takeBlocks(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const { text } = decodeText(taken?.rest ?? bytes, { declared: charset })
    sink.write(withoutEscapes(text))
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
