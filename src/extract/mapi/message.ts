/**
 * Messages, appointments, tasks and contacts of Outlook as property bags ([MS-OXPROPS]), however they are
 * stored (msg.ts, tnef.ts): which properties a person would search, and in which order they are written.
 */
import { decompressRtf } from '../../mail/compressed-rtf.js'
import { decodeCodePage } from '../codepage.js'
import type { Context } from '../extractor.js'
import type { TextSink } from '../sink.js'

/** Kinds of values, [MS-OXCDATA] 2.11.1. */
export const KIND = {
  string8: 0x1e,
  unicode: 0x1f,
  time: 0x40,
  binary: 0x102,
  object: 0x0d,
  integer: 0x03,
} as const

export interface Property {
  kind: number
  /** The value's bytes; of several values the first. */
  value: Buffer
  /** For properties with a name of their own: the set, lower hex digits without dashes, and the number in it. */
  named?: { set: string; id: number }
}

export type Properties = Map<number, Property>

export interface Attachment {
  name: string
  declaredType: string
  /** Undefined where the message only refers to a file. */
  bytes: Buffer | undefined
}

export const TAG = {
  subject: 0x0037,
  start: 0x0060,
  end: 0x0061,
  sentForName: 0x0042,
  sentForAddress: 0x0065,
  senderName: 0x0c1a,
  senderAddress: 0x0c1f,
  displayBcc: 0x0e02,
  displayCc: 0x0e03,
  displayTo: 0x0e04,
  body: 0x1000,
  rtf: 0x1009,
  html: 0x1013,
  displayName: 0x3001,
  address: 0x3003,
  attachmentData: 0x3701,
  attachmentShortName: 0x3704,
  attachmentName: 0x3707,
  attachmentType: 0x370e,
  smtpAddress: 0x39fe,
  internetCodePage: 0x3fde,
  messageCodePage: 0x3ffd,
  senderSmtp: 0x5d01,
  sentForSmtp: 0x5d02,
} as const

/** Sets whose numbered text properties people fill in: appointments, tasks, contacts, meetings, notes. */
const SETS = new Set(
  ['00062002', '00062003', '00062004', '0006200e'].map((first) =>
    named(`${first}-0000-0000-c000-000000000046`),
  ),
)
SETS.add(named('6ed8da90-450b-11ce-b05a-00aa00372f30'))

/** A GUID as its bytes stand in files, in hexadecimal. */
function named(guid: string): string {
  const [a = '', b = '', c = '', ...rest] = guid.split('-')
  const turn = (hex: string): string => Buffer.from(hex, 'hex').reverse().toString('hex')
  return turn(a) + turn(b) + turn(c) + rest.join('')
}

/** Begin and end of an appointment, start and due date of a task. */
const TIMES = new Set([0x820d, 0x820e, 0x8104, 0x8105])

export function codePageOf(properties: Properties, otherwise = 1252): number {
  for (const tag of [TAG.messageCodePage, TAG.internetCodePage]) {
    const property = properties.get(tag)
    if (property && property.value.length >= 4) {
      const codePage = property.value.readUInt32LE(0)
      // ISO-2022-JP on the wire is Shift_JIS in properties
      if (codePage >= 50220 && codePage <= 50222) return 932
      if (codePage > 0) return codePage
    }
  }
  return otherwise
}

/** Text of a property, empty when there is none. */
export function textOf(property: Property | undefined, codePage: number): string {
  if (!property) return ''
  const { kind, value } = property
  const text =
    kind === KIND.unicode
      ? value.toString('utf16le', 0, value.length & ~1)
      : kind === KIND.string8
        ? decodeCodePage(value, codePage)
        : ''
  return text.replace(/\0[\s\S]*$/, '')
}

