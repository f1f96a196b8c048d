/**
 * Makes the index's rows match the vault's listing. What only changed its name, flags or folder is
 * mended here; what is new or changed is handed on to be read; what is gone is removed last.
 *
 * A listing that fails is no listing: what could not be looked at is unknown, and nothing unknown is
 * ever removed.
 *
 * Not responsible for: reading messages (intake.ts), finding out what a folder is (vault/).
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { PipelineError } from '../part/errors.js'
import type { EntryRow, FolderRow } from '../index/rows.js'
import type { EntryChange, Store } from '../index/store.js'
import { messageIdAt } from '../vault/message-id.js'
import { openMailStore } from '../vault/open.js'
import { failureOf } from '../vault/read.js'
import type { FolderKind, Unreadable, Vault, VaultEntry, VaultFolder } from '../vault/vault.js'

/** A message to read. */
export interface Found {
  entry: VaultEntry
  /** Folder row. */
  folder: number
  /** Row of the message that this name held before. */
  replaces?: number
}

export interface ReconcileOptions {
  /** Compare every file, also in folders that look unchanged. */
  full?: boolean
  signal?: AbortSignal | undefined
  /** Reads a message into the index; resolves when another may follow. */
  read: (found: Found) => Promise<void>
  /** Resolves when everything given to `read` is in the index. @returns ids of folders in which some message could not be read */
  settle: () => Promise<ReadonlySet<number>>
  onFolder?: (done: number, total: number) => void
}

export interface Reconciled {
  moved: number
  removed: number
  /** What could not be looked at. */
  unreadable: Unreadable[]
}

const IDENTITY = 'vault-identity'
/**
 * A file that was written over in its place, or a disk that keeps no times, shows in no time of a folder: each
 * folder is compared anyway once a week, some of them at each sweep.
 */
const FULL_CHECK = { everyMs: 7 * 86_400_000, sweepMs: 500 } as const
/** Rows changed or removed in one transaction. */
const BATCH = 500

/**
 * @throws {PipelineError} `E_VAULT_UNREADABLE` when the vault is gone, cannot be listed, or another file system
 *   stands in its place; nothing was removed then
 */
export async function reconcile(
  vault: Vault,
  store: Store,
  options: ReconcileOptions,
): Promise<Reconciled> {
  const { full = false, signal, settle, onFolder } = options
  const known = store.folders.all()
  const wasEmpty = known.length === 0
  const list = await vault.folders(full ? [] : known.map(folderOf))
  await refuseStranger(vault, store, known, list.folders)

  const unreadable = [...list.unreadable]
  const rows = new Map(known.map((row) => [row.path, row]))
  const scanned: Array<{ folder: VaultFolder; id: number; startedMs: number; isWhole: boolean }> =
    []
  const gone: Array<{ id: number; path: string }> = []
  let moved = 0

  let dueMs = 0
  for (const [done, folder] of list.folders.entries()) {
    onFolder?.(done, list.folders.length)
    if (signal?.aborted) break
    const row = rows.get(folder.path)
    rows.delete(folder.path)
    const isUnchanged = row && !full && row.scanned !== 0 && row.fingerprint === folder.fingerprint
    const isDue =
      isUnchanged && Date.now() - row.fullCheck > FULL_CHECK.everyMs && dueMs < FULL_CHECK.sweepMs
    if (isUnchanged && !isDue) continue
    const began = performance.now()
    const startedMs = Date.now()
    const id = row?.id ?? store.folders.save({ ...folder, ...NEVER_SCANNED })
    const compared = await compareFolder(
      vault,
      store,
      folder,
      id,
      row !== undefined,
      wasEmpty,
      options,
    ).catch((error: unknown): Compared => {
      // One folder that cannot be listed keeps its rows, and is no end of the others.
      if ((error as { code?: unknown }).code !== 'E_VAULT_UNREADABLE' || folder.path === '')
        throw error
      const detail = failureOf((error as Error).cause ?? error)
      return { moved: 0, gone: [], unreadable: [{ path: folder.path, detail }] }
    })
    for (const place of compared.unreadable) unreadable.push(place)
    for (const row of compared.gone) gone.push(row)
    moved += compared.moved
    scanned.push({ folder, id, startedMs, isWhole: compared.unreadable.length === 0 })
    if (isDue) dueMs += performance.now() - began
  }

  const withUnread = await settle()
  if (signal?.aborted) return { moved, removed: 0, unreadable }

  const vanished = [...rows.values()].filter((row) => !liesUnder(row.path, unreadable))
  for (const row of vanished)
    for (const entry of store.messages.entries(row.id)) gone.push(idAndPath(entry))
  const removed = await remove(vault, store, gone, isTree(list.folders))
  for (const row of vanished)
    if (store.messages.entries(row.id).length === 0) store.folders.remove(row.id)
  store.folders.saveAll(
    scanned.map(({ folder, id, startedMs, isWhole }) => ({
      ...folder,
      scanned: isWhole && !folder.isFresh && !withUnread.has(id) ? startedMs : 0,
      fullCheck: startedMs,
    })),
  )
  store.set(IDENTITY, vault.identity)
  return { moved, removed, unreadable }
}

