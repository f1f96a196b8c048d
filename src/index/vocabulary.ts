/**
 * The write side of `term` and `term_gram`: which words there are, in about how many messages, in which
 * columns. Counts of a batch are gathered in memory and written sorted, in the transaction of the batch.
 *
 * Not responsible for: finding words that contain or resemble another (search's side); exact counts after
 * rewrites and deletions (idle.ts recounts).
 */
import { isPaired } from '../fold/fold.js'
import { COLUMNS, type FoldedColumns } from '../fold/columns.js'
import type { Connection } from './files.js'

interface Counted {
  messages: number
  mask: number
  /** Serial of the message that counted last, so that each counts once. */
  last: number
  /** Highest id of the messages that hold it. */
  newest: number
}

export class Vocabulary {
  readonly #words = new Map<string, Counted>()
  #serial = 0
  readonly #update
  readonly #insert
  readonly #insertGram

  constructor(db: Connection) {
    this.#update = db.prepare(
      'UPDATE term SET messages = messages + ?, mask = mask | ?, newest = max(newest, ?) WHERE text = ?',
    )
    this.#insert = db.prepare('INSERT INTO term (text, messages, mask, newest) VALUES (?, ?, ?, ?)')
    this.#insertGram = db.prepare('INSERT INTO term_gram (rowid, text) VALUES (?, ?)')
  }

  /** Counts the words of a new message. */
  add(id: number, columns: FoldedColumns): void {
    this.#serial++
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
        if (counted === undefined)
          this.#words.set(word, { messages, mask: bit, last: this.#serial, newest: id })
        else {
          counted.mask |= bit
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

  /** Distinct words gathered; a batch that grows past some hundred thousand is written early. */
  get size(): number {
    return this.#words.size
  }

  /** Writes what was gathered. Inside the caller's transaction. */
  flush(): void {
    const fresh: string[] = []
    for (const word of [...this.#words.keys()].sort(byBytes)) {
      const { messages, mask, newest } = this.#words.get(word) as Counted
      if (this.#update.run(messages, mask, newest, word).changes === 0) fresh.push(word)
    }
    for (const word of fresh) {
      const { messages, mask, newest } = this.#words.get(word) as Counted
      const { lastInsertRowid } = this.#insert.run(word, Math.max(1, messages), mask, newest)
      this.#insertGram.run(lastInsertRowid, padded(word))
    }
    this.#words.clear()
  }

  /** The transaction was rolled back. */
  discard(): void {
    this.#words.clear()
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

/** Near enough to SQLite's order by UTF-8 bytes for pages to be touched once. */
function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
