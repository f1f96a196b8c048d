/**
 * What Outlook stores (properties.ts), as a message: a .msg file of a vault or attached to a mail, a winmail.dat.
 *
 * Not responsible for: a body that exists as RTF alone and holds no HTML; extract/ reads it as a document.
 */
import { createRequire } from 'node:module'
import iconv from 'iconv-lite'
import type * as rtfStreamParser from 'rtf-stream-parser'
import type { ByteBudget } from '../../ole/read.js'
import type { Limits } from '../../part/limits.js'
import { parseAddresses } from '../addresses.js'
import { decodeText } from '../charset.js'
import { codePageName } from '../codepage.js'
import { parseDate } from '../dates.js'
import { all, first, parseHead, type Head } from '../head.js'
import { htmlText } from '../html.js'
import { tooManyParts, type Message, type Part, type Person } from '../message.js'
import { partOf, type ParseOptions } from '../part-of.js'
import { decompressRtf } from './compressed-rtf.js'
import { readMsg } from './msg.js'
import {
  beginOf,
  detailsOf,
  KIND,
  numberOf,
  secondsOf,
  TAG,
  textOf,
  type Item,
  type Properties,
} from './properties.js'

/** Bytes copied out of one file of a vault, all together; an honest file holds no more than itself. */
const COPIED_BYTES = 300_000_000

/**
 * Reads a .msg file. Attached messages are parts of type `application/vnd.ms-outlook`.
 *
 * @returns never throws for what the file holds; a damaged one gives what could be read, and `losses`
 */
export function parseMsg(bytes: Uint8Array, options: ParseOptions): Message {
  const budget = new Copied(COPIED_BYTES)
  let message = emptyMessage()
  try {
    const item = readMsg(bytes, budget)
    const read = messageOf(item, options.limits, budget)
    message = read.message
    if (read.rtf) message.parts.push(bodyPart(read.rtf, options))
    addAttachments(message, item, options)
    message.losses.push(...item.losses)
  } catch (error) {
    message.losses.push(
      error instanceof TooMuch
        ? `the Outlook file holds more than ${COPIED_BYTES} bytes; the rest was not read`
        : `the Outlook file is damaged (${briefly(error)})`,
    )
  }
  return message
}

class TooMuch extends Error {}

class Copied implements ByteBudget {
  bytesLeft: number
  constructor(bytes: number) {
    this.bytesLeft = bytes
  }
  takeBytes(bytes: number): void {
    this.bytesLeft -= bytes
    if (this.bytesLeft < 0) throw new TooMuch()
  }
}

function addAttachments(message: Message, item: Item, options: ParseOptions): void {
  let nth = 0
  for (const { name, declaredType, isHidden, bytes } of item.attachments) {
    nth++
    if (!bytes) continue
    if (message.parts.length >= options.limits.messageParts) {
      message.losses.push(tooManyParts(options.limits))
      return
    }
    message.parts.push(
      partOf(
        bytes,
        {
          path: String(nth),
          name: oneLine(name),
          declaredType: declaredType || 'application/octet-stream',
          charset: '',
          disposition: isHidden ? 'inline' : 'attachment',
        },
        options,
      ),
    )
  }
}

function bodyPart(rtf: Buffer, options: ParseOptions): Part {
  const about = { path: 'body', name: 'body.rtf', declaredType: 'text/rtf', charset: '' }
  return partOf(rtf, { ...about, disposition: 'inline' }, options)
}

/**
 * A message of Outlook without its attachments.
 *
 * @param budget counts a body that is stored compressed
 * @returns `rtf`: the body, where it is a document to be read like an attached one
 * @throws what the budget throws
 */
export function messageOf(
  item: Item,
  limits: Limits,
  budget: ByteBudget,
): { message: Message; rtf?: Buffer } {
  const { properties, codePage } = item
  const text = (tag: number): string => textOf(properties.get(tag), codePage).trim()
  const time = (tag: number): number | null => secondsOf(properties.get(tag))
  // Header code wants one character a byte.
  const head = parseHead(Buffer.from(text(TAG.headers), 'utf8').toString('latin1'))
  const ids = (tag: number, field: string): string[] => idsIn(text(tag) || first(head, field))
  const received = time(TAG.deliveryTime)
  const message: Message = {
    ...emptyMessage(),
    messageId: (text(TAG.messageId) || first(head, 'message-id'))
      .trim()
      .replace(/^<|>$/g, '')
      .slice(0, 998),
    inReplyTo: ids(TAG.inReplyTo, 'in-reply-to'),
    references: ids(TAG.references, 'references'),
    subject: oneLine(text(TAG.subject)),
    from: sendersOf(text, head),
    ...recipientsOf(item, text, head),
    date:
      time(TAG.sentTime) ??
      parseDate(first(head, 'date')) ??
      received ??
      beginOf(properties) ??
      time(TAG.creationTime),
    received,
  }
  const { body, rtf, loss } = bodyOf(properties, codePage, limits, budget)
  if (loss) message.losses.push(loss)
  const people = [...message.from, ...message.to, ...message.cc, ...message.bcc]
  const known = new Set([message.subject, ...people.flatMap((one) => [one.name, one.address])])
  const details = [...new Set(detailsOf(properties, codePage))].filter((one) => !known.has(one))
  const whole = [body.replace(/\r\n?/g, '\n').trim(), ...details].filter(Boolean).join('\n')
  if (whole.length > limits.messageChars) message.losses.push('the body text was cut')
  message.body = whole.slice(0, limits.messageChars)
  return { message, ...(rtf && { rtf }) }
}

const emptyMessage = (): Message => ({
  messageId: '',
  inReplyTo: [],
  references: [],
  subject: '',
  from: [],
  to: [],
  cc: [],
  bcc: [],
  date: null,
  received: null,
  body: '',
  parts: [],
  labels: [],
  problems: [],
  losses: [],
})

