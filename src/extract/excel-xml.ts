/**
 * Excel 2003 workbooks in one XML file (XML Spreadsheet), which reporting programs like to call .xls. Read as xlsx.ts
 * reads its sheets: a page is a sheet, numbers stand as displayed and as they are; comments, page headers and links
 * follow the cells.
 *
 * Format: XML Spreadsheet Reference (Office 2003), [MS-OE376] annex for what Excel writes.
 */
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { isGivenByProgram, isGivenSheetName, isProgramProperty } from './given-by-program.js'
import { isGivenName, NAMES_MAX, writeNames } from './office/defined-names.js'
import { NumberFormat } from './office/number-format.js'
import { writeLink } from './office/package.js'
import { marginText } from './office/page-margin.js'
import { serialOf } from './office/shown-date.js'
import { inOneLine } from './office/workbook-parts.js'
import type { TextSink } from './sink.js'
import { XmlScanner, type XmlHandler } from './xml.js'

export const excelXml: Extractor = {
  name: 'excel-xml',
  version: 2,
  title: 'Excel 2003 XML',
  types: ['application/vnd.ms-spreadsheetml+xml'],
  extensions: ['xml'],
  lane: 'text',
  extract: readExcelXml,
}

/** Characters handed to the scanner at a time, so that a full sink ends the work early. */
const CHUNK = 65_536

async function readExcelXml(
  { bytes, charset }: Source,
  sink: TextSink,
  context: Context,
): Promise<Facts> {
  const { decodeText } = await import('../mail/charset.js')
  const { text } = decodeText(bytes, { declared: charset, markup: true })
  const workbook = new WorkbookHandler(sink, context)
  const scanner = new XmlScanner(workbook, context.budget.limits.xmlDepth)
  try {
    for (let at = 0; at < text.length; at += CHUNK) scanner.write(text.slice(at, at + CHUNK))
    scanner.end()
  } finally {
    workbook.end()
  }
  if (workbook.sheetCount === 0) throw new Declined('damaged', 'no sheet')
  return { pageCount: workbook.sheetCount, ...(scanner.fault && { partial: scanner.fault }) }
}

/** Formats that have a name instead of a code. */
const NAMED: Record<string, string> = {
  'General Number': 'General',
  'General Date': 'm/d/yyyy h:mm',
  'Long Date': 'dddd, mmmm d, yyyy',
  'Medium Date': 'd-mmm-yy',
  'Short Date': 'm/d/yyyy',
  'Long Time': 'h:mm:ss AM/PM',
  'Medium Time': 'h:mm AM/PM',
  'Short Time': 'h:mm',
  Currency: '"$"#,##0.00_);("$"#,##0.00)',
  'Euro Currency': '[$€-2] #,##0.00',
  Fixed: '0.00',
  Standard: '#,##0.00',
  Percent: '0.00%',
  Scientific: '0.00E+00',
  'Yes/No': '"Yes";"Yes";"No"',
  'True/False': '"True";"True";"False"',
  'On/Off': '"On";"On";"Off"',
}
const GENERAL = new NumberFormat('General')
const PROPERTIES = new Set(['Title', 'Subject', 'Keywords', 'Description', 'Category', 'Author'])
/** A row is handed on when it is over, or when it has grown to this many characters. */
const ROW_CHARS = 16_384

class WorkbookHandler implements XmlHandler {
  sheetCount = 0
  readonly #sink: TextSink
  readonly #context: Context
  /** Formats by the id of their style, and the style that a style is based on. */
  readonly #formats = new Map<string, NumberFormat>()
  readonly #parents = new Map<string, string>()
  #openStyle = ''
  readonly #names = new Set<string>()
  readonly #links = new Set<string>()
  readonly #seen = new Set<string>()
  #line = ''
  #rowStyle = ''
  #cellStyle = ''
  #type = ''
  /** Text that is being read: of a cell, a comment or a property. */
  #text: string | undefined
  /** Comments and names of the sheet. */
  #comments: string[] = []
  #inComment = false
  #margins = new Set<string>()
  #sheetLinks: string[] = []
  #property = ''

  constructor(sink: TextSink, context: Context) {
    this.#sink = sink
    this.#context = context
  }

