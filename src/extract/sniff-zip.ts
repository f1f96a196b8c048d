/**
 * What a zip file is: Office, OpenDocument, EPUB, a program, or a plain archive.
 *
 * Looks at the names in the directory (order and place never matter) and inflates at most two small
 * members. A cut file without a directory is judged by its local headers. Reading members for their text is
 * not done here.
 */
import { inflateRawSync } from 'node:zlib'

const LOCAL = Buffer.from('PK\x03\x04', 'latin1')
const CENTRAL = 0x02014b50
const END = Buffer.from('PK\x05\x06', 'latin1')
/** Names looked at; a document's telling names stand among any of its first thousands. */
const NAMES_MAX = 20_000
/** Inflated bytes of one member looked at. */
const MEMBER_BYTES = 1_000_000

interface Member {
  method: number
  packed: number
  localAt: number
}

/** Main content types of Office packages ([MS-OI29500], ECMA-376 part 1): the ending of the package's main part. */
const OFFICE: Record<string, string> = {
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml':
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml':
    'application/vnd.openxmlformats-officedocument.wordprocessingml.template',
  'application/vnd.ms-word.document.macroenabled.main+xml':
    'application/vnd.ms-word.document.macroenabled.12',
  'application/vnd.ms-word.template.macroenabledtemplate.main+xml':
    'application/vnd.ms-word.template.macroenabled.12',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml':
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml':
    'application/vnd.openxmlformats-officedocument.spreadsheetml.template',
  'application/vnd.ms-excel.sheet.macroenabled.main+xml':
    'application/vnd.ms-excel.sheet.macroenabled.12',
  'application/vnd.ms-excel.template.macroenabled.main+xml':
    'application/vnd.ms-excel.template.macroenabled.12',
  'application/vnd.ms-excel.addin.macroenabled.main+xml':
    'application/vnd.ms-excel.addin.macroenabled.12',
  'application/vnd.ms-excel.sheet.binary.macroenabled.main':
    'application/vnd.ms-excel.sheet.binary.macroenabled.12',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml':
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml':
    'application/vnd.openxmlformats-officedocument.presentationml.slideshow',
  'application/vnd.openxmlformats-officedocument.presentationml.template.main+xml':
    'application/vnd.openxmlformats-officedocument.presentationml.template',
  'application/vnd.ms-powerpoint.presentation.macroenabled.main+xml':
    'application/vnd.ms-powerpoint.presentation.macroenabled.12',
  'application/vnd.ms-powerpoint.slideshow.macroenabled.main+xml':
    'application/vnd.ms-powerpoint.slideshow.macroenabled.12',
  'application/vnd.ms-powerpoint.template.macroenabled.main+xml':
    'application/vnd.ms-powerpoint.template.macroenabled.12',
  'application/vnd.ms-powerpoint.addin.macroenabled.main+xml':
    'application/vnd.ms-powerpoint.addin.macroenabled.12',
  'application/vnd.ms-visio.drawing.main+xml': 'application/vnd.ms-visio.drawing',
  'application/vnd.ms-visio.drawing.macroenabled.main+xml':
    'application/vnd.ms-visio.drawing.macroenabled.12',
  'application/vnd.ms-visio.template.main+xml': 'application/vnd.ms-visio.template',
  'application/vnd.ms-visio.template.macroenabled.main+xml':
    'application/vnd.ms-visio.template.macroenabled.12',
  'application/vnd.ms-visio.stencil.main+xml': 'application/vnd.ms-visio.stencil',
  'application/vnd.ms-visio.stencil.macroenabled.main+xml':
    'application/vnd.ms-visio.stencil.macroenabled.12',
  'application/vnd.ms-package.xps-fixeddocumentsequence+xml': 'application/vnd.ms-xpsdocument',
  'application/oxps': 'application/oxps',
}

/** Folders that name an Office package whose content types cannot be read. */
const OFFICE_FOLDERS: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /^word\/[^/]+\.xml$/i,
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  [/^xl\/workbook\.bin$/i, 'application/vnd.ms-excel.sheet.binary.macroenabled.12'],
  [
    /^xl\/[^/]+\.xml$|^xl\/worksheets\//i,
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ],
  [
    /^ppt\/[^/]+\.xml$|^ppt\/slides\//i,
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  [/^visio\/[^/]+\.xml$/i, 'application/vnd.ms-visio.drawing'],
  [/\.fdseq$/i, 'application/vnd.ms-xpsdocument'],
]

