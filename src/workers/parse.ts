/**
 * A reference to a parsed, folded and packed message, or to the bytes of some of its parts.
 * Runs on a thread. Not responsible for: the clock (pool.ts), what is done with the rows (sweep/).
 */
import type { ReadResult, TextPage } from '../part/outcome.js'
import type { MessageReference } from '../part/reference.js'
import type { Document } from '../extract/read.js'
import { foldColumns } from '../fold/columns.js'
import { packBody } from '../fold/texts.js'
import { parseMessage } from '../mail/parse.js'
import { readMessage } from '../vault/read.js'
import type { ParseTask, RefoldedMessage, ThreadSettings } from './messages.js'
import type { ParsedMessage, UnreadMessage } from './parsed.js'

/** Bytes read of a message whose parsing ended its thread before: headers, and nothing that could be a part. */
const HEAD_BYTES = 65_536

/**
 * @param how.headOnly read the first 64 kB up to the first empty line, for a message that is known to do harm
 * @param how.dictionary what the body is packed with
 * @returns never throws for what the mail holds
 */
export async function parseMessageAt(
  vault: string,
  reference: MessageReference,
  { settings: { limits }, keepTexts }: ThreadSettings,
  { headOnly = false, dictionary }: Pick<ParseTask, 'headOnly' | 'dictionary'> = {},
): Promise<ParsedMessage | UnreadMessage> {
  const read = await readMessage(vault, reference, headOnly ? { messageBytes: HEAD_BYTES } : limits)
  if (read.kind !== 'read') return read
  const bytes = headOnly ? head(read.bytes) : read.bytes
  const message = await parseMessage(bytes, { limits })
  const { subject, from, to, body, labels } = message
  const cc = [...message.cc, ...message.bcc]
  return {
    kind: 'parsed',
    path: read.path,
    messageId: message.messageId,
    references: message.references,
    inReplyTo: message.inReplyTo,
    subject,
    from,
    to,
    cc,
    labels,
    date: message.date,
    received: message.received,
    parts: message.parts.map(({ path, name, declaredType, disposition, size, hash }) => ({
      path,
      name,
      declaredType,
      disposition,
      size,
      hash,
    })),
    columns: foldColumns(
      {
        subject,
        from,
        to,
        cc,
        body,
        labels,
        files: message.parts.map(({ name, declaredType }) => ({ name, type: declaredType })),
        attachments: [],
      },
      limits.messageChars,
    ),
    body: keepTexts ? packBody(body, dictionary) : [],
    losses: [
      ...(headOnly ? ['reading all of it failed; only its head was read'] : []),
      ...(read.isCut && !headOnly
        ? [`larger than ${limits.messageBytes} bytes; the rest was not read`]
        : []),
      ...message.losses,
    ],
  }
}

/**
 * Folds a message once more, with the texts of some of its contents, which are read for this alone.
 *
 * @param read reads one content; what it declines has no words
 */
export async function refoldMessageAt(
  vault: string,
  reference: MessageReference,
  hashes: ReadonlySet<string>,
  { settings: { limits } }: ThreadSettings,
  read: (document: Document) => Promise<ReadResult>,
): Promise<RefoldedMessage | UnreadMessage> {
  const found = await readMessage(vault, reference, limits)
  if (found.kind !== 'read') return found
  const message = await parseMessage(found.bytes, { limits, want: hashes })
  const files: Array<{ name: string; type: string }> = []
  const attachments: TextPage[][] = []
  for (const { hash, bytes, name, declaredType, charset } of message.parts) {
    const result =
      hashes.has(hash) && bytes ? await read({ bytes, name, declaredType, charset }) : undefined
    files.push({ name, type: result?.type ?? declaredType })
    attachments.push(result?.outcome.kind === 'text' ? result.outcome.pages : [])
  }
  const { subject, from, to, body, labels } = message
  const cc = [...message.cc, ...message.bcc]
  return {
    kind: 'refolded',
    columns: foldColumns(
      { subject, from, to, cc, body, labels, files, attachments },
      limits.messageChars,
    ),
  }
}

/** A part as it is to be read; without bytes when it is over `partBytes`. */
export interface DuePart extends Omit<Document, 'bytes'> {
  bytes: Uint8Array | undefined
  size: number
}

/**
 * The parts of a message that are asked for, by hash; of equal parts the first.
 */
export async function partsOf(
  vault: string,
  reference: MessageReference,
  hashes: ReadonlySet<string>,
  { settings: { limits } }: ThreadSettings,
): Promise<Map<string, DuePart> | UnreadMessage> {
  const read = await readMessage(vault, reference, limits)
  if (read.kind !== 'read') return read
  const message = await parseMessage(read.bytes, { limits, want: hashes })
  const due = new Map<string, DuePart>()
  for (const { hash, bytes, size, name, declaredType, charset } of message.parts)
    if (hashes.has(hash) && !due.has(hash))
      due.set(hash, { bytes, size, name, declaredType, charset })
  return due
}

function head(bytes: Buffer): Buffer {
  const end = /\r?\n\r?\n/.exec(bytes.toString('latin1'))
  return end ? bytes.subarray(0, end.index + end[0].length) : bytes
}
