/**
 * The main side of the workers, and the only importer of piscina: runs tasks on threads and ends
 * what must be ended.
 *
 * Each slot is a Piscina of one thread, so that a thread is timed, ended and replaced without
 * touching its neighbours. One clock looks at every running slot: what it has finished, how long it
 * has been in its present item, how much memory the process holds. What a thread does can therefore
 * cost the item in work, and nothing else.
 *
 * Not responsible for: attempts, states, what is read next (sweep/).
 */
import { availableParallelism } from 'node:os'
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Lane } from '../part/states.js'
import type { Limits } from '../part/limits.js'
import { DEFAULT_MEMORY_BYTES_MAX } from '../part/options.js'
import type { ReadSettings } from '../part/settings.js'
import { builtFile } from './forked.js'
import { forgetJournal } from './journal.js'
import { heldBytes, residentBytes } from './memory.js'
import { runQuarantined } from './quarantine.js'
import {
  FIRST_ITEM,
  NOT_BEGUN,
  PREPARING,
  type Answers,
  type Errand,
  type Reply,
  type Report,
  type Task,
  type ThreadSettings,
} from './messages.js'

/** Plain data: it may cross to another process. */
export interface PoolOptions {
  settings: ReadSettings
  /** Threads that parse and read text. */
  textThreads: number
  /** Threads that recognise pages. */
  ocrThreads: number
  /** Resident bytes of this process at which threads are ended; feeding stops well below. Default DEFAULT_MEMORY_BYTES_MAX. */
  memoryBytesMax?: number
  /** Pack texts to be kept. Default false: only the reading matters. */
  keepTexts?: boolean
  /** Folder of the index, where threads note what they have in work (journal.ts). */
  journalDirectory?: string
  /** Module of a fault extractor; tests only. Default: the variable PAPERKNIFE_FAULTS. */
  faults?: string
}

/** One core is left for the rest; two pages at a time are as much memory as one pool may hold. */
export const DEFAULT_OCR_THREADS = availableParallelism() >= 4 ? 2 : 1

/** What ended a task before its end. */
export interface Fault {
  kind: 'timeout' | 'memory' | 'died' | 'interrupted'
  /** Index of the item in work, or `preparing`: before the first item (the message itself was being read). */
  item: number | 'preparing'
  /** One sentence, without text of the document. */
  detail: string
  /** It was read in a process of its own, with room enough: nothing else is to blame. */
  isAlone?: boolean
}

/** An item that ended in an error of ours; the thread lives on. */
export interface Threw {
  threw: string
  /** Of a file-system error: `EACCES`. */
  code?: string
}

const WALLS = {
  /** How often running threads are looked at. */
  tickMs: 50,
  /** Time for a thread to load its modules and begin. */
  startMs: 60_000,
  /** Time for an ended thread to be gone. One that is not hangs in native code, which only the end of the process ends. */
  endMs: 10_000,
  /** JS heap of one thread. Buffers and WASM lie outside it: hence the shares of resident memory below. */
  heapMb: 384,
  /** Share of memoryBytesMax above which nothing new is begun while something runs, and idle threads are replaced. */
  feedShare: 0.55,
  /** Share of memoryBytesMax above which a running item is ended. Below 1, because memory grows between two ticks. */
  endShare: 0.85,
  /** Share of memoryBytesMax above which an item would pay for what others left in the process: it is read in another. */
  crowdedShare: 0.7,
  /** The mark of such a process when less than that is left of memoryBytesMax: a scan of 35 megapixels needs 560 MB. */
  aloneBytes: 750_000_000,
  /** The least mark of such a process, while others run here. */
  besideBytes: 300_000_000,
  /** Share of memoryBytesMax that this process and those beside it may hold together; their shared pages count twice in it. */
  togetherShare: 1.15,
  besideMost: 2,
  /** Longest that a task waits for memory before it is read in another process. */
  waitMs: 3_000,
  /** An idle thread that holds more is replaced: what a parser left behind is not carried along. */
  heldBytes: 150_000_000,
  /** Recognised pages after which an OCR thread is replaced; its WASM memory only ever grows. */
  ocrPages: 50,
} as const

