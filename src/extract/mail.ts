/**
 * Mail inside documents: a forwarded message, a saved web page (mht), an mbox. Headers that a person would
 * search, the body, and every part that is a document, read as a member.
 *
 * Not responsible for MIME (mail/parse.ts) and for what separates the messages of an mbox (mail/mbox.ts).
 */
import { isSeparator, unquoted } from '../mail/mbox.js'
import type { Message } from '../mail/message.js'
import type { Context, Extractor, Facts } from './extractor.js'
import type { TextSink } from './sink.js'

export const mail: Extractor = {
  name: 'mail',
  version: 3,
  title: 'Messages and saved pages (eml, mht)',
  types: ['message/rfc822', 'multipart/related'],
  extensions: ['eml', 'mht', 'mhtml'],
  lane: 'text',
  extract: ({ bytes }, sink, context) => readMail(bytes, sink, context),
}

export const mbox: Extractor = {
  name: 'mbox',
  version: 4,
  title: 'Mailboxes (mbox)',
  types: ['application/mbox'],
  extensions: ['mbox'],
  lane: 'text',
  async extract({ bytes }, sink, context) {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let nth = 0
    let first: Buffer | undefined
    // One by one: a file of line ends and separators holds a million, of which a limit lets a few be read.
    for (const message of splitMbox(file)) {
      if (++nth === 1) {
        first = message
        continue
      }
      if (first) await context.nested(first, 'message 1.eml', 'message/rfc822')
      first = undefined
      await context.nested(message, `message ${nth}.eml`, 'message/rfc822')
    }
    if (first) return readMail(first, sink, context)
  },
}

/** Writes a message into the open page, then reads its documents. @returns what of it could not be read */
async function readMail(bytes: Uint8Array, sink: TextSink, context: Context): Promise<Facts> {
  const { parseMessage } = await import('../mail/parse.js')
  const message = await parseMessage(bytes, { limits: context.budget.limits, want: 'all' })
  writeMessage(message, sink)
  for (const part of message.parts) {
    // a saved page brings its style sheets and scripts
    if (/^(text\/css|text\/javascript|application\/(x-)?javascript)$/.test(part.declaredType))
      continue
    if (!part.bytes) {
      context.declined(part.name || `part ${part.path}`, 'too-large', `${part.size} bytes`)
      continue
    }
    await context.nested(part.bytes, part.name || `part ${part.path}`, part.declaredType)
  }
  return factsOf(message.losses)
}

/** Writes subject, people and body. */
export function writeMessage(message: Message, sink: TextSink): void {
  if (message.subject !== '') sink.line(message.subject)
  for (const people of [message.from, message.to, message.cc, message.bcc])
    if (people.length > 0)
      sink.line(people.map(({ name, address }) => `${name} ${address}`.trim()).join(', '))
  sink.line(message.body)
}

/** What was not read of a message, as a fact of its reading. */
export function factsOf(losses: readonly string[]): Facts {
  return losses.length > 0 ? { partial: losses.join(', ') } : {}
}

/** Messages of an mbox, without the lines that separate them. */
function* splitMbox(file: Buffer): Generator<Buffer> {
  const behindLine = (at: number): number => file.indexOf(0x0a, at) + 1
  let from = isSeparator(file, 0) ? behindLine(0) : 0
  for (let at = file.indexOf('\nFrom '); at >= 0; at = file.indexOf('\nFrom ', at + 1)) {
    if (!isSeparator(file, at + 1)) continue
    yield unquoted(file.subarray(from, at + 1))
    from = behindLine(at + 1)
  }
  if (from < file.length) yield unquoted(file.subarray(from))
}
