/**
 * The one writer of a vault's index: index.db (messages.ts) and extracts.db (contents.ts) together, in the
 * order that a crash may interrupt anywhere: extracts first, index second, and at the next start
 * `rewrites.queue()` finds the difference.
 *
 * Everything here is synchronous. Not responsible for: what state follows which (sweep/transition.ts),
 * when to do what (sweep/sweep.ts), reading (search.ts, excerpts.ts).
 */
import { randomUUID } from 'node:crypto'
import type { TextPage } from '../part/outcome.js'
import type { FoldedColumns } from '../fold/columns.js'
import type { BodyDictionary } from '../fold/texts.js'
import type { MessageReference } from '../part/reference.js'
import type { Lane, ReadReason } from '../part/states.js'
import { Answers } from './answers.js'
import { Contents } from './contents.js'
import { Dictionary } from './dictionary.js'
import {
  checkWhole,
  explained,
  isSuspect,
  openForWriting,
  removeSetAside,
  type Connection,
  type WriterFiles,
} from './files.js'
import { Folders } from './folders.js'
import { Idle } from './idle.js'
import { Messages, Words } from './messages.js'
import { tuneMerging } from './merging.js'
import { Meta } from './meta.js'
import { Rewrites } from './rewrites.js'
import type { Salvaged } from './salvage.js'
import { Vocabulary } from './vocabulary.js'
import type {
  BacklogWork,
  ClaimedContent,
  ContentFilter,
  ContentOutcome,
  ContentRow,
  Coverage,
  EntryRow,
  FolderRow,
  MessageInput,
  Rate,
} from './rows.js'

export interface StoreOptions {
  /** Folder of index.db and extracts.db; made when it is missing, owner-only. */
  directory: string
  /** limits.messageChars. */
  messageChars: number
  /** Exclusive locking instead of shared memory, for network file systems. Default false. */
  exclusive?: boolean
}

/** What opening found. */
export interface Opened {
  /** Files that were damaged or newer and were set aside, under their new names. */
  setAside: string[]
  /** Contents of a damaged or newer extracts.db that were carried over, and those that were not. */
  salvaged?: Salvaged
  /** True when index.db is new: the vault is to be listed in full. */
  isNewIndex: boolean
}

export interface FolderStore {
  all(): FolderRow[]
  idOf(path: string): number | undefined
  /** Adds a folder or changes the row of the same path. @returns its id */
  save(folder: Omit<FolderRow, 'id'>): number
  /** In one transaction. */
  saveAll(folders: ReadonlyArray<Omit<FolderRow, 'id'>>): void
  /** Forgets a folder; its messages must be gone or moved. */
  remove(id: number): void
}

export interface MessageStore {
  /** What bodies are to be packed with, from the first thousand messages on. */
  readonly dictionary: BodyDictionary | undefined
  /** Messages in the index. Reads a small index through: for the end of a sweep, not for each delivery. */
  count(): number
  /** Entries of a folder, for reconcile. */
  entries(folder: number): EntryRow[]
  byId(id: number): EntryRow | undefined
  byPath(path: string, offset?: number): EntryRow | undefined
  /** All entries with this unique name, in any folder. */
  byUnique(unique: string): EntryRow[]
  byMessageId(messageId: string): EntryRow[]
  /** Messages that carry a content, newest first. */
  carriers(hash: string, limit: number): EntryRow[]
  /** Messages of more bytes of which something was not read, newest first. */
  lossy(largerThan: number): number[]
  /** Contents of a message's parts, in order of the parts, 64 hex digits each. */
  hashes(message: number): string[]
  /**
   * Adds messages with their words. Contents are registered (pending, never-seen) in extracts.db first.
   * One transaction; 500 to 2,000 messages at a time are cheapest a message.
   * @returns the ids, in the order of the input
   */
  add(batch: readonly MessageInput[]): number[]
  /** Flags, path, folder and file facts changed and the message did not. No word is touched. */
  update(changes: readonly EntryChange[]): void
  /** Deletes rows, words and kept text; contents that nobody carries any more go too. */
  remove(ids: readonly number[]): void
  /**
   * Deletes contents that no message carries, where a crash, a full disk or a lost index.db can have left some. For
   * the end of a listing in which everything could be read.
   */
  dropLeftBehind(): void
  /** A name now holds another message: remove and add in one transaction. @returns the new id */
  replace(id: number, message: MessageInput): number
}

export interface EntryChange {
  id: number
  folder?: number
  path?: string
  offset?: number | null
  bytes?: number | null
  unique?: string
  flags?: number
  size?: number
  mtimeMs?: number
  ctimeMs?: number
  inode?: number
}

