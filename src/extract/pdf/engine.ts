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
import { mended } from './mend.js'
import { workerHalf } from './port.js'
import { xfaText } from './xfa.js'
import { lastRevision, withoutTable } from './revisions.js'

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

/** Text alone: no picture is ever decoded. Text and where what is drawn: nothing is rendered. Pixels: everything. */
export type Purpose = 'text' | 'places' | 'pixels'

/** What `withPdf` hands over. */
export interface OpenDocument {
  document: PDFDocumentProxy
  /** How often a page drew or wrote more than is taken of one so far (port.ts). */
  cuts: () => number
  /** The same document without its table of objects, for pages that a wrong table keeps away. */
  rebuilt: () => Promise<PDFDocumentProxy>
  /** What was wrong with a document that had to be mended (mend.ts) before anything could be read. */
  damage?: string
}

/**
 * Opens a document, hands it to `use`, and closes it whatever happens.
 *
 * @param bytes left as they are (pdf.js detaches the copy it is given)
 * @param passwords tried after the empty user password, in order
 * @param purpose what will be asked of its pages
 * @throws {Declined} `locked` when no password fits, `damaged` when there is no document in the bytes
 */
export async function withPdf<T>(
  bytes: Uint8Array,
  passwords: readonly string[],
  msLeft: number,
  purpose: Purpose,
  use: (opened: OpenDocument) => Promise<T>,
): Promise<T> {
  const opened = [await openAnyhow(bytes, passwords, msLeft, purpose)]
  const cuts = (): number => opened.reduce((sum, one) => sum + one.cuts(), 0)
  const rebuilt = async (): Promise<PDFDocumentProxy> => {
    opened[1] ??= await open(withoutTable(bytes), passwords, msLeft, purpose, false)
    return opened[1].pdf
  }
  try {
    const { pdf, damage } = opened[0]!
    return await use({ document: pdf, cuts, rebuilt, ...(damage && { damage }) })
  } finally {
    for (const one of opened) await one.close()
  }
}

interface Opened {
  pdf: PDFDocumentProxy
  damage?: string
  cuts: () => number
  close(): Promise<void>
}

/** First as it should be, then with what can be left out or put in: a form's layout that fails or is empty, what is damaged. */
async function openAnyhow(
  bytes: Uint8Array,
  passwords: readonly string[],
  msLeft: number,
  purpose: Purpose,
): Promise<Opened> {
  const openPages = (of: Uint8Array): Promise<Opened> => open(of, passwords, msLeft, purpose, false)
  try {
    const opened = await open(bytes, passwords, msLeft, purpose, true)
    if (!opened.pdf.isPureXfa || xfaText(opened.pdf.allXfaHtml).trim() !== '') return opened
    await opened.close()
    return await openPages(bytes)
  } catch (error) {
    if (isFinal(error)) throw error
    if (!(error instanceof Declined)) {
      const opened = await openPages(bytes).catch(() => undefined)
      if (opened) return opened
    }
    const whole = mended(bytes)
    if (!whole) throw error
    const damage = error instanceof Declined ? error.detail : (error as Error).message
    try {
      return { ...(await openPages(whole)), damage }
    } catch (reason) {
      throw isFinal(reason) ? reason : error
    }
  }
}

const isFinal = (error: unknown): boolean =>
  error instanceof Cut || (error instanceof Declined && error.state === 'locked')

async function open(
  bytes: Uint8Array,
  passwords: readonly string[],
  msLeft: number,
  purpose: Purpose,
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
    useSystemFonts: purpose !== 'pixels', // no font file is then read for a font that is not embedded; its text is the same
    disableFontFace: true,
    maxImageSize: purpose === 'text' ? 0 : IMAGE_PIXELS_MAX,
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
  if (error.message === 'unknown encryption method')
    return new Declined('locked', 'encrypted for a certificate, not with a password')
  if (/^(?:unsupported encryption algorithm|invalid key length)/.test(error.message))
    return new Declined('locked', 'encrypted in a way that is not known')
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
