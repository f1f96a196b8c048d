/**
 * What drawings hold in every Office document: alternative texts, charts and SmartArt (DrawingML,
 * ECMA-376 part 1, chapters 20 and 21).
 */
import type { Context } from '../extractor.js'
import { scanEntry, type XmlHandler, type XmlScanner } from '../xml.js'
import type { Flow } from './flow.js'
import { NumberFormat } from './number-format.js'
import type { OfficePackage } from './package.js'

/** Names that programs give by themselves. */
const GIVEN_BY_PROGRAM =
  /^(?:picture|image|grafik|graphic|bild|photo|shape|rectangle|text ?box|textfeld|chart|diagramm?|object|objekt|table|tabelle|group|gruppe|content placeholder|placeholder|imagen|immagine|afbeelding|図|图片|그림)?[\s_-]*\d*(?:\.(?:png|jpe?g|gif|bmp|emf|wmf|tiff?))?$/i
/** Where a picture came from, which programs note as its description: an address or a path, of which the file's name is kept. */
const FOLDERS =
  /^(?:https?:\S*\/(?=[^\\/\s]+$)|file:\S*\/|[a-z]:[\\/](?:.*[\\/])?|\\\\.*\\|(?:\/[^/]+)+\/)(?=[^\\/]*$)/i
/** Cells that a drawing stands for; `A380` alone may be what it shows. */
const CELL_RANGE =
  /^(?=.*[:.$])(?:['\w$ -]+\.)?\$?[A-Z]{1,3}\$?\d+(?::(?:['\w$ -]+\.)?\$?[A-Z]{1,3}\$?\d+)?$/
/** What programs add to descriptions they made. */
const MADE_BY_PROGRAM =
  /(?<![\s.])[\s.]*(?:description (?:automatically )?generated(?: with (?:very )?(?:low|medium|high) confidence)?|ai-generated content may be incorrect|(?:ein bild, das .{0,200}?)?automatisch generierte beschreibung|description générée automatiquement(?: avec un niveau de confiance \p{L}+)?|descripción generada automáticamente(?: con confianza \p{L}+)?|descrizione generata automaticamente|自動的に生成された説明|自动生成的说明)\.?/giu

