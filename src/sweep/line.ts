/**
 * The line between a writer that holds an index alone and those who search it meanwhile: a Unix socket (a named
 * pipe on Windows), one JSON object a line each way.
 *
 *     → {"id": 1, "ask": "search", "words": "budget", "options": {"limit": 20}}
 *     ← {"id": 1, "answer": {"hits": […], …}}      or  {"id": 1, "error": {"code": "E_…", "message": "…"}}
 *
 * The socket lies beside the index, or where that folder can hold none, in the user's folder for such things;
 * in either case only its owner can reach it.
 */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import type { SearchOptions } from '../index/search.js'

export type Ask =
  | {
      id: number
      ask: 'search'
      words: string
      options: Omit<SearchOptions, 'now'> & { now?: string }
    }
  /** `hits` by their places in the results of this line's searches: the id of the search, and which of its hits. */
  | { id: number; ask: 'excerpts'; hits: ReadonlyArray<readonly [search: number, at: number]> }
  | { id: number; ask: 'describe'; what: string }
  | { id: number; ask: 'summary' }
  | { id: number; ask: 'folders' }

export interface Reply {
  id: number
  answer?: unknown
  error?: { name: string; code?: string; message: string }
}

/** The kernel takes 108 bytes on Linux, 104 on macOS. */
const PATH_BYTES = 100

/** Where the socket of an index may lie, the best place first. @param directory folder of the index */
export function socketPaths(directory: string): string[] {
  let real = directory
  try {
    real = realpathSync(directory)
  } catch {
    // Not there yet.
  }
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16)
  if (process.platform === 'win32') return [`\\\\.\\pipe\\paperknife-${name}`]
  // A service may lack the variable that a login has: both are looked at.
  const { XDG_RUNTIME_DIR } = process.env
  return [
    join(directory, 'search.sock'),
    ...(XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, 'paperknife', `${name}.sock`)] : []),
    join(tmpdir(), `paperknife-${userInfo().uid}`, `${name}.sock`),
  ].filter((path) => Buffer.byteLength(path) <= PATH_BYTES)
}

/**
 * Whether a socket lies there that may be trusted: beside the index, whose folder is trusted itself, or made by this
 * user in a folder of the user's own.
 */
export function isOurs(path: string, directory: string): boolean {
  if (process.platform === 'win32') return true
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats?.isSocket()) return false
  if (dirname(path) === directory) return true
  const folder = lstatSync(dirname(path))
  const uid = process.getuid?.()
  return stats.uid === uid && folder.uid === uid && (folder.mode & 0o077) === 0
}

/** Makes the folder of a socket. @throws when it is not the user's own */
export function makeRuntimeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
    throw new Error(`${folder} is not ours alone`)
}

/** Lines out of chunks. @returns false when a line is longer than `most` characters */
export function lineReader(
  most: number,
  onLine: (line: string) => void,
): (chunk: string) => boolean {
  let held = ''
  return (chunk) => {
    held += chunk
    for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n')) {
      const line = held.slice(0, end)
      held = held.slice(end + 1)
      onLine(line)
    }
    return held.length <= most
  }
}
