/** Opens the mail store at a path: a tree, or a single file. */
import { readdirSync, realpathSync, statSync, type Stats } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { firstBytes, statOf, unreadableError } from './disk.js'
import { listEntries, looseEntry, maildirEntry } from './entries.js'
import { folderAt, isMaildir, listFolders } from './folders.js'
import { kindByBytes, kindByName, LOOK_BYTES } from './looks.js'
import { isMhName, SEQUENCES } from './mh.js'
import type { EntryList, FolderKind, FolderList, Vault, VaultEntry, VaultFolder } from './vault.js'

/**
 * Opens the mail store at a path: a directory, or a single mail or mbox file.
 *
 * @throws {PipelineError} `E_VAULT_UNREADABLE` when there is none or it cannot be listed
 */
export async function openMailStore(path: string): Promise<Vault> {
  const place = resolve(path)
  try {
    const stats = statSync(place)
    if (!stats.isDirectory()) return new FileVault(place, stats)
    readdirSync(place)
    return new TreeVault(realpathSync(place), stats)
  } catch (error) {
    throw unreadableError(place, error)
  }
}

class TreeVault implements Vault {
  readonly root: string
  readonly identity: string

  constructor(root: string, stats: Stats) {
    this.root = root
    this.identity = `${stats.dev}:${stats.ino}`
  }

  folders(known: readonly VaultFolder[] = []): Promise<FolderList> {
    return listFolders(this.root, known)
  }

  entries(...asked: Parameters<Vault['entries']>): Promise<EntryList> {
    return listEntries(this.root, ...asked)
  }

  async entryAt(path: string): Promise<{ folder: VaultFolder; entry: VaultEntry } | undefined> {
    const inside = insideOf(this.root, path)
    if (inside === undefined) return undefined
    const name = inside.slice(inside.lastIndexOf('/') + 1)
    const directory = above(inside)
    const part = directory.slice(directory.lastIndexOf('/') + 1)
    if ((part === 'cur' || part === 'new') && isMaildir(this.root, above(directory))) {
      const entry = name.startsWith('.') ? undefined : maildirEntry(this.root, inside, name)
      return entry && { folder: folderAt(this.root, above(directory), 'maildir'), entry }
    }
    const entry = looseEntry(this.root, inside, name)
    if (!entry) return undefined
    const kind: FolderKind = /\.emlx$/i.test(name)
      ? 'emlx'
      : isMhName(name) && statOf(this.root, join(directory, SEQUENCES))
        ? 'mh'
        : isMaildir(this.root, directory)
          ? 'maildir'
          : 'eml'
    return { folder: folderAt(this.root, directory, kind), entry }
  }
}

/** A vault that is one file. */
class FileVault implements Vault {
  readonly root: string
  readonly identity: string
  readonly #name: string

  constructor(path: string, stats: Stats) {
    this.root = realpathSync(dirname(path))
    this.#name = basename(path)
    this.identity = `${stats.dev}:${stats.ino}`
  }

  async folders(): Promise<FolderList> {
    try {
      const head = firstBytes(this.root, this.#name, LOOK_BYTES)
      // An empty file is a mailbox without mail, and no mail without words.
      const isMbox =
        kindByName(this.#name) !== 'mail' &&
        (head.length === 0 || kindByBytes(head, this.#name) === 'mbox')
      return {
        folders: [folderAt(this.root, this.#name, isMbox ? 'mbox' : 'file')],
        unreadable: [],
      }
    } catch (error) {
      throw unreadableError(`${this.root}/${this.#name}`, error)
    }
  }

  entries(...asked: Parameters<Vault['entries']>): Promise<EntryList> {
    return listEntries(this.root, ...asked)
  }

  async entryAt(path: string): Promise<{ folder: VaultFolder; entry: VaultEntry } | undefined> {
    if (insideOf(this.root, path) !== this.#name) return undefined
    const [folder] = (await this.folders()).folders
    if (folder?.kind !== 'file') return undefined
    const [entry] = (await this.entries(folder)).entries
    return entry && { folder, entry }
  }
}

/** Vault-relative, or undefined when the path lies outside. */
function insideOf(root: string, path: string): string | undefined {
  if (!isAbsolute(path)) return path.startsWith('../') ? undefined : path
  let inside = relative(root, path)
  if (inside.startsWith('..')) {
    // Through a link: the root was resolved when it was opened.
    try {
      inside = relative(root, join(realpathSync(dirname(path)), basename(path)))
    } catch {
      return undefined
    }
  }
  const text = inside.replaceAll('\\', '/')
  return text.startsWith('../') || text === '' ? undefined : text
}

function above(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
