/**
 * Web pages as documents. The rules of what is seen are mail/html.ts; the encoding is by byte order mark,
 * declaration, `<meta>` and detector (mail/charset.ts).
 */
import type { Extractor } from './extractor.js'

export const html: Extractor = {
  name: 'html',
  version: 1,
  title: 'Web pages (html, xhtml)',
  types: ['text/html', 'application/xhtml+xml'],
  extensions: ['html', 'htm', 'xhtml'],
  lane: 'text',
  async extract({ bytes, charset }, sink) {
    const { decodeText } = await import('../mail/charset.js')
    const { readHtml } = await import('../mail/html.js')
    readHtml(decodeText(bytes, { declared: charset, markup: true }).text, (text) =>
      sink.write(text),
    )
  },
}
