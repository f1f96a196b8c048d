/**
 * Finds what a tree holds by looking: Maildirs in all layouts, loose mail files, mbox files, and all
 * of them mixed. Lists folders and entries; reads no message.
 *
 * System calls are synchronous in short batches: an asynchronous stat costs ten times as much, and
 * 200,000 of them must take seconds. Between batches the event loop gets its turn.
 */
import {
  openSync,
  closeSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  type Dirent,
  type Stats,
} from 'node:fs'
import { basename, isAbsolute, relative, resolve } from 'node:path'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { PipelineError } from '../part/errors.js'
import { FLAGS } from '../part/reference.js'
import { kindByBytes, kindByName, LOOK_BYTES, type FileKind } from './looks.js'
import { fromModifiedUtf7, maildirName, nameText, systemPath } from './names.js'
import { failureOf, isGone } from './read.js'
import type {
  EntryList,
  FolderKind,
  FolderList,
  Unreadable,
  Vault,
  VaultEntry,
  VaultFolder,
} from './vault.js'

/** Our own folder inside a vault. */
const OWN = '.paperknife'
/** A folder changed so shortly before its scan may change again without a new time. */
const FRESH_MS = 2000
/** System calls between two turns of the event loop; about 2 ms. */
const BATCH = 400
const DEPTH = 60

/**
 * Opens the mail store at a path: a directory, or a single mail or mbox file.
 *
 * @throws {PipelineError} `E_VAULT_UNREADABLE` when there is none or it cannot be listed
 */
export async function openMailStore(path: string): Promise<Vault> {
  const root = resolve(path)
  try {
    const stats = statSync(root)
    if (stats.isDirectory()) {
      readdirSync(root)
      return new TreeVault(realpathSync(root), stats)
    }
    return new FileVault(root, stats)
  } catch (error) {
    throw unreadable(root, error)
  }
}

class TreeVault implements Vault {
  readonly root: string
  readonly identity: string

  constructor(root: string, stats: Stats) {
    this.root = root
    this.identity = `${stats.dev}:${stats.ino}`
  }

  async folders(known: readonly VaultFolder[] = []): Promise<FolderList> {
    const walk = new Walk(this.root, known)
    await walk.visit('', 0)
    return { folders: walk.folders, unreadable: walk.unreadable }
  }

  async entries(folder: VaultFolder): Promise<EntryList> {
    const list: EntryList = { entries: [], unreadable: [] }
    try {
      if (folder.kind === 'maildir') await this.#maildir(folder, list)
      else await this.#loose(folder, list)
    } catch (error) {
      if (error instanceof PipelineError) throw error
      throw unreadable(`${this.root}/${folder.path}`, error)
    }
    return list
  }

  async entryAt(path: string): Promise<{ folder: VaultFolder; entry: VaultEntry } | undefined> {
    const inside = isAbsolute(path) ? relative(this.root, path).replaceAll('\\', '/') : path
    if (inside.startsWith('../')) return undefined
    const slash = inside.lastIndexOf('/')
    let directory = slash < 0 ? '' : inside.slice(0, slash)
    const name = inside.slice(slash + 1)
    const last = directory.slice(directory.lastIndexOf('/') + 1)
    let kind: FolderKind = 'eml'
    if (last === 'cur' || last === 'new') {
      const above = directory.slice(0, -last.length).replace(/\/$/, '')
      if (isMaildir(this.root, above)) {
        directory = above
        kind = 'maildir'
      }
    }
    const entry =
      kind === 'maildir'
        ? entryOf(this.root, inside, name, 'maildir')
        : looseEntry(this.root, inside, name)
    if (!entry) return undefined
    return { folder: folderAt(this.root, directory, kind), entry }
  }

  async #maildir(folder: VaultFolder, list: EntryList): Promise<void> {
    const pause = pacer()
    for (const sub of ['cur', 'new']) {
      const directory = join(folder.path, sub)
      let names: string[]
      try {
        names = listNames(this.root, directory)
      } catch (error) {
        if (isGone(error)) continue
        throw unreadable(`${this.root}/${directory}`, error)
      }
      for (const name of names) {
        if (name.startsWith('.')) continue
        const entry = attempt(list.unreadable, join(directory, name), () =>
          entryOf(this.root, join(directory, name), name, 'maildir'),
        )
        if (entry) list.entries.push(entry)
        await pause()
      }
    }
    for (const name of listNames(this.root, folder.path))
      if (/\.eml$/i.test(name)) {
        const entry = attempt(list.unreadable, join(folder.path, name), () =>
          entryOf(this.root, join(folder.path, name), name, 'eml'),
        )
        if (entry) list.entries.push(entry)
      }
  }

  async #loose(folder: VaultFolder, list: EntryList): Promise<void> {
    const pause = pacer()
    for (const name of listNames(this.root, folder.path)) {
      const path = join(folder.path, name)
      const entry = attempt(list.unreadable, path, () => looseEntry(this.root, path, name))
      if (entry) list.entries.push(entry)
      await pause()
    }
  }
}

