/**
 * Finds the folders of a tree by looking: Maildirs in all layouts, directories of loose mail files,
 * mbox files, MH folders, and all of them mixed. Reads no message.
 */
import type { Stats } from 'node:fs'
import { basename } from 'node:path'
import { join, listItems, listNames, pacer, statOf, unreadableError, firstBytes } from './disk.js'
import { kindByBytes, kindByName, LOOK_BYTES } from './looks.js'
import { isMhName, SEQUENCES } from './mh.js'
import { fromModifiedUtf7 } from './names.js'
import { failureOf, isGone } from './read.js'
import type { FolderKind, FolderList, Unreadable, VaultFolder } from './vault.js'

/** Our own folder inside a vault. */
const OWN = '.paperknife'
/** Folders that never hold mail of a person. */
const SKIPPED = new Set([
  OWN,
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '.Trash-1000',
  '.notmuch',
  '.mu',
  '.cache',
])
/** A folder changed so shortly before its scan may change again without a new time. */
const FRESH_MS = 2000
const DEPTH = 60

/**
 * Lists all folders of a vault, parents first.
 *
 * @param known the last listing: directories with the same fingerprint are not read again
 * @throws {PipelineError} `E_VAULT_UNREADABLE` when the root cannot be listed
 */
export async function listFolders(
  root: string,
  known: readonly VaultFolder[],
): Promise<FolderList> {
  const walk = new Walk(root, known)
  await walk.visit('', 0)
  return { folders: walk.folders, unreadable: walk.unreadable }
}