export interface ContentStore {
  byHash(hash: string): ContentRow | undefined
  byId(id: number): ContentRow | undefined
  /** Due for reading, newest mail first: pending in the lane, then failed-transient with `due` reached. Reads an index. */
  candidates(lane: Lane, limit: number, now: number): ContentRow[]
  /** Left in `extracting` by a process that died, to be tried alone. */
  interrupted(limit: number): ContentRow[]
  /** Takes contents for work: state extracting, attempts + 1, a new token. One transaction. */
  claim(ids: readonly number[]): ClaimedContent[]
  /**
   * Records outcomes, text and state in one transaction.
   * @returns for each `recorded`, or `lost` when the claim is no longer the content's
   */
  record(outcomes: readonly ContentOutcome[]): Array<'recorded' | 'lost'>
  /** Makes contents pending again (stale, forced). @returns how many */
  requeue(ids: readonly number[], why: ReadReason, lane: Lane): number
  /** Contents read by another version of an extractor, or without one that now reads their type. */
  staleByExtractor(
    versions: ReadonlyMap<string, number>,
    readableTypes: readonly string[],
  ): ContentRow[]
  /** Contents whose result depended on another fingerprint. */
  staleBy(what: 'limits' | 'languages' | 'passwords', fingerprint: string): ContentRow[]
  list(filter: ContentFilter, limit?: number, afterId?: number): ContentRow[]
  /** Pages of a content's kept text that OCR read, whole and with what it saw. */
  recognised(id: number): TextPage[]
  /** When the next failed-transient is due, seconds since 1970. */
  nextDue(): number | undefined
  coverage(): Coverage
  /** Contents by state. */
  states(): Record<string, number>
  /** Waiting in a lane; counted up to `limit`. */
  backlog(lane: Lane, limit?: number): number
  /** Contents by state and reason, most first. Reads every content: for `status`. */
  reasons(): Array<{ state: string; reason: string; contents: number }>
  /** What waits, by lane and type. For estimates. */
  backlogWork(): BacklogWork[]
  /** What readings took so far, by type. For estimates. */
  rates(): Rate[]
}

/** A message whose attachment column is older than its contents' texts. */
export interface RewriteDue {
  id: number
  reference: MessageReference
}

export interface RewriteStore {
  /** Puts the messages of contents recorded since the last call into the queue. Also to be called at start. @returns length of the queue */
  queue(): number
  /** Messages that lack a text recorded for their attachments, queued or not; notes nothing. */
  behind(): number
  /**
   * Rewrites queued messages in row order from kept texts.
   * @param options.limit messages at most · `untilMs` a performance.now() after which no further one is begun ·
   *   `settledLanes` leaves messages in the queue that have a content pending or extracting in one of these lanes
   * @returns rewritten and left over in the queue
   */
  run(options: { limit: number; untilMs?: number; settledLanes?: readonly Lane[] }): {
    rewritten: number
    left: number
  }
  /** Queued messages that must be read again because texts are not kept, by id, those after `afterId` (default 0). */
  toRead(limit: number, afterId?: number): RewriteDue[]
  /** Writes columns that the caller has folded, with the revision they hold. */
  write(rewrites: ReadonlyArray<{ id: number; columns: FoldedColumns; revision: number }>): void
  /** Folds a message from kept texts, as `run` does. Undefined when texts are not kept. */
  refold(id: number): { columns: FoldedColumns; revision: number } | undefined
}

export interface IdleStore {
  /** One bounded step of idle work (merge, recount, dead terms, checkpoint). @returns false when nothing is left to do */
  step(): boolean
  /**
   * Leaves no byte of deleted text in the files: drops contents that no message carries and dead words, merges, vacuums,
   * removes files that were set aside. Takes long.
   * @throws {PipelineError} E_INDEX_BUSY while a reader holds an older state of the files
   */
  purge(): void
}

/**
 * Opens a vault's index for the one writer, making or rebuilding what is missing or unreadable.
 * @throws {PipelineError} E_INDEX_BUSY (another writer), E_INDEX_READONLY, E_DISK_FULL, E_INDEX_DAMAGED (a file there is not ours)
 */
export function openStore(options: StoreOptions): Store {
  const { directory, messageChars, exclusive = false } = options
  const files = openForWriting(directory, exclusive)
  try {
    return explained(directory, () => storeOver(files, directory, messageChars))
  } catch (error) {
    files.close()
    throw error
  }
}

