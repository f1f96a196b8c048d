/**
 * What extracts.db holds of a message's parts, as the word table wants it: types for the file names, pages for the
 * attachments, and the revision that these are of.
 */
import type { Contents } from './contents.js'

export interface AttachmentTexts {
  files: Array<{ name: string; type: string }>
  attachments: Array<Array<{ text: string }>>
  revision: number
  /** UTF-16 units of the texts. */
  chars: number
}

/** @returns undefined where a text was read and is not kept */
export function attachmentTexts(
  contents: Contents,
  parts: ReadonlyArray<{ name: string; declaredType: string; hash: string }>,
  messageChars: number,
): AttachmentTexts | undefined {
  const texts: AttachmentTexts = { files: [], attachments: [], revision: 0, chars: 0 }
  for (const part of parts) {
    const content = contents.byHash(part.hash)
    texts.files.push({ name: part.name, type: content?.type ?? part.declaredType })
    if (content === undefined) continue
    texts.revision = Math.max(texts.revision, content.revision)
    const pages: Array<{ text: string }> = []
    if (content.chars !== null && content.chars > 0) {
      let hasText = false
      for (const page of contents.pages(content.id)) {
        hasText = true
        if (texts.chars > messageChars) break
        texts.chars += page.text.length
        if (page.isContinued && pages.length > 0)
          (pages.at(-1) as { text: string }).text += page.text
        else pages.push({ text: page.text })
      }
      if (!hasText) return undefined
    }
    texts.attachments.push(pages)
  }
  return texts
}
