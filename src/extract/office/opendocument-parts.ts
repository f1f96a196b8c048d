/** The parts beside an OpenDocument's content: properties, and the headers and footers of its page styles. */
import { isProgramProperty } from '../given-by-program.js'
import type { TextSink } from '../sink.js'
import type { XmlHandler, XmlScanner } from '../xml.js'
import { Flow } from './flow.js'
import type { OpenDocumentKind } from './opendocument-content.js'

/** Elements of `office:meta` that a person fills in, in the order they are written. */
const PROPERTIES = [
  'title',
  'subject',
  'keyword',
  'description',
  'initial-creator',
  'creator',
  'user-defined',
]

export class MetaHandler implements XmlHandler {
  readonly #values = new Map<string, string[]>()
  #open = ''
  #value = ''
  /** Name of the property of the user's own that is open. */
  #ownName = ''

  open(name: string, xml: XmlScanner): void {
    if (name === 'meta' || name.startsWith('document')) return
    if (xml.parent !== 'meta') xml.skip()
    else if (name === 'user-defined' && (xml.attribute('value-type') ?? 'string') !== 'string')
      xml.skip()
    else if (PROPERTIES.includes(name)) {
      this.#open = name
      this.#ownName = xml.attribute('name') ?? ''
    }
  }

  close(name: string): void {
    if (name !== this.#open) return
    const value = this.#value.replace(/\s+/g, ' ').trim()
    const isOurs = name !== 'user-defined' || !isProgramProperty(this.#ownName, value)
    if (value !== '' && isOurs) this.#values.set(name, [...(this.#values.get(name) ?? []), value])
    this.#open = ''
    this.#value = ''
  }

  text(text: string): void {
    if (this.#open !== '') this.#value += text
  }

  /** Writes the properties, a line each; authors as an aside. */
  write(sink: TextSink): void {
    const seen = new Set<string>()
    for (const name of PROPERTIES)
      for (const value of this.#values.get(name) ?? []) {
        if (seen.has(value)) continue
        seen.add(value)
        if (name.endsWith('creator')) sink.aside(value)
        else sink.line(value)
      }
  }
}

/** Fields that say the same of every document. */
const PAGE_FIELDS = new Set([
  'page-number',
  'page-count',
  'sheet-name',
  'date',
  'time',
  'file-name',
])

/** Collects the headers and footers of `office:master-styles`, each distinct text once. */
export class StylesHandler implements XmlHandler {
  readonly headers = new Set<string>()
  readonly footers = new Set<string>()
  readonly #isSpreadsheet: boolean
  #chunks: string[] = []
  #flow = new Flow({ write: (text) => this.#chunks.push(text) })
  /** Open header or footer. */
  #margin = ''
  #isText = 0

  constructor(kind: OpenDocumentKind) {
    this.#isSpreadsheet = kind === 'spreadsheet'
  }

  open(name: string, xml: XmlScanner): void {
    if (this.#margin === '') {
      if (
        /^(?:header|footer)(?:-left|-right|-first)?$/.test(name) &&
        xml.parent === 'master-page'
      ) {
        if (xml.attribute('display') === 'false') xml.skip()
        else this.#margin = name
      } else if (
        /^(?:styles|automatic-styles|font-face-decls|body|scripts|settings|handout-master)$/.test(
          name,
        )
      )
        xml.skip()
      return
    }
    if (name === 'p' || name === 'h') this.#isText++
    else if (name === 'tab') this.#flow.text('\t')
    else if (name === 's') this.#flow.text(' ')
    else if (name === 'line-break') this.#flow.newline()
    else if (name === 'tracked-changes' || (this.#isSpreadsheet && PAGE_FIELDS.has(name)))
      xml.skip()
  }

  close(name: string): void {
    if (this.#margin === '') return
    if (name === 'p' || name === 'h') {
      this.#isText--
      this.#flow.paragraph()
    } else if (name === this.#margin) {
      this.#flow.end()
      const text = this.#chunks.join('').trim()
      this.#chunks.length = 0
      const isBare = this.#isSpreadsheet && /^(?:\W*|page|seite|pagina|\W)+$/i.test(text)
      if (text !== '' && !isBare)
        (name.startsWith('header') ? this.headers : this.footers).add(text)
      this.#margin = ''
    }
  }

  text(text: string): void {
    if (this.#margin !== '' && this.#isText > 0) this.#flow.text(text.replace(/[ \t\r\n]+/g, ' '))
  }
}
