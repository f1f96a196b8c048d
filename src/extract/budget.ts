/**
 * What one content, with everything nested in it, may still cost. Counted while reading, never after:
 * a declared size is a claim, not a fact.
 */
import type { Limits } from '../part/limits.js'
import type { CutBy } from '../part/states.js'

/** Thrown when a limit is met, caught in read.ts: what was read up to here is kept. */
export class Cut extends Error {
  readonly by: CutBy
  constructor(by: CutBy) {
    super(`cut by ${by}`)
    this.by = by
    this.name = 'Cut'
  }
}

export class Budget {
  readonly limits: Limits
  /** Documents inside documents, 0 for the content itself. Kept by read.ts. */
  depth = 0
  /** Pages and pictures recognised so far. */
  ocrPages = 0
  /** True once a page showed Chinese, Japanese or Korean alone (ocr/page.ts). */
  isCjkAlone = false
  /** Pages and pictures that only OCR could read, left by a reading without OCR. */
  pagesToOcr = 0
  /** Pages and pictures decoded to see whether they are worth recognising. */
  ocrLooks = 0
  /** First limit that left something out without ending the reading; see `noteCut`. */
  cutBy: CutBy | undefined
  #bytes: number
  #entries: number
  #cells: number
  readonly #endsAt: number
  readonly #timeCut: CutBy

  /** @param timeMs soft deadline from now: reading stops there and keeps its text; the pool ends the thread some seconds later */
  constructor(limits: Limits, timeMs: number, timeCut: CutBy = 'text-time') {
    this.limits = limits
    this.#timeCut = timeCut
    this.#bytes = limits.archiveBytes
    this.#entries = limits.archiveEntries
    this.#cells = limits.cells
    this.#endsAt = performance.now() + timeMs
  }

  /** Inflated bytes that may still be produced. */
  get bytesLeft(): number {
    return this.#bytes
  }

  get msLeft(): number {
    return this.#endsAt - performance.now()
  }

  /** Counts inflated bytes, as they come. @throws {Cut} `archive-bytes` */
  takeBytes(bytes: number): void {
    this.#bytes -= bytes
    if (this.#bytes < 0) throw new Cut('archive-bytes')
  }

  /** Counts an opened archive entry or embedded document. @throws {Cut} `archive-entries` */
  takeEntry(): void {
    if (--this.#entries < 0) throw new Cut('archive-entries')
  }

  /** Counts a cell with a value. @throws {Cut} `cells` */
  takeCell(): void {
    if (--this.#cells < 0) throw new Cut('cells')
  }

  /** @throws {Cut} `text-time`, in the OCR lane `document-time`, when the soft deadline has passed */
  checkTime(): void {
    if (performance.now() > this.#endsAt) throw new Cut(this.#timeCut)
  }

  /** Notes a limit that leaves out one thing (a page of pixels) while the reading of the others goes on. */
  noteCut(by: CutBy): void {
    this.cutBy ??= by
  }

  /** Notes a page or picture that a reading without OCR leaves for the OCR lane. */
  leaveForOcr(pages = 1): void {
    this.pagesToOcr += pages
  }
}
