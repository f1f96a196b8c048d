/**
 * Visio: vsdx and its macro, template and stencil forms. A page is a page of the drawing; shapes are read
 * from the top left, and a shape without text of its own shows its master's.
 *
 * Format: [MS-VSDX].
 */
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { Inside } from './office/inside.js'
import { OfficePackage, writeLink, writeLinks, writeProperties } from './office/package.js'
import { inReadingOrder } from './office/reading-order.js'
import { SHAPES_MAX, type Shape } from './office/shapes.js'
import type { TextSink } from './sink.js'
import { scanEntry, type XmlHandler, type XmlScanner } from './xml.js'

export const vsdx: Extractor = {
  name: 'vsdx',
  version: 5,
  title: 'Visio (vsdx, vsdm, vstx, vssx)',
  types: [
    'application/vnd.ms-visio.drawing',
    'application/vnd.ms-visio.drawing.macroenabled.12',
    'application/vnd.ms-visio.template',
    'application/vnd.ms-visio.template.macroenabled.12',
    'application/vnd.ms-visio.stencil',
    'application/vnd.ms-visio.stencil.macroenabled.12',
  ],
  extensions: ['vsdx', 'vsdm', 'vstx', 'vstm', 'vssx', 'vssm'],
  lane: 'text',
  extract: readVisio,
}

/** Names that Visio gives to pages. */
const GIVEN_PAGE =
  /^(?:page|zeichenblatt|seite|página|pagina|strona|страница|ページ|页|페이지)\s?-?\s?\d+$/i

async function readVisio(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  const main = (await pack.mainPart('visio', 'visio/document.xml')) ?? 'visio/document.xml'
  const relationships = await pack.relationships(main)
  const inside = new Inside(pack, context)
  const scan = async <Handler extends XmlHandler>(
    part: string,
    handler: Handler,
  ): Promise<Handler> => {
    const entry = pack.member(part)
    if (entry) pack.note(await scanEntry(entry, context.budget, handler))
    return handler
  }

  const masters = new Map<string, Master>()
  for (const { part, id } of await list('masters', 'Master'))
    masters.set(id, await scan(part, new Master()))
  const pages = await list('pages', 'Page')
  if (pages.length === 0 && masters.size === 0) throw new Declined('damaged', 'no page')

  await writeProperties(pack, sink, context)
  const links = new Set<string>()
  for (const [at, { part, name }] of pages.entries()) {
    sink.page(at + 1)
    if (!GIVEN_PAGE.test(name)) sink.line(name)
    const drawn = await scan(part, new PageHandler(masters))
    writeShapes(inReadingOrder(drawn.shapes), sink)
    for (const link of drawn.links) writeLink(link, links, sink)
    const around = await pack.relationships(part)
    writeLinks(around, links, sink)
    inside.collect(around)
    await inside.read()
  }
  if (pages.length === 0)
    for (const master of masters.values()) for (const text of master.texts.values()) sink.line(text)
  for (const { target } of relationships.ofType('comments')) {
    const comments = await scan(target, new CommentsHandler())
    for (const comment of comments.comments) sink.line(comment)
  }
  return {
    pageCount: pages.length,
    empty: inside.emptyReason,
    ...(pack.problem && { partial: pack.problem }),
  }

  /** Pages or masters: the part that lists them, and the parts it leads to. */
  async function list(
    type: string,
    element: string,
  ): Promise<Array<{ part: string; id: string; name: string }>> {
    const index = relationships.ofType(type)[0]?.target ?? `visio/${type}/${type}.xml`
    if (!pack.member(index)) return []
    const { items } = await scan(index, new IndexHandler(element))
    const targets = await pack.relationships(index)
    return items.flatMap(({ id, name, relationship }) => {
      const target = targets.byId(relationship)?.target
      return target === undefined || !pack.member(target) ? [] : [{ part: target, id, name }]
    })
  }
}

function writeShapes(shapes: readonly Shape[], sink: TextSink): void {
  for (const { content, children } of shapes) {
    for (const piece of content) if (typeof piece === 'string') sink.line(piece)
    writeShapes(children, sink)
  }
}

class IndexHandler implements XmlHandler {
  readonly items: Array<{ id: string; name: string; relationship: string | undefined }> = []
  readonly #element: string

  constructor(element: string) {
    this.#element = element
  }

