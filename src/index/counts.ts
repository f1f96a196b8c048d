/**
 * Counts of words in memory, by hash. A message has hundreds of words, nearly all of them known: they are
 * hashed in place, without cutting a string for each (a Map of strings took three times as long, and was the
 * largest part of writing a message).
 *
 * Two words of one 62-bit hash would be counted as one; the vocabulary then lacks the second for substring
 * search. At ten million words that is one chance in 90,000.
 *
 * Not responsible for: which words there are in the file (vocabulary.ts).
 */

import { isPaired } from '../fold/fold.js'

/** Slots; a power of two. */
const SLOTS = 1 << 18
/** Words held at most: open addressing is quick while a table is half empty. */
const USED_MAX = 100_000
const FIELDS = 4
const [LOW, LAST, MASK] = [1, 2, 3]
const SPACE = 32
/** No script below is matched in pairs, and no mark lies there. */
const PAIRED_FROM = 0x0e00
/** From this length on, V8 makes a slice a view. */
const SLICED = 13

export class Counts {
  /**
   * What each occurrence looks at, side by side, so that it costs one cache line and not five: both halves of the
   * hash (the high one is 0 in an empty slot), the serial of the message that counted last, the columns.
   */
  readonly #table = new Int32Array(SLOTS * FIELDS)
  /** Messages not yet written to the word's row. */
  readonly messages = new Int32Array(SLOTS)
  /** Highest id of the messages that hold it. */
  readonly newest = new Float64Array(SLOTS)
  /** Slots of words that are new, or new in a column, since somebody emptied this. */
  readonly fresh = new Set<number>()
  readonly words: string[] = []
  #used: number[] = []
  #serial = 0

  /** Slots in use. */
  get used(): readonly number[] {
    return this.#used
  }

  /** Columns that hold the word of a slot. */
  maskOf(slot: number): number {
    return this.#table[slot * FIELDS + MASK] as number
  }

  /** A new message begins: each of its words counts once. */
  begin(): void {
    this.#serial++
  }

  /**
   * Counts the words of a column of the current message.
   * @param folded tokens joined by single spaces
   * @param from where to begin
   * @param counts what a first occurrence in the message adds: 1, or 0 for words that were counted before
   * @returns where to go on after `clear`, because the table is full; the text's length when it is done
   */
  take(folded: string, from: number, bit: number, id: number, counts: number): number {
    const size = folded.length
    let at = from
    while (at < size) {
      const start = at
      let low = 0x9e3779b9
      let high = 0x85ebca6b
      for (let code = folded.charCodeAt(at); code !== SPACE; code = folded.charCodeAt(at)) {
        low = Math.imul(low ^ code, 0x9e3779b1)
        low ^= low >>> 15
        high = Math.imul(high ^ code, 0x5f356495) + low
        high ^= high >>> 13
        if (++at === size) break
      }
      const end = at++
      if (folded.charCodeAt(start) >= PAIRED_FROM && !isWord(folded, start, end)) continue
      this.#count(folded, start, end, low, high | 1, bit, id, counts)
      if (this.#used.length > USED_MAX) return at
    }
    return size
  }

  #count(
    folded: string,
    start: number,
    end: number,
    low: number,
    high: number,
    bit: number,
    id: number,
    counts: number,
  ): void {
    const table = this.#table
    let slot = (low ^ (high >>> 7)) & (SLOTS - 1)
    let at = slot * FIELDS
    while (table[at] !== 0) {
      if (table[at] === high && table[at + LOW] === low) {
        if (table[at + LAST] !== this.#serial) {
          table[at + LAST] = this.#serial
          this.messages[slot] = (this.messages[slot] as number) + counts
          if ((this.newest[slot] as number) < id) this.newest[slot] = id
        }
        const mask = table[at + MASK] as number
        if ((mask & bit) === 0) {
          table[at + MASK] = mask | bit
          this.fresh.add(slot)
        }
        return
      }
      slot = (slot + 1) & (SLOTS - 1)
      at = slot * FIELDS
    }
    table[at] = high
    table[at + LOW] = low
    table[at + LAST] = this.#serial
    table[at + MASK] = bit
    this.messages[slot] = counts
    this.newest[slot] = id
    // A slice keeps the whole column it was cut from in memory; a copy does not.
    const word = folded.slice(start, end)
    this.words[slot] = word.length < SLICED ? word : Buffer.from(word).toString()
    this.#used.push(slot)
    this.fresh.add(slot)
  }

  /** Forgets all words. */
  clear(): void {
    this.fresh.clear()
    for (const slot of this.#used) {
      this.#table[slot * FIELDS] = 0
      this.words[slot] = ''
    }
    this.#used = []
  }
}

/** Marks and pairs of characters are asked of the word table itself. */
function isWord(folded: string, at: number, end: number): boolean {
  const first = folded.charCodeAt(at)
  return !(first >= 0xe000 && first <= 0xf8ff) && !isPaired(folded.slice(at, Math.min(end, at + 2)))
}
