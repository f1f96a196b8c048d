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
import { child as recognising } from '../extract/ocr/child.js'
import type { Document } from '../extract/read.js'
import type { Lane } from '../part/states.js'
import {
  FIRST_ITEM,
  PREPARING,
  type Answers,
  type Errand,
  type ExtractedContent,
  type Reply,
  type Report,
  type Task,
  type ThreadSettings,
} from './messages.js'
import { packPages } from '../fold/texts.js'
import { Journal } from './journal.js'
import { heldByThread } from './memory.js'
import { parseMessageAt, partsOf, refoldMessageAt, type DuePart } from './parse.js'
import type { UnreadMessage } from './parsed.js'

/** What a module of faults (tests only) must export as default. */
export interface Faults {
  /** The extractor to use in place of the table's, or undefined. */
  extractorFor(document: Document): Extractor | undefined
  /** Called before a message is parsed, whole. */
  beforeParse?(path: string): void
}

// Piscina hands on what the pool gave as workerData.
const threadSettings = givenSettings()
const { settings, faults: faultsModule } = threadSettings
const journal =
  threadSettings.journal &&
  new Journal(threadSettings.journal.directory, threadSettings.journal.thread)
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
  recognising.onChange = (pid) => Atomics.store(at, 1, pid)
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
      for (const [index, reference] of task.references.entries()) {
        const { path, offset } = reference
        journal?.begin({ path, ...(offset !== undefined && { offset }) })
        await item(index, async () => {
          if (!task.headOnly) faults?.beforeParse?.(path)
          return parseMessageAt(task.vault, reference, threadSettings, task)
        })
      }
      break
    case 'extract': {
      const { vault, reference, hashes, lane } = task
      let due: Map<string, DuePart> | UnreadMessage
      // While the message is parsed its first due content stands for all.
      journal?.begin({ hash: hashes[0] as string })
      try {
        due = await partsOf(vault, reference, new Set(hashes), threadSettings)
      } catch (error) {
        for (const index of hashes.keys()) port.postMessage(threw(index, error))
        break
      }
      for (const [index, hash] of hashes.entries()) {
        journal?.begin({ hash })
        await item(index, async () => {
          if (!(due instanceof Map)) return due
          const part = due.get(hash)
          due.delete(hash)
          if (!part) return { kind: 'gone', detail: 'the message no longer holds this content' }
          const recognised = task.recognised?.[hash]
          return extract({ ...part, ...(recognised && { recognised }) }, lane)
        })
      }
      break
    }
    case 'refold':
      await item(0, () =>
        refoldMessageAt(task.vault, task.reference, new Set(task.hashes), threadSettings, (part) =>
          read(part, task.lane),
        ),
      )
      break
    case 'document':
      await item(0, () => readFileOnDisk(task.file, task.lane))
      break
  }
  // Callbacks that the last item left for the next turn belong to this task.
  await new Promise((resolve) => setImmediate(resolve))
  journal?.end()
  port.close()
  return { heldBytes: heldByThread(), ...(suspect !== undefined && { suspect }) }
}

function threw(item: number, error: unknown): Reply {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return { item, threw: said(error), ...(typeof code === 'string' && { code }) }
}

/** A module that could not be loaded stays so in this thread: the next task is to have another. */
function halfLoaded(error: unknown): never {
  suspect = said(error)
  throw error
}

async function read(document: Document, lane: Lane): Promise<ReadResult> {
  // Threads that parse mail start without it.
  const { readDocument } = await import('../extract/read.js').catch(halfLoaded)
  return readDocument(document, settings, lane, faults?.extractorFor(document))
}

async function extract({ bytes, size, ...about }: DuePart, lane: Lane): Promise<ExtractedContent> {
  if (!bytes)
    return {
      kind: 'extracted',
      result: tooLarge(size, about.declaredType ?? ''),
      text: [],
      chars: 0,
    }
  const result = await read({ ...about, bytes }, lane)
  const { outcome } = result
  if (outcome.kind === 'declined') return { kind: 'extracted', result, text: [], chars: 0 }
  return {
    kind: 'extracted',
    result: { ...result, outcome: { ...outcome, pages: [] } },
    text: threadSettings.keepTexts ? packPages(outcome.pages) : [],
    chars: outcome.pages.reduce((chars, page) => chars + page.text.length, 0),
  }
}

async function readFileOnDisk(file: string, lane: Lane): Promise<ReadResult> {
  const about = await stat(file)
  // Opening a pipe would wait for a writer, and nothing ends a thread that waits in the system.
  if (!about.isFile()) throw Object.assign(new Error('not a file'), { code: 'EINVAL' })
  const { size } = about
  if (size > settings.limits.partBytes) return tooLarge(size, 'application/octet-stream')
  return read({ bytes: await readFile(file), name: basename(file) }, lane)
}

/** Declined by its size, which is known without reading. */
function tooLarge(size: number, type: string): ReadResult {
  const detail = `${size} bytes, limit ${settings.limits.partBytes}`
  return { outcome: { kind: 'declined', state: 'too-large', detail }, type, ms: 0 }
}

function givenSettings(): ThreadSettings {
  const given = workerData as ThreadSettings | [unknown, ThreadSettings]
  return Array.isArray(given) ? given[1] : given
}

function said(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 200)
}
