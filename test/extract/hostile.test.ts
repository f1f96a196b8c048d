/** Documents made to harm, through the one way in: a recorded outcome each, soon, with nothing fetched, expanded or written. */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Outcome } from '../../src/part/outcome.js'
import { contentTypes, docx, relationships, zip } from '../../scripts/make/office.js'
import { HOSTILE } from '../../scripts/make/hostile.js'
import { pdf } from '../../scripts/make/pdf.js'

vi.setConfig({ testTimeout: 120_000 })

const settings = { limits: DEFAULT_LIMITS, ocr: false as const, passwords: [] }

async function read(bytes: Uint8Array, name: string): Promise<Outcome> {
  return (await readDocument({ bytes, name }, settings, 'text')).outcome
}

const textOf = (outcome: Outcome): string =>
  outcome.kind === 'text' ? outcome.pages.map(({ text }) => text).join('\n') : ''

const stateOf = (outcome: Outcome): string =>
  outcome.kind === 'text' ? `ok ${outcome.cutBy ?? ''}`.trim() : outcome.state

/** A docx whose body is this XML. */
async function wordOf(document: string): Promise<Uint8Array> {
  return zip({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    '_rels/.rels':
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    'word/document.xml': document,
  })
}
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`

test('a document that inflates to 60 MB is cut at 50, and its beginning kept', async () => {
  const filler = `<w:p><w:pPr><w:ind w:left="0"/></w:pPr></w:p>`.repeat(1_300_000)
  const bytes = await wordOf(
    `<w:document ${W}><w:body>${paragraph('before the flood')}${filler}${paragraph('after it')}</w:body></w:document>`,
  )
  expect(bytes.length).toBeLessThan(2_000_000)
  const outcome = await read(bytes, 'bomb.docx')
  expect(stateOf(outcome)).toBe('ok archive-bytes')
  expect(textOf(outcome)).toContain('before the flood')
  expect(textOf(outcome)).not.toContain('after it')
})

test('zips in zips are opened as deep as the limit, and what lies above is kept', async () => {
  let bytes = await zip({ 'deepest.txt': 'level nine' })
  for (let level = 8; level > 0; level--)
    bytes = await zip({ [`level-${level}.txt`]: `text ${level}`, 'in.zip': bytes })
  const outcome = await read(bytes, 'nest.zip')
  expect(stateOf(outcome)).toBe('ok nesting')
  expect(textOf(outcome)).toBe([1, 2, 3, 4, 5].map((level) => `text ${level}`).join('\n'))
})

test.each([
  ['texts', 'x', { cutBy: 'archive-entries' }],
  ['empty entries', '', { partial: 'only the first 10001 entries are listed' }],
])('a zip of 12,000 %s ends at the limit of entries, and says so', async (_, content, told) => {
  const names = Array.from({ length: 12_000 }, (_, i) => [`${i}.txt`, content])
  const outcome = await read(
    await zip(Object.fromEntries(names) as Record<string, string>),
    'x.zip',
  )
  expect(outcome).toMatchObject({ kind: 'text', ...told })
  expect(textOf(outcome)).toBe(content && Array(10_000).fill(content).join('\n'))
})

test('names that climb out of an archive touch no disk', async () => {
  const evil = join(tmpdir(), 'paperknife-evil.txt')
  const climbing = `../../../../../../../../..${evil}`
  const outcome = await read(await zip({ [climbing]: 'climbed', [evil]: 'absolute' }), 'climb.zip')
  expect(textOf(outcome)).toContain('climbed')
  expect(existsSync(evil)).toBe(false)
})

test.each([
  ['an external entity', '<!ENTITY x SYSTEM "file:///etc/passwd">', '&x;'],
  [
    'entities that multiply',
    `<!ENTITY a "${'lol'.repeat(100)}">${[...'bcdefgh'].map((n, i) => `<!ENTITY ${n} "${`&${'abcdefg'[i]};`.repeat(50)}">`).join('')}`,
    '&h;',
  ],
])('%s is never expanded', async (_, entities, use) => {
  const body = `<w:document ${W}><w:body>${paragraph(`safe ${use} words`)}</w:body></w:document>`
  const outcome = await read(await wordOf(`<!DOCTYPE w:document [${entities}]>${body}`), 'x.docx')
  expect(textOf(outcome)).toBe(`safe ${use} words\n`)
  const plain = Buffer.from(
    `<?xml version="1.0"?><!DOCTYPE r [${entities}]><r>safe ${use} words</r>`,
  )
  expect(textOf(await read(plain, 'x.xml'))).toBe(`safe ${use} words\n`)
})

test('XML nested 100,000 deep is cut, and recursion is not how it is read', async () => {
  const deep = `${'<w:sdt><w:sdtContent>'.repeat(50_000)}${paragraph('down here')}`
  const outcome = await read(
    await wordOf(`<w:document ${W}><w:body>${paragraph('up here')}${deep}`),
    'x.docx',
  )
  expect(stateOf(outcome)).toBe('ok xml-depth')
  expect(textOf(outcome)).toBe('up here\n')
})

test('a picture that claims 60,000 by 60,000 pixels is declined before it is decoded', async () => {
  const chunk = (type: string, content: Buffer): Buffer => {
    const bytes = Buffer.alloc(12 + content.length)
    bytes.writeUInt32BE(content.length, 0)
    bytes.write(type, 4, 'latin1')
    content.copy(bytes, 8)
    return bytes
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(60_000, 0)
  header.writeUInt32BE(60_000, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const png = Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(20_000_000))),
    chunk('IEND', Buffer.alloc(0)),
  ])
  const { outcome } = await readDocument(
    { bytes: png, name: 'bomb.png' },
    { ...settings, ocr: { languages: ['eng'], engine: 'wasm' } },
    'ocr',
  )
  expect(stateOf(outcome)).toBe('too-large')
})

test('a part over 25 MB is recorded as too-large and never read', async () => {
  expect(stateOf(await read(new Uint8Array(25_000_001), 'big.bin'))).toBe('too-large')
})

// GSA/srt-fbo-scraper#194, paperless-ngx#4633, mysociety/alaveteli#88
test('bytes decide, whatever the name says, and without any', async () => {
  const page = '<html><body><p>a page</p></body></html>'
  const rich = '{\\rtf1\\ansi a rich text}'
  const made: Array<[bytes: Uint8Array, says: string]> = [
    [Buffer.from('plainly a text\n'), 'plainly a text'],
    [Buffer.from(page), 'a page'],
    [Buffer.from(rich), 'a rich text'],
    [await docx(['a true document']), 'a true document'],
    [pdf([['a true page']]), 'a true page'],
  ]
  const names = ['report.docx', 'report.doc', 'report.txt', 'report', '', 'a/../"b".exe\0; x=.zip']
  for (const [bytes, says] of made)
    for (const name of names) expect(textOf(await read(bytes, name)).trim(), name).toBe(says)
})

test('a locked document is locked, and its password opens it', async () => {
  const bytes = pdf([['behind the door']], { password: 'sesame' })
  expect(stateOf(await read(bytes, 'x.pdf'))).toBe('locked')
  const { outcome } = await readDocument(
    { bytes, name: 'x.pdf' },
    { ...settings, passwords: ['wrong', 'sesame'] },
    'text',
  )
  expect(textOf(outcome)).toContain('behind the door')
})

// zerx-lab/wordZero#97
test.each([
  ['word/document.xml', 'wordprocessingml.document', 'document'],
  ['xl/workbook.xml', 'spreadsheetml.sheet', 'workbook'],
  ['ppt/presentation.xml', 'presentationml.presentation', 'presentation'],
])(
  'a package whose %s is of no known kind is unsupported, and its kind named',
  async (part, type, root) => {
    const bytes = await zip({
      '[Content_Types].xml': contentTypes({ [part]: `${type}.main` }),
      '_rels/.rels': relationships([['officeDocument', part]]),
      [part]: '<memo xmlns="urn:nobody"><line>words</line></memo>',
    })
    expect(await read(bytes, 'x.docx')).toEqual({
      kind: 'declined',
      state: 'unsupported',
      detail: `the main part is no ${root} but memo`,
    })
  },
)

// GOVCERT-LU/eml_parser#44
test('mail in mail in mail is opened as deep as the limit, and said to be cut', async () => {
  let mail = 'From: z@example.org\r\nSubject: the core\r\n\r\ncore text\r\n'
  for (let level = 30; level > 0; level--)
    mail =
      `From: z@example.org\r\nSubject: level ${level}\r\nContent-Type: multipart/mixed; boundary=b${level}\r\n\r\n` +
      `--b${level}\r\n\r\ntext ${level}\r\n--b${level}\r\nContent-Type: message/rfc822\r\n\r\n${mail}\r\n--b${level}--\r\n`
  const outcome = await read(Buffer.from(mail), 'chain.eml')
  expect(stateOf(outcome)).toBe('ok nesting')
  expect(textOf(outcome)).toContain('text 1\n')
  expect(textOf(outcome)).not.toContain('core text')
})

test.each([
  ['operators.pdf', 'page 2', ['words above']],
  ['doubling-forms.pdf', 'page 1', ['words', 'words of the next page']],
] as const)(
  '%s draws without end: its texts are read, and what was left is told',
  async (name, page, words) => {
    const bytes = await HOSTILE[name]!()
    const document = { bytes, name }
    const inLane = async (lane: 'text' | 'ocr') => {
      const ocr =
        lane === 'ocr' ? { languages: ['eng'], engine: 'auto' as const } : (false as const)
      return (await readDocument(document, { ...settings, ocr }, lane)).outcome
    }
    for (const outcome of [await inLane('text'), await inLane('ocr')]) {
      expect(stateOf(outcome)).toBe('ok')
      expect(textOf(outcome).trim().split(/\n+/)).toEqual(words)
    }
    expect(await inLane('ocr')).toMatchObject({ partial: `not read: all that ${page} draws` })
  },
)
