/**
 * The file information block of Word ([MS-DOC] 2.5) and the piece table: where the text and its parts lie.
 * Word 1, 2, 6 and 95 have the same fields at other places. Not responsible for the text itself.
 */
import { FONT_CODE_PAGES } from './font-charset.js'

export interface Header {
  /** 1, 2, 6 (and 95) or 97 (and later). Before 97: one byte a character, tables in the main stream. */
  version: keyof typeof LAYOUTS
  isEncrypted: boolean
  /** Encrypted by the XOR method; `key` is its verifier. */
  isObfuscated: boolean
  key: number
  tableName: string
  otherTableName: string
  textStart: number
  body: number
  footnotes: number
  headers: number
  macros: number
  comments: number
  endnotes: number
  textBoxes: number
  headerTextBoxes: number
  /** Characters of all parts together. */
  total: number
  /** Offset and length of tables: pieces, character runs, header stories, fonts, styles, drawings. */
  clx: Table
  characters: Table
  headerStories: Table
  fonts: Table
  styles: Table
  drawings: Table
  /** Of text in one byte a character whose font names none. */
  codePage: number
  /** Word 6 and 95 of East Asia: two bytes a character, its code in the code page. */
  isWide: boolean
  /** Word 5 for the Macintosh, whose numbers begin with their highest byte. */
  isMac: boolean
}

export type Table = readonly [offset: number, length: number]

/** Places in the header. Before Word 6 a table's length takes two bytes. */
const LAYOUTS = {
  1: { counts: 0x34, parts: 5, clx: 0x112, characters: 0xa0, headerStories: 0x9a },
  2: { counts: 0x34, parts: 5, clx: 0x11e, characters: 0xa0, headerStories: 0x9a },
  6: {
    counts: 0x34,
    parts: 8,
    clx: 0x160,
    characters: 0xb8,
    headerStories: 0xb0,
    fonts: 0xd0,
    styles: 0x60,
  },
  97: {
    counts: 0x4c,
    parts: 8,
    clx: 0x1a2,
    characters: 0xfa,
    headerStories: 0xf2,
    fonts: 0x112,
    drawings: 0x22a,
  },
} as const

/** First words of the versions; those of 0xa697 and behind are Word 6 and 95 in Japanese, Korean, Chinese. */
const WORD_1 = [0xa59b, 0xa59c]
const EAST_ASIAN: Record<number, number> = { 0xa697: 932, 0xa698: 949, 0xa699: 936 }
const KNOWN = new Set([...WORD_1, 0xa5db, 0xa5dc, 0xa5ec, 0xa697, 0xa698, 0xa699])

/** Bytes of the shortest header. */
const HEADER_BYTES = 0x180

/** @throws Error when no Word document begins here */
export function readHeader(main: Buffer): Header {
  if (main.length >= HEADER_BYTES && main.readUInt32BE(0) === MAC) return readMacHeader(main)
  if (main.length < HEADER_BYTES || !KNOWN.has(main.readUInt16LE(0)))
    throw new Error('no Word document header')
  const version = versionOf(main)
  const layout: Partial<Record<'fonts' | 'styles' | 'drawings', number>> &
    (typeof LAYOUTS)[typeof version] = LAYOUTS[version]
  const flags = main.readUInt16LE(10)
  const table = (at: number | undefined): Table =>
    at === undefined || at + 8 > main.length
      ? [0, 0]
      : [main.readUInt32LE(at), version < 6 ? main.readUInt16LE(at + 4) : main.readUInt32LE(at + 4)]
  const count = (nth: number): number => {
    const value = nth < layout.parts ? main.readInt32LE(layout.counts + 4 * nth) : 0
    return value > 0 && value <= main.length ? value : 0
  }
  const counts = Array.from({ length: 8 }, (_, nth) => count(nth))
  return {
    version,
    isEncrypted: (flags & 0x100) !== 0,
    isObfuscated: version < 97 || (flags & 0x8000) !== 0,
    key: main.readUInt32LE(14),
    tableName: flags & 0x200 ? '1Table' : '0Table',
    otherTableName: flags & 0x200 ? '0Table' : '1Table',
    textStart: main.readUInt32LE(0x18),
    body: count(0),
    footnotes: count(1),
    headers: count(2),
    macros: count(3),
    comments: count(4),
    endnotes: count(5),
    textBoxes: count(6),
    headerTextBoxes: count(7),
    total: counts.reduce((sum, one) => sum + one) || main.length,
    clx: table(layout.clx),
    characters: table(layout.characters),
    headerStories: table(layout.headerStories),
    fonts: table(layout.fonts),
    styles: table(layout.styles),
    drawings: table(layout.drawings),
    codePage: version === 97 ? 1252 : oldCodePage(main),
    isWide: version === 6 && (flags & 0x1000) !== 0,
    isMac: false,
  }
}

/** First words of Word 5 for the Macintosh, and places in its header, which is that of Word 2 less a few fields. */
const MAC = 0xfe370023
const MAC_TEXT_START = 0x14
const MAC_COUNTS = 0x24
const MAC_CLX = 0xac

