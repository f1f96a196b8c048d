/**
 * Work for idle times, in steps of some tens of milliseconds, each in its own transaction: merging the
 * word tables to one segment, counting words again, dropping dead ones, shortening the logs. What was
 * begun goes on at the next step, also in another process.
 *
 * Not responsible for: deciding when it is idle.
 */
import { COLUMNS } from '../fold/columns.js'
import { PipelineError } from '../part/errors.js'
import type { Dictionary } from './dictionary.js'
import type { Connection } from './files.js'
import { isCrowded, mergePages, segments, WORD_TABLES, type WordTable } from './merging.js'
import type { Meta } from './meta.js'
import type { IdleStore } from './store.js'
import { padded, type Vocabulary } from './vocabulary.js'

/** Pages merged in one statement, and milliseconds of one step. */
const MERGE_PAGES = 16
const STEP_MS = 30
/** Free pages that are worth giving back, as a share of all and at least; and pages given back in one step. */
const FREE_SHARE = 0.005
const FREE_MIN = 64
const SHRINK_PAGES = 200
/** Terms counted in one query. */
const RECOUNT_TERMS = 500
/** A share of the messages changed since the last merge, or miscounted, makes the work worth its writing. */
const WORTH = 0.05
/** Fewer changes are never worth it: a mail that arrives must not have the whole index written again. */
const WORTH_MIN = 50

export class Idle implements IdleStore {
  readonly #db: Connection
  readonly #extracts: Connection
  readonly #meta: Meta
  readonly #vocabulary: Vocabulary
  readonly #dictionary: Dictionary
  readonly #sql
  #isClean = false
  /** Counted once and after each merge: a share of it is all that is asked for. */
  #messages: number | undefined

