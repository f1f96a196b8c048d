/**
 * Whether bytes are text, in which family of encodings, and what kind of text.
 *
 * Only the first and some middle bytes are looked at. Not responsible for the exact character set: that is
 * mail/charset.ts, once a reader needs the whole text.
 */

import { isOddControl, wideEncoding, type WideEncoding } from '../mail/wide.js'

/** Bytes looked at, at the start and again in the middle. */
const SAMPLE = 65_536

/** A beginning of the text in a form that can be searched; undefined when the bytes are no text. */
export function textBeginning(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, SAMPLE)
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return head.toString('latin1', 3)
  const wide = wideEncoding(head)
  if (wide) return decodeWide(head, wide)
  if (!fewControls(head)) return undefined
  const middle = bytes.length >> 1
  if (bytes.length > 2 * SAMPLE && !fewControls(bytes.subarray(middle, middle + SAMPLE)))
    return undefined
  return head.toString('latin1')
}

function decodeWide(bytes: Buffer, encoding: WideEncoding): string {
  if (encoding === 'utf-16le') return bytes.toString('utf16le').replace(/^\ufeff/, '')
  if (encoding === 'utf-16be')
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le')
      .replace(/^\ufeff/, '')
  let out = ''
  for (let i = 0; i + 4 <= bytes.length; i += 4) {
    const code = encoding === 'utf-32le' ? bytes.readUInt32LE(i) : bytes.readUInt32BE(i)
    out += code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  }
  return out.replace(/^\ufeff/, '')
}

/** At most one byte in fifty, and one in a short text; random bytes have one in ten. */
function fewControls(bytes: Buffer): boolean {
  let odd = 0
  for (const byte of bytes) if (isOddControl(byte)) odd++
  // ISO-2022-KR shifts with two of them
  if (odd > 1 && bytes.includes('\x1b$)C'))
    for (const byte of bytes) if (byte === 0x0e || byte === 0x0f) odd--
  return odd * 2 < bytes.length && odd <= 1 + bytes.length / 50
}

/** Headers that begin mail and news, lower case. */
const MAIL_HEADERS = new Set(
  `from to cc bcc subject date message-id received return-path reply-to sender mime-version content-type
  content-transfer-encoding delivered-to x-mailer references in-reply-to dkim-signature newsgroups path
  list-id organization x-priority user-agent arc-seal x-received delivery-date envelope-to
  x-mozilla-status x-account-key x-gmail-labels x-gm-thrid thread-topic thread-index x-mimeole importance
  content-disposition resent-from status x-status x-uidl x-ms-exchange-organization-scl content-class
  apparently-to snapshot-content-location content-location`.split(/\s+/),
)
/** Of these one must be there: two lines that look like headers begin many a text. */
const TELLING_HEADERS = new Set(
  `from to subject date message-id received return-path mime-version delivered-to newsgroups content-type`.split(
    /\s+/,
  ),
)

/** Header names of a block at the start of a text, lower case, or undefined when it does not begin with one. */
function headerBlock(text: string): Map<string, string> | undefined {
  const headers = new Map<string, string>()
  let last = ''
  let lines = 0
  for (const line of text.split(/\r\n|\n|\r/, 400)) {
    lines++
    if (line === '') {
      if (headers.size > 0) break
      if (lines > 3) return undefined
      continue
    }
    const header = /^([!-9;-~]{1,76})[ \t]*:(.*)$/.exec(line)
    if (header) {
      last = (header[1] as string).toLowerCase()
      if (!headers.has(last)) headers.set(last, header[2] as string)
    } else if (/^[ \t]/.test(line) && last) {
      headers.set(last, `${headers.get(last)} ${line.trim()}`)
    } else if (lines === 1 && /^(>?From |POP3 message|#! rnews)/.test(line)) {
      continue
    } else if (headers.size < 3) return undefined
    else break // a broken line after real headers
  }
  return headers
}

function mailType(text: string, hint: string): string | undefined {
  const block = headerBlock(text)
  if (!block) return undefined
  const known = [...block.keys()].filter((name) => MAIL_HEADERS.has(name))
  const telling = known.some((name) => TELLING_HEADERS.has(name))
  const wanted = /^(message\/rfc822|multipart\/\w+|application\/pkcs7-mime)$/.test(hint)
  if (!telling || known.length < (wanted ? 1 : 2)) return undefined
  if (known.length < 3 && !wanted && !block.has('message-id') && !block.has('mime-version'))
    if (!(block.has('from') && (block.has('to') || block.has('subject') || block.has('date'))))
      return undefined
  const type = block.get('content-type') ?? ''
  if (block.has('snapshot-content-location')) return 'multipart/related'
  if (
    /^\s*multipart\/related/i.test(type) &&
    !block.has('to') &&
    !block.has('received') &&
    !block.has('message-id')
  )
    return 'multipart/related'
  return 'message/rfc822'
}

const MBOX_LINE = /^From \S.{0,200}\b(?:\d{1,2}:\d{2}(?::\d{2})?|\d{4})\b.*(?:\r\n|\n|\r)[!-9;-~]+:/

/** HTML elements that begin a page. */
const HTML_STRONG = new Set(['html', 'head', 'body', 'title', 'meta', 'frameset'])
/** HTML elements that begin a fragment. */
const HTML_WEAK = new Set(
  `a abbr address article aside b base blockquote br button center div dl em fieldset figure font footer form h1 h2 h3
  h4 h5 h6 header hr i iframe img input label link main nav ol p pre script section select small span
  strong style table tbody td th tr tt u ul`.split(/\s+/),
)

/** Name and attributes of the first element, and the declarations before it. */
function firstElement(text: string): { name: string; tag: string; before: string } | undefined {
  let at = 0
  while (at < text.length) {
    const blank = /^\s+/.exec(text.slice(at, at + 4_096))
    if (blank) {
      at += blank[0].length
      continue
    }
    if (text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at)
      if (end < 0) return undefined
      at = end + 3
    } else if (text.startsWith('<?', at) || text.startsWith('<!', at)) {
      let end = text.indexOf('>', at)
      const subset = text.indexOf('[', at)
      if (subset > 0 && subset < end) end = text.indexOf(']>', at) + 1
      if (end <= 0) return undefined
      at = end + 1
    } else {
      const tag = /^<([A-Za-z_][\w:.-]*)(?:[\s/][^>]*)?>?/.exec(text.slice(at, at + 8_192))
      return tag ? { name: tag[1] as string, tag: tag[0], before: text.slice(0, at) } : undefined
    }
  }
  return undefined
}

