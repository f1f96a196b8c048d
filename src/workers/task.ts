/**
 * The thread side: does one task and answers item by item. The default export is piscina's contract.
 *
 * What goes wrong inside an item ends that item; what goes wrong outside every item (a timer that a
 * finished reading left behind) makes the thread suspect, and the pool replaces it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { workerData } from 'node:worker_threads'
import type { ReadResult } from '../part/outcome.js'
import type { Extractor } from '../extract/extractor.js'
import { readDocument, type Document } from '../extract/read.js'
import type { Lane } from '../part/states.js'
import {
  FIRST_ITEM,
  PREPARING,
  type Answers,
  type Errand,
  type Reply,
  type Report,
  type Task,
  type ThreadSettings,
} from './messages.js'
import { parseMessageAt, partsOf } from './parse.js'

/** What a module of faults (tests only) must export as default. */
export interface Faults {
  /** The extractor to use in place of the table's, or undefined. */
  extractorFor(document: Document): Extractor | undefined
}

// Piscina hands on what the pool gave as workerData.
const { settings, faults: faultsModule } = threadSettings()
const faults = faultsModule
  ? ((await import(pathToFileURL(faultsModule).href)) as { default: Faults }).default
  : undefined

// Libraries that print must not reach the host's output, nor fill its memory.
process.stdout.write = process.stderr.write = (
  _chunk: unknown,
  encoding?: unknown,
  done?: unknown,
): boolean => {
  const callback = typeof encoding === 'function' ? encoding : done
  if (typeof callback === 'function') queueMicrotask(callback as () => void)
  return true
}

interface Item {
  fail: (error: unknown) => void
  isDone: boolean
}
const inWork = new AsyncLocalStorage<Item>()
let current: Item | undefined
let suspect: string | undefined

// An error thrown from a callback reaches no promise: the item it belongs to would wait for its deadline.
function onStray(error: unknown): void {
  const item = inWork.getStore() ?? current
  if (item && !item.isDone) item.fail(error)
  else suspect = said(error)
}
process.on('uncaughtException', onStray)
process.on('unhandledRejection', onStray)

export default async function perform({ task, port, progress }: Errand): Promise<Report> {
  const at = new Int32Array(progress)
  suspect = undefined

  /** Does one item under the task's clock and answers it. */
  async function item(index: number, work: () => Promise<Answers[Task['kind']]>): Promise<void> {
    Atomics.store(at, 0, FIRST_ITEM + index)
    try {
      const answer = await new Promise<Answers[Task['kind']]>((resolve, reject) => {
        current = { fail: reject, isDone: false }
        inWork.run(current, () => {
          work().then(resolve, reject)
        })
      })
      port.postMessage({ item: index, answer })
    } catch (error) {
      port.postMessage(threw(index, error))
    } finally {
      if (current) current.isDone = true
      current = undefined
    }
  }

  Atomics.store(at, 0, PREPARING)
  switch (task.kind) {
    case 'parse':
      for (const [index, reference] of task.references.entries())
        await item(index, () => parseMessageAt(task.vault, reference, settings.limits))
      break
    case 'extract': {
      let due: Map<string, Document>
      try {
        due = await partsOf(task.vault, task.reference, new Set(task.hashes), settings.limits)
      } catch (error) {
        for (const index of task.hashes.keys()) port.postMessage(threw(index, error))
        break
      }
      for (const [index, hash] of task.hashes.entries())
        await item(index, async () => {
          const document = due.get(hash)
          due.delete(hash)
          if (!document) throw new Error('the message no longer holds this content')
          return read(document, task.lane)
        })
      break
    }
    case 'document':
      await item(0, () => readFileOnDisk(task.file, task.lane))
      break
  }
  // Callbacks that the last item left for the next turn belong to this task.
  await new Promise((resolve) => setImmediate(resolve))
  port.close()
  const { heapUsed, external } = process.memoryUsage()
  return { heldBytes: heapUsed + external, ...(suspect !== undefined && { suspect }) }
}

function threw(item: number, error: unknown): Reply {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return { item, threw: said(error), ...(typeof code === 'string' && { code }) }
}

function read(document: Document, lane: Lane): Promise<ReadResult> {
  return readDocument(document, settings, lane, faults?.extractorFor(document))
}

async function readFileOnDisk(file: string, lane: Lane): Promise<ReadResult> {
  const { size } = await stat(file)
  const { partBytes } = settings.limits
  // A file over the limit is declined by its size; only what names its type is read.
  if (size > partBytes) {
    const began = performance.now()
    return {
      outcome: {
        kind: 'declined',
        state: 'too-large',
        detail: `${size} bytes, limit ${partBytes}`,
      },
      type: 'application/octet-stream',
      ms: performance.now() - began,
    }
  }
  return read({ bytes: await readFile(file), name: basename(file) }, lane)
}

function threadSettings(): ThreadSettings {
  const given = workerData as ThreadSettings | [unknown, ThreadSettings]
  return Array.isArray(given) ? given[1] : given
}

function said(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 200)
}
