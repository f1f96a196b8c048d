/**
 * Writes RFC 5322 mails and the files around them for the sample vault, the fixtures and the benches.
 * The same arguments give the same bytes: boundaries are counted, never random.
 */
import { createHash } from 'node:crypto'

export interface Attachment {
  name: string
  type: string
  bytes: Uint8Array
  inline?: boolean
}

export interface Mail {
  from: string
  to: string
  cc?: string
  subject: string
  /** ISO 8601 with the sender's offset: `2024-03-05T09:12:00+01:00`. */
  date: string
  id: string
  inReplyTo?: string
  references?: string[]
  text?: string
  html?: string
  attachments?: Attachment[]
  /** Further header lines. */
  headers?: string[]
}

const ascii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** RFC 2047, words of at most 45 bytes. */
function encodedWords(text: string): string {
  if (ascii(text)) return text
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > 42) {
      words.push(word)
      word = ''
    }
    word += character
  }
  words.push(word)
  return words.map((w) => `=?UTF-8?B?${Buffer.from(w).toString('base64')}?=`).join('\r\n ')
}

/** `Name <a@b>, …` with the names encoded. */
const people = (list: string): string =>
  list
    .split(', ')
    .map((person) => {
      const [, name, address] = /^(.*) <(.*)>$/.exec(person) ?? []
      return name === undefined ? person : `${encodedWords(name)} <${address}>`
    })
    .join(',\r\n ')

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replace(/.{76}/g, '$&\r\n')

/** RFC 5322 date in the offset that `iso` names. */
function mailDate(iso: string): string {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(iso) ?? ['', '+', '00', '00']
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  const local = new Date(Date.parse(iso) + offset * 60_000).toUTCString()
  return `${local.replace(' GMT', '')} ${sign}${hours}${minutes}`
}

function leaf(type: string, bytes: Uint8Array, headers: string[] = []): string {
  return [
    `Content-Type: ${type}`,
    'Content-Transfer-Encoding: base64',
    ...headers,
    '',
    base64(bytes),
  ].join('\r\n')
}

function multipart(kind: string, boundary: string, parts: string[]): string {
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${parts
    .map((part) => `--${boundary}\r\n${part}\r\n`)
    .join('')}--${boundary}--\r\n`
}

function attachment({ name, type, bytes, inline }: Attachment): string {
  const encoded = ascii(name)
    ? `filename="${name}"`
    : `filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`
  const disposition = inline ? 'inline' : 'attachment'
  const extra = inline ? [`Content-ID: <${name}>`] : []
  return leaf(type, bytes, [`Content-Disposition: ${disposition}; ${encoded}`, ...extra])
}

/** @returns the mail's bytes, lines ended by CR LF */
export function eml(mail: Mail): Uint8Array {
  const mark = createHash('sha256').update(mail.id).digest('hex').slice(0, 12)
  const bodies = [
    ...(mail.text === undefined ? [] : [leaf('text/plain; charset=utf-8', Buffer.from(mail.text))]),
    ...(mail.html === undefined ? [] : [leaf('text/html; charset=utf-8', Buffer.from(mail.html))]),
  ]
  let content =
    bodies.length === 1 ? (bodies[0] as string) : multipart('alternative', `a-${mark}`, bodies)
  if (mail.attachments?.length)
    content = multipart('mixed', `m-${mark}`, [content, ...mail.attachments.map(attachment)])
  const headers = [
    `From: ${people(mail.from)}`,
    `To: ${people(mail.to)}`,
    ...(mail.cc ? [`Cc: ${people(mail.cc)}`] : []),
    `Subject: ${encodedWords(mail.subject)}`,
    `Date: ${mailDate(mail.date)}`,
    `Message-ID: <${mail.id}>`,
    ...(mail.inReplyTo ? [`In-Reply-To: <${mail.inReplyTo}>`] : []),
    ...(mail.references
      ? [`References: ${mail.references.map((r) => `<${r}>`).join('\r\n ')}`]
      : []),
    ...(mail.headers ?? []),
    'MIME-Version: 1.0',
  ]
  return Buffer.from(`${headers.join('\r\n')}\r\n${content}`)
}

/** A winmail.dat with one attachment. Format: MS-OXTNEF 2.1.3. */
export function winmail(name: string, bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(6)
  head.writeUInt32LE(0x223e9f78, 0)
  head.writeUInt16LE(1, 4)
  const attribute = (level: number, id: number, value: Uint8Array): Buffer => {
    const begin = Buffer.alloc(9)
    begin.writeUInt8(level, 0)
    begin.writeUInt32LE(id, 1)
    begin.writeUInt32LE(value.length, 5)
    const sum = Buffer.alloc(2)
    sum.writeUInt16LE(value.reduce((total, byte) => (total + byte) & 0xffff, 0))
    return Buffer.concat([begin, value, sum])
  }
  return Buffer.concat([
    head,
    attribute(1, 0x00089006, Buffer.from([0, 0, 1, 0])), // attTnefVersion
    attribute(2, 0x00069002, Buffer.alloc(14)), // attAttachRendData
    attribute(2, 0x00018010, Buffer.from(`${name}\0`, 'latin1')), // attAttachTitle
    attribute(2, 0x0006800f, bytes), // attAttachData
  ])
}