const NEVER_SCANNED = { fingerprint: '', scanned: 0, fullCheck: 0 } as const

function folderOf(row: FolderRow): VaultFolder {
  const { path, name, fingerprint, scanned } = row
  return { path, name, kind: row.kind as FolderKind, fingerprint, isFresh: scanned === 0 }
}

/**
 * An unmounted disk leaves an empty folder behind that lists without an error, and another disk may be
 * mounted there. It is another folder, though, with another device and inode, and of the messages we know
 * none lies in it.
 */
async function refuseStranger(
  vault: Vault,
  store: Store,
  known: readonly FolderRow[],
  listed: readonly VaultFolder[],
): Promise<void> {
  const identity = store.get(IDENTITY)
  if (identity === undefined || identity === vault.identity || !isTree(listed)) return
  const paths = new Set(listed.map((folder) => folder.path))
  let looked = 0
  for (const row of known) {
    if (looked >= LOOKED) break
    for (const entry of store.messages.entries(row.id).slice(0, LOOKED_A_FOLDER)) {
      if (row.kind === 'mbox' ? paths.has(row.path) : await vault.entryAt(entry.path)) return
      looked++
    }
  }
  if (looked === 0) return
  // Flags that changed and moves between folders give a Maildir's messages other paths; their unique names last.
  for (const folder of listed.filter(({ kind }) => kind === 'maildir')) {
    const { entries } = await vault.entries(folder)
    if (entries.some(({ unique }) => store.messages.byUnique(unique).length > 0)) return
  }
  throw new PipelineError(
    'E_VAULT_UNREADABLE',
    `${vault.root} holds none of the messages it held before: check that the right disk is mounted there; to index it anew, remove its index first`,
  )
}

/** Known messages that are looked for in a vault that may be another one. */
const LOOKED = 500
const LOOKED_A_FOLDER = 50

/** A vault of one file is another file whenever a program rewrites it; its identity says nothing. */
function isTree(folders: readonly VaultFolder[]): boolean {
  return folders.some((folder) => folder.path === '')
}

interface Compared {
  moved: number
  gone: Array<{ id: number; path: string }>
  unreadable: Unreadable[]
}

