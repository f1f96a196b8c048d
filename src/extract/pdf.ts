/**
 * PDF: the text layer page by page, then what hangs beside it (form fields, annotations, bookmarks,
 * attachments). Pages that are only pixels go to the OCR lane.
 *
 * Format: ISO 32000-2. Engine: pdf.js (pdf/engine.ts).
 */
import type { TextItem } from 'pdfjs-dist/types/src/display/api.js'
import { Cut } from './budget.js'
import type { Context, Extractor, Facts } from './extractor.js'
import { within, withPdf, type PDFDocumentProxy, type PDFPageProxy } from './pdf/engine.js'
import { pageText } from './pdf/lines.js'
import type { TextSink } from './sink.js'

export const pdf: Extractor = {
  name: 'pdf',
  version: 1,
  title: 'PDF',
  types: ['application/pdf'],
  extensions: ['pdf'],
  lane: 'text',
  extract: (source, sink, context) =>
    withPdf(source.bytes, context.settings.passwords, context.budget.msLeft, (document) =>
      readDocument(document, sink, context),
    ),
}

async function readDocument(
  document: PDFDocumentProxy,
  sink: TextSink,
  context: Context,
): Promise<Facts> {
  const { budget } = context
  const failures: string[] = []
  const attempt = async (what: string, read: () => Promise<void>): Promise<void> => {
    try {
      budget.checkTime()
      await within(read(), budget.msLeft)
    } catch (error) {
      if (error instanceof Cut) throw error
      failures.push(what)
    }
  }

  await attempt('properties', () => readProperties(document, sink))
  for (let number = 1; number <= document.numPages; number++)
    await attempt(`page ${number}`, async () => {
      sink.page(number)
      const page = await document.getPage(number)
      try {
        await readPage(page, sink)
      } finally {
        page.cleanup()
      }
    })
  await attempt('bookmarks', () => readBookmarks(document, sink))
  await attempt('attachments', () => readAttachments(document, sink, context))

  return {
    pageCount: document.numPages,
    empty: 'no-text-layer',
    ...(failures.length > 0 && { partial: `not read: ${failures.slice(0, 20).join(', ')}` }),
  }
}

async function readProperties(document: PDFDocumentProxy, sink: TextSink): Promise<void> {
  const { info } = (await document.getMetadata()) as unknown as { info: Record<string, unknown> }
  for (const key of ['Title', 'Subject', 'Keywords']) {
    const value = info[key]
    if (typeof value === 'string' && value.trim() !== '') sink.line(value.trim())
  }
}

async function readPage(page: PDFPageProxy, sink: TextSink): Promise<void> {
  const { items } = await page.getTextContent()
  const text = pageText(items.filter((item): item is TextItem => 'str' in item))
  sink.line(text)
  await readAnnotations(page, sink)
}

/** What pdf.js tells of an annotation, as far as it is text. */
interface Annotation {
  subtype?: string
  fieldType?: string
  fieldValue?: unknown
  contentsObj?: { str?: string }
  textContent?: string[]
  hidden?: boolean
  password?: boolean
}

async function readAnnotations(page: PDFPageProxy, sink: TextSink): Promise<void> {
  const annotations = (await page.getAnnotations()) as Annotation[]
  const said = new Set<string>()
  const say = (text: unknown): void => {
    if (typeof text !== 'string' || text.trim() === '' || said.has(text)) return
    said.add(text)
    sink.line(text)
  }
  for (const annotation of annotations) {
    if (annotation.subtype === 'Widget') {
      if (annotation.fieldType === 'Btn' || annotation.password) continue // Off, Yes, 0: names of states
      for (const value of [annotation.fieldValue].flat()) say(value)
    } else if (annotation.subtype !== 'Link') {
      for (const line of annotation.textContent ?? []) say(line)
      say(annotation.contentsObj?.str)
    }
  }
}

interface Bookmark {
  title: string
  items: Bookmark[]
}

async function readBookmarks(document: PDFDocumentProxy, sink: TextSink): Promise<void> {
  const queue: Bookmark[] = ((await document.getOutline()) as Bookmark[] | null) ?? []
  if (queue.length === 0) return
  sink.page(document.numPages)
  while (queue.length > 0) {
    const { title, items } = queue.shift()!
    if (title.trim() !== '') sink.line(title)
    queue.unshift(...items)
  }
}

interface Attachment {
  filename: string
  rawFilename?: string
  content: Uint8Array | null
  description?: string
}

async function readAttachments(
  document: PDFDocumentProxy,
  sink: TextSink,
  context: Context,
): Promise<void> {
  const attachments = (await document.getAttachments()) as Record<string, Attachment> | null
  for (const { filename, content, description } of Object.values(attachments ?? {})) {
    if (description) sink.line(description)
    if (!content) continue
    context.budget.takeBytes(content.length)
    await context.nested(content, filename)
  }
}
