/**
 * What a character is to folding, and what a cluster (a character with its marks) becomes.
 *
 * Not responsible for: where words begin and end (fold.ts).
 */

export const SEPARATES = 0
/** A–Z, a–z, 0–9. */
export const ASCII = 1
/** Letters, digits and marks of scripts with spaces, and whatever NFKC changes: folded by cluster. */
const WORD = 2
/** A character of a script matched in pairs that folding leaves as it is. */
export const PAIRED = 3
/** Dropped without ending a word: soft hyphens, zero-width and bidi marks, variation selectors, tatweel. */
export const IGNORED = 4
/** First half of a surrogate pair with its second half still to be looked at. */
const HIGH = 5

const PAIRED_SCRIPT =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u
const LETTER = /[\p{L}\p{N}\p{M}]/u
const MARK = /\p{M}/u
const INHERITED = /\p{Script=Inherited}/u
const DROPPED = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u0640]/u
/** Signs that NFKC turns into letters glued to the word before them, and apostrophes that count as letters. */
const NO_LETTERS = '\u2120\u2122\u02bc\u02bb\u02b9\u02ba\u02bd\u02c8\u02d0\u0374\u037a\u1fbf\u1ffe'

/** Class of one character of any plane. @param character one code point; a lone surrogate SEPARATES */
function classify(character: string): number {
  const code = character.codePointAt(0) as number
  if (code < 128) return /[a-z0-9]/i.test(character) ? ASCII : SEPARATES
  if (code >= 0xd800 && code <= 0xdfff) return SEPARATES
  if (DROPPED.test(character)) return IGNORED
  if (NO_LETTERS.includes(character)) return SEPARATES
  if (!LETTER.test(character)) {
    // Squared and circled letters (㎏, ①) are symbols that stand for letters.
    const plain = character.normalize('NFKD')
    return plain !== character && LETTER.test(plain.replace(/\p{M}/gu, '')) ? WORD : SEPARATES
  }
  // Myanmar ii composes with the letter before it, so that it is folded with it.
  const isAlone = !isJamo(code) && code !== 0x102e
  if (isPairedCharacter(character) && isAlone && character.normalize('NFKC') === character)
    return PAIRED
  return WORD
}

/** Whether a folded character belongs to a script matched in pairs. A mark of no script of its own says false. */
export function isPairedCharacter(character: string): boolean {
  return PAIRED_SCRIPT.test(character) && !INHERITED.test(character)
}

const isJamo = (code: number): boolean =>
  (code >= 0x1100 && code <= 0x11ff) ||
  (code >= 0xa960 && code <= 0xa97c) ||
  (code >= 0xd7b0 && code <= 0xd7fb)

/** Whether a character belongs to the one before it: marks, conjoining jamo, half-width voicing marks. */
export function extendsCluster(character: string, before: string): boolean {
  const code = character.codePointAt(0) as number
  if (code < 0x300) return false
  if (code === 0xff9e || code === 0xff9f) return true
  if (isJamo(code)) {
    const previous = before.codePointAt(0) as number
    return isJamo(previous) || (previous >= 0xac00 && previous <= 0xd7a3)
  }
  return MARK.test(character)
}

/** Letters that no decomposition takes apart. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  ς: 'σ',
}

/**
 * More marks than any writing puts on one letter (UAX 15, section 13: stream-safe text). Putting n marks in
 * order takes n² steps inside the engine, where nothing can end a thread: 64,000 took 2 s.
 */
const MARK_FLOOD = /(\p{M}{30})\p{M}+/gu

const STRIPPED_BASE = /[\p{Script=Latin}\p{Script=Greek}\p{N}]/u
const CYRILLIC_VOWEL = /[аеиоуыэюяєіѵ]/u
const ARABIC_SIGN = /[\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/u
const HEBREW_POINT = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]/u

/**
 * Folds a cluster: NFKC, lower case, marks stripped on Latin and Greek and on numbers, ё → е and stress
 * marks on Cyrillic vowels, Arabic vowel signs, Hebrew points; all other marks kept.
 * @param cluster a character and what extends it, without IGNORED characters
 * @returns NFC; may be empty, and may hold characters that separate (½ gives 1⁄2)
 */
export function foldCluster(cluster: string): string {
  let folded = ''
  let base = ''
  const bounded = cluster.length > 31 ? cluster.replace(MARK_FLOOD, '$1') : cluster
  for (const character of bounded.normalize('NFKD').toLowerCase().normalize('NFKD')) {
    if (!MARK.test(character)) {
      base = character
      folded += LETTERS[character] ?? character
    } else if (!isDropped(character, base)) folded += character
  }
  return folded.normalize('NFC')
}

function isDropped(mark: string, base: string): boolean {
  if (ARABIC_SIGN.test(mark) || HEBREW_POINT.test(mark)) return true
  if (mark === '\u3099' || mark === '\u309a') return !/[\u3041-\u30ff]/u.test(base)
  if (base === '') return /[\u0300-\u036f\u20d0-\u20f0]/u.test(mark)
  if (STRIPPED_BASE.test(base)) return true
  if (mark === '\u0308') return base === 'е'
  if (mark === '\u0301' || mark === '\u0300') return CYRILLIC_VOWEL.test(base)
  return false
}

/** Classes by the high byte of a UTF-16 unit, made when first met: a start-up that folds little pays little. */
const pages: Array<Uint8Array | undefined> = new Array<Uint8Array | undefined>(256)

function makePage(high: number): Uint8Array {
  const made = new Uint8Array(256)
  for (let low = 0; low < 256; low++) {
    const code = (high << 8) | low
    made[low] = code >= 0xd800 && code <= 0xdbff ? HIGH : classify(String.fromCharCode(code))
  }
  pages[high] = made
  return made
}

/** Class of the character at a place; for one of two units HIGH, unless it separates or is ignored. The second unit alone separates. */
export function classAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  const known = (pages[code >> 8] ?? makePage(code >> 8))[code & 0xff] as number
  if (known !== HIGH) return known
  if (widthAt(text, at) === 1) return SEPARATES
  const kind = classify(text.slice(at, at + 2))
  return kind === SEPARATES || kind === IGNORED ? kind : HIGH
}

/** Units of the character at a place: 2 for a whole surrogate pair. */
export function widthAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code < 0xd800 || code > 0xdbff) return 1
  const next = text.charCodeAt(at + 1)
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1
}