async function compareFolder(
  vault: Vault,
  store: Store,
  folder: VaultFolder,
  id: number,
  isKnown: boolean,
  wasEmpty: boolean,
  options: ReconcileOptions,
): Promise<Compared> {
  const rows = isKnown ? store.messages.entries(id) : []
  if (folder.kind === 'mbox' && rows.length === 0) return readMbox(vault, folder, id, options)
  const { read, signal } = options
  const { entries, unreadable } = await vault.entries(
    folder,
    folder.kind === 'maildir'
      ? undefined
      : folder.kind === 'mbox'
        ? // A file that was rewritten with messages as long as those before is told by some samples, or by all of it.
          options.full
          ? undefined
          : asEntries(rows)
        : rows.map(entryOf),
  )
  const byPlace = new Map(rows.map((row) => [placeOf(row), row]))
  const changes: EntryChange[] = []
  let flagged = 0
  const fresh: Array<{ entry: VaultEntry; row?: EntryRow }> = []
  for (const entry of entries) {
    const row = byPlace.get(placeOf(entry))
    // After a compaction another message of the same file stands there, and this one elsewhere.
    const isOther = folder.kind === 'mbox' && row?.unique !== entry.unique
    if (!row || isOther) {
      fresh.push({ entry })
      continue
    }
    byPlace.delete(placeOf(entry))
    if (!isSameMessage(vault.root, row, entry, folder.kind)) fresh.push({ entry, row })
    else if (row.flags !== entry.flags || row.inode !== entry.inode || !hasTimeOf(row, entry)) {
      changes.push({ id: row.id, ...factsOf(entry), folder: id })
      if (row.flags !== entry.flags) flagged++
    }
  }
  entries.length = 0
  fresh.reverse()

  const left = new Map<string, EntryRow[]>()
  for (const row of byPlace.values()) {
    const same = left.get(row.unique)
    if (same) same.push(row)
    else left.set(row.unique, [row])
  }
  const movedHere = new Set<number>()
  for (let next = fresh.pop(); next && !signal?.aborted; next = fresh.pop()) {
    const { entry, row } = next
    if (!row) {
      const was =
        takeMatch(vault.root, left.get(entry.unique), entry) ??
        (wasEmpty ? undefined : await findMoved(vault, store, entry, folder, id, movedHere))
      if (was) {
        movedHere.add(was.id)
        changes.push({ id: was.id, ...factsOf(entry), folder: id })
        if (changes.length >= BATCH) store.messages.update(changes.splice(0))
        continue
      }
    }
    await read({ entry, folder: id, ...(row && { replaces: row.id }) })
  }
  const moved = movedHere.size + flagged
  if (changes.length > 0) store.messages.update(changes)
  return {
    moved,
    gone: signal?.aborted
      ? []
      : [...left.values()]
          .flat()
          .filter((row) => !liesUnder(row.path, unreadable))
          .map(idAndPath),
    unreadable,
  }
}

/** An mbox file that is new: its messages are read while it is listed, for a list of them all may not fit into memory. */
async function readMbox(
  vault: Vault,
  folder: VaultFolder,
  id: number,
  { read, signal }: ReconcileOptions,
): Promise<Compared> {
  let failure: { error: unknown } | undefined
  const { unreadable } = await vault.entries(folder, [], async (entry) => {
    if (failure || signal?.aborted) return
    try {
      await read({ entry, folder: id })
    } catch (error) {
      // Of the index, not of the file: it must not be told as that.
      failure = { error }
    }
  })
  if (failure) throw failure.error
  return { moved: 0, gone: [], unreadable }
}

/** A row of the same name and size that is no longer where it was. Takes it out of the list. */
function takeMatch(
  root: string,
  rows: EntryRow[] | undefined,
  entry: VaultEntry,
): EntryRow | undefined {
  const at =
    rows?.findIndex(
      (row) =>
        row.size === bytesOf(entry) &&
        (entry.offset !== undefined ||
          (row.inode === entry.inode && row.mtimeMs === Math.trunc(entry.mtimeMs)) ||
          hasMessageId(root, row, entry)),
    ) ?? -1
  return at < 0 ? undefined : rows?.splice(at, 1)[0]
}

/** A row in another folder whose file now lies here. */
async function findMoved(
  vault: Vault,
  store: Store,
  entry: VaultEntry,
  { kind }: VaultFolder,
  folder: number,
  taken: ReadonlySet<number>,
): Promise<EntryRow | undefined> {
  if (entry.offset !== undefined) return undefined
  for (const row of store.messages.byUnique(entry.unique)) {
    if (row.folder === folder || row.size !== bytesOf(entry) || taken.has(row.id)) continue
    if (row.mtimeMs !== Math.trunc(entry.mtimeMs) && row.inode !== entry.inode) continue
    // A Maildir's names are given once; `1.eml` is the name of many, and inodes are given again at once.
    if (kind !== 'maildir' && !hasMessageId(vault.root, row, entry)) continue
    if ((await vault.entryAt(row.path)) === undefined) return row
  }
  return undefined
}

