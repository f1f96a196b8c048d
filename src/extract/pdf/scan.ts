/**
 * A page by its pixels: recognised, compared with its text layer, and the better of both written.
 */
import type { OcrPage } from '../../part/outcome.js'
import type { Context } from '../extractor.js'
import { cropped, type Picture } from '../image/picture.js'
import { mayRecognise, recogniseCounted } from '../ocr/page.js'
import { textQuality } from '../ocr/quality.js'
import type { Recognised } from '../ocr/recognise.js'
import type { Word } from '../ocr/words.js'
import type { TextSink } from '../sink.js'
import { LETTERS_NONE, type PageDecision } from './decide.js'
import type { PageDrawing, PlacedImage } from './drawing.js'
import type { PDFPageProxy } from './engine.js'
import { coveringImage, imagePixels, renderPage } from './raster.js'

/** Boxes of a page put together from several pictures are in pixels of the page at this resolution. */
const BOX_DPI = 200
const POINTS = 72
/** Confidence of a page that was read without doubt. */
const CONFIDENCE_SURE = 90

/**
 * Writes the text of a page that its layer alone does not give.
 *
 * @returns the engine, or undefined when nothing could be recognised (the layer is written all the same)
 */
export async function readPixels(
  page: PDFPageProxy,
  layer: string,
  decision: Exclude<PageDecision, { read: 'layer' }>,
  drawing: PageDrawing,
  sink: TextSink,
  context: Context,
): Promise<string | undefined> {
  return decision.read === 'page'
    ? wholePage(page, layer, decision.why, drawing, sink, context)
    : pictures(page, layer, decision, drawing, sink, context)
}

async function wholePage(
  page: PDFPageProxy,
  layer: string,
  why: string,
  drawing: PageDrawing,
  sink: TextSink,
  context: Context,
): Promise<string | undefined> {
  const quality = textQuality(layer)
  const layerScore = round(quality.letters <= LETTERS_NONE ? 0 : quality.score)
  const keepLayer = (reason: string, ocrScore?: number): void => {
    sink.line(layer)
    if (quality.letters > 0)
      sink.annotate({
        choice: {
          took: 'text-layer',
          why: `${why}; ${reason}`,
          layerScore,
          ...(ocrScore !== undefined && { ocrScore }),
        },
      })
  }
  if (!mayRecognise(context)) {
    keepLayer('no more pages may be recognised')
    return undefined
  }
  const { ocrPixels } = context.budget.limits
  const scan = coveringImage(drawing)
  const picture =
    (scan && (await imagePixels(page, scan, ocrPixels))) ?? (await renderPage(page, ocrPixels))
  page.cleanup() // what was decoded is not held while the engine works
  const recognised = await recogniseCounted(picture, context)
  if (!recognised) {
    keepLayer('recognition took too long')
    return undefined
  }
  const ocrScore = scoreOf(recognised)
  const fewer = textQuality(recognised.text).letters < quality.letters * 0.3
  if (quality.letters > LETTERS_NONE && (ocrScore <= layerScore || fewer)) {
    keepLayer(fewer ? 'OCR saw less' : 'OCR was no better', ocrScore)
    return recognised.engine
  }
  // A page number or stamp that OCR read differently stays findable as it was typed.
  const rest = quality.letters <= LETTERS_NONE ? linesNotIn(layer, recognised.text) : ''
  sink.line(recognised.text)
  sink.write(rest)
  const isBlank = recognised.text.trim() === '' && rest === ''
  sink.annotate({
    ...(!isBlank && { ocr: recognised.page }),
    choice: {
      took: rest === '' ? 'ocr' : 'both',
      why: isBlank ? `${why}; none found` : why,
      layerScore,
      ocrScore,
    },
  })
  return recognised.engine
}

async function pictures(
  page: PDFPageProxy,
  layer: string,
  decision: Extract<PageDecision, { read: 'pictures' }>,
  drawing: PageDrawing,
  sink: TextSink,
  context: Context,
): Promise<string | undefined> {
  sink.line(layer)
  const words: Word[] = []
  let engine: string | undefined
  let letters = 0
  let score = 0
  let rendered: Picture | undefined
  for (const image of decision.images) {
    if (!mayRecognise(context)) break
    const { ocrPixels } = context.budget.limits
    const picture =
      (!image.isMask && (await imagePixels(page, image, ocrPixels))) ||
      cutOut((rendered ??= await renderPage(page, ocrPixels)), image, drawing)
    const recognised = await recogniseCounted(picture, context)
    if (!recognised) continue
    engine ??= recognised.engine
    if (!isWriting(recognised)) continue
    const size = textQuality(recognised.text).letters
    score = (score * letters + scoreOf(recognised) * size) / (letters + size)
    letters += size
    sink.line(recognised.text)
    words.push(...onPage(recognised.page, image))
  }
  if (letters === 0) return engine
  sink.annotate({
    ocr: {
      confidence: Math.round(
        words.reduce((sum, word) => sum + word[5], 0) / Math.max(1, words.length),
      ),
      width: Math.round((drawing.width * BOX_DPI) / POINTS),
      height: Math.round((drawing.height * BOX_DPI) / POINTS),
      turned: 0,
      words,
    },
    choice: {
      took: 'both',
      why: decision.why,
      layerScore: round(textQuality(layer).score),
      ocrScore: round(score),
    },
  })
  return engine
}

/** A picture beside good text has to earn its place: the noise OCR sees in photographs is no text. */
function isWriting({ text, page }: Recognised): boolean {
  const quality = textQuality(text)
  return quality.letters >= 3 && page.confidence >= 55 && quality.score >= 0.4
}

function scoreOf({ text, page }: Recognised): number {
  const quality = textQuality(text)
  if (quality.letters === 0) return 0
  return round(quality.score * Math.min(1, page.confidence / CONFIDENCE_SURE))
}

const round = (score: number): number => Math.round(score * 100) / 100

function cutOut(page: Picture, image: PlacedImage, drawing: PageDrawing): Picture {
  const scale = page.width / drawing.width
  return cropped(
    page,
    image.left * scale,
    image.top * scale,
    image.right * scale,
    image.bottom * scale,
  )
}

/** Words of a picture with boxes on the page; none when the picture was turned before it was read. */
function onPage({ words, width, height, turned }: OcrPage, image: PlacedImage): Word[] {
  if (turned !== 0) return []
  const scale = BOX_DPI / POINTS
  const sx = ((image.right - image.left) * scale) / width
  const sy = ((image.bottom - image.top) * scale) / height
  return words.map(([text, left, top, w, h, confidence]) => [
    text,
    Math.round(image.left * scale + left * sx),
    Math.round(image.top * scale + top * sy),
    Math.round(w * sx),
    Math.round(h * sy),
    confidence,
  ])
}

/** Lines of `layer` that hold a word `text` lacks. */
function linesNotIn(layer: string, text: string): string {
  const words = (line: string): string[] => line.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const known = new Set(words(text))
  return layer
    .split('\n')
    .filter((line) => words(line).some((word) => !known.has(word)))
    .map((line) => `${line}\n`)
    .join('')
}
