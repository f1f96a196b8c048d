/**
 * Reads files on disk that lie in no vault: the text lane first, then the OCR lane for those with
 * pages of pixels. No index, no states kept; a second try only for want of memory.
 */
import { setMaxListeners } from 'node:events'
import type { ReadResult } from '../part/outcome.js'
import type { ReadSettings } from '../part/settings.js'
import type { ContentState, Lane } from '../part/states.js'
import { DEFAULT_OCR_THREADS, WorkerPool } from './pool.js'

/** What became of one file. */
export interface DocumentReading {
  file: string
  state: Exclude<ContentState, 'pending' | 'extracting' | 'gave-up'>
  /** Why there is no text (one of EMPTY_REASONS), or the kind of fault: `timeout`, `memory`, `died`, `unreadable`. */
  reason?: string
  /** One sentence: what was declined, or what could not be read of it. */
  detail?: string
  /** Absent when nothing was read. Stands beside a fault when the text was read and the OCR failed. */
  result?: ReadResult
}

const AHEAD = {
  /** Files handed to the pool beyond its threads, so that none waits for us. */
  text: 2,
  /** Files that may wait for OCR with their text in hand. */
  ocr: 64,
} as const

/**
 * @param files paths, taken as threads become free
 * @param signal stops; files that are not done by then are not given
 * @returns a reading for each file, in the order they are done
 */
export async function* readDocuments(
  files: Iterable<string> | AsyncIterable<string>,
  settings: ReadSettings & { readonly workers: number; readonly memoryBytesMax: number },
  signal?: AbortSignal,
): AsyncGenerator<DocumentReading> {
  // Every file that waits for a thread listens, and Node takes more than ten listeners for a leak.
  if (signal) setMaxListeners(0, signal)
  const pool = new WorkerPool({
    settings,
    textThreads: settings.workers,
    ocrThreads: settings.ocr === false ? 0 : DEFAULT_OCR_THREADS,
    memoryBytesMax: settings.memoryBytesMax,
  })
  const done: DocumentReading[] = []
  let reading = 0
  let recognising = 0
  let failure: unknown
  let changed = (): void => {}

  async function read(file: string): Promise<void> {
    reading++
    let text: DocumentReading | undefined
    try {
      text = await readOnce(pool, file, 'text', signal)
    } finally {
      reading--
      changed()
    }
    if (!text) return
    if (settings.ocr === false || !leavesPages(text.result)) {
      done.push(text)
      return
    }
    recognising++
    try {
      const whole = await readOnce(pool, file, 'ocr', signal)
      if (whole) done.push(whole.result ? whole : { ...text, ...whole })
    } finally {
      recognising--
      changed()
    }
  }

  async function* feed(): AsyncGenerator<string> {
    yield* files
  }
  const feeding = feed()
  let isFed = false
  let isAsking = false
  /** Asks for the next file without waiting: whoever names the files may be slow, and readings are given meanwhile. */
  function ask(): void {
    isAsking = true
    feeding
      .next()
      .then((next) => {
        if (next.done) isFed = true
        else read(next.value).catch((error: unknown) => (failure = error))
      })
      .catch((error: unknown) => (failure = error))
      .finally(() => {
        isAsking = false
        changed()
      })
  }

  const onAbort = (): void => changed()
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      yield* done.splice(0)
      if (failure !== undefined) throw failure
      if (signal?.aborted) return
      // Others may have been done while the caller looked at the last ones.
      if (done.length > 0) continue
      if (isFed && reading + recognising === 0) return
      const hasRoom = reading < settings.workers + AHEAD.text && recognising < AHEAD.ocr
      if (!isFed && !isAsking && hasRoom) ask()
      await new Promise<void>((resolve) => (changed = resolve))
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await pool.close()
  }
}

async function readOnce(
  pool: WorkerPool,
  file: string,
  lane: Lane,
  signal: AbortSignal | undefined,
  isAlone = false,
): Promise<DocumentReading | undefined> {
  let reading: DocumentReading | undefined
  const fault = await pool.run(
    { kind: 'document', file, lane },
    (_item, answer) => {
      reading =
        'threw' in answer
          ? {
              file,
              state: 'failed-transient',
              reason: answer.code === undefined ? 'died' : 'unreadable',
              detail: answer.threw,
            }
          : settledReading(file, answer)
    },
    signal,
    isAlone,
  )
  if (fault?.kind === 'interrupted') return undefined
  // What others left in the process may have filled it.
  if (fault?.kind === 'memory' && !fault.isAlone) return readOnce(pool, file, lane, signal, true)
  if (fault) return { file, state: 'failed-transient', reason: fault.kind, detail: fault.detail }
  return reading
}

function settledReading(file: string, result: ReadResult): DocumentReading {
  const { outcome } = result
  if (outcome.kind === 'declined')
    return { file, state: outcome.state, detail: outcome.detail, result }
  return {
    file,
    state: 'ok',
    ...(outcome.empty && { reason: outcome.empty }),
    ...(outcome.partial && { detail: outcome.partial }),
    result,
  }
}

function leavesPages(result: ReadResult | undefined): boolean {
  return result?.outcome.kind === 'text' && (result.outcome.pagesToOcr ?? 0) > 0
}
