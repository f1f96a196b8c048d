/** What the fonts of RTF and Word 97 say about the bytes written in them: code pages, and letters of the Symbol font. */

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

/** The Symbol font's letters (Adobe Symbol encoding, 0x41 and up); everything else in it is drawing. */
const SYMBOL_UPPER = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ'
const SYMBOL_LOWER = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ'

/** A byte written in a symbol font: Greek letters in Symbol, a space for pictures. */
export function symbolCharacter(byte: number, fontName: string): string {
  if (/^symbol/i.test(fontName)) {
    if (byte >= 0x41 && byte <= 0x5a) return SYMBOL_UPPER[byte - 0x41] as string
    if (byte >= 0x61 && byte <= 0x7a) return SYMBOL_LOWER[byte - 0x61] as string
    if (byte >= 0x20 && byte < 0x40) return String.fromCharCode(byte)
  }
  return ' '
}
