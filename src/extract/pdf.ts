/**
 * PDF: the text layer page by page, then what hangs beside it (form fields, annotations, bookmarks,
 * attachments). Pages that are only pixels go to the OCR lane.
 *
 * Format: ISO 32000-2. Engine: pdf.js (pdf/engine.ts).
 */
import type { TextItem } from 'pdfjs-dist/types/src/display/api.js'
import { Cut } from './budget.js'
import { PipelineError } from '../part/errors.js'
import { EngineFault, type Context, type Extractor, type Facts } from './extractor.js'
import { isGivenByProgram } from './given-by-program.js'
import { isKept } from './ocr/page.js'
import { textQuality } from './ocr/quality.js'
import { pagesToAsk, readAnnotations } from './pdf/annotations.js'
import { readAttachments } from './pdf/attachments.js'
import { decidePage, faultOfLayer, LETTERS_NONE, type PageDecision } from './pdf/decide.js'
import { pageDrawing, type PageDrawing } from './pdf/drawing.js'
import {
  IMAGE_PIXELS_MAX,
  within,
  withPdf,
  type OpenDocument,
  type PDFDocumentProxy,
  type PDFPageProxy,
} from './pdf/engine.js'
import { pageText } from './pdf/lines.js'
import { namesHeld } from './pdf/names.js'
import { picturesHeld, type PicturesHeld } from './pdf/pictures.js'
import { readPixels } from './pdf/scan.js'
import { xfaText } from './pdf/xfa.js'
import type { TextSink } from './sink.js'

export const pdf: Extractor = {
  name: 'pdf',
  version: 5,
  title: 'PDF',
  types: ['application/pdf'],
  extensions: ['pdf'],
  lane: 'text',
  extract: (source, sink, context) => {
    const pictures = picturesHeld(source.bytes)
    // While the pictures of a file are left for OCR, nobody asks where they are.
    const purpose = mayOcr(context) ? 'pixels' : pictures.any ? 'text' : 'places'
    return withPdf(
      source.bytes,
      context.settings.passwords,
      context.budget.msLeft,
      purpose,
      (opened) => readDocument(opened, pictures, namesHeld(source.bytes), sink, context),
    )
  },
}

/** A page tree that states more pages than it has is left after so many failures in a row. */
const FAILURES_MAX = 30

/** Without links so many pages are asked one by one: to ask for all first would read their fields twice. */
const FEW_PAGES = 10
const NO_PAGES: ReadonlySet<number> = new Set()

/** What pdf.js says when its table of objects leads to something else. */
const WRONG_TABLE = /XRef entry/

async function readDocument(
  { document, cuts, rebuilt, damage }: OpenDocument,
  { any: hasPictures, pixelsMax }: PicturesHeld,
  holds: (name: string) => boolean,
  sink: TextSink,
  context: Context,
): Promise<Facts> {
  const { budget } = context
  const failures: string[] = []
  const attempt = async (what: string, read: () => Promise<void>): Promise<boolean> => {
    try {
      budget.checkTime()
      await within(read(), budget.msLeft)
      return true
    } catch (error) {
      if (error instanceof Cut || error instanceof PipelineError) throw error
      failures.push(error instanceof EngineFault ? `${what} (${error.message})` : what)
      return false
    }
  }

  let engine: string | undefined
  if (holds('/Info') && PROPERTIES.some((name) => holds(`/${name}`)))
    await attempt('properties', () => readProperties(document, sink))
  const isAskedAnyhow = document.numPages <= FEW_PAGES && !holds('/Link')
  const annotated = !holds('/Annots')
    ? NO_PAGES
    : isAskedAnyhow
      ? undefined
      : await pagesToAsk(document, budget.msLeft)
  for (let number = 1, failed = 0; number <= document.numPages && failed < FAILURES_MAX; number++) {
    const cutBefore = cuts()
    const isRead = await attempt(`page ${number}`, async () => {
      sink.page(number)
      if (mayOcr(context) && isKept(number, sink, context)) return
      const read = async (from: PDFDocumentProxy): Promise<void> => {
        const page = await from.getPage(number)
        try {
          const about = { isXfa: from.isPureXfa, hasPictures, isCut: () => cuts() > cutBefore }
          engine = (await readPage(page, about, sink, context)) ?? engine
          if (!document.isPureXfa && (annotated?.has(number) ?? true))
            await readAnnotations(page, sink, context)
        } finally {
          page.cleanup()
        }
      }
      await read(document).catch(async (error: Error) => {
        if (!WRONG_TABLE.test(error.message)) throw error
        await read(await rebuilt())
      })
    })
    failed = isRead ? 0 : failed + 1
    if (isRead && cuts() > cutBefore) failures.push(`all that page ${number} draws`)
  }
  if (holds('/Outlines')) await attempt('bookmarks', () => readBookmarks(document, sink))
  if (holds('/EmbeddedFiles'))
    await attempt('attachments', () => readAttachments(document, sink, context))
  // The pictures beside good text are found and judged by the OCR lane; decoding them would cost the text lane its speed.
  if (hasPictures && !mayOcr(context) && budget.pagesToOcr === 0) budget.leaveForOcr()

  // pdf.js leaves such a picture out without a word.
  if (mayOcr(context) && pixelsMax > IMAGE_PIXELS_MAX) budget.noteCut('ocr-pixels')

  return {
    pageCount: document.numPages,
    empty: mayOcr(context) ? 'no-text-found' : 'no-text-layer',
    ...(engine && { engine }),
    ...((damage || failures.length > 0) && {
      partial: [
        ...(damage ? [`damaged: ${damage}`] : []),
        ...(failures.length > 0 ? [`not read: ${failures.slice(0, 20).join(', ')}`] : []),
      ].join('; '),
    }),
  }
}

