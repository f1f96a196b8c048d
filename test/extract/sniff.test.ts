import { deflateRawSync } from 'node:zlib'
import JSZip from 'jszip'
import { expect, test } from 'vitest'
import { sniff } from '../../src/extract/sniff.js'
import { oleFile } from './make-ole.js'

const raw = (text: string): Buffer => Buffer.from(text, 'latin1')
const utf16 = (text: string, mark = true): Buffer =>
  Buffer.from((mark ? '\ufeff' : '') + text, 'utf16le')

async function zip(members: Record<string, string>): Promise<Buffer> {
  const archive = new JSZip()
  for (const [name, text] of Object.entries(members)) archive.file(name, text)
  return archive.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' })
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const contentTypes = (part: string, type: string): string =>
  `<Types xmlns="x"><Override PartName="/${part}" ContentType="${type}"/></Types>`

test.each<[string, Buffer, string]>([
  ['no bytes', Buffer.alloc(0), 'application/x-empty'],
  ['PDF', raw('%PDF-1.4\n1 0 obj'), 'application/pdf'],
  ['PDF behind junk', raw('junk\n'.repeat(90) + '%PDF-1.4\n1 0 obj\n%%EOF'), 'application/pdf'],
  ['a text about PDF', raw('A PDF begins with %PDF-1.4, as everybody knows.'), 'text/plain'],
  ['rich text', raw('{\\rtf1\\ansi x}'), 'application/rtf'],
  ['PNG', raw('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'image/png'],
  ['JPEG', raw('\xff\xd8\xff\xe0'), 'image/jpeg'],
  ['TIFF', raw('II*\0'), 'image/tiff'],
  ['WebP', raw('RIFF\x10\0\0\0WEBPVP8 '), 'image/webp'],
  ['HEIC', raw('\0\0\0\x18ftypheic\0\0\0\0'), 'image/heic'],
  ['MP4', raw('\0\0\0\x18ftypisom\0\0\0\0'), 'video/mp4'],
  ['sound', raw('ID3\x03\0\0\0\0\0\x21'), 'audio/mpeg'],
  ['a text that begins with ID3', raw('ID3 tags hold the title of a song'), 'text/plain'],
  [
    'a program',
    Buffer.concat([raw('MZ\x90\0'), Buffer.alloc(80)]),
    'application/vnd.microsoft.portable-executable',
  ],
  ['an ELF program', raw('\x7fELF\x02\x01\x01'), 'application/x-elf'],
  ['a font', raw('wOF2\0\x01\0\0'), 'font/woff2'],
  ['SQLite', raw('SQLite format 3\0'), 'application/vnd.sqlite3'],
  ['a drawing', raw('AC1027\0\0'), 'image/vnd.dwg'],
  ['gzip', raw('\x1f\x8b\x08\0'), 'application/gzip'],
  ['7z', raw('7z\xbc\xaf\x27\x1c'), 'application/x-7z-compressed'],
  ['rar', raw('Rar!\x1a\x07\x01\0'), 'application/vnd.rar'],
  ['TNEF', raw('\x78\x9f\x3e\x22\x01\0'), 'application/vnd.ms-tnef'],
  [
    'a signed message in DER',
    raw('\x30\x82\x01\x00\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02' + 'x'.repeat(9)),
    'application/pkcs7-mime',
  ],
  [
    'a workbook stream without a shell',
    raw('\x09\x08\x10\0\0\x06\x05\0'),
    'application/vnd.ms-excel',
  ],
  ['HTML', raw('  <!-- hello -->\n<!DOCTYPE html>\n<title>x</title>'), 'text/html'],
  ['HTML without a head', raw('<p>Hello <b>there</b></p>'), 'text/html'],
  [
    'XHTML',
    raw('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'),
    'application/xhtml+xml',
  ],
  ['SVG', raw('<?xml version="1.0"?><!DOCTYPE svg PUBLIC "" ""><svg/>'), 'image/svg+xml'],
  ['XML', raw('<?xml version="1.0"?><order><line>x</line></order>'), 'text/xml'],
  ['XML in UTF-16', utf16('<?xml version="1.0"?><order/>'), 'text/xml'],
  ['a mail', raw('Received: by x\r\nFrom: a@b.example\r\nSubject: x\r\n\r\nHi'), 'message/rfc822'],
  [
    'a saved page',
    raw(
      'From: <Saved by Blink>\nMIME-Version: 1.0\nContent-Type: multipart/related;\n boundary=x\n\n--x',
    ),
    'multipart/related',
  ],
  [
    'an mbox',
    raw('From a@b.example Thu Jan  1 00:00:00 2026\nFrom: a@b.example\n\nHi'),
    'application/mbox',
  ],
  [
    'a letter that looks like mail',
    raw('Note: bring the keys\nWhere: at the gate\n\nBye'),
    'text/plain',
  ],
  ['an appointment', raw('\r\nBEGIN:VCALENDAR\r\nVERSION:2.0'), 'text/calendar'],
  ['a card', raw('BEGIN:VCARD\nVERSION:3.0'), 'text/vcard'],
  ['JSON', raw('{"a": 1}'), 'application/json'],
  ['Latin-1 text', raw('\xdcbersicht f\xfcr M\xe4rz'), 'text/plain'],
  ['UTF-16 text', utf16('Übersicht'), 'text/plain'],
  ['UTF-16 text without a mark', utf16('Overview of all things', false), 'text/plain'],
  [
    'Shift_JIS text',
    raw('\x90\xbf\x8b\x81\x8f\x91\x82\xf0\x91\x97\x82\xe8\x82\xdc\x82\xb7'),
    'text/plain',
  ],
  ['ISO-2022-JP text', raw('\x1b$B@A5a=q\x1b(B\n'), 'text/plain'],
  [
    'random bytes',
    Buffer.from(Array.from({ length: 400 }, (_, i) => (i * 151 + (i >> 3) * 7) & 255)),
    'application/octet-stream',
  ],
])('%s is told by its bytes alone', (_, bytes, type) => {
  expect(sniff(bytes)).toBe(type)
})

test.each<[string, Record<string, string>, string]>([
  [
    'content types last',
    {
      'word/document.xml': '<x/>',
      '[Content_Types].xml': contentTypes('word/document.xml', `${WORD}.main+xml`),
    },
    WORD,
  ],
  [
    'a main part of another name',
    { '[Content_Types].xml': contentTypes('odd/place.xml', `${WORD}.main+xml`) },
    WORD,
  ],
  [
    'macros',
    {
      '[Content_Types].xml': contentTypes(
        'word/document.xml',
        'application/vnd.ms-word.document.macroEnabled.main+xml',
      ),
    },
    'application/vnd.ms-word.document.macroenabled.12',
  ],
  [
    'no content types',
    { 'xl/workbook.xml': '<x/>' },
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ],
  [
    'a binary workbook',
    {
      '[Content_Types].xml': contentTypes(
        'xl/workbook.bin',
        'application/vnd.ms-excel.sheet.binary.macroEnabled.main',
      ),
    },
    'application/vnd.ms-excel.sheet.binary.macroenabled.12',
  ],
  [
    'OpenDocument, mimetype last',
    { 'content.xml': '<x/>', mimetype: 'application/vnd.oasis.opendocument.spreadsheet' },
    'application/vnd.oasis.opendocument.spreadsheet',
  ],
  [
    'OpenDocument by its manifest',
    {
      'content.xml': '',
      'META-INF/manifest.xml':
        '<m:file-entry m:full-path="/" m:media-type="application/vnd.oasis.opendocument.presentation"/>',
    },
    'application/vnd.oasis.opendocument.presentation',
  ],
  [
    'EPUB',
    { mimetype: 'application/epub+zip', 'META-INF/container.xml': '' },
    'application/epub+zip',
  ],
  ['a mimetype that no zip has', { mimetype: 'application/pdf', 'a.txt': 'x' }, 'application/zip'],
  ['a jar', { 'META-INF/MANIFEST.MF': '', 'a/B.class': '' }, 'application/java-archive'],
  ['files', { 'plan.txt': 'x', 'reports/word/list.docx': 'x' }, 'application/zip'],
])('a zip with %s', async (_, members, type) => {
  const bytes = await zip(members)
  expect(sniff(bytes)).toBe(type)
  // the directory at the end is missing: the local headers tell as well
  const cut = bytes.subarray(0, bytes.lastIndexOf('PK\x01\x02') - 4)
  if (Object.keys(members).length > 1) expect(sniff(cut)).toMatch(/^application\//)
})

test('a lying size in a zip does not inflate without end', () => {
  const packed = deflateRawSync(Buffer.alloc(20_000_000, 0x20))
  const name = raw('[Content_Types].xml')
  const header = Buffer.alloc(30)
  header.write('PK\x03\x04', 'latin1')
  header.writeUInt16LE(8, 8)
  header.writeUInt32LE(packed.length, 18)
  header.writeUInt16LE(name.length, 26)
  expect(sniff(Buffer.concat([header, name, packed]))).toBe('application/zip')
})

test.each([
  ['WordDocument', 'application/msword'],
  ['Workbook', 'application/vnd.ms-excel'],
  ['Book', 'application/vnd.ms-excel'],
  ['PowerPoint Document', 'application/vnd.ms-powerpoint'],
  ['__properties_version1.0', 'application/vnd.ms-outlook'],
  ['EncryptedPackage', 'application/x-ooxml-encrypted'],
  ['VisioDocument', 'application/vnd.visio'],
  ['Something', 'application/x-ole-storage'],
])('a compound file with the stream %s is %s', (stream, type) => {
  expect(sniff(oleFile({ [stream]: Buffer.alloc(10) }))).toBe(type)
})

test('a text named .docx is a text, and declared types and names break ties only', () => {
  expect(sniff(raw('Just words.'), WORD, 'plan.docx')).toBe('text/plain')
  expect(sniff(raw('a,b\n1,2\n'), 'application/octet-stream', 'list.CSV')).toBe('text/csv')
  expect(sniff(raw('a,b\n1,2\n'), 'text/csv; charset=utf-8')).toBe('text/csv')
  expect(sniff(raw('%PDF-1.4\n'), 'image/png', 'x.png')).toBe('application/pdf')
  expect(sniff(raw('\x00\x01\x02\x80\x03\x04'), '', 'scan.pdf')).toBe('application/pdf')
  expect(sniff(raw('\x00\x01\x02\x80\x03\x04'), 'text/plain', 'x.txt')).toBe(
    'application/octet-stream',
  )
})

test("a name or type of JavaScript's own says nothing", async () => {
  const unknown = raw('\x00\x01\x02\x80\x03\x04')
  for (const name of ['x.constructor', 'x.valueof', 'x.__proto__'])
    expect(sniff(unknown, '', name)).toBe('application/octet-stream')
  expect(sniff(unknown, 'constructor')).toBe('application/octet-stream')
  const odd = await zip({
    '[Content_Types].xml': contentTypes('a.xml', 'constructor'),
    'a.xml': '<a/>',
  })
  expect(sniff(odd)).toBe('application/zip')
})
