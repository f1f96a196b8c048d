/**
 * Outlook's .msg files as messages, read by msgreader: for single files in a vault and for those
 * attached to mail.
 *
 * Not responsible for: a body that exists as RTF alone and holds no HTML; it becomes a part, which
 * extract/ reads.
 */
import { createRequire } from 'node:module'
import iconv from 'iconv-lite'
import type * as msgreader from '@kenjiuno/msgreader'
import type * as rtfStreamParser from 'rtf-stream-parser'
import { parseAddresses } from './addresses.js'
import { decodeText, encodingNamed } from './charset.js'
import { checkCompound } from './compound.js'
import { decompressRtf } from './compressed-rtf.js'
import { parseDate } from './dates.js'
import { all, first, parseHead, type Head } from './head.js'
import { htmlText } from './html.js'
import type { Message, Part, Person } from './message.js'
import { partOf, type ParseOptions } from './part-of.js'

type FieldsData = msgreader.FieldsData
type Reader = InstanceType<typeof msgreader.default.default>

/** Whether the bytes are an OLE compound file, which a .msg is. */
export function isCompoundFile(bytes: Uint8Array): boolean {
  return bytes[0] === 0xd0 && bytes[1] === 0xcf && bytes[2] === 0x11 && bytes[3] === 0xe0
}

/**
 * Reads a .msg file. Attached messages are parts of type `application/vnd.ms-outlook`.
 *
 * @returns never throws for what the file holds; a damaged one gives what could be read, and `problems`
 */
export function parseMsg(bytes: Uint8Array, options: ParseOptions): Message {
  const problems: string[] = []
  let reader: Reader | undefined
  let fields: FieldsData = { dataType: null }
  const { fault, lies } = checkCompound(bytes)
  let sound = bytes
  if (lies.length > 0) {
    sound = Uint8Array.from(bytes)
    for (const at of lies) sound.fill(0, at, at + 4)
    problems.push('streams of the Outlook file claim more than it holds; they were not read')
  }
  try {
    if (fault) throw new Error(fault)
    reader = readerOf(sound)
    fields = textOnly(quietly(reader))
    const encoding = ansiEncodingOf(fields)
    if (encoding) {
      reader = readerOf(sound)
      reader.parserConfig = { ansiEncoding: encoding }
      fields = textOnly(quietly(reader))
    }
    if (fields.error) problems.push(`the Outlook file is damaged (${briefly(fields.error)})`)
  } catch (error) {
    problems.push(`the Outlook file is damaged (${briefly(error)})`)
  }
  const head = headOf(fields)
  const parts: Part[] = []
  const body = bodyOf(fields, parts, options, problems)
  readAttachments(reader, fields, parts, options, problems)
  const to = recipients(fields, 'to')
  return {
    messageId: (fields.messageId ?? first(head, 'message-id'))
      .trim()
      .replace(/^<|>$/g, '')
      .slice(0, 998),
    inReplyTo: ids(first(head, 'in-reply-to')),
    references: ids(first(head, 'references')),
    subject: oneLine(fields.subject ?? ''),
    from: senderOf(fields, head),
    to: to.length > 0 ? to : parseAddresses(latin(first(head, 'to'))),
    cc: recipients(fields, 'cc'),
    bcc: recipients(fields, 'bcc'),
    date:
      dateOf(fields.clientSubmitTime) ??
      parseDate(first(head, 'date')) ??
      dateOf(fields.messageDeliveryTime) ??
      dateOf(fields.apptStartWhole) ??
      dateOf(fields.creationTime),
    received: dateOf(fields.messageDeliveryTime),
    body,
    parts,
    labels: [],
    problems,
  }
}

/** Bytes of attachments taken out of one file, all together. */
const ATTACHMENT_BYTES = 300_000_000

