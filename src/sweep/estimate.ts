/**
 * How long a reading would take, from what this machine measured at earlier ones: for each declared type the
 * milliseconds a content and a byte of it took, and the milliseconds of a recognised page; for a type with few
 * readings those of all.
 */
import type { BacklogWork, ContentRow, Rate } from '../index/rows.js'
import type { Settings } from '../part/options.js'
import { DEFAULT_OCR_THREADS } from '../workers/pool.js'

export interface Estimate {
  contents: number
  /** Pages that would be recognised: those known to need it, and as many more as contents of each type had here. */
  pagesToOcr: number
  /** On this machine with these settings; absent while nothing has been measured. */
  hours?: number
}

/** Until a page has been recognised here: the CPU milliseconds of one at 200 dpi on a machine of 2026. */
const PAGE_MS = 7_000
/** Readings of a type, or pages, that make a rate of its own. */
const ENOUGH = 5

type Reading = Pick<Settings, 'ocr' | 'workers' | 'limits'>

/** @param rows the contents that would be read */
export function estimate(
  rates: readonly Rate[],
  settings: Reading,
  rows: readonly ContentRow[],
): Estimate {
  const known = new Rates(rates)
  let textMs = 0
  let ocrMs = 0
  let pagesToOcr = 0
  for (const { declaredType, size, ms, ocrPages, pagesToOcr: waiting } of rows) {
    const type = known.of(declaredType)
    const pages =
      settings.ocr === false
        ? 0
        : Math.min(
            ocrPages === null && waiting === null
              ? expectedPages(type, declaredType, size)
              : (ocrPages ?? 0) || (waiting ?? 0),
            settings.limits.ocrPages,
          )
    pagesToOcr += pages
    ocrMs += pages * type.pageMs
    textMs += ms !== null && !ocrPages ? ms : type.contentMs + size * type.byteMs
  }
  return estimated(rows.length, pagesToOcr, textMs, ocrMs, known, settings)
}

/** The same for all that waits, from kept counts. */
export function estimateBacklog(
  { backlogWork, rates }: { backlogWork: readonly BacklogWork[]; rates: readonly Rate[] },
  settings: Reading,
): Estimate {
  const known = new Rates(rates)
  let contents = 0
  let textMs = 0
  let ocrMs = 0
  let pagesToOcr = 0
  for (const work of backlogWork) {
    const type = known.of(work.type)
    contents += work.contents
    if (work.lane === 'text') textMs += work.contents * type.contentMs + work.bytes * type.byteMs
    if (settings.ocr === false) continue
    const pages =
      work.pages +
      (type.pages === undefined
        ? isPicture(work.type)
          ? work.unseenLarge
          : 0
        : work.unseen * type.pages)
    pagesToOcr += pages
    ocrMs += pages * type.pageMs
  }
  return estimated(contents, pagesToOcr, textMs, ocrMs, known, settings)
}

function estimated(
  contents: number,
  pages: number,
  textMs: number,
  ocrMs: number,
  known: Rates,
  { workers }: Reading,
): Estimate {
  const pagesToOcr = Math.round(pages)
  if (known.isEmpty) return { contents, pagesToOcr }
  const hours = (textMs / workers + ocrMs / DEFAULT_OCR_THREADS) / 3_600_000
  return { contents, pagesToOcr, hours: Math.round(hours * 10_000) / 10_000 }
}

/** Bytes from which a picture of an unknown kind is taken for a page. */
export const PICTURE_BYTES = 10_000

const isPicture = (type: string): boolean => type.startsWith('image/')

function expectedPages(type: TypeRate, declaredType: string, size: number): number {
  return type.pages ?? (isPicture(declaredType) && size >= PICTURE_BYTES ? 1 : 0)
}

/** What a content of a type costs here. */
interface TypeRate {
  contentMs: number
  byteMs: number
  pageMs: number
  /** Pages recognised, or waiting for it, of a mean content; undefined when too few were read. */
  pages: number | undefined
}

class Rates {
  readonly isEmpty: boolean
  readonly #all: TypeRate
  readonly #byType = new Map<string, TypeRate>()

  constructor(rates: readonly Rate[]) {
    this.isEmpty = rates.length === 0
    const { pages: _, ...all } = rateOf(rates, { contentMs: 50, byteMs: 0, pageMs: PAGE_MS })
    this.#all = { ...all, pages: undefined }
    for (const type of new Set(rates.map((rate) => rate.type)))
      this.#byType.set(
        type,
        rateOf(
          rates.filter((rate) => rate.type === type),
          this.#all,
        ),
      )
  }

  of(type: string): TypeRate {
    return this.#byType.get(type) ?? this.#all
  }
}

function rateOf(
  rates: readonly Rate[],
  otherwise: Pick<TypeRate, 'contentMs' | 'byteMs' | 'pageMs'>,
): TypeRate {
  const sum = (of: (rate: Rate) => number, some = rates): number =>
    some.reduce((total, rate) => total + of(rate), 0)
  const text = rates.filter((rate) => !rate.isRecognised)
  const recognised = rates.filter((rate) => rate.isRecognised)
  const contents = sum((rate) => rate.contents)
  const pages = sum((rate) => rate.ocrPages, recognised)
  return {
    ...(sum((rate) => rate.contents, text) >= ENOUGH
      ? line(
          sum((rate) => rate.contents, text),
          sum((rate) => rate.bytes, text),
          sum((rate) => rate.ms, text),
          sum((rate) => rate.bytesSquared, text),
          sum((rate) => rate.bytesMs, text),
        )
      : { contentMs: otherwise.contentMs, byteMs: otherwise.byteMs }),
    pageMs: pages >= ENOUGH ? sum((rate) => rate.ms, recognised) / pages : otherwise.pageMs,
    pages:
      contents >= ENOUGH ? sum((rate) => rate.ocrPages + rate.pagesWaiting) / contents : undefined,
  }
}

/** The line of least squares through (bytes, ms); neither of its numbers below zero. */
function line(
  n: number,
  x: number,
  y: number,
  xx: number,
  xy: number,
): { contentMs: number; byteMs: number } {
  const spread = n * xx - x * x
  const byteMs = spread > 0 ? Math.max(0, (n * xy - x * y) / spread) : 0
  const contentMs = (y - byteMs * x) / n
  return contentMs >= 0 ? { contentMs, byteMs } : { contentMs: 0, byteMs: y / x }
}
