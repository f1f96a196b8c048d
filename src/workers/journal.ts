/**
 * What each thread had in hand, in a small file that outlives the process.
 *
 * A process that dies of a document (a crash in native code, the system's memory killer) cannot say
 * which. One file a thread names the item in work, written before it is begun and emptied after the
 * task: at the next start it is known who did it, and nobody else pays for it. Only a help: where it
 * cannot be written (a full disk), work goes on without it.
 */
import { ftruncateSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A message being parsed, or a content being read. */
export type InWork = { path: string; offset?: number } | { hash: string }

const fileOf = (directory: string, thread: number): string => join(directory, `work-${thread}`)

/** The thread's own hand on its file. */
export class Journal {
  readonly #file: number | undefined
  #written = 0

  /**
   * @param directory folder of the index
   * @param thread number of the thread in its pool
   */
  constructor(directory: string, thread: number) {
    this.#file = attempt(() => openSync(fileOf(directory, thread), 'w', 0o600))
  }

  begin(item: InWork): void {
    const file = this.#file
    if (file === undefined) return
    const line = JSON.stringify(item)
    // Spaces over what a longer line left behind: one call, and never half of two lines.
    this.#written = Math.max(this.#written, Buffer.byteLength(line))
    attempt(() => writeSync(file, line.padEnd(this.#written), 0))
  }

  /** Nothing is in work. */
  end(): void {
    const file = this.#file
    if (file !== undefined) attempt(() => ftruncateSync(file, 0))
    this.#written = 0
  }
}

function attempt<T>(write: () => T): T | undefined {
  try {
    return write()
  } catch {
    return undefined
  }
}

/** The main side's word that a thread's item is accounted for. */
export function forgetJournal(directory: string, thread: number): void {
  attempt(() => rmSync(fileOf(directory, thread), { force: true }))
}

/** What was in work when an earlier process died, with the number of its thread. */
export function readJournals(directory: string): Array<{ thread: number; item: InWork }> {
  const found: Array<{ thread: number; item: InWork }> = []
  for (const name of readdirSync(directory)) {
    const thread = /^work-(\d+)$/.exec(name)?.[1]
    if (thread === undefined) continue
    try {
      const item = JSON.parse(readFileSync(join(directory, name), 'utf8')) as InWork
      found.push({ thread: Number(thread), item })
    } catch {
      // Empty: nothing was in work. Torn: it was hardly begun.
    }
  }
  return found
}
