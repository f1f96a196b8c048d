/**
 * Asks about an index: in its files when they can be opened, else the process that holds them alone, by its
 * socket (line.ts).
 */
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { DescribedMessage, Summary } from '../index/answers.js'
import type { Excerpt } from '../index/excerpts.js'
import type { Hit, SearchResult } from '../index/hits.js'
import { IndexReader, type Reader } from '../index/reader.js'
import type { SearchOptions } from '../index/search.js'
import { PipelineError, type ErrorCode } from '../part/errors.js'
import { isOurs, lineReader, socketPaths, type Ask, type Reply } from './line.js'
import { vaultMissing, type Place } from './place.js'

/** Characters of one answer at most. */
const ANSWER = 256_000_000
/** How long a socket is looked for while the one who holds the files is only just starting, or just ending. */
const BUSY = { forMs: 3_000, pauseMs: 250 } as const

export class VaultReader implements Reader {
  readonly #root: string
  readonly #directory: string
  readonly #files: IndexReader
  readonly #found = new WeakMap<Hit, { line: Line; place: readonly [search: number, at: number] }>()
  #line: Line | undefined
  #sockets: readonly string[] | undefined

  constructor({ root, directory, isExclusive }: Pick<Place, 'root' | 'directory' | 'isExclusive'>) {
    this.#root = root
    this.#directory = directory
    this.#files = new IndexReader(directory, isExclusive)
  }

  search(typed: string, options: SearchOptions): Promise<SearchResult> {
    return this.#ask(
      (files) => files.search(typed, options),
      async (line) => {
        const { now, ...plain } = options
        const { id, answer } = await line.ask<SearchResult>({
          ask: 'search',
          words: typed,
          options: { ...plain, ...(now && { now: now.toISOString() }) },
        })
        // JSON has no undefined.
        const result = { ...answer, count: answer.count }
        result.hits.forEach((hit, at) => this.#found.set(hit, { line, place: [id, at] }))
        return result
      },
    )
  }

  async excerpts(hits: readonly Hit[]): Promise<Excerpt[]> {
    const found = hits.map((hit) => this.#found.get(hit))
    const line = found[0]?.line
    if (!line?.isOpen || found.some((one) => one?.line !== line))
      return this.#ask(
        (files) => files.excerpts(hits),
        () => Promise.resolve(hits.map(bare)),
      )
    const places = found.map((one) => (one as { place: readonly [number, number] }).place)
    return (await line.ask<Excerpt[]>({ ask: 'excerpts', hits: places })).answer
  }

  describe(what: string): Promise<DescribedMessage[]> {
    return this.#ask(
      (files) => files.describe(what),
      async (line) => (await line.ask<DescribedMessage[]>({ ask: 'describe', what })).answer,
    )
  }

  summary(): Promise<Summary> {
    return this.#ask(
      (files) => files.summary(),
      async (line) => (await line.ask<Summary>({ ask: 'summary' })).answer,
    )
  }

  folders(): Promise<string[]> {
    return this.#ask(
      (files) => files.folders(),
      async (line) => (await line.ask<string[]>({ ask: 'folders' })).answer,
    )
  }

  close(): void {
    this.#files.close()
    this.#line?.close()
    this.#line = undefined
  }

  /** Whoever holds the index alone is asked first: to find its files locked takes time. */
  async #ask<T>(
    inFiles: (files: IndexReader) => Promise<T>,
    onLine: (line: Line) => Promise<T>,
  ): Promise<T> {
    const until = performance.now() + BUSY.forMs
    for (;;) {
      const line = await this.#open()
      try {
        if (line) return await onLine(line)
        return await inFiles(this.#files)
      } catch (error) {
        if ((error as { code?: unknown }).code === 'E_INDEX_MISSING' && !existsSync(this.#root))
          throw vaultMissing(this.#root)
        // The other process has ended between the two: what it held is free now.
        const isPassing =
          error instanceof LineClosed || (error as { code?: unknown }).code === 'E_INDEX_BUSY'
        if (!isPassing) throw error
        this.#files.close()
        if (performance.now() > until)
          throw error instanceof LineClosed ? heldElsewhere(this.#directory) : error
        await new Promise((resolve) => setTimeout(resolve, BUSY.pauseMs))
      }
    }
  }

  async #open(): Promise<Line | undefined> {
    if (this.#line?.isOpen) return this.#line
    this.#line = undefined
    // Asked before each search: found out once, when there is a folder.
    if (!this.#sockets && existsSync(this.#directory)) this.#sockets = socketPaths(this.#directory)
    for (const path of this.#sockets ?? []) {
      if (!isOurs(path, this.#directory)) continue
      const line = await Line.to(path)
      if (!line) continue
      this.#files.close()
      return (this.#line = line)
    }
    return undefined
  }
}

const bare = ({ id, vault }: Hit): Excerpt => ({ id, vault, snippet: '', attachments: [] })

function heldElsewhere(directory: string): PipelineError {
  return new PipelineError(
    'E_INDEX_BUSY',
    `the process that holds the index in ${directory} does not answer: wait for it, or stop it`,
  )
}

class LineClosed extends Error {}

/** A connection to the one who holds an index. */
class Line {
  readonly #socket: Socket
  readonly #waiting = new Map<
    number,
    { resolve: (reply: Reply) => void; reject: (error: Error) => void }
  >()
  #nextId = 1

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('utf8')
    const read = lineReader(ANSWER, (line) => this.#hear(line))
    socket.on('data', (chunk: string) => {
      if (!read(chunk)) socket.destroy()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new LineClosed('closed'))
      this.#waiting.clear()
    })
  }

  /** @returns undefined when nobody listens there: the process died, or it is on another machine */
  static to(path: string): Promise<Line | undefined> {
    return new Promise((resolve) => {
      const socket = connect(path)
      socket.once('error', () => resolve(undefined))
      socket.once('connect', () => {
        socket.unref()
        resolve(new Line(socket))
      })
    })
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  async ask<T>(ask: DistributiveOmit<Ask, 'id'>): Promise<{ id: number; answer: T }> {
    const id = this.#nextId++
    const reply = await new Promise<Reply>((resolve, reject) => {
      if (!this.isOpen) {
        reject(new LineClosed('closed'))
        return
      }
      this.#waiting.set(id, { resolve, reject })
      this.#socket.ref()
      this.#socket.write(`${JSON.stringify({ id, ...ask })}\n`)
    })
    if (reply.error) throw revived(reply.error)
    return { id, answer: reply.answer as T }
  }

  close(): void {
    this.#socket.destroy()
  }

  #hear(line: string): void {
    const reply = JSON.parse(line) as Reply
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (this.#waiting.size === 0) this.#socket.unref()
    waiting?.resolve(reply)
  }
}

type DistributiveOmit<T, K extends string> = T extends unknown ? Omit<T, K> : never

function revived({ name, code, message }: NonNullable<Reply['error']>): Error {
  if (code !== undefined) return new PipelineError(code as ErrorCode, message)
  return name === 'RangeError' ? new RangeError(message) : new Error(message)
}
