/**
 * Reads new messages into the index: batches to the threads, rows to the store.
 *
 * Every message found becomes a row. One whose parsing ends its thread is tried alone, then by its
 * headers only, and when even these cannot be read it stands there with its place and its size.
 *
 * Not responsible for: which messages are new (reconcile.ts), their contents (reading.ts).
 */
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { COLUMNS, type FoldedColumns } from '../fold/columns.js'
import type { MessageInput } from '../index/rows.js'
import { chooseDate } from '../index/row-ids.js'
import type { Store } from '../index/store.js'
import type { MessageReference } from '../part/reference.js'
import type { ParsedMessage, UnreadMessage } from '../workers/parsed.js'
import type { Threw, WorkerPool } from '../workers/pool.js'
import { bytesOf, type Found } from './reconcile.js'

/** How a message is read after it ended a thread, each step after the one before. */
const CAUTIONS = ['none', 'alone', 'head', 'bare'] as const
type Caution = (typeof CAUTIONS)[number]

export interface IntakeOptions {
  pool: WorkerPool
  store: Store
  /** Absolute path of the vault. */
  root: string
  keepTexts: boolean
  signal?: AbortSignal | undefined
  /** Whether an earlier process died while it parsed this message. */
  isSuspect?: (reference: MessageReference) => boolean
  /** Whether a delivery has put this message into the index meanwhile. */
  isDelivered?: (path: string) => boolean
  onRows?: (rows: number) => void
  /** Longest that writing rows may hold the event loop. */
  yieldMs: number
  /** On a thread of its own, past everything that waits. */
  urgent?: boolean
}

export interface IntakeCounts {
  added: number
  changed: number
  unreadable: number
}

const BATCH = {
  /** Messages of the first task; each further one has twice as many, so that writing begins at once. */
  first: 125,
  /** Messages of one task. Many: a thread that runs out of work waits until a write is over, which takes 0.3 s. */
  messages: 1000,
  bytes: 8_000_000,
} as const

/**
 * Rows are written when a task has ended and the next is under way, so that threads read while rows are
 * written (in the middle of a task, its thread would be done and idle before the write is over: a fifth of
 * the rate). Never more than this is held back.
 */
const HELD = { rows: 3000, bytes: 16_000_000 } as const

/** Rows of one transaction at first, and its bounds later: as many as take `yieldMs`. */
const SLICE = { first: 100, least: 20, most: HELD.rows } as const

const heldBytes = ({ size }: MessageInput): number => Math.min(size, 1_000_000)

type LeftToDelivery = Pick<MessageInput, 'path' | 'folder' | 'size' | 'mtimeMs'>
type Answer = ParsedMessage | UnreadMessage | Threw