/** Removes rows whose message is gone, once more sure that we look at the vault we listed. */
async function remove(
  vault: Vault,
  store: Store,
  gone: ReadonlyArray<{ id: number; path: string }>,
  isTree: boolean,
): Promise<number> {
  if (gone.length === 0) return 0
  if (isTree && (await openMailStore(vault.root)).identity !== vault.identity)
    throw new PipelineError(
      'E_VAULT_UNREADABLE',
      `${vault.root} was unmounted or replaced while it was read; nothing was removed from the index`,
    )
  // A message that was found elsewhere meanwhile has another path now.
  const ids: number[] = []
  for (const { id, path } of gone) {
    const row = store.messages.byId(id)
    if (row?.path !== path) continue
    // A disk that was away for a moment listed as empty meanwhile.
    if (row.offset === null && isPlain(vault.root, path) && (await vault.entryAt(path))) continue
    ids.push(id)
  }
  for (let from = 0; from < ids.length; from += BATCH)
    store.messages.remove(ids.slice(from, from + BATCH))
  return ids.length
}

/** Whether something lies there that is reached through no link: two names of one folder are listed as one. */
function isPlain(root: string, path: string): boolean {
  try {
    return realpathSync(join(root, path)) === join(realpathSync(root), path)
  } catch {
    return false
  }
}

/**
 * Whether the name still holds the message we read. A name may be given again, and a program may set a time
 * back: a file that has another inode or was touched otherwise is asked for its Message-ID.
 *
 * @param root absolute path of the vault
 */
export function isSameMessage(
  root: string,
  row: EntryRow,
  entry: VaultEntry,
  kind: FolderKind,
): boolean {
  if (kind === 'mbox') return row.bytes === (entry.bytes ?? null) && row.unique === entry.unique
  if (row.size !== bytesOf(entry) || row.mtimeMs !== Math.trunc(entry.mtimeMs)) return false
  const isUntouched = row.inode === entry.inode && (row.ctimeMs === 0 || hasTimeOf(row, entry))
  return isUntouched || hasMessageId(root, row, entry)
}

function hasTimeOf(row: EntryRow, entry: VaultEntry): boolean {
  return row.ctimeMs === Math.trunc(entry.ctimeMs)
}

function hasMessageId(root: string, row: EntryRow, entry: VaultEntry): boolean {
  return row.messageId !== '' && messageIdAt(root, entry) === row.messageId
}

/** Bytes of the message itself. */
export function bytesOf(entry: VaultEntry): number {
  return entry.bytes ?? entry.size
}

/** Within a folder: of an mbox file, which may hold a million, the offset alone. */
function placeOf(at: { path: string; offset?: number | null | undefined }): string | number {
  return at.offset ?? at.path
}

/** Messages of an mbox file all have an offset and a size: their rows serve as entries, without a copy of a million. */
function asEntries(rows: EntryRow[]): VaultEntry[] {
  return rows.filter(
    (row): row is EntryRow & VaultEntry => row.offset !== null && row.bytes !== null,
  )
}

function factsOf(entry: VaultEntry): Omit<EntryChange, 'id'> {
  const { path, unique, flags, inode } = entry
  return {
    path,
    offset: entry.offset ?? null,
    bytes: entry.bytes ?? null,
    unique,
    flags,
    size: bytesOf(entry),
    mtimeMs: Math.trunc(entry.mtimeMs),
    ctimeMs: Math.trunc(entry.ctimeMs),
    inode,
  }
}

export function entryOf(row: EntryRow): VaultEntry {
  const { path, unique, flags, size, mtimeMs, ctimeMs, inode } = row
  return {
    path,
    ...(row.offset !== null && { offset: row.offset }),
    ...(row.bytes !== null && { bytes: row.bytes }),
    unique,
    flags,
    size,
    mtimeMs,
    ctimeMs,
    inode,
  }
}

function idAndPath(row: EntryRow): { id: number; path: string } {
  return { id: row.id, path: row.path }
}

function liesUnder(path: string, unreadable: readonly Unreadable[]): boolean {
  return unreadable.some(
    (place) => place.path === '' || path === place.path || path.startsWith(`${place.path}/`),
  )
}
