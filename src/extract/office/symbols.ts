/** Characters that documents write by their place in a symbol font. */

/** Letters of the font Symbol from 0x41 and 0x61 on. */
const SYMBOL_CAPITALS = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ'
const SYMBOL_SMALL = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ'

/** The letter at a place in the font Symbol (Adobe Symbol encoding); undefined where none stands. */
export function symbolLetter(place: number): string | undefined {
  if (place >= 0x41 && place <= 0x5a) return SYMBOL_CAPITALS[place - 0x41]
  if (place >= 0x61 && place <= 0x7a) return SYMBOL_SMALL[place - 0x61]
  return undefined
}

/** @param code place in the font, with or without the 0xF000 that Word adds
 *  @returns the character, or a space for a pictogram or a sign that is no letter, so that the words around it stay apart */
export function symbolCharacter(font: string, code: number): string {
  if (!Number.isInteger(code) || code <= 0x20 || code > 0xffff) return ' '
  const isPrivate = code >= 0xe000 && code <= 0xf8ff
  const place = isPrivate ? code & 0xff : code
  if (/^symbol$/i.test(font)) {
    const isDigit = place >= 0x30 && place <= 0x39
    return symbolLetter(place) ?? (isDigit ? String.fromCharCode(place) : ' ')
  }
  if (isPrivate || /wingdings|webdings/i.test(font)) return ' '
  return code >= 0xd800 && code <= 0xdfff ? ' ' : String.fromCharCode(code)
}
