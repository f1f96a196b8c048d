/**
 * Excel: xlsx, its macro and template forms, and xlsb, whose parts are records (biff/binary-parts.ts).
 * A page is a sheet; cells are parted by tabs, rows by new lines; a number is written as displayed and, where that
 * differs, as it is. Formulas, phonetic guides and caches of other workbooks stay out; hidden sheets, rows and columns
 * are read like the others.
 *
 * Format: ECMA-376 part 1, chapter 18 (SpreadsheetML); threaded comments: [MS-XLSX] 2.6.205.
 */
import { scanRecords, takeSheetRecord, type SheetTaker } from './biff/binary-parts.js'
import { Cut } from './budget.js'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { isGivenSheetName } from './given-by-program.js'
import { writeNames } from './office/defined-names.js'
import { Flow } from './office/flow.js'
import { Inside } from './office/inside.js'
import { besides, NumberFormat } from './office/number-format.js'
import { OfficePackage, writeLinks, writeProperties } from './office/package.js'
import { ShapeHandler, writeShapes } from './office/shapes.js'
import {
  cellText,
  CommentsHandler,
  inOneLine,
  StringsHandler,
  StylesHandler,
  WorkbookHandler,
  type PartHandler,
} from './office/workbook-parts.js'
import { marginText } from './office/page-margin.js'
import { serialOf } from './office/shown-date.js'
import { VmlControlsHandler } from './office/vml-controls.js'
import type { TextSink } from './sink.js'
import { scanEntry, type XmlScanner } from './xml.js'

export const xlsx: Extractor = {
  name: 'xlsx',
  version: 6,
  title: 'Excel (xlsx, xlsm, xlsb, xltx, xltm, xlam)',
  types: [
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.template',
    'application/vnd.ms-excel.sheet.macroenabled.12',
    'application/vnd.ms-excel.template.macroenabled.12',
    'application/vnd.ms-excel.sheet.binary.macroenabled.12',
    'application/vnd.ms-excel.addin.macroenabled.12',
  ],
  extensions: ['xlsx', 'xlsm', 'xlsb', 'xltx', 'xltm', 'xlam'],
  lane: 'text',
  extract: readExcel,
}

async function readExcel(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  const main = (await pack.mainPart('sheet', 'xl/workbook.xml')) ?? 'xl/workbook.xml'
  const relationships = await pack.relationships(main)
  const inside = new Inside(pack, context)
  const scan = async (part: string, handler: PartHandler): Promise<void> => {
    const entry = pack.member(part)
    if (!entry) return
    const { record } = handler
    pack.note(
      record && /\.bin$/i.test(part)
        ? await scanRecords(entry, context.budget, record.bind(handler))
        : await scanEntry(entry, context.budget, handler),
    )
  }

  const workbook = new WorkbookHandler()
  await scan(main, workbook)
  const sheets = workbook.sheets.flatMap(({ name, relationship }) => {
    const target = relationships.byId(relationship)?.target
    return target === undefined || !pack.member(target) ? [] : [{ name, part: target }]
  })
  if (sheets.length === 0) sheets.push(...looseSheets(pack))
  if (sheets.length === 0) {
    if (!/\.bin$/i.test(main)) await pack.checkRoot(main, 'workbook')
    throw new Declined('damaged', 'no sheet')
  }

  await writeProperties(pack, sink, context)
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
    if (around.ofType('ctrlProp').length === 0)
      for (const { target } of around.ofType('vmlDrawing')) {
        const entry = pack.member(target)
        // it is half HTML, so that faults are usual
        if (entry) await scanEntry(entry, context.budget, new VmlControlsHandler(sink))
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
      const number = /(?:^|\/)worksheets\/sheet(\d+)\.(?:xml|bin)$/i.exec(name)?.[1]
      return number === undefined
        ? []
        : [{ name: `Sheet${number}`, part: name, number: Number(number) }]
    })
    .sort((one, other) => one.number - other.number)
}

const GENERAL = new NumberFormat('General')

/** Rows are handed on when they are over, or when they have grown to this many characters. */
const ROW_CHARS = 16_384

class SheetHandler implements PartHandler {
  readonly #sink: TextSink
  readonly #context: Context
  readonly #strings: readonly string[]
  readonly #styles: StylesHandler
  readonly #is1904: boolean
  readonly #taker: SheetTaker = {
    text: (text, style) => this.#put(this.#text(inOneLine(text), style)),
    sharedText: (index, style) => this.#put(this.#text(this.#strings[index] ?? '', style)),
    number: (value, style) => this.#put(this.#shown(value, style)),
    endRow: () => this.#endRow(),
    margin: (codes) => this.#margins.add(marginText(codes)),
  }
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
        this.#margins.add(marginText(cellText(this.#margin)))
        this.#margin = ''
        return
      default:
    }
  }

  text(text: string): void {
    if (this.#reads === 'value') this.#value += text
    else if (this.#reads === 'margin') this.#margin += text
  }

  record(id: number, body: Buffer): void {
    takeSheetRecord(this.#taker, id, body)
  }

  /** Writes what is left: the row that was cut, then headers and footers. */
  end(): void {
    this.#endRow()
    for (const margin of this.#margins) if (margin !== '') this.#sink.line(margin)
  }

  #cell(): void {
    const value = this.#value
    if (value === '') return
    this.#value = ''
    this.#put(this.#displayed(value))
  }

  #put(text: string): void {
    this.#context.budget.takeCell()
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
        return this.#text(this.#strings[Number(value)] ?? '', this.#style)
      case 'str':
      case 'inlineStr':
        return this.#text(cellText(value), this.#style)
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
    return this.#shown(number, this.#style, this.#type === 'd' ? value : undefined)
  }

  #text(text: string, style: number): string {
    const format = style < 0 ? undefined : this.#styles.format(style)
    return format ? format.displayText(text) : text
  }

  /** As displayed and, where that differs, as it is: `raw`, or the number's own shortest form. */
  #shown(number: number, style: number, raw?: string): string {
    const format = style < 0 ? GENERAL : (this.#styles.format(style) ?? GENERAL)
    return raw === undefined
      ? format.both(number, this.#is1904)
      : besides(format.display(number, this.#is1904).shown, raw)
  }
}
