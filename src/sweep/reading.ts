/**
 * Reads contents that are due: claims them newest mail first, gives a thread one message with its due
 * contents, records what came of each, and has the messages that carry them rewritten.
 *
 * Not responsible for: what may follow what (transition.ts), the SQL (index/), when a sweep ends (sweep.ts).
 */
import type { ClaimedContent, ContentOutcome, ContentRow, EntryRow } from '../index/rows.js'
import type { Store } from '../index/store.js'
import type { TextPage } from '../part/outcome.js'
import type { ReadSettings } from '../part/settings.js'
import type { ContentState, Lane } from '../part/states.js'
import type { ExtractedContent } from '../workers/messages.js'
import type { UnreadMessage } from '../workers/parsed.js'
import type { Fault, Threw, WorkerPool } from '../workers/pool.js'
import { crashPoint } from './crash-point.js'
import { referenceOf } from './intake.js'
import { retryDelay, unreadableDelay } from './schedule.js'
import { dependenciesOf, languagesOf } from './staleness.js'
import { transition, type ContentEvent } from './transition.js'

export interface ReadingOptions {
  pool: WorkerPool
  store: Store
  /** Absolute path of the vault. */
  root: string
  settings: ReadSettings
  signal?: AbortSignal | undefined
  /** Resolves when work may be begun (pause, throttle). */
  gate?: () => Promise<void> | undefined
  /** Whether an earlier process died while it read this content: it is then read in a process of its own. */
  isSuspect?: (hash: string) => boolean
  /** When a lane has nothing left to do for the first time. */
  onLaneDone?: (lane: Lane) => Promise<void>
  /** A content came to a state; `pending` when its text was read and its pages wait for the other lane. */
  /** @param ocrPages recognised in this reading */
  onSettled?: (state: ContentState, lane: Lane, hash: string, ocrPages: number) => void
}

/** Candidates fetched at one time; contents of one message stand together in them. */
const FETCH = 64
/**
 * Tasks handed on beyond the threads of a lane, so that the next lies ready when a thread is done. None for pages: they take
 * seconds each, and a task handed on is no longer held back by a pause, nor by text that came meanwhile.
 */
const AHEAD = { text: 1, ocr: 0 } as const
/** Longest that a finished content waits to be recorded while its task goes on. */
const RECORD_MS = 100
/** How often text that became due is looked for while pages are recognised. */
const LOOK_MS = 300
/** How often, and how long at one time, messages are rewritten while contents are read. */
const REWRITE = { everyMs: 2_000, forMs: 50, messages: 200 } as const

type Answer = ExtractedContent | UnreadMessage | Threw

export class Reading {
  readonly #options: ReadingOptions
  readonly #inFlight: Record<Lane, Set<Promise<void>>> = { text: new Set(), ocr: new Set() }
  /** Contents that nobody carries, or that would not be claimed: not looked at again in this pass. */
  readonly #skipped = new Set<number>()
  #outcomes: ContentOutcome[] = []
  #lastRecord = 0
  #lastRewrite = performance.now()
  #failure: unknown
  /** The pool takes no more: what it gives back would be begun again for ever. */
  #isInterrupted = false

  constructor(options: ReadingOptions) {
    this.#options = options
  }

