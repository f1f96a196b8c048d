/** The parts beside an OpenDocument's content: properties, and the headers and footers of its page styles. */
import { isProgramProperty } from '../given-by-program.js'
import type { TextSink } from '../sink.js'
import type { XmlHandler, XmlScanner } from '../xml.js'
import { Flow } from './flow.js'
import type { OpenDocumentKind } from './opendocument-content.js'
import { isPageNumberAlone } from './page-margin.js'

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
    // OpenOffice.org 1 puts its keywords into an element of their own
    if (name === 'keywords') return
    if (xml.parent !== 'meta' && xml.parent !== 'keywords') xml.skip()
    else if (name === 'user-defined' && (xml.attribute('value-type') ?? 'string') !== 'string')
      xml.skip()
    else if (PROPERTIES.includes(name)) {
      this.#open = name
      this.#ownName = xml.attribute('name') ?? ''
    }
  }

  close(name: string, xml: XmlScanner): void {
    if (name === 'meta') return xml.finish()
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
  'page-name',
  'sheet-name',
  'date',
  'time',
  'file-name',
])

/**
 * The element `office:master-styles` alone: in front of it stand the styles, most of the part, of which nothing is
 * read. All bytes where it is not found as plain ASCII, or has no end.
 */
export function mastersOf(bytes: Buffer): Buffer {
  const first = bytes.indexOf(MASTERS)
  const last = bytes.lastIndexOf(MASTERS)
  const start = bytes.lastIndexOf('<', first)
  const end = bytes.indexOf('>', last)
  return first < last && start >= 0 && end >= 0 ? bytes.subarray(start, end + 1) : bytes
}

const MASTERS = ':master-styles'

/**
 * Collects from `office:master-styles` the headers and footers of pages, each distinct text once, and what the
 * masters of slides draw beside their placeholders.
 */
export class StylesHandler implements XmlHandler {
  readonly headers = new Set<string>()
  readonly footers = new Set<string>()
  /** Lines on the masters of slides by the masters' names. */
  readonly masters = new Map<string, string[]>()
  readonly #kind: OpenDocumentKind
  #chunks: string[] = []
  #flow = new Flow({ write: (text) => this.#chunks.push(text) })
  /** Open header, footer or master of slides. */
  #margin = ''
  #master = ''
  #isText = 0

  constructor(kind: OpenDocumentKind) {
    this.#kind = kind
  }

  open(name: string, xml: XmlScanner): void {
    if (this.#margin === '') {
      if (name === 'master-page') {
        this.#master = xml.attribute('name') ?? ''
        if (this.#hasSlides) this.#margin = name
      } else if (
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
    else if (name === 'tab' || name === 'tab-stop') this.#flow.text('\t')
    else if (name === 's') this.#flow.text(' ')
    else if (name === 'line-break') this.#flow.newline()
    else if (name === 'tracked-changes' || (this.#kind !== 'text' && PAGE_FIELDS.has(name)))
      xml.skip()
    else if (this.#hasSlides && (name === 'notes' || xml.attribute('class') !== undefined))
      // what slides fill in themselves
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
      this.#keep(name, text)
      this.#margin = ''
    }
  }

  text(text: string): void {
    if (this.#margin !== '' && this.#isText > 0) this.#flow.text(text.replace(/[ \t\r\n]+/g, ' '))
  }

  #keep(name: string, text: string): void {
    if (this.#hasSlides)
      this.masters.set(
        this.#master,
        text.split('\n').filter((line) => /[\p{L}\p{N}]/u.test(line)),
      )
    else if (text === '') return
    else if (this.#kind !== 'spreadsheet' || !isPageNumberAlone(text))
      (name.startsWith('header') ? this.headers : this.footers).add(text)
  }

  get #hasSlides(): boolean {
    return this.#kind === 'presentation' || this.#kind === 'graphics'
  }
}
