/**
 * Media type by the bytes, then by the declared type, the name last.
 *
 * Responsible for the order of the questions: magic numbers (magic.ts), the directory of a zip
 * (sniff-zip.ts) or compound file (sniff-ole.ts), then text (sniff-text.ts). Not responsible for whether the
 * document can be read.
 */
import { typeByMagic } from './magic.js'
import { oleType } from './sniff-ole.js'
import { kindOfText, textBeginning } from './sniff-text.js'
import { zipType } from './sniff-zip.js'

/** `%PDF-` may stand behind junk; readers look for it in the first kilobyte, and some files need more. */
const PDF_WITHIN = 8_192

/**
 * @param bytes the whole document (a zip's directory stands at its end)
 * @param declaredType as the mail says; breaks ties, and names bytes that nothing else names
 * @param name file name; breaks ties after the declared type
 * @returns a media type in lower case without parameters; `application/x-empty` for no bytes,
 *   `application/octet-stream` when nothing fits
 */
export function sniff(bytes: Uint8Array, declaredType = '', name = ''): string {
  if (bytes.length === 0) return 'application/x-empty'
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

  const magic = typeByMagic(file)
  if (magic === 'application/zip') return zipType(file, name)
  if (magic === 'application/x-ole-storage') return oleType(file)
  if (magic) return magic

  const hint = suggestedType(declaredType, name)
  const text = textBeginning(file)
  if (text !== undefined) {
    const kind = kindOfText(text, hint)
    if (kind !== 'message/rfc822' && kind !== 'application/mbox' && isPdf(file, hint))
      return 'application/pdf'
    return kind
  }
  if (isPdf(file, hint)) return 'application/pdf'
  const zip = file.subarray(0, PDF_WITHIN).indexOf('PK\x03\x04')
  if (zip > 0 && file.lastIndexOf('PK\x05\x06') > zip) return zipType(file, name)
  return hint === '' || hint.startsWith('text/') || hint.startsWith('message/')
    ? 'application/octet-stream'
    : hint
}

/** Behind junk, or without its first line: then it has to be called one too. */
function isPdf(file: Buffer, hint: string): boolean {
  const at = file.subarray(0, PDF_WITHIN).indexOf('%PDF-')
  if (at < 0)
    return (
      hint === 'application/pdf' &&
      /^\s*\d+ \d+ obj\b/m.test(file.toString('latin1', 0, 1_024)) &&
      file.lastIndexOf('endobj') > 0
    )
  return file.indexOf(' obj', at) > 0 && (at < 1_024 || file.lastIndexOf('%%EOF') > at)
}

/** Names that mail and systems give to types that have another name here. */
const ALIASES: Record<string, string> = {
  'application/x-pdf': 'application/pdf',
  'text/rtf': 'application/rtf',
  'application/x-rtf': 'application/rtf',
  'text/directory': 'text/vcard',
  'text/x-vcard': 'text/vcard',
  'text/ics': 'text/calendar',
  'application/ics': 'text/calendar',
  'application/xml': 'text/xml',
  'text/json': 'application/json',
  'application/csv': 'text/csv',
  'text/comma-separated-values': 'text/csv',
  'application/x-pkcs7-mime': 'application/pkcs7-mime',
  'application/x-pkcs7-signature': 'application/pkcs7-mime',
  'application/pkcs7-signature': 'application/pkcs7-mime',
  'application/ms-tnef': 'application/vnd.ms-tnef',
  'application/x-zip-compressed': 'application/zip',
  'application/x-gzip': 'application/gzip',
  'application/x-rar-compressed': 'application/vnd.rar',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-ms-bmp': 'image/bmp',
  'application/x-mimearchive': 'multipart/related',
  'message/rfc822': 'message/rfc822',
}

/** Usual endings of names. The types are those that the bytes would give. */
const ENDINGS: Record<string, string> = {
  pdf: 'application/pdf',
  doc: 'application/msword',
  dot: 'application/msword',
  xls: 'application/vnd.ms-excel',
  xlt: 'application/vnd.ms-excel',
  ppt: 'application/vnd.ms-powerpoint',
  pps: 'application/vnd.ms-powerpoint',
  msg: 'application/vnd.ms-outlook',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  epub: 'application/epub+zip',
  zip: 'application/zip',
  gz: 'application/gzip',
  tgz: 'application/gzip',
  tar: 'application/x-tar',
  '7z': 'application/x-7z-compressed',
  rar: 'application/vnd.rar',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  webp: 'image/webp',
  heic: 'image/heic',
  rtf: 'application/rtf',
  p7m: 'application/pkcs7-mime',
  p7s: 'application/pkcs7-mime',
  htm: 'text/html',
  html: 'text/html',
  shtml: 'text/html',
  xhtml: 'text/html',
  xml: 'text/xml',
  mht: 'multipart/related',
  mhtml: 'multipart/related',
  eml: 'message/rfc822',
  ics: 'text/calendar',
  vcf: 'text/vcard',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  tab: 'text/tab-separated-values',
  md: 'text/markdown',
  markdown: 'text/markdown',
  json: 'application/json',
  slk: 'application/x-sylk',
  txt: 'text/plain',
  log: 'text/plain',
  js: 'text/javascript',
  css: 'text/css',
  ...Object.fromEntries(
    `c h cpp hpp cc cs java py rb rs go ts tsx jsx php pl sh bat ps1 sql tex ini cfg conf yml yaml toml
    diff patch srt vtt rst adoc org properties gradle swift kt scala lua r m vb vbs asm tcl el clj hs`
      .split(/\s+/)
      .map((ending) => [ending, 'text/plain']),
  ),
}

/** What the declared type says, or, when that says nothing, the name. */
function suggestedType(declaredType: string, name: string): string {
  const declared = declaredType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  // Own rows alone: a file may be called x.constructor.
  const byName = Object.hasOwn(ENDINGS, ending) ? (ENDINGS[ending] as string) : ''
  const byType = Object.hasOwn(ALIASES, declared) ? (ALIASES[declared] as string) : declared
  if (
    byType === '' ||
    /\/(octet-stream|x-unknown|unknown|binary|download|force-download)$/.test(byType)
  )
    return byName
  if (byType === 'text/plain' && byName.startsWith('text/')) return byName
  return /^[\w.+-]+\/[\w.+-]+$/.test(byType) ? byType : byName
}
