/**
 * Hangul documents of the open kind (hwpx): the sections in order, with tables, notes, headers and boxes.
 *
 * Format: OWPML, KS X 6101.
 */
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { Flow } from './office/flow.js'
import { Inside } from './office/inside.js'
import { OfficePackage } from './office/package.js'
import type { TextSink } from './sink.js'
import { scanEntry, type XmlHandler, type XmlScanner } from './xml.js'

export const hwpx: Extractor = {
  name: 'hwpx',
  version: 1,
  title: 'Hangul (hwpx)',
  types: ['application/hwp+zip'],
  extensions: ['hwpx'],
  lane: 'text',
  extract: readHangul,
}

async function readHangul(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  if ((await pack.bytes('META-INF/manifest.xml'))?.includes('encryption-data'))
    throw new Declined('locked', 'password needed')
  const sections = pack.entries
    .flatMap((entry) => {
      const number = /^Contents\/section(\d+)\.xml$/i.exec(entry.name)?.[1]
      return number === undefined ? [] : [{ entry, number: Number(number) }]
    })
    .sort((one, other) => one.number - other.number)
  if (sections.length === 0) throw new Declined('damaged', 'no section')

  const flow = new Flow(sink)
  try {
    for (const { entry } of sections)
      pack.note(await scanEntry(entry, context.budget, new SectionHandler(flow)))
  } finally {
    flow.end()
  }
  for (const [name, text] of await pack.texts('Contents/content.hpf'))
    if (name === 'metadata') sink.line(text.replace(/\s+/g, ' ').trim())
  const inside = new Inside(pack, context)
  for (const { name } of pack.entries) if (/^BinData\//i.test(name)) inside.collectPicture(name)
  await inside.read()
  return {
    empty: inside.emptyReason,
    ...(pack.problem && { partial: pack.problem }),
  }
}

/** What hangs on a sentence and is read behind its paragraph. */
const BOXES = new Set([
  'footNote',
  'endNote',
  'header',
  'footer',
  'drawText',
  'hiddenComment',
  'caption',
])

class SectionHandler implements XmlHandler {
  readonly #flow: Flow
  #isText = false

  constructor(flow: Flow) {
    this.#flow = flow
  }

  open(name: string, xml: XmlScanner): void {
    if (name === 't' || name === 'script') this.#isText = true
    else if (BOXES.has(name)) this.#flow.enterBox()
    else if (name === 'tab') this.#flow.text('\t')
    else if (name === 'lineBreak' || name === 'tbl') this.#flow.newline()
    else if (name === 'nbSpace' || name === 'fwSpace') this.#flow.text(' ')
    else if (
      name === 'secPr' ||
      name === 'linesegarray' ||
      name === 'deleteBegin' ||
      name === 'shapeComment'
    )
      xml.skip()
  }

  close(name: string): void {
    if (name === 't' || name === 'script') this.#isText = false
    else if (BOXES.has(name)) this.#flow.leaveBox()
    else if (name === 'p') this.#flow.paragraph()
    else if (name === 'tc') this.#flow.cell()
    else if (name === 'tr') this.#flow.newline()
  }

  text(text: string): void {
    if (this.#isText) this.#flow.text(text)
  }
}