/** What a member `mimetype` may say: a zip that names another kind of file there is an archive like any other. */
const BY_MIMETYPE =
  /^application\/(vnd\.oasis\.opendocument\.|vnd\.sun\.xml\.|vnd\.adobe\.|epub\+zip$|hwp\+zip$|x-krita$)[\w.+-]*$/

const OPENDOCUMENT_KIND =
  /^(?:text|spreadsheet|presentation|graphics|chart|formula|image|text-master|text-web|database|base)(?:-template)?$/

/** Members whose presence alone names the file. Looked at after Office and `mimetype`. */
const BY_MEMBER: ReadonlyArray<readonly [RegExp, string]> = [
  [/^AndroidManifest\.xml$/, 'application/vnd.android.package-archive'],
  [/^META-INF\/container\.xml$/i, 'application/epub+zip'],
  [/^Contents\/section\d+\.xml$/, 'application/hwp+zip'],
  [/^META-INF\/MANIFEST\.MF$/i, 'application/java-archive'],
  [/^(Index\/Slide|index\.apxl)/, 'application/vnd.apple.keynote'],
  [/^(Index\/Tables\/|Index\/CalculationEngine)/, 'application/vnd.apple.numbers'],
  [/^(Index\/Document\.iwa|Index\.zip$|index\.xml$)/, 'application/vnd.apple.pages'],
  [/^doc\.kml$/i, 'application/vnd.google-earth.kmz'],
]

/**
 * @param name file name; tells iWork documents apart, which share their members
 * @returns the media type; `application/zip` for a plain archive
 */
export function zipType(bytes: Buffer, name = ''): string {
  const members = directory(bytes) ?? localHeaders(bytes)
  const read = (path: string): string | undefined => {
    const member = members.get(path) ?? members.get(path.toLowerCase())
    return member && inflate(bytes, member)
  }

  const contentTypes = read('[Content_Types].xml')
  if (contentTypes !== undefined || members.has('_rels/.rels')) {
    const type = officeType(contentTypes ?? '', () => read('_rels/.rels') ?? '')
    if (type) return type
  }
  const mimetype = read('mimetype')?.trim().toLowerCase()
  if (mimetype && BY_MIMETYPE.test(mimetype))
    return members.has('content.xml') ? openDocumentType(mimetype) : mimetype.slice(0, 120)
  if (members.has('content.xml') && members.has('META-INF/manifest.xml')) {
    const root =
      /full-path="\/"[^>]*?media-type="([^"]+)"|media-type="([^"]+)"[^>]*?full-path="\/"/.exec(
        read('META-INF/manifest.xml') ?? '',
      )
    return (root?.[1] ?? root?.[2])?.toLowerCase() ?? 'application/vnd.oasis.opendocument.text'
  }
  const names = [...members.keys()]
  if (
    names.some(
      (one) =>
        one.startsWith('word/') ||
        one.startsWith('xl/') ||
        one.startsWith('ppt/') ||
        one.startsWith('visio/'),
    ) ||
    contentTypes !== undefined
  )
    for (const [pattern, type] of OFFICE_FOLDERS)
      if (names.some((one) => pattern.test(one.replaceAll('\\', '/')))) return type
  for (const [pattern, type] of BY_MEMBER)
    if (names.some((one) => pattern.test(one)))
      return type.startsWith('application/vnd.apple.') ? iworkType(type, name) : type
  return 'application/zip'
}

/** A misspelt type of OpenDocument as the nearest one there is; its content is the same. */
function openDocumentType(mimetype: string): string {
  const [, kind] = /^application\/vnd\.oasis\.opendocument\.([\w-]+)/.exec(mimetype) ?? []
  if (kind === undefined || OPENDOCUMENT_KIND.test(kind)) return mimetype.slice(0, 120)
  const near = /draw|graphic/.test(kind)
    ? 'graphics'
    : /slide|present|impress/.test(kind)
      ? 'presentation'
      : /sheet|calc|table/.test(kind)
        ? 'spreadsheet'
        : 'text'
  return `application/vnd.oasis.opendocument.${near}`
}

/** Numbers and Pages hold the same members; the name breaks the tie. */
function iworkType(guess: string, name: string): string {
  const ending = /\.(pages|numbers|key)$/i.exec(name)?.[1]?.toLowerCase()
  if (!ending) return guess
  return `application/vnd.apple.${ending === 'key' ? 'keynote' : ending}`
}

