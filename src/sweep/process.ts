/**
 * A Sweeper in a process of its own, seen from the host. What happens to that process (memory, a crash
 * in native code, a kill) happens to it alone: it is started again and the calls it had are made again,
 * which goes on from what was recorded.
 *
 * Not responsible for: what a sweep does (sweep.ts), the other end (child.ts).
 */
import type { ChildProcess } from 'node:child_process'
import { PipelineError, type ErrorCode } from '../part/errors.js'
import type { Settings } from '../part/options.js'
import { forked } from '../workers/forked.js'
import type { Place } from './place.js'
import type { Call, Results, Sweeping } from './sweeping.js'
import type { Progress } from './sweep.js'

interface Plain {
  code?: string
  message: string
}

export type ToChild =
  | { kind: 'open'; place: Place; settings: Settings }
  | { kind: 'call'; id: number; call: Call }
  | { kind: 'abort'; id: number }
  | { kind: 'pause' }
  | { kind: 'resume' }
  | { kind: 'attachments'; value: 'on' | 'off' }
  | { kind: 'close' }

export type FromChild =
  | { kind: 'opened' }
  | { kind: 'failed'; error: Plain }
  | { kind: 'progress'; id: number; progress: Progress }
  | { kind: 'done'; id: number; value: unknown }
  | { kind: 'threw'; id: number; error: Plain }

interface Open {
  call: Call
  resolve: (value: unknown) => void
  reject: (error: Error) => void
  onProgress: ((progress: Progress) => void) | undefined
  signal: AbortSignal | undefined
  /** Takes the listener off the signal, which may live as long as the host. */
  release: () => void
}

const RESTART = {
  /** A process that lived longer than this did some work: its death is no sign that it cannot start. */
  livedMs: 1_000,
  /** Deaths in a row, each soon after the start, before the calls are given up. */
  most: 5,
  pauseMs: 200,
  /** Time for a process to close by itself. */
  closeMs: 20_000,
} as const

export class SweepProcess implements Sweeping {
  readonly #place: Place
  readonly #settings: Settings
  readonly #calls = new Map<number, Open>()
  #child: ChildProcess | undefined
  #isReady = false
  #isPaused = false
  #attachments: 'on' | 'off' | undefined
  #isClosing = false
  #startedMs = 0
  #earlyDeaths = 0
  #nextId = 1

  constructor(place: Place, settings: Settings) {
    this.#place = place
    this.#settings = settings
  }

  /** Id of the process, when it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  perform<N extends Call['name']>(
    call: Extract<Call, { name: N }>,
    signal?: AbortSignal,
    onProgress?: (progress: Progress) => void,
  ): Promise<Results[N]> {
    if (this.#isClosing) return Promise.reject(new Error('the vault is closed'))
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      const abort = (): void => this.#tell({ kind: 'abort', id })
      signal?.addEventListener('abort', abort, { once: true })
      this.#calls.set(id, {
        call,
        resolve: resolve as (value: unknown) => void,
        reject,
        onProgress,
        signal,
        release: () => signal?.removeEventListener('abort', abort),
      })
      if (!this.#child) this.#start()
      this.#child?.ref()
      this.#child?.channel?.ref()
      if (this.#isReady) this.#send(id, call, signal)
    })
  }

  pause(): void {
    this.#isPaused = true
    this.#tell({ kind: 'pause' })
  }

  resume(): void {
    this.#isPaused = false
    this.#tell({ kind: 'resume' })
  }

  setAttachments(value: 'on' | 'off'): void {
    this.#attachments = value
    this.#tell({ kind: 'attachments', value })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    this.#tell({ kind: 'close' })
    const late = setTimeout(() => child.kill('SIGKILL'), RESTART.closeMs)
    await exit
    clearTimeout(late)
  }

  #start(): void {
    this.#isReady = false
    this.#startedMs = performance.now()
    const child = forked('sweep/child.js', ({ message }) => this.#onExit(message))
    if (!child) return
    this.#child = child
    child.on('message', (message: FromChild) => this.#hear(message))
    child.on('exit', (code, signal) => this.#onExit(signal ?? `exit code ${code}`))
    this.#tell({
      kind: 'open',
      place: this.#place,
      settings: this.#settings,
    })
  }

  #tell(message: ToChild): void {
    if (this.#child?.connected) this.#child.send(message, () => {})
  }

  #send(id: number, call: Call, signal: AbortSignal | undefined): void {
    this.#tell({ kind: 'call', id, call })
    if (signal?.aborted) this.#tell({ kind: 'abort', id })
  }

  #hear(message: FromChild): void {
    switch (message.kind) {
      case 'opened':
        this.#isReady = true
        if (this.#isPaused) this.#tell({ kind: 'pause' })
        if (this.#attachments) this.#tell({ kind: 'attachments', value: this.#attachments })
        for (const [id, { call, signal }] of this.#calls) this.#send(id, call, signal)
        break
      case 'failed':
        this.#rejectAll(revived(message.error))
        this.#child?.kill()
        break
      case 'progress':
        this.#calls.get(message.id)?.onProgress?.(message.progress)
        break
      case 'done':
        this.#finish(message.id)?.resolve(message.value)
        break
      case 'threw':
        this.#finish(message.id)?.reject(revived(message.error))
        break
    }
  }

  #finish(id: number): Open | undefined {
    const open = this.#calls.get(id)
    open?.release()
    this.#calls.delete(id)
    this.#earlyDeaths = 0
    if (this.#calls.size === 0) this.#letGo()
    return open
  }

  /** With nothing to do the process does not keep its host alive. */
  #letGo(): void {
    this.#child?.unref()
    this.#child?.channel?.unref()
  }

  #onExit(how: string): void {
    const lived = performance.now() - this.#startedMs
    this.#child = undefined
    this.#isReady = false
    if (this.#isClosing) {
      this.#rejectAll(new Error('the vault is closed'))
      return
    }
    if (this.#calls.size === 0) return
    this.#earlyDeaths = lived < RESTART.livedMs ? this.#earlyDeaths + 1 : 0
    if (this.#earlyDeaths >= RESTART.most) {
      this.#earlyDeaths = 0
      this.#rejectAll(
        new Error(`the sweeping process ended ${RESTART.most} times in a row (${how})`),
      )
      return
    }
    setTimeout(() => {
      if (!this.#isClosing && !this.#child && this.#calls.size > 0) this.#start()
    }, RESTART.pauseMs)
  }

  #rejectAll(error: Error): void {
    const open = [...this.#calls.values()]
    this.#calls.clear()
    this.#letGo()
    for (const { release, reject } of open) {
      release()
      reject(error)
    }
  }
}

function revived({ code, message }: Plain): Error {
  return code === undefined ? new Error(message) : new PipelineError(code as ErrorCode, message)
}