function readAttachments(
  reader: Reader | undefined,
  fields: FieldsData,
  parts: Part[],
  options: ParseOptions,
  problems: string[],
): void {
  let left = ATTACHMENT_BYTES
  for (const [i, attachment] of (fields.attachments ?? []).entries()) {
    if (parts.length >= options.limits.messageParts) {
      problems.push(`more than ${options.limits.messageParts} parts; the rest was not read`)
      return
    }
    const isMessage = attachment.innerMsgContent === true
    const name = oneLine(attachment.fileName ?? attachment.name ?? attachment.fileNameShort ?? '')
    try {
      const content = reader?.getAttachment(attachment).content
      if (!content) continue
      left -= content.length
      if (left < 0) {
        problems.push(`attachments of more than ${ATTACHMENT_BYTES} bytes; the rest was not read`)
        return
      }
      parts.push(
        partOf(
          Buffer.from(content.buffer, content.byteOffset, content.byteLength),
          {
            path: String(i + 1),
            name: isMessage && !/\.msg$/i.test(name) ? `${name || 'message'}.msg` : name,
            declaredType: isMessage
              ? 'application/vnd.ms-outlook'
              : (attachment.attachMimeTag ?? 'application/octet-stream').toLowerCase(),
            charset: '',
            disposition: attachment.attachmentHidden ? 'inline' : 'attachment',
          },
          options,
        ),
      )
    } catch (error) {
      problems.push(`an attachment is damaged (${briefly(error)})`)
    }
  }
}

function bodyOf(
  fields: FieldsData,
  parts: Part[],
  options: ParseOptions,
  problems: string[],
): string {
  const most = options.limits.messageChars
  const about = [...appointment(fields), ...contact(fields)].join('\n')
  const withAbout = (text: string): string =>
    [about, text.replace(/\r\n?/g, '\n').replaceAll('\0', '').trim()]
      .filter(Boolean)
      .join('\n')
      .slice(0, most)
  if (fields.body?.trim()) return withAbout(fields.body)
  if (fields.html && fields.html.length > 0) {
    const declared = codePage(fields.internetCodepage)
    return withAbout(htmlText(decodeText(fields.html, { declared, markup: true }).text, most))
  }
  if (fields.bodyHtml) return withAbout(htmlText(fields.bodyHtml, most))
  if (!fields.compressedRtf) return withAbout('')
  const rtf = decompressRtf(fields.compressedRtf)
  if (!rtf) {
    problems.push('the body could not be decompressed')
    return withAbout('')
  }
  if (/\\from(?:html1|text)/.test(rtf.toString('latin1', 0, 4096))) {
    try {
      const { mode, text } = deEncapsulateSync(rtf, {
        decode: iconv.decode,
        mode: 'either',
        // It would write to the console.
        warn: () => {},
      })
      return withAbout(mode === 'html' ? htmlText(String(text), most) : String(text))
    } catch {
      // Read as a document below.
    }
  }
  // An empty body beside it says that there is nothing in it but marks.
  if (fields.body !== undefined) return withAbout('')
  parts.push(
    partOf(
      rtf,
      {
        path: 'body',
        name: 'body.rtf',
        declaredType: 'text/rtf',
        charset: '',
        disposition: 'inline',
      },
      options,
    ),
  )
  return withAbout('')
}

/** msgreader writes to the console what it cannot decode; standard output belongs to the results. */
function quietly(reader: Reader): FieldsData {
  const { debug } = console
  console.debug = () => {}
  try {
    return reader.getFileData()
  } finally {
    console.debug = debug
  }
}

/** What msgreader calls a text is a number in a damaged file. */
function textOnly(fields: FieldsData): FieldsData {
  const values = fields as unknown as Record<string, unknown>
  for (const name of TEXTS) if (typeof values[name] !== 'string') delete values[name]
  for (const name of ['messageCodepage', 'internetCodepage'])
    if (typeof values[name] !== 'number') delete values[name]
  for (const name of ['html', 'compressedRtf'])
    if (!(values[name] instanceof Uint8Array)) delete values[name]
  for (const inner of [...(fields.recipients ?? []), ...(fields.attachments ?? [])]) {
    const texts = inner as unknown as Record<string, unknown>
    for (const name of INNER_TEXTS) if (typeof texts[name] !== 'string') delete texts[name]
  }
  return fields
}

const TEXTS = [
  'subject',
  'body',
  'bodyHtml',
  'headers',
  'messageId',
  'messageClass',
  'senderName',
  'senderEmail',
  'senderSmtpAddress',
  'sentRepresentingSmtpAddress',
  'clientSubmitTime',
  'messageDeliveryTime',
  'creationTime',
  'apptStartWhole',
  'apptEndWhole',
  'apptLocation',
]
const INNER_TEXTS = [
  'name',
  'email',
  'smtpAddress',
  'recipType',
  'fileName',
  'fileNameShort',
  'attachMimeTag',
]

