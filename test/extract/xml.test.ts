/** The scanner against saxes on generated documents, and on what no library takes. */
import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import {
  decodeEntities,
  scanBytes,
  XmlDecoder,
  XmlScanner,
  type XmlHandler,
} from '../../src/extract/xml.js'

type Event = ['open', string, Record<string, string>] | ['close', string] | ['text', string]

/** Records events, runs of text joined. */
class Recorder implements XmlHandler {
  readonly events: Event[] = []
  readonly #names: readonly string[]

  /** @param names attributes to ask for */
  constructor(names: readonly string[] = []) {
    this.#names = names
  }

  open(name: string, xml: XmlScanner): void {
    const attributes: Record<string, string> = {}
    for (const attribute of this.#names) {
      const value = xml.attribute(attribute)
      if (value !== undefined) attributes[attribute] = value
    }
    this.events.push(['open', name, attributes])
  }

  close(name: string): void {
    this.events.push(['close', name])
  }

  text(text: string): void {
    pushText(this.events, text)
  }

  get texts(): string {
    return this.events.map(([kind, text]) => (kind === 'text' ? text : '')).join('')
  }
}

function pushText(events: Event[], text: string): void {
  const last = events[events.length - 1]
  if (last?.[0] === 'text') last[1] += text
  else events.push(['text', text])
}

const NAMES = ['a', 'b', 'val', 'id']

function scan(
  xml: string,
  cuts: readonly number[] = [],
): { events: Event[]; fault: string | undefined; texts: string } {
  const recorder = new Recorder(NAMES)
  const scanner = new XmlScanner(recorder, 100)
  let from = 0
  for (const cut of [...cuts].sort((one, other) => one - other)) {
    if (cut <= from || cut >= xml.length) continue
    scanner.write(xml.slice(from, cut))
    from = cut
  }
  scanner.write(xml.slice(from))
  scanner.end()
  return { events: recorder.events, fault: scanner.fault, texts: recorder.texts }
}

function bySaxes(xml: string): Event[] {
  const events: Event[] = []
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => {
    const wanted = Object.entries(attributes as Record<string, string>).filter(([key]) =>
      NAMES.includes(key),
    )
    events.push(['open', name, Object.fromEntries(wanted)])
  })
  parser.on('closetag', ({ name }) => void events.push(['close', name]))
  let depth = 0
  parser.on('opentagstart', () => void depth++)
  parser.on('text', (text) => depth > 0 && text !== '' && pushText(events, text))
  parser.on('cdata', (text) => text !== '' && pushText(events, text))
  parser.write(xml).close()
  return events.filter(
    ([kind, text], at) => !(kind === 'text' && at === events.length - 1 && text.trim() === ''),
  )
}

/** Well-formed XML with all that XML has. */
const character = fc.constantFrom(...'abc<&>"\'é日😀 \n')
const escaped = fc
  .string({ unit: character, maxLength: 12 })
  .map((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(']]>', ']]&gt;'))
const content = fc.oneof(
  escaped,
  fc.constantFrom('&#233;', '&#x3042;', '&apos;', '<!-- a < b & c -->', '<?target a > b?>'),
  fc
    .string({ unit: character, maxLength: 12 })
    .map((text) => `<![CDATA[${text.replaceAll(']]>', '')}]]>`),
)
const attributes = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), escaped, fc.constantFrom('"', "'")), {
    selector: ([name]) => name,
    maxLength: 3,
  })
  .map((all) =>
    all
      .map(
        ([name, value, quote]) =>
          ` ${name} = ${quote}${value.replaceAll(quote, quote === '"' ? '&quot;' : '&apos;').replaceAll('\n', ' ')}${quote}`,
      )
      .join(''),
  )
const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(
      fc.constantFrom('p', 'run', 'Tbl'),
      attributes,
      fc.array(fc.oneof({ depthSize: 'small' }, content, tie('element')), { maxLength: 5 }),
    )
    .map(([name, own, inner]) =>
      inner.length === 0 ? `<${name}${own}/>` : `<${name}${own}>${inner.join('')}</${name} >`,
    ),
}))

test('gives the events of saxes for well-formed documents, however they are cut', () => {
  fc.assert(
    fc.property(element, fc.array(fc.nat(400), { maxLength: 8 }), (xml, cuts) => {
      const document = `<?xml version="1.0"?>\n${xml}`
      const { events, fault } = scan(document, cuts)
      expect(fault).toBeUndefined()
      expect(events).toEqual(bySaxes(document))
    }),
    { numRuns: 500 },
  )
})

