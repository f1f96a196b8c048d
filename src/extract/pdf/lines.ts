/**
 * Text items of a PDF page to lines of text. pdf.js gives the items in the order they are drawn, with
 * most spaces already found; joining them by their own text is what reads best.
 */
import type { TextItem } from 'pdfjs-dist/types/src/display/api.js'

/** The text of a page, lines ended by newlines, spaces only where the page has them. */
export function pageText(items: readonly TextItem[]): string {
  let text = ''
  for (const item of items) {
    text += item.str
    if (item.hasEOL) text += '\n'
  }
  return text
}
