/**
 * Opens and closes the files of an index: index.db, extracts.db, and writer.lock, whose lock makes a
 * process the one writer and dies with it.
 *
 * A file that SQLite cannot read, or that a newer Paperknife wrote, is set aside under another name and
 * begun afresh by the writer; a reader only says so. No file is touched that is not ours by its name and,
 * where it can be read, by its application id.
 *
 * Not responsible for: what is in the files (schema.ts and those who write).
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { FOLD_VERSION } from '../fold/fold.js'
import { dictionaryOf } from '../fold/texts.js'
import { PipelineError } from '../part/errors.js'
import { EXTRACTS_MIGRATIONS, INDEX_MIGRATIONS, migrate, type Migration } from './migrations.js'
import { salvage, type Salvaged } from './salvage.js'
import {
  EXTRACTS_APPLICATION,
  EXTRACTS_SCHEMA,
  EXTRACTS_VERSION,
  INDEX_APPLICATION,
  INDEX_SCHEMA,
  INDEX_VERSION,
} from './schema.js'

export type Connection = Database.Database

export interface Kind {
  name: 'index.db' | 'extracts.db'
  application: number
  schema: string
  version: number
  migrations: readonly Migration[]
  /** Tables that no other program has together: the file is ours even when its head is damaged. */
  tables: readonly string[]
}
export const INDEX: Kind = {
  name: 'index.db',
  application: INDEX_APPLICATION,
  schema: INDEX_SCHEMA,
  version: INDEX_VERSION,
  migrations: INDEX_MIGRATIONS,
  tables: ['message', 'part', 'rewrite', 'orphan', 'words'],
}
export const EXTRACTS: Kind = {
  name: 'extracts.db',
  application: EXTRACTS_APPLICATION,
  schema: EXTRACTS_SCHEMA,
  version: EXTRACTS_VERSION,
  migrations: EXTRACTS_MIGRATIONS,
  tables: ['content', 'content_text', 'tally'],
}
const LOCK = 'writer.lock'
/** Stands in for a full disk in tests: PAPERKNIFE_PAGES_MAX=index.db:200 lets that file grow to so many pages. */
const [quotaOf, pagesMax] = (process.env.PAPERKNIFE_PAGES_MAX ?? '').split(':')
/** Beside a file in which an error was met: the next writer checks it whole before using it. */
const SUSPECT = '.suspect'

/** Memory for pages. Kept texts are written and read once each; terms and keys are met again and again. */
const CACHE_KB = { 'index.db': 49_152, 'extracts.db': 16_384 } as const

/**
 * Pages of log that are gathered before they are copied back. Of batches 64 MB: a page that each of them touches is
 * then copied once for many (5,000 messages: 2.5 s against 3.2 with 16 MB). Of deliveries less, for one of them waits
 * while it is done.
 */
export const LOG_PAGES = { batches: 8_000, deliveries: 3_000 } as const

export interface WriterFiles {
  index: Connection
  extracts: Connection
  /** New names of files that were set aside. */
  setAside: string[]
  /** What could still be read of an extracts.db that was set aside. */
  salvaged: Salvaged | undefined
  isNewIndex: boolean
  /** The last writer did not close them: it crashed, or the machine lost power, or a reader was still there. */
  wasLeftOpen: boolean
  close(): void
}

/**
 * Opens both databases for the one writer.
 * @param directory made when it is missing; files are owner-only
 * @param exclusive exclusive locking instead of shared memory, for network file systems: nobody else reads meanwhile
 * @throws {PipelineError} E_INDEX_BUSY, E_INDEX_READONLY, E_DISK_FULL; E_INDEX_DAMAGED for a file that is not ours
 */
export function openForWriting(directory: string, exclusive = false): WriterFiles {
  return explained(directory, () => {
    makeDirectory(directory)
    const lock = takeLock(directory)
    const setAside: string[] = []
    const wasLeftOpen = [INDEX, EXTRACTS].some(({ name }) =>
      existsSync(`${join(directory, name)}-wal`),
    )
    let index: ReturnType<typeof openOne> | undefined
    try {
      index = openOne(directory, INDEX, exclusive, setAside)
      if (!index.isNew && !isFoldedAlike(index.db)) {
        index.db.close()
        removeFiles(join(directory, INDEX.name))
        index = openOne(directory, INDEX, exclusive, setAside)
      }
      if (index.isNew)
        index.db.prepare("INSERT INTO meta VALUES ('fold', ?)").run(String(FOLD_VERSION))
      const extracts = openOne(directory, EXTRACTS, exclusive, setAside)
      const opened = index
      return {
        index: opened.db,
        extracts: extracts.db,
        setAside,
        salvaged: extracts.salvaged,
        isNewIndex: opened.isNew,
        wasLeftOpen,
        close: () => {
          closeWritten(opened.db)
          closeWritten(extracts.db)
          lock.close()
        },
      }
    } catch (error) {
      index?.db.close()
      lock.close()
      throw error
    }
  })
}

