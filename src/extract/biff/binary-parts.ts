/**
 * Parts of a binary workbook (xlsb): the same package as xlsx with records instead of XML in its main parts.
 * Only the records that carry text, numbers and formats are read; relationships, drawings and threads are XML
 * there too. An own reader, because the one library that reads xlsb under a permissive licence, SheetJS,
 * stands on npm at 0.18.5, which has known vulnerabilities that were mended elsewhere only.
 *
 * Format: [MS-XLSB] 2.1.4 (records), 2.2.1 (parts), 2.4 (each record by its name).
 */
import type { Budget } from '../budget.js'
import { inflate, type ZipEntry } from '../zip.js'
import { ERROR_TEXTS, rkNumber } from './records.js'

/** A record's place in [MS-XLSB] 2.3.2. */
const ID = {
  rowHeader: 0,
  rk: 2,
  error: 3,
  bool: 4,
  real: 5,
  text: 6,
  sharedText: 7,
  formulaText: 8,
  formulaNumber: 9,
  formulaBool: 10,
  formulaError: 11,
  shortRk: 13,
  shortError: 14,
  shortBool: 15,
  shortReal: 16,
  shortText: 17,
  shortSharedText: 18,
  sharedItem: 19,
  name: 39,
  format: 44,
  cellFormat: 47,
  richText: 62,
  workbookProperties: 153,
  sheet: 156,
  endSheetData: 146,
  headerFooter: 479,
  beginCellFormats: 617,
  endCellFormats: 618,
  comment: 637,
} as const

/** A record larger than this holds no cell: text of a cell ends at 32,767 characters. */
const RECORD_BYTES_MAX = 1024 * 1024

/**
 * Hands on the records of one part, in order.
 *
 * @returns what was wrong with the part, or undefined
 * @throws {Cut} what `inflate` throws; the record that a limit cut is not handed on
 */
export async function scanRecords(
  entry: ZipEntry,
  budget: Budget,
  take: (id: number, body: Buffer) => void,
): Promise<string | undefined> {
  let rest: Buffer = Buffer.alloc(0)
  let skipped = 0
  const problem = await inflate(entry, budget, (bytes) => {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = Math.min(skipped, buffer.length)
    skipped -= at
    while (at < buffer.length) {
      const id = varint(buffer, at, 2)
      const size = id && varint(buffer, id.end, 4)
      if (!id || !size) break
      const end = size.end + size.value
      if (size.value > RECORD_BYTES_MAX) {
        skipped = Math.max(0, end - buffer.length)
        at = Math.min(end, buffer.length)
        continue
      }
      if (end > buffer.length) break
      take(id.value, buffer.subarray(size.end, end))
      at = end
    }
    // the chunk's memory is used again
    rest = Buffer.from(buffer.subarray(at))
  })
  return problem ?? (rest.length + skipped > 0 ? `${entry.name} ends inside a record` : undefined)
}

/** Seven bits a byte, the lowest first; undefined when the buffer ends before it does. */
function varint(
  buffer: Buffer,
  at: number,
  bytesMax: number,
): { value: number; end: number } | undefined {
  let value = 0
  for (let i = 0; i < bytesMax; i++) {
    const byte = buffer[at + i]
    if (byte === undefined) return undefined
    value |= (byte & 0x7f) << (7 * i)
    if (byte < 0x80 || i === bytesMax - 1) return { value, end: at + i + 1 }
  }
  return undefined
}

/** A string with its length in characters before it (XLWideString), and where it ends; a null one is ''. */
function wide(body: Buffer, at: number): { text: string; end: number } {
  if (at + 4 > body.length) return { text: '', end: body.length }
  const length = body.readUInt32LE(at)
  if (length === 0xffffffff) return { text: '', end: at + 4 }
  const end = Math.min(body.length, at + 4 + 2 * length)
  return { text: body.toString('utf16le', at + 4, end), end }
}