function storeOver(files: WriterFiles, directory: string, messageChars: number): Store {
  const { index, extracts } = files
  const indexMeta = new Meta(index)
  const extractsMeta = new Meta(extracts)
  tuneMerging(index)
  meetExtracts(index, indexMeta, extracts, extractsMeta, files.wasLeftOpen)
  const contents = new Contents(extracts, extractsMeta, index)
  const words = new Words(index)
  const vocabulary = new Vocabulary(index, indexMeta)
  const dictionary = new Dictionary(index, vocabulary)
  const messages = new Messages(
    index,
    indexMeta,
    contents,
    words,
    vocabulary,
    dictionary,
    messageChars,
  )
  const rewrites = new Rewrites(index, indexMeta, contents, words, vocabulary, messageChars)
  const idle = new Idle(index, extracts, indexMeta, vocabulary, dictionary)
  let answers: Answers | undefined
  messages.clearOrphans()
  rewrites.queue()
  const written = <Part extends object>(part: Part): Part =>
    watched(part, directory, () => idle.wake())
  return {
    opened: {
      setAside: files.setAside,
      isNewIndex: files.isNewIndex,
      ...(files.salvaged && { salvaged: files.salvaged }),
    },
    folders: written(new Folders(index)),
    messages: written(messages),
    contents: written(contents),
    rewrites: written(rewrites),
    idle: {
      step: () => explained(directory, () => idle.step()),
      purge: () => {
        explained(directory, () => {
          messages.dropUncarried()
          idle.purge()
          removeSetAside(directory)
        })
      },
    },
    get: (key) => indexMeta.get(`own ${key}`),
    set: (key, value) => {
      explained(directory, () => indexMeta.set(`own ${key}`, value))
    },
    answers: () => (answers ??= new Answers(directory, files)),
    isSuspect: () => isSuspect(directory),
    check: () => checkWhole(directory, files),
    checkpoint: () => {
      index.pragma('wal_checkpoint(TRUNCATE)')
      extracts.pragma('wal_checkpoint(TRUNCATE)')
    },
    close: () => {
      try {
        explained(directory, () => index.transaction(() => vocabulary.flush()).immediate())
      } finally {
        files.close()
      }
    },
  }
}

/**
 * The index notes which extracts.db it was folded from, and up to which revision. When that file was lost or
 * is an older one (a copy put back, the last commits before a power cut), its contents are put into it as
 * pending, and every message is written again when they have been read. After a crash the contents are
 * compared in any case.
 */
function meetExtracts(
  index: Connection,
  meta: Meta,
  extracts: Connection,
  other: Meta,
  wasLeftOpen: boolean,
): void {
  let identity = other.get('identity')
  if (identity === undefined) {
    identity = randomUUID()
    other.set('identity', identity)
  }
  const known = meta.get('extracts')
  const isOther = known !== identity || other.number('revision') < meta.number('folded')
  if (!isOther && !wasLeftOpen) return
  if (known !== undefined) registerAll(index, extracts)
  if (!isOther) return
  index
    .transaction(() => {
      if (known !== undefined) index.exec('UPDATE message SET revision = 0 WHERE revision > 0')
      meta.set('folded', 0)
      meta.set('extracts', identity)
    })
    .immediate()
}

/** Puts the contents that extracts.db does not know into it. */
function registerAll(index: Connection, extracts: Connection): void {
  const register = extracts.prepare(
    `INSERT OR IGNORE INTO content (hash, size, state, lane, why, newest, declared_type)
     VALUES (?, ?, 'pending', ?, 'never-seen', ?, ?)`,
  )
  const parts = index
    .prepare(
      'SELECT hash, size, declared_type AS type, max(message) AS newest FROM part GROUP BY hash',
    )
    .all() as Array<{ hash: Buffer; size: number; type: string; newest: number }>
  extracts
    .transaction(() => {
      for (const { hash, size, type, newest } of parts)
        register.run(hash, size, type.startsWith('image/') ? 'ocr' : 'text', newest, type)
    })
    .immediate()
}

/** The same object, with what SQLite throws explained and a call after each method. */
function watched<Part extends object>(part: Part, directory: string, after: () => void): Part {
  return new Proxy(part, {
    get(target, key) {
      const value = explained(directory, () => Reflect.get(target, key, target) as unknown)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        after()
        return explained(directory, () => Reflect.apply(value, target, given) as unknown)
      }
    },
  })
}

/** What comparing an index with its vault asks. */
export interface Comparable {
  readonly opened: Pick<Opened, 'setAside'>
  readonly folders: Pick<FolderStore, 'all'>
  readonly messages: Pick<MessageStore, 'entries' | 'hashes'>
  readonly contents: Pick<ContentStore, 'list'>
  readonly rewrites: Pick<RewriteStore, 'behind'>
  /** Reads both files whole. @throws {PipelineError} E_INDEX_DAMAGED */
  check(): void
}

export interface Store {
  readonly opened: Opened
  readonly folders: FolderStore
  readonly messages: MessageStore
  readonly contents: ContentStore
  readonly rewrites: RewriteStore
  readonly idle: IdleStore
  /** A value kept with the index: last full check, options of the last sweep. */
  get(key: string): string | undefined
  set(key: string, value: string): void
  /** Searches over the writer's own connections, for those who cannot open the files meanwhile. */
  answers(): Answers
  /** Whether somebody (a reader, a call of ours) met damage in a file that was not checked since. */
  isSuspect(): boolean
  /** Reads both files whole. @throws {PipelineError} E_INDEX_DAMAGED */
  check(): void
  /** Truncates the write-ahead logs, when no reader holds them. */
  checkpoint(): void
  /** Checkpoints, leaves files that a read-only copy can be searched from, gives the lock back. */
  close(): void
}
