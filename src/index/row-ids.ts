/**
 * Row ids: the date of a message in seconds, moved up to the next free second.
 *
 * Runs of taken ids that were met are remembered, so that 100,000 messages of one date cost one probe
 * each and not 100,000; a run that lies in the file from before is measured once with one query.
 */
import type { Connection } from './files.js'

/** Runs remembered; beyond that the shortest half is forgotten. */
const RUNS_MAX = 50_000
const DAY = 86_400

/**
 * The date by which a message is kept, seconds since 1970.
 * The Date header gives way to Received, and that to the file's time, when it is missing, before 1970,
 * or more than a day later than Received or than now.
 */
export function chooseDate(facts: {
  date: number | null
  received: number | null
  mtimeMs: number
  now?: number
}): number {
  const now = Math.floor((facts.now ?? Date.now()) / 1000)
  const received = isUsable(facts.received, now) ? facts.received : null
  if (isUsable(facts.date, now) && (received === null || facts.date <= received + DAY))
    return Math.floor(facts.date)
  if (received !== null) return Math.floor(received)
  const file = Math.floor(facts.mtimeMs / 1000)
  return isUsable(file, now) ? file : Math.max(1, now)
}

function isUsable(seconds: number | null, now: number): seconds is number {
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 && seconds <= now + DAY
}

export class RowIds {
  /** Disjoint runs of taken ids, ascending: first and last of each. */
  #firsts: number[] = []
  #lasts: number[] = []
  /** Taken in this transaction, not yet written. */
  readonly #fresh = new Set<number>()
  readonly #isTaken: (id: number) => boolean
  readonly #endOfRun: (id: number) => number
  /** The largest move so far. */
  shift: number

  constructor(db: Connection, shift: number) {
    this.shift = shift
    const taken = db.prepare('SELECT 1 FROM message WHERE id = ?').pluck()
    this.#isTaken = (id) => this.#fresh.has(id) || taken.get(id) !== undefined
    const runEnd = db
      .prepare(
        `SELECT id FROM message AS each WHERE id >= ? AND NOT EXISTS (SELECT 1 FROM message WHERE id = each.id + 1)
         ORDER BY id LIMIT 1`,
      )
      .pluck()
    this.#endOfRun = (id) => {
      let last = id
      for (;;) {
        if (!this.#fresh.has(last)) last = (runEnd.get(last) as number | undefined) ?? last
        if (!this.#isTaken(last + 1)) return last
        last++
      }
    }
  }

  /** Takes the first free id at or after a date. */
  take(date: number): number {
    let id = date
    const run = this.#runHolding(id)
    if (run >= 0) id = (this.#lasts[run] as number) + 1
    if (this.#isTaken(id)) {
      const last = this.#endOfRun(id)
      this.#remember(run >= 0 ? (this.#firsts[run] as number) : id, last + 1)
      id = last + 1
    } else if (run >= 0) this.#remember(this.#firsts[run] as number, id)
    this.#fresh.add(id)
    this.shift = Math.max(this.shift, id - date)
    return id
  }

  /** The transaction was written: its ids are found in the table from now on. */
  written(): void {
    this.#fresh.clear()
  }

  /** An id became free, or a transaction was rolled back: runs must be measured again. */
  forget(): void {
    this.#fresh.clear()
    this.#firsts = []
    this.#lasts = []
  }

  #runHolding(id: number): number {
    const run = this.#position(id)
    return run >= 0 && id <= (this.#lasts[run] as number) ? run : -1
  }

  /** The last run that begins at or before an id. */
  #position(id: number): number {
    let low = 0
    let high = this.#firsts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#firsts[middle] as number) <= id) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Notes that first to last are taken, and joins the runs that this touches. */
  #remember(first: number, last: number): void {
    let from = this.#position(first)
    if (from < 0 || (this.#lasts[from] as number) < first - 1) from++
    let to = from
    while (to < this.#firsts.length && (this.#firsts[to] as number) <= last + 1) to++
    if (from < to) {
      first = Math.min(first, this.#firsts[from] as number)
      last = Math.max(last, this.#lasts[to - 1] as number)
    }
    if (to === from + 1) {
      this.#firsts[from] = first
      this.#lasts[from] = last
      return
    }
    this.#firsts.splice(from, to - from, first)
    this.#lasts.splice(from, to - from, last)
    if (this.#firsts.length > RUNS_MAX) this.#keepLongest()
  }

  #keepLongest(): void {
    const sizes = this.#firsts.map((first, run) => (this.#lasts[run] as number) - first)
    const middle = [...sizes].sort((a, b) => a - b)[sizes.length >> 1] as number
    const kept = sizes.map((size) => size > middle)
    this.#firsts = this.#firsts.filter((_, run) => kept[run])
    this.#lasts = this.#lasts.filter((_, run) => kept[run])
  }
}
