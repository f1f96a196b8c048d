/**
 * Opens the files of an index for reading: beside their writer, or as they lie where nothing can be written.
 *
 * Not responsible for: opening them for the writer (files.ts).
 */
import { chmodSync, copyFileSync, existsSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { PipelineError } from '../part/errors.js'
import { temporaryFolder } from '../part/temporary.js'
import { codeOf, EXTRACTS, INDEX, isFoldedAlike, type Connection, type Kind } from './files.js'

export interface ReaderFiles {
  index: Connection
  extracts: Connection
  close(): void
}

/**
 * Opens both databases read-only. A copy of a cleanly closed index opens on read-only media as it lies; of one that was
 * not closed and cannot be brought in order there, a copy in the folder for temporary files is read, when it has room.
 * @param exclusive where no memory can be shared (a network disk): what a crash left in a log is put into the file first
 * @throws {PipelineError} E_INDEX_MISSING, E_INDEX_NEWER, E_INDEX_DAMAGED; E_INDEX_BUSY when a writer holds it exclusively;
 *   E_INDEX_READONLY when a log of it is left that cannot be read where it lies
 */
export function openForReading(directory: string, exclusive = false): ReaderFiles {
  const index = openReadOnly(directory, INDEX, exclusive)
  try {
    if (!isFoldedAlike(index))
      throw new PipelineError(
        'E_INDEX_DAMAGED',
        `${join(directory, INDEX.name)} was built by another version: run \`paperknife index\``,
      )
    const extracts = openReadOnly(directory, EXTRACTS, exclusive)
    return {
      index,
      extracts,
      close: () => {
        index.close()
        extracts.close()
      },
    }
  } catch (error) {
    index.close()
    throw error
  }
}

function openReadOnly(directory: string, kind: Kind, exclusive: boolean): Connection {
  const path = join(directory, kind.name)
  if (!existsSync(path) || statSync(path).size === 0) throw missing(directory)
  let db: Connection | undefined
  try {
    if (exclusive) foldLog(path)
    db = openAsItLies(path, exclusive)
    const version = db.pragma('user_version', { simple: true }) as number
    const application = db.pragma('application_id', { simple: true })
    // Its writer has made the file and is about to put the tables in.
    if (application === 0 && version === 0) throw missing(directory)
    if (application !== kind.application || version === 0)
      throw new PipelineError('E_INDEX_DAMAGED', `${path} is no index: run \`paperknife index\``)
    if (version > kind.version)
      throw new PipelineError(
        'E_INDEX_NEWER',
        `${path} was written by a newer Paperknife: update, or choose another folder with --index`,
      )
    db.prepare('SELECT count(*) FROM meta').get()
    db.pragma('cache_size = -32768')
    return db
  } catch (error) {
    db?.close()
    if (error instanceof PipelineError) throw error
    if (/^SQLITE_(BUSY|LOCKED)/.test(codeOf(error)))
      throw new PipelineError(
        'E_INDEX_BUSY',
        `${path} is held by the process that writes it: wait for it, or stop it`,
        { cause: error },
      )
    if (/^SQLITE_(READONLY|CANTOPEN)/.test(codeOf(error)))
      throw new PipelineError(
        'E_INDEX_READONLY',
        `${path} was not closed cleanly and lies where nothing can be written: copy the folder elsewhere and name it with --index`,
        { cause: error },
      )
    throw new PipelineError(
      'E_INDEX_DAMAGED',
      `${path} cannot be read: run \`paperknife index\`, which sets it aside and rebuilds it`,
      { cause: error },
    )
  }
}

function missing(directory: string): PipelineError {
  return new PipelineError(
    'E_INDEX_MISSING',
    `no index in ${directory}: run \`paperknife index\` first`,
  )
}

/** @throws what SQLite threw when neither the file nor a copy of it can be read */
function openAsItLies(path: string, exclusive: boolean): Connection {
  const open = (at: string): Connection => {
    const db = new Database(at, {
      readonly: true,
      fileMustExist: true,
      timeout: exclusive ? EXCLUSIVE_TIMEOUT_MS : READER_TIMEOUT_MS,
    })
    try {
      db.prepare('SELECT count(*) FROM sqlite_schema').get()
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }
  try {
    return open(path)
  } catch (error) {
    // A file in WAL mode, or with a log, where no -shm can be made beside it.
    if (!/^SQLITE_(READONLY|CANTOPEN)/.test(codeOf(error))) throw error
    const copy = copyElsewhere(path)
    if (copy === undefined) throw error
    try {
      foldLog(copy)
      return open(copy)
    } finally {
      // Open files outlive their names, but not on Windows.
      const remove = (): void => rmSync(dirname(copy), { recursive: true, force: true })
      try {
        remove()
      } catch {
        process.once('exit', remove)
      }
    }
  }
}

/**
 * A reader waits for a writer only while that recovers a log after a crash; one that holds the file alone holds it for
 * hours.
 */
const READER_TIMEOUT_MS = 2_000
const EXCLUSIVE_TIMEOUT_MS = 300

/** Puts a log that was left into its file, without shared memory, so that the file alone is enough. */
function foldLog(path: string): void {
  let db: Connection | undefined
  try {
    db = new Database(path, { fileMustExist: true, timeout: EXCLUSIVE_TIMEOUT_MS })
    db.pragma('locking_mode = EXCLUSIVE')
    if (db.pragma('journal_mode', { simple: true }) === 'wal') db.pragma('journal_mode = DELETE')
  } catch (error) {
    if (!/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(codeOf(error))) throw error
  } finally {
    db?.close()
  }
}

/** @returns the path of a copy that is ours alone, or undefined when there is no room for it */
function copyElsewhere(path: string): string | undefined {
  const logged = existsSync(`${path}-wal`)
  const bytes = statSync(path).size + (logged ? statSync(`${path}-wal`).size : 0)
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bavail * bsize < bytes * 2) return undefined
  const folder = temporaryFolder()
  const copy = join(folder, basename(path))
  copyFileSync(path, copy)
  if (logged) copyFileSync(`${path}-wal`, `${copy}-wal`)
  for (const file of [copy, `${copy}-wal`]) if (existsSync(file)) chmodSync(file, 0o600)
  return copy
}
