import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../../src/extract/read.js'
import type { PageChoice, TextOutcome } from '../../src/part/outcome.js'
import { DEFAULT_LIMITS, type Limits } from '../../src/part/limits.js'
import type { Lane } from '../../src/part/states.js'
import { closeOcr } from '../../src/extract/ocr/engine.js'
import { afterAll } from 'vitest'
import {
  document,
  greyJpeg,
  helvetica,
  lines,
  paint,
  toUnicode,
} from '../../scripts/make/pdf-objects.js'
import { fontsOf, mixedPage, shareRead } from '../../scripts/make/sheets.js'

afterAll(closeOcr)

const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../fixtures/${name}`, import.meta.url)))

async function read(
  bytes: Uint8Array,
  options: { lane?: Lane; limits?: Partial<Limits>; passwords?: string[] } = {},
): Promise<Awaited<ReturnType<typeof readDocument>>['outcome']> {
  const settings = {
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    ocr: { languages: ['eng'], engine: 'wasm' as const },
    passwords: options.passwords ?? [],
  }
  return (await readDocument({ bytes, name: 'x.pdf' }, settings, options.lane ?? 'text')).outcome
}

async function text(...args: Parameters<typeof read>): Promise<TextOutcome> {
  const outcome = await read(...args)
  if (outcome.kind !== 'text') throw new Error(`declined: ${outcome.state}, ${outcome.detail}`)
  return outcome
}

describe('text layer', () => {
  test('pages are kept apart, and the title stands before them', async () => {
    const { pages, pageCount } = await text(fixture('pdf/letter.pdf'))
    expect(pageCount).toBe(2)
    expect(pages.map(({ page }) => page)).toEqual([undefined, 1, 2])
    expect(pages[0]?.text).toBe('Harbour committee\n')
    expect(pages[2]?.text).toContain('Berth 14 is reserved')
  })

  test('the bytes given are left as they were', async () => {
    const bytes = fixture('pdf/letter.pdf')
    await read(bytes)
    expect(bytes).toEqual(fixture('pdf/letter.pdf'))
  })

  test('a password that fits is found in the list, after one that does not', async () => {
    const outcome = await text(fixture('pdf/locked.pdf'), { passwords: ['gannet', 'kittiwake'] })
    expect(outcome.pages[0]?.text).toContain('crane on the east quay')
    expect(await read(fixture('pdf/locked.pdf'), { passwords: ['gannet'] })).toMatchObject({
      kind: 'declined',
      state: 'locked',
    })
  })

  test('an attachment is read under its own name', async () => {
    const { pages } = await text(fixture('pdf/beside.pdf'))
    expect(pages.find(({ member }) => member === 'berths.csv')?.text).toContain('Kittiwake')
  })

  test('a choice gives the words that are seen, a list all its lines; links hide no note beside them', async () => {
    const choice = (name: string, flags: number): string =>
      `<< /Type /Annot /Subtype /Widget /FT /Ch /Ff ${flags} /T (${name}) /V (v2) ` +
      `/Opt [[(v1) (${name} sloop)] [(v2) (${name} ketch)]] /Rect [56 570 300 590] >>`
    const link =
      '<< /Type /Annot /Subtype /Link /Rect [56 700 300 720] /A << /S /URI /URI (https://harbour.example/) >> >>'
    const note =
      '<< /Type /Annot /Subtype /Text /Contents (mind the tide) /Rect [400 700 420 720] >>'
    const form = document((objects) => {
      const fonts = { F1: helvetica(objects) }
      const fields = [choice('Combo', 1 << 17), choice('List', 0)].map((one) => objects.add(one))
      return {
        pages: [
          { content: lines(['First']), fonts, annotations: [objects.add(link), ...fields] },
          { content: lines(['Second']), fonts, annotations: [objects.add(link)] },
          { content: lines(['Third']), fonts, annotations: [objects.add(link), objects.add(note)] },
        ],
        catalog: `/AcroForm << /Fields [${fields.map((one) => `${one} 0 R`).join(' ')}] >>`,
      }
    })
    expect((await text(form)).pages.map((page) => page.text)).toEqual([
      'First\nCombo ketch\nList sloop\nList ketch\n',
      'Second\n',
      'Third\nmind the tide\n',
    ])
  })

  test('what a password field holds is never read', async () => {
    const { pages } = await text(fixture('pdf/beside.pdf'))
    expect(pages.map((page) => page.text).join()).not.toContain('neverindexed')
  })

  test('a page tree that lies about its count ends after some failures', async () => {
    const honest = Buffer.from(fixture('pdf/letter.pdf')).toString('latin1')
    const lying = Buffer.from(honest.replace('/Count 2', '/Count 9'), 'latin1')
    const { pages } = await text(new Uint8Array(lying))
    expect(pages).toEqual((await text(fixture('pdf/letter.pdf'))).pages)
  })

  test('the limit of characters cuts inside a page and keeps what came before', async () => {
    const outcome = await text(fixture('pdf/letter.pdf'), { limits: { textChars: 60 } })
    expect(outcome.cutBy).toBe('text-chars')
    expect(outcome.pages.map((page) => page.text).join('')).toHaveLength(60)
  })

  test('cut anywhere, the file gives text or a state, and the thread stays usable', async () => {
    const whole = fixture('pdf/beside.pdf')
    for (let share = 1; share < 10; share++) {
      const outcome = await read(whole.slice(0, (whole.length * share) / 10))
      // Behind eight tenths the page is there; before, nothing passes for read.
      if (outcome.kind === 'declined') expect(outcome.state).toBe('damaged')
      else if (share < 8) expect(outcome).toMatchObject({ pages: [], partial: 'not read: page 1' })
      else expect(outcome.pages[0]?.text).toMatch(/^Registration of a vessel\n[^]*gaff cutter\n/)
      expect(outcome.kind === 'text' || share < 8, `${share} tenths`).toBe(true)
    }
    expect((await text(fixture('pdf/letter.pdf'))).pages).toHaveLength(3)
  })

  test('a page of letters without a font is left for the OCR lane', async () => {
    const drawn = document(() => ({ pages: [{ content: '0 0 m 50 60 l 70 10 l h f' }] }))
    expect(await text(drawn)).toMatchObject({ pagesToOcr: 1, empty: 'no-text-layer' })
  })

  test('a sound page without pictures is never left for OCR', async () => {
    for (const name of ['letter', 'setting', 'shift-jis', 'xfa', 'beside'])
      expect((await text(fixture(`pdf/${name}.pdf`))).pagesToOcr, name).toBeUndefined()
  })
})

/** Letters of another script in the places of a, b, c …, as subset fonts have them. */
const script = (letters: string): Record<number, string> =>
  Object.fromEntries([...letters].map((letter, i) => [0x61 + i, letter]))

describe('order', () => {
  const written = async (letters: string, content: string): Promise<string> => {
    const bytes = document((objects) => ({
      pages: [{ content, fonts: { F1: helvetica(objects, toUnicode(objects, script(letters))) } }],
    }))
    return (await text(bytes)).pages.map((page) => page.text.trimEnd()).join('\n')
  }

  // paperless-ngx#1163: a line from right to left, drawn from the left as pages draw it.
  test('Hebrew drawn from the left is read from the right, its words whole', async () => {
    // ש ל ו ם ע: the line "שלום עולם שלום" in one piece, its last letter first
    const line = 'BT /F1 12 Tf 1 0 0 1 300 700 Tm (dcba dbce dcba) Tj ET'
    expect(await written('שלוםע', line)).toBe('שלום עולם שלום')
  })

  test('Hebrew words drawn one by one from the left stand in the order they are read', async () => {
    const words = [
      ['dbce', 300],
      ['dcba', 340],
    ].map(([word, x]) => `BT /F1 12 Tf 1 0 0 1 ${x} 700 Tm (${word}) Tj ET`)
    expect(await written('שלוםע', words.join('\n'))).toBe('שלום עולם')
  })

  // pdfminer.six#850: one glyph for lam and alef, which keep their order when the line is turned.
  test('an Arabic ligature keeps the order of its letters', async () => {
    const line = 'BT /F1 12 Tf 1 0 0 1 300 700 Tm (dcba) Tj ET'
    expect(await written('س\ufefbم!', line)).toBe('سلام!')
  })
})

// jalan/pdftotext#65
test('a trailer that names itself as the one before ends', async () => {
  const honest = Buffer.from(fixture('pdf/letter.pdf')).toString('latin1')
  const at = honest.lastIndexOf('xref\n0 ')
  const looped = honest.replace(/trailer\s*<</, `trailer\n<< /Prev ${at}`)
  expect(looped).toContain('/Prev')
  const outcome = await text(new Uint8Array(Buffer.from(looped, 'latin1')))
  expect(outcome).toEqual(await text(fixture('pdf/letter.pdf')))
})

describe('pages of pixels', () => {
  const choices = (outcome: TextOutcome): Array<PageChoice | undefined> =>
    Array.from({ length: 8 }, (_, i) => outcome.pages.find(({ page }) => page === i + 1)?.choice)

  test('without OCR they are counted and left', async () => {
    const outcome = await text(fixture('pdf/mixed.pdf'))
    // The scan, the wrong map, the poor old OCR, the blank page and the photograph.
    expect(outcome.pagesToOcr).toBe(5)
    expect(outcome.ocrPages).toBeUndefined()
  })

  test('each page is decided by itself, and the decision recorded', async () => {
    const outcome = await text(fixture('pdf/mixed.pdf'), { lane: 'ocr' })
    expect(choices(outcome).map((choice) => choice && [choice.took, choice.why])).toEqual([
      undefined, // text
      ['ocr', 'no text layer'],
      ['both', 'a stamp over a scan'],
      undefined, // letters apart, put together again
      ['ocr', 'words are no words'], // a wrong map of letters
      ['ocr', 'words are no words'], // a poor old OCR under the scan
      ['ocr', 'no text layer; none found'], // blank
      ['ocr', 'no text layer; none found'], // a photograph
    ])
    expect(outcome.ocrPages).toBe(4)
    for (const choice of choices(outcome))
      if (choice?.took === 'ocr' && !choice.why.includes('none found'))
        expect(choice.ocrScore).toBeGreaterThan(choice.layerScore)
    const scan = outcome.pages.find(({ page }) => page === 2)
    const lantern = scan?.ocr?.words.find(([word]) => word === 'lantern')
    expect(lantern?.[5]).toBeGreaterThan(80)
  }, 120_000)

  test('the limit of pages leaves the rest out, and their text layers in', async () => {
    const outcome = await text(fixture('pdf/mixed.pdf'), { lane: 'ocr', limits: { ocrPages: 1 } })
    expect(outcome).toMatchObject({ cutBy: 'ocr-pages', ocrPages: 1 })
    const all = outcome.pages.map((page) => page.text).join('')
    expect(all).toContain('Received by the harbour office')
    expect(all).toContain('Archive copy 0042')
  }, 60_000)

  test('a page that takes too long is cut, and the others are read', async () => {
    const outcome = await text(fixture('pdf/mixed.pdf'), {
      lane: 'ocr',
      limits: { ocrPageTimeoutMs: 1 },
    })
    expect(outcome.cutBy).toBe('ocr-page-time')
    expect(outcome.pages[0]?.text).toContain('crane on the east quay')
  }, 60_000)

  test('a document without a picture costs the OCR lane no more than the text lane', async () => {
    const plain = document((objects) => ({
      pages: [{ content: lines(['Nothing but words here']), fonts: { F1: helvetica(objects) } }],
    }))
    const outcome = await text(plain, { lane: 'ocr' })
    expect(outcome.ocrPages).toBeUndefined()
    expect(outcome.engine).toBeUndefined()
  })
})

test.skipIf(fontsOf('jpn').length === 0)(
  'a document in Japanese is read in Japanese alone, whatever languages there are beside it',
  async () => {
    const sheets = await Promise.all(
      [1, 2].map(async (seed) => {
        const { width, height, grey, lines: written } = mixedPage('jpn', 'few', seed)
        const raw = { raw: { width, height, channels: 1 as const } }
        const jpeg = await sharp(grey, raw).toColourspace('b-w').jpeg().toBuffer()
        return { jpeg, width, height, written }
      }),
    )
    const bytes = document((objects) => ({
      pages: sheets.map((sheet) => ({
        content: paint('S', 0, 0, 595, 842),
        images: { S: greyJpeg(objects, sheet) },
      })),
    }))
    const settings = {
      limits: DEFAULT_LIMITS,
      ocr: { languages: ['eng', 'deu', 'jpn'], engine: 'wasm' as const },
      passwords: [],
    }
    const { outcome } = await readDocument({ bytes, name: 'x.pdf' }, settings, 'ocr')
    if (outcome.kind !== 'text') throw new Error(outcome.detail)
    for (const [i, { written }] of sheets.entries())
      expect(shareRead(written, outcome.pages[i]?.text ?? '')).toBeGreaterThan(0.9)
    expect(outcome.engine).toMatch(/ jpn$/)
  },
  120_000,
)