const PROPERTIES = ['Title', 'Subject', 'Keywords']

async function readProperties(document: PDFDocumentProxy, sink: TextSink): Promise<void> {
  const { info } = (await document.getMetadata()) as unknown as { info: Record<string, unknown> }
  for (const key of PROPERTIES) {
    const value = info[key]
    if (typeof value !== 'string' || value.trim() === '' || isGivenByProgram(value.trim())) continue
    sink.line(value.trim())
  }
}

const mayOcr = ({ lane, settings }: Context): boolean => lane === 'ocr' && settings.ocr !== false

/** @returns the OCR engine, when it read the page or a part of it */
async function readPage(
  page: PDFPageProxy,
  { isXfa, hasPictures, isCut }: { isXfa: boolean; hasPictures: boolean; isCut: () => boolean },
  sink: TextSink,
  context: Context,
): Promise<string | undefined> {
  if (isXfa) {
    sink.line(xfaText(await page.getXfa()))
    return undefined
  }
  const content = await page.getTextContent()
  const items = content.items.filter((item): item is TextItem => 'str' in item)
  // A tree that leads nowhere is given one empty page of no object.
  if (items.length === 0 && !page.ref) throw new Error('the tree of pages has no page')
  const text = pageText(items)

  const quality = textQuality(text)
  const isSuspect = quality.letters <= LETTERS_NONE || faultOfLayer(quality) !== undefined
  if (!mayOcr(context)) {
    sink.line(text)
    // A page of a file without pictures may still hold letters drawn as shapes, or an inline image. To look costs as much as
    // the text; while OCR is off it is left until it is on.
    const mayBeLeft = isSuspect && (hasPictures || context.settings.ocr === false)
    if (mayBeLeft || (isSuspect && (await decided(page, text, items)).decision.read !== 'layer'))
      context.budget.leaveForOcr()
    return undefined
  }
  if (!isSuspect && !hasPictures) {
    sink.line(text)
    return undefined
  }
  const { decision, drawing } = await decided(page, text, items)
  // Of a page that is cut, pictures it names may never come.
  if (decision.read === 'layer' || isCut()) {
    sink.line(text)
    return undefined
  }
  return readPixels(page, text, decision, drawing, sink, context)
}

async function decided(
  page: PDFPageProxy,
  text: string,
  items: readonly TextItem[],
): Promise<{ decision: PageDecision; drawing: PageDrawing }> {
  const drawing = await pageDrawing(page)
  const viewport = page.getViewport({ scale: 1 })
  const placed = items.map(({ str, transform }) => {
    const [x, y] = transform
      ? (viewport.convertToViewportPoint(transform[4], transform[5]) as [number, number])
      : [0, 0] // XFA text has no place
    return { x, y, letters: str.match(/[\p{L}\p{N}]/gu)?.length ?? 0 }
  })
  return { decision: decidePage(text, placed, drawing), drawing }
}

interface Bookmark {
  title: string
  items: Bookmark[]
}

async function readBookmarks(document: PDFDocumentProxy, sink: TextSink): Promise<void> {
  const outline = ((await document.getOutline()) as Bookmark[] | null) ?? []
  if (outline.length === 0) return
  sink.page(document.numPages)
  const left = outline.toReversed()
  for (let next = left.pop(); next; next = left.pop()) {
    if (next.title.trim() !== '' && !isGivenByProgram(next.title.trim())) sink.line(next.title)
    for (const item of next.items.toReversed()) left.push(item)
  }
}