/**
 * Runs something on the index and explains what SQLite throws.
 * @throws {PipelineError} E_INDEX_DAMAGED (the files are then checked by the next writer), E_DISK_FULL, E_INDEX_READONLY, E_INDEX_BUSY
 */
export function explained<Result>(directory: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw explanationOf(directory, error)
  }
}

/**
 * What to throw instead of what SQLite or the file system threw: a PipelineError where a person can do something about it.
 * After damage the files are checked by the next writer.
 */
export function explanationOf(directory: string, error: unknown): unknown {
  const code = codeOf(error)
  const because = { cause: error }
  if (isDamage(code)) {
    for (const { name } of [INDEX, EXTRACTS]) suspect(join(directory, name))
    return new PipelineError(
      'E_INDEX_DAMAGED',
      `the index in ${directory} is damaged: run \`paperknife index\`, which sets the damaged file aside and rebuilds it`,
      because,
    )
  }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT')
    return new PipelineError('E_DISK_FULL', `no space left for the index in ${directory}`, because)
  if (
    /^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code) ||
    /^(EACCES|EROFS|EPERM|ENOENT|ENOTDIR)$/.test(code)
  )
    return new PipelineError(
      'E_INDEX_READONLY',
      `the index in ${directory} cannot be written: choose another folder with --index`,
      because,
    )
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return new PipelineError(
      'E_INDEX_BUSY',
      `another process uses the index in ${directory}`,
      because,
    )
  // Nothing that reading the files whole would find.
  if (code.startsWith('SQLITE_'))
    return new PipelineError(
      'E_INDEX_DAMAGED',
      `the index in ${directory} cannot be used (${(error as Error).message}): ${
        /^SQLITE_(IOERR|NOMEM)/.test(code)
          ? 'look at the disk and the memory of the machine, then run `paperknife index`'
          : 'run `paperknife index`; when that says the same, remove index.db, which is then built anew'
      }`,
      because,
    )
  return error
}

/** Whether an error was met in a file of this index that no writer has checked since. */
export function isSuspect(directory: string): boolean {
  return [INDEX, EXTRACTS].some(({ name }) => existsSync(join(directory, name) + SUSPECT))
}

/**
 * Reads both files whole, the word tables' own structure with them.
 * @throws {PipelineError} E_INDEX_DAMAGED; the next writer then sets the damaged file aside
 */
export function checkWhole(
  directory: string,
  { index, extracts }: Pick<WriterFiles, 'index' | 'extracts'>,
): void {
  explained(directory, () => {
    for (const db of [index, extracts]) {
      // Pages held in memory would hide what the disk has made of them.
      db.pragma('shrink_memory')
      const found = db.pragma('quick_check(1)', { simple: true }) as string
      if (found !== 'ok') throw new Database.SqliteError(found, 'SQLITE_CORRUPT')
    }
    if (!isSuspect(directory)) return
    try {
      for (const { name } of [INDEX, EXTRACTS])
        rmSync(join(directory, name) + SUSPECT, { force: true })
    } catch {
      // A read-only place: its writer looks for itself.
    }
  })
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && !(error instanceof PipelineError)
    ? String(error.code)
    : ''
}

export const isDamage = (code: string): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code)

/**
 * Makes a folder and those above it, owner-only, one by one: Node's recursive way says ENOENT for a read-only
 * file system, where EROFS is meant, and under /proc Node 20 never comes back from it.
 */
