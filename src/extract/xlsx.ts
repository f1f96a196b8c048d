/**
 * Excel: xlsx and its macro and template forms. A page is a sheet; cells are parted by tabs, rows by new
 * lines; a number is written as displayed and, where that differs, as it is. Formulas, phonetic guides and
 * caches of other workbooks stay out; hidden sheets, rows and columns are read like the others.
 *
 * Format: ECMA-376 part 1, chapter 18 (SpreadsheetML); threaded comments: [MS-XLSX] 2.6.205.
 */
import { Cut } from './budget.js'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { isGivenSheetName } from './given-by-program.js'
import { isGivenName, NAMES_MAX, writeNames } from './office/defined-names.js'
import { Flow } from './office/flow.js'
import { Inside } from './office/inside.js'
import { builtInFormat, NumberFormat } from './office/number-format.js'
import { OfficePackage, writeLinks, writeProperties } from './office/package.js'
import { ShapeHandler, writeShapes } from './office/shapes.js'
import type { TextSink } from './sink.js'
import { scanEntry, type XmlHandler, type XmlScanner } from './xml.js'

export const xlsx: Extractor = {
  name: 'xlsx',
  version: 2,
  title: 'Excel (xlsx, xlsm, xltx, xltm, xlam)',
  types: [
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.template',
    'application/vnd.ms-excel.sheet.macroenabled.12',
    'application/vnd.ms-excel.template.macroenabled.12',
    'application/vnd.ms-excel.addin.macroenabled.12',
  ],
  extensions: ['xlsx', 'xlsm', 'xltx', 'xltm', 'xlam'],
  lane: 'text',
  extract: readExcel,
}

async function readExcel(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  const main = (await pack.mainPart('sheet', 'xl/workbook.xml')) ?? 'xl/workbook.xml'
  const relationships = await pack.relationships(main)
  const inside = new Inside(pack, context)
  const scan = async (part: string, handler: XmlHandler): Promise<void> => {
    const entry = pack.member(part)
    if (entry) pack.note(await scanEntry(entry, context.budget, handler))
  }

  const workbook = new WorkbookHandler()
  await scan(main, workbook)
  const sheets = workbook.sheets.flatMap(({ name, relationship }) => {
    const target = relationships.byId(relationship)?.target
    return target === undefined || !pack.member(target) ? [] : [{ name, part: target }]
  })
  if (sheets.length === 0) sheets.push(...looseSheets(pack))
  if (sheets.length === 0) throw new Declined('damaged', 'no sheet')

  await writeProperties(pack, sink)
  writeNames([...workbook.definedNames], sink)

  const styles = new StylesHandler()
  const stylesPart = relationships.ofType('styles')[0]?.target
  if (stylesPart !== undefined) await scan(stylesPart, styles)
  const strings = new StringsHandler()
  const stringsPart = relationships.ofType('sharedStrings')[0]?.target ?? 'xl/sharedStrings.xml'
  try {
    await scan(stringsPart, strings)
  } catch (error) {
    // no sheet can be read any more: the strings are what there is
    if (error instanceof Cut) for (const text of strings.strings) sink.line(text)
    throw error
  }

  const links = new Set<string>()
  for (const [at, { name, part }] of sheets.entries()) {
    sink.page(at + 1)
    if (!isGivenSheetName(name)) sink.line(name)
    const sheet = new SheetHandler(sink, context, strings.strings, styles, workbook.is1904)
    try {
      await scan(part, sheet)
    } finally {
      sheet.end()
    }
    const around = await pack.relationships(part)
    inside.collect(around)
    const threaded = around.ofType('threadedComment')
    for (const { target } of around.ofType('comments'))
      await scan(target, new CommentsHandler(sink, threaded.length > 0))
    for (const { target } of threaded) await scan(target, new CommentsHandler(sink, false))
    for (const { target } of around.ofType('drawing')) {
      const shapes = new ShapeHandler()
      await scan(target, shapes)
      const drawn = await pack.relationships(target)
      inside.collect(drawn)
      const flow = new Flow(sink)
      await writeShapes(shapes.shapes, flow, pack, drawn, context)
      flow.end()
      writeLinks(drawn, links, sink)
    }
    writeLinks(around, links, sink)
    await inside.read()
  }
  return {
    pageCount: sheets.length,
    empty: inside.emptyReason,
    ...(pack.problem && { partial: pack.problem }),
  }
}

/** Sheets of a package whose workbook part does not lead to them. */
function looseSheets(pack: OfficePackage): Array<{ name: string; part: string }> {
  return pack.entries
    .flatMap(({ name }) => {
      const number = /(?:^|\/)worksheets\/sheet(\d+)\.xml$/i.exec(name)?.[1]
      return number === undefined
        ? []
        : [{ name: `Sheet${number}`, part: name, number: Number(number) }]
    })
    .sort((one, other) => one.number - other.number)
}