test('never throws, whatever comes', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'<>/!?[]-&;#x"\'= ap:'), maxLength: 60 }),
      fc.array(fc.nat(60), { maxLength: 4 }),
      (xml, cuts) => {
        const whole = scan(`<p>${xml}`)
        expect(scan(`<p>${xml}`, cuts).texts).toBe(whole.texts)
      },
    ),
    { numRuns: 1000 },
  )
})

describe('keeps what came', () => {
  test.each([
    ['an unclosed document', '<a><p>one</p><p>two', 'onetwo'],
    ['a stray closing tag', '<a><p>one</b></p>two</a>', 'onetwo'],
    ['elements closed in the wrong order', '<a><p><r>one</p></r>two</a>', 'onetwo'],
    ['an undefined entity', '<a>one &nbsp; two</a>', 'one &nbsp; two'],
    ['a stray ampersand', '<a>one & two</a>', 'one & two'],
    ['a stray less-than', '<a>1 < 2</a>', '1 < 2'],
    ['an end inside a tag', '<a>one<p attr="', 'one'],
    ['an end inside a comment', '<a>one<!-- two', 'one'],
    ['control characters', '<a>one\u0001two</a>', 'one\u0001two'],
  ])('of %s', (_, xml, text) => {
    expect(scan(xml).texts).toBe(text)
  })
})

test('an unclosed document is told', () => {
  expect(scan('<a><p>one').fault).toBe('ends before its last element')
})

test('entities of a document type are neither read nor expanded', () => {
  const bomb = `<!DOCTYPE a [<!ENTITY x "boom"><!ENTITY y "&x;&x;"><!-- it's > here -->]><a>&y;</a>`
  const { texts, fault } = scan(bomb)
  expect(texts).toBe('&y;')
  expect(fault).toBe('declares entities, which are not read')
})

test.each([
  ['&#65;', 'A'],
  ['&#x1F600;', '😀'],
  ['&#999999999;', '&#999999999;'],
  ['&#xD800;', '&#xD800;'],
  ['&#0;', '&#0;'],
  ['&amp;lt;', '&lt;'],
])('decodes %s once and in bounds', (text, decoded) => {
  expect(decodeEntities(text)).toBe(decoded)
})

test('one element too deep is a cut that names the depth', () => {
  expect(() => scan('<a>'.repeat(101))).toThrow('xml-depth')
})

test('attributes are found by local name, those of relationships whatever their prefix', () => {
  const seen: Array<string | undefined> = []
  scanBytes(
    new TextEncoder().encode(
      '<p:x xmlns:p="urn:p" xmlns:q="http://purl.oclc.org/ooxml/officeDocument/relationships" id="256" q:id="rId7" p:val="v>1"/>',
    ),
    10,
    {
      open: (_, xml) =>
        void seen.push(xml.attribute('id'), xml.relation('id'), xml.attribute('val')),
      close: () => undefined,
      text: () => undefined,
    },
  )
  expect(seen).toEqual(['256', 'rId7', 'v>1'])
})

test('a skipped element gives nothing of what is inside', () => {
  const recorder = new Recorder()
  scanBytes(new TextEncoder().encode('<a><del>gone<b/>gone</del>here<del/>too</a>'), 10, {
    open: (name, xml) => (name === 'del' ? xml.skip() : recorder.open(name, xml)),
    close: (name) => recorder.close(name),
    text: (text) => recorder.text(text),
  })
  expect(recorder.texts).toBe('heretoo')
})

test.each([
  ['utf-8 with a mark', Buffer.from('\ufeff<a>é日</a>', 'utf8')],
  ['utf-16le', Buffer.from('\ufeff<a>é日</a>', 'utf16le')],
  ['utf-16be', Buffer.from('\ufeff<a>é日</a>', 'utf16le').swap16()],
  [
    'a declared encoding',
    Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><a>', 'latin1'),
      Buffer.from([0x93, 0xfa]),
      Buffer.from('</a>'),
    ]),
  ],
])('decodes %s, byte by byte', (_, bytes) => {
  const recorder = new Recorder()
  const scanner = new XmlScanner(recorder, 10)
  const decoder = new XmlDecoder()
  // the head of a member comes whole, what follows in any pieces
  scanner.write(decoder.write(bytes.subarray(0, 60)))
  for (let at = 60; at < bytes.length; at++)
    scanner.write(decoder.write(bytes.subarray(at, at + 1)))
  scanner.write(decoder.end())
  scanner.end()
  expect(recorder.texts).toMatch(/^é?日$/)
})
