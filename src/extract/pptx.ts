/**
 * PowerPoint: pptx and its show, template and macro forms. A page is a slide, with its notes and comments
 * after it; shapes are read from the top left. Of layouts and masters what they draw beside their placeholders is
 * read behind the first slide that shows it; their prompts stay out. Hidden slides are read like the others.
 *
 * Format: ECMA-376 part 1, chapter 19 (PresentationML); comments of today: [MS-PPTX] 2.6.
 */
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { Flow } from './office/flow.js'
import { Inside } from './office/inside.js'
import { OfficePackage, writeLinks, writeProperties } from './office/package.js'
import { inReadingOrder } from './office/reading-order.js'
import { ShapeHandler, writeShapes, type Shape } from './office/shapes.js'
import type { TextSink } from './sink.js'
import { scanEntry, type XmlHandler, type XmlScanner } from './xml.js'

export const pptx: Extractor = {
  name: 'pptx',
  version: 7,
  title: 'PowerPoint (pptx, pptm, ppsx, ppsm, potx, potm)',
  types: [
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'application/vnd.openxmlformats-officedocument.presentationml.slideshow',
    'application/vnd.openxmlformats-officedocument.presentationml.template',
    'application/vnd.ms-powerpoint.presentation.macroenabled.12',
    'application/vnd.ms-powerpoint.slideshow.macroenabled.12',
    'application/vnd.ms-powerpoint.template.macroenabled.12',
    'application/vnd.ms-powerpoint.addin.macroenabled.12',
  ],
  extensions: ['pptx', 'pptm', 'ppsx', 'ppsm', 'potx', 'potm'],
  lane: 'text',
  extract: readPowerPoint,
}

async function readPowerPoint(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  const main =
    (await pack.mainPart('presentation', 'ppt/presentation.xml')) ?? 'ppt/presentation.xml'
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

  const { ids, sections } = await scan(main, new PresentationHandler())
  let slides = ids.flatMap((id) => {
    const target = relationships.byId(id)?.target
    return target === undefined || !pack.member(target) ? [] : [target]
  })
  if (slides.length === 0) slides = looseSlides(pack)
  if (slides.length === 0) {
    if (!pack.member(main)) throw new Declined('damaged', 'no slide')
    await pack.checkRoot(main, 'presentation')
  }

  await writeProperties(pack, sink, context)
  for (const section of sections) sink.line(section)
  const layouts = new Layouts(pack, async (part) => scan(part, new ShapeHandler(false)))
  const links = new Set<string>()
  const drawn = new Set<string>()
  /** Writes lines that many slides share, each once. */
  const writeOnce = (shapes: readonly Shape[]): void => {
    for (const line of linesOf(shapes))
      if (!drawn.has(line)) {
        drawn.add(line)
        sink.line(line)
      }
  }
  for (const [at, part] of slides.entries()) {
    sink.page(at + 1)
    const around = await pack.relationships(part)
    inside.collect(around)
    const flow = new Flow(sink)
    const { shapes, hidesMaster } = await scan(part, new ShapeHandler())
    const layout = around.ofType('slideLayout')[0]?.target
    await layouts.place(shapes, layout)
    await writeShapes(inReadingOrder(shapes.filter(isShown)), flow, pack, around, context)
    flow.end()
    if (!hidesMaster && layout !== undefined) writeOnce(await layouts.drawnBy(layout))
    for (const { target } of around.ofType('notesSlide')) {
      const notes = await scan(target, new ShapeHandler())
      const aroundNotes = await pack.relationships(target)
      await writeShapes(notes.shapes.filter(isNote), flow, pack, aroundNotes, context)
      flow.end()
      writeOnce(notes.shapes.filter(isMargin))
      writeLinks(aroundNotes, links, sink)
    }
    flow.end()
    for (const { target } of around.ofType('comments', 'comment'))
      await scan(target, new CommentsHandler(flow))
    flow.end()
    writeLinks(around, links, sink)
    await inside.read()
  }
  return {
    pageCount: slides.length,
    empty: inside.emptyReason,
    ...(pack.problem && { partial: pack.problem }),
  }
}

/** The number of a slide is drawn, not written. */
const isShown = ({ placeholder }: Shape): boolean => placeholder !== 'sldNum'

/** What a speaker wrote, without the picture of the slide, header, footer, date and number. */
const isNote = ({ placeholder }: Shape): boolean =>
  !['sldImg', 'hdr', 'ftr', 'dt', 'sldNum'].includes(placeholder ?? '')

const isMargin = ({ placeholder }: Shape): boolean => placeholder === 'hdr' || placeholder === 'ftr'

/** Lines with a letter or digit, of shapes and those in groups. */
function linesOf(shapes: readonly Shape[]): string[] {
  return shapes.flatMap(({ content, children }) => [
    ...content
      .filter((piece) => typeof piece === 'string')
      .join('')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => /[\p{L}\p{N}]/u.test(line)),
    ...linesOf(children),
  ])
}