function officeType(contentTypes: string, relationships: () => string): string | undefined {
  const mains: Array<{ part: string; type: string }> = []
  for (const [tag] of contentTypes.matchAll(/<[\w:]*(?:Override|Default)\b[^>]*>/g)) {
    const said = attribute(tag, 'ContentType').toLowerCase()
    const type = Object.hasOwn(OFFICE, said) && OFFICE[said]
    if (type) mains.push({ part: attribute(tag, 'PartName').replace(/^\//, ''), type })
  }
  if (mains.length < 2) return mains[0]?.type
  // several main parts: the package's own relationship says which one is the document
  for (const [tag] of relationships().matchAll(/<[\w:]*Relationship\b[^>]*>/g))
    if (/\/officeDocument$/.test(attribute(tag, 'Type'))) {
      const target = attribute(tag, 'Target').replace(/^\.?\//, '')
      const main = mains.find((one) => one.part.toLowerCase() === target.toLowerCase())
      if (main) return main.type
    }
  return mains[0]?.type
}

function attribute(tag: string, name: string): string {
  const found = new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag)
  return found?.[1] ?? found?.[2] ?? ''
}

/** Names in the central directory, or undefined when there is none. */
function directory(bytes: Buffer): Map<string, Member> | undefined {
  const end = bytes.lastIndexOf(END)
  if (end < 0 || end + 22 > bytes.length) return undefined
  const size = bytes.readUInt32LE(end + 12)
  let at = bytes.readUInt32LE(end + 16)
  let shift = 0
  if (at === 0xffffffff || at + 4 > bytes.length || bytes.readUInt32LE(at) !== CENTRAL) {
    // zip64, or bytes were put before the archive: the directory ends where its end record begins
    const guess = end - size
    if (guess < 0 || bytes.readUInt32LE(guess) !== CENTRAL) return undefined
    if (at !== 0xffffffff) shift = guess - at
    at = guess
  }
  const members = new Map<string, Member>()
  while (
    at + 46 <= bytes.length &&
    bytes.readUInt32LE(at) === CENTRAL &&
    members.size < NAMES_MAX
  ) {
    const nameBytes = bytes.readUInt16LE(at + 28)
    members.set(memberName(bytes, at + 46, nameBytes), {
      method: bytes.readUInt16LE(at + 10),
      packed: bytes.readUInt32LE(at + 20),
      localAt: bytes.readUInt32LE(at + 42) + shift,
    })
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return members.size > 0 ? members : undefined
}

/** Names by local headers, for a file whose end is missing. */
function localHeaders(bytes: Buffer): Map<string, Member> {
  const members = new Map<string, Member>()
  let at = bytes.indexOf(LOCAL)
  while (at >= 0 && at + 30 <= bytes.length && members.size < NAMES_MAX) {
    const nameBytes = bytes.readUInt16LE(at + 26)
    const packed = bytes.readUInt32LE(at + 18)
    if (nameBytes > 0 && nameBytes < 1_000)
      members.set(memberName(bytes, at + 30, nameBytes), {
        method: bytes.readUInt16LE(at + 8),
        packed: packed || bytes.length,
        localAt: at,
      })
    at = bytes.indexOf(LOCAL, at + 30)
  }
  return members
}

function inflate(bytes: Buffer, member: Member): string | undefined {
  const at = member.localAt
  if (at < 0 || at + 30 > bytes.length || bytes.readUInt32LE(at) !== 0x04034b50) return undefined
  const from = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
  const packed = bytes.subarray(from, Math.min(from + member.packed, bytes.length))
  if (member.method === 0) return text(packed.subarray(0, MEMBER_BYTES))
  if (member.method !== 8) return undefined
  try {
    // finishFlush 2 (Z_SYNC_FLUSH) keeps what a cut member gives
    return text(inflateRawSync(packed, { maxOutputLength: MEMBER_BYTES, finishFlush: 2 }))
  } catch {
    return undefined
  }
}

/** A content types part may be UTF-16. */
function text(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2)
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return Buffer.from(bytes.subarray(2, bytes.length & ~1))
      .swap16()
      .toString('utf16le')
  return bytes.toString('utf8')
}

/** Some programs write `./word/document.xml`. */
function memberName(bytes: Buffer, at: number, length: number): string {
  const name = bytes.toString('utf8', at, at + length)
  return name.startsWith('./') ? name.slice(2) : name
}
