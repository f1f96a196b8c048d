/**
 * One vault's sweeps: the one writer, its threads, and the order of a pass. A pass may end anywhere,
 * by a signal, an error or the death of the process; the next goes on from what is recorded.
 *
 * Not responsible for: which process this runs in (process.ts), options (part/options.ts).
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import type { FoldedColumns } from '../fold/columns.js'
import { makeDirectory } from '../index/files.js'
import { openStore, type Store } from '../index/store.js'
import { PipelineError } from '../part/errors.js'
import type { Settings } from '../part/options.js'
import type { ContentState, Lane } from '../part/states.js'
import { openMailStore } from '../vault/open.js'
import type { Vault } from '../vault/vault.js'
import { DEFAULT_OCR_THREADS, WorkerPool } from '../workers/pool.js'
import { answer, type Answering } from './answering.js'
import { crashPoint } from './crash-point.js'
import { noteMessageBytes, readCutAgain } from './cut.js'
import { Intake } from './intake.js'
import type { Place } from './place.js'
import { Reading } from './reading.js'
import { isSameMessage, reconcile, type Found } from './reconcile.js'
import { reExtract } from './re-extract.js'
import { leaveOcrLane, requeueStale } from './stale.js'
import { Suspects } from './suspects.js'
import type { Call, Delivery, Results, Sweeping } from './sweeping.js'
import { ThrottleGate } from './throttle.js'
import { verify, type VerifyReport } from './verify.js'

/** How far a sweep is. Sent at most some times a second, and at each change of phase. */
export interface Progress {
  /** `list`: comparing the vault with the index · `messages`: reading new mail · `text`, `ocr`: reading contents · `write`: putting texts into the index. */
  phase: 'list' | 'messages' | 'text' | 'ocr' | 'write'
  /** Folders, messages or contents done in this phase. */
  done: number
  /** As far as is known; grows while listing. */
  total: number
  /** Pages recognised so far in this phase; `ocr` only. */
  ocrPages?: number
}

export interface SweepOptions {
  /** Stops the sweep soon: what is done stays done, what was claimed is given back. */
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  /** Compare every file, also in folders that look unchanged. Default false. */
  full?: boolean
  /**
   * Milliseconds that new rows are written at one time: as long may a delivery wait, or with an inline sweeper the
   * host itself. Larger pieces cost less. Default 40.
   */
  yieldMs?: number
}

export interface SweepReport {
  /** Messages by what happened to their rows. */
  messages: {
    added: number
    changed: number
    /** Flags, folder or file name changed; nothing was read. */
    moved: number
    removed: number
    /** Files that could not be read; their rows stand and they are tried at the next sweep. */
    unreadable: number
    /** In the index now. */
    total: number
  }
  /** Contents that came to a state in this sweep. */
  contents: Partial<Record<ContentState, number>>
  /** Failed contents that wait for their next try. */
  retries: number
  /** When the first of them is due, seconds since 1970. */
  nextDue?: number
  /** What could not be looked at: vault-relative paths with the system's words. */
  unreadable: Array<{ path: string; detail: string }>
  /** Files of the index that were damaged or newer, and set aside under these names. */
  setAside: string[]
  /** Attachments whose state and text were carried over from a damaged extracts.db, and those that are read again. */
  salvaged?: { saved: number; lost: number }
  stopped: boolean
  ms: number
}

const PROGRESS_MS = 200
/** Quiet after which what deliveries left behind is tidied. */
const REST_MS = 500
const THROTTLED_MS = 5_000
/** Longest that the event loop is held by rewriting and merging. */
const SLICE_MS = 40

export class Sweeper implements Sweeping {
  readonly store: Store
  readonly #root: string
  readonly #directory: string
  readonly #settings: Settings
  readonly #answering: Answering | undefined
  #pool: WorkerPool | undefined
  #vault: Vault | undefined
  readonly #throttle: ThrottleGate
  #paused: Promise<void> | undefined
  #resume: (() => void) | undefined
  /** Aborted while attachments are switched off. */
  #attachmentsOff = new AbortController()
  readonly #suspects: Suspects
  #setAside: string[]
  #salvaged: SweepReport['salvaged']
  /** Calls at work. */
  #calls = 0
  #rest: NodeJS.Timeout | undefined
  #isClosed = false
  /** Paths delivered since the present sweep began, which it may have listed before. */
  readonly #delivered = new Set<string>()
  /** Deliveries at work, by path: the system tells of one new file more than once. */
  readonly #delivering = new Map<string, Promise<unknown>>()

