/**
 * The way between the two halves of pdf.js in one thread. Its own way copies every message, which for the pieces of a page's text
 * is as much work as all that is done with them here; those are handed over as they are, everything else is copied.
 *
 * What a page brings is counted on the way: forms that draw forms make a thousand million operations of a few hundred bytes, and
 * pdf.js would hold all of them before it hands over the page.
 *
 * Not responsible for: what the halves say.
 */

/** What is heard of one page. A dense drawing holds a hundred thousand operations, a page of text some thousand pieces. */
export interface PageMost {
  operations: number
  pieces: number
}
const PAGE_MOST: PageMost = { operations: 200_000, pieces: 500_000 }

/** After so long the thread's clocks and messages get a turn: the halves alone would keep it to themselves. */
const TURN_MS = 100

/** pdf.js's numbers for what is said of a stream. */
const CANCEL = 1
const CLOSE = 3
const ENQUEUE = 4
/** Pieces that the reading half sends at most before it waits to be asked for more. */
const UNASKED = 100

interface Message {
  sourceName?: string
  targetName?: string
  stream?: number
  streamId?: number
  chunk?: { items?: unknown[]; styles?: unknown; fnArray?: unknown[]; lastChunk?: boolean }
  reason?: { name: string; message: string }
}

type Listener = (event: { data: unknown }) => void

/** One end: what is posted to it is heard at the other. The part of a MessagePort that pdf.js uses. */
class End {
  readonly #listeners = new Set<Listener>()
  #other: End | undefined
  readonly #post: (message: Message, send: (message: Message) => void) => void
  #waiting: unknown[] = []
  #turnBegan = performance.now()

  /** @param post decides about a message: sends it, another, or none */
  constructor(post: (message: Message, send: (message: Message) => void) => void) {
    this.#post = post
  }

  join(other: End): void {
    this.#other = other
  }

  postMessage(message: Message, transfer?: ArrayBuffer[]): void {
    this.#post(message, (own) => this.send(own, own === message ? transfer : undefined))
  }

  send(message: Message, transfer?: ArrayBuffer[]): void {
    this.#waiting.push(pieceOfText(message) ?? structuredClone(message, transfer && { transfer }))
    if (this.#waiting.length > 1) return
    // In the order of posting, and never inside the call.
    if (performance.now() - this.#turnBegan < TURN_MS) queueMicrotask(() => this.#arrive())
    else
      setImmediate(() => {
        this.#turnBegan = performance.now()
        this.#arrive()
      })
  }

  addEventListener(_: string, listener: Listener, options?: { signal?: AbortSignal }): void {
    this.#listeners.add(listener)
    options?.signal?.addEventListener('abort', () => this.#listeners.delete(listener))
  }

  removeEventListener(_: string, listener: Listener): void {
    this.#listeners.delete(listener)
  }

  #arrive(): void {
    const messages = this.#waiting
    this.#waiting = []
    for (const message of messages) this.#other?.hear(message)
  }

  hear(data: unknown): void {
    for (const listener of this.#listeners) listener.call(this, { data })
  }
}

/** A piece of `getTextContent`, which its sender empties afterwards and its hearer only reads; undefined for other messages. */
function pieceOfText(message: Message): unknown {
  const { chunk } = message
  return chunk?.items && chunk.styles ? { ...message, chunk: { ...chunk } } : undefined
}

interface WorkerSide {
  pdfjsWorker: { WorkerMessageHandler: { initializeFromPort(port: unknown): void } }
}

/** The half that reads, for one document. */
export interface WorkerHalf {
  /** Its types ask for a whole Worker. */
  port: never
  /** How often more came of a page than is heard. */
  cuts(): number
}

/** Starts it in this thread. */
export function workerHalf(most: PageMost = PAGE_MOST): WorkerHalf {
  /** Operations or pieces so far, by stream. */
  const counts = new Map<number, number>()
  /** Streams whose hearer was told that they are at their end, with what was sent after it. */
  const ended = new Map<number, number>()
  let cuts = 0

  const main = new End((message, send) => {
    if (message.streamId === undefined || !ended.has(message.streamId)) send(message)
  })
  const worker = new End((message, send) => {
    const { stream, streamId, chunk, sourceName, targetName } = message
    if (streamId === undefined || stream !== ENQUEUE || !chunk) {
      if (streamId === undefined || !ended.has(streamId)) send(message)
      if (streamId !== undefined && stream === CLOSE) counts.delete(streamId)
      return
    }
    const about = { streamId, sourceName, targetName } as Message
    const count = chunk.fnArray?.length ?? chunk.items?.length ?? 0
    const sent = ended.get(streamId)
    if (sent !== undefined) {
      ended.set(streamId, sent + count)
      // Nobody asks for more, so it waits at the next step, and gives up wherever it is when it is told so.
      if (sent < UNASKED && sent + count >= UNASKED) cancel(about)
      return
    }
    const all = (counts.get(streamId) ?? 0) + count
    counts.set(streamId, all)
    if (all <= (chunk.fnArray ? most.operations : most.pieces)) {
      send(message)
      return
    }
    cuts++
    counts.delete(streamId)
    ended.set(streamId, 0)
    if (chunk.fnArray) {
      chunk.lastChunk = true
      send(message)
      cancel(about)
    } else {
      send(message)
      send({ ...about, stream: CLOSE })
    }
  })
  const cancel = ({ streamId, sourceName, targetName }: Message): void =>
    main.send({
      streamId: streamId as number,
      sourceName: targetName as string,
      targetName: sourceName as string,
      stream: CANCEL,
      reason: { name: 'AbortException', message: 'enough' },
    })
  main.join(worker)
  worker.join(main)
  const { pdfjsWorker } = globalThis as unknown as WorkerSide
  pdfjsWorker.WorkerMessageHandler.initializeFromPort(worker)
  return {
    port: main as never,
    cuts: () => cuts,
  }
}
