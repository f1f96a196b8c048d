/**
 * The way between the two halves of pdf.js in one thread. Its own way copies every message, which for the pieces of a page's text
 * is as much work as all that is done with them here; those are handed over as they are, everything else is copied.
 *
 * Not responsible for: what the halves say.
 */

type Listener = (event: { data: unknown }) => void

/** One end: what is posted to it is heard at the other. The part of a MessagePort that pdf.js uses. */
class End {
  readonly #listeners = new Set<Listener>()
  readonly #other: () => End

  constructor(other: () => End) {
    this.#other = other
  }

  postMessage(message: unknown, transfer?: ArrayBuffer[]): void {
    const data = pieceOfText(message) ?? structuredClone(message, transfer && { transfer })
    // In the order of posting, and never inside the call.
    queueMicrotask(() => this.#other().#hear(data))
  }

  addEventListener(_: string, listener: Listener, options?: { signal?: AbortSignal }): void {
    this.#listeners.add(listener)
    options?.signal?.addEventListener('abort', () => this.#listeners.delete(listener))
  }

  removeEventListener(_: string, listener: Listener): void {
    this.#listeners.delete(listener)
  }

  #hear(data: unknown): void {
    for (const listener of this.#listeners) listener.call(this, { data })
  }
}

/** A piece of `getTextContent`, which its sender empties afterwards and its hearer only reads; undefined for other messages. */
function pieceOfText(message: unknown): unknown {
  const { chunk } = message as { chunk?: { items?: unknown; styles?: unknown } }
  return chunk?.items && chunk.styles ? { ...(message as object), chunk: { ...chunk } } : undefined
}

interface WorkerSide {
  pdfjsWorker: { WorkerMessageHandler: { initializeFromPort(port: unknown): void } }
}

/** Starts the half that reads, in this thread, for one document. @returns the port to it */
export function workerHalf(): never {
  const main: End = new End(() => worker)
  const worker: End = new End(() => main)
  const { pdfjsWorker } = globalThis as unknown as WorkerSide
  pdfjsWorker.WorkerMessageHandler.initializeFromPort(worker)
  return main as never // its types ask for a whole Worker
}