  /**
   * Opens the vault's index for writing, or makes it.
   *
   * @throws {PipelineError} `E_INDEX_BUSY` when another process sweeps this vault
   */
  constructor({ root, directory, isExclusive }: Place, settings: Settings) {
    this.#root = root
    this.#directory = directory
    this.#settings = settings
    this.#throttle = new ThrottleGate(settings.throttle)
    this.setAttachments(settings.attachments)
    if (!existsSync(join(directory, 'index.db')) && existsSync(root)) this.#warm()
    let store: Store | undefined
    try {
      store = openStore({
        directory,
        messageChars: settings.limits.messageChars,
        exclusive: isExclusive,
      })
      noteMessageBytes(store, settings.limits)
    } catch (error) {
      store?.close()
      void this.#pool?.close()
      throw error
    }
    this.store = store
    this.#setAside = this.store.opened.setAside
    this.#salvaged = this.store.opened.salvaged
    this.#suspects = new Suspects(this.store, directory, settings.limits.maxAttempts)
    if (isExclusive) this.#answering = answer(directory, () => this.store.answers())
  }

  /** A first index will need its threads; to load one takes 0.3 s of CPU that a sweep of nothing new saves. */
  #warm(): void {
    try {
      makeDirectory(this.#directory)
      this.pool.warm('text')
    } catch {
      // Opening the store says what is wrong with the folder.
    }
  }