export function makeDirectory(directory: string): void {
  if (existsSync(directory)) return
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another process made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function takeLock(directory: string): Connection {
  const path = join(directory, LOCK)
  ownerOnly(path)
  const lock = new Database(path, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (codeOf(error) === 'SQLITE_BUSY')
      throw new PipelineError(
        'E_INDEX_BUSY',
        `another process is writing the index in ${directory}: wait for it, as a command does with --wait, or stop it`,
        { cause: error },
      )
    throw error
  }
  return lock
}

/** Makes a file that its owner alone can read; SQLite gives its -wal and -shm the same permissions. */
function ownerOnly(path: string): void {
  if (existsSync(path)) return
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
}

function openOne(
  directory: string,
  kind: Kind,
  exclusive: boolean,
  setAside: string[],
): { db: Connection; isNew: boolean; salvaged?: Salvaged } {
  const path = join(directory, kind.name)
  const trouble = existsSync(path) ? troubleWith(path, kind, exclusive) : undefined
  if (trouble === 'foreign')
    throw new PipelineError(
      'E_INDEX_DAMAGED',
      `${path} is a database of another program: choose another folder with --index`,
    )
  const aside = trouble === undefined ? undefined : putAside(path)
  if (aside !== undefined) setAside.push(aside)
  ownerOnly(path)
  const db = new Database(path)
  try {
    if (exclusive) db.pragma('locking_mode = EXCLUSIVE')
    // Both count only while the file is empty. 8 kB pages waste a twelfth of the space that texts of 1 to
    // 3 kB leave in pages of 4 kB; freed pages are given back in idle steps (idle.ts).
    db.pragma('page_size = 8192')
    db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('journal_size_limit = 67108864')
    db.pragma(`wal_autocheckpoint = ${LOG_PAGES.batches}`)
    db.pragma('temp_store = MEMORY')
    db.pragma(`cache_size = -${CACHE_KB[kind.name]}`)
    if (quotaOf === kind.name) db.pragma(`max_page_count = ${Number(pagesMax)}`)
    const isNew = db.pragma('user_version', { simple: true }) === 0
    if (isNew)
      db.transaction(() => {
        db.exec(kind.schema)
        db.pragma(`application_id = ${kind.application}`)
        db.pragma(`user_version = ${kind.version}`)
      }).immediate()
    if (aside !== undefined && kind === EXTRACTS) return { db, isNew, salvaged: salvage(aside, db) }
    return { db, isNew }
  } catch (error) {
    db.close()
    throw error
  }
}

/** What forbids using a file: it cannot be read, was written by a newer Paperknife, or belongs to somebody else. */
function troubleWith(
  path: string,
  kind: Kind,
  exclusive: boolean,
): 'damaged' | 'newer' | 'foreign' | undefined {
  let db: Connection | undefined
  try {
    db = new Database(path)
    if (exclusive) db.pragma('locking_mode = EXCLUSIVE')
    const application = db.pragma('application_id', { simple: true })
    const version = db.pragma('user_version', { simple: true }) as number
    const names = db.prepare('SELECT name FROM sqlite_schema').pluck().all() as string[]
    const tables = names.length
    if (application !== kind.application) {
      if (tables === 0) return undefined
      return kind.tables.every((name) => names.includes(name)) ? 'damaged' : 'foreign'
    }
    if (version > kind.version) return 'newer'
    if (tables < 2) return 'damaged'
    db.prepare('SELECT count(*) FROM meta').get()
    if (existsSync(path + SUSPECT)) {
      const found = db.pragma('quick_check(1)', { simple: true })
      if (found !== 'ok' || (kind === INDEX && lacksDictionary(db, version))) return 'damaged'
      rmSync(path + SUSPECT, { force: true })
    }
    // Older ones are brought up; when that fails the texts of an extracts.db are carried over.
    if (version > 0 && version < kind.version && !migrate(db, kind.migrations, kind.version))
      return 'damaged'
    return undefined
  } catch (error) {
    if (isDamage(codeOf(error)) || codeOf(error) === 'SQLITE_ERROR') return 'damaged'
    throw error
  } finally {
    db?.close()
  }
}

/** A body needs a dictionary that is not there: its text is lost. Reads all bodies. */
function lacksDictionary(db: Connection, version: number): boolean {
  // Older ones have none, and no body that needs one.
  if (version < INDEX_VERSION) return false
  const known = new Set(db.prepare('SELECT number FROM dictionary').pluck().all())
  for (const block of db.prepare('SELECT substr(text, 1, 3) FROM body').pluck().iterate()) {
    const number = dictionaryOf(block as Buffer)
    if (number > 0 && !known.has(number)) return true
  }
  return false
}

/** Renames a file of ours, with its log, out of the way. One such is kept: an older one is removed. */
function putAside(path: string): string {
  const aside = `${path}.set-aside`
  removeFiles(aside)
  renameSync(path, aside)
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`)
  for (const ending of ['-shm', '-journal', SUSPECT]) rmSync(path + ending, { force: true })
  return aside
}

/** Removes what was set aside: older texts lie in it. */
export function removeSetAside(directory: string): void {
  for (const { name } of [INDEX, EXTRACTS]) removeFiles(`${join(directory, name)}.set-aside`)
}

function removeFiles(path: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal', SUSPECT])
    rmSync(path + ending, { force: true })
}

function suspect(path: string): void {
  try {
    writeFileSync(path + SUSPECT, '', { mode: 0o600 })
  } catch {
    // A read-only place: the next writer meets the damage itself.
  }
}

export function isFoldedAlike(index: Connection): boolean {
  const version = index.prepare("SELECT value FROM meta WHERE key = 'fold'").pluck().get()
  return version === String(FOLD_VERSION)
}

/** Back to a rollback journal, so that a copy without -wal and -shm can be opened read-only. */
function closeWritten(db: Connection): void {
  try {
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.pragma('journal_mode = DELETE')
  } catch {
    // A reader is still there; the log stays and the next writer copies it back.
  } finally {
    db.close()
  }
}
