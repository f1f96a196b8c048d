/**
 * Web pages as documents. The rules of what is seen are mail/html.ts; the encoding is by byte order mark,
 * declaration, `<meta>` and detector (mail/charset.ts). Equations follow as LaTeX.
 */
import type { Extractor } from './extractor.js'
import { equationsOf } from './office/equation.js'

export const html: Extractor = {
  name: 'html',
  version: 3,
  title: 'Web pages (html, xhtml)',
  types: ['text/html', 'application/xhtml+xml'],
  extensions: ['html', 'htm', 'xhtml'],
  lane: 'text',
  async extract({ bytes, charset }, sink, { budget }) {
    const { decodeText } = await import('../mail/charset.js')
    const { readHtml } = await import('../mail/html.js')
    const { text } = decodeText(bytes, { declared: charset, markup: true })
    readHtml(text, (piece) => sink.write(piece))
    const equations = equationsOf(text, budget.limits.xmlDepth)
    if (equations.length > 0) sink.write('\n')
    for (const equation of equations) sink.line(equation)
  },
}
