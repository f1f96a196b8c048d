/**
 * What the character properties of Word say about its text ([MS-DOC] 2.4.6 and 2.6.1): which runs are
 * deleted, and which fonts write bytes in another code page or symbols. Word 6 has other modifiers, Word 2 a
 * structure instead of them.
 */
import { isDoubleByte } from '../mail/codepage.js'
import { codePageOfName, FONT_CODE_PAGES, type Font } from './font-charset.js'
import { symbolCharacter } from './office/symbols.js'
import type { Header } from './doc-header.js'

/** Bytes `from` to `to` of the main stream. A run that says nothing for the text is not listed. */
export interface Run {
  from: number
  to: number
  isDeleted: boolean
  font?: Font | undefined
  /** What a placeholder in the run shows. */
  symbol?: string | undefined
}

interface Properties {
  isDeleted: boolean
  font?: number
  symbol?: { font: number; code: number }
}

/** The runs in order of their bytes, and the code page of text whose run names no font. */
export function readRuns(
  main: Buffer,
  table: Buffer,
  header: Header,
): { runs: Run[]; codePage: number } {
  const fonts = readFonts(table, header)
  const codePage = header.version === 97 ? header.codePage : oldCodePage(fonts, table, header)
  const runs: Run[] = []
  const add = (from: number, to: number, { isDeleted, font, symbol }: Properties): void => {
    const written = fonts[font ?? -1]
    const isOther =
      written &&
      (written.isSymbol ||
        (header.version < 97 && written.codePage > 0 && written.codePage !== codePage))
    if (to <= from || (!isDeleted && !isOther && !symbol)) return
    runs.push({
      from,
      to,
      isDeleted,
      font: isOther ? written : undefined,
      symbol: symbol && symbolCharacter(fonts[symbol.font]?.name ?? '', symbol.code),
    })
  }
  for (const page of formattedPages(main, table, header)) {
    const count = main[page + 511] as number
    if (4 * (count + 1) > 511) continue
    // runs that look alike share their properties
    const known = new Map<number, Properties>()
    for (let i = 0; i < count; i++) {
      const place = 2 * (main[page + 4 * (count + 1) + i] ?? 0)
      if (place === 0) continue
      let properties = known.get(place)
      if (!properties) {
        const start = page + place + 1
        const end = Math.min(start + (main[start - 1] as number), page + 511)
        properties = readProperties(main.subarray(start, end), header.version)
        known.set(place, properties)
      }
      add(main.readUInt32LE(page + 4 * i), main.readUInt32LE(page + 4 * i + 4), properties)
    }
  }
  return { runs: runs.sort((a, b) => a.from - b.from), codePage }
}

/** Of text whose run names no font, before Word 97: by the fonts of East Asia, the style Normal, the header. */
function oldCodePage(fonts: Font[], table: Buffer, header: Header): number {
  const font = header.isWide
    ? fonts.find(({ codePage }) => codePage > 0 && isDoubleByte(codePage))
    : fonts[normalFont(table, header) ?? -1]
  const isFitting =
    font && !font.isSymbol && font.codePage > 0 && isDoubleByte(font.codePage) === header.isWide
  return isFitting ? font.codePage : header.codePage
}

/** Places of the pages of 512 bytes, listed by positions and page numbers of 4 bytes (2 before Word 97). */
function formattedPages(
  main: Buffer,
  table: Buffer,
  { characters: [offset, length], version }: Header,
): number[] {
  const width = version === 97 ? 4 : 2
  const count = Math.floor((length - 4) / (4 + width))
  const places: number[] = []
  for (let i = 0; i < count; i++) {
    const entry = offset + 4 * (count + 1) + width * i
    if (entry + width > table.length) break
    const number = width === 4 ? table.readUInt32LE(entry) & 0x3fffff : table.readUInt16LE(entry)
    if (number * 512 + 512 <= main.length) places.push(number * 512)
  }
  return places
}

function readProperties(bytes: Buffer, version: Header['version']): Properties {
  // Word 2 writes the properties as they are: the third bit says deleted
  if (version === 1) return { isDeleted: false }
  if (version === 2) return { isDeleted: ((bytes[0] ?? 0) & 4) !== 0 }
  return version === 6 ? readOldModifiers(bytes) : readModifiers(bytes)
}

const SPRM_DELETED = 0x0800
const SPRM_SYMBOL = 0x6a09
/** Fonts of western, East Asian and other text. */
const SPRM_FONTS = [0x4a4f, 0x4a50, 0x4a51]

