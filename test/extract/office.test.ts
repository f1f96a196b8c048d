/** Office documents at and beyond their limits; what they say when sound is test/fixtures/office. */
import { deflateSync, crc32 } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { isProgramProperty } from '../../src/extract/given-by-program.js'
import { Budget } from '../../src/extract/budget.js'
import { shownByInstruction } from '../../src/extract/office/field.js'
import { writeLink } from '../../src/extract/office/package.js'
import { TextSink } from '../../src/extract/sink.js'
import { alternativeText } from '../../src/extract/office/drawing.js'
import { marginText } from '../../src/extract/office/page-margin.js'
import { closeOcr } from '../../src/extract/ocr/engine.js'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS, type Limits } from '../../src/part/limits.js'
import type { ReadResult, TextOutcome, TextPage } from '../../src/part/outcome.js'
import type { Lane } from '../../src/part/states.js'
import {
  contentTypes,
  coreProperties,
  OFFICE,
  relationships,
  zip,
  type Parts,
} from '../../scripts/fixtures/package.js'
import {
  cell as binaryCell,
  double,
  row as binaryRow,
  sheet as binarySheet,
} from '../../scripts/fixtures/xlsb.js'
import { scanJpeg } from '../../scripts/make/picture.js'

afterAll(closeOcr)

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.'
const EXCEL = 'application/vnd.openxmlformats-officedocument.spreadsheetml.'
const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const S = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

