/**
 * The process that sweeps for a host: a Sweeper at the end of a channel. The other end is process.ts.
 *
 * It lives as long as its host: a channel that closes ends it, cleanly.
 */
import { constants, setPriority } from 'node:os'
import type { Settings } from '../part/options.js'
import { PipelineError } from '../part/errors.js'
import { heldBytes } from '../workers/memory.js'
import { Sweeper } from './sweep.js'
import type { Place } from './place.js'
import type { FromChild, ToChild } from './process.js'
import type { Call } from './sweeping.js'

/** Looks at the memory that ending threads does not give back. */
const WATCH = { everyMs: 1_000, times: 5, share: 1.1 } as const

// Whatever a document does to the processor, the host comes first.
try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch {
  // Where that is not allowed both have the same share.
}

let sweeper: Sweeper | undefined
const running = new Map<number, AbortController>()

function tell(message: FromChild): void {
  if (process.connected) process.send?.(message)
}

async function perform(id: number, call: Call): Promise<void> {
  const stop = new AbortController()
  running.set(id, stop)
  try {
    if (!sweeper) throw new Error('not opened')
    const value = await sweeper.perform(call, stop.signal, (progress) =>
      tell({ kind: 'progress', id, progress }),
    )
    tell({ kind: 'done', id, value })
  } catch (error) {
    tell({ kind: 'threw', id, error: plain(error) })
  } finally {
    running.delete(id)
  }
}

async function stop(): Promise<void> {
  for (const controller of running.values()) controller.abort()
  while (running.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await sweeper?.close()
  process.exit(0)
}

function open(place: Place, settings: Settings): void {
  try {
    sweeper = new Sweeper(place, settings)
    // A thread that cannot be ended, or memory that no thread holds: only the end of the process helps.
    // The host starts another one, which goes on from what is recorded.
    sweeper.pool.onStuck = leave
    watchMemory(settings.memoryBytesMax)
    tell({ kind: 'opened' })
  } catch (error) {
    tell({ kind: 'failed', error: plain(error) })
  }
}

function leave(): never {
  sweeper?.pool.endChildren()
  process.exit(70)
}

function watchMemory(memoryBytesMax: number): void {
  let times = 0
  setInterval(() => {
    times = heldBytes() > memoryBytesMax * WATCH.share ? times + 1 : 0
    if (times >= WATCH.times) leave()
  }, WATCH.everyMs).unref()
}

function plain(error: unknown): { code?: string; message: string } {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof PipelineError ? { code: error.code, message } : { message }
}

process.on('message', (message: ToChild) => {
  switch (message.kind) {
    case 'open':
      open(message.place, message.settings)
      break
    case 'call':
      void perform(message.id, message.call)
      break
    case 'abort':
      running.get(message.id)?.abort()
      break
    case 'pause':
      sweeper?.pause()
      break
    case 'resume':
      sweeper?.resume()
      break
    case 'attachments':
      sweeper?.setAttachments(message.value)
      break
    case 'close':
      void stop()
      break
  }
})
process.on('disconnect', () => void stop())
// A terminal sends these to the whole group; the host decides.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => void stop())