interface Running {
  task: Task
  port: MessagePort
  progress: Int32Array
  /** Last value seen in `progress`, when, and what the process held then. */
  stage: number
  stageBegan: number
  stageRss: number
  end: AbortController
  fault?: Fault
  /** What the caller's own `onAnswer` threw: not the thread's fault, and the caller's to hear. */
  thrown?: { error: unknown }
  onReply: (reply: Reply) => void
}

interface Slot {
  readonly number: number
  readonly lane: Lane | 'urgent'
  thread: Piscina | undefined
  /** Given to a task, from before its thread starts until it is answered. */
  isTaken: boolean
  running: Running | undefined
  ocrPages: number
}

export class WorkerPool {
  readonly #options: PoolOptions
  readonly #slots: Slot[]
  readonly #waiting: Array<() => void> = []
  readonly #memoryBytesMax: number
  #clock: NodeJS.Timeout | undefined
  /** Processes that read one task alone, with the marks they were given; their memory is not in our own. */
  readonly #beside = new Map<object, { pid: number | undefined; mark: number }>()
  #closed = false
  readonly #closing = new AbortController()
  /** Called when a thread could not be ended; a process of our own should then end itself. */
  onStuck: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
    this.#memoryBytesMax = options.memoryBytesMax ?? DEFAULT_MEMORY_BYTES_MAX
    const lanes: Array<Slot['lane']> = [
      'urgent',
      ...Array<Lane>(options.textThreads).fill('text'),
      ...Array<Lane>(options.ocrThreads).fill('ocr'),
    ]
    this.#slots = lanes.map((lane, number) => ({
      number,
      lane,
      thread: undefined,
      isTaken: false,
      running: undefined,
      ocrPages: 0,
    }))
  }

  /** Tasks that a lane can run at one time. */
  threads(lane: Lane): number {
    return this.#slots.filter((slot) => slot.lane === lane).length
  }

  /** Starts the threads of a lane, so that their modules load while the caller does something else. */
  warm(lane: Lane): void {
    for (const slot of this.#slots)
      if (slot.lane === lane) slot.thread ??= this.#newThread(slot.number)
  }

  /**
   * Runs one task on the next free thread of its lane; waits for one, and for memory.
   *
   * @param onAnswer called for each finished item, in order, some of them before the task ends
   * @param signal ends the task; the item in work is then `interrupted`
   * @param isolated in a process of its own, for what may end the process; so is any task while this process
   *   is crowded by what its threads have left behind
   * @returns what ended the task early, or undefined when every item was answered
   * @throws what `onAnswer` threw, and nothing else; the task is then ended
   */
  async run<T extends Task>(
    task: T,
    onAnswer: (item: number, answer: Answers[T['kind']] | Threw) => void,
    signal?: AbortSignal,
    isolated = false,
  ): Promise<Fault | undefined> {
    const free = await this.#free(laneOf(task), isolated ? WALLS.aloneBytes : 0, signal)
    if (!free) return { kind: 'interrupted', item: 'preparing', detail: 'stopped' }
    const { slot } = free
    // Measured: 61 hostile mails left 700 MB in a process whose threads were all replaced (freed memory that
    // the allocator keeps), and every later attachment was ended at the mark for it.
    const held = heldBytes()
    if (isolated || free.isElsewhere || held > this.#memoryBytesMax * WALLS.crowdedShare) {
      try {
        return await this.#runElsewhere(slot, task, onAnswer, isolated, signal)
      } finally {
        this.#release(slot)
      }
    }

    const { port1, port2 } = new MessageChannel()
    const progress = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
    const running: Running = {
      task,
      port: port1,
      progress: new Int32Array(progress),
      stage: NOT_BEGUN,
      stageBegan: performance.now(),
      stageRss: heldBytes(),
      end: new AbortController(),
      onReply: (reply) => {
        if (running.thrown) return
        try {
          if ('threw' in reply) {
            const { item, ...threw } = reply
            onAnswer(item, threw)
          } else {
            slot.ocrPages += ocrPagesOf(reply.answer)
            onAnswer(reply.item, reply.answer as Answers[T['kind']])
          }
        } catch (error) {
          running.thrown = { error }
          this.#end(slot, 'interrupted', 'stopped')
        }
      },
    }
    slot.running = running
    this.#startClock()
    const interrupt = (): void => this.#end(slot, 'interrupted', 'stopped')
    signal?.addEventListener('abort', interrupt, { once: true })

    slot.thread ??= this.#newThread(slot.number)
    const [worker] = slot.thread.threads
    let onExit = (): void => {}
    const exit =
      worker &&
      new Promise<void>((resolve) => {
        onExit = resolve
        worker.once('exit', onExit)
      })
    let fault: Fault | undefined
    try {
      const errand: Errand = { task, port: port2, progress }
      const report = (await slot.thread.run(errand, {
        transferList: [port2],
        signal: running.end.signal,
      })) as Report
      drain(running)
      if (
        report.suspect !== undefined ||
        report.heldBytes > WALLS.heldBytes ||
        slot.ocrPages >= WALLS.ocrPages
      )
        await this.#replace(slot)
    } catch (error) {
      // The thread is gone or going. Nothing is concluded from the error but its words: name and code do not survive a thread.
      if (exit && !(await within(exit, WALLS.endMs))) this.onStuck?.()
      drain(running)
      // What it started between the order to end and its end.
      endChild(running)
      const stage = Atomics.load(running.progress, 0)
      fault = running.fault ?? {
        kind: 'died',
        item: itemOf(stage),
        detail: error instanceof Error ? oneLine(error.message) : 'the thread ended',
      }
      await this.#replace(slot)
      this.#accountFor(slot)
    } finally {
      signal?.removeEventListener('abort', interrupt)
      worker?.off('exit', onExit)
      port1.close()
      slot.running = undefined
      this.#release(slot)
    }
    if (running.thrown) throw running.thrown.error
    return fault
  }

  /** In a process of its own. */
  async #runElsewhere<T extends Task>(
    slot: Slot,
    task: T,
    onAnswer: (item: number, answer: Answers[T['kind']] | Threw) => void,
    isolated: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Fault | undefined> {
    this.#startClock()
    const { journalDirectory: _, ...options } = this.#options
    const isAmongOthers = this.#slots.some((other) => other !== slot && other.isTaken)
    const least = isAmongOthers && !isolated ? WALLS.besideBytes : WALLS.aloneBytes
    const mark = Math.min(this.#memoryBytesMax, Math.max(least, this.#bytesLeft()))
    const beside: { pid: number | undefined; mark: number } = { pid: undefined, mark }
    this.#beside.set(slot, beside)
    try {
      const fault = await runQuarantined(
        { ...options, memoryBytesMax: mark },
        task,
        onAnswer as Parameters<typeof runQuarantined>[2],
        this.#stopped(signal),
        (pid) => (beside.pid = pid),
      )
      return (
        fault && { ...fault, isAlone: mark >= Math.min(WALLS.aloneBytes, this.#memoryBytesMax) }
      )
    } finally {
      this.#beside.delete(slot)
    }
  }

  #startClock(): void {
    this.#clock ??= setInterval(() => this.#look(), WALLS.tickMs)
  }

  #release(slot: Slot): void {
    slot.isTaken = false
    if (this.#clock && this.#slots.every((other) => !other.isTaken)) {
      clearInterval(this.#clock)
      this.#clock = undefined
    }
    this.#wake()
  }

  #stopped(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
  }

  /** Ends the processes that recognise pages for its threads: for the last moment of this process. */
  endChildren(): void {
    for (const { running } of this.#slots) if (running) endChild(running)
  }

  /** Ends every running task as `interrupted` and every thread. Nothing is left that keeps the process alive. */
  async close(): Promise<void> {
    this.#closed = true
    this.#closing.abort()
    for (const slot of this.#slots) this.#end(slot, 'interrupted', 'stopped')
    this.#wake()
    await Promise.all(this.#slots.map((slot) => this.#replace(slot)))
    for (const slot of this.#slots) this.#accountFor(slot)
    clearInterval(this.#clock)
    this.#clock = undefined
  }

  /**
   * A slot for the caller alone, and whether memory forbids to use its thread; undefined when the pool or the caller stopped.
   * @param bytes that must be left for a process of its own
   */
  async #free(
    lane: Slot['lane'],
    bytes: number,
    signal: AbortSignal | undefined,
  ): Promise<{ slot: Slot; isElsewhere: boolean } | undefined> {
    const began = performance.now()
    for (;;) {
      if (this.#closed || signal?.aborted) return undefined
      const slot = this.#slots.find((candidate) => candidate.lane === lane && !candidate.isTaken)
      if (slot) {
        slot.isTaken = true
        if (!this.#isFull() && this.#bytesLeft() >= bytes) return { slot, isElsewhere: false }
        await Promise.all([
          this.#replace(slot),
          ...this.#slots.filter((other) => !other.isTaken).map((other) => this.#replace(other)),
        ])
        // With every thread gone what is held is not theirs, and waiting would be for nothing.
        if (
          (!this.#isFull() && this.#bytesLeft() >= bytes) ||
          this.#slots.every((other) => other === slot || !other.isTaken)
        )
          return { slot, isElsewhere: false }
        // One long reading (a document of many pages) must not keep the others waiting for its memory.
        if (bytes === 0 && this.#mayLend() && performance.now() - began > WALLS.waitMs)
          return { slot, isElsewhere: true }
        slot.isTaken = false
      }
      let proceed = (): void => {}
      await new Promise<void>((resolve) => {
        proceed = resolve
        this.#waiting.push(proceed)
        signal?.addEventListener('abort', proceed, { once: true })
      })
      signal?.removeEventListener('abort', proceed)
    }
  }

  #isFull(): boolean {
    const rss = heldBytes()
    return (
      rss > this.#memoryBytesMax * WALLS.feedShare ||
      rss + this.#besideBytes() > this.#memoryBytesMax * WALLS.endShare
    )
  }

  /** What the processes beside this one hold; half their marks where that cannot be known. */
  #besideBytes(): number {
    let bytes = 0
    for (const { pid, mark } of this.#beside.values()) bytes += residentBytes(pid) ?? mark / 2
    return bytes
  }

  /** Bytes that one more process may hold beside this one. */
  #bytesLeft(): number {
    const held = heldBytes() + this.#besideBytes()
    return Math.floor(this.#memoryBytesMax * WALLS.togetherShare - held)
  }

  #mayLend(): boolean {
    return this.#beside.size < WALLS.besideMost && this.#bytesLeft() > WALLS.besideBytes
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #newThread(number: number): Piscina {
    const { settings, keepTexts = false, journalDirectory } = this.#options
    const faults = this.#options.faults ?? process.env.PAPERKNIFE_FAULTS
    const workerData: ThreadSettings = {
      settings,
      keepTexts,
      ...(journalDirectory !== undefined && {
        journal: { directory: journalDirectory, thread: number },
      }),
      ...(faults && { faults }),
    }
    const thread = new Piscina({
      filename: builtFile('workers/task.js'),
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Infinity,
      recordTiming: false,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: WALLS.heapMb },
      // Built files need no loader of the host's (tsx, for one, made reading PDFs half as fast), and no debugger.
      execArgv: [],
    })
    // An idle thread that dies raises this; the next task finds out and gets a new thread.
    thread.on('error', () => {})
    return thread
  }

  /** The thread is gone and what it had in work is known: should this process die now, it is not to blame. */
  #accountFor(slot: Slot): void {
    const { journalDirectory } = this.#options
    if (journalDirectory !== undefined) forgetJournal(journalDirectory, slot.number)
  }

  async #replace(slot: Slot): Promise<void> {
    const { thread } = slot
    if (!thread) return
    slot.thread = undefined
    slot.ocrPages = 0
    if (!(await within(thread.destroy(), WALLS.endMs))) this.onStuck?.()
  }

  #end(slot: Slot, kind: Fault['kind'], detail: string): void {
    const { running } = slot
    if (!running || running.fault) return
    running.fault = { kind, item: itemOf(Atomics.load(running.progress, 0)), detail }
    running.end.abort()
    endChild(running)
  }

  /** The clock's work: collects answers, measures items, guards memory. */
  #look(): void {
    const now = performance.now()
    const rss = heldBytes()
    for (const slot of this.#slots) {
      const { running } = slot
      if (!running || running.fault) continue
      const stage = Atomics.load(running.progress, 0)
      drain(running)
      if (stage !== running.stage) {
        running.stage = stage
        running.stageBegan = now
        running.stageRss = rss
        continue
      }
      const limitMs = stageMs(running.task, stage, this.#options.settings.limits)
      if (now - running.stageBegan > limitMs) this.#end(slot, 'timeout', `over ${limitMs} ms`)
    }
    const together = rss + this.#besideBytes()
    if (
      rss > this.#memoryBytesMax * WALLS.endShare ||
      together > this.#memoryBytesMax * WALLS.togetherShare
    )
      this.#endGreediest(rss)
    else if (this.#waiting.length > 0 && (!this.#isFull() || this.#mayLend())) this.#wake()
  }

  /** Of the items in work, ends the one during which the process grew most; of equals the youngest. */
  #endGreediest(rss: number): void {
    // One at a time: its memory is given back only when the thread is gone.
    if (this.#slots.some((slot) => slot.running?.fault)) return
    const [greediest] = this.#slots
      .filter((slot) => slot.running)
      .sort((a, b) => {
        const [left, right] = [a.running as Running, b.running as Running]
        const growth = right.stageRss - left.stageRss
        return Math.abs(growth) > 50_000_000 ? -growth : right.stageBegan - left.stageBegan
      })
    if (greediest) this.#end(greediest, 'memory', `the process held ${Math.round(rss / 1e6)} MB`)
  }
}

function ocrPagesOf(answer: Answers[Task['kind']]): number {
  const result = 'result' in answer ? answer.result : 'outcome' in answer ? answer : undefined
  return (result?.outcome.kind === 'text' && result.outcome.ocrPages) || 0
}

function laneOf(task: Task): Slot['lane'] {
  if (task.kind === 'parse') return task.urgent ? 'urgent' : 'text'
  return task.lane
}

function itemOf(stage: number): number | 'preparing' {
  return stage >= FIRST_ITEM ? stage - FIRST_ITEM : 'preparing'
}

function stageMs(task: Task, stage: number, limits: Limits): number {
  if (stage === NOT_BEGUN) return WALLS.startMs
  if (stage === PREPARING || task.kind === 'parse') return limits.parseTimeoutMs
  const oneMs = task.lane === 'ocr' ? limits.documentTimeoutMs : limits.textTimeoutMs
  return task.kind === 'refold' ? oneMs * Math.max(1, task.hashes.length) : oneMs
}

/** Ends the process that recognises a page for a thread which is ended. */
function endChild({ progress }: Running): void {
  const pid = Atomics.exchange(progress, 1, 0)
  if (pid === 0) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It had ended by itself.
  }
}

/** Takes what has arrived on a task's port, without waiting; works on a dead thread's port too. */
function drain(running: Running): void {
  for (;;) {
    const received = receiveMessageOnPort(running.port) as { message: Reply } | undefined
    if (!received) return
    running.onReply(received.message)
  }
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 200)
}

/** @returns whether the promise settled in time; a timer that keeps the process alive until then */
async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms)
  })
  try {
    return (await Promise.race([promise, late])) !== 'late'
  } finally {
    clearTimeout(timer)
  }
}