const says = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`

function docx(
  body: string,
  parts: Parts = {},
  type = `${WORD}document.main+xml`,
): Promise<Uint8Array> {
  return zip({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': type }),
    '_rels/.rels': relationships(['r', 'officeDocument', 'word/document.xml']),
    'word/document.xml': `<w:document xmlns:w="${W}" xmlns:r="${OFFICE}"><w:body>${body}</w:body></w:document>`,
    ...parts,
  })
}

function xlsx(
  sheet: string | Uint8Array,
  parts: Parts = {},
  type = `${EXCEL}sheet.main+xml`,
): Promise<Uint8Array> {
  return zip({
    '[Content_Types].xml': contentTypes({ 'xl/workbook.xml': type }),
    '_rels/.rels': relationships(['r', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<workbook xmlns="${S}" xmlns:r="${OFFICE}"><sheets><sheet name="Big" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships(
      ['r1', 'worksheet', 'worksheets/sheet1.xml'],
      ['r2', 'sharedStrings', 'sharedStrings.xml'],
    ),
    'xl/worksheets/sheet1.xml': sheet,
    ...parts,
  })
}

function read(
  bytes: Uint8Array,
  limits: Partial<Limits> = {},
  lane: Lane = 'text',
): Promise<ReadResult> {
  return readDocument(
    { bytes },
    { limits: { ...DEFAULT_LIMITS, ...limits }, ocr: false, passwords: [] },
    lane,
  )
}

async function text(
  bytes: Uint8Array,
  limits: Partial<Limits> = {},
): Promise<TextOutcome & { all: string }> {
  const { outcome } = await read(bytes, limits)
  if (outcome.kind !== 'text') throw new Error(`${outcome.state}: ${outcome.detail}`)
  return { ...outcome, all: outcome.pages.map((page) => page.text).join('') }
}

describe('reads by content type', () => {
  test.each([
    `${WORD}document.main+xml`,
    `${WORD}template.main+xml`,
    'application/vnd.ms-word.document.macroEnabled.main+xml',
    'application/vnd.ms-word.template.macroEnabledTemplate.main+xml',
  ])('%s', async (type) => {
    expect((await text(await docx(says('hello'), {}, type))).all).toBe('hello\n')
  })

  test.each([
    `${EXCEL}sheet.main+xml`,
    `${EXCEL}template.main+xml`,
    'application/vnd.ms-excel.sheet.macroEnabled.main+xml',
    'application/vnd.ms-excel.template.macroEnabled.main+xml',
    'application/vnd.ms-excel.addin.macroEnabled.main+xml',
  ])('%s', async (type) => {
    const sheet = `<worksheet xmlns="${S}"><sheetData><row><c><v>12</v></c></row></sheetData></worksheet>`
    expect((await text(await xlsx(sheet, {}, type))).all).toBe('Big\n12\n')
  })
})

const rows = (count: number): string => {
  const lines: string[] = []
  for (let row = 1; row <= count; row++)
    lines.push(`<row r="${row}"><c r="A${row}" s="0" t="n" cm="1"><v>${row}</v></c></row>`)
  return `<worksheet xmlns="${S}"><sheetData>${lines.join('')}</sheetData></worksheet>`
}

test('an accent that no equation has leaves its letter as it is', async () => {
  const math = 'http://schemas.openxmlformats.org/officeDocument/2006/math'
  const accented = (mark: string): string =>
    `<m:acc><m:accPr><m:chr m:val="${mark}"/></m:accPr><m:e><m:r><m:t>a</m:t></m:r></m:e></m:acc>`
  const { outcome } = await read(
    await docx(
      `<w:p><m:oMath xmlns:m="${math}">${accented('constructor')}${accented('~')}</m:oMath></w:p>`,
    ),
  )
  expect((outcome as TextOutcome).pages.map(({ text }) => text)).toEqual(['aa\na\\tilde{a}\n'])
})

test('a worksheet that inflates past the limit is cut there and its text up to there kept', async () => {
  const bytes = await xlsx(rows(100_000))
  const cut = await text(bytes, { archiveBytes: 2_000_000 })
  expect(cut.cutBy).toBe('archive-bytes')
  expect(cut.all.startsWith('Big\n1\n2\n3\n')).toBe(true)
  const last = Number(cut.all.trim().split('\n').pop())
  expect(last).toBeGreaterThan(25_000)
  expect(last).toBeLessThan(40_000)
})

test('shared strings past the limit are kept as text', async () => {
  const strings = Array.from({ length: 50_000 }, (_, at) => `<si><t>word${at}</t></si>`).join('')
  const bytes = await xlsx(rows(1), {
    'xl/sharedStrings.xml': `<sst xmlns="${S}">${strings}</sst>`,
  })
  const cut = await text(bytes, { archiveBytes: 500_000 })
  expect(cut.cutBy).toBe('archive-bytes')
  expect(cut.all).toContain('word9999')
})

test('more cells than the limit are cut', async () => {
  const cut = await text(await xlsx(rows(1_000)), { cells: 100 })
  expect(cut).toMatchObject({ cutBy: 'cells', all: expect.stringMatching(/\n100\n$/) as string })
})

test('a bomb without a text within the limit is too large', async () => {
  const bytes = await docx(`<w:p>${'<w:pPr/>'.repeat(400_000)}</w:p>${says('late')}`)
  const { outcome } = await read(bytes, { archiveBytes: 1_000_000 })
  expect(outcome).toMatchObject({ kind: 'declined', state: 'too-large' })
})

test('a million empty rows and one cell cost little', async () => {
  const sheet = `<worksheet xmlns="${S}"><cols><col min="1" max="1e999"/></cols><sheetData>${'<row/>'.repeat(1_048_575)}<row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData></worksheet>`
  const { ms, outcome } = await read(await xlsx(sheet))
  expect(outcome).toMatchObject({ kind: 'text', pages: [{ text: 'Big\n7\n', page: 1 }] })
  expect(ms).toBeLessThan(10_000)
})

test('a cell of a million spaces and a header of a million codes, are read as far as they say something', async () => {
  const spaces = ' '.repeat(1_000_000)
  const cell = `<c t="inlineStr"><is><t>words${spaces}|\n${spaces}behind them</t></is></c>`
  for (const codes of ['&amp;', '&amp;[', '&amp;"', `${spaces}&amp;`]) {
    const header = `<headerFooter><oddHeader>&amp;CHarbour${codes.repeat(codes.length > 99 ? 1 : 1_000_000)}</oddHeader></headerFooter>`
    const { outcome } = await read(
      await xlsx(
        `<worksheet xmlns="${S}"><sheetData><row>${cell}</row></sheetData>${header}</worksheet>`,
      ),
    )
    expect(outcome).toMatchObject({ kind: 'text' })
    expect(outcome).not.toHaveProperty('cutBy')
    const [page] = outcome.kind === 'text' ? outcome.pages : []
    expect(page?.text.replace(/ +/g, ' ')).toMatch(/^Big\nwords \| behind them\s*\nHarbour/)
  }
})

test('a string that thousands of cells share is cut by the characters of the text', async () => {
  const shared = {
    'xl/sharedStrings.xml': `<sst xmlns="${S}"><si><t>${'x'.repeat(1_000_000)}</t></si></sst>`,
  }
  const cells = `<row>${'<c t="s"><v>0</v></c>'.repeat(12_000)}</row>`
  const cut = await text(
    await xlsx(`<worksheet xmlns="${S}"><sheetData>${cells}</sheetData></worksheet>`, shared),
  )
  expect(cut.cutBy).toBe('text-chars')
  expect(cut.all.length).toBeGreaterThan(DEFAULT_LIMITS.textChars - 10)
})

test('a member that inflates past the limit is cut by it, also when the text was full before', async () => {
  const body = says('first') + says('x'.repeat(10_000)).repeat(5_200)
  const cut = await text(await docx(body))
  expect(cut.cutBy).toBe('archive-bytes')
  expect(cut.all.startsWith('first\n')).toBe(true)
  expect(cut.all.length).toBe(DEFAULT_LIMITS.textChars)
})

test('elements nested too deep are cut, with the text before them', async () => {
  const cut = await text(await docx(says('before') + '<w:sdt>'.repeat(5_000)))
  expect(cut).toMatchObject({ cutBy: 'xml-depth', all: 'before\n' })
})

test('documents inside documents are read to the depth of the limit', async () => {
  let bytes = await docx(says('level 7'))
  for (let level = 6; level >= 0; level--)
    bytes = await docx(says(`level ${level}`), {
      'word/_rels/document.xml.rels': relationships(['r', 'package', 'embeddings/inner.docx']),
      'word/embeddings/inner.docx': bytes,
    })
  const nest = await text(bytes)
  expect(nest.all).toBe('level 0\nlevel 1\nlevel 2\nlevel 3\nlevel 4\nlevel 5\n')
  expect(nest.pages.at(-1)?.member).toBe(Array(5).fill('inner.docx').join(' › '))
  expect(nest.partial).toMatch(/nested too deep/)
})

test('a package without its main part is damaged, one with a bare document is read', async () => {
  const bare = await zip({
    '[Content_Types].xml': '<Types',
    'word/document.xml': `<w:document xmlns:w="${W}">${says('found')}</w:document>`,
  })
  expect((await text(bare)).all).toBe('found\n')
  const dotted = await zip({
    './[Content_Types].xml': contentTypes({ 'word/document.xml': `${WORD}document.main+xml` }),
    './word/document.xml': `<w:document xmlns:w="${W}">${says('found')}</w:document>`,
  })
  expect((await text(dotted)).all).toBe('found\n')
  const styles = await zip({
    mimetype: 'application/vnd.oasis.opendocument.text-template',
    'styles.xml': '<a/>',
  })
  expect(await text(styles)).toMatchObject({ all: '', empty: 'no-content' })
  const empty = await zip({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': `${WORD}document.main+xml` }),
    'word/styles.xml': '<a/>',
  })
  expect((await read(empty)).outcome).toMatchObject({ kind: 'declined', state: 'damaged' })
})

test('a title that is a file name is found but is no text of the document, others are', async () => {
  const titled = async (title: string): Promise<TextPage[]> =>
    (await text(await docx(says('body'), { 'docProps/core.xml': coreProperties({ title }) }))).pages
  expect(await titled('Pier rules 2019.doc')).toEqual([
    { text: 'body\n' },
    { text: 'Pier rules 2019.doc\n', aside: true },
  ])
  expect(await titled('Rules of pier no. 2')).toEqual([{ text: 'body\nRules of pier no. 2\n' }])
})

test('relationships that lead in circles or outside end', async () => {
  const loop = await docx(says('once'), {
    'word/_rels/document.xml.rels': relationships(
      ['a', 'header', 'document.xml'],
      ['b', 'image', '../../../../etc/passwd'],
      ['c', 'chart', 'document.xml'],
      ['d', 'package', '/word/document.xml'],
    ),
  })
  // As the header it claims to be, as the body, and as the file inside it claims to be.
  expect((await text(loop)).all).toBe('once\nonce\nonce\n')
})

describe('a binary workbook', () => {
  const binary = (sheet1: Uint8Array): Promise<Uint8Array> =>
    zip({
      '[Content_Types].xml': contentTypes({
        'xl/workbook.bin': 'application/vnd.ms-excel.sheet.binary.macroEnabled.main',
      }),
      'xl/workbook.bin': new Uint8Array(0),
      'xl/worksheets/sheet1.bin': sheet1,
    })
  const numbers = (count: number): Uint8Array =>
    binarySheet(
      Buffer.concat(
        Array.from({ length: count }, (_, at) => binaryRow(at, binaryCell(5, 0, 0, double(at)))),
      ),
    )

  test('whose workbook part says nothing is read by the names of its sheets', async () => {
    expect((await text(await binary(numbers(3)))).all).toBe('0\n1\n2\n')
  })

  test('is cut at the inflated bytes, and its rows up to there kept whole', async () => {
    const cut = await text(await binary(numbers(50_000)), { archiveBytes: 1_000_000 })
    expect(cut.cutBy).toBe('archive-bytes')
    const read = cut.all.trim().split('\n').map(Number)
    expect(read).toEqual(Array.from({ length: read.length }, (_, at) => at))
    expect(read.length).toBeGreaterThan(15_000)
  })

  test.each([
    ['ends inside a record', numbers(3).subarray(0, -45), '0\n1\n'],
    [
      'has a record that claims 200 MB',
      Buffer.concat([numbers(2), Buffer.from([0xff, 0x01, 0xff, 0xff, 0xff, 0x5f])]),
      '0\n1\n',
    ],
  ])('that %s keeps what stands before', async (_, sheet, expected) => {
    const read = await text(await binary(sheet))
    expect(read.all).toBe(expected)
    expect(read.partial).toContain('ends inside a record')
  })
})

describe('pictures', () => {
  /** Grey noise that no compression shortens: bytes grow with the sides. */
  function png(width: number, height: number, seed = 1): Uint8Array {
    const pixels = Buffer.alloc((width + 1) * height)
    let state = seed
    for (let at = 0; at < pixels.length; at++) {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
      pixels[at] = at % (width + 1) === 0 ? 0 : state >> 16
    }
    const chunk = (type: string, content: Buffer): Buffer => {
      const body = Buffer.concat([Buffer.from(type), content])
      const frame = Buffer.alloc(8)
      frame.writeUInt32BE(content.length)
      frame.writeUInt32BE(crc32(body), 4)
      return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
    }
    const header = Buffer.alloc(13)
    header.writeUInt32BE(width)
    header.writeUInt32BE(height, 4)
    header.set([8, 0, 0, 0, 0], 8)
    return Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      chunk('IHDR', header),
      chunk('IDAT', deflateSync(pixels)),
      chunk('IEND', Buffer.alloc(0)),
    ])
  }

  const withPictures = (body: string): Promise<Uint8Array> =>
    docx(body, {
      'word/_rels/document.xml.rels': relationships(
        ['a', 'image', 'media/page.png'],
        ['b', 'image', 'media/page.png'],
        ['c', 'image', 'media/logo.png'],
        ['d', 'image', 'media/rule.png'],
        ['e', 'image', 'media/drawing.emf'],
      ),
      'word/media/page.png': png(200, 200),
      'word/media/logo.png': png(60, 60),
      'word/media/rule.png': png(2000, 20),
      'word/media/drawing.emf': new Uint8Array(20_000),
    })

  test('are left for the OCR lane once each, tiny ones not at all', async () => {
    const read = await text(await withPictures(says('letter')))
    expect(read).toMatchObject({ all: 'letter\n', pagesToOcr: 1 })
    expect(read.empty).toBeUndefined()
  })

  const flat = (body: string): Uint8Array =>
    Buffer.from(
      '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" office:mimetype="application/vnd.oasis.opendocument.text">' +
        `<office:body><office:text><text:p>${body}</text:p></office:text></office:body></office:document>`,
    )
  const image = (bytes: Uint8Array): string =>
    `<draw:image><office:binary-data>\n ${Buffer.from(bytes)
      .toString('base64')
      .replace(/.{72}/g, '$&\n ')}</office:binary-data></draw:image>`

  test('of a flat OpenDocument are left for the OCR lane like those of the zipped', async () => {
    const page = `<draw:frame>${image(png(200, 200))}</draw:frame>`
    const copy = `<draw:frame><draw:object/>${image(png(200, 200, 2))}</draw:frame>`
    const small = `<draw:frame>${image(png(60, 60))}</draw:frame>`
    const read = await text(flat(`letter${page}${small}${page}${copy}`))
    expect(read).toMatchObject({ all: 'letter\n', pagesToOcr: 1 })
    expect(await text(flat(page))).toMatchObject({ empty: 'only-images', pagesToOcr: 1 })
    expect(await text(flat(small))).toMatchObject({ empty: 'no-content' })
  })

  test('are recognised once each, behind the text, within the pages that the document may have', async () => {
    const scan = async (line: string): Promise<Uint8Array> =>
      (await scanJpeg({ width: 1240, height: 400, lines: [line] })).jpeg
    const bytes = await docx(says('letter'), {
      'word/_rels/document.xml.rels': relationships(
        ['a', 'image', 'media/one.jpg'],
        ['b', 'image', 'media/two.jpg'],
        ['c', 'image', 'media/one.jpg'],
      ),
      'word/media/one.jpg': await scan('The first of the scans'),
      'word/media/two.jpg': await scan('The second of the scans'),
    })
    const recognised = async (ocrPages: number): Promise<ReadResult['outcome']> => {
      const limits = { ...DEFAULT_LIMITS, ocrPages, imageBytesMin: 1_000 }
      const ocr = { languages: ['eng'], engine: 'wasm' as const }
      return (await readDocument({ bytes }, { limits, ocr, passwords: [] }, 'ocr')).outcome
    }
    const said = (outcome: ReadResult['outcome']): string[] =>
      outcome.kind === 'text' ? outcome.pages.map(({ text }) => text.trim()) : [outcome.state]
    const both = await recognised(50)
    expect(said(both)).toEqual(['letter', 'The first of the scans', 'The second of the scans'])
    expect(both).toMatchObject({ ocrPages: 2 })
    const cut = await recognised(1)
    expect(said(cut)).toEqual(['letter', 'The first of the scans'])
    expect(cut).toMatchObject({ ocrPages: 1, cutBy: 'ocr-pages' })
  }, 60_000)

  test('make a document without text empty for a reason', async () => {
    expect(await text(await withPictures(''))).toMatchObject({
      empty: 'only-images',
      pagesToOcr: 1,
    })
    expect(await text(await docx(''))).toMatchObject({ empty: 'no-content' })
  })
})

// A pattern that began anywhere in a run of blanks or points went on to its end from each of them.
test('a description of a million blanks and points costs what its length costs', () => {
  expect(alternativeText(`a boat${'. '.repeat(500_000)}by night`)?.slice(0, 8)).toBe('a boat. ')
  expect(alternativeText('A logo.\n\nDescription automatically generated')).toBe('A logo')
})

test('a header of a sheet is text in every alphabet, the number of its page with its words is none', async () => {
  const header = (text: string): Uint8Array =>
    Buffer.from(
      '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">' +
        `<office:master-styles><style:master-page><style:header><text:p>${text}</text:p></style:header></style:master-page></office:master-styles>` +
        '<office:body><office:spreadsheet/></office:body></office:document>',
    )
  const number = '<text:page-number>1</text:page-number>'
  expect((await text(header('Отчёт гавани'))).all).toContain('Отчёт гавани')
  expect((await text(header(`Tarif ${number}`))).all).toContain('Tarif')
  for (const words of ['Page', 'Страница', '第', '-'])
    expect(await text(header(`${words} ${number}`))).toMatchObject({ empty: 'no-content' })
  // alternatives that overlapped took a time that doubled with each dot
  expect((await text(header(`${'.'.repeat(5_000)}x`))).all).toContain('x')
})

test.each([
  ['Page &P of &N', ''],
  ['&C第 &P 页', ''],
  ['&RSeite &P/&N', ''],
  ['Budget &P/&N', 'Budget /'],
  ['&LDraft - &P&CTolls && dues', 'Draft - Tolls & dues'],
])('the header of a sheet %s is read as %j', (codes, shown) => {
  expect(marginText(codes)).toBe(shown)
})

test.each([
  ['https://club.example/pier/', 'https://club.example/pier/'],
  ['https://club.example/pier/boat.png', 'boat.png'],
  ['https://club.example/ has the plan', 'https://club.example/ has the plan'],
  ['A380', 'A380'],
  ['Tolls.A1:B7', undefined],
])('the alternative text %s is read as %s', (given, shown) => {
  expect(alternativeText(given)).toBe(shown)
})

test('a custom property of sixteen figures is what a person typed', () => {
  expect(isProgramProperty('Berth contract', '4000123412341234')).toBe(false)
  expect(isProgramProperty('Key', '4000123412341fac')).toBe(true)
})

test('addresses made of one sign are read in a time that grows with their length', () => {
  const sink = new TextSink(new Budget(DEFAULT_LIMITS, 10_000))
  const seen = new Set<string>()
  writeLink(`https://club.example/?${'='.repeat(500_000)}`, seen, sink)
  writeLink(`https://club.example/?q=${'aa+'.repeat(150_000)}`, seen, sink)
  expect(sink.finish()[0]?.text).toMatch(/^https:\/\/club\.example\/\n/)
  expect(alternativeText(`https:${'/'.repeat(500_000)} pier`)).toContain('pier')
})

test('signs that an EQ field escapes are letters of it', () => {
  expect(shownByInstruction(' EQ \\f(3\\,5 \\(net\\),2) ')).toBe('3,5 (net) 2')
})