/** Writes a message; its attachments are read as members. */
export async function writeMessage(
  properties: Properties,
  recipients: readonly Properties[],
  attachments: Iterable<Attachment>,
  sink: TextSink,
  context: Context,
  codePage: number,
): Promise<void> {
  const text = (tag: number): string => textOf(properties.get(tag), codePage).trim()
  const written = new Set<string>()
  const line = (value: string): void => {
    const shown = value.trim()
    if (shown === '' || written.has(shown)) return
    written.add(shown)
    sink.line(shown)
  }
  line(text(TAG.subject))
  line(person(text(TAG.senderName), text(TAG.senderSmtp), text(TAG.senderAddress)))
  line(person(text(TAG.sentForName), text(TAG.sentForSmtp), text(TAG.sentForAddress)))
  const people = recipients.map((one) => {
    const own = (tag: number): string => textOf(one.get(tag), codePage).trim()
    return person(own(TAG.displayName), own(TAG.smtpAddress), own(TAG.address))
  })
  if (people.length > 0) line(people.join(', '))
  else for (const tag of [TAG.displayTo, TAG.displayCc, TAG.displayBcc]) line(text(tag))

  await writeBody(properties, codePage, sink, context)

  for (const [tag, property] of properties) {
    const value = textOf(property, codePage)
    const isTime = property.kind === KIND.time && property.named && TIMES.has(property.named.id)
    if (isTime) line(shownTime(property.value))
    else if (
      (property.named ? SETS.has(property.named.set) : isContactTag(tag)) &&
      isWorthReading(value)
    )
      line(value)
  }
  for (const { name, declaredType, bytes } of attachments) {
    if (!bytes) continue
    await context.nested(bytes, name || 'attachment', declaredType)
  }
}

/** Plain text when there is any, else HTML, else RTF (which may be wrapped HTML: its text reads the same). */
async function writeBody(
  properties: Properties,
  codePage: number,
  sink: TextSink,
  context: Context,
): Promise<void> {
  const plain = textOf(properties.get(TAG.body), codePage)
  if (plain.trim() !== '') return sink.line(plain.trim())
  const html = properties.get(TAG.html)
  if (html && html.value.length > 0) {
    const { htmlText } = await import('../../mail/html.js')
    const { decodeText } = await import('../../mail/charset.js')
    const source =
      html.kind === KIND.binary
        ? decodeText(html.value, { markup: true }).text
        : textOf(html, codePage)
    const seen = htmlText(source, context.budget.limits.textChars).trim()
    if (seen !== '') return sink.line(seen)
  }
  const packed = properties.get(TAG.rtf)
  const rtf = packed && decompressRtf(packed.value, context.budget.bytesLeft)
  if (!rtf) return
  context.budget.takeBytes(rtf.length)
  await context.nested(rtf, 'body.rtf', 'application/rtf', { transparent: true })
}

function person(name: string, ...addresses: string[]): string {
  const address = addresses.find((one) => one.includes('@') && !one.startsWith('/'))
  return address && address !== name ? `${name} ${address}`.trim() : name
}

/** Names, telephones and addresses of contacts. */
function isContactTag(tag: number): boolean {
  return (tag >= 0x3a00 && tag <= 0x3aff) || tag === TAG.displayName
}

function isWorthReading(value: string): boolean {
  return (
    /[\p{L}\p{N}]/u.test(value) &&
    value.length < 100_000 &&
    !/^(EX|SMTP|FAX|IPM\..*|\/o=.*|[0-9A-F]{24,})$/i.test(value)
  )
}

/** A FILETIME as `2026-03-05 14:30`, UTC. */
function shownTime(value: Buffer): string {
  if (value.length < 8) return ''
  const milliseconds = Number(value.readBigUInt64LE(0) / 10_000n) - 11_644_473_600_000
  const date = new Date(milliseconds)
  const year = date.getUTCFullYear()
  // the ends of the scale stand for "none"
  return year > 1601 && year < 4500 ? date.toISOString().slice(0, 16).replace('T', ' ') : ''
}
