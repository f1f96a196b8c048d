/** The content of an OpenDocument, whatever its kind: paragraphs, tables, sheets, slides, shapes, charts. */
import type { Context } from '../extractor.js'
import type { TextSink } from '../sink.js'
import type { XmlHandler, XmlScanner } from '../xml.js'
import { isGivenSheetName } from '../given-by-program.js'
import { isGivenName, NAMES_MAX, writeNames } from './defined-names.js'
import { alternativeText } from './drawing.js'
import { EquationReader } from './equation.js'
import { Flow } from './flow.js'
import { Cell } from './opendocument-cell.js'
import { FormReader } from './opendocument-forms.js'
import { inReadingOrder } from './reading-order.js'
import { SHAPES_MAX, type Shape } from './shapes.js'

/** `embedded`: a chart, formula or document inside another one. */
export type OpenDocumentKind = 'text' | 'spreadsheet' | 'presentation' | 'graphics' | 'embedded'

/** Nothing in these is text of the document. */
const SKIPPED = new Set([
  'tracked-changes',
  'ruby-text',
  'note-citation',
  'footnote-citation',
  'endnote-citation',
  'scripts',
  'font-face-decls',
  'automatic-styles',
  'styles',
  'master-styles',
  'settings',
  'content-validations',
  'calculation-settings',
  'database-ranges',
  'data-pilot-tables',
  'dde-links',
  'dde-connection-decls',
  'scenario',
  'hidden-paragraph',
  'table-of-content-source',
  'illustration-index-source',
  'table-index-source',
  'object-index-source',
  'user-index-source',
  'alphabetical-index-source',
  'bibliography-source',
  'annotation-xml',
  'number',
  'page-thumbnail',
  'table-source',
  'label-ranges',
  'consolidation',
])

/** Shapes that hold paragraphs themselves, on a page or in the middle of one. */
const TEXT_SHAPES = new Set([
  'custom-shape',
  'rect',
  'ellipse',
  'circle',
  'line',
  'polyline',
  'polygon',
  'path',
  'connector',
  'caption',
  'measure',
  'regular-polygon',
])

/** Shapes that can stand directly on a page. */
const SHAPES = new Set([...TEXT_SHAPES, 'frame', 'g', 'control', 'a'])

/** Kinds of document by the element in which their content stands. */
const KIND_OF_BODY: Record<string, OpenDocumentKind> = {
  text: 'text',
  spreadsheet: 'spreadsheet',
  presentation: 'presentation',
  drawing: 'graphics',
}

export class ContentHandler implements XmlHandler {
  readonly pictures: string[] = []
  /** Pictures that stand in the document as base64, without line ends: those of the flat forms. */
  readonly picturesInText: string[] = []
  readonly links: string[] = []
  #kind: OpenDocumentKind
  /** The body told it; flat documents hold other bodies inside. */
  #isKindSure: boolean
  readonly #sink: TextSink
  readonly #context: Context
  readonly #outer: Flow
  #flow: Flow
  #objects: Array<{ href: string }> = []
  /** Open paragraphs of the current box, and the boxes around it. */
  #paragraphs = 0
  readonly #around: Box[] = []
  #pageNumber = 0
  #pageName = ''
  /** Name of the open page's master, lines that each master draws, and those that a page showed already. */
  #master: string | undefined
  readonly #masters: ReadonlyMap<string, readonly string[]>
  readonly #drawn = new Set<string>()
  /** Shapes of the open page; undefined outside of one. */
  #shapes: Shape[] | undefined
  #notes: string[][] = []
  /** The shape that is being read, and the element around it. */
  #shape: Shape | undefined
  #shapeParent = ''
  readonly #names = new Set<string>()
  /** Headers and footers that slides share, and the one that is being read. */
  readonly #margins = new Set<string>()
  #margin: string | undefined
  #inNotes = false
  /** Alternative text that is being read. */
  #alternative: string | undefined
  /** The open cell of a sheet, or undefined. */
  #cell: Cell | undefined
  #comment: string | undefined
  #comments: string[] = []
  #inChart = false
  /** The open frame has an object, of which its picture is a copy. */
  #hasObject = false
  /** Base64 of the picture that is open. */
  #base64: string[] | undefined
  #equation: EquationReader | undefined
  readonly #forms = new FormReader()
  #inForms = false

  /** @param masters lines that each master page draws beside its placeholders; written behind the first page that shows them */
  constructor(
    kind: OpenDocumentKind,
    flow: Flow,
    sink: TextSink,
    context: Context,
    masters: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    this.#masters = masters
    this.#kind = kind
    this.#isKindSure = kind === 'embedded'
    this.#flow = flow
    this.#outer = flow
    this.#sink = sink
    this.#context = context
  }

