/** The key and value table that both databases have. */
import type { Connection } from './files.js'

export class Meta {
  readonly #get
  readonly #set

  constructor(db: Connection) {
    this.#get = db.prepare('SELECT value FROM meta WHERE key = ?').pluck()
    this.#set = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  }

  get(key: string): string | undefined {
    const value = this.#get.get(key)
    return value === undefined ? undefined : String(value)
  }

  number(key: string): number {
    return Number(this.get(key) ?? 0)
  }

  set(key: string, value: string | number): void {
    this.#set.run(key, String(value))
  }
}
