/**
 * XML of any kind: its text and the values of its attributes, in document order, a line each. Also SVG,
 * of which only the text that is drawn, titles and descriptions are read.
 *
 * Tolerant: what is not well-formed is read up to the end. Entities of a DTD are never expanded, nothing is fetched.
 */
import type { Extractor } from './extractor.js'
import { Cut } from './budget.js'

/** Characters handed to the parser at a time, so that a full sink ends the work early. */
const CHUNK = 65_536

export const xml: Extractor = {
  name: 'xml',
  version: 2,
  title: 'XML, SVG',
  types: ['text/xml', 'image/svg+xml'],
  extensions: ['xml', 'svg'],
  lane: 'text',
  async extract({ bytes, charset, type }, sink, { budget }) {
    const { Parser } = await import('htmlparser2')
    const { decodeText } = await import('../mail/charset.js')
    const { htmlText } = await import('../mail/html.js')
    const isSvg = type === 'image/svg+xml'
    let depth = 0
    let silent = 0
    let pending = ''
    let piece = ''
    /** `y` of the last piece of an SVG that has one. */
    let height: string | undefined
    const flush = (): void => {
      const text = pending.trim()
      pending = ''
      if (text === '') return
      // feeds carry pages as escaped markup
      sink.line(!isSvg && text.includes('</') && text.includes('>') ? htmlText(text) : text)
    }
    const parser = new Parser(
      {
        onopentag(name, attributes) {
          if (++depth > budget.limits.xmlDepth) throw new Cut('xml-depth')
          const local = localName(name)
          if (silent > 0 || (isSvg && SVG_SILENT.has(local))) {
            silent++
            return
          }
          if (!(isSvg && local === 'tspan')) flush()
          else if (beginsLine(attributes, height)) flush()
          else if (attributes.x !== undefined && IS_WORD.test(piece)) pending += ' '
          piece = ''
          height = attributes.y ?? (local === 'tspan' ? height : undefined)
          if (isSvg) return
          for (const [attribute, value] of Object.entries(attributes))
            if (isWorthReading(attribute, value)) sink.line(value)
        },
        ontext(text) {
          if (silent > 0) return
          pending += text
          if (piece.length < 100) piece += text
          if (pending.length > CHUNK) flush()
        },
        onclosetag(name) {
          depth--
          if (silent > 0) silent--
          else if (!(isSvg && localName(name) === 'tspan')) flush()
        },
      },
      { xmlMode: true, decodeEntities: true },
    )
    const text = withoutDoctype(decodeText(bytes, { declared: charset, markup: true }).text)
    for (let at = 0; at < text.length; at += CHUNK) parser.write(text.slice(at, at + CHUNK))
    parser.end()
    flush()
  },
}

/** A document type may hold declarations in brackets, which the parser takes for text. */
function withoutDoctype(text: string): string {
  const at = text.slice(0, DOCTYPE_WITHIN).search(/<!DOCTYPE/i)
  if (at < 0) return text
  const end = /^[^[>]*(?:\[[^\]]*\]\s*)?>/.exec(text.slice(at, at + DOCTYPE_WITHIN))?.[0].length
  return end === undefined ? text : text.slice(0, at) + text.slice(at + end)
}

const DOCTYPE_WITHIN = 100_000

/** A piece of an SVG text that is placed at another height. A shift alone goes on where the text is: an exponent. */
function beginsLine({ x, y, dy }: Record<string, string>, height: string | undefined): boolean {
  if (y !== undefined) return y !== height
  return x !== undefined && dy !== undefined && Number.parseFloat(dy) !== 0
}

/** More than one letter: programs that place each letter write no spaces between them. */
const IS_WORD = /[\p{L}\p{N}]{2}/u

const SVG_SILENT = new Set(['style', 'script', 'metadata'])

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase()
}

/** Values that somebody may have written: with a letter or a digit in them, no address of a namespace, no blob. */
function isWorthReading(attribute: string, value: string): boolean {
  return (
    value.length < 10_000 &&
    /[\p{L}\p{N}]/u.test(value) &&
    !/^xmlns\b|schemalocation$/i.test(attribute) &&
    !(value.length > 200 && !/\s/.test(value))
  )
}
