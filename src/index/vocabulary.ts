/**
 * The write side of `term` and `term_gram`: which words there are, in about how many messages, in which
 * columns. A word that is new, or new in a column, is written in the transaction of its message, so that
 * substring search never misses it. Counts and newest ids of known words are gathered in memory over many
 * batches and written later, sorted. Meanwhile `meta.unwritten` is the highest id among their messages: a term's
 * newest id is at most the larger of its own and this. After a crash it is still set, and the idle recount
 * makes up for the counts that were lost; counts only order words by frequency.
 *
 * Not responsible for: finding words that contain or resemble another (search's side); exact counts after
 * rewrites and deletions (idle.ts recounts).
 */
import { isPaired } from '../fold/fold.js'
import { COLUMNS, type FoldedColumns } from '../fold/columns.js'
import type { Connection } from './files.js'
import type { Meta } from './meta.js'

interface Counted {
  /** Messages not yet added to the row's count. */
  messages: number
  /** Columns that the row has, or will have when `fresh` is written. */
  mask: number
  /** Serial of the message that counted last, so that each counts once. */
  last: number
  /** Highest id of the messages that hold it. */
  newest: number
}

/** Words remembered between batches; beyond that all counts are written, in about a tenth of a second. */
const REMEMBERED_MAX = 60_000

export class Vocabulary {
  readonly #meta: Meta
  readonly #words = new Map<string, Counted>()
  /** Words that are new to us, or new in a column, since the last `write`. */
  #fresh: string[] = []
  #serial = 0
  /** Highest id of messages whose counts are not written; 0 none. */
  #unwritten = 0
  #lost = 0
  /** As `meta.unwritten` has it: the larger of both. */
  #noted = 0
  readonly #update
  readonly #insert
  readonly #insertGram

  constructor(db: Connection, meta: Meta) {
    this.#meta = meta
    this.#update = db.prepare(
      'UPDATE term SET messages = messages + ?, mask = mask | ?, newest = max(newest, ?) WHERE text = ?',
    )
    this.#insert = db.prepare('INSERT INTO term (text, messages, mask, newest) VALUES (?, ?, ?, ?)')
    this.#insertGram = db.prepare('INSERT INTO term_gram (rowid, text) VALUES (?, ?)')
    this.#lose()
  }

  /** Counts the words of a new message. */
  add(id: number, columns: FoldedColumns): void {
    this.#serial++
    if (id > this.#unwritten) this.#unwritten = id
    for (let column = 0; column < COLUMNS.length; column++)
      this.#count(id, columns[COLUMNS[column] as keyof FoldedColumns], column, 1)
  }

  /**
   * Counts the words of a message written again. Its words outside the attachments are counted already, and
   * those in them too when they were there before; which, nobody knows any more.
   * @param isFirst the attachments column was empty before
   */
  addAgain(id: number, columns: FoldedColumns, isFirst: boolean): void {
    this.#serial++
    if (id > this.#unwritten) this.#unwritten = id
    for (let column = 0; column < COLUMNS.length; column++) {
      const name = COLUMNS[column] as keyof FoldedColumns
      this.#count(id, columns[name], column, name === 'attachments' && isFirst ? 1 : 0)
    }
  }

  #count(id: number, folded: string, column: number, messages: number): void {
    const bit = 1 << column
    let at = 0
    while (at < folded.length) {
      let end = folded.indexOf(' ', at)
      if (end < 0) end = folded.length
      const first = folded.charCodeAt(at)
      if (first < 0x0e00 || isWord(folded, at, end)) {
        const word = folded.slice(at, end)
        const counted = this.#words.get(word)
        if (counted === undefined) {
          this.#words.set(word, { messages, mask: bit, last: this.#serial, newest: id })
          this.#fresh.push(word)
        } else {
          if ((counted.mask & bit) === 0) {
            counted.mask |= bit
            this.#fresh.push(word)
          }
          if (counted.newest < id) counted.newest = id
          if (counted.last !== this.#serial) {
            counted.last = this.#serial
            counted.messages += messages
          }
        }
      }
      at = end + 1
    }
  }

  /** Writes the words that are new. Inside the transaction of the messages that have them. */
  write(): void {
    this.#put(this.#fresh)
    this.#fresh = []
    if (this.#words.size > REMEMBERED_MAX) this.flush()
    else if (this.#unwritten > this.#noted) this.#note(this.#unwritten)
  }

  /** Writes all counts. Inside a transaction. */
  flush(): void {
    if (this.#words.size === 0) return
    this.#put([...this.#words.keys()])
    this.#words.clear()
    this.#fresh = []
    this.#unwritten = 0
    if (this.#noted !== this.#lost) this.#note(this.#lost)
  }

  /** The transaction was rolled back: what was remembered is not what is in the table. */
  discard(): void {
    this.#words.clear()
    this.#fresh = []
    this.#lose()
  }

  /** Highest id of the messages whose counts were lost; 0 when none were. */
  get lost(): number {
    return this.#lost
  }

  /** Every term was counted again. Inside a transaction. */
  found(): void {
    this.#lost = 0
    this.#note(this.#unwritten)
  }

  #lose(): void {
    this.#noted = this.#meta.number('unwritten')
    this.#lost = this.#noted
    this.#unwritten = 0
  }

  #note(newest: number): void {
    this.#noted = Math.max(newest, this.#lost)
    this.#meta.set('unwritten', this.#noted)
  }

  #put(words: string[]): void {
    const added: string[] = []
    for (const word of new Set(words.sort())) {
      const counted = this.#words.get(word) as Counted
      if (this.#update.run(counted.messages, counted.mask, counted.newest, word).changes === 0)
        added.push(word)
      else counted.messages = 0
    }
    for (const word of added) {
      const counted = this.#words.get(word) as Counted
      const { lastInsertRowid } = this.#insert.run(
        word,
        Math.max(1, counted.messages),
        counted.mask,
        counted.newest,
      )
      this.#insertGram.run(lastInsertRowid, padded(word))
      counted.messages = 0
    }
  }
}

/** As term_gram holds a word: its beginning and end are trigrams too. */
export function padded(word: string): string {
  return ` ${word} `
}

/** Marks and pairs of characters are asked of the word table itself. */
function isWord(folded: string, at: number, end: number): boolean {
  const first = folded.charCodeAt(at)
  return !(first >= 0xe000 && first <= 0xf8ff) && !isPaired(folded.slice(at, Math.min(end, at + 2)))
}
