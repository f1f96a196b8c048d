/**
 * A page or picture in a document's OCR budget: counted, timed, read, and written with what OCR saw.
 */
import type { Context } from '../extractor.js'
import type { Picture } from '../image/picture.js'
import { recognise, type Recognised } from './recognise.js'

/** @returns true while the document may have another page recognised; notes `ocr-pages` when it may not */
export function mayRecognise({ budget }: Context): boolean {
  if (budget.ocrPages < budget.limits.ocrPages) return true
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
