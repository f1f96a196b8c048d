/**
 * A page or picture in a document's OCR budget: counted, timed, read, and written with what OCR saw.
 */
import type { Context } from '../extractor.js'
import type { Picture } from '../image/picture.js'
import type { TextSink } from '../sink.js'
import { recognise, type Recognised } from './recognise.js'

/** Pages and pictures that are decoded for each that may be recognised: a look that dismisses one is cheap, thousands are not. */
const LOOKS_A_PAGE = 6

/** Counts a look. @returns true while the document may have another page recognised; notes `ocr-pages` when it may not */
export function mayRecognise({ budget }: Context): boolean {
  const { ocrPages } = budget.limits
  if (budget.ocrPages < ocrPages && budget.ocrLooks++ < ocrPages * LOOKS_A_PAGE) return true
  budget.noteCut('ocr-pages')
  return false
}

/**
 * Reads one page or picture and counts it.
 *
 * @returns undefined when its time ran out (noted as `ocr-page-time`)
 * @throws {Cut} `document-time` when the document's time ran out
 */
export async function recogniseCounted(
  picture: Picture,
  { settings, budget }: Context,
): Promise<Recognised | undefined> {
  if (settings.ocr === false) return undefined
  budget.checkTime()
  const pageMs = Math.min(budget.limits.ocrPageTimeoutMs, budget.msLeft)
  const recognised = await recognise(picture, settings.ocr, budget.limits.ocrPixels, pageMs)
  // What a look dismissed has cost nothing: a blank page, a photograph.
  if (recognised?.engine !== undefined || !recognised) budget.ocrPages++
  if (recognised) return recognised
  budget.checkTime()
  budget.noteCut('ocr-page-time')
  return undefined
}

/**
 * Writes what an earlier reading recognised of a page, and counts it: a raised limit then costs only the pages
 * that it adds.
 *
 * @param number undefined for a document without pages
 * @returns false when the page was not recognised before
 */
export function isKept(number: number | undefined, sink: TextSink, context: Context): boolean {
  const kept = context.recognised(number)
  if (!kept) return false
  context.budget.ocrPages++
  sink.write(kept.text)
  sink.annotate({ ...(kept.ocr && { ocr: kept.ocr }), ...(kept.choice && { choice: kept.choice }) })
  return true
}
