/**
 * Messages, appointments, tasks and contacts of Outlook as bags of properties ([MS-OXPROPS]), however they are
 * stored: in a .msg (msg.ts) or a winmail.dat (extract/tnef.ts).
 */
import { decodeCodePage } from '../codepage.js'

/** Kinds of values, [MS-OXCDATA] 2.11.1. */
export const KIND = {
  integer: 0x03,
  boolean: 0x0b,
  object: 0x0d,
  string8: 0x1e,
  unicode: 0x1f,
  time: 0x40,
  binary: 0x102,
} as const

export interface Property {
  kind: number
  /** The value's bytes; of several values the first. */
  value: Buffer
  /** For properties with a name of their own: the set, lower hex digits without dashes, and the number in it. */
  named?: { set: string; id: number }
}

export type Properties = Map<number, Property>

/** What a file of Outlook holds. */
export interface Item {
  properties: Properties
  recipients: readonly Properties[]
  /** Read one by one, so that no more than one is in memory; may throw what the budget of bytes throws. */
  attachments: Iterable<Attachment>
  /** Code page of strings that are not Unicode. */
  codePage: number
  /** What the file claims and does not hold, a sentence each; grows while attachments are read. */
  losses: string[]
}

export interface Attachment {
  name: string
  /** Lower case; empty when the message gives none. */
  declaredType: string
  /** Belongs to the body, as a picture in it does. */
  isHidden: boolean
  /** Undefined where the message only refers to a file. */
  bytes: Buffer | undefined
}

export const TAG = {
  subject: 0x0037,
  sentTime: 0x0039,
  start: 0x0060,
  end: 0x0061,
  headers: 0x007d,
  sentForName: 0x0042,
  sentForAddress: 0x0065,
  recipientKind: 0x0c15,
  senderName: 0x0c1a,
  senderAddress: 0x0c1f,
  displayBcc: 0x0e02,
  displayCc: 0x0e03,
  displayTo: 0x0e04,
  deliveryTime: 0x0e06,
  body: 0x1000,
  rtf: 0x1009,
  html: 0x1013,
  messageId: 0x1035,
  references: 0x1039,
  inReplyTo: 0x1042,
  displayName: 0x3001,
  address: 0x3003,
  creationTime: 0x3007,
  attachmentData: 0x3701,
  attachmentShortName: 0x3704,
  attachmentName: 0x3707,
  attachmentType: 0x370e,
  smtpAddress: 0x39fe,
  internetCodePage: 0x3fde,
  messageCodePage: 0x3ffd,
  senderSmtp: 0x5d01,
  sentForSmtp: 0x5d02,
  attachmentHidden: 0x7ffe,
} as const

/** Code page of Windows beside the one that the mail was sent in. */
const ANSI_OF_INTERNET: Record<number, number> = {
  20127: 1252,
  20866: 1251,
  21866: 1251,
  28591: 1252,
  28592: 1250,
  28595: 1251,
  28597: 1253,
  28598: 1255,
  28599: 1254,
  28605: 1252,
  38598: 1255,
  50220: 932,
  50221: 932,
  50222: 932,
  50225: 949,
  51932: 932,
  51936: 936,
  51949: 949,
  52936: 936,
  54936: 936,
}

/** Code page of the strings in a bag that are not Unicode. */
export function codePageOf(properties: Properties, otherwise = 1252): number {
  for (const tag of [TAG.messageCodePage, TAG.internetCodePage]) {
    const codePage = numberOf(properties.get(tag))
    if (codePage > 0) return ANSI_OF_INTERNET[codePage] ?? codePage
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
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** Value of an integer or boolean, 0 when there is none. */
export function numberOf(property: Property | undefined): number {
  if (!property || property.value.length < 2) return 0
  if (property.kind === KIND.boolean) return property.value.readUInt16LE(0)
  if (property.kind !== KIND.integer || property.value.length < 4) return 0
  return property.value.readUInt32LE(0)
}

/** A FILETIME in seconds since 1970; null when there is none, or one of the ends of the scale that stand for none. */
export function secondsOf(property: Property | undefined): number | null {
  if (property?.kind !== KIND.time || property.value.length < 8) return null
  const seconds = Number(property.value.readBigUInt64LE(0) / 10_000_000n) - 11_644_473_600
  const year = new Date(seconds * 1000).getUTCFullYear()
  return year > 1601 && year < 4500 ? seconds : null
}

/** Sets whose numbered text properties people fill in: appointments, tasks, contacts, meetings, notes. */
const SETS = new Set(
  [
    '00062002-0000-0000-c000-000000000046',
    '00062003-0000-0000-c000-000000000046',
    '00062004-0000-0000-c000-000000000046',
    '0006200e-0000-0000-c000-000000000046',
    '6ed8da90-450b-11ce-b05a-00aa00372f30',
  ].map(bytesOf),
)

/** A GUID as its bytes stand in files, in hexadecimal. */
function bytesOf(guid: string): string {
  const [a = '', b = '', c = '', ...rest] = guid.split('-')
  const turn = (hex: string): string => Buffer.from(hex, 'hex').reverse().toString('hex')
  return turn(a) + turn(b) + turn(c) + rest.join('')
}

/** Number of an appointment's begin among named properties. */
const BEGIN = 0x820d
/** Begin and end of an appointment, start and due date of a task. */
const TIMES = new Set([BEGIN, 0x820e, 0x8104, 0x8105])

/** When an appointment begins, seconds since 1970. */
export function beginOf(properties: Properties): number | null {
  for (const property of properties.values())
    if (property.named?.id === BEGIN && SETS.has(property.named.set)) return secondsOf(property)
  return null
}

/** What a person filled into an appointment, a task or a contact: places, times (`2026-03-05 14:30`, UTC), names, telephones. */
export function* detailsOf(properties: Properties, codePage: number): Generator<string> {
  for (const [tag, property] of properties) {
    const { named } = property
    if (named && TIMES.has(named.id)) {
      const seconds = secondsOf(property)
      if (seconds !== null)
        yield new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')
    }
    if (!(named ? SETS.has(named.set) : isContactTag(tag))) continue
    const value = textOf(property, codePage).trim()
    if (isWorthReading(value)) yield value
  }
}

/** Names, telephones and addresses of contacts. */
function isContactTag(tag: number): boolean {
  return (tag >= 0x3a00 && tag <= 0x3aff) || tag === TAG.displayName
}

function isWorthReading(value: string): boolean {
  return (
    value.length < 100_000 &&
    /[\p{L}\p{N}]/u.test(value) &&
    !/^(EX|SMTP|FAX|IPM\..*|\/o=.*|[0-9A-F]{24,})$/i.test(value)
  )
}