/** Body, notes and headers, by the pieces alone. */
function readMacHeader(main: Buffer): Header {
  const count = (nth: number): number => {
    const value = main.readUInt32BE(MAC_COUNTS + 4 * nth)
    return value <= main.length ? value : 0
  }
  const nothing: Table = [0, 0]
  const [body, footnotes, headers] = [count(0), count(1), count(2)]
  return {
    version: 1,
    isEncrypted: false,
    isObfuscated: false,
    key: 0,
    tableName: '',
    otherTableName: '',
    textStart: main.readUInt32BE(MAC_TEXT_START),
    body,
    footnotes,
    headers,
    macros: 0,
    comments: 0,
    endnotes: 0,
    textBoxes: 0,
    headerTextBoxes: 0,
    total: body + footnotes + headers || main.length,
    clx: [main.readUInt32BE(MAC_CLX), main.readUInt16BE(MAC_CLX + 4)],
    characters: nothing,
    headerStories: nothing,
    fonts: nothing,
    styles: nothing,
    drawings: nothing,
    codePage: MACINTOSH_CODE_PAGE,
    isWide: false,
    isMac: true,
  }
}

/** A main stream whose place nobody names: it begins with a sector and mostly stands in one piece. */
export function looseStream(file: Buffer): Buffer | undefined {
  for (let at = SECTOR_BYTES; at + HEADER_BYTES <= file.length; at += SECTOR_BYTES) {
    const ident = file.readUInt16LE(at)
    if (ident !== 0xa5ec && ident !== 0xa5dc) continue
    const build = file.readUInt16LE(at + 2)
    if (build < 101 || build > 0x200) continue
    const stream = file.subarray(at)
    if (stream.readUInt32LE(0x18) < stream.length) return stream
  }
  return undefined
}

const SECTOR_BYTES = 512

function versionOf(main: Buffer): keyof typeof LAYOUTS {
  const ident = main.readUInt16LE(0)
  const build = main.readUInt16LE(2)
  if (WORD_1.includes(ident)) return 1
  if (ident === 0xa5db && build < 100) return 2
  return ident === 0xa5ec && build >= 105 ? 97 : 6
}

/** Code pages by primary language ([MS-LCID]) where it is not the western one. */
const LANGUAGE_CODE_PAGES: Record<number, number> = {
  0x01: 1256,
  0x02: 1251,
  0x05: 1250,
  0x08: 1253,
  0x0d: 1255,
  0x0e: 1250,
  0x11: 932,
  0x12: 949,
  0x15: 1250,
  0x18: 1250,
  0x19: 1251,
  0x1a: 1250,
  0x1b: 1250,
  0x1c: 1250,
  0x1e: 874,
  0x1f: 1254,
  0x22: 1251,
  0x23: 1251,
  0x24: 1250,
  0x25: 1257,
  0x26: 1257,
  0x27: 1257,
  0x29: 1256,
  0x2a: 1258,
  0x2f: 1251,
}
const MACINTOSH = 0x100
const MACINTOSH_CODE_PAGE = 10000

/** Before Word 97: by the first word, the character set, or the language where the set says nothing. */
function oldCodePage(main: Buffer): number {
  const eastAsian = EAST_ASIAN[main.readUInt16LE(0)]
  if (eastAsian) return eastAsian
  const characterSet = main.readUInt16LE(0x14)
  if (characterSet === MACINTOSH) return MACINTOSH_CODE_PAGE
  return FONT_CODE_PAGES[characterSet] ?? LANGUAGE_CODE_PAGES[main.readUInt16LE(6) & 0x3ff] ?? 1252
}

export interface Piece {
  /** Character positions. */
  start: number
  end: number
  /** Byte in the main stream. */
  at: number
  isWide: boolean
}

/** Piece table, [MS-DOC] 2.9.38 and 2.9.177. A damaged one gives the pieces up to there. */
export function readPieces(table: Buffer, header: Header): Piece[] {
  const [offset, length] = header.clx
  const number = (at: number, bytes: number): number =>
    header.isMac ? table.readUIntBE(at, bytes) : table.readUIntLE(at, bytes)
  const lengthBytes = header.version < 6 ? 2 : 4
  const end = Math.min(offset + length, table.length)
  let at = offset
  while (at + 5 <= end && table[at] === 1) at += 3 + number(at + 1, 2)
  if (at + 5 > end || table[at] !== 2) return []
  const positions = at + 1 + lengthBytes
  const size = Math.min(number(at + 1, lengthBytes), end - positions)
  const count = Math.floor((size - 4) / 12)
  const descriptors = positions + 4 * (count + 1)
  const pieces: Piece[] = []
  for (let i = 0; i < count; i++) {
    const start = number(positions + 4 * i, 4)
    const stop = number(positions + 4 * i + 4, 4)
    const place = number(descriptors + 8 * i + 2, 4)
    if (stop <= start) continue
    if (header.version < 97) pieces.push({ start, end: stop, at: place, isWide: header.isWide })
    else if (place & 0x40000000)
      pieces.push({ start, end: stop, at: (place & 0x3fffffff) >>> 1, isWide: false })
    else pieces.push({ start, end: stop, at: place, isWide: true })
  }
  return pieces
}