  open(name: string, xml: XmlScanner): void {
    switch (name) {
      case 'Style':
        this.#openStyle = xml.attribute('ID') ?? ''
        this.#parents.set(this.#openStyle, xml.attribute('Parent') ?? '')
        return
      case 'NumberFormat': {
        const code = xml.attribute('Format') ?? ''
        this.#formats.set(this.#openStyle, new NumberFormat(NAMED[code] ?? code))
        return
      }
      case 'NamedRange': {
        const given = xml.attribute('Name') ?? ''
        const isHidden = xml.attribute('Hidden') === '1'
        if (isHidden || isGivenName(given) || this.#names.size >= NAMES_MAX) return
        // those of one sheet stand in it
        if (this.sheetCount > 0 && !this.#names.has(given)) this.#comments.push(given)
        this.#names.add(given)
        return
      }
      case 'Worksheet':
        return this.#beginSheet(xml.attribute('Name') ?? '')
      case 'Row':
        this.#rowStyle = xml.attribute('StyleID') ?? ''
        return
      case 'Cell': {
        this.#cellStyle = xml.attribute('StyleID') ?? this.#rowStyle
        const link = xml.attribute('HRef')
        if (link) this.#sheetLinks.push(link)
        return
      }
      case 'Data':
        this.#type = xml.attribute('Type') ?? ''
        this.#text = ''
        return
      case 'Comment':
        this.#inComment = true
        return
      case 'Header':
      case 'Footer': {
        if (xml.parent === 'PageSetup') this.#margins.add(marginText(xml.attribute('Data') ?? ''))
        return
      }
      case 'Borders':
      case 'PhoneticText':
      case 'DataValidation':
      case 'ConditionalFormatting':
      case 'OfficeDocumentSettings':
        return xml.skip()
      default:
        if (xml.parent === 'DocumentProperties' && PROPERTIES.has(name)) this.#text = ''
        else if (xml.parent === 'CustomDocumentProperties') {
          if ((xml.attribute('dt') ?? 'string') === 'string') this.#text = ''
          this.#property = name
        }
    }
  }

  close(name: string, xml: XmlScanner): void {
    switch (name) {
      case 'Data': {
        const text = this.#text ?? ''
        this.#text = undefined
        if (this.#inComment) this.#comments.push(text.trim())
        // half of a number is another number
        else if (!xml.isCutShort) this.#put(this.#displayed(text))
        return
      }
      case 'Comment':
        this.#inComment = false
        return
      case 'Row':
        return this.#endRow()
      case 'Worksheet':
        return this.#endSheet()
      default:
        if (this.#text === undefined) return
        if (xml.parent === 'DocumentProperties') this.#endProperty(name)
        else if (xml.parent === 'CustomDocumentProperties') this.#endProperty(this.#property, true)
    }
  }

  text(text: string): void {
    if (this.#text !== undefined) this.#text += text
  }

  /** Writes what a limit or a damaged end left open. */
  end(): void {
    this.#endSheet()
  }

  #endProperty(name: string, isOwn = false): void {
    const value = (this.#text ?? '').replace(/\s+/g, ' ').trim()
    this.#text = undefined
    const isGiven = isOwn ? isProgramProperty(name, value) : isGivenByProgram(value)
    if (value === '' || isGiven || this.#seen.has(value)) return
    this.#seen.add(value)
    if (name === 'Author' && !isOwn) this.#sink.aside(value)
    else this.#sink.line(value)
  }

  #beginSheet(name: string): void {
    if (this.sheetCount === 0) writeNames([...this.#names], this.#sink)
    this.#sink.page(++this.sheetCount)
    if (!isGivenSheetName(name)) this.#sink.line(name)
  }

  #endSheet(): void {
    this.#endRow()
    for (const text of [...this.#comments, ...this.#margins]) if (text !== '') this.#sink.line(text)
    for (const link of this.#sheetLinks) writeLink(link, this.#links, this.#sink)
    this.#comments = []
    this.#margins = new Set()
    this.#sheetLinks = []
  }

  #displayed(text: string): string {
    switch (this.#type) {
      case 'Boolean':
        return text === '1' ? 'TRUE' : text === '0' ? 'FALSE' : text
      case 'Number':
      case 'DateTime': {
        const number = this.#type === 'Number' ? Number(text) : serialOf(text)
        if (text.trim() === '' || !Number.isFinite(number)) return inOneLine(text)
        return this.#format(this.#cellStyle).both(number, false)
      }
      case 'String':
        return this.#format(this.#cellStyle).displayText(inOneLine(text))
      default:
        return inOneLine(text)
    }
  }

  #format(style: string): NumberFormat {
    let id: string | undefined = style
    // a style stands on another one, and that on the default
    for (let i = 0; id && i < 10; i++, id = this.#parents.get(id)) {
      const format = this.#formats.get(id)
      if (format) return format
    }
    return this.#formats.get('Default') ?? GENERAL
  }

  #put(text: string): void {
    if (text === '') return
    this.#context.budget.takeCell()
    this.#line += this.#line === '' ? text : `\t${text}`
    if (this.#line.length > ROW_CHARS) {
      this.#sink.write(this.#line)
      this.#line = '\t'
    }
  }

  #endRow(): void {
    if (this.#line !== '') this.#sink.line(this.#line)
    this.#line = ''
  }
}