/** What the workbook part says. */
export interface WorkbookTaker {
  sheet(name: string, relationship: string): void
  name(name: string, isHidden: boolean): void
  is1904: boolean
}

export function takeWorkbookRecord(into: WorkbookTaker, id: number, body: Buffer): void {
  if (id === ID.sheet) {
    const relationship = wide(body, 8)
    into.sheet(wide(body, relationship.end).text, relationship.text)
  } else if (id === ID.workbookProperties && body.length > 0) into.is1904 = (body[0]! & 1) === 1
  else if (id === ID.name && body.length > 9)
    // hidden, of a macro, or one of the program's own
    into.name(wide(body, 9).text, (body.readUInt32LE(0) & 0x2b) !== 0)
}

export interface StylesTaker {
  /** Format strings by id. */
  own: Map<number, string>
  /** Format ids in the order of the cell styles. */
  idByStyle: number[]
  inCellFormats: boolean
}

export function takeStylesRecord(into: StylesTaker, id: number, body: Buffer): void {
  if (id === ID.format && body.length > 6) into.own.set(body.readUInt16LE(0), wide(body, 2).text)
  else if (id === ID.beginCellFormats) into.inCellFormats = true
  else if (id === ID.endCellFormats) into.inCellFormats = false
  else if (id === ID.cellFormat && into.inCellFormats && body.length >= 4)
    into.idByStyle.push(body.readUInt16LE(2))
}

/** One shared string, or undefined for another record; its phonetic guide stands behind it and stays out. */
export function sharedItem(id: number, body: Buffer): string | undefined {
  return id === ID.sharedItem ? wide(body, 1).text : undefined
}

/** The text of a comment, or undefined for another record. */
export function commentText(id: number, body: Buffer): string | undefined {
  return id === ID.comment ? wide(body, 1).text : undefined
}

/** Where the cells of a sheet go. */
export interface SheetTaker {
  /** @param style -1 for a value that is no text */
  text(text: string, style: number): void
  sharedText(index: number, style: number): void
  number(value: number, style: number): void
  endRow(): void
  margin(codes: string): void
}

/** Bytes before a cell's value: column and style; a short one has no column. */
const CELL = 8
const SHORT_CELL = 4

export function takeSheetRecord(into: SheetTaker, id: number, body: Buffer): void {
  if (id === ID.rowHeader || id === ID.endSheetData) return into.endRow()
  if (id === ID.headerFooter) {
    for (let at = 2, i = 0; i < 6; i++) {
      const { text, end } = wide(body, at)
      into.margin(text)
      at = end
    }
    return
  }
  const isShort = id >= ID.shortRk && id <= ID.shortSharedText
  const at = isShort ? SHORT_CELL : CELL
  if (body.length <= at) return
  const style = body.readUIntLE(at - 4, 3)
  const has = (bytes: number): boolean => body.length >= at + bytes
  switch (id) {
    case ID.rk:
    case ID.shortRk:
      return has(4) ? into.number(rkNumber(body.readUInt32LE(at)), style) : undefined
    case ID.real:
    case ID.shortReal:
    case ID.formulaNumber:
      return has(8) ? into.number(body.readDoubleLE(at), style) : undefined
    case ID.error:
    case ID.shortError:
    case ID.formulaError:
      return into.text(ERROR_TEXTS[body[at] as number] ?? '', -1)
    case ID.bool:
    case ID.shortBool:
    case ID.formulaBool:
      return into.text(body[at] === 0 ? 'FALSE' : 'TRUE', -1)
    case ID.text:
    case ID.shortText:
    case ID.formulaText:
      return into.text(wide(body, at).text, style)
    case ID.richText:
      return into.text(wide(body, at + 1).text, style)
    case ID.sharedText:
    case ID.shortSharedText:
      return has(4) ? into.sharedText(body.readUInt32LE(at), style) : undefined
    default:
  }
}