class WorkbookHandler implements XmlHandler {
  readonly sheets: Array<{ name: string; relationship: string | undefined }> = []
  readonly definedNames = new Set<string>()
  is1904 = false

  open(name: string, xml: XmlScanner): void {
    if (name === 'sheet')
      this.sheets.push({ name: xml.attribute('name') ?? '', relationship: xml.relation('id') })
    else if (name === 'workbookPr')
      this.is1904 = /^(?:1|true|on)$/i.test(xml.attribute('date1904') ?? '')
    else if (name === 'definedName') {
      const defined = xml.attribute('name') ?? ''
      const isHidden = /^(?:1|true|on)$/.test(xml.attribute('hidden') ?? '')
      if (!isHidden && !isGivenName(defined) && this.definedNames.size < NAMES_MAX)
        this.definedNames.add(defined)
    } else if (name === 'extLst') xml.skip()
  }

  close(name: string, xml: XmlScanner): void {
    if (name === 'definedNames') xml.finish()
  }

  text(): void {}
}

/** Number formats by style index (18.8.45, 18.8.10). */
class StylesHandler implements XmlHandler {
  readonly #own = new Map<number, string>()
  readonly #idByStyle: number[] = []
  readonly #formats = new Map<number, NumberFormat>()
  #inCellFormats = false

  open(name: string, xml: XmlScanner): void {
    if (name === 'numFmt')
      this.#own.set(Number(xml.attribute('numFmtId')), xml.attribute('formatCode') ?? '')
    else if (name === 'cellXfs') this.#inCellFormats = true
    else if (name === 'xf') {
      if (this.#inCellFormats) this.#idByStyle.push(Number(xml.attribute('numFmtId')) || 0)
    } else if (
      name === 'dxfs' ||
      name === 'extLst' ||
      name === 'fonts' ||
      name === 'fills' ||
      name === 'borders' ||
      name === 'cellStyleXfs'
    )
      xml.skip()
  }

  close(name: string, xml: XmlScanner): void {
    // the styles, colours and extensions behind it are of no use here
    if (name === 'cellXfs') xml.finish()
  }

  text(): void {}

  /** The format of a style index as the cell names it; undefined: General. */
  format(style: number): NumberFormat | undefined {
    const id = this.#idByStyle[style]
    if (id === undefined) return undefined
    let format = this.#formats.get(id)
    if (!format) {
      format = new NumberFormat(this.#own.get(id) ?? builtInFormat(id))
      this.#formats.set(id, format)
    }
    return format
  }
}

const GENERAL = new NumberFormat('General')

/** `_x000D_` stands for a character that XML cannot hold (18.17.3, ST_Xstring); line breaks in a cell become spaces. */
function cellText(text: string): string {
  const whole = text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (escape, code: string) => {
        const character = String.fromCharCode(parseInt(code, 16))
        return character < ' '
          ? ' '
          : character >= '\ud800' && character <= '\udfff'
            ? escape
            : character
      })
    : text
  return /[\r\n\t]/.test(whole) ? whole.replace(/\s*[\r\n\t]+\s*/g, ' ').trim() : whole
}

class StringsHandler implements XmlHandler {
  readonly strings: string[] = []
  #item = ''
  #isText = false

  open(name: string, xml: XmlScanner): void {
    if (name === 't') this.#isText = true
    else if (name === 'rPh' || name === 'rPr' || name === 'extLst') xml.skip()
  }

