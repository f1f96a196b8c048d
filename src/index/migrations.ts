/**
 * From older schemas to today's, one numbered step after another. A released step is never changed: a new
 * schema gets a new number, its own step here, and an index of the old number in test/fixtures/schema
 * (scripts/make-schema-fixture.ts), so that every version that was released is tested.
 *
 * Steps of extracts.db keep every state and text. One of index.db that would cost more than building it
 * afresh is left out: the file is then begun anew, from the kept extracts.
 */
import type { Connection } from './files.js'
import { DICTIONARY_TABLE } from './schema.js'

/** What makes a file of version `to` of one of the version before. */
export interface Migration {
  readonly to: number
  readonly change: (db: Connection) => void
}

export const INDEX_MIGRATIONS: readonly Migration[] = [
  {
    to: 2,
    change: (db) => db.exec('ALTER TABLE message ADD COLUMN ctime INTEGER NOT NULL DEFAULT 0'),
  },
  {
    to: 3,
    change: (db) =>
      db.exec(`ALTER TABLE message ADD COLUMN losses TEXT;
        CREATE INDEX message_losses ON message (id) WHERE losses IS NOT NULL`),
  },
  // Bodies stay as they are packed; new ones take the new form.
  { to: 4, change: (db) => db.exec(DICTIONARY_TABLE) },
]

export const EXTRACTS_MIGRATIONS: readonly Migration[] = []

/**
 * Takes a file to `version`, all steps or none.
 *
 * @returns false when a step is missing; the file is as it was then
 * @throws what SQLite threw in a step; the file is as it was then
 */
export function migrate(
  db: Connection,
  migrations: readonly Migration[],
  version: number,
): boolean {
  const from = db.pragma('user_version', { simple: true }) as number
  const steps = migrations.filter(({ to }) => to > from && to <= version)
  if (steps.some(({ to }, i) => to !== from + 1 + i) || steps.length !== version - from)
    return false
  db.transaction(() => {
    for (const { to, change } of steps) {
      change(db)
      db.pragma(`user_version = ${to}`)
    }
  }).immediate()
  return true
}