/** Slides of a package whose presentation part does not lead to them. */
function looseSlides(pack: OfficePackage): string[] {
  return pack.entries
    .flatMap(({ name }) => {
      const number = /(?:^|\/)slides\/slide(\d+)\.xml$/i.exec(name)?.[1]
      return number === undefined ? [] : [{ name, number: Number(number) }]
    })
    .sort((one, other) => one.number - other.number)
    .map(({ name }) => name)
}

/** Names that PowerPoint gives to sections. */
const GIVEN_SECTION =
  /^(?:default section|untitled section|standardabschnitt|abschnitt ohne titel|section par défaut|section sans titre|sección predeterminada|sección sin título|sezione predefinita|sezione senza titolo|既定のセクション|タイトルなしのセクション|默认节|无标题节)$/i

class PresentationHandler implements XmlHandler {
  /** Relationship ids of the slides in their order. */
  readonly ids: string[] = []
  /** Names of the sections that a person gave ([MS-PPTX] 2.4). */
  readonly sections = new Set<string>()

  open(name: string, xml: XmlScanner): void {
    if (name === 'sldId') {
      // a section lists its slides again, without relationships
      const id = xml.relation('id')
      if (id !== undefined) this.ids.push(id)
    } else if (name === 'section') {
      const section = xml.attribute('name')?.trim() ?? ''
      if (section !== '' && !GIVEN_SECTION.test(section)) this.sections.add(section)
    } else if (name === 'defaultTextStyle') xml.skip()
  }

  close(): void {}
  text(): void {}
}

/**
 * Layouts and the masters behind them, each read once: where placeholders stand when the slide itself does not
 * say, and what else they draw.
 */
class Layouts {
  readonly #pack: OfficePackage
  readonly #read: (part: string) => Promise<ShapeHandler>
  readonly #parts = new Map<string, Promise<ShapeHandler>>()

  constructor(pack: OfficePackage, read: (part: string) => Promise<ShapeHandler>) {
    this.#pack = pack
    this.#read = read
  }

  /** Gives each placeholder without a place the one it inherits. */
  async place(shapes: readonly Shape[], layout: string | undefined): Promise<void> {
    const homeless = shapes.filter(({ box, placeholder }) => !box && placeholder !== undefined)
    if (homeless.length === 0 || shapes.length < 2 || layout === undefined) return
    const own = (await this.#of(layout)).shapes
    const master = await this.#masterOf(layout)
    for (const shape of homeless) {
      const model = modelOf(shape, own)
      const box =
        model?.box ??
        (master === undefined
          ? undefined
          : modelOf(model ?? shape, (await this.#of(master)).shapes)?.box)
      if (box) shape.box = box
    }
  }

  /** Shapes that slides of a layout show beside their own: those of its master, then its own. */
  async drawnBy(layout: string): Promise<Shape[]> {
    const { shapes, hidesMaster } = await this.#of(layout)
    const master = hidesMaster ? undefined : await this.#masterOf(layout)
    const all = master === undefined ? shapes : [...(await this.#of(master)).shapes, ...shapes]
    return all.filter(({ placeholder }) => placeholder === undefined)
  }

  async #masterOf(layout: string): Promise<string | undefined> {
    return (await this.#pack.relationships(layout)).ofType('slideMaster')[0]?.target
  }

  #of(part: string): Promise<ShapeHandler> {
    let read = this.#parts.get(part)
    if (!read) {
      read = this.#read(part)
      this.#parts.set(part, read)
    }
    return read
  }
}

/** The same index, or the same kind: a subtitle or object stands where the body does. */
function modelOf({ placeholder, index }: Shape, shapes: readonly Shape[]): Shape | undefined {
  const kind = (name: string | undefined): string =>
    name === 'ctrTitle'
      ? 'title'
      : name === '' || name === 'obj' || name === 'subTitle'
        ? 'body'
        : (name ?? '')
  return (
    (index === undefined
      ? undefined
      : shapes.find((shape) => shape.placeholder !== undefined && shape.index === index)) ??
    shapes.find(
      (shape) => shape.placeholder !== undefined && kind(shape.placeholder) === kind(placeholder),
    )
  )
}

/** Comments of both kinds: `p:text` of old ones, text bodies of new ones and their replies. */
class CommentsHandler implements XmlHandler {
  readonly #flow: Flow
  #isText = false

  constructor(flow: Flow) {
    this.#flow = flow
  }

  open(name: string, xml: XmlScanner): void {
    if (name === 'text' || name === 't') this.#isText = true
    // replies stand before the text they answer
    else if (name === 'reply') this.#flow.enterBox()
    else if (name === 'extLst') xml.skip()
  }

  close(name: string): void {
    if (name === 'text' || name === 't') this.#isText = false
    if (name === 'text' || name === 'p') this.#flow.newline()
    else if (name === 'reply') this.#flow.leaveBox()
    else if (name === 'cm') this.#flow.paragraph()
  }

  text(text: string): void {
    if (this.#isText) this.#flow.text(text)
  }
}