/** The alternative text a person wrote for a drawing, or undefined. */
export function alternativeText(text: string | undefined): string | undefined {
  const written = text
    ?.replace(MADE_BY_PROGRAM, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(FOLDERS, '')
  if (!written || GIVEN_BY_PROGRAM.test(written) || CELL_RANGE.test(written)) return undefined
  return written
}

/** The alternative texts (`title`, `descr`) of a `docPr` or `cNvPr` that a person wrote. */
export function alternativeTexts(xml: XmlScanner): string[] {
  const texts = ['title', 'descr'].flatMap((name) => alternativeText(xml.attribute(name)) ?? [])
  return texts[0] === texts[1] ? texts.slice(1) : texts
}

/**
 * Reads a chart's titles, series names and cached categories, then what is drawn over it. Its numbers stay out, as does
 * the workbook behind it, and categories that the series before had too.
 */
export async function readChart(
  part: string,
  pack: OfficePackage,
  flow: Flow,
  context: Context,
): Promise<void> {
  await readPart(part, pack, new ChartHandler(flow), context)
  flow.newline()
  const relationships = await pack.relationships(part)
  for (const { target } of relationships.ofType('chartUserShapes')) {
    await readPart(target, pack, new ShapesOverChart(flow), context)
    flow.newline()
  }
}

/** Reads the texts of a SmartArt's data part; the drawing part repeats them. */
export async function readSmartArt(
  part: string,
  pack: OfficePackage,
  flow: Flow,
  context: Context,
): Promise<void> {
  await readPart(part, pack, new SmartArtHandler(flow), context)
  flow.newline()
}

async function readPart(
  part: string,
  pack: OfficePackage,
  handler: XmlHandler,
  context: Context,
): Promise<void> {
  const entry = pack.member(part)
  if (entry) pack.note(await scanEntry(entry, context.budget, handler))
}

/** Text boxes and alternative texts of the drawing that lies over a chart (ECMA-376 part 1, 21.3). */
class ShapesOverChart implements XmlHandler {
  readonly #flow: Flow
  #isText = false

  constructor(flow: Flow) {
    this.#flow = flow
  }

  open(name: string, xml: XmlScanner): void {
    if (name === 't') this.#isText = true
    else if (name === 'cNvPr') for (const text of alternativeTexts(xml)) this.#flow.behind(text)
  }

  close(name: string): void {
    if (name === 't') this.#isText = false
    else if (name === 'br') this.#flow.newline()
    else if (name === 'p' || name === 'sp') this.#flow.paragraph()
  }

  text(text: string): void {
    if (this.#isText) this.#flow.text(text)
  }
}

/** Of a chart: formulas, and the look of a text (in newer charts with that text once more). */
const CHART_OUT = new Set(['f', 'formatCode', 'txPr', 'AlternateContent'])

class ChartHandler implements XmlHandler {
  readonly #flow: Flow
  #isText = false
  #inNumbers = 0
  #inCategories = 0
  /** Categories that are open, a line each, and all that were written. */
  #categories = ['']
  readonly #written = new Set<string>()
  /** Format of the numeric categories that are open, and the number that is being read. */
  #format = ''
  #isFormat = false
  #number: string | undefined

  constructor(flow: Flow) {
    this.#flow = flow
  }

  open(name: string, xml: XmlScanner): void {
    if (name === 't' || (name === 'name' && xml.parent === 'trendline')) this.#isText = true
    else if (name === 'v') {
      if (this.#inNumbers === 0) this.#isText = true
      else if (this.#inCategories > 0) this.#number = ''
    } else if (isNumberCache(name)) {
      this.#inNumbers++
      this.#format = ''
    } else if (name === 'cat') {
      this.#inCategories++
      this.#categories = ['']
    } else if (name === 'pt') this.#isText = this.#inNumbers === 0
    else if (name === 'formatCode' && this.#inCategories > 0) this.#isFormat = true
    else if (CHART_OUT.has(name)) xml.skip()
  }

  close(name: string): void {
    if (name === 't' || name === 'v' || name === 'pt' || name === 'name') this.#isText = false
    if (name === 'formatCode') this.#isFormat = false
    if (name === 'v' && this.#number !== undefined) this.#category(this.#number)
    if (name === 'pt' || name === 'p' || name === 'v' || name === 'name') this.#newline()
    else if (isNumberCache(name)) this.#inNumbers--
    else if (name === 'cat' && --this.#inCategories === 0) this.#writeCategories()
  }

  text(text: string): void {
    if (this.#isFormat) this.#format += text
    else if (this.#number !== undefined) this.#number += text
    else if (this.#isText && (text.trim() !== '' || text.length < 3)) this.#write(text)
  }

  #write(text: string): void {
    if (this.#inCategories === 0) this.#flow.text(text)
    else this.#categories.push((this.#categories.pop() ?? '') + text)
  }

  #newline(): void {
    if (this.#inCategories === 0) this.#flow.newline()
    else if (this.#categories[this.#categories.length - 1] !== '') this.#categories.push('')
  }

  #writeCategories(): void {
    const all = this.#categories.join('\n')
    if (this.#written.has(all)) return
    this.#written.add(all)
    for (const category of this.#categories) {
      this.#flow.text(category)
      this.#flow.newline()
    }
  }

  /** A year or a date under an axis, as it is displayed. */
  #category(value: string): void {
    this.#number = undefined
    const number = Number(value)
    if (value.trim() === '' || !Number.isFinite(number)) return this.#write(value)
    this.#write(new NumberFormat(this.#format || 'General').both(number, false))
  }
}

function isNumberCache(name: string): boolean {
  return name === 'numCache' || name === 'numLit' || name === 'numDim'
}

class SmartArtHandler implements XmlHandler {
  readonly #flow: Flow
  #isText = false
  #isPrompt = false

  constructor(flow: Flow) {
    this.#flow = flow
  }

  open(name: string, xml: XmlScanner): void {
    if (name === 't') this.#isText = !this.#isPrompt
    else if (name === 'pt') this.#isPrompt = false
    else if (name === 'prSet') this.#isPrompt = /^(?:1|true)$/.test(xml.attribute('phldr') ?? '')
    else if (name === 'cNvPr') for (const text of alternativeTexts(xml)) this.#flow.behind(text)
  }

  close(name: string): void {
    // dgm:t holds the text body, a:t inside of it the text: both are called t
    if (name === 't') this.#isText = false
    else if (name === 'p' || name === 'br') this.#flow.newline()
    else if (name === 'pt') this.#flow.paragraph()
  }

  text(text: string): void {
    if (this.#isText && text.trim() !== '') this.#flow.text(text)
  }
}
