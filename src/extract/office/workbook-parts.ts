/**
 * The parts of an Excel package around its sheets: workbook, styles, shared strings, comments. Each is read
 * from XML or, in a binary workbook, from records (biff/binary-parts.ts).
 */
import {
  commentText,
  sharedItem,
  takeStylesRecord,
  takeWorkbookRecord,
  type StylesTaker,
} from '../biff/binary-parts.js'
import type { TextSink } from '../sink.js'
import type { XmlHandler, XmlScanner } from '../xml.js'
import { isGivenName, NAMES_MAX } from './defined-names.js'
import { builtInFormat, NumberFormat } from './number-format.js'

/** Reads a part of XML or, in a binary workbook, of records. */
export interface PartHandler extends XmlHandler {
  record?(id: number, body: Buffer): void
}

export class WorkbookHandler implements PartHandler {
  readonly sheets: Array<{ name: string; relationship: string | undefined }> = []
  readonly definedNames = new Set<string>()
  is1904 = false

  open(name: string, xml: XmlScanner): void {
    if (name === 'sheet') this.sheet(xml.attribute('name') ?? '', xml.relation('id'))
    else if (name === 'workbookPr')
      this.is1904 = /^(?:1|true|on)$/i.test(xml.attribute('date1904') ?? '')
    else if (name === 'definedName') {
      const isHidden = ['hidden', 'function', 'vbProcedure'].some((flag) =>
        /^(?:1|true|on)$/.test(xml.attribute(flag) ?? ''),
      )
      this.name(xml.attribute('name') ?? '', isHidden)
    } else if (name === 'extLst') xml.skip()
  }

  close(name: string, xml: XmlScanner): void {
    if (name === 'definedNames') xml.finish()
  }

  text(): void {}

  record(id: number, body: Buffer): void {
    takeWorkbookRecord(this, id, body)
  }

  sheet(name: string, relationship: string | undefined): void {
    this.sheets.push({ name, relationship })
  }

  /** @param isHidden it is hidden, or of a macro */
  name(name: string, isHidden: boolean): void {
    if (!isHidden && !isGivenName(name) && this.definedNames.size < NAMES_MAX)
      this.definedNames.add(name)
  }
}

/** Number formats by style index (18.8.45, 18.8.10). */
export class StylesHandler implements PartHandler, StylesTaker {
  readonly own = new Map<number, string>()
  readonly idByStyle: number[] = []
  readonly #formats = new Map<number, NumberFormat>()
  inCellFormats = false

  open(name: string, xml: XmlScanner): void {
    if (name === 'numFmt')
      this.own.set(Number(xml.attribute('numFmtId')), xml.attribute('formatCode') ?? '')
    else if (name === 'cellXfs') this.inCellFormats = true
    else if (name === 'xf') {
      if (this.inCellFormats) this.idByStyle.push(Number(xml.attribute('numFmtId')) || 0)
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

  record(id: number, body: Buffer): void {
    takeStylesRecord(this, id, body)
  }

  /** The format of a style index as the cell names it; undefined: General. */
  format(style: number): NumberFormat | undefined {
    const id = this.idByStyle[style]
    if (id === undefined) return undefined
    let format = this.#formats.get(id)
    if (!format) {
      format = new NumberFormat(this.own.get(id) ?? builtInFormat(id))
      this.#formats.set(id, format)
    }
    return format
  }
}

/** `_x000D_` stands for a character that XML cannot hold (18.17.3, ST_Xstring); line breaks in a cell become spaces. */
export function cellText(text: string): string {
  return inOneLine(unescaped(text))
}

/** Controls become spaces. */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (escape, code: string) => {
    const character = String.fromCharCode(parseInt(code, 16))
    return character < ' '
      ? ' '
      : character >= '\ud800' && character <= '\udfff'
        ? escape
        : character
  })
}

/** Line breaks and tabs, with the spaces around them, become one space. */
export function inOneLine(text: string): string {
  if (!/[\r\n\t]/.test(text)) return text
  return text
    .split(/[\r\n\t]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
}

export class StringsHandler implements PartHandler {
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

  record(id: number, body: Buffer): void {
    const item = sharedItem(id, body)
    if (item !== undefined) this.strings.push(inOneLine(item))
  }
}

/** Comments and threaded comments: a line each. */
export class CommentsHandler implements PartHandler {
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
    this.#write(this.#comment)
    this.#comment = ''
  }

  record(id: number, body: Buffer): void {
    const comment = commentText(id, body)
    if (comment !== undefined) this.#write(comment)
  }

  #write(text: string): void {
    const comment = unescaped(text)
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trim()
    if (comment !== '' && !(this.#hasThreads && comment.startsWith('[Threaded comment]')))
      this.#sink.line(comment)
  }

  text(text: string): void {
    if (this.#depth > 0) this.#comment += text
  }
}
