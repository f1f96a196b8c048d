/**
 * Tables as text (RFC 4180 and its relatives): cells apart by tabs, rows by lines.
 *
 * The delimiter is what cuts the first lines most evenly. Not responsible for the encoding.
 */
import type { Extractor } from './extractor.js'

export const csv: Extractor = {
  name: 'csv',
  version: 2,
  title: 'Tables as text (csv, tsv)',
  types: ['text/csv', 'text/tab-separated-values'],
  extensions: ['csv', 'tsv'],
  lane: 'text',
  async extract({ bytes, charset, type }, sink, { budget }) {
    const { decodeText } = await import('../mail/charset.js')
    let { text } = decodeText(bytes, { declared: charset })
    const said = /^"?sep=(.)"?\r?\n/i.exec(text)
    if (said) text = text.slice(said[0].length)
    const delimiter =
      said?.[1] ?? (type === 'text/tab-separated-values' ? '\t' : likeliestDelimiter(text))
    for (const cell of cells(text, delimiter)) {
      if (cell.text !== '') budget.takeCell()
      // a formula that keeps digits a text
      sink.write(/^="([^"]*)"$/.exec(cell.text)?.[1] ?? cell.text)
      sink.write(cell.isLast ? '\n' : '\t')
    }
  },
}

const DELIMITERS = [',', ';', '\t', '|'] as const

/** The delimiter that cuts most of the first lines into the same number of cells, more than one. */
function likeliestDelimiter(text: string): string {
  const lines = text
    .slice(0, 20_000)
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n|\n|\r/)
    .filter((line) => line !== '')
    .slice(0, 30)
  let best = ','
  let bestScore = 0
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    const usual = counts.toSorted((a, b) => a - b)[counts.length >> 1] ?? 0
    if (usual === 0) continue
    const even = counts.filter((count) => count === usual).length / counts.length
    const score = even * (1 + Math.min(usual, 50) / 100)
    if (score > bestScore) [best, bestScore] = [delimiter, score]
  }
  return best
}

interface Cell {
  text: string
  isLast: boolean
}

/** Cells in order. A quote that is never closed ends with its line, so that one stray quote does not swallow the rest. */
function* cells(text: string, delimiter: string): Generator<Cell> {
  let at = 0
  let unclosed = 0
  while (at < text.length) {
    let content: string
    if (text[at] === '"') {
      const end = unclosed < UNCLOSED_MAX ? closingQuote(text, at, delimiter) : -1
      if (end < 0) unclosed++
      if (end > 0) {
        content = text.slice(at + 1, end).replaceAll('""', '"')
        at = end + 1
      } else {
        const stop = cellEnd(text, at, delimiter)
        content = text.slice(at + 1, stop)
        at = stop
      }
    } else {
      const stop = cellEnd(text, at, delimiter)
      content = text.slice(at, stop)
      at = stop
    }
    const isLast = text[at] !== delimiter
    yield { text: content, isLast }
    if (isLast && text[at] === '\r' && text[at + 1] === '\n') at++
    at++
  }
}

/** After so many quotes that nothing closes, quotes are no quotes here. */
const UNCLOSED_MAX = 50
/** A quoted cell longer than this was never closed. */
const QUOTED_MAX = 200_000

/** Place of the quote that closes the cell: followed by a delimiter, a line end or the end; -1 when there is none. */
function closingQuote(text: string, open: number, delimiter: string): number {
  let at = open + 1
  const stop = Math.min(text.length, open + QUOTED_MAX)
  while (at < stop) {
    at = text.indexOf('"', at)
    if (at < 0 || at >= stop) return -1
    const next = text[at + 1]
    if (next === '"') {
      at += 2
      continue
    }
    if (next === undefined || next === delimiter || next === '\n' || next === '\r') return at
    at++
  }
  return -1
}

function cellEnd(text: string, from: number, delimiter: string): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === delimiter || character === '\n' || character === '\r') return at
  }
  return text.length
}