/** Single property modifiers, [MS-DOC] 2.2.5.1. */
function readModifiers(bytes: Buffer): Properties {
  const found: Properties = { isDeleted: false }
  for (let at = 0; at + 3 <= bytes.length;) {
    const sprm = bytes.readUInt16LE(at)
    const operand = bytes[at + 2] as number
    const size = [1, 1, 2, 4, 2, 2, 1 + operand, 3][sprm >> 13] as number
    if (at + 2 + size > bytes.length) return found
    if (sprm === SPRM_DELETED) found.isDeleted = operand === 1 || operand === 0x81
    else if (SPRM_FONTS.includes(sprm)) found.font = bytes.readUInt16LE(at + 2)
    else if (sprm === SPRM_SYMBOL)
      found.symbol = { font: bytes.readUInt16LE(at + 2), code: bytes.readUInt16LE(at + 4) }
    at += 2 + size
  }
  return found
}

/** Operand bytes of the modifiers of Word 6 from 65 on; 0 where the first byte gives their number, -1 unknown. */
const OLD_FIRST = 65
const OLD_SIZES = [
  ...[1, 1, 1, 0, 2, 4, 1, 2, 3, 0, 1, -1, -1, -1, -1, 2], // 65 to 80
  ...[0, 0, -1, -1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 3, 2], // 81 to 96
  ...[2, 1, 2, 1, 1, 1, 0, 1, 0, 0, 2, 0, 2, 2, 2, 2], // 97 to 112
  ...[-1, -1, -1, -1, 1, 1], // 113 to 118
]
const OLD_DELETED = 65
const OLD_SYMBOL = 74
const OLD_PLAIN = 83
const OLD_FONT = 93

function readOldModifiers(bytes: Buffer): Properties {
  const found: Properties = { isDeleted: false }
  for (let at = 0; at + 2 <= bytes.length;) {
    const code = bytes[at] as number
    const listed = code === OLD_PLAIN ? undefined : (OLD_SIZES[code - OLD_FIRST] ?? -1)
    if (listed === -1) return found
    const size = listed === undefined ? 0 : listed || 1 + (bytes[at + 1] as number)
    if (at + 1 + size > bytes.length) return found
    if (code === OLD_DELETED) found.isDeleted = bytes[at + 1] === 1
    else if (code === OLD_FONT) found.font = bytes.readUInt16LE(at + 1)
    else if (code === OLD_SYMBOL && size >= 4)
      found.symbol = { font: bytes.readUInt16LE(at + 2), code: bytes[at + 4] as number }
    at += 1 + size
  }
  return found
}

/** Font table, [MS-DOC] 2.9.286 and 2.9.82; Word 6 has a shorter form, Word 2 no character sets. */
function readFonts(table: Buffer, { fonts: [offset, length], version }: Header): Font[] {
  const fonts: Font[] = []
  const end = Math.min(offset + length, table.length)
  let at = offset + (version === 97 ? 4 : 2)
  while (at + 6 < end) {
    const next = at + 1 + (table[at] as number)
    const characterSet = table[at + 4] as number
    const isSymbol = characterSet === 2
    // Word 97 writes in Unicode whatever the font is
    const isNamed = isSymbol || version < 97
    const name = isNamed ? nameOf(table.subarray(at, Math.min(next, end)), version) : ''
    fonts.push({
      codePage: FONT_CODE_PAGES[characterSet] ?? codePageOfName(name),
      isSymbol,
      name,
    })
    at = next
  }
  return fonts
}

function nameOf(entry: Buffer, version: Header['version']): string {
  const name = version === 97 ? entry.toString('utf16le', 40) : entry.toString('latin1', 6)
  const end = name.indexOf('\0')
  return end < 0 ? name : name.slice(0, end)
}

/** The font of the style Normal, the first of Word 6's style sheet: a name, then properties of paragraphs and characters. */
function normalFont(table: Buffer, { styles: [offset, length] }: Header): number | undefined {
  const end = Math.min(offset + length, table.length)
  if (length < 16 || offset + 16 > end) return undefined
  const base = table.readUInt16LE(offset + 4)
  const style = offset + 2 + table.readUInt16LE(offset)
  let at = style + 2 + base
  if (at >= end) return undefined
  at += 2 + (table[at] as number)
  for (let nth = 0; nth < 2 && at + 2 <= end; nth++) {
    at += (at - style) & 1
    if (at + 2 > end) return undefined
    const size = table.readUInt16LE(at)
    if (nth === 1)
      return readOldModifiers(table.subarray(at + 2, Math.min(at + 2 + size, end))).font
    at += 2 + size
  }
  return undefined
}
