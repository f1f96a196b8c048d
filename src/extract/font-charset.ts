/** What the fonts of RTF and Word say about the bytes written in them: code pages, and letters of the Symbol font. */
import { symbolLetter } from './office/symbols.js'

/** A font as a document names it. */
export interface Font {
  /** -1 for the document's own. */
  codePage: number
  isSymbol: boolean
  name: string
}

/** Character sets of Windows fonts (LOGFONT, `\fcharset`) and their code pages; 0 and 1 mean the document's own. */
export const FONT_CODE_PAGES: Record<number, number> = {
  77: 10000,
  78: 10001,
  79: 10003,
  80: 10008,
  81: 10002,
  83: 10005,
  84: 10004,
  85: 10006,
  86: 10081,
  87: 10021,
  88: 10029,
  89: 10007,
  128: 932,
  129: 949,
  130: 1361,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 850,
}

/** How fonts of Windows 3.1 name their character sets. */
const NAME_ENDINGS: ReadonlyArray<readonly [RegExp, number]> = [
  [/ CE$/, 1250],
  [/ Cyr$/, 1251],
  [/ Greek$/, 1253],
  [/ Tur$/, 1254],
  [/ \(Hebrew\)$/, 1255],
  [/ \(Arabic\)$/, 1256],
  [/ Baltic$/, 1257],
  [/ \(Vietnamese\)$/, 1258],
]

/** The code page that a font's name ends in; -1 for the document's own. */
export function codePageOfName(name: string): number {
  return NAME_ENDINGS.find(([ending]) => ending.test(name))?.[1] ?? -1
}

/** Fonts whose characters are pictures. */
const PICTURES =
  /^$|wingdings|webdings|dingbats|(open|star)symbol|bookshelf|marlett|monotype sorts|mt extra|^wp /i

/**
 * @param byte written in a font that calls itself a symbol font
 * @returns a Greek letter in Symbol, where what is no letter is drawing; a space for pictures; undefined for a
 *   font of letters: a bar code, a script that no code page has
 */
export function textOfSymbolByte(byte: number, fontName: string): string | undefined {
  if (PICTURES.test(fontName)) return ' '
  if (!/^(standard )?symbol/i.test(fontName)) return undefined
  return symbolLetter(byte) ?? (byte >= 0x20 && byte < 0x40 ? String.fromCharCode(byte) : ' ')
}