  /**
   * Reads what is due until nothing is. Text goes first for the whole vault; text that becomes due while
   * pages are recognised (a delivery) is read beside them.
   *
   * @param lanes those to read, text first
   * @param now seconds since 1970: failures due later than this wait for another sweep
   */
  async run(lanes: readonly Lane[], now: number): Promise<void> {
    const { signal, gate, onLaneDone } = this.#options
    const unfinished = new Set(lanes)
    while (!signal?.aborted && !this.#isInterrupted) {
      this.#throwFailure()
      for (const lane of lanes) {
        const isAllBegun = await this.#fill(lane, now)
        this.#rewriteSome(lane)
        // While text waits for a thread no page is begun: both would want the same cores.
        if (!isAllBegun) break
        if (this.#inFlight[lane].size > 0 || !unfinished.delete(lane)) continue
        this.#record()
        await onLaneDone?.(lane)
      }
      const running = [...this.#inFlight.text, ...this.#inFlight.ocr]
      if (running.length === 0 && unfinished.size === 0) break
      if (running.length > 0) await Promise.race([...running, soon()])
      await gate?.()
    }
    await Promise.all([...this.#inFlight.text, ...this.#inFlight.ocr])
    this.#record()
    this.#throwFailure()
  }

  /** Begins what is due in a lane as long as threads are free. @returns whether nothing is left that waits for one */
  async #fill(lane: Lane, now: number): Promise<boolean> {
    const { store, pool, signal, gate } = this.#options
    for (;;) {
      const due = store.contents
        .candidates(lane, FETCH + this.#skipped.size, now)
        .filter((row) => !this.#skipped.has(row.id))
      if (due.length === 0) return true
      const waiting = new Map(due.map((row) => [row.hash, row]))
      for (const row of due) {
        if (!waiting.has(row.hash)) continue
        if (this.#inFlight[lane].size >= pool.threads(lane) + AHEAD[lane]) return false
        await gate?.()
        if (signal?.aborted || this.#isInterrupted) return false
        this.#begin(row, waiting, lane)
      }
    }
  }

  /** Takes a content, and the others of its message that are due, and starts their task. */
  #begin(row: ContentRow, waiting: Map<string, ContentRow>, lane: Lane): void {
    const { store } = this.#options
    const carriers = store.messages.carriers(row.hash, 8)
    // A copy that could not be read is not the only one, perhaps.
    const carrier = carriers[row.attempts % Math.max(1, carriers.length)]
    const rows = carrier ? this.#together(row, carrier, waiting) : []
    for (const { hash } of [row, ...rows]) waiting.delete(hash)
    const claimed = store.contents.claim(rows.map(({ id }) => id))
    if (!carrier || claimed.length === 0) {
      this.#skipped.add(row.id)
      return
    }
    crashPoint('claimed')
    const task: Promise<void> = this.#extract(carrier, claimed, lane)
      .catch((error: unknown) => void (this.#failure ??= error))
      .finally(() => this.#inFlight[lane].delete(task))
    this.#inFlight[lane].add(task)
  }

  /** A content that failed before is read alone, so that nothing dies with it. */
  #together(
    row: ContentRow,
    carrier: EntryRow,
    waiting: ReadonlyMap<string, ContentRow>,
  ): ContentRow[] {
    const isAlone = (one: ContentRow): boolean =>
      one.attempts > 0 || (this.#options.isSuspect?.(one.hash) ?? false)
    if (isAlone(row)) return [row]
    const others = this.#options.store.messages
      .hashes(carrier.id)
      .map((hash) => waiting.get(hash))
      .filter((other) => other !== undefined && !isAlone(other) && other.id !== row.id)
    return [...new Set([row, ...(others as ContentRow[])])]
  }

  /** @param isAlone in a process of its own */
  async #extract(
    carrier: EntryRow,
    claimed: ClaimedContent[],
    lane: Lane,
    isAlone = claimed.some(({ hash }) => this.#options.isSuspect?.(hash)),
  ): Promise<void> {
    const { pool, root, signal } = this.#options
    const open = new Map(claimed.entries())
    const fault = await pool.run(
      {
        kind: 'extract',
        vault: root,
        reference: referenceOf({
          path: carrier.path,
          ...(carrier.offset !== null && { offset: carrier.offset }),
          ...(carrier.bytes !== null && { bytes: carrier.bytes }),
        }),
        hashes: claimed.map(({ hash }) => hash),
        lane,
        recognised: this.#recognised(claimed, lane),
      },
      (item, answer: Answer) => {
        this.#settle(open.get(item) as ClaimedContent, answer, lane)
        open.delete(item)
        if (performance.now() - this.#lastRecord > RECORD_MS) this.#record()
      },
      signal,
      isAlone,
    )
    const again: ClaimedContent[] = []
    if (fault) {
      if (fault.kind === 'interrupted') this.#isInterrupted = true
      // Before the first item the message itself was in work, and all its contents with it.
      const guilty = fault.item === 'preparing' ? [...open.keys()] : [fault.item]
      for (const [item, content] of open)
        if (fault.kind === 'interrupted' || !guilty.includes(item)) this.#giveBack(content, lane)
        else if (fault.kind === 'memory' && !fault.isAlone) again.push(content)
        else this.#fault(content, fault, lane)
    }
    this.#record()
    // What others left in the process may have filled it: under the same claim, but without them.
    if (again.length > 0) await this.#extract(carrier, again, lane, true)
  }

  /** What was recognised under a limit that has been raised since, and under nothing else that has changed. */
  #recognised(claimed: readonly ClaimedContent[], lane: Lane): Record<string, TextPage[]> {
    const { store, settings } = this.#options
    const kept: Record<string, TextPage[]> = {}
    for (const { id, hash, why, languages } of lane === 'ocr' ? claimed : [])
      if (why === 'limits-changed' && languages === languagesOf(settings))
        kept[hash] = store.contents.recognised(id)
    return kept
  }

  #settle(content: ClaimedContent, answer: Answer, lane: Lane): void {
    if ('threw' in answer) {
      if (/^E[MN]FILE$/.test(answer.code ?? '')) {
        // No document's fault, and the next would fare no better: the sweep says so, and all are as they were.
        this.#failure ??= new Error(`${answer.threw}: let a process open more files (ulimit -n)`)
        this.#giveBack(content, lane)
        return
      }
      this.#fault(content, { kind: 'died', detail: answer.threw }, lane)
      return
    }
    if (answer.kind !== 'extracted') {
      this.#unreadable(content, answer.detail, lane)
      return
    }
    const { settings } = this.#options
    const { result, text, chars } = answer
    const { outcome } = result
    const leavesPages =
      outcome.kind === 'text' &&
      lane === 'text' &&
      settings.ocr !== false &&
      (outcome.pagesToOcr ?? 0) > 0
    const event: ContentEvent =
      outcome.kind === 'text'
        ? { kind: 'extracted', leavesPages }
        : { kind: 'declined', state: outcome.state }
    const { limits, languages, passwords } = dependenciesOf(result, settings)
    this.#put(content, event, {
      lane: leavesPages ? 'ocr' : lane,
      attempts: leavesPages ? 0 : content.attempts,
      result,
      text,
      chars,
      ...(limits !== null && { limits }),
      ...(languages !== null && { languages }),
      ...(passwords !== null && { passwords }),
    })
  }

  #fault(
    content: ClaimedContent,
    { kind, detail }: Pick<Fault, 'kind' | 'detail'>,
    lane: Lane,
  ): void {
    const { maxAttempts } = this.#options.settings.limits
    this.#put(
      content,
      { kind: 'faulted', isLast: content.attempts >= maxAttempts },
      {
        lane,
        attempts: content.attempts,
        due: seconds() + retryDelay(content.attempts),
        detail: `${kind}: ${detail}`,
      },
    )
  }

  /** The file could not be read: nothing was learnt about the content, so it never becomes a poison file. */
  #unreadable(content: ClaimedContent, detail: string, lane: Lane): void {
    const attempts = Math.min(content.attempts, this.#options.settings.limits.maxAttempts - 1)
    this.#put(
      content,
      { kind: 'faulted', isLast: false },
      {
        lane,
        attempts,
        due: seconds() + unreadableDelay(content.due - content.recorded),
        detail: `unreadable: ${detail}`,
      },
    )
  }

  #giveBack(content: ClaimedContent, lane: Lane): void {
    this.#put(content, { kind: 'interrupted' }, { lane, attempts: content.attempts - 1 })
  }

  #put(
    { id, claim, why, hash, lane: read }: ClaimedContent,
    event: ContentEvent,
    facts: Pick<ContentOutcome, 'lane' | 'attempts'> & Partial<ContentOutcome>,
  ): void {
    const state = transition('extracting', event)
    this.#outcomes.push({ id, claim, why, state, ...facts })
    if (event.kind === 'interrupted') return
    const outcome = facts.result?.outcome
    const ocrPages = outcome?.kind === 'text' ? (outcome.ocrPages ?? 0) : 0
    this.#options.onSettled?.(state, read, hash, ocrPages)
  }

  #record(): void {
    const outcomes = this.#outcomes
    this.#outcomes = []
    this.#lastRecord = performance.now()
    if (outcomes.length === 0) return
    this.#options.store.contents.record(outcomes)
    crashPoint('recorded')
  }

  /** A message is rewritten when its contents of this lane and those before it are settled. */
  #rewriteSome(lane: Lane): void {
    const now = performance.now()
    if (now - this.#lastRewrite < REWRITE.everyMs) return
    const { rewrites } = this.#options.store
    rewrites.queue()
    rewrites.run({
      limit: REWRITE.messages,
      untilMs: now + REWRITE.forMs,
      settledLanes: lane === 'text' ? ['text'] : ['text', 'ocr'],
    })
    this.#lastRewrite = performance.now()
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** Time to look again for text that became due. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS).unref())
}

function seconds(): number {
  return Math.trunc(Date.now() / 1000)
}
