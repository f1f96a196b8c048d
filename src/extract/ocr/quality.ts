/**
 * How much a text looks like writing, whatever its language: for choosing between a text layer and OCR.
 *
 * Three kinds of damage show without a dictionary. Characters that no text holds (control characters,
 * private use, U+FFFD: glyphs without a map). Words that are no words (single letters, capitals and digits in the
 * middle: letter-spaced and shifted text). Letters that are not the usual ones (a wrong but consistent map): languages
 * in Latin script use the same letters often and the same letters rarely.
 */

export interface TextQuality {
  /** Letters and digits. */
  letters: number
  /** Characters that no text holds. */
  bad: number
  /** Share of words that are one letter, among words of scripts with spaces. */
  singles: number
  /** 0 (no writing) to 1; 1 for a text too short to tell. */
  score: number
}

/** C0 and C1 controls but for white space, U+FFFD, private use but for symbol fonts' bullets and signs (U+F020 to U+F0FF). */
const BAD =
  /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffd\ue000-\uf01f\uf100-\uf8ff]/g
const CID = /\(cid:\d+\)|\/g\d+|GLYPH<\d+>/gi

/** Characters that the language-blind measures look at. */
const SAMPLE = 6_000
/** Words needed before the language-blind measures are believed. */
const WORDS_ENOUGH = 25

export function textQuality(text: string): TextQuality {
  const letters = countLetters(text)
  const bad = (text.match(BAD)?.length ?? 0) + (text.match(CID)?.length ?? 0)
  const sample = text.length > SAMPLE ? text.slice(0, SAMPLE) : text
  const words = sample.match(/[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{M}\p{N}]+/gu) ?? []
  const alphabetic = words.filter((word) => /\p{L}/u.test(word))
  const singles =
    alphabetic.length === 0
      ? 0
      : alphabetic.filter((word) => word.length === 1).length / alphabetic.length
  let score = 1 - Math.min(1, (bad / Math.max(1, letters + bad)) * 4)
  // The measures of words know alphabets only: a table of Chinese with codes in it is no bad Latin.
  const inWords = alphabetic.reduce((sum, word) => sum + word.length, 0)
  const alphabets = inWords > countLetters(sample, /\p{L}/gu, false) / 2
  if (alphabets && alphabetic.length >= WORDS_ENOUGH)
    score *=
      Math.min(1, wordShape(alphabetic)) *
      usualLetters(sample) *
      (singles > 0.4 ? Math.max(0.1, 1.4 - 2 * singles) : 1)
  return { letters, bad, singles, score: Math.max(0, Math.min(1, score)) }
}

/** Letters, and digits as well by default; a page of ASCII is counted without a match for each. */
function countLetters(text: string, others = /[\p{L}\p{N}]/gu, withDigits = true): number {
  let count = text.replace(/[\0-\x7f]+/g, ' ').match(others)?.length ?? 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const lower = code | 0x20
    if (lower >= 0x61 && lower <= 0x7a && code < 0x80) count++
    else if (withDigits && code >= 0x30 && code <= 0x39) count++
  }
  return count
}

const CASED_PLAIN = /^(?:[A-Z]?[a-z]+|[A-Z]+[a-z]{0,3}|[a-z]+[A-Z][a-z]+)$/

/** Share of words that could be words: a vowel in them, one case inside, no digits among the letters. */
function wordShape(words: readonly string[]): number {
  let good = 0
  let all = 0
  for (const word of words) {
    if (word.length < 3) continue
    all++
    if (/^[A-Za-z]+$/.test(word)) {
      // Most words, by the same rule at a third of the time.
      if (/^[A-Z]{2,6}$/.test(word) || (/[aeiouy]/i.test(word) && CASED_PLAIN.test(word))) good++
      continue
    }
    const plain = word.normalize('NFD').replace(/\p{M}/gu, '')
    const hasVowel = /[aeiouyæœøıαεηιουωаеёиоуыэюяіїєў]/iu.test(plain)
    const isCased =
      /^(\p{Lu}?[\p{Ll}\p{Lo}]+|\p{Lu}+|\p{Lu}+\p{Ll}{1,3}|\p{Ll}+\p{Lu}\p{Ll}+)$/u.test(plain)
    if ((hasVowel && isCased) || /^\p{Lu}{2,6}$/u.test(plain)) good++
    else if (/\p{N}/u.test(word)) good += 0.5 // numbers of parts and rooms are words too
  }
  return all < 10 ? 1 : (good / all) * 1.35
}

/**
 * Mean share of each letter, in percent, over a dozen European languages, accents taken off. Any of them
 * lies within 0.3 of it (total variation), a text whose letters were exchanged 0.37 to 0.5 away (243 sound pages, and the
 * same pages shifted).
 */
const LETTER_SHARE: Record<string, number> = {
  ...{
    a: 8.5,
    b: 1.5,
    c: 3,
    d: 4,
    e: 12.5,
    f: 1.4,
    g: 1.8,
    h: 2.5,
    i: 7.5,
    j: 0.6,
    k: 1.8,
    l: 4.3,
    m: 3,
  },
  ...{
    n: 7,
    o: 6.3,
    p: 2.5,
    q: 0.5,
    r: 6.5,
    s: 6.5,
    t: 6.5,
    u: 3.8,
    v: 1.6,
    w: 1.2,
    x: 0.3,
    y: 1,
    z: 1.4,
  },
}
const USUAL = 0.3
const UNUSUAL = 0.46

/** 1 where the letters are distributed as languages in Latin script distribute them, 0.05 where they are not. */
function usualLetters(text: string): number {
  const plain = text.normalize('NFD').toLowerCase()
  const counts = new Array<number>(26).fill(0)
  let latin = 0
  for (let i = 0; i < plain.length; i++) {
    const letter = plain.charCodeAt(i) - 0x61
    if (letter < 0 || letter >= 26) continue
    counts[letter]!++
    latin++
  }
  if (latin < 120) return 1
  let distance = 0
  for (const [letter, percent] of Object.entries(LETTER_SHARE))
    distance += Math.abs(counts[letter.charCodeAt(0) - 0x61]! / latin - percent / 100) / 2
  return Math.max(0.05, Math.min(1, (UNUSUAL - distance) / (UNUSUAL - USUAL)))
}