export class Intake {
  readonly counts: IntakeCounts = { added: 0, changed: 0, unreadable: 0 }
  readonly #options: IntakeOptions
  readonly #inFlight = new Set<Promise<void>>()
  readonly #withUnread = new Set<number>()
  /** What a delivery took over. */
  readonly #left: LeftToDelivery[] = []
  #batch: Found[] = []
  #batchBytes = 0
  #batchMessages: number = BATCH.first
  #rows: MessageInput[] = []
  #rowBytes = 0
  #slice: number = SLICE.first
  #writing: NodeJS.Immediate | undefined
  #failure: unknown

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  /** Takes a message to read; resolves when another may follow. @throws what the store threw */
  async read(found: Found): Promise<void> {
    if (this.#options.isSuspect?.(found.entry)) return this.#dispatch([found], 'alone')
    this.#batch.push(found)
    this.#batchBytes += bytesOf(found.entry)
    if (this.#batch.length >= this.#batchMessages || this.#batchBytes >= BATCH.bytes)
      await this.#dispatchBatch()
  }

  /**
   * Resolves when all that was taken is in the index.
   * @returns folders in which some message could not be read, or was left to a delivery that has not brought it yet
   */
  async settle(): Promise<ReadonlySet<number>> {
    await this.#dispatchBatch()
    await Promise.all(this.#inFlight)
    clearImmediate(this.#writing)
    this.#writing = undefined
    while (this.#failure === undefined && this.#rows.length > 0) {
      this.#write()
      if (this.#rows.length > 0) await yieldToLoop()
    }
    this.#throwFailure()
    // The delivery may fail, or have failed: the next sweep looks.
    for (const { path, folder, size, mtimeMs } of this.#left.splice(0)) {
      const row = this.#options.store.messages.byPath(path)
      if (row?.size !== size || row.mtimeMs !== mtimeMs) this.#withUnread.add(folder)
    }
    return this.#withUnread
  }

  async #dispatchBatch(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    this.#batchMessages = Math.min(BATCH.messages, 2 * this.#batchMessages)
    if (batch.length > 0) await this.#dispatch(batch, 'none')
  }

  async #dispatch(batch: Found[], caution: Caution): Promise<void> {
    // One task more than threads: the next lies ready when a thread is done.
    while (this.#inFlight.size > this.#options.pool.threads('text'))
      await Promise.race(this.#inFlight)
    this.#throwFailure()
    if (this.#options.signal?.aborted) return
    const task: Promise<void> = this.#parse(batch, caution)
      .catch((error: unknown) => void (this.#failure ??= error))
      .finally(() => {
        this.#inFlight.delete(task)
        this.#writing ??= setImmediate(() => this.#writeNow())
      })
    this.#inFlight.add(task)
  }

  /** @param isCrowded it was ended because the process held too much, which others may have left there */
  async #parse(batch: Found[], caution: Caution, isCrowded = false): Promise<void> {
    if (caution === 'bare') {
      for (const found of batch)
        this.#take(found, { ...BARE, losses: ['its head could not be read'] })
      return
    }
    const { pool, root, signal, urgent = false, isSuspect, keepTexts, store } = this.#options
    const { dictionary } = store.messages
    const next = CAUTIONS[CAUTIONS.indexOf(caution) + 1] as Caution
    let answered = 0
    const failed: Found[] = []
    const fault = await pool.run(
      {
        kind: 'parse',
        ...(urgent && { urgent }),
        vault: root,
        references: batch.map(({ entry }) => referenceOf(entry)),
        headOnly: caution === 'head',
        ...(keepTexts && dictionary && { dictionary }),
      },
      (item, answer: Answer) => {
        answered = item + 1
        const found = batch[item] as Found
        if ('threw' in answer) failed.push(found)
        else this.#take(found, answer)
      },
      signal,
      isCrowded || (caution !== 'none' && batch.some(({ entry }) => isSuspect?.(entry))),
    )
    // An error of ours would be the same alone.
    for (const found of failed) await this.#parse([found], caution === 'none' ? 'head' : next)
    if (!fault || fault.kind === 'interrupted') return
    const guilty = batch[answered]
    if (guilty) await this.#parse([guilty], next, fault.kind === 'memory' && !fault.isAlone)
    const rest = batch.slice(answered + 1)
    if (rest.length > 0) await this.#parse(rest, 'none')
  }

  #take(found: Found, message: ParsedMessage | UnreadMessage): void {
    const { counts } = this
    if (message.kind === 'gone') return
    if (message.kind === 'unreadable') {
      counts.unreadable++
      this.#withUnread.add(found.folder)
      // What an earlier reading gave is better than nothing.
      if (found.replaces !== undefined) return
    }
    const { keepTexts, isDelivered } = this.#options
    const input = inputOf(found, message.kind === 'parsed' ? message : BARE, keepTexts)
    // A time that no file has: the next sweep sees a change and tries again.
    if (message.kind === 'unreadable') input.mtimeMs = 0
    // The row it would replace is gone, or is about to be.
    if (found.replaces !== undefined && isDelivered?.(found.entry.path)) {
      this.#leave(input)
      return
    }
    if (found.replaces !== undefined) {
      this.#options.store.messages.replace(found.replaces, input)
      counts.changed++
      this.#options.onRows?.(1)
      return
    }
    if (message.kind === 'parsed') counts.added++
    this.#rows.push(input)
    this.#rowBytes += heldBytes(input)
    if (this.#rows.length >= HELD.rows || this.#rowBytes >= HELD.bytes) this.#write()
  }

  #writeNow(): void {
    this.#writing = undefined
    if (this.#failure !== undefined) return
    try {
      this.#write()
    } catch (error) {
      this.#failure = error
    }
    if (this.#rows.length > 0) this.#writing = setImmediate(() => this.#writeNow())
  }

  /** Writes some of the rows: no more than keep a delivery, or the host's own work, waiting for a moment. */
  #write(): void {
    const some = this.#rows.splice(0, this.#slice)
    this.#rowBytes -= some.reduce((sum, row) => sum + heldBytes(row), 0)
    const rows = some.filter((row) => {
      const isDelivered = this.#options.isDelivered?.(row.path) ?? false
      if (isDelivered) this.#leave(row)
      return !isDelivered
    })
    this.counts.added -= some.length - rows.length
    if (rows.length === 0) return
    const began = performance.now()
    this.#options.store.messages.add(rows)
    const rowMs = (performance.now() - began) / rows.length
    this.#slice = Math.min(
      SLICE.most,
      Math.max(SLICE.least, Math.floor(this.#options.yieldMs / rowMs)),
    )
    this.#options.onRows?.(rows.length)
  }

  #leave({ path, folder, size, mtimeMs }: MessageInput): void {
    this.#left.push({ path, folder, size, mtimeMs })
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** A message of which nothing could be read. */
const BARE: ParsedMessage = {
  kind: 'parsed',
  path: '',
  messageId: '',
  references: [],
  inReplyTo: [],
  subject: '',
  from: [],
  to: [],
  cc: [],
  labels: [],
  date: null,
  received: null,
  parts: [],
  columns: Object.fromEntries(COLUMNS.map((column) => [column, ''])) as FoldedColumns,
  body: [],
  losses: [],
}

export function referenceOf({ path, offset, bytes }: MessageReference): MessageReference {
  return {
    path,
    ...(offset !== undefined && { offset }),
    ...(bytes !== undefined && { bytes }),
  }
}

function inputOf(
  { entry, folder }: Found,
  message: ParsedMessage,
  keepTexts: boolean,
): MessageInput {
  const { columns, body, messageId, references, inReplyTo, subject, from, to, cc, labels } = message
  return {
    // Where it was read, should it have been renamed since it was listed.
    ...referenceOf({ ...entry, path: message.path || entry.path }),
    folder,
    unique: entry.unique,
    flags: entry.flags,
    size: bytesOf(entry),
    mtimeMs: Math.trunc(entry.mtimeMs),
    ctimeMs: Math.trunc(entry.ctimeMs),
    inode: entry.inode,
    date: chooseDate({
      date: message.date,
      received: message.received,
      mtimeMs: entry.mtimeMs,
    }),
    messageId,
    references,
    inReplyTo,
    subject,
    from,
    to,
    cc,
    labels,
    parts: message.parts.map((part) => ({ ...part, lane: 'text' as const })),
    columns,
    losses: message.losses,
    body: keepTexts ? body : null,
  }
}
