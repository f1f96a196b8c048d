/**
 * A page or picture in a document's OCR budget: counted, timed, read, and written with what OCR saw.
 */
import type { OcrSettings } from '../../part/settings.js'
import type { Budget } from '../budget.js'
import type { Context } from '../extractor.js'
import type { Picture } from '../image/picture.js'
import type { TextSink } from '../sink.js'
import { recognise, SQUARE, type Recognised } from './recognise.js'

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
  const recognised = await inLanguages(picture, settings.ocr, budget, pageMs)
  // What a look dismissed has cost nothing: a blank page, a photograph.
  if (recognised?.engine !== undefined || !recognised) budget.ocrPages++
  if (recognised) return recognised
  budget.checkTime()
  budget.noteCut('ocr-page-time')
  return undefined
}

/** A page of which this share of the letters is Chinese, Japanese or Korean is written in nothing else. */
const CJK_SHARE = 0.9
const CJK_LETTERS = 20
/** A page read with less confidence is read again: in fewer languages, or in all. */
const CONFIDENCE_FINE = 90
const CONFIDENCE_WRONG = 70

/**
 * With alphabets configured beside them, Chinese, Japanese and Korean cost 2.3 times as much and lose seven characters
 * in a hundred. So the first page that shows them alone settles the languages of its document, until a page
 * reads badly in them. The other way round nothing is left out: it would save a fifth, and lose every word of the other
 * script on a page.
 */
async function inLanguages(
  picture: Picture,
  ocr: OcrSettings,
  budget: Budget,
  ms: number,
): Promise<Recognised | undefined> {
  const ends = performance.now() + ms
  const read = (languages: readonly string[]): Promise<Recognised | undefined> =>
    recognise(picture, { ...ocr, languages }, budget.limits.ocrPixels, ends - performance.now())
  const cjk = ocr.languages.filter((language) => SQUARE.test(language))
  if (cjk.length === 0 || cjk.length === ocr.languages.length) return read(ocr.languages)

  const alone = budget.isCjkAlone ? await read(cjk) : undefined
  if (alone && (alone.engine === undefined || alone.page.confidence >= CONFIDENCE_WRONG))
    return alone
  const all = await read(ocr.languages)
  budget.isCjkAlone = all !== undefined && isCjk(all.text)
  if (!all || !budget.isCjkAlone || alone || all.page.confidence >= CONFIDENCE_FINE)
    return all ?? alone
  const better = await read(cjk)
  return better && better.page.confidence > all.page.confidence ? better : all
}

function isCjk(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const square =
    text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0
  return letters >= CJK_LETTERS && square >= letters * CJK_SHARE
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