function markupType(text: string, hint: string): string | undefined {
  const first = firstElement(text)
  if (/^\s*<!doctype\s+html/i.test(text)) {
    return /<!doctype[^>]+xhtml/i.test(text.slice(0, 1_000)) && /^\s*<\?xml/.test(text)
      ? 'application/xhtml+xml'
      : 'text/html'
  }
  if (!first) {
    if (/^\s*<\?xml\s/.test(text)) return 'text/xml'
    return hint === 'text/html' && /<[a-z!/]/i.test(text) ? 'text/html' : undefined
  }
  const local = first.name.replace(/^.*:/, '').toLowerCase()
  const isXml = /^\s*<\?xml\s/.test(first.before)
  if (local === 'svg') return 'image/svg+xml'
  if (local === 'html')
    return isXml || /xmlns\s*=\s*["']http:\/\/www\.w3\.org\/1999\/xhtml/.test(first.tag)
      ? 'application/xhtml+xml'
      : 'text/html'
  if (isXml || first.tag.includes('xmlns')) return xmlType(first)
  if (HTML_STRONG.has(local)) return 'text/html'
  if (HTML_WEAK.has(local)) return hint === '' || hint === 'text/html' ? 'text/html' : undefined
  if (hint === 'text/html') return 'text/html'
  return /<\/[\w:.-]+>\s*$/.test(text) || hint === 'text/xml' ? 'text/xml' : undefined
}

/** XML documents that are a format of their own, by the root element. */
function xmlType(root: { name: string; tag: string; before: string }): string {
  const local = root.name.replace(/^.*:/, '')
  if (local === 'document' && root.tag.includes('opendocument:xmlns:office')) {
    const kind =
      /mimetype="application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)/
    return `application/vnd.oasis.opendocument.${kind.exec(root.tag)?.[1] ?? 'text'}-flat-xml`
  }
  if (local === 'package' && root.tag.includes('schemas.microsoft.com/office/2006/xmlPackage'))
    return 'application/vnd.ms-office.flat-opc+xml'
  if (local === 'wordDocument') return 'application/vnd.ms-wordml+xml'
  if (local === 'Workbook' && root.tag.includes('urn:schemas-microsoft-com:office:spreadsheet'))
    return 'application/vnd.ms-spreadsheetml+xml'
  return 'text/xml'
}

/**
 * The kind of a text.
 *
 * @param text its beginning, from `textBeginning`
 * @param hint media type that the declared type or the name suggest; empty when they suggest none
 */
export function kindOfText(text: string, hint: string): string {
  const start = text.trimStart().slice(0, 512)
  if (start.startsWith('{\\rt')) return 'application/rtf'
  if (/^BEGIN:VCALENDAR\b/i.test(start)) return 'text/calendar'
  if (/^BEGIN:VCARD\b/i.test(start)) return 'text/vcard'
  if (/^-----BEGIN (PKCS7|CMS)-----/.test(start)) return 'application/pkcs7-mime'
  if (hint === 'application/pkcs7-mime' && /^MI[A-Za-z0-9+/\r\n=]+$/.test(start)) return hint
  if (/^-----BEGIN PGP MESSAGE-----/.test(start)) return 'application/pgp-encrypted'
  if (start.startsWith('(This file must be converted with BinHex'))
    return 'application/mac-binhex40'
  if (/^%!PS/.test(start)) return 'application/postscript'
  if (start.startsWith('AC10') && /^AC10\d\d\0/.test(start)) return 'image/vnd.dwg'
  if (MBOX_LINE.test(text.slice(0, 2_048))) return 'application/mbox'
  const mail = mailType(text, hint)
  if (mail) return mail
  if (start.startsWith('<') || hint === 'text/html') {
    const markup = markupType(text, hint)
    if (markup) return markup
  }
  if (/^ID;P/.test(start)) return 'application/x-sylk'
  if (TEXT_HINTS.has(hint)) return hint
  if (/^[{[]\s*(?:["{[\]}\d-]|true|false|null)/.test(start)) return 'application/json'
  return 'text/plain'
}

/** Kinds of text that bytes alone do not tell. */
const TEXT_HINTS = new Set([
  'text/csv',
  'text/tab-separated-values',
  'text/markdown',
  'text/javascript',
  'text/css',
  'application/json',
])
