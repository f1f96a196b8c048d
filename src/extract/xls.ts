/**
 * Excel 2 to 2003: workbooks in OLE2 files and bare BIFF streams. A page is a sheet; cells are parted by
 * tabs, rows by new lines, numbers written as displayed and, where that differs, as they are (as xlsx.ts).
 *
 * An own reader: the npm package `xlsx` is frozen at 0.18.5, and its peers lose text boxes, comments, headers or
 * strings that go on in the next record. Formatting runs, phonetic text and formulas are skipped; cached
 * values, comments, text boxes, chart texts, links and defined names are read.
 * Format: [MS-XLS]. Sheets follow each other in the stream, so lying sheet offsets lose nothing.
 */
import { ERROR_TEXTS, Fields, records, rkNumber, type BiffRecord } from './biff/records.js'
import { unlocked } from './biff/unlock.js'
import type { Context, Extractor, Facts, Source } from './extractor.js'
import { isGivenSheetName } from './given-by-program.js'
import { isGivenName, NAMES_MAX, writeNames } from './office/defined-names.js'
import { builtInFormat, NumberFormat } from './office/number-format.js'
import { marginText } from './office/page-margin.js'
import { inOneLine } from './office/workbook-parts.js'
import { readPictures, shapeTexts } from './office-art.js'
import { readObjectPool } from './ole-embedded.js'
import { OleFile } from '../ole/read.js'
import { writeOleProperties } from './ole-properties.js'
import { writeLink } from './office/package.js'
import type { TextSink } from './sink.js'

export const xls: Extractor = {
  name: 'xls',
  version: 4,
  title: 'Excel 2 to 2003 (xls, xlt)',
  types: ['application/vnd.ms-excel'],
  extensions: ['xls', 'xlt'],
  lane: 'text',
  extract: readXls,
}

async function readXls({ bytes }: Source, sink: TextSink, context: Context): Promise<Facts> {
  const isBare = bytes[0] !== 0xd0
  const ole = isBare ? undefined : new OleFile(bytes)
  const given = ole
    ? (ole.readPath('Workbook') ?? ole.readPath('Book'))
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!given || given.length < 8) throw new Error('no Workbook stream')
  const stream = unlocked(given, context.settings.passwords)

  const book = new Workbook(sink, context)
  const properties = (): void => {
    if (ole) writeOleProperties(ole, sink)
  }
  book.read(stream, properties)
  if (ole) await readObjectPool(ole, '', context)
  const pictures = await readPictures(Buffer.concat(book.drawings), context)
  return {
    pageCount: book.sheetCount,
    empty: pictures > 0 ? 'only-images' : 'no-content',
    ...(book.problem && { partial: book.problem }),
  }
}

const ID = {
  bof: 0x809,
  eof: 0x0a,
  filePass: 0x2f,
  codePage: 0x42,
  dateMode: 0x22,
  boundSheet: 0x85,
  format: 0x41e,
  oldFormat: 0x1e,
  cellFormat: 0xe0,
  cellFormat3: 0x243,
  cellFormat4: 0x443,
  sharedStrings: 0xfc,
  name: 0x18,
  label: 0x204,
  oldLabel: 0x04,
  richLabel: 0xd6,
  labelShared: 0xfd,
  number: 0x203,
  oldNumber: 0x03,
  oldInteger: 0x02,
  packed: 0x27e,
  manyPacked: 0xbd,
  formula: 0x06,
  formula3: 0x206,
  formula4: 0x406,
  string: 0x207,
  oldString: 0x07,
  boolOrError: 0x205,
  oldBoolOrError: 0x05,
  header: 0x14,
  footer: 0x15,
  note: 0x1c,
  textObject: 0x1b6,
  link: 0x1b8,
  drawingGroup: 0xeb,
  drawing: 0xec,
  seriesText: 0x100d,
  seriesIndex: 0x1065,
  moreMargins: 0x89c,
  bundleHeader: 0x8f,
} as const

