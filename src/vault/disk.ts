/**
 * System calls of the listing. Synchronous, in short batches: an asynchronous stat costs ten times as
 * much, and 200,000 of them must take seconds. Between batches the event loop gets its turn.
 */
import {
  closeSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  type Dirent,
  type Stats,
} from 'node:fs'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { PipelineError } from '../part/errors.js'
import { nameText, systemPath } from './names.js'
import { failureOf, isGone } from './read.js'
import type { Unreadable } from './vault.js'

/** System calls between two turns of the event loop; about 2 ms. */
const BATCH = 400

export function statOf(root: string, path: string): Stats | undefined {
  return statSync(systemPath(root, path), { throwIfNoEntry: false })
}

/** Names in a directory, as text (names.ts). Asks for bytes only when some name is no plain UTF-8. */
export function listNames(root: string, path: string): string[] {
  const names = readdirSync(systemPath(root, path))
  if (!names.some((name) => name.includes('\ufffd') || name.includes('\\'))) return names
  return readdirSync(systemPath(root, path), { encoding: 'buffer' }).map((name) => nameText(name))
}

export interface Item {
  name: string
  isDirectory: boolean
}

/** What lies in a directory; symbolic links count as what they lead to, dangling ones not at all. */
export function listItems(root: string, path: string): Item[] {
  const items = readdirSync(systemPath(root, path), {
    withFileTypes: true,
    encoding: 'buffer',
  }) as unknown as Array<Dirent<Buffer>>
  return items.flatMap((item): Item[] => {
    const name = nameText(item.name)
    if (item.isDirectory()) return [{ name, isDirectory: true }]
    if (item.isFile()) return [{ name, isDirectory: false }]
    // A link, or a file system that tells no types.
    let stats: Stats | undefined
    try {
      stats = statOf(root, join(path, name))
    } catch {
      return []
    }
    if (stats?.isDirectory()) return [{ name, isDirectory: true }]
    return stats?.isFile() ? [{ name, isDirectory: false }] : []
  })
}

export function firstBytes(root: string, path: string, bytes: number): Buffer {
  const file = openSync(systemPath(root, path), 'r')
  try {
    const buffer = Buffer.allocUnsafe(bytes)
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0))
  } finally {
    closeSync(file)
  }
}

/** Looks at one file. What is gone is no failure, what cannot be looked at is noted. */
export function attempt<T>(failures: Unreadable[], path: string, look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (!isGone(error)) failures.push({ path, detail: failureOf(error) })
    return undefined
  }
}

export function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Gives the event loop its turn after every `BATCH` calls. */
export function pacer(): () => Promise<void> | undefined {
  let calls = 0
  return () => (++calls % BATCH === 0 ? yieldToLoop() : undefined)
}

export function unreadableError(path: string, error: unknown): PipelineError {
  return new PipelineError(
    'E_VAULT_UNREADABLE',
    `${path} cannot be read (${failureOf(error)}): check that it exists, is mounted and may be listed`,
    { cause: error },
  )
}
