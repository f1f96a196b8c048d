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

export type { PDFDocumentProxy, PDFPageProxy }

/** pdf.js refuses pictures of more pixels while it parses a page; raster.ts caps what is rendered. */
const IMAGE_PIXELS_MAX = 50_000_000

let loaded: Promise<typeof PdfJs> | undefined

/** The library with its worker half in the same thread: a nested worker would outlive a deadline. */
export function loadPdfJs(): Promise<typeof PdfJs> {
  loaded ??= (async () => {
    const worker = 'pdfjs-dist/legacy/build/pdf.worker.mjs'
    await import(worker) // sets globalThis.pdfjsWorker, which getDocument() then uses
    return import('pdfjs-dist/legacy/build/pdf.mjs')
  })()
  return loaded
}

const folder = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
/** pdf.js joins these with file names as they are, so plain paths with a slash at their end. */
const inPackage = (name: string): string => `${folder}/${name}/`

/**
 * Opens a document, hands it to `use`, and closes it whatever happens.
 *
 * @param bytes left as they are (pdf.js detaches the copy it is given)
 * @param passwords tried after the empty user password, in order
 * @throws {Declined} `locked` when no password fits, `damaged` when there is no document in the bytes
 */
export async function withPdf<T>(
  bytes: Uint8Array,
  passwords: readonly string[],
  msLeft: number,
  use: (pdf: PDFDocumentProxy) => Promise<T>,
): Promise<T> {
  const { getDocument } = await loadPdfJs()
  const task = getDocument({
    data: Uint8Array.from(bytes),
    cMapUrl: inPackage('cmaps'), // without it, CJK text in fonts that are not embedded is silently lost
    cMapPacked: true,
    standardFontDataUrl: inPackage('standard_fonts'),
    wasmUrl: inPackage('wasm'),
    iccUrl: inPackage('iccs'),
    enableXfa: true,
    isEvalSupported: false,
    useSystemFonts: false,
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
  try {
    return await use(await within(task.promise, msLeft))
  } catch (error) {
    throw asDeclined(error)
  } finally {
    // pdf.js waits here for work that may never end after an error; the document is gone all the same.
    await within(task.destroy(), CLOSE_MS).catch(() => {})
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