class Walk {
  readonly folders: VaultFolder[] = []
  readonly unreadable: Unreadable[] = []
  readonly #root: string
  readonly #known = new Map<string, VaultFolder>()
  readonly #children = new Map<string, string[]>()
  /** Directories seen, by device and inode: symbolic links may lead in circles. */
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
      const stats = statOf(this.#root, path)
      if (!stats) {
        if (path === '')
          throw Object.assign(new Error('ENOENT: no such directory'), { code: 'ENOENT' })
        return
      }
      if (stats.isFile()) {
        // A folder of the last listing; a new one comes through its directory.
        this.folders.push(folderAt(this.#root, path, 'mbox', stats))
        return
      }
      const id = `${stats.dev}:${stats.ino}`
      if (!stats.isDirectory() || this.#seen.has(id)) return
      this.#seen.add(id)
      if (depth > DEPTH) {
        this.unreadable.push({ path, detail: `deeper than ${DEPTH} directories` })
        return
      }
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
      if (path === '') throw unreadableError(this.#root, error)
      if (!isGone(error)) this.unreadable.push({ path, detail: failureOf(error) })
    }
  }

  async #read(path: string, depth: number, stats: Stats): Promise<void> {
    const items = listItems(this.#root, path)
    const names = new Set(items.map(({ name }) => name))
    const isMail = (names.has('cur') || names.has('new')) && isMaildir(this.#root, path)
    const kind: FolderKind = isMail
      ? 'maildir'
      : names.has(SEQUENCES)
        ? 'mh'
        : items.some(({ name, isDirectory }) => !isDirectory && /\.emlx$/i.test(name))
          ? 'emlx'
          : 'eml'
    // A directory full of numbers holds a message a file (MH without sequences, exports): not opened here.
    const isNumbered = items.filter(({ name }) => NUMBERED.test(name)).length > 30
    // With the times from before the names were read: a change in between makes the next scan due.
    this.folders.push(folderAt(this.#root, path, kind, stats))
    for (const { name, isDirectory } of items) {
      const inner = join(path, name)
      if (isDirectory) {
        if (SKIPPED.has(name) || (isMail && MAILDIR_PARTS.has(name))) continue
        if (kind === 'emlx' && name === 'Attachments') continue
        await this.visit(inner, depth + 1)
        continue
      }
      if (isMail ? MAILDIR_FILE.test(name) : kind === 'mh' && isMhName(name)) continue
      if (isNumbered && NUMBERED.test(name) && !names.has(`${name}.msf`)) continue
      await this.#pause()
      try {
        if (isMbox(this.#root, inner, name, names)) {
          const file = statOf(this.#root, inner)
          if (file) this.folders.push(folderAt(this.#root, inner, 'mbox', file))
        }
      } catch (error) {
        if (!isGone(error)) this.unreadable.push({ path: inner, detail: failureOf(error) })
      }
    }
  }
}

const NUMBERED = /^\d+\.?$/
const MAILDIR_PARTS = new Set(['cur', 'new', 'tmp'])
/** What mail servers keep beside these, in each of thousands of folders. */
const MAILDIR_FILE =
  /^(?:dovecot[.-]|maildir(?:size|folder)$|courier|subscriptions$)(?!.*\.mbo?x$)/i

/** Raised when more of what lies in a Maildir is taken for mail: known ones, whose times are the same, are then read again. */
const MAILDIR_LOOK = 2

/** A file of messages; an empty one when its name or its neighbours (Thunderbird's index) say so. */
function isMbox(root: string, path: string, name: string, beside: ReadonlySet<string>): boolean {
  if (kindByName(name) !== undefined) return false
  const head = firstBytes(root, path, LOOK_BYTES)
  if (head.length === 0) return /\.mbo?x$/i.test(name) || beside.has(`${name}.msf`)
  return kindByBytes(head, name) === 'mbox'
}

/** The folder at a path, with the fingerprint of now. @throws when it is gone or cannot be looked at */
export function folderAt(root: string, path: string, kind: FolderKind, known?: Stats): VaultFolder {
  const stats = known ?? statOf(root, path)
  if (!stats)
    throw Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT' })
  let newest = stats.mtimeMs
  let fingerprint = `${kind}${kind === 'maildir' ? MAILDIR_LOOK : ''}:${stats.ino}:${stats.mtimeMs}`
  const inside = kind === 'maildir' ? ['cur', 'new'] : kind === 'mh' ? [SEQUENCES] : []
  for (const name of inside) {
    const inner = statOf(root, join(path, name))
    fingerprint += inner ? `:${inner.ino}:${inner.mtimeMs}` : ':-'
    if (inner) newest = Math.max(newest, inner.mtimeMs)
  }
  if (kind === 'mbox' || kind === 'file') fingerprint += `:${stats.size}`
  return {
    path,
    name: nameOf(root, path, kind),
    kind,
    fingerprint,
    isFresh: Date.now() - newest < FRESH_MS,
  }
}

/**
 * `.Archive.2014` of a Maildir++ is Archive/2014, and its top INBOX; `Archive.sbd/2014` of Thunderbird
 * too; `Work.mbox/…/Messages` of Apple Mail is Work.
 */
function nameOf(root: string, path: string, kind: FolderKind): string {
  if (path === '') return kind === 'maildir' ? 'INBOX' : basename(root)
  let steps = path.split('/')
  if (kind === 'emlx') {
    const boxes = steps.filter((step) => /\.(?:imap)?mbox$/i.test(step))
    if (boxes.length > 0) steps = boxes
  }
  // An export of Apple Mail: `Work.mbox/mbox`.
  if (kind === 'mbox' && steps.at(-1) === 'mbox' && /\.mbox$/i.test(steps.at(-2) ?? '')) steps.pop()
  return steps
    .map((step) => {
      if (kind === 'maildir' && step.startsWith('.'))
        return step.slice(1).split('.').map(fromModifiedUtf7).join('/')
      return fromModifiedUtf7(step.replace(/\.(?:sbd|mbox|mbx|imapmbox)$/i, '') || step)
    })
    .join('/')
}

/** cur/ with new/ or tmp/ beside it, or one of them with names as Maildir gives. */
export function isMaildir(root: string, path: string): boolean {
  const is = (name: string): boolean => statOf(root, join(path, name))?.isDirectory() ?? false
  if (is('cur')) {
    if (is('new') || is('tmp')) return true
  } else if (!is('new')) return false
  for (const part of ['cur', 'new']) {
    if (!is(part)) continue
    for (const name of listNames(root, join(path, part)).slice(0, 20))
      if (/^\d{6,}\.\S+|[:;!]2,[A-Za-z]*$/.test(name)) return true
  }
  return false
}
