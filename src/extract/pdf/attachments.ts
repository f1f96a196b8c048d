/** Files inside a PDF: in its list of attachments and portfolio, or pinned to a page (ISO 32000-2, 7.11.4). */
import type { Context } from '../extractor.js'
import type { TextSink } from '../sink.js'
import type { PDFDocumentProxy } from './engine.js'

/** As pdf.js hands one over. */
export interface Attachment {
  filename: string
  content?: Uint8Array | null
  description?: string
}

export async function readAttachments(
  document: PDFDocumentProxy,
  sink: TextSink,
  context: Context,
): Promise<void> {
  const attachments = (await document.getAttachments()) as Record<string, Attachment> | null
  for (const attachment of Object.values(attachments ?? {}))
    await readAttachment(attachment, sink, context)
}

/** Writes the description of a file and reads the file under its name. */
export async function readAttachment(
  { filename, content, description }: Attachment,
  sink: TextSink,
  context: Context,
): Promise<void> {
  if (/\.joboptions$/i.test(filename)) return // Distiller attaches its own settings
  if (description) sink.line(description)
  if (!content) return
  context.budget.takeBytes(content.length)
  await context.nested(content, filename)
}