  constructor(
    db: Connection,
    extracts: Connection,
    meta: Meta,
    vocabulary: Vocabulary,
    dictionary: Dictionary,
  ) {
    this.#dictionary = dictionary
    this.#db = db
    this.#extracts = extracts
    this.#meta = meta
    this.#vocabulary = vocabulary
    this.#sql = {
      messages: db.prepare('SELECT count(*) FROM message').pluck(),
      counts: db.prepare('SELECT term, doc FROM word_count WHERE term > ? ORDER BY term LIMIT ?'),
      columns: db.prepare(
        'SELECT term, col FROM word_column WHERE term > ? AND term <= ? ORDER BY term',
      ),
      terms: db.prepare(
        'SELECT id, text, messages, mask FROM term WHERE text > ? AND text <= ? ORDER BY text',
      ),
      lastTerms: db.prepare('SELECT id, text, messages, mask FROM term WHERE text > ?'),
      correct: db.prepare('UPDATE term SET messages = ?, mask = ?, newest = ? WHERE id = ?'),
      newest: db
        .prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1')
        .pluck(),
      dropTerm: db.prepare('DELETE FROM term WHERE id = ?'),
      dropGram: db.prepare(
        `INSERT INTO term_gram (term_gram, rowid, text) VALUES ('delete', ?, ?)`,
      ),
    }
  }

  /** Something was written: there may be work again. */
  wake(): void {
    this.#isClean = false
  }

  step(): boolean {
    if (this.#isClean) return false
    const until = performance.now() + STEP_MS
    if (this.#db.transaction(() => this.#vocabulary.flushUntil(until)).immediate()) return true
    if (this.#mergeStep('words') || this.#recountStep() || this.#mergeStep('term_gram')) return true
    if (WORD_TABLES.some((table) => this.#joinStep(table))) return true
    if (this.#shrinkStep(this.#db) || this.#shrinkStep(this.#extracts)) return true
    this.#db.pragma('wal_checkpoint(TRUNCATE)')
    this.#extracts.pragma('wal_checkpoint(TRUNCATE)')
    this.#isClean = true
    return false
  }

  purge(): void {
    this.#db.transaction(() => this.#vocabulary.flush()).immediate()
    this.#db.exec(`INSERT INTO words(words) VALUES ('optimize')`)
    this.#meta.set('recounted', '')
    this.#meta.set('recounting', 1)
    while (this.#recountStep());
    this.#dictionary.purge()
    this.#db.exec(`INSERT INTO term_gram(term_gram) VALUES ('optimize')`)
    this.#meta.set('merging words', 0)
    this.#meta.set('merging term_gram', 0)
    this.#meta.set('changes', 0)
    for (const db of [this.#db, this.#extracts]) {
      db.pragma('wal_checkpoint(TRUNCATE)')
      db.exec('VACUUM')
      // Until the log is copied back the file is the old one.
      const [done] = db.pragma('wal_checkpoint(TRUNCATE)') as Array<{ busy: number }>
      if (done?.busy)
        throw new PipelineError(
          'E_INDEX_BUSY',
          `a search is at work on ${db.name}, so that deleted text is still in it: purge once more when it has ended`,
        )
    }
  }

  #isWorth(counted: number): boolean {
    if (counted < WORTH_MIN) return false
    this.#messages ??= this.#sql.messages.get() as number
    return counted >= this.#messages * WORTH
  }

  /** Gives the pages back that a merge or deletions left empty, when they are worth it. */
  #shrinkStep(db: Connection): boolean {
    const free = db.pragma('freelist_count', { simple: true }) as number
    const all = db.pragma('page_count', { simple: true }) as number
    if (free < FREE_MIN || free < all * FREE_SHARE) return false
    db.pragma(`incremental_vacuum(${SHRINK_PAGES})`)
    return true
  }

  /** @returns whether there may be more to merge */
  #mergeStep(table: WordTable): boolean {
    const key = `merging ${table}`
    let isBegun = this.#meta.number(key) > 0
    if (!isBegun) {
      if (segments(this.#db, table) < 2) return false
      // The words' table decides for both: the trigrams follow when it was merged.
      if (table === 'words' && !this.#isWorth(this.#meta.number('changes'))) return false
      if (table === 'term_gram' && this.#meta.number('changes') > 0) return false
    }
    const until = performance.now() + STEP_MS
    let isDone = false
    this.#db
      .transaction(() => {
        do {
          // A negative number begins to merge all segments there are into one; a positive one goes on.
          isDone = !mergePages(this.#db, table, isBegun ? MERGE_PAGES : -MERGE_PAGES)
          isBegun = true
        } while (!isDone && performance.now() < until)
        this.#meta.set(key, isDone ? 0 : 1)
        if (isDone && table === 'words') {
          this.#meta.set('changes', 0)
          this.#messages = undefined
        }
      })
      .immediate()
    return !isDone
  }

  /** Joins what deliveries left: few and small segments, where a merge of everything is not worth it yet. */
  #joinStep(table: WordTable): boolean {
    if (!isCrowded(this.#db, table, 'idle')) return false
    const until = performance.now() + STEP_MS
    return this.#db
      .transaction(() => {
        let isMerged = false
        while (mergePages(this.#db, table, MERGE_PAGES)) {
          isMerged = true
          if (performance.now() > until) break
        }
        return isMerged
      })
      .immediate()
  }

  /** Compares `term` with the word table itself, a stretch of the alphabet at a time. */
  #recountStep(): boolean {
    if (this.#meta.number('recounting') === 0) {
      const miscounted = this.#meta.number('miscounted')
      if (this.#vocabulary.lost === 0 && !this.#isWorth(miscounted)) return false
      this.#meta.set('miscounted', 0)
      this.#meta.set('recounting', 1)
      this.#meta.set('recounted', '')
    }
    const until = performance.now() + STEP_MS
    let isDone = false
    this.#db
      .transaction(() => {
        let after = this.#meta.get('recounted') ?? ''
        do {
          const next = this.#recount(after)
          isDone = next === undefined
          if (next !== undefined) after = next
        } while (!isDone && performance.now() < until)
        this.#meta.set('recounted', after)
        if (isDone) {
          this.#meta.set('recounting', 0)
          this.#vocabulary.found()
        }
      })
      .immediate()
    return !isDone
  }

  /** @returns the last term compared, or undefined at the end */
  #recount(after: string): string | undefined {
    const counted = this.#sql.counts.all(after, RECOUNT_TERMS) as Array<{
      term: string
      doc: number
    }>
    const last = counted.at(-1)?.term
    const live = new Map(counted.map(({ term, doc }) => [term, { doc, mask: 0 }]))
    if (last !== undefined)
      for (const { term, col } of this.#sql.columns.all(after, last) as Array<{
        term: string
        col: string
      }>) {
        const one = live.get(term)
        if (one) one.mask |= 1 << COLUMNS.indexOf(col as (typeof COLUMNS)[number])
      }
    const isEnd = counted.length < RECOUNT_TERMS
    const terms = (
      isEnd ? this.#sql.lastTerms.all(after) : this.#sql.terms.all(after, last)
    ) as Array<{ id: number; text: string; messages: number; mask: number }>
    for (const { id, text, messages, mask } of terms) {
      const one = live.get(text)
      if (one === undefined) {
        this.#sql.dropTerm.run(id)
        this.#sql.dropGram.run(BigInt(id), padded(text))
      } else if (one.doc !== messages || one.mask !== mask || this.#vocabulary.lost > 0)
        this.#sql.correct.run(one.doc, one.mask, this.#sql.newest.get(`"${text}"`), id)
    }
    return isEnd ? undefined : last
  }
}
