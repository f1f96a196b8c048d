/** The font table of Rich Text Format, and what bytes written in its fonts stand for. */
import { decodeCodePage } from '../mail/codepage.js'
import { FONT_CODE_PAGES, codePageOfName, textOfSymbolByte, type Font } from './font-charset.js'

/** A font being defined: groups inside of its own (`depth`) hold other names. */
const NO_FONT = { id: -1, depth: 0, codePage: -1, isSymbol: false, name: '' }

export class RtfFonts {
  /** Of the document, for text whose font names none. */
  codePage = 1252
  /** Number of the font of text that names none; -1 for no font. */
  standard = -1
  readonly #fonts = new Map<number, Font>()
  #new = { ...NO_FONT }

  /** Begins the definition of a font in a group so deep; it ends the one before. */
  begin(id: number, depth: number): void {
    this.end()
    this.#new.id = id
    this.#new.depth = depth
  }

  /** `\fcharset` of the font being defined. */
  setCharacterSet(characterSet: number): void {
    this.#new.isSymbol = characterSet === 2
    this.#new.codePage = FONT_CODE_PAGES[characterSet] ?? -1
  }

  /** `\cpg` of the font being defined. */
  setCodePage(codePage: number): void {
    this.#new.codePage = codePage
  }

  /** Bytes that stand in the table, in a group so deep. */
  addName(bytes: Buffer, depth: number): void {
    if (depth === this.#new.depth) this.#new.name += bytes.toString('latin1')
  }

  /** Ends the definition of a font, if one is open. */
  end(): void {
    const { id, codePage, isSymbol } = this.#new
    const name = this.#new.name.trim().replace(/;$/, '')
    if (id >= 0)
      this.#fonts.set(id, {
        codePage: codePage > 0 ? codePage : codePageOfName(name),
        isSymbol,
        name,
      })
    this.#new = { ...NO_FONT }
  }

  /** @param id -1 for the font of text that names none
   *  @returns the font, with the code page its bytes are in */
  of(id: number): Font {
    const font = this.#fonts.get(id >= 0 ? id : this.standard)
    const codePage = font && font.codePage > 0 ? font.codePage : this.codePage
    return { codePage, isSymbol: font?.isSymbol ?? false, name: font?.name ?? '' }
  }

  /** Bytes in a font as text. */
  decode(bytes: Uint8Array, font: Font): string {
    if (!font.isSymbol) return this.#decode(bytes, font.codePage)
    return Array.from(bytes, (byte) => this.symbolCharacter(byte, font)).join('')
  }

  /** A byte in a symbol font as text. */
  symbolCharacter(byte: number, font: Font): string {
    return textOfSymbolByte(byte, font.name) ?? this.#decode(Uint8Array.of(byte), font.codePage)
  }

  /** Some writers name an Asian character set for western text: no pair of bytes is a character of it then. */
  #decode(bytes: Uint8Array, codePage: number): string {
    const text = decodeCodePage(bytes, codePage)
    const isWrong = text.includes('\ufffd') && !/[^\0-\x7f\ufffd]/.test(text)
    return isWrong ? decodeCodePage(bytes, this.codePage) : text
  }
}
