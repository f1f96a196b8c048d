/**
 * What hangs over the pages: fields of a form as they are filled in, notes, stamps, signatures, files pinned to a place.
 *
 * Format: ISO 32000-2, 12.5 (annotations), 12.7 (forms).
 */
import type { Context } from '../extractor.js'
import type { TextSink } from '../sink.js'
import { appearances } from './appearance.js'
import { readAttachment, type Attachment } from './attachments.js'
import { within, type PDFDocumentProxy, type PDFPageProxy } from './engine.js'

/** Kinds of annotations that hold text of their own: all of pdf.js's 26 but links (2) and the windows of notes (16). */
const WITH_TEXT = new Set(
  Array.from({ length: 27 }, (_, kind) => kind).filter((kind) => kind !== 2 && kind !== 16),
)
/** A tree that states more pages than this may lie, and is walked page by page only. */
const PAGES_ASKED_MAX = 2_000

/**
 * Pages that have more annotations than links. For a page with links pdf.js would read the text a second time, to say what
 * lies under each: on a paper with links that was half of the whole time.
 *
 * @returns numbers from 1; undefined when every page has to be asked
 */
export async function pagesToAsk(
  document: PDFDocumentProxy,
  ms: number,
): Promise<Set<number> | undefined> {
  if (document.numPages > PAGES_ASKED_MAX) return undefined
  try {
    const found = (await within(document.getAnnotationsByType(WITH_TEXT, new Set()), ms)) as unknown
    return new Set((found as Array<{ pageIndex: number }>).map(({ pageIndex }) => pageIndex + 1))
  } catch {
    return undefined // a page is broken, or the time is over, which the next page will say
  }
}

/** What pdf.js tells of an annotation, as far as it is text. */
interface Annotation {
  id: string
  subtype?: string
  /** Left, bottom, right, top. */
  rect?: readonly [number, number, number, number]
  hasAppearance?: boolean
  fieldType?: string
  fieldValue?: unknown
  pushButton?: boolean
  /** Of a choice: what may be chosen, and whether only the chosen shows. */
  options?: Array<{ exportValue?: string; displayValue?: string }>
  combo?: boolean
  contentsObj?: { str?: string }
  /** Lines drawn by a text field or a text on the page. */
  textContent?: string[]
  hidden?: boolean
  password?: boolean
  file?: Attachment
}

/** Writes what the annotations of a page say and show, each thing once, and what the files among them hold. */
export async function readAnnotations(
  page: PDFPageProxy,
  sink: TextSink,
  context: Context,
): Promise<void> {
  const annotations = ((await page.getAnnotations()) as Annotation[]).filter(
    ({ subtype, hidden, password }) => subtype !== 'Link' && !hidden && !password,
  )
  const drawn = annotations.some(drawsWords) ? await appearances(page) : undefined
  const said = new Set<string>()
  for (const annotation of annotations) {
    const { subtype, textContent, contentsObj, file } = annotation
    const shown = drawsWords(annotation) ? drawn?.get(annotation.id) : textContent?.join('\n')
    const isField = subtype === 'Widget'
    const texts = isField ? valuesOf(annotation) : [contentsObj?.str ?? '']
    // What is drawn is mostly the same, broken into lines or cut at the field's edge.
    const lettersShown = letters(shown)
    const isAll = texts.some((text) => letters(text).includes(lettersShown))
    const isMore = !isField && lettersShown.includes(letters(texts[0]))
    for (const text of isAll ? texts : isMore ? [shown] : [...texts, shown]) {
      if (!text?.trim() || said.has(text)) continue
      said.add(text)
      sink.line(text)
    }
    if (file) await readAttachment(file, sink, context)
  }
}

/** Marks over the text, and icons: nothing of theirs is a word. */
const DRAWS_NONE =
  /^(?:Popup|Highlight|Underline|Squiggly|StrikeOut|Ink|Caret|Text|Widget|FreeText)$/

/** Whether an annotation draws words that are neither its value nor told by pdf.js; marks in boxes are none. */
function drawsWords({ subtype, rect, hasAppearance, fieldType, pushButton }: Annotation): boolean {
  if (!hasAppearance || !rect || rect[0] === rect[2] || rect[1] === rect[3]) return false
  return !DRAWS_NONE.test(subtype ?? '') || fieldType === 'Sig' || pushButton === true
}

/** What a field holds as a person sees it: for a choice the words that stand for the value, for a list all its lines. */
function valuesOf({ fieldType, fieldValue, options = [], combo }: Annotation): string[] {
  if (fieldType === 'Btn') return [] // Off, Yes, 0: names of states
  const values = [fieldValue].flat().filter((value) => typeof value === 'string')
  if (fieldType !== 'Ch') return values
  const names = new Map(options.map(({ exportValue, displayValue }) => [exportValue, displayValue]))
  const shown = values.map((value) => names.get(value) ?? value)
  return combo ? shown : [...options.map(({ displayValue }) => displayValue ?? ''), ...shown]
}

const letters = (text = ''): string => text.replace(/[^\p{L}\p{M}\p{N}]+/gu, '')