interface Body {
  body: string
  /** Undefined when the body is text. */
  rtf?: Buffer
  loss?: string
}

/** Plain text when there is any, else HTML, else RTF, in which HTML or text may be wrapped. */
function bodyOf(
  properties: Properties,
  codePage: number,
  limits: Limits,
  budget: ByteBudget,
): Body {
  const plain = properties.get(TAG.body)
  const body = textOf(plain, codePage)
  if (body.trim() !== '') return { body }
  const html = properties.get(TAG.html)
  if (html) {
    const internet = numberOf(properties.get(TAG.internetCodePage))
    const declared = internet > 0 ? codePageName(internet) : ''
    const source =
      html.kind === KIND.binary
        ? decodeText(html.value, { declared, markup: true }).text
        : textOf(html, codePage)
    const seen = htmlText(source, limits.messageChars)
    if (seen.trim() !== '') return { body: seen }
  }
  const packed = properties.get(TAG.rtf)
  if (!packed || packed.value.length === 0) return { body: '' }
  const rtf = decompressRtf(packed.value, Math.min(limits.partBytes, budget.bytesLeft + 1))
  if (!rtf) return { body: '', loss: 'the body could not be decompressed' }
  budget.takeBytes(rtf.length)
  if (isUsual(rtf) && /\\from(?:html1|text)/.test(rtf.toString('latin1', 0, 4096))) {
    try {
      const { mode, text } = deEncapsulate(rtf)
      return { body: mode === 'html' ? htmlText(String(text), limits.messageChars) : String(text) }
    } catch {
      // Read as a document below.
    }
  }
  // An empty body beside it says that there is nothing in it but marks.
  return plain && isUsual(rtf) ? { body: '' } : { body: '', rtf }
}

/** Groups inside groups, and bytes, that rtf-stream-parser 3.8 is given: it copies its state at each brace. */
const WRAPPED_DEPTH = 100
const WRAPPED_BYTES = 8_000_000

function isUsual(rtf: Buffer): boolean {
  if (rtf.length > WRAPPED_BYTES) return false
  let depth = 0
  for (const byte of rtf) {
    if (byte === 0x7b && ++depth > WRAPPED_DEPTH) return false
    if (byte === 0x7d) depth--
  }
  return true
}

const require = createRequire(import.meta.url)

function deEncapsulate(rtf: Buffer): { mode: 'html' | 'text'; text: string | Buffer } {
  const library = require('rtf-stream-parser') as typeof rtfStreamParser
  return library.deEncapsulateSync(rtf, {
    decode: iconv.decode,
    mode: 'either',
    // It would write to the console.
    warn: () => {},
  })
}

/** Who sent it, and for whom when that is somebody else. */
function sendersOf(text: (tag: number) => string, head: Head): Person[] {
  const sender = person(text(TAG.senderName), text(TAG.senderSmtp), text(TAG.senderAddress))
  const sentFor = person(text(TAG.sentForName), text(TAG.sentForSmtp), text(TAG.sentForAddress))
  const senders = [sender, sentFor].filter((one) => one !== undefined)
  if (!senders.some(({ address }) => address !== '')) {
    const written = all(head, 'from').flatMap((value) => parseAddresses(value))
    if (written.length > 0) return written
  }
  const [one, other] = senders
  if (!one || !other) return senders
  if (one.address.toLowerCase() === other.address.toLowerCase()) return [one.name ? one : other]
  if (one.name !== other.name) return senders
  return senders.filter(({ address }) => address !== '')
}

function recipientsOf(
  { recipients, codePage }: Item,
  text: (tag: number) => string,
  head: Head,
): Pick<Message, 'to' | 'cc' | 'bcc'> {
  const people: Record<'to' | 'cc' | 'bcc', Person[]> = { to: [], cc: [], bcc: [] }
  for (const one of recipients) {
    const own = (tag: number): string => textOf(one.get(tag), codePage)
    const name = own(TAG.displayName)
      .trim()
      .replace(/^'(.*)'$/, '$1')
    const who = person(name, own(TAG.smtpAddress), own(TAG.address))
    const kind = numberOf(one.get(TAG.recipientKind)) & 15
    if (who) people[kind === 2 ? 'cc' : kind === 3 ? 'bcc' : 'to'].push(who)
  }
  if (people.to.length + people.cc.length + people.bcc.length > 0) return people
  const listed = (field: string, tag: number): Person[] => {
    const written = all(head, field).flatMap((value) => parseAddresses(value))
    if (written.length > 0) return written
    return text(tag)
      .split(';')
      .slice(0, 10_000)
      .flatMap((shown) => person(shown, shown) ?? [])
  }
  return {
    to: listed('to', TAG.displayTo),
    cc: listed('cc', TAG.displayCc),
    bcc: listed('bcc', TAG.displayBcc),
  }
}

/** Of the addresses the first of the internet: Exchange has others. */
function person(givenName: string, ...addresses: string[]): Person | undefined {
  const name = oneLine(givenName)
  const address =
    addresses.map((one) => one.trim()).find((one) => one.includes('@') && !one.startsWith('/')) ??
    ''
  if (name === '' && address === '') return undefined
  const bare = address === '' ? name : name.replace(`<${address}>`, '').trim()
  return { name: bare === address ? '' : bare, address }
}

function idsIn(field: string): string[] {
  return [...field.matchAll(/<([^<>]+)>/g)]
    .slice(0, 1000)
    .map((match) => (match[1] as string).trim().slice(0, 998))
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 5000)
}

function briefly(error: unknown): string {
  return (error instanceof Error ? error.message : String(error))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 100)
}