const BOFS = new Set([0x09, 0x209, 0x409, ID.bof])
/** Kinds of substreams, in BOF. */
const GLOBALS = 0x05
const VISUAL_BASIC = 0x06
const CHART = 0x20
/** What the cells of a chart hold: its categories; other numbers are its values and sizes of bubbles. */
const CATEGORIES = 2
const CELLS = new Set<number>([
  ID.label,
  ID.richLabel,
  ID.labelShared,
  ID.number,
  ID.packed,
  ID.manyPacked,
  ID.formula,
  ID.boolOrError,
])
const GENERAL = new NumberFormat('General')

class Workbook {
  readonly #sink: TextSink
  readonly #context: Context
  /** BIFF version: 2, 3, 4, 5 (also 7) or 8; 0 before the first substream. */
  #version = 0
  #codePage = 1252
  #is1904 = false
  #strings: string[] = []
  readonly #sheetNames = new Map<number, string>()
  readonly #namesInOrder: string[] = []
  readonly #names = new Set<string>()
  readonly #formats = new Map<number, string>()
  readonly #formatOfStyle: number[] = []
  readonly #shown = new Map<number, NumberFormat>()
  readonly drawings: Buffer[] = []
  sheetCount = 0
  problem = ''

  /** Name of the sheet, until it is written. */
  #title = ''
  #row = -1
  #line = ''
  /** Format of a formula whose string stands in the next STRING record. */
  #awaitsString: NumberFormat | undefined
  #margins = new Set<string>()
  #later: string[] = []
  #links: string[] = []
  readonly #linksWritten = new Set<string>()
  /** Depth of the substream that is a chart, 0 outside of one, and what its cells stand for now. */
  #chartDepth = 0
  #chartCells = 0
  readonly #categories = new Set<string>()

  constructor(sink: TextSink, context: Context) {
    this.#sink = sink
    this.#context = context
  }

