/** PDFs that are broken, encrypted by half, or whose letters lie: what can be read is read, and the rest is said. */
import { deflateSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { closeOcr } from '../../src/extract/ocr/engine.js'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Outcome, TextOutcome } from '../../src/part/outcome.js'
import type { Lane } from '../../src/part/states.js'
import { pdf } from '../../scripts/make/pdf.js'
import {
  document,
  helvetica,
  lines,
  paint,
  greyJpeg,
  revised,
  toUnicode,
  type PdfObjects,
} from '../../scripts/make/pdf-objects.js'
import { scanJpeg } from '../../scripts/make/picture.js'

afterAll(closeOcr)

async function read(bytes: Uint8Array, lane: Lane = 'text'): Promise<Outcome> {
  const settings = {
    limits: DEFAULT_LIMITS,
    ocr: { languages: ['eng'], engine: 'wasm' as const },
    passwords: [],
  }
  return (await readDocument({ bytes, name: 'x.pdf' }, settings, lane)).outcome
}

async function text(bytes: Uint8Array, lane?: Lane): Promise<TextOutcome & { all: string }> {
  const outcome = await read(bytes, lane)
  if (outcome.kind !== 'text') throw new Error(`declined: ${outcome.state}, ${outcome.detail}`)
  return { ...outcome, all: outcome.pages.map((page) => page.text).join('\f') }
}

const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const bytesOf = (file: string): Uint8Array => new Uint8Array(Buffer.from(file, 'latin1'))