  close(name: string): void {
    if (name === 't') this.#isText = false
    else if (name === 'si') {
      this.strings.push(cellText(this.#item))
      this.#item = ''
    }
  }

  text(text: string): void {
    if (this.#isText) this.#item += text
  }
}

/** Rows are handed on when they are over, or when they have grown to this many characters. */
const ROW_CHARS = 16_384

class SheetHandler implements XmlHandler {
  readonly #sink: TextSink
  readonly #context: Context
  readonly #strings: readonly string[]
  readonly #styles: StylesHandler
  readonly #is1904: boolean
  #row = ''
  #type = ''
  #style = -1
  #value = ''
  /** What the text of the open element is: nothing, the cell's value, or a header or footer. */
  #reads: '' | 'value' | 'margin' = ''
  #margin = ''
  readonly #margins = new Set<string>()

  constructor(
    sink: TextSink,
    context: Context,
    strings: readonly string[],
    styles: StylesHandler,
    is1904: boolean,
  ) {
    this.#sink = sink
    this.#context = context
    this.#strings = strings
    this.#styles = styles
    this.#is1904 = is1904
  }

  open(name: string, xml: XmlScanner): void {
    switch (name) {
      case 'c': {
        this.#type = xml.attribute('t') ?? ''
        const style = xml.attribute('s')
        this.#style = style === undefined ? -1 : Number(style)
        this.#value = ''
        return
      }
      case 'v':
      case 't':
        this.#reads = 'value'
        return
      case 'f':
      case 'rPh':
      case 'rPr':
      case 'extLst':
      case 'dataValidations':
      case 'conditionalFormatting':
      case 'cols':
        return xml.skip()
      case 'oddHeader':
      case 'oddFooter':
      case 'evenHeader':
      case 'evenFooter':
      case 'firstHeader':
      case 'firstFooter':
        this.#reads = 'margin'
        return
      default:
    }
  }

  close(name: string, xml: XmlScanner): void {
    switch (name) {
      case 'v':
      case 't':
        this.#reads = ''
        return
      case 'c':
        // half of a number is another number
        if (!xml.isCutShort) this.#cell()
        return
      case 'row':
        return this.#endRow()
      case 'oddHeader':
      case 'oddFooter':
      case 'evenHeader':
      case 'evenFooter':
      case 'firstHeader':
      case 'firstFooter':
        this.#reads = ''
        this.#margins.add(marginText(this.#margin))
        this.#margin = ''
        return
      default:
    }
  }

  text(text: string): void {
    if (this.#reads === 'value') this.#value += text
    else if (this.#reads === 'margin') this.#margin += text
  }

  /** Writes what is left: the row that was cut, then headers and footers. */
  end(): void {
    this.#endRow()
    for (const margin of this.#margins) if (margin !== '') this.#sink.line(margin)
  }

  #cell(): void {
    const value = this.#value
    if (value === '') return
    this.#context.budget.takeCell()
    const text = this.#displayed(value)
    this.#value = ''
    if (text === '') return
    this.#row += this.#row === '' ? text : '\t' + text
    if (this.#row.length > ROW_CHARS) {
      this.#sink.write(this.#row)
      this.#row = '\t'
    }
  }

  #endRow(): void {
    if (this.#row !== '') this.#sink.line(this.#row)
    this.#row = ''
  }

  #displayed(value: string): string {
    switch (this.#type) {
      case 's':
        return this.#strings[Number(value)] ?? ''
      case 'str':
      case 'inlineStr':
        return cellText(value)
      case 'b':
        return value === '1' || value === 'true'
          ? 'TRUE'
          : value === '0' || value === 'false'
            ? 'FALSE'
            : value
      case 'e':
        return value
      case 'd':
        return this.#number(serialOf(value), value)
      default:
        return this.#number(Number(value), value)
    }
  }

  #number(number: number, value: string): string {
    if (!Number.isFinite(number)) return cellText(value)
    const format = this.#style < 0 ? GENERAL : (this.#styles.format(this.#style) ?? GENERAL)
    const { shown, raw: plain } = format.display(number, this.#is1904)
    const raw = this.#type === 'd' ? value : plain
    return shown === raw || shown === '' ? raw : `${shown} ${raw}`
  }
}

/** An ISO date of a cell of type `d` as days since the 1900 epoch. */
function serialOf(value: string): number {
  const milliseconds = Date.parse(
    /[Zz]|[+-]\d\d:\d\d$/.test(value) ? value : value + (value.includes('T') ? 'Z' : ''),
  )
  return milliseconds / 86_400_000 + 25_569
}

/** The page number with its word, as programs put it there. */
const GIVEN_MARGIN = /^(?:&"[^"]*"|&\d+|&[LCR])*\p{L}{0,10} ?&P$/u

/** The text of a page header or footer without its codes (18.3.1.46). */
export function marginText(codes: string): string {
  if (GIVEN_MARGIN.test(codes)) return ''
  return codes
    .replace(/&(?:"[^"]*"|K[0-9A-Fa-f+-]{6}|[0-9]{1,3}|[LCR])/g, ' ')
    .replace(/&[A-Z]/gi, '')
    .replaceAll('&&', '&')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Comments and threaded comments: a line each. */
class CommentsHandler implements XmlHandler {
  readonly #sink: TextSink
  readonly #hasThreads: boolean
  #comment = ''
  #depth = 0

  /** @param hasThreads a comment that only repeats a thread is left out */
  constructor(sink: TextSink, hasThreads: boolean) {
    this.#sink = sink
    this.#hasThreads = hasThreads
  }

  open(name: string, xml: XmlScanner): void {
    if (name === 'text') this.#depth++
    else if (
      name === 'authors' ||
      name === 'rPr' ||
      name === 'rPh' ||
      name === 'extLst' ||
      name === 'mentions'
    )
      xml.skip()
  }

  close(name: string): void {
    if (name !== 'text') return
    this.#depth--
    const comment = this.#comment.trim()
    this.#comment = ''
    if (comment !== '' && !(this.#hasThreads && comment.startsWith('[Threaded comment]')))
      this.#sink.line(comment)
  }

  text(text: string): void {
    if (this.#depth > 0) this.#comment += text
  }
}