  /** @param afterGlobals called before the first sheet */
  read(stream: Buffer, afterGlobals: () => void): void {
    let depth = 0
    let isGlobals = false
    let hasBegun = false
    for (const record of records(stream)) {
      if (BOFS.has(record.id)) {
        depth++
        const kind = this.#begin(record)
        if (kind === CHART && this.#chartDepth === 0) this.#chartDepth = depth
        if (depth > 1 || kind === undefined) continue // a chart inside a sheet
        if (kind === GLOBALS) isGlobals = true
        else {
          if (!hasBegun) {
            afterGlobals()
            writeNames([...this.#names], this.#sink)
          }
          hasBegun = true
          isGlobals = false
          this.#beginSheet(record.at, kind)
        }
        continue
      }
      if (record.id === ID.eof) {
        if (depth === this.#chartDepth) this.#endChart()
        if (depth > 0) depth--
        if (depth === 0) {
          if (!isGlobals) this.#endSheet()
          isGlobals = false
        }
        continue
      }
      if (record.id === ID.filePass) continue
      try {
        this.#record(record)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        this.problem = 'some records end early'
      }
    }
    if (this.#version === 0) throw new Error('no workbook records')
    if (!hasBegun) {
      afterGlobals()
      for (const text of this.#strings) this.#sink.line(text)
      if (this.#strings.length > 0)
        this.problem = 'no sheet was found; the shared strings were read'
    }
    this.#endSheet()
    if (depth > 0 && this.problem === '') this.problem = 'the workbook ends early'
  }

  #begin({ id, parts }: BiffRecord): number | undefined {
    const body = parts[0] as Buffer
    // the first substream names the version of all: some writers give a BIFF 5 book sheets of "BIFF 8"
    this.#version ||= id === 0x09 ? 2 : id === 0x209 ? 3 : id === 0x409 ? 4 : body[1] === 6 ? 8 : 5
    return body.length >= 4 ? body.readUInt16LE(2) : undefined
  }

  #beginSheet(at: number, kind: number): void {
    this.sheetCount++
    this.#sink.page(this.sheetCount)
    const name = this.#sheetNames.get(at) ?? this.#namesInOrder[this.sheetCount - 1]
    this.#title = kind === VISUAL_BASIC ? '' : (name ?? '')
    if (!isGivenSheetName(this.#title)) this.#writeTitle()
  }

  /** The name stands above what the sheet holds; an empty sheet with the name Excel gave it has no text. */
  #writeTitle(): void {
    if (this.#title !== '') this.#sink.line(this.#title)
    this.#title = ''
  }

  #endSheet(): void {
    this.#endRow()
    for (const text of [...this.#later, ...this.#margins])
      if (text !== '') {
        this.#writeTitle()
        this.#sink.line(text)
      }
    for (const link of this.#links) writeLink(link, this.#linksWritten, this.#sink)
    this.#later = []
    this.#links = []
    this.#margins = new Set()
    this.#row = -1
  }

  #record({ id, at: _, parts }: BiffRecord): void {
    const body = parts[0] as Buffer
    if (this.#chartDepth > 0 && CELLS.has(id)) return this.#chartCell(id, body, parts)
    switch (id) {
      case ID.codePage:
        this.#codePage = body.readUInt16LE(0)
        return
      case ID.dateMode:
        this.#is1904 = body.readUInt16LE(0) === 1
        return
      case ID.boundSheet:
        return this.#boundSheet(body, parts)
      case ID.format:
      case ID.oldFormat:
        return this.#format(id, body, parts)
      case ID.cellFormat:
        this.#formatOfStyle.push(body.readUInt16LE(2))
        return
      case ID.cellFormat3:
      case ID.cellFormat4:
        this.#formatOfStyle.push(body[1] ?? 0)
        return
      case ID.sharedStrings:
        return this.#sharedStrings(parts)
      case ID.name:
        return this.#name(body, parts)
      case ID.label:
      case ID.richLabel:
        return this.#textCell(body, this.#text(parts, 6))
      case ID.oldLabel:
        // a chart of Microsoft Graph writes this record with strings of BIFF 8 ([MS-OGRAPH])
        return this.#cell(
          body,
          this.#version === 8
            ? new Fields(parts, 8).unicode(body[7] ?? 0)
            : new Fields(parts, 8).bytes(body[7] ?? 0, this.#codePage),
        )
      case ID.labelShared:
        return this.#textCell(body, this.#sharedString(body.readUInt32LE(6)))
      case ID.number:
        return this.#cell(body, this.#number(body.readDoubleLE(6), this.#formatOf(body)))
      case ID.oldNumber:
        return this.#cell(body, this.#number(body.readDoubleLE(7), this.#formatOf(body)))
      case ID.oldInteger:
        return this.#cell(body, this.#number(body.readUInt16LE(7), this.#formatOf(body)))
      case ID.packed:
        return this.#cell(body, this.#number(rkNumber(body.readInt32LE(6)), this.#formatOf(body)))
      case ID.manyPacked:
        for (let at = 4; at + 8 <= body.length; at += 6)
          this.#cell(
            body,
            this.#number(rkNumber(body.readInt32LE(at + 2)), this.#formatOf(body, at)),
          )
        return
      case ID.formula:
      case ID.formula3:
      case ID.formula4:
        return this.#formula(body)
      case ID.string:
      case ID.oldString: {
        const format = this.#awaitsString
        if (!format) return
        this.#awaitsString = undefined
        const text =
          id === ID.oldString
            ? new Fields(parts, 1).bytes(body[0] ?? 0, this.#codePage)
            : this.#text(parts, 0)
        return this.#write(format.displayText(text))
      }
      case ID.boolOrError:
        return this.#cell(body, boolOrError(body[6] ?? 0, body[7] ?? 0))
      case ID.oldBoolOrError:
        return this.#cell(body, boolOrError(body[7] ?? 0, body[8] ?? 0))
      case ID.header:
      case ID.footer:
        if (body.length > 0) {
          const codes =
            this.#version === 8
              ? this.#text(parts, 0)
              : new Fields(parts, 1).bytes(body[0] ?? 0, this.#codePage)
          this.#margins.add(marginText(codes))
        }
        return
      case ID.moreMargins:
        return this.#moreMargins(parts)
      case ID.note:
        // BIFF 8 keeps the comment's text in a text object; before it stands here
        if (this.#version < 8 && body.length > 6)
          this.#later.push(new Fields(parts, 6).bytes(body.readUInt16LE(4), this.#codePage))
        return
      case ID.textObject:
        if (parts.length > 1 && body.length >= 12) this.#textObject(body, parts)
        return
      case ID.link:
        return this.#link(body)
      case ID.seriesText: {
        const fields = new Fields(parts, 3)
        const length = body[2] ?? 0
        this.#later.push(
          this.#version === 8 ? fields.unicode(length) : fields.bytes(length, this.#codePage),
        )
        return
      }
      case ID.seriesIndex:
        this.#chartCells = body.readUInt16LE(0)
        return
      case ID.drawingGroup:
        this.drawings.push(...parts)
        return
      case ID.drawing:
        if (this.#version === 8) this.#later.push(...shapeTexts(Buffer.concat(parts)))
        return
      case ID.bundleHeader:
        this.#namesInOrder.push(new Fields(parts, 5).bytes(body[4] ?? 0, this.#codePage))
        return
    }
  }

  #boundSheet(body: Buffer, parts: Buffer[]): void {
    const fields = new Fields(parts, 7)
    const length = body[6] ?? 0
    const name = this.#version === 8 ? fields.unicode(length) : fields.bytes(length, this.#codePage)
    this.#sheetNames.set(body.readUInt32LE(0), name)
    this.#namesInOrder.push(name)
  }

  #format(id: number, body: Buffer, parts: Buffer[]): void {
    // before BIFF 5 formats are numbered as they come
    if (this.#version < 5) {
      const at = id === ID.oldFormat ? 0 : 2
      const format = new Fields(parts, at + 1).bytes(body[at] ?? 0, this.#codePage)
      this.#formats.set(this.#formats.size, format)
      return
    }
    const format =
      this.#version === 8
        ? new Fields(parts, 4).unicode(body.readUInt16LE(2))
        : new Fields(parts, 3).bytes(body[2] ?? 0, this.#codePage)
    this.#formats.set(body.readUInt16LE(0), format)
  }

  #sharedStrings(parts: Buffer[]): void {
    const fields = new Fields(parts, 4)
    const count = fields.uint32()
    try {
      for (let i = 0; i < count && !fields.isAtEnd; i++)
        this.#strings.push(fields.unicode(fields.uint16()))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }

  #sharedString(index: number): string {
    const text = this.#strings[index]
    if (text === undefined) this.problem = 'the table of strings ends early'
    return text ?? ''
  }

  #name(body: Buffer, parts: Buffer[]): void {
    if (this.#version < 5 || body.length < 15) return
    const flags = body.readUInt16LE(0)
    // hidden names, those of macros and those that Excel gives (print areas and titles)
    if (flags & 0x2f || this.#names.size >= NAMES_MAX) return
    const fields = new Fields(parts, 14)
    const length = body[3] ?? 0
    const name = this.#version === 8 ? fields.unicode(length) : fields.bytes(length, this.#codePage)
    if (!isGivenName(name)) this.#names.add(name)
  }

  /** A string with a length of two bytes. */
  #text(parts: Buffer[], at: number): string {
    const fields = new Fields(parts, at)
    const length = fields.uint16()
    return this.#version === 8 ? fields.unicode(length) : fields.bytes(length, this.#codePage)
  }

  #textObject(body: Buffer, parts: Buffer[]): void {
    const fields = new Fields(parts.slice(1))
    const length = body.readUInt16LE(10)
    if (length === 0) return
    this.#later.push(fields.characters(length, (fields.byte() & 1) === 1))
  }

  #link(body: Buffer): void {
    const at = body.indexOf(URL_MONIKER)
    if (at < 0 || at + 20 > body.length) return
    const length = body.readUInt32LE(at + 16)
    const url = body.toString('utf16le', at + 20, Math.min(at + 20 + length, body.length))
    const end = url.indexOf('\0')
    this.#links.push(end < 0 ? url : url.slice(0, end))
  }

  #formula(body: Buffer): void {
    const at = this.#version === 2 ? 7 : 6
    if (body.readUInt16LE(at + 6) !== 0xffff) {
      const value = body.readDoubleLE(at)
      this.#cell(body, this.#number(value, this.#formatOf(body)))
      return
    }
    const kind = body[at] as number
    if (kind === 0) {
      this.#cell(body, '')
      this.#awaitsString = this.#formatOf(body)
    } else if (kind === 1 || kind === 2)
      this.#cell(body, boolOrError(body[at + 2] ?? 0, kind === 2 ? 1 : 0))
  }

  #number(value: number, format: NumberFormat): string {
    if (!Number.isFinite(value)) return ''
    return format.both(value, this.#is1904, 15)
  }

  /**
   * The format of a cell. BIFF 2 names it in the cell, later versions by the cell's style.
   *
   * @param at where the number of the style stands
   */
  #formatOf(body: Buffer, at = 4): NumberFormat {
    const id =
      this.#version === 2 ? (body[5] ?? 0) & 0x3f : this.#formatOfStyle[body.readUInt16LE(at)]
    if (id === undefined) return GENERAL
    let format = this.#shown.get(id)
    if (!format) {
      const given = this.#formats.get(id) ?? (this.#version < 5 ? 'General' : builtInFormat(id))
      this.#shown.set(id, (format = new NumberFormat(given)))
    }
    return format
  }

  /** Categories of a chart; its values are numbers of the cells. Each stands once for every series. */
  #chartCell(id: number, body: Buffer, parts: Buffer[]): void {
    if (this.#chartCells !== CATEGORIES) return
    if (id === ID.label) this.#categories.add(this.#text(parts, 6))
    else if (id === ID.number)
      this.#categories.add(this.#number(body.readDoubleLE(6), this.#formatOf(body)))
  }

  #endChart(): void {
    this.#later.push(...this.#categories)
    this.#categories.clear()
    this.#chartDepth = 0
    this.#chartCells = 0
  }

  /** Headers and footers of even pages and of the first ([MS-XLS] 2.4.137). */
  #moreMargins(parts: Buffer[]): void {
    const fields = new Fields(parts, 30)
    const lengths = [fields.uint16(), fields.uint16(), fields.uint16(), fields.uint16()]
    for (const length of lengths)
      if (length > 0) {
        fields.skip(2)
        this.#margins.add(marginText(fields.unicode(length)))
      }
  }

  /** Begins the cell whose row stands first in the record, and writes its text. */
  #cell(body: Buffer, text: string): void {
    const row = body.readUInt16LE(0)
    if (row !== this.#row) this.#endRow()
    this.#row = row
    this.#awaitsString = undefined
    this.#write(text)
  }

  #textCell(body: Buffer, text: string): void {
    this.#cell(body, this.#formatOf(body).displayText(text))
  }

  #write(text: string): void {
    if (text === '') return
    this.#context.budget.takeCell()
    const shown = inOneLine(text)
    this.#line += this.#line === '' ? shown : `\t${shown}`
    if (this.#line.length > 16_384) {
      this.#writeTitle()
      this.#sink.write(this.#line)
      this.#line = '\t'
    }
  }

  #endRow(): void {
    if (this.#line !== '') {
      this.#writeTitle()
      this.#sink.line(this.#line)
    }
    this.#line = ''
  }
}

function boolOrError(value: number, isError: number): string {
  if (isError) return ERROR_TEXTS[value] ?? ''
  return value ? 'TRUE' : 'FALSE'
}

/** Class id of a URL moniker, [MS-OSHARED] 2.3.7.6. */
const URL_MONIKER = Buffer.from('e0c9ea79f9bace118c8200aa004ba90b', 'hex')
