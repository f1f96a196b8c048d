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
import { COLUMNS, type FoldedColumns } from '../fold/columns.js'
import { Counts } from './counts.js'
import type { Connection } from './files.js'
import type { Meta } from './meta.js'

/** Words remembered between transactions; beyond that all counts are written, in about a tenth of a second. */
const REMEMBERED_MAX = 60_000
/** Words written between two looks at the clock; some milliseconds. */
const PIECE = 500

export class Vocabulary {
  readonly #meta: Meta
  readonly #counts = new Counts()
  /** Highest id of messages whose counts are not written; 0 none. */
  #unwritten = 0
  #lost = 0
  /** As `meta.unwritten` has it: the larger of both. */
  #noted = 0
  /** Slots that a flush in pieces has still to write, the first one last; undefined when none is under way. */
  #left: number[] | undefined
  readonly #mask
  readonly #update
  readonly #insert
  readonly #insertGram
  readonly #common

  constructor(db: Connection, meta: Meta) {
    this.#meta = meta
    this.#mask = db.prepare('SELECT mask FROM term WHERE text = ?').pluck()
    this.#update = db.prepare(
      'UPDATE term SET messages = messages + ?, mask = mask | ?, newest = max(newest, ?) WHERE text = ?',
    )
    this.#insert = db.prepare('INSERT INTO term (text, messages, mask, newest) VALUES (?, ?, ?, ?)')
    this.#insertGram = db.prepare('INSERT INTO term_gram (rowid, text) VALUES (?, ?)')
    this.#common = db
      .prepare('SELECT text, messages FROM term WHERE messages >= ? AND mask & ? <> 0')
      .raw()
    this.#lose()
  }

  /** Counts the words of a new message. */
  add(id: number, columns: FoldedColumns): void {
    this.#begin()
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
    this.#begin()
    if (id > this.#unwritten) this.#unwritten = id
    for (let column = 0; column < COLUMNS.length; column++) {
      const name = COLUMNS[column] as keyof FoldedColumns
      this.#count(id, columns[name], column, name === 'attachments' && isFirst ? 1 : 0)
    }
  }

  #begin(): void {
    this.#counts.begin()
    this.#left = undefined
  }

  #count(id: number, folded: string, column: number, messages: number): void {
    let at = 0
    while (at < folded.length) {
      at = this.#counts.take(folded, at, 1 << column, id, messages)
      if (at < folded.length) this.#putAll()
    }
  }

  /** Writes the words that are new. Inside the transaction of the messages that have them. */
  write(): void {
    this.#putNew()
    if (this.#counts.used.length > REMEMBERED_MAX) this.flush()
    else if (this.#unwritten > this.#noted) this.#note(this.#unwritten)
  }

  /** Writes all counts. Inside a transaction. */
  flush(): void {
    if (this.#counts.used.length === 0) return
    this.#put([...this.#counts.used])
    this.#forget()
  }

  /**
   * Writes counts until a time. Inside a transaction.
   * @returns whether some are left, for another transaction
   */
  flushUntil(untilMs: number): boolean {
    if (this.#counts.used.length === 0) return false
    this.#left ??= this.#sorted([...this.#counts.used]).reverse()
    while (this.#left.length > 0 && performance.now() < untilMs)
      this.#put(this.#left.splice(-PIECE))
    if (this.#left.length > 0) return true
    this.#forget()
    return false
  }

  /** Words of a column that stand in so many messages or more, each with the messages known of it. */
  common(column: number, messages: number): Map<string, number> {
    const found = new Map(
      this.#common.all(messages, BigInt(1 << column)) as Array<[string, number]>,
    )
    // To write all counts for this would take a fifth of a second.
    const counts = this.#counts
    for (const slot of counts.used) {
      const more = counts.messages[slot] as number
      if (more < messages || (counts.maskOf(slot) & (1 << column)) === 0) continue
      const word = counts.words[slot] as string
      found.set(word, (found.get(word) ?? 0) + more)
    }
    return found
  }

  /** All that was remembered is in the table. */
  #forget(): void {
    this.#left = undefined
    this.#counts.clear()
    this.#unwritten = 0
    if (this.#noted !== this.#lost) this.#note(this.#lost)
  }

  /** The transaction was rolled back: what was remembered is not what is in the table. */
  discard(): void {
    this.#left = undefined
    this.#counts.clear()
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

  #putAll(): void {
    this.#put([...this.#counts.used])
    this.#counts.clear()
  }

  /**
   * Of the words that this process has not met before, or not in that column, writes those that the table lacks.
   * To read the others is cheap, to write them was most of a delivery: 70 pages of log out of 90 in a store of 5,000.
   */
  #putNew(): void {
    const { words, fresh } = this.#counts
    const changed: number[] = []
    const added: number[] = []
    for (const slot of fresh) {
      const known = this.#mask.get(words[slot]) as number | undefined
      if (known === undefined) added.push(slot)
      else if ((this.#counts.maskOf(slot) & ~known) !== 0) changed.push(slot)
    }
    fresh.clear()
    this.#put(changed)
    this.#add(this.#sorted(added))
  }

  #put(slots: number[]): void {
    const { words, messages, newest } = this.#counts
    const added: number[] = []
    for (const slot of this.#sorted(slots)) {
      const mask = this.#counts.maskOf(slot)
      const done = this.#update.run(messages[slot], mask, newest[slot], words[slot])
      if (done.changes === 0) added.push(slot)
      else messages[slot] = 0
    }
    this.#add(added)
  }

  #add(slots: readonly number[]): void {
    const { words, messages, newest } = this.#counts
    for (const slot of slots) {
      const word = words[slot] as string
      const count = Math.max(1, messages[slot] as number)
      const mask = this.#counts.maskOf(slot)
      const { lastInsertRowid } = this.#insert.run(word, count, mask, newest[slot])
      this.#insertGram.run(lastInsertRowid, padded(word))
      messages[slot] = 0
    }
  }

  /** In the order of the table's index, so that its pages are touched one after the other. */
  #sorted(slots: number[]): number[] {
    const { words } = this.#counts
    return slots.sort((a, b) => ((words[a] as string) < (words[b] as string) ? -1 : 1))
  }
}

/** As term_gram holds a word: its beginning and end are trigrams too. */
export function padded(word: string): string {
  return ` ${word} `
}