  /** Objects met since the last call; they are read where they stand. */
  takeObjects(): Array<{ href: string }> {
    const objects = this.#objects
    this.#objects = []
    return objects
  }

  open(name: string, xml: XmlScanner): void {
    if (this.#equation) return this.#equation.open(name, xml)
    if (this.#inForms) return this.#forms.open(name, xml)
    switch (name) {
      case 'math':
        this.#equation = new EquationReader()
        return
      case 'p':
      case 'h':
        if (this.#paragraphs > 0) this.#enterBox(true)
        this.#paragraphs++
        if (this.#cell && this.#cell.text !== '') this.#cell.text += ' '
        return
      case 's':
        return this.#write(' '.repeat(Math.min(Number(xml.attribute('c')) || 1, 100)))
      case 'tab':
      case 'tab-stop':
        return this.#write('\t')
      case 'line-break':
        return this.#cell ? this.#write(' ') : this.#flow.newline()
      case 'text-box':
        this.#openUnframed(name, xml)
        return this.#enterBox()
      case 'note-body':
      case 'footnote-body':
      case 'endnote-body':
        return this.#enterBox()
      case 'hidden-text':
        return this.#write(xml.attribute('string-value') ?? '')
      case 'page-number':
      case 'page-name':
        // number and name of a slide are drawn, and what stands here is a placeholder
        if (!this.#shapes) return
        xml.skip()
        if (name === 'page-name') this.#write(this.#pageName)
        return
      case 'forms':
        this.#inForms = true
        return
      case 'meta':
        // text:meta is a piece of a sentence
        if (xml.parent.startsWith('document')) xml.skip()
        return
      case 'annotation':
        if (this.#kind === 'spreadsheet' && this.#cell) this.#comment = ''
        else this.#enterBox()
        return
      case 'creator':
      case 'creator-initials':
      case 'sender-initials':
      case 'date':
        if (xml.parent === 'annotation') xml.skip()
        return
      case 'title':
      case 'desc':
        if (!IN_RUNNING_TEXT.has(xml.parent)) this.#alternative = ''
        return
      case 'table':
        return this.#openTable(xml)
      case 'table-cell':
      case 'covered-table-cell':
        if (this.#shapes === undefined && (this.#kind === 'spreadsheet' || this.#inChart))
          this.#cell ??= new Cell(xml)
        return
      case 'named-range':
      case 'named-expression':
        return this.#name(xml.attribute('name') ?? '')
      case 'footer-decl':
      case 'header-decl':
      case 'date-time-decl':
        this.#margin = ''
        return
      case 'page':
        if (xml.parent === 'presentation' || xml.parent === 'drawing' || xml.parent === 'body')
          this.#openPage(xml)
        return
      case 'notes':
        this.#inNotes = true
        return
      case 'chart':
        this.#inChart = true
        return
      case 'image':
        this.#openUnframed(name, xml)
        this.#picture(xml.attribute('href'))
        return
      case 'binary-data':
        if (xml.parent !== 'image' || this.#hasObject) return xml.skip()
        this.#base64 = []
        return
      case 'object':
      case 'object-ole': {
        this.#openUnframed(name, xml)
        this.#hasObject = true
        const member = memberOf(xml.attribute('href'))
        if (member !== undefined) this.#objects.push({ href: member })
        return
      }
      default:
        if (SKIPPED.has(name)) return xml.skip()
        if (xml.parent === 'body' && !this.#isKindSure) {
          this.#kind = KIND_OF_BODY[name] ?? this.#kind
          this.#isKindSure = true
        }
        if (name === 'event-listener' || name.startsWith('area-')) this.#link(xml.attribute('href'))
        if (name === 'frame') this.#hasObject = false
        if (name === 'a') this.#link(xml.attribute('href'))
        if (SHAPES.has(name)) this.#openShape(name, xml)
        if (TEXT_SHAPES.has(name)) this.#enterBox()
        if (name === 'control') this.#writeControl(this.#forms.of(xml.attribute('control')))
    }
  }

  close(name: string, xml: XmlScanner): void {
    if (this.#equation) {
      this.#equation.close(name)
      if (name === 'math') this.#closeEquation(this.#equation)
      return
    }
    if (this.#inForms) {
      if (name === 'forms') this.#inForms = false
      else this.#forms.close()
      return
    }
    switch (name) {
      case 'p':
      case 'h':
        this.#paragraphs--
        if (!this.#cell) this.#flow.paragraph()
        else if (this.#comment !== undefined) this.#comment += ' '
        if (this.#paragraphs === 0 && this.#around[this.#around.length - 1]?.isParagraph)
          this.#leaveBox()
        if (this.#objects.length > 0 && !this.#flow.isInBox) xml.pause()
        return
      case 'text-box':
        this.#leaveBox()
        return this.#closeUnframed(name, xml)
      case 'image':
      case 'object':
      case 'object-ole':
        return this.#closeUnframed(name, xml)
      case 'note-body':
      case 'footnote-body':
      case 'endnote-body':
        return this.#leaveBox()
      case 'annotation':
        if (this.#comment === undefined) return this.#leaveBox()
        this.#comments.push(this.#comment.trim())
        this.#comment = undefined
        return
      case 'title':
      case 'desc':
        return this.#closeAlternative()
      case 'table-cell':
      case 'covered-table-cell':
        if (this.#cell) this.#closeCell(this.#cell)
        else if (this.#paragraphs === 0) this.#flow.cell()
        return
      case 'table-row':
        if (this.#paragraphs === 0) this.#flow.newline()
        return
      case 'table':
        if (this.#kind !== 'spreadsheet') return
        this.#flow.newline()
        for (const comment of this.#comments.splice(0)) {
          this.#flow.text(comment)
          this.#flow.newline()
        }
        if (this.#objects.length > 0) xml.pause()
        return
      case 'footer-decl':
      case 'header-decl':
      case 'date-time-decl':
        if (this.#margin?.trim()) this.#margins.add(this.#margin.replace(/\s+/g, ' ').trim())
        this.#margin = undefined
        return
      case 'page':
        if (this.#shapes) this.#closePage()
        if (this.#objects.length > 0) xml.pause()
        return
      case 'notes':
        this.#inNotes = false
        return
      case 'chart':
        this.#inChart = false
        return
      case 'binary-data':
        if (this.#base64) this.picturesInText.push(this.#base64.join('').replace(/\s+/g, ''))
        this.#base64 = undefined
        return
      default:
        if (TEXT_SHAPES.has(name)) this.#leaveBox()
        if (SHAPES.has(name)) this.#closeShape(name, xml)
    }
  }

  text(text: string): void {
    if (this.#equation) {
      this.#equation.text(text)
      if (this.#equation.isInLeaf) this.#write(text.replace(/[ \t\r\n]+/g, ' '))
    } else if (this.#base64) this.#base64.push(text)
    else if (this.#alternative !== undefined) this.#alternative += text
    else if (this.#margin !== undefined) this.#margin += text
    else if (this.#paragraphs > 0) this.#write(text.replace(/[ \t\r\n]+/g, ' '))
  }

  /** Closes what a limit or a damaged end left open. */
  end(): void {
    if (this.#cell) this.#closeCell(this.#cell)
    if (this.#shapes) this.#closePage()
    this.#outer.end()
    for (const margin of this.#margins) this.#sink.line(margin)
    writeNames([...this.#names], this.#sink)
  }

  #write(text: string): void {
    if (this.#comment !== undefined) this.#comment += text
    else if (this.#cell) this.#cell.text += text
    else this.#flow.text(text)
  }

  /** Outside of paragraphs a box stands where it is met; inside of one it follows it. */
  #enterBox(isParagraph = false): void {
    const isAside = this.#paragraphs > 0
    if (isAside) this.#flow.enterBox()
    this.#around.push({ paragraphs: this.#paragraphs, isAside, isParagraph })
    this.#paragraphs = 0
  }

  #leaveBox(): void {
    const box = this.#around.pop()
    if (!box) return
    if (box.isAside) this.#flow.leaveBox()
    this.#paragraphs = box.paragraphs
  }

  #openTable(xml: XmlScanner): void {
    if (this.#kind !== 'spreadsheet' || !(xml.parent === 'spreadsheet' || xml.parent === 'body'))
      return
    this.#flow.end()
    this.#sink.page(++this.#pageNumber)
    const title = xml.attribute('name') ?? ''
    if (isGivenSheetName(title)) return
    this.#flow.text(title)
    this.#flow.newline()
  }

  #closeCell(cell: Cell): void {
    this.#cell = undefined
    const text = cell.displayed(this.#inChart)
    if (text === '') return
    for (let i = 0; i < cell.repeated; i++) {
      this.#context.budget.takeCell()
      this.#flow.text(text)
      this.#flow.cell()
    }
  }

  #openPage(xml: XmlScanner): void {
    this.#flow.end()
    this.#sink.page(++this.#pageNumber)
    this.#shapes = []
    this.#notes = []
    this.#master = xml.attribute('master-page-name')
    // a page without a name of its own is shown as `Slide 1`, and kept as `page1`
    this.#pageName = (xml.attribute('name') ?? '').replace(/^page(?=\d+$)/, 'Slide ')
  }

  #closePage(): void {
    const shapes = this.#shapes ?? []
    this.#shapes = undefined
    this.#flow = this.#outer
    const write = (shape: Shape): void => {
      for (const piece of shape.content) if (typeof piece === 'string') this.#sink.write(piece)
      shape.children.forEach(write)
    }
    inReadingOrder(shapes).forEach(write)
    for (const line of this.#masters.get(this.#master ?? '') ?? [])
      if (!this.#drawn.has(line)) {
        this.#drawn.add(line)
        this.#sink.line(line)
      }
    for (const note of this.#notes) this.#sink.write(note.join(''))
  }

  /** In OpenOffice.org 1 these stand on the page without a frame. */
  #openUnframed(name: string, xml: XmlScanner): void {
    if (xml.parent !== 'frame') this.#openShape(name, xml)
  }

  #closeUnframed(name: string, xml: XmlScanner): void {
    if (xml.parent !== 'frame') this.#closeShape(name, xml)
  }

  #openShape(name: string, xml: XmlScanner): void {
    if (!this.#shapes || name === 'a') return
    const [x, y] = [xml.attribute('x'), xml.attribute('y')].map(millimetres)
    const [width, height] = [xml.attribute('width'), xml.attribute('height')].map(millimetres)
    const box: Shape['box'] =
      x === undefined || y === undefined ? undefined : [x, y, width ?? 0, height ?? 0]
    if (this.#flow !== this.#outer) {
      // a group stands where the first of its shapes does
      if (this.#shape) this.#shape.box ??= box
      return
    }
    if (this.#shapes.length > SHAPES_MAX) return
    const chunks: string[] = []
    const isPrompt = xml.attribute('placeholder') === 'true'
    this.#flow = new Flow({ write: (text) => void (isPrompt || chunks.push(text)) })
    this.#shapeParent = xml.parent
    this.#shape = { placeholder: undefined, index: undefined, box, content: chunks, children: [] }
    if (this.#inNotes) this.#notes.push(chunks)
    else this.#shapes.push(this.#shape)
  }

  #closeShape(name: string, xml: XmlScanner): void {
    if (
      !this.#shapes ||
      this.#flow === this.#outer ||
      xml.parent !== this.#shapeParent ||
      name === 'a'
    )
      return
    this.#flow.end()
    this.#flow = this.#outer
  }

  #name(name: string): void {
    if (!isGivenName(name) && this.#names.size < NAMES_MAX) this.#names.add(name)
  }

  #closeEquation(equation: EquationReader): void {
    this.#equation = undefined
    const latex = equation.latex()
    if (latex !== undefined) this.#flow.behind(latex)
    if (this.#paragraphs === 0) this.#flow.paragraph()
  }

  #closeAlternative(): void {
    const text = alternativeText(this.#alternative)
    this.#alternative = undefined
    if (text === undefined) return
    if (this.#cell) this.#comments.push(text)
    else this.#flow.behind(text)
  }

  #writeControl(texts: readonly string[]): void {
    if (texts.length === 0) return
    if (this.#cell) return void this.#comments.push(...texts)
    this.#enterBox()
    for (const text of texts) {
      this.#flow.text(text)
      this.#flow.newline()
    }
    this.#leaveBox()
  }

  #picture(href: string | undefined): void {
    const member = memberOf(href)
    if (member !== undefined) this.pictures.push(member)
  }

  #link(href: string | undefined): void {
    if (href && /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:)/i.test(href)) this.links.push(href)
  }
}

interface Box {
  /** Open paragraphs around it. */
  paragraphs: number
  isAside: boolean
  /** It is a paragraph in a paragraph, and ends with it. */
  isParagraph: boolean
}

/** Parents in which `title` is a field of the running text, not a drawing's alternative text. */
const IN_RUNNING_TEXT = new Set(['p', 'h', 'span', 'a', 'meta', 'chart', 'axis'])

/** A target inside the package as a member's name; OpenOffice.org 1 writes `#Pictures/…` and `#./Object 1`. */
function memberOf(href: string | undefined): string | undefined {
  return href && !href.includes('://') ? href.replace(/^#?(?:\.\/)?/, '') : undefined
}

const MILLIMETRES: Record<string, number> = {
  mm: 1,
  cm: 10,
  in: 25.4,
  pt: 25.4 / 72,
  pc: 25.4 / 6,
  px: 25.4 / 96,
}

function millimetres(length: string | undefined): number | undefined {
  const parts = /^(-?[\d.]+)(mm|cm|in|pt|pc|px)$/.exec(length ?? '')
  return parts ? Number(parts[1]) * (MILLIMETRES[parts[2] as string] as number) : undefined
}
