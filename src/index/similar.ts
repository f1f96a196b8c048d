/**
 * Words of the vocabulary that resemble a misspelled or badly recognised one. Candidates share trigrams
 * with it, then the edit distance decides. Characters that OCR confuses (0 O, 1 l I, 5 S, 8 B, rn m) cost
 * nothing. Not responsible for when to look for similar words (search.ts).
 */
import type { Database, Statement } from 'better-sqlite3'
import { quote, type Term } from './terms.js'

/** Similar words taken for one word. */
const TAKEN = 40
/** Candidates whose distance is computed, those that share most trigrams. */
const COMPARED = 600
/** Terms looked at for each trigram, the frequent ones first. */
const A_TRIGRAM = 20_000

export class Similar {
  private readonly holding: Statement<[string], number>
  private readonly terms: Statement<[string], Term>

  constructor(db: Database) {
    this.holding = db
      .prepare<[string], number>(
        `SELECT rowid FROM term_gram WHERE term_gram MATCH ? ORDER BY rowid LIMIT ${A_TRIGRAM}`,
      )
      .pluck()
    this.terms = db.prepare(
      `SELECT text, messages, mask, newest FROM term WHERE id IN (SELECT value FROM json_each(?))`,
    )
  }

  /**
   * Terms within a small edit distance of a word, the nearest only, most frequent first.
   * @param mask columns that a term must occur in
   */
  to(word: string, mask: number): Term[] {
    const length = [...word].length
    if (length < 3) return []
    const distance = length < 4 ? 0 : length < 7 ? 1 : 2
    const shared = new Map<number, number>()
    for (const gram of grams(word)) {
      for (const id of this.holding.all(quote(gram))) shared.set(id, (shared.get(id) ?? 0) + 1)
    }
    const enough = Math.max(1, length - 3 * distance - 1)
    const ids = [...shared]
      .filter(([, count]) => count >= enough)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, COMPARED)
      .map(([id]) => id)
    const wanted = canonical(word)
    const near = this.terms
      .all(JSON.stringify(ids))
      .filter((term) => term.mask & mask && term.text !== word)
      .map((term) => ({ term, edits: editDistance(wanted, canonical(term.text), distance) }))
      .filter(({ edits }) => edits <= distance)
    const least = Math.min(...near.map(({ edits }) => edits))
    return near
      .filter(({ edits }) => edits === least)
      .map(({ term }) => term)
      .sort((a, b) => b.messages - a.messages)
      .slice(0, TAKEN)
  }
}

/** Trigrams of a word and of what it may be when OCR took digits for letters, with its beginning and end. */
function grams(word: string): Set<string> {
  const letters = word
    .replaceAll('0', 'o')
    .replaceAll('5', 's')
    .replaceAll('8', 'b')
    .replaceAll('1', 'l')
  const readings = [word, letters, letters.replaceAll('l', 'i'), letters.replaceAll('i', 'l')]
  readings.push(letters.replaceAll('rn', 'm'), letters.replaceAll('m', 'rn'))
  const found = new Set<string>()
  for (const reading of new Set(readings)) {
    const chars = [' ', ...reading, ' ']
    for (let i = 0; i + 3 <= chars.length; i += 1) found.add(chars.slice(i, i + 3).join(''))
  }
  return found
}

/** Characters that OCR confuses become one. */
function canonical(word: string): string {
  return word
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replace(/[01i58]/g, (char) => CONFUSED[char] as string)
}
const CONFUSED: Record<string, string> = { '0': 'o', '1': 'l', i: 'l', '5': 's', '8': 'b' }

/**
 * Insertions, deletions, replacements and swaps of neighbours that turn one word into the other (Damerau's
 * distance, each stretch edited once).
 * @param most a larger distance is given as `most + 1`
 */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1]
      let edits = Math.min(
        (above[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (above[j - 1] as number) + (isSame ? 0 : 1),
      )
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (before[j - 2] as number) + 1)
      }
      row.push(edits)
      least = Math.min(least, edits)
    }
    if (least > most) return most + 1
    before = above
    above = row
  }
  return Math.min(above[b.length] as number, most + 1)
}
