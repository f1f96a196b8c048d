/** Lists the messages of one folder, by its kind. Reads no message, except for flags kept inside files. */
import { readFileSync } from 'node:fs'
import { FLAGS } from '../part/reference.js'
import { attempt, firstBytes, join, listNames, pacer, statOf, unreadableError } from './disk.js'
import { flagsOfEmlx } from './emlx.js'
import { kindByBytes, kindByName, LOOK_BYTES } from './looks.js'
import { listMbox } from './mbox.js'
import { isMhName, mhFlags, SEQUENCES } from './mh.js'
import { maildirName, systemPath } from './names.js'
import { isGone } from './read.js'
import type { EntryList, TakeEntry, VaultEntry, VaultFolder } from './vault.js'

/** @throws {PipelineError} `E_VAULT_UNREADABLE` when the folder cannot be listed */
export async function listEntries(
  root: string,
  folder: VaultFolder,
  known: readonly VaultEntry[] = [],
  take?: TakeEntry,
): Promise<EntryList> {
  const list: EntryList = { entries: [], unreadable: [] }
  try {
    switch (folder.kind) {
      case 'maildir':
        await listMaildir(root, folder.path, list)
        break
      case 'mh':
        await listMh(root, folder.path, list)
        break
      case 'mbox': {
        const stats = statOf(root, folder.path)
        if (stats) list.entries = await listMbox(root, folder.path, stats.size, known, take)
        break
      }
      case 'file': {
        const entry = plainEntry(
          root,
          folder.path,
          folder.path.slice(folder.path.lastIndexOf('/') + 1),
        )
        if (entry) list.entries.push(entry)
        break
      }
      case 'eml':
      case 'emlx': {
        const before = new Map(known.map((entry) => [entry.path, entry]))
        await each(root, folder.path, list, (path, name) =>
          looseEntry(root, path, name, before.get(path)),
        )
        break
      }
    }
  } catch (error) {
    throw unreadableError(`${root}/${folder.path}`, error)
  }
  return list
}

async function each(
  root: string,
  directory: string,
  list: EntryList,
  look: (path: string, name: string) => VaultEntry | undefined,
): Promise<void> {
  const pause = pacer()
  for (const name of listNames(root, directory)) {
    const path = join(directory, name)
    const entry = attempt(list.unreadable, path, () => look(path, name))
    if (entry) list.entries.push(entry)
    await pause()
  }
}

async function listMaildir(root: string, directory: string, list: EntryList): Promise<void> {
  for (const part of ['cur', 'new']) {
    try {
      await each(root, join(directory, part), list, (path, name) =>
        name.startsWith('.') ? undefined : maildirEntry(root, path, name),
      )
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
  // A file renamed while the two were read may have been seen twice, or under an old name.
  if (list.entries.length > 0) list.entries = withoutDoubles(list.entries)
  await each(root, directory, list, (path, name) =>
    kindByName(name) === 'mail' ? plainEntry(root, path, name) : undefined,
  )
}

/** One entry a unique name and inode: the one seen last. */
function withoutDoubles(entries: VaultEntry[]): VaultEntry[] {
  const seen = new Map<string, VaultEntry>()
  for (const entry of entries) seen.set(`${entry.inode}:${entry.unique}`, entry)
  return seen.size === entries.length ? entries : [...seen.values()]
}

async function listMh(root: string, directory: string, list: EntryList): Promise<void> {
  let flagsOf: (number: number) => number = () => FLAGS.seen
  attempt([], SEQUENCES, () => {
    flagsOf = mhFlags(readFileSync(systemPath(root, join(directory, SEQUENCES)), 'latin1'))
  })
  await each(root, directory, list, (path, name) => {
    // `,12` and `#12` are messages that were removed.
    if (/^[,#]/.test(name)) return undefined
    if (!isMhName(name)) return looseEntry(root, path, name)
    const entry = plainEntry(root, path, name)
    return entry && { ...entry, flags: flagsOf(Number(name)) }
  })
}

export function maildirEntry(root: string, path: string, name: string): VaultEntry | undefined {
  const entry = plainEntry(root, path, name)
  return entry && Object.assign(entry, maildirName(name))
}

/**
 * The entry of a file in a folder of loose files, when it is a message.
 *
 * @param known its entry of the last listing: a file that is still the same is not opened again
 */
export function looseEntry(
  root: string,
  path: string,
  name: string,
  known?: VaultEntry,
): VaultEntry | undefined {
  let kind = kindByName(name)
  if (kind === 'other') return undefined
  const entry = plainEntry(root, path, name)
  if (!entry) return undefined
  if (known && kind !== 'emlx' && isSameFile(known, entry)) return entry
  kind ??= kindByBytes(firstBytes(root, path, LOOK_BYTES), name)
  if (kind === 'emlx') return { ...entry, flags: flagsOfEmlx(systemPath(root, path)) }
  return kind === 'mail' || kind === 'msg' ? entry : undefined
}

function isSameFile(known: VaultEntry, entry: VaultEntry): boolean {
  return (
    known.inode === entry.inode &&
    known.size === entry.size &&
    Math.trunc(known.mtimeMs) === Math.trunc(entry.mtimeMs)
  )
}

function plainEntry(root: string, path: string, name: string): VaultEntry | undefined {
  const stats = statOf(root, path)
  if (!stats?.isFile()) return undefined
  return {
    path,
    unique: name,
    flags: FLAGS.seen,
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    inode: stats.ino,
  }
}