const require = createRequire(import.meta.url)
/** CommonJS without named exports that Node finds; loaded when the first .msg is met. */
function readerOf(bytes: Uint8Array): Reader {
  const { default: MsgReader } = require('@kenjiuno/msgreader') as typeof msgreader.default
  return new MsgReader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

function deEncapsulateSync(
  rtf: Buffer,
  options: { decode: typeof iconv.decode; mode: 'either'; warn: () => void },
): { mode: 'html' | 'text'; text: string | Buffer } {
  const library = require('rtf-stream-parser') as typeof rtfStreamParser
  return library.deEncapsulateSync(rtf, options)
}

function headOf(fields: FieldsData): Head {
  return parseHead(latin(fields.headers ?? ''))
}

/** Header code wants one character a byte. */
function latin(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function senderOf(fields: FieldsData, head: Head): Person[] {
  const address = [
    fields.senderSmtpAddress,
    fields.sentRepresentingSmtpAddress,
    fields.senderEmail,
  ].find((one) => one?.includes('@'))
  const name = oneLine(fields.senderName ?? '')
  if (!address) {
    const written = all(head, 'from').flatMap((value) => parseAddresses(value))
    if (written.length > 0) return written
  }
  if (!address && name === '') return []
  return [{ name: name === address ? '' : name, address: address ?? '' }]
}

function recipients(fields: FieldsData, kind: 'to' | 'cc' | 'bcc'): Person[] {
  return (fields.recipients ?? []).flatMap((recipient): Person[] => {
    if ((recipient.recipType ?? 'to') !== kind) return []
    const address = [recipient.smtpAddress, recipient.email].find((one) => one?.includes('@')) ?? ''
    const name = oneLine(recipient.name ?? '').replace(/^'(.*)'$/, '$1')
    return address === '' && name === '' ? [] : [{ name: name === address ? '' : name, address }]
  })
}

function ids(field: string): string[] {
  return [...field.matchAll(/<([^<>]+)>/g)]
    .slice(0, 1000)
    .map((match) => (match[1] as string).trim().slice(0, 998))
}

/** Outlook writes 1601 for no date at all. */
function dateOf(value: string | undefined): number | null {
  const date = value ? parseDate(value) : null
  return date !== null && date > 0 ? date : null
}

/** Place and time of an appointment, as a person would search them. */
function appointment(fields: FieldsData): string[] {
  if (!fields.messageClass?.startsWith('IPM.Appointment')) return []
  return [fields.apptLocation, fields.apptStartWhole, fields.apptEndWhole].filter(
    (line): line is string => Boolean(line),
  )
}

const CONTACT_FIELDS = [
  'displayNamePrefix',
  'givenName',
  'middleName',
  'surname',
  'yomiFirstName',
  'yomiLastName',
  'companyName',
  'yomiCompanyName',
  'departmentName',
  'title',
  'email1EmailAddress',
  'email2EmailAddress',
  'email3EmailAddress',
  'businessTelephoneNumber',
  'homeTelephoneNumber',
  'mobileTelephoneNumber',
  'businessFaxNumber',
  'workAddress',
  'postalAddress',
  'businessHomePage',
  'instMsg',
] as const

function contact(fields: FieldsData): string[] {
  if (!fields.messageClass?.startsWith('IPM.Contact')) return []
  const values = fields as unknown as Record<string, unknown>
  return CONTACT_FIELDS.map((name) => values[name]).filter(
    (value): value is string => typeof value === 'string' && value !== '',
  )
}

/** Name of the encoding of strings that are not Unicode; undefined when it is msgreader's own default. */
function ansiEncodingOf(fields: FieldsData): string | undefined {
  const page = fields.messageCodepage || fields.internetCodepage
  const ansi = page === undefined ? undefined : (ANSI_OF_INTERNET[page] ?? page)
  if (ansi === undefined || ansi === 20127 || ansi === 65001 || ansi === 1200) return undefined
  const name = `cp${ansi}`
  return iconv.encodingExists(name) ? name : undefined
}

/** Code page of Windows beside the one that the mail was sent in. */
const ANSI_OF_INTERNET: Record<number, number> = {
  50220: 932,
  50221: 932,
  50222: 932,
  51932: 932,
  51936: 936,
  52936: 936,
  54936: 936,
  51949: 949,
  50225: 949,
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
}

function codePage(page: number | undefined): string {
  if (page === undefined) return ''
  if (page === 65001) return 'utf-8'
  if (page === 50220 || page === 50221 || page === 50222) return 'iso-2022-jp'
  if (page === 51932) return 'euc-jp'
  if (page === 20866) return 'koi8-r'
  if (page >= 28591 && page <= 28606) return `iso-8859-${page - 28590}`
  return encodingNamed(`cp${page}`) ?? ''
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