  open(name: string, xml: XmlScanner): void {
    const last = this.items[this.items.length - 1]
    if (name === this.#element)
      this.items.push({
        id: xml.attribute('ID') ?? '',
        name: xml.attribute('Name') ?? '',
        relationship: undefined,
      })
    else if (name === 'Rel' && last) last.relationship ??= xml.relation('id')
    else if (name === 'PageSheet' || name === 'Icon') xml.skip()
  }

  close(): void {}
  text(): void {}
}

/** Texts of a master's shapes by shape id, the first one first. */
class Master implements XmlHandler {
  readonly texts = new Map<string, string>()
  readonly #ids: string[] = []
  #text: string | undefined

  open(name: string, xml: XmlScanner): void {
    if (name === 'Shape') {
      const id = xml.attribute('ID') ?? ''
      this.#ids.push(id)
      if (this.texts.size === 0) this.texts.set(id, '')
    } else if (name === 'Text') this.#text = ''
  }

  close(name: string): void {
    if (name === 'Shape') this.#ids.pop()
    else if (name === 'Text' && this.#text !== undefined) {
      this.texts.set(this.#ids[this.#ids.length - 1] ?? '', this.#text.trim())
      this.#text = undefined
    }
  }

  text(text: string): void {
    if (this.#text !== undefined) this.#text += text
  }
}

class PageHandler implements XmlHandler {
  readonly shapes: Shape[] = []
  readonly links: string[] = []
  readonly #masters: ReadonlyMap<string, Master>
  readonly #open: Array<{
    shape: Shape
    cells: Map<string, number>
    inherited: string
    master: Master | undefined
  }> = []
  #text: string | undefined
  #count = 0

  constructor(masters: ReadonlyMap<string, Master>) {
    this.#masters = masters
  }

  open(name: string, xml: XmlScanner): void {
    const top = this.#open[this.#open.length - 1]
    if (name === 'Shape') {
      if (++this.#count > SHAPES_MAX) return xml.skip()
      const master = this.#masters.get(xml.attribute('Master') ?? '') ?? top?.master
      const of = xml.attribute('MasterShape')
      const inherited =
        of !== undefined
          ? master?.texts.get(of)
          : xml.attribute('Master') !== undefined
            ? master?.texts.values().next().value
            : ''
      const shape: Shape = {
        placeholder: undefined,
        index: undefined,
        box: undefined,
        content: [],
        children: [],
      }
      ;(top?.shape.children ?? this.shapes).push(shape)
      this.#open.push({ shape, cells: new Map(), inherited: inherited ?? '', master })
    } else if (name === 'Text') this.#text = ''
    else if (name === 'Cell') {
      const cell = xml.attribute('N') ?? ''
      const value = xml.attribute('V') ?? ''
      if (cell === 'Address' && value !== '') this.links.push(value)
      else if (top && (cell === 'PinX' || cell === 'PinY' || cell === 'Width' || cell === 'Height'))
        if (xml.parent === 'Shape') top.cells.set(cell, Number(value) || 0)
    } else if (name === 'ForeignData' || name === 'Connects') xml.skip()
  }

  close(name: string): void {
    const top = this.#open[this.#open.length - 1]
    if (name === 'Text' && this.#text !== undefined) {
      const text = this.#text.trim()
      if (top) top.inherited = ''
      if (text !== '') top?.shape.content.push(text)
      this.#text = undefined
    } else if (name === 'Shape' && top) {
      if (top.inherited !== '') top.shape.content.push(top.inherited)
      const { cells, shape } = top
      const [x, y, width, height] = [
        cells.get('PinX'),
        cells.get('PinY'),
        cells.get('Width') ?? 0,
        cells.get('Height') ?? 0,
      ]
      // the drawing's ordinate points upwards
      if (x !== undefined && y !== undefined)
        shape.box = [x - width / 2, -y - height / 2, width, height]
      this.#open.pop()
    }
  }

  text(text: string): void {
    if (this.#text !== undefined) this.#text += text
  }
}

class CommentsHandler implements XmlHandler {
  readonly comments: string[] = []
  #isOpen = false

  open(name: string): void {
    if (name !== 'CommentEntry') return
    this.#isOpen = true
    this.comments.push('')
  }

  close(name: string): void {
    if (name === 'CommentEntry') this.#isOpen = false
  }

  text(text: string): void {
    if (this.#isOpen) this.comments[this.comments.length - 1] += text
  }
}