/** A vault that is one file. */
class FileVault implements Vault {
  readonly root: string
  readonly identity: string
  readonly #name: string

  constructor(path: string, stats: Stats) {
    this.root = resolve(path, '..')
    this.#name = basename(path)
    this.identity = `${stats.dev}:${stats.ino}`
  }

  async folders(): Promise<FolderList> {
    let stats: Stats
    try {
      stats = statSync(systemPath(this.root, this.#name))
    } catch (error) {
      throw unreadable(`${this.root}/${this.#name}`, error)
    }
    return {
      folders: [
        {
          path: this.#name,
          name: this.#name,
          kind: 'file',
          fingerprint: `${stats.ino}:${stats.size}:${stats.mtimeMs}`,
          isFresh: Date.now() - stats.mtimeMs < FRESH_MS,
        },
      ],
      unreadable: [],
    }
  }

  async entries(): Promise<EntryList> {
    try {
      const entry = entryOf(this.root, this.#name, this.#name, 'file')
      return { entries: entry ? [entry] : [], unreadable: [] }
    } catch (error) {
      throw unreadable(`${this.root}/${this.#name}`, error)
    }
  }

  async entryAt(): Promise<{ folder: VaultFolder; entry: VaultEntry } | undefined> {
    const [folder] = (await this.folders()).folders
    const [entry] = (await this.entries()).entries
    return folder && entry ? { folder, entry } : undefined
  }
}

/** One listing of the folders of a tree. */
class Walk {
  readonly folders: VaultFolder[] = []
  readonly unreadable: Unreadable[] = []
  readonly #root: string
  readonly #known = new Map<string, VaultFolder>()
  readonly #children = new Map<string, string[]>()
  /** Directories on the way and visited, by device and inode: symbolic links may lead in circles. */
  readonly #seen = new Set<string>()
  readonly #pause = pacer()

  constructor(root: string, known: readonly VaultFolder[]) {
    this.#root = root
    for (const folder of known) {
      this.#known.set(folder.path, folder)
      if (folder.path === '') continue
      const above = folder.path.slice(0, Math.max(0, folder.path.lastIndexOf('/')))
      const siblings = this.#children.get(above)
      if (siblings) siblings.push(folder.path)
      else this.#children.set(above, [folder.path])
    }
  }

  async visit(path: string, depth: number): Promise<void> {
    await this.#pause()
    try {
      const stats = statSync(systemPath(this.#root, path))
      const id = `${stats.dev}:${stats.ino}`
      if (this.#seen.has(id) || depth > DEPTH) return
      this.#seen.add(id)
      const known = this.#known.get(path)
      if (known && known.kind !== 'mbox' && !known.isFresh) {
        const folder = folderAt(this.#root, path, known.kind, stats)
        if (folder.fingerprint === known.fingerprint) {
          this.folders.push(folder)
          for (const child of this.#children.get(path) ?? []) await this.visit(child, depth + 1)
          return
        }
      }
      await this.#read(path, depth, stats)
    } catch (error) {
      if (path === '') throw unreadable(this.#root, error)
      if (!isGone(error)) this.unreadable.push({ path, detail: failureOf(error) })
    }
  }

  async #read(path: string, depth: number, stats: Stats): Promise<void> {
    // Before the names are read: a change in between makes the next scan due.
    const folder = folderAt(this.#root, path, 'eml', stats)
    const directories: string[] = []
    let hasCur = false
    let hasNew = false
    for (const item of listItems(this.#root, path)) {
      const name = nameText(item.name)
      if (
        item.isSymbolicLink()
          ? !leadsToDirectory(this.#root, join(path, name))
          : !item.isDirectory()
      )
        continue
      if (name === 'cur') hasCur = true
      if (name === 'new') hasNew = true
      if (name !== OWN) directories.push(name)
    }
    const maildir = (hasCur || hasNew) && isMaildir(this.#root, path)
    this.folders.push(maildir ? folderAt(this.#root, path, 'maildir', stats) : folder)
    for (const name of directories) {
      if (maildir && (name === 'cur' || name === 'new' || name === 'tmp')) continue
      if (SKIPPED.has(name)) continue
      await this.visit(join(path, name), depth + 1)
    }
  }
}

/** Folders that never hold mail of a person. */
const SKIPPED = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '.Trash-1000',
  '.notmuch',
  '.mu',
  '.cache',
])

function folderAt(root: string, path: string, kind: FolderKind, known?: Stats): VaultFolder {
  const stats = known ?? statSync(systemPath(root, path))
  let newest = stats.mtimeMs
  let fingerprint = `${kind}:${stats.ino}:${stats.mtimeMs}`
  if (kind === 'maildir')
    for (const sub of ['cur', 'new']) {
      const inner = statSync(systemPath(root, join(path, sub)), { throwIfNoEntry: false })
      fingerprint += inner ? `:${inner.ino}:${inner.mtimeMs}` : ':-'
      if (inner) newest = Math.max(newest, inner.mtimeMs)
    }
  return {
    path,
    name: nameOf(root, path, kind),
    kind,
    fingerprint,
    isFresh: Date.now() - newest < FRESH_MS,
  }
}

/** `.Archive.2014` is Archive/2014 inside a Maildir++; the top of a Maildir is INBOX. */
function nameOf(root: string, path: string, kind: FolderKind): string {
  if (path === '') return kind === 'maildir' ? 'INBOX' : basename(root)
  return path
    .split('/')
    .map((step) =>
      step.startsWith('.') && kind === 'maildir'
        ? step
            .slice(1)
            .split('.')
            .map((name) => fromModifiedUtf7(name))
            .join('/')
        : fromModifiedUtf7(step),
    )
    .join('/')
}

/** cur/ with new/ or tmp/ beside it, or one of them with names as Maildir gives. */
function isMaildir(root: string, path: string): boolean {
  const is = (name: string): boolean =>
    statSync(systemPath(root, join(path, name)), { throwIfNoEntry: false })?.isDirectory() ?? false
  if (is('cur')) {
    if (is('new') || is('tmp')) return true
  } else if (!is('new')) return false
  for (const sub of ['cur', 'new']) {
    if (!is(sub)) continue
    for (const name of listNames(root, join(path, sub)).slice(0, 20))
      if (/^\d{6,}\.\S+|[:;!]2,[A-Za-z]*$/.test(name)) return true
  }
  return false
}

function entryOf(
  root: string,
  path: string,
  name: string,
  kind: FolderKind,
): VaultEntry | undefined {
  const stats = statSync(systemPath(root, path), { throwIfNoEntry: false })
  if (!stats?.isFile()) return undefined
  const { unique, flags } =
    kind === 'maildir' ? maildirName(name) : { unique: name, flags: FLAGS.seen as number }
  return { path, unique, flags, size: stats.size, mtimeMs: stats.mtimeMs, inode: stats.ino }
}

/** The entry of a file in a folder of loose files, when it is a mail. */
function looseEntry(root: string, path: string, name: string): VaultEntry | undefined {
  let kind: FileKind | undefined = kindByName(name)
  if (kind === 'other') return undefined
  const entry = entryOf(root, path, name, 'eml')
  if (!entry) return undefined
  kind ??= kindByBytes(firstBytes(root, path), name)
  return kind === 'mail' || kind === 'mbox' ? entry : undefined
}

function firstBytes(root: string, path: string): Buffer {
  const file = openSync(systemPath(root, path), 'r')
  try {
    const buffer = Buffer.allocUnsafe(LOOK_BYTES)
    return buffer.subarray(0, readSync(file, buffer, 0, LOOK_BYTES, 0))
  } finally {
    closeSync(file)
  }
}

/** Names in a directory, as text (names.ts). Asks for bytes only when some name is no UTF-8. */
function listNames(root: string, path: string): string[] {
  const names = readdirSync(systemPath(root, path))
  if (!names.some((name) => name.includes('\ufffd') || name.includes('\\'))) return names
  return readdirSync(systemPath(root, path), { encoding: 'buffer' }).map((name) => nameText(name))
}

function listItems(root: string, path: string): Array<Dirent<Buffer>> {
  return readdirSync(systemPath(root, path), {
    withFileTypes: true,
    encoding: 'buffer',
  }) as unknown as Array<Dirent<Buffer>>
}

function leadsToDirectory(root: string, path: string): boolean {
  try {
    return statSync(systemPath(root, path)).isDirectory()
  } catch {
    return false
  }
}

function attempt<T>(failures: Unreadable[], path: string, look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (!isGone(error)) failures.push({ path, detail: failureOf(error) })
    return undefined
  }
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Gives the event loop its turn after every `BATCH` calls. */
function pacer(): () => Promise<void> | undefined {
  let calls = 0
  return () => (++calls % BATCH === 0 ? yieldToLoop() : undefined)
}

function unreadable(path: string, error: unknown): PipelineError {
  return new PipelineError(
    'E_VAULT_UNREADABLE',
    `${path} cannot be read (${failureOf(error)}): check that it exists, is mounted and may be listed`,
    { cause: error },
  )
}