  get pool(): WorkerPool {
    return (this.#pool ??= new WorkerPool({
      settings: this.#settings,
      textThreads: this.#settings.workers,
      ocrThreads: this.#settings.ocr === false ? 0 : DEFAULT_OCR_THREADS,
      memoryBytesMax: this.#settings.memoryBytesMax,
      keepTexts: this.#settings.keepTexts,
      journalDirectory: this.#directory,
    }))
  }

  /**
   * Makes the index agree with the vault, then reads contents until nothing is due.
   *
   * @throws {PipelineError} `E_VAULT_UNREADABLE`, `E_DISK_FULL`, `E_INDEX_DAMAGED`; what was done until then stays done
   */
  async sweep(options: SweepOptions = {}): Promise<SweepReport> {
    const { signal, full = false, yieldMs = SLICE_MS } = options
    const beganMs = performance.now()
    const beganSeconds = Math.trunc(Date.now() / 1000)
    const progress = new Throttle(options.onProgress)
    const { store } = this
    const vault = (this.#vault = await openMailStore(this.#root))
    // A search met damage where no sweep looks; whoever opens the index next makes it anew.
    if (store.isSuspect()) store.check()
    requeueStale(store.contents, this.#settings)
    if (this.#settings.ocr === false) leaveOcrLane(store.contents)
    this.#delivered.clear()
    for (const path of this.#delivering.keys()) this.#delivered.add(path)

    let found = 0
    let written = 0
    const intake = new Intake({
      pool: this.pool,
      store,
      root: vault.root,
      keepTexts: this.#settings.keepTexts,
      signal,
      yieldMs,
      isSuspect: (reference) => this.#suspects.hasMessage(reference),
      isDelivered: (path) => this.#delivered.has(path),
      onRows: (rows) => {
        written += rows
        progress.tell('messages', written, found)
        crashPoint('rows-added')
      },
    })
    const read = async (message: Found): Promise<void> => {
      found++
      await this.#gate(signal)
      await intake.read(message)
    }
    const { moved, removed, unreadable } = await reconcile(vault, store, {
      full,
      signal,
      read,
      settle: () => intake.settle(),
      onFolder: (done, total) => progress.tell('list', done, total),
    })
    if (!signal?.aborted) {
      // Another mail that cannot be read, for years perhaps, is no reason to read these at every sweep.
      const { unreadable: others } = intake.counts
      await readCutAgain(store, this.#settings.limits, read, async () => {
        await intake.settle()
        return !signal?.aborted && intake.counts.unreadable === others
      })
    }
    if (!signal?.aborted) {
      this.#suspects.clearMessages()
      if (unreadable.length === 0 && intake.counts.unreadable === 0) store.messages.dropLeftBehind()
    }

    const contents: Partial<Record<ContentState, number>> = {}
    const off = this.#attachmentsOff.signal
    if (!off.aborted) {
      const stopsReading = signal ? AbortSignal.any([signal, off]) : off
      const done: Record<Lane, number> = { text: 0, ocr: 0 }
      let recognised = 0
      const reading = new Reading({
        pool: this.pool,
        store,
        root: vault.root,
        settings: this.#settings,
        signal: stopsReading,
        gate: () => this.#gate(stopsReading),
        onLaneDone: () => this.#rewrite(progress, signal),
        isSuspect: (hash) => this.#suspects.hasContent(hash),
        onSettled: (state, lane, hash, ocrPages) => {
          if (state !== 'failed-transient') this.#suspects.clearContent(hash)
          if (state !== 'pending') contents[state] = (contents[state] ?? 0) + 1
          done[lane]++
          if (lane === 'ocr') recognised += ocrPages
          progress.tell(lane, done[lane], done[lane] + store.contents.backlog(lane, 100_000), {
            ...(lane === 'ocr' && { ocrPages: recognised }),
          })
        },
      })
      await reading.run(this.#settings.ocr === false ? ['text'] : ['text', 'ocr'], beganSeconds)
    }
    await this.#rewrite(progress, signal)
    await this.#tidy(signal)

    const nextDue = store.contents.nextDue()
    const salvaged = this.#salvaged
    this.#salvaged = undefined
    return {
      messages: { ...intake.counts, moved, removed, total: store.messages.count() },
      contents,
      retries: store.contents.states()['failed-transient'] ?? 0,
      ...(nextDue !== undefined && { nextDue }),
      unreadable,
      setAside: this.#setAside.splice(0),
      ...(salvaged && { salvaged }),
      stopped: signal?.aborted ?? false,
      ms: performance.now() - beganMs,
    }
  }

  /**
   * A message that has just arrived: in the index when this resolves, its contents behind it. Costs the
   * same in any vault, and waits for no content that is being read.
   *
   * @param path absolute or vault-relative
   * @throws {PipelineError} `E_NOT_FOUND` when no message lies there
   */
  async deliver(path: string, signal?: AbortSignal): Promise<Delivery> {
    const vault = (this.#vault ??= await openMailStore(this.#root))
    const at = await vault.entryAt(path)
    if (!at) throw new PipelineError('E_NOT_FOUND', `${path} is no message in ${vault.root}`)
    const key = at.entry.path
    for (let other; (other = this.#delivering.get(key));) await other.catch(() => {})
    const delivery = this.#deliver(vault, at, signal)
    this.#delivering.set(key, delivery)
    try {
      return await delivery
    } catch (error) {
      this.#delivered.delete(key)
      throw error
    } finally {
      this.#delivering.delete(key)
    }
  }

  async #deliver(
    vault: Vault,
    at: NonNullable<Awaited<ReturnType<Vault['entryAt']>>>,
    signal: AbortSignal | undefined,
  ): Promise<Delivery> {
    const { store } = this
    const folder =
      store.folders.idOf(at.folder.path) ??
      store.folders.save({ ...at.folder, fingerprint: '', scanned: 0, fullCheck: 0 })
    const known = store.messages.byPath(at.entry.path)
    if (known && isSameMessage(vault.root, known, at.entry, at.folder.kind))
      return { id: known.id, counts: { added: 0, changed: 0 } }
    const found = { entry: at.entry, folder, ...(known && { replaces: known.id }) }
    this.#delivered.add(at.entry.path)
    const intake = new Intake({
      pool: this.pool,
      store,
      root: vault.root,
      keepTexts: this.#settings.keepTexts,
      signal,
      yieldMs: SLICE_MS,
      urgent: true,
    })
    await intake.read(found)
    await intake.settle()
    const row = store.messages.byPath(at.entry.path)
    if (!row) {
      signal?.throwIfAborted()
      throw new PipelineError('E_NOT_FOUND', `${at.entry.path} was removed while it was read`)
    }
    const { added, changed } = intake.counts
    return { id: row.id, counts: { added, changed } }
  }

  async perform<N extends Call['name']>(
    call: Extract<Call, { name: N }>,
    signal?: AbortSignal,
    onProgress?: (progress: Progress) => void,
  ): Promise<Results[N]> {
    this.#calls++
    try {
      return (await this.#perform(call, signal, onProgress)) as Results[N]
    } finally {
      this.#calls--
      this.#restSoon(REST_MS)
    }
  }

  /** What a delivery leaves behind (segments to merge, log to copy back) waits for a time when nothing is asked. */
  #restSoon(afterMs: number): void {
    clearTimeout(this.#rest)
    if (this.#isClosed) return
    this.#rest = setTimeout(() => {
      if (this.#calls > 0 || this.#paused) return
      if (this.#throttle.isHeld()) return this.#restSoon(THROTTLED_MS)
      try {
        if (this.store.idle.step()) this.#restSoon(0)
      } catch {
        // A full disk, a damaged page: the next call meets it and can say so.
      }
    }, afterMs).unref()
  }

  #perform(
    call: Call,
    signal: AbortSignal | undefined,
    onProgress: ((progress: Progress) => void) | undefined,
  ): Promise<Results[Call['name']]> {
    switch (call.name) {
      case 'sweep':
        return this.sweep({
          full: call.full,
          ...(call.yieldMs !== undefined && { yieldMs: call.yieldMs }),
          ...(signal && { signal }),
          ...(onProgress && { onProgress }),
        })
      case 'deliver':
        return this.deliver(call.path, signal)
      case 're-extract':
        return Promise.resolve(reExtract(this.store, this.#settings, call.options))
      case 'verify':
        return this.#verify(call.purge, signal)
    }
  }

  async #verify(purge: boolean, signal: AbortSignal | undefined): Promise<VerifyReport> {
    const report = await verify(this.store, this.#root, signal)
    if (purge) this.store.idle.purge()
    return { ...report, purged: purge }
  }

  #gate(signal: AbortSignal | undefined): Promise<void> | undefined {
    if (!this.#paused || signal?.aborted) return this.#throttle.wait(signal)
    const paused = this.#paused
    // A sweep that is stopped while it is paused ends, and does not wait for the end of the pause.
    return new Promise((resolve) => {
      const go = (): void => {
        signal?.removeEventListener('abort', go)
        resolve()
      }
      signal?.addEventListener('abort', go, { once: true })
      void paused.then(go)
    })
  }

  /** Begins nothing more until `resume()`; what runs is finished. */
  pause(): void {
    this.#paused ??= new Promise((resolve) => (this.#resume = resolve))
  }

  setAttachments(value: 'on' | 'off'): void {
    if (value === 'off') this.#attachmentsOff.abort()
    else if (this.#attachmentsOff.signal.aborted) this.#attachmentsOff = new AbortController()
  }

  resume(): void {
    this.#resume?.()
    this.#paused = undefined
    this.#resume = undefined
    this.#restSoon(REST_MS)
  }

  /** Ends the threads and closes the index. A sweep must have ended before. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#rest)
    this.resume()
    await this.#pool?.close()
    this.#answering?.close()
    this.store.close()
  }

  async #rewrite(progress: Throttle, signal: AbortSignal | undefined): Promise<void> {
    const { rewrites } = this.store
    const total = rewrites.queue()
    let done = 0
    while (!signal?.aborted) {
      const { rewritten, left } = rewrites.run({
        limit: 500,
        untilMs: performance.now() + SLICE_MS,
      })
      done += rewritten
      progress.tell('write', done, total)
      crashPoint('rewritten')
      if (left === 0 || rewritten === 0) break
      await yieldToLoop()
    }
    if (!signal?.aborted) await this.#rewriteUnkept(signal)
  }

  /** Where texts are not kept, a message and its contents are read once more for their words. */
  async #rewriteUnkept(signal: AbortSignal | undefined): Promise<void> {
    const { rewrites, messages, contents } = this.store
    const vault = this.#vault
    if (!vault) return
    // Mail that cannot be read now is passed over: it stays in the queue for another sweep.
    for (let afterId = 0; ;) {
      const due = rewrites.toRead(50, afterId)
      if (due.length === 0) return
      for (const { id, reference } of due) {
        afterId = id
        if (signal?.aborted) return
        const rows = messages
          .hashes(id)
          .map((hash) => contents.byHash(hash))
          .filter((row) => row !== undefined)
        const texts = rows.filter((row) => (row.chars ?? 0) > 0)
        const revision = Math.max(0, ...rows.map((row) => row.revision))
        // Should reading all of them end a thread, the message keeps at least its own words.
        for (const some of [texts, []]) {
          let columns: FoldedColumns | undefined
          let isUnread = false
          await this.pool.run(
            {
              kind: 'refold',
              vault: vault.root,
              reference,
              hashes: some.map(({ hash }) => hash),
              lane:
                this.#settings.ocr !== false && some.some((row) => (row.ocrPages ?? 0) > 0)
                  ? 'ocr'
                  : 'text',
            },
            (_item, answer) => {
              if ('columns' in answer) columns = answer.columns
              else isUnread = 'kind' in answer
            },
            signal,
          )
          if (isUnread) break
          if (!columns) continue
          rewrites.write([{ id, columns, revision }])
          break
        }
      }
    }
  }

  async #tidy(signal: AbortSignal | undefined): Promise<void> {
    while (!signal?.aborted && this.store.idle.step()) {
      await yieldToLoop()
      await this.#gate(signal)
    }
    if (!signal?.aborted) this.store.checkpoint()
  }
}

/** Keeps progress to some events a second. */
class Throttle {
  readonly #tell: ((progress: Progress) => void) | undefined
  #phase: Progress['phase'] | undefined
  #last = -Infinity

  constructor(tell: ((progress: Progress) => void) | undefined) {
    this.#tell = tell
  }

  tell(phase: Progress['phase'], done: number, total: number, more?: Partial<Progress>): void {
    const now = performance.now()
    if (phase === this.#phase && done < total && now - this.#last < PROGRESS_MS) return
    this.#phase = phase
    this.#last = now
    this.#tell?.({ phase, done, total, ...more })
  }
}
