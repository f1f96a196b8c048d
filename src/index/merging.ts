/**
 * How the segments of the two FTS5 tables are merged. By itself FTS5 does it inside the transaction of whoever
 * writes, in portions that grow with the levels of the table, so that a delivery into an old index paid for more
 * than one into a new index. That is off; merged is in idle steps (idle.ts) and, so that a first index stays
 * searchable while it grows, after each batch of many messages, and a little after each sixteen deliveries that come
 * without a pause.
 *
 * Should that not be enough, FTS5 bounds them: at 32 segments FTS5 joins a level, which after single messages is
 * small. At 16, its own number, a delivery during a first index met the large segments of batches (0.35 s of CPU).
 */
import type { Connection } from './files.js'

export type WordTable = 'words' | 'term_gram'
export const WORD_TABLES: readonly WordTable[] = ['words', 'term_gram']

/**
 * Segments of a level from which on an idle step joins them, a batch of many messages does, and deliveries do.
 * Batches of a first index with 8 left 17 segments where 5 leave 10 (16,000 messages; of a million 19 and 16), for 2 %
 * less time.
 */
const CROWDED = { idle: 4, batch: 5, deliveries: 8 } as const
/** Kept by FTS5 in the file. 8 MB of words in memory before a segment is written: an eighth less time than with 1 MB. */
const KEPT = {
  automerge: 0,
  usermerge: CROWDED.idle,
  crisismerge: 32,
  hashsize: 8_388_608,
} as const

/** Writes what FTS5 is to keep, where the file has other values. */
export function tuneMerging(db: Connection): void {
  for (const table of WORD_TABLES) {
    const kept = new Map(
      db.prepare(`SELECT k, v FROM ${table}_config`).raw().all() as [string, unknown][],
    )
    for (const [key, value] of Object.entries(KEPT))
      if (kept.get(key) !== value)
        db.exec(`INSERT INTO ${table}(${table}, rank) VALUES ('${key}', ${value})`)
  }
}

/** Segments of each level of an FTS5 table, from its structure record. */
function levels(db: Connection, table: WordTable): number[] {
  const record = db.prepare(`SELECT block FROM ${table}_data WHERE id = 10`).pluck().get() as Buffer
  // Four bytes of cookie, four of version with contentless_delete, then varints.
  const isVersion2 = record.length >= 8 && record.readUInt32BE(4) === 0xff000001
  let at = isVersion2 ? 8 : 4
  const varint = (): number => {
    let value = 0
    for (;;) {
      const byte = record[at++] as number
      value = value * 128 + (byte & 127)
      if (byte < 128) return value
    }
  }
  const count = varint()
  const total = varint()
  varint() // writes so far
  const found: number[] = []
  for (let level = 0; level < count; level++) {
    varint() // segments being merged
    const here = varint()
    found.push(here)
    // Id, first and last page; then first and last origin, tombstone pages, tombstones and entries.
    for (let skip = here * (isVersion2 ? 8 : 3); skip > 0; skip--) varint()
  }
  return found.reduce((sum, here) => sum + here, 0) === total ? found : [total]
}

/** Segments of an FTS5 table. One is best. */
export function segments(db: Connection, table: WordTable): number {
  return levels(db, table).reduce((sum, here) => sum + here, 0)
}

/** Whether some level has so many segments that they should be joined. */
export function isCrowded(db: Connection, table: WordTable, when: keyof typeof CROWDED): boolean {
  return levels(db, table).some((here) => here >= CROWDED[when])
}

/**
 * Goes on with a merge, or joins the segments of the most crowded level; reads and writes so many pages of 4 kB.
 * Inside a transaction. A negative number begins to merge all there are into one.
 * @returns whether there was something to do
 */
export function mergePages(db: Connection, table: WordTable, pages: number): boolean {
  const changes = db.prepare('SELECT total_changes()').pluck()
  const before = changes.get() as number
  db.exec(`INSERT INTO ${table}(${table}, rank) VALUES ('merge', ${pages})`)
  return (changes.get() as number) - before >= 2
}

/** Merges up to so many pages where segments became many. Inside the transaction of those who wrote them. */
export function mergeCrowded(
  db: Connection,
  pages: number,
  whose: Exclude<keyof typeof CROWDED, 'idle'>,
): void {
  for (const table of WORD_TABLES) if (isCrowded(db, table, whose)) mergePages(db, table, pages)
}
