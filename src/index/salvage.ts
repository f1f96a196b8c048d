/**
 * What can still be read of a damaged extracts.db, row by row, into a fresh one: the texts in it took hours.
 *
 * A row counts only when its text can be unpacked and is as long as was recorded. What is lost is
 * registered again from index.db, as pending (store.ts). Nothing is written to the damaged file.
 */
import { closeSync, copyFileSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { unpackPages } from '../fold/texts.js'
import type { Connection } from './files.js'
import { TEXT_BLOCKS } from './schema.js'

/** Of a damaged extracts.db. */
export interface Salvaged {
  /** Contents whose row and text were carried over. */
  saved: number
  /** Contents that were seen and could not be read whole. */
  lost: number
}

const PAGE_BYTES = 8192
const COPY = '.copy'
/** Rows of one transaction. */
const BATCH = 500

/**
 * @param damaged the file, set aside, with its log beside it
 * @param fresh an empty extracts.db of the present schema
 */
export function salvage(damaged: string, fresh: Connection): Salvaged {
  const found: Salvaged = { saved: 0, lost: 0 }
  const from = openDamaged(damaged, fresh)
  if (!from) return found
  try {
    const columns = (fresh.pragma('table_info(content)') as Array<{ name: string }>).map(
      ({ name }) => name,
    )
    const known = new Set(
      (from.pragma('table_info(content)') as Array<{ name: string }>).map(({ name }) => name),
    )
    const shared = columns.filter((name) => known.has(name))
    const row = from.prepare(`SELECT ${shared.join(', ')} FROM content WHERE id = ?`)
    const texts = from.prepare(
      'SELECT id, text, ocr FROM content_text WHERE id BETWEEN ? AND ? ORDER BY id',
    )
    const insert = fresh.prepare(
      `INSERT INTO content (${shared.join(', ')}) VALUES (${shared.map((name) => `@${name}`).join(', ')})`,
    )
    const insertText = fresh.prepare('INSERT INTO content_text (id, text, ocr) VALUES (?, ?, ?)')
    // Undefined only where texts are not kept; a table that cannot be read holds some.
    const areTextsKept =
      attempt(() => ({ row: from.prepare('SELECT 1 FROM content_text LIMIT 1').get() }))?.row !==
      undefined
    const copy = fresh.transaction((content: Content, blocks: readonly Block[]) => {
      insert.run(content)
      for (const { id, text, ocr } of blocks) insertText.run(id, text, ocr)
    })
    const ids = readableIds(from)
    for (let at = 0; at < ids.length; at += BATCH)
      fresh.transaction(() => {
        for (const id of ids.slice(at, at + BATCH)) {
          const isSaved = attempt(() => {
            const content = row.get(id) as Content | undefined
            if (!content || content.hash.length !== 32) return false
            const blocks = texts.all(
              id * TEXT_BLOCKS,
              id * TEXT_BLOCKS + TEXT_BLOCKS - 1,
            ) as Block[]
            // Pages of long values have no structure that SQLite could find broken.
            if ((blocks.length > 0 || areTextsKept) && charsOf(blocks) !== (content.chars ?? 0))
              return false
            copy(content, blocks)
            return true
          })
          if (isSaved) found.saved++
          else found.lost++
        }
      })()
    const last = fresh
      .prepare('SELECT coalesce(max(revision), 0) AS revision, max(claim) AS claim FROM content')
      .get() as { revision: number; claim: number | null }
    const set = fresh.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
    set.run('revision', String(last.revision))
    set.run('claim', String(last.claim ?? 0))
    return found
  } finally {
    attempt(() => from.close())
    rmSync(damaged + COPY, { force: true })
  }
}

interface Content {
  id: number
  hash: Buffer
  chars: number | null
  [column: string]: unknown
}

interface Block {
  id: number
  text: Buffer
  ocr: Buffer | null
}

/** The damaged file, or a copy of it with the first page of a fresh one when its own is the damage. */
function openDamaged(path: string, fresh: Connection): Connection | undefined {
  const whole = attempt(() => openTables(path))
  if (whole) return whole
  return attempt(() => {
    const copy = path + COPY
    copyFileSync(path, copy)
    graftFirstPage(copy, fresh)
    return openTables(copy)
  })
}

function openTables(path: string): Connection {
  const db = new Database(path, { fileMustExist: true })
  try {
    db.prepare('SELECT id FROM content WHERE id = 0').get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * The first page holds the schema and the places of the tables, which are the same in every file that one
 * schema made. It is written by each transaction, and so the likeliest to be torn.
 */
function graftFirstPage(path: string, fresh: Connection): void {
  const page = Buffer.from(fresh.serialize().subarray(0, PAGE_BYTES))
  // Format 1: no log. As many pages as there are, none free, and no counter older than the count.
  page.writeUInt8(1, 18)
  page.writeUInt8(1, 19)
  page.writeUInt32BE(Math.floor(statSync(path).size / PAGE_BYTES), 28)
  page.writeUInt32BE(0, 32)
  page.writeUInt32BE(0, 36)
  page.writeUInt32BE(page.readUInt32BE(24), 92)
  const file = openSync(path, 'r+')
  try {
    writeSync(file, page, 0, PAGE_BYTES, 0)
  } finally {
    closeSync(file)
  }
}

/** Ids of contents, from the table as far as it can be walked from either end, and from the index of hashes. */
function readableIds(db: Connection): number[] {
  const ids = new Set<number>()
  const walk = (sql: string, start: number): void => {
    const step = db.prepare(sql).pluck()
    for (let last = start; ;) {
      // One at a time where a stretch cannot be read: a broken page ends the walk, not the rows before it.
      const some = (attempt(() => step.all(last, 500)) ?? attempt(() => step.all(last, 1))) as
        number[] | undefined
      if (!some || some.length === 0) return
      for (const id of some) ids.add(id)
      last = some.at(-1) as number
    }
  }
  walk('SELECT id FROM content WHERE id > ? ORDER BY id LIMIT ?', -1)
  walk('SELECT id FROM content WHERE id < ? ORDER BY id DESC LIMIT ?', Number.MAX_SAFE_INTEGER)
  const byHash = db
    .prepare(
      'SELECT id FROM content INDEXED BY sqlite_autoindex_content_1 WHERE hash BETWEEN ? AND ?',
    )
    .pluck()
  const look = (prefix: readonly number[]): void => {
    const low = Buffer.from(prefix)
    const high = Buffer.concat([Buffer.from(prefix), Buffer.alloc(32, 0xff)])
    const some = attempt(() => byHash.all(low, high)) as number[] | undefined
    if (some) for (const id of some) ids.add(id)
    else if (prefix.length < 2) for (let next = 0; next < 256; next++) look([...prefix, next])
  }
  look([])
  return [...ids].sort((a, b) => a - b)
}

function charsOf(blocks: readonly Block[]): number {
  let chars = 0
  for (const { text } of blocks) for (const page of unpackPages(text)) chars += page.text.length
  return chars
}

/** What a damaged page throws is no error here. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