describe('a file of several revisions', () => {
  const says = (words: string) => ({ body: '<< >>', stream: Buffer.from(lines([words])) })
  const first = document((objects) => ({
    pages: [{ content: lines(['one hundred']), fonts: { F1: helvetica(objects) } }],
    id: 'first',
  }))
  /** The number of the page's content: after catalog, tree and font. */
  const CONTENT = 4
  const root = '/Root 1 0 R /ID [(first) (next)]'
  const second = revised(first, { [CONTENT]: says('two hundred') }, root)
  const third = latin(revised(second, { [CONTENT]: says('three hundred') }, root))

  test.each<[string, string, string]>([
    ['is sound', third, 'three hundred'],
    ['is cut behind its second revision', latin(second), 'two hundred'],
    ['names no table at its end', third.replace(/startxref\n\d+\n%%EOF\n$/, ''), 'three hundred'],
    [
      'names another place at its end',
      third.replace(/startxref\n\d+(?=\n%%EOF\n$)/, 'startxref\n99999'),
      'three hundred',
    ],
    [
      'has no row for what was changed',
      third.replace(/\d{10} 00000 n \n(?=trailer\n[^]{0,150}$)/, ''),
      'three hundred',
    ],
    [
      'has lost the way to the tables before',
      third.replaceAll(/\/Prev \d+/g, '/Prev 7'),
      'three hundred',
    ],
    [
      'is cut in its last table',
      third.slice(0, third.lastIndexOf('\nxref\n') + 8),
      'three hundred',
    ],
  ])('that %s gives the text of the last', async (_, file, expected) => {
    expect(await text(bytesOf(file))).toMatchObject({ all: `${expected}\n`, pageCount: 1 })
  })

  /** Objects packed into a stream, and a table that is a stream (ISO 32000-2, 7.5.7 and 7.5.8). */
  function packed(
    before: Buffer,
    loose: Record<number, string>,
    inside: Record<number, string>,
    [holder, table]: [holder: number, table: number],
    more: string,
  ): Buffer {
    const rows = new Map<number, [kind: number, at: number, nth: number]>()
    let all = before
    const put = (number: number, dictionary: string, stream?: Uint8Array): void => {
      rows.set(number, [1, all.length, 0])
      const content = stream ? [Buffer.from('stream\n'), stream, Buffer.from('\nendstream\n')] : []
      const head = `${number} 0 obj\n${dictionary}\n`
      all = Buffer.concat([all, Buffer.from(head), ...content, Buffer.from('endobj\n')])
    }
    for (const [number, body] of Object.entries(loose))
      put(Number(number), `<< /Length ${body.length} >>`, Buffer.from(body))
    let offsets = ''
    let bodies = ''
    for (const [nth, [number, body]] of Object.entries(inside).entries()) {
      offsets += `${number} ${bodies.length} `
      bodies += `${body} `
      rows.set(Number(number), [2, holder, nth])
    }
    const stream = deflateSync(offsets + bodies)
    const count = Object.keys(inside).length
    put(
      holder,
      `<< /Type /ObjStm /N ${count} /First ${offsets.length} /Filter /FlateDecode /Length ${stream.length} >>`,
      stream,
    )
    rows.set(table, [1, all.length, 0])
    const cells = Buffer.concat(
      [...rows.values()].map(([kind, at, nth]) => {
        const cell = Buffer.alloc(6)
        cell.writeUInt8(kind, 0)
        cell.writeUInt32BE(at, 1)
        cell.writeUInt8(nth, 5)
        return cell
      }),
    )
    const at = all.length
    put(
      table,
      `<< /Type /XRef /Size 30 /W [1 4 1] /Index [${[...rows.keys()].map((number) => `${number} 1`).join(' ')}] /Length ${cells.length} ${more} >>`,
      cells,
    )
    return Buffer.concat([all, Buffer.from(`startxref\n${at}\n%%EOF\n`)])
  }

  test('whose tables and catalogs are packed gives the text of the last', async () => {
    const page = (content: number): string =>
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`
    const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
    const one = packed(
      Buffer.from('%PDF-1.7\n'),
      { 10: lines(['one hundred']) },
      {
        1: '<< /Type /Catalog /Pages 2 0 R >>',
        2: '<< /Type /Pages /Count 1 /Kids [4 0 R] >>',
        3: font,
        4: page(10),
      },
      [11, 12],
      '/Root 1 0 R /ID [(first) (first)]',
    )
    const two = packed(
      one,
      { 20: lines(['two hundred']) },
      { 4: page(20) },
      [21, 22],
      `/Root 1 0 R /ID [(first) (next)] /Prev ${/startxref\n(\d+)/.exec(latin(one))![1]}`,
    )
    expect((await text(new Uint8Array(one))).all).toBe('one hundred\n')
    expect((await text(new Uint8Array(two))).all).toBe('two hundred\n')
    const astray = latin(two).replace(/startxref\n\d+\n%%EOF\n$/, 'startxref\n3\n%%EOF\n')
    expect((await text(bytesOf(astray))).all).toBe('two hundred\n')
  })
})

// mozilla/pdf.js#14303
test.each(['[2 0 R 2 0 R 2 0 R]', '[2 0 R 5 0 R]'])(
  'pages that are their own children (%s) end, and are said not to be read',
  async (kids) => {
    const file = latin(pdf([['first page'], ['second page']]))
    expect(await read(bytesOf(file.replace(/\/Kids \[[^\]]*\]/, `/Kids ${kids}`)))).toMatchObject({
      kind: 'text',
      pages: [],
      partial: 'not read: page 1',
    })
  },
)

describe('an encrypted file', () => {
  // paperless-ngx#1361
  test('that asks for no password is recognised as any scan', async () => {
    const scan = await scanJpeg({
      width: 1240,
      height: 400,
      lines: ['Account of the harbour bank'],
    })
    const bytes = pdf([scan], { password: '' })
    expect(latin(bytes)).toContain('/Encrypt')
    expect(await text(bytes)).toMatchObject({ pagesToOcr: 1, empty: 'no-text-layer' })
    expect((await text(bytes, 'ocr')).all.trim()).toBe('Account of the harbour bank')
  }, 60_000)

  // pdf_oxide#1351
  test.each([
    [
      '/Filter /Standard',
      '/Filter /Adobe.PubSec',
      'encrypted for a certificate, not with a password',
    ],
    ['/V 2 /R 3', '/V 9 /R 9', 'encrypted in a way that is not known'],
    ['/O <', '/O <00', 'password needed'],
  ])('that no engine opens (%s is %s) is locked, never read as empty', async (is, made, detail) => {
    const file = latin(pdf([['words']], { password: '' }))
    expect(file).toContain(is)
    expect(await read(bytesOf(file.replace(is, made)))).toEqual({
      kind: 'declined',
      state: 'locked',
      detail,
    })
  })
})

describe('letters that lie', () => {
  /** Helvetica with the ligature fi at the place of {, which the map calls something else. */
  const withLigature = (objects: PdfObjects, says: string): number =>
    objects.add(
      `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [123 /fi] >> ` +
        `/ToUnicode ${toUnicode(objects, { 0x7b: says })} 0 R >>`,
    )
  const written = (says: string, ...text: string[]): Uint8Array =>
    document((objects) => ({
      pages: [{ content: lines(text, 'F1', 14), fonts: { F1: withLigature(objects, says) } }],
    }))
  const page = [
    'The {rst {ve {shermen {lled the of{cial {les',
    'and {nally con{rmed the {gures of the {rm,',
    'so the {nal {ne was {xed at {fty guilders.',
  ]

  // mozilla/pdf.js#17410, pypdf#1351, xberg#1135
  test.each([
    ['NUL', '\u0000'],
    ['a control character', '\u0003'],
    ['a private character', '\ue042'],
  ])(
    'a page whose ligatures are mapped to %s is recognised',
    async (_, says) => {
      const bytes = written(says, ...page)
      expect(await text(bytes)).toMatchObject({ pagesToOcr: 1 })
      const { pages, all } = await text(bytes, 'ocr')
      expect(pages[0]?.choice).toMatchObject({ took: 'ocr', why: 'characters without meaning' })
      expect(all.replace(/ﬁ/g, 'fi').replace(/\s+/g, ' ').trim()).toBe(
        page.join(' ').replaceAll('{', 'fi'),
      )
    },
    60_000,
  )

  test('a page whose ligatures are mapped well is not', async () => {
    const outcome = await text(written('fi', ...page))
    expect(outcome.pagesToOcr).toBeUndefined()
    expect(outcome.all).toBe(page.map((line) => `${line.replaceAll('{', 'fi')}\n`).join(''))
  })

  // docling#2963: a subset whose letters are named g1, g2 … and mapped to nothing
  test('a page whose letters have numbers for names is left for the OCR lane', async () => {
    const names = [...'abcdefghijklmnopqrstuvwxyz'].map((_, n) => `/g${n + 1}`).join(' ')
    const bytes = document((objects) => ({
      pages: [
        {
          content: lines(
            page.map((line) =>
              line.replace(/[a-z]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 96)),
            ),
          ),
          fonts: {
            F1: objects.add(
              `<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+Sub /Encoding << /Differences [1 ${names}] >> >>`,
            ),
          },
        },
      ],
    }))
    expect(await text(bytes)).toMatchObject({ pagesToOcr: 1 })
  })

  // mozilla/pdf.js#4297: no count of characters shows it, and most words stay words. A limit; see test/known-failures.md.
  test('ligatures mapped to another letter are read as that letter', async () => {
    const outcome = await text(written('é', ...page))
    expect(outcome.pagesToOcr).toBeUndefined()
    expect(outcome.all).toContain('érst éve éshermen')
  })
})

describe('places', () => {
  const page = (...content: string[]): Uint8Array =>
    document((objects) => ({
      pages: [{ content: content.join('\n'), fonts: { F1: helvetica(objects) } }],
    }))
  const at = (x: number, y: number, words: string, turn = '1 0 0 1'): string =>
    `BT /F1 12 Tf ${turn} ${x} ${y} Tm (${words}) Tj ET`

  // mozilla/pdf.js#17191
  test('a footer that is drawn first stands beside the text, not in it', async () => {
    const drawn = page(at(56, 40, 'Page 3 of the tables'), lines(['The tide comes', 'and goes.']))
    expect((await text(drawn)).all).toBe('Page 3 of the tables\nThe tide comes\nand goes.\n')
  })

  // pdf_oxide#813
  test('what is written sideways stands behind what is upright, each in its order', async () => {
    const drawn = [1, 2, 3].flatMap((n) => [
      at(56, 720 - n * 20, `upright line ${n}`),
      at(400 + n * 20, 100, `sideways ${n}`, '0 1 -1 0'),
    ])
    const { all } = await text(page(...drawn))
    expect(all.trim().split(/\n+/)).toEqual([
      ...[1, 2, 3].map((n) => `upright line ${n}`),
      ...[1, 2, 3].map((n) => `sideways ${n}`),
    ])
  })

  // pdf_oxide#1416
  test('a page that is turned as a whole is read line by line', async () => {
    const drawn = ['The first of the lines', 'the second', 'and the last.']
    const turned = document((objects) => ({
      pages: [
        {
          content: drawn.map((line, n) => at(100 + n * 20, 56, line, '0 1 -1 0')).join('\n'),
          fonts: { F1: helvetica(objects) },
          more: '/Rotate 90',
        },
      ],
    }))
    expect((await text(turned)).all).toBe(`${drawn.join('\n')}\n`)
  })

  // unstructured#4215, firecrawl/pdf-inspector#313
  test.each<[string, string[]]>([
    [
      'letter by letter',
      [...'SANCHEZ'].flatMap((letter, n) => [
        at(56 + n * 8.6, 700, letter),
        at(56.4 + n * 8.6, 700, letter),
      ]),
    ],
    ['as a shadow', [at(57, 699, 'SANCHEZ'), at(56, 700, 'SANCHEZ')]],
    ['four times', [0, 0.2, 0.4, 0.6].map((x) => at(56 + x, 700, 'SANCHEZ'))],
  ])('a word that is printed again (%s) is read once', async (_, drawn) => {
    expect((await text(page(...drawn))).all).toBe('SANCHEZ\n')
  })

  // ocrmypdf#1104, #1664
  test.each(['0 0 14400 14400', '0 0 1e7 1e7', '0 0 3 1'])(
    'a scan on a page of %s points is recognised in pixels of the picture, within the limit',
    async (box) => {
      const [, , width = 0, height = 0] = box.split(' ').map(Number)
      const scan = await scanJpeg({
        width: 1240,
        height: 400,
        lines: ['Chart of the inner harbour'],
      })
      const bytes = document((objects) => ({
        pages: [
          {
            content: paint('S', 0, 0, width, height),
            images: { S: greyJpeg(objects, scan) },
            more: `/MediaBox [${box}]`,
          },
        ],
      }))
      const outcome = await text(bytes, 'ocr')
      expect(outcome.all.trim()).toBe('Chart of the inner harbour')
      expect(outcome.pages[0]?.ocr).toMatchObject({ width: 1240, height: 400 })
    },
    60_000,
  )

  test('letters without a map on a huge page are drawn within the limit of pixels, and large enough', async () => {
    const bytes = document((objects) => ({
      pages: [
        {
          content: lines(['Chart of the harbour', 'and the {sh {rm'], 'F1', 900, 13_000).replace(
            /56 13000 Td/,
            '800 13000 Td',
          ),
          fonts: {
            F1: helvetica(
              objects,
              toUnicode(
                objects,
                Object.fromEntries(
                  [...'abcdefghijklmnopqrstuvwxyz'].map((c) => [c.charCodeAt(0), '\u0003']),
                ),
              ),
            ),
          },
          more: '/MediaBox [0 0 14400 14400]',
        },
      ],
    }))
    const { all, pages } = await text(bytes, 'ocr')
    expect(all).toContain('Chart of the harbour')
    const { width, height } = pages[0]!.ocr!
    expect(width * height).toBeLessThanOrEqual(DEFAULT_LIMITS.ocrPixels)
    expect(width * height).toBeGreaterThan(DEFAULT_LIMITS.ocrPixels / 4)
  }, 120_000)
})

// Each was minutes of work, or more arguments or calls than there may be, in a careless mending.
test.each([
  ['a catalog named a million times', `1 0 obj<</Type/Page>>${'/Root 1 0 R'.repeat(1e6)}`],
  ['objects that never end', '1 0 obj\n'.repeat(1e6)],
  [
    'a page tree that goes down without end',
    Array.from(
      { length: 2e5 },
      (_, n) => `${n + 1} 0 obj<</Type/Catalog/Pages ${n + 2} 0 R/Kids[${n + 2} 0 R]>>endobj `,
    ).join(''),
  ],
])('%s is given up', async (_, body) => {
  expect(await read(bytesOf(`%PDF-1.4\n${body}`))).toMatchObject({ state: 'damaged' })
})
