/**
 * Office documents in one XML file: Word 2003 (WordprocessingML), and Office packages flattened into XML (Flat OPC,
 * [MS-OE376] annex). Excel 2003 is read by excel-xml.ts.
 *
 * Only the elements that hold text are read, so binary parts, styles and deleted text stay out. Tolerant of
 * XML that ends early.
 */
import { Cut } from './budget.js'
import type { Extractor } from './extractor.js'

export const officeXml: Extractor = {
  name: 'office-xml',
  version: 2,
  title: 'Word 2003 XML, flattened Office packages',
  types: ['application/vnd.ms-wordml+xml', 'application/vnd.ms-office.flat-opc+xml'],
  extensions: ['xml'],
  lane: 'text',
  async extract({ bytes, charset }, sink, { budget }) {
    const { Parser } = await import('htmlparser2')
    const { decodeText } = await import('../mail/charset.js')
    let depth = 0
    /** Depth of the element whose text is read, 0 outside of one. */
    let reads = 0
    let line = ''
    const endLine = (): void => {
      const shown = line.trim()
      line = ''
      if (shown !== '') sink.line(shown)
    }
    const parser = new Parser(
      {
        onopentag(name) {
          if (++depth > budget.limits.xmlDepth) throw new Cut('xml-depth')
          const local = localName(name)
          if (reads === 0 && TEXT.has(local)) reads = depth
          else if (local === 'tab') line += '\t'
          else if (local === 'br' || local === 'cr') endLine()
        },
        ontext(text) {
          if (reads > 0) line += text
        },
        onclosetag(name) {
          const local = localName(name)
          if (reads === depth) reads = 0
          depth--
          if (local === 'tc') line += '\t'
          else if (LINES.has(local)) endLine()
        },
      },
      { xmlMode: true, decodeEntities: true },
    )
    const { text } = decodeText(bytes, { declared: charset, markup: true })
    for (let at = 0; at < text.length; at += CHUNK) parser.write(text.slice(at, at + CHUNK))
    parser.end()
    endLine()
  },
}

/** Characters handed to the parser at a time, so that a full sink ends the work early. */
const CHUNK = 65_536
/** Elements that hold text: runs, and the properties that people fill in. */
const TEXT = new Set(['t', 'Title', 'Subject', 'Keywords', 'Description', 'Category'])
const LINES = new Set(['p', 'tr', 'Title', 'Subject', 'Keywords', 'Description', 'Category'])

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
