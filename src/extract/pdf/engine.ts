/**
 * pdf.js inside this thread: loaded once, without a nested worker, opened with the settings that lose
 * no text, and always closed.
 *
 * Not responsible for: what is read out of an open document (pdf.ts), pixels (raster.ts).
 */
import { createRequire } from 'node:module'
import path from 'node:path'
import type * as PdfJs from 'pdfjs-dist/legacy/build/pdf.mjs'
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { Cut } from '../budget.js'
import { Declined } from '../extractor.js'
import { inflateAtOnce } from './inflate.js'
import { workerHalf } from './port.js'
import { lastRevision, withoutTable, withTrailer } from './revisions.js'

export type { PDFDocumentProxy, PDFPageProxy }

/** A picture of more pixels is never decoded (five bytes a pixel at its worst); raster.ts caps what is rendered. */
export const IMAGE_PIXELS_MAX = 50_000_000

let loaded: Promise<typeof PdfJs> | undefined

/** The library with its worker half in the same thread: a nested worker would outlive a deadline. */
export function loadPdfJs(): Promise<typeof PdfJs> {
  loaded ??= (async () => {
    const worker = 'pdfjs-dist/legacy/build/pdf.worker.mjs'
    const putBack = keepBuiltIns()
    await import(worker) // sets globalThis.pdfjsWorker
    const library = await import('pdfjs-dist/legacy/build/pdf.mjs')
    putBack()
    inflateAtOnce()
    return library
  })()
  return loaded
}

/**
 * Its polyfills replace built-ins of the whole thread for rare cases: push for arrays of 2^32 members (ten times as slow), JSON
 * for its source texts. Those are put back as they were, and a sum that nobody needs to the last bit is made simple.
 */
function keepBuiltIns(): () => void {
  const kept = (
    [
      [Array.prototype, 'push'],
      [JSON, 'parse'],
      [JSON, 'stringify'],
      [Function.prototype, 'toString'],
    ] as const
  ).map(([on, name]) => [on, name, Object.getOwnPropertyDescriptor(on, name)!] as const)
  const hasSum = 'sumPrecise' in Math
  return () => {
    for (const [on, name, descriptor] of kept) Object.defineProperty(on, name, descriptor)
    if (!hasSum) Object.assign(Math, { sumPrecise: sum })
  }
}

function sum(numbers: Iterable<number>): number {
  let all = 0
  for (const number of numbers) all += number
  return all
}

const folder = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
/** pdf.js joins these with file names as they are, so plain paths with a slash at their end. */
const inPackage = (name: string): string => `${folder}/${name}/`

/**
 * Opens a document, hands it to `use`, and closes it whatever happens.
 *
 * @param bytes left as they are (pdf.js detaches the copy it is given)
 * @param passwords tried after the empty user password, in order
 * @param isForText nothing will be rendered
 * @param use is also told, whenever it asks, how often a page drew or wrote more than is taken of one (port.ts); and given
 *   the same document without its table of objects, for pages that a wrong table keeps away
 * @throws {Declined} `locked` when no password fits, `damaged` when there is no document in the bytes
 */
export async function withPdf<T>(
  bytes: Uint8Array,
  passwords: readonly string[],
  msLeft: number,
  isForText: boolean,
  use: (
    pdf: PDFDocumentProxy,
    cuts: () => number,
    rebuilt: () => Promise<PDFDocumentProxy>,
  ) => Promise<T>,
): Promise<T> {
  const opened = [await openAnyhow(bytes, passwords, msLeft, isForText)]
  const cuts = (): number => opened.reduce((sum, one) => sum + one.cuts(), 0)
  const rebuilt = async (): Promise<PDFDocumentProxy> => {
    opened[1] ??= await open(withoutTable(bytes), passwords, msLeft, isForText, false)
    return opened[1].pdf
  }
  try {
    return await use(opened[0]!.pdf, cuts, rebuilt)
  } finally {
    for (const one of opened) await one.close()
  }
}

interface Opened {
  pdf: PDFDocumentProxy
  cuts: () => number
  close(): Promise<void>
}

/** First as it should be, then with what can be left out or put in: a form's layout, a trailer that was cut off. */
async function openAnyhow(
  bytes: Uint8Array,
  passwords: readonly string[],
  msLeft: number,
  isForText: boolean,
): Promise<Opened> {
  try {
    return await open(bytes, passwords, msLeft, isForText, true)
  } catch (error) {
    if (error instanceof Cut || (error instanceof Declined && error.state === 'locked')) throw error
    const mended = error instanceof Declined ? withTrailer(bytes) : bytes
    if (!mended) throw error
    return open(mended, passwords, msLeft, isForText, false).catch(() => {
      throw error
    })
  }
}

async function open(
  bytes: Uint8Array,
  passwords: readonly string[],
  msLeft: number,
  isForText: boolean,
  enableXfa: boolean,
): Promise<Opened> {
  const { getDocument, PDFWorker } = await loadPdfJs()
  const { port, cuts } = workerHalf()
  const worker = PDFWorker.create({ port })
  const task = getDocument({
    worker,
    data: lastRevision(new Uint8Array(bytes)),
    cMapUrl: inPackage('cmaps'), // without it, CJK text in fonts that are not embedded is silently lost
    cMapPacked: true,
    standardFontDataUrl: inPackage('standard_fonts'),
    wasmUrl: inPackage('wasm'),
    iccUrl: inPackage('iccs'),
    enableXfa,
    isEvalSupported: false,
    useSystemFonts: isForText, // no font file is then read for a font that is not embedded; its text is the same
    disableFontFace: true,
    maxImageSize: IMAGE_PIXELS_MAX,
    stopAtErrors: false,
    verbosity: 0,
  })
  const untried = [...passwords]
  task.onPassword = (tryPassword: (password: string | Error) => void) => {
    const next = untried.shift()
    tryPassword(next ?? new Error(NO_PASSWORD))
  }
  // pdf.js waits here for work that may never end after an error; the document is gone all the same.
  const close = (): Promise<void> =>
    within(task.destroy(), CLOSE_MS)
      .catch(() => {})
      .finally(() => worker.destroy())
  try {
    return { pdf: await within(task.promise, msLeft), cuts, close }
  } catch (error) {
    await close()
    throw asDeclined(error)
  }
}

const NO_PASSWORD = 'no password fits'
const CLOSE_MS = 1_000

function asDeclined(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (error.name === 'PasswordException' || error.message === NO_PASSWORD)
    return new Declined('locked', 'password needed')
  if (error.name === 'InvalidPDFException')
    return new Declined('damaged', error.message || 'no document found in the bytes')
  return error
}

/**
 * A promise of pdf.js with an end: after some errors pdf.js answers never.
 *
 * @throws {Cut} `text-time` after `ms` milliseconds
 */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Cut('text-time')), Math.max(0, ms))
  })
  try {
    return await Promise.race([promise, end])
  } finally {
    clearTimeout(timer)
  }
}
