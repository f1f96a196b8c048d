/** Rows of `folder`: what the vault looked like when each folder was last scanned. */
import type { Connection } from './files.js'
import type { FolderRow } from './rows.js'
import type { FolderStore } from './store.js'

export class Folders implements FolderStore {
  readonly #db: Connection
  readonly #all
  readonly #id
  readonly #save
  readonly #remove

  constructor(db: Connection) {
    this.#db = db
    this.#all = db.prepare(
      'SELECT id, path, name, kind, fingerprint, scanned, full_check AS fullCheck FROM folder ORDER BY path',
    )
    this.#id = db.prepare('SELECT id FROM folder WHERE path = ?').pluck()
    this.#save = db
      .prepare(
        `INSERT INTO folder (path, name, kind, fingerprint, scanned, full_check)
         VALUES (@path, @name, @kind, @fingerprint, @scanned, @fullCheck)
         ON CONFLICT (path) DO UPDATE SET name = excluded.name, kind = excluded.kind,
           fingerprint = excluded.fingerprint, scanned = excluded.scanned, full_check = excluded.full_check
         RETURNING id`,
      )
      .pluck()
    this.#remove = db.prepare('DELETE FROM folder WHERE id = ?')
  }

  all(): FolderRow[] {
    return this.#all.all() as FolderRow[]
  }

  idOf(path: string): number | undefined {
    return this.#id.get(path) as number | undefined
  }

  save(folder: Omit<FolderRow, 'id'>): number {
    return this.#save.get(folder) as number
  }

  saveAll(folders: ReadonlyArray<Omit<FolderRow, 'id'>>): void {
    this.#db
      .transaction(() => {
        for (const folder of folders) this.#save.get(folder)
      })
      .immediate()
  }

  remove(id: number): void {
    this.#remove.run(id)
  }
}
