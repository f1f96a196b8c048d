import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import sharp from 'sharp'
import { decodePicture } from '../../src/extract/image/decode.js'
import { readHeader } from '../../src/extract/image/header.js'
import { isTiny } from '../../src/extract/image.js'
import { closeOcr } from '../../src/extract/ocr/engine.js'
import { checkLanguages, installedLanguages } from '../../src/extract/ocr/languages.js'
import { lookAt } from '../../src/extract/ocr/look.js'
import { mayHoldText } from '../../src/extract/ocr/prepare.js'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { OcrSettings } from '../../src/part/settings.js'

afterAll(closeOcr)

const folder = new URL('../fixtures/image/', import.meta.url)
const fixture = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(name, folder)))
const eng: OcrSettings = { languages: ['eng'], engine: 'wasm' }

describe('header', () => {
  test.each(readdirSync(folder).filter((name) => !name.endsWith('.txt') && !name.endsWith('.bmp')))(
    '%s states the size that decoding gives',
    async (name) => {
      const header = readHeader(fixture(name))
      const meta = await sharp(fixture(name)).metadata()
      expect(header).toMatchObject({ width: meta.width, height: meta.height })
      expect(header?.pages).toBe(name.startsWith('two-pages') ? 2 : 1)
    },
  )

  test('of cut and random bytes never throws', () => {
    for (const name of [
      'scan.png',
      'skewed.jpg',
      'two-pages.tif',
      'scan.gif',
      'scan.webp',
      'scan.bmp',
    ])
      for (let length = 0; length < 60; length++) readHeader(fixture(name).slice(0, length))
    expect(readHeader(new Uint8Array([0xff, 0xd8, 0xff, 0xff, 0xff]))).toBeUndefined()
  })

  test('a directory of a tiff that points at itself ends', () => {
    const bytes = new Uint8Array(64)
    bytes.set([0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0])
    new DataView(bytes.buffer).setUint32(22, 8, true)
    expect(readHeader(bytes)).toBeUndefined()
  })
})

describe('what is not read', () => {
  const header = { format: 'png' as const, bits: 24, pages: 1, whole: false }
  test.each([
    [9_999, 500, 500, true],
    [10_000, 500, 128, false],
    [10_000, 500, 127, true],
  ])('%i bytes, %i x %i pixels: tiny is %s', (bytes, width, height, tiny) => {
    expect(isTiny(bytes, { ...header, width, height }, DEFAULT_LIMITS)).toBe(tiny)
  })
  test('a fax page of few bytes is not tiny', () => {
    const fax = { ...header, format: 'tiff' as const, bits: 1, width: 1728, height: 1100 }
    expect(isTiny(3_000, fax, DEFAULT_LIMITS)).toBe(false)
    expect(isTiny(3_000, { ...fax, height: 100 }, DEFAULT_LIMITS)).toBe(true)
  })
  test('a pixel bomb is declined by its header', async () => {
    const bytes = fixture('scan.png').slice()
    new DataView(bytes.buffer).setUint32(16, 100_000)
    new DataView(bytes.buffer).setUint32(20, 100_000)
    const settings = { limits: DEFAULT_LIMITS, ocr: eng, passwords: [] }
    for (const lane of ['text', 'ocr'] as const)
      expect((await readDocument({ bytes, name: 'x.png' }, settings, lane)).outcome).toMatchObject({
        kind: 'declined',
        state: 'too-large',
      })
  })
  test('a picture larger than the pixel limit is scaled down while it is decoded', async () => {
    const bytes = fixture('scan.png')
    const { width, height } = await decodePicture(bytes, readHeader(bytes)!, 0, 100_000)
    expect(width * height).toBeLessThanOrEqual(100_000)
    expect(width / height).toBeCloseTo(2, 1)
  })
  // naptha/tesseract.js#188
  test.each([
    ['scan.png', 'Received by the harbour office'],
    ['skewed.jpg', 'Received by the harbour office'],
    ['scan.gif', 'Received by the harbour office'],
  ])(
    '%s cut short is read as far as it goes, and said to end early',
    async (name, begins) => {
      const settings = { limits: DEFAULT_LIMITS, ocr: eng, passwords: [] }
      const bytes = fixture(name).slice(0, 12_000)
      const { outcome } = await readDocument({ bytes, name }, settings, 'ocr')
      expect(outcome).toMatchObject({ kind: 'text', partial: 'the picture ends early' })
      const text = outcome.kind === 'text' ? outcome.pages.map((page) => page.text).join('') : ''
      expect(text.startsWith(begins)).toBe(true)
      expect(text).not.toContain('Thursday')
    },
    60_000,
  )
  test('one cut before its size, and bytes that only begin like a picture, are damaged', async () => {
    const settings = { limits: DEFAULT_LIMITS, ocr: eng, passwords: [] }
    const noise = Buffer.from(
      Array.from({ length: 30_000 }, (_, i) => (i * 151 + (i >> 3) * 7) & 255),
    )
    for (const [name, bytes] of [
      ['two-pages.tif', fixture('two-pages.tif').slice(0, 12_000)],
      ['scan.png', Buffer.concat([fixture('scan.png').slice(0, 33), noise])],
      ['scan.gif', Buffer.concat([fixture('scan.gif').slice(0, 13), noise])],
    ] as const) {
      const { outcome } = await readDocument(
        { bytes: new Uint8Array(bytes), name },
        settings,
        'ocr',
      )
      expect(outcome, name).toMatchObject({ kind: 'declined', state: 'damaged' })
    }
    // The engine is as usable as before.
    const whole = { bytes: fixture('scan.png'), name: 'scan.png' }
    const { outcome } = await readDocument(whole, settings, 'ocr')
    expect(outcome).toMatchObject({ kind: 'text' })
    expect(outcome.kind === 'text' && outcome.partial).toBeUndefined()
  }, 60_000)
})

describe('a look', () => {
  const look = async (name: string): Promise<ReturnType<typeof lookAt>> =>
    lookAt(await decodePicture(fixture(name), readHeader(fixture(name))!, 0, 25e6))

  test.each([
    ['scan.png', 0],
    ['exif-turned.jpg', 0],
    ['turned-90.png', 270],
    ['turned-180.png', 180],
    ['turned-270.png', 90],
  ])('%s has to be turned by %i degrees', async (name, turn) => {
    expect((await look(name)).turn).toBe(turn)
  })
  test('tells how much the lines lean', async () => {
    expect((await look('skewed.jpg')).skew).toBeCloseTo(3, 0)
    expect(Math.abs((await look('scan.png')).skew)).toBeLessThan(0.2)
  })
  test('tells light writing from dark', async () => {
    expect((await look('inverted.png')).isLight).toBe(true)
    expect((await look('scan.png')).isLight).toBe(false)
  })
  test('finds no text in a photograph', async () => {
    const bytes = fixture('photograph.jpg')
    const picture = await decodePicture(bytes, readHeader(bytes)!, 0, 25e6)
    expect(mayHoldText(picture, lookAt(picture))).toBe(false)
  })
})

describe('words', () => {
  test.each(['turned-90.png', 'turned-180.png', 'skewed.jpg'])(
    'of %s have boxes inside the picture as it was turned',
    async (name) => {
      const settings = { limits: DEFAULT_LIMITS, ocr: eng, passwords: [] }
      const { outcome } = await readDocument({ bytes: fixture(name), name }, settings, 'ocr')
      const page = outcome.kind === 'text' ? outcome.pages[0]?.ocr : undefined
      expect(page).toMatchObject({ width: 1240, height: 620 })
      const guilders = page?.words.find(([word]) => word === 'guilders')
      expect(guilders).toBeDefined()
      const [, left, top, width, height, confidence] = guilders!
      expect(confidence).toBeGreaterThan(70)
      // The fourth of five lines, 30 pixels high, begins at 120 and 52 pixels further each.
      expect(top).toBeGreaterThan(220)
      expect(top + height).toBeLessThan(330)
      expect(left).toBeGreaterThan(400)
      expect(left + width).toBeLessThan(1_000)
    },
    60_000,
  )
})

describe('languages', () => {
  test('those installed are found', () => {
    expect(installedLanguages()).toContain('eng')
    expect(installedLanguages()).not.toContain('osd')
  })
  test('a missing one is one clear error that names it and the way to add it', () => {
    const check = (languages: string[]): void => checkLanguages({ ...eng, languages })
    expect(() => check(['eng'])).not.toThrow()
    expect(() => check(['eng', 'xyz'])).toThrow(/xyz.*npm install @tesseract\.js-data\/xyz/)
    expect(() => check(['../eng'])).toThrow(/\.\.\/eng/)
  })
  test('it ends the reading, and is no state of the document', async () => {
    const settings = { limits: DEFAULT_LIMITS, ocr: { ...eng, languages: ['xyz'] }, passwords: [] }
    await expect(
      readDocument({ bytes: fixture('scan.png'), name: 'scan.png' }, settings, 'ocr'),
    ).rejects.toMatchObject({ code: 'E_OCR_LANGUAGE' })
  })
})

test('avif is decoded and read', async () => {
  const bytes = new Uint8Array(await sharp(fixture('scan.png')).avif({ quality: 60 }).toBuffer())
  const settings = { limits: { ...DEFAULT_LIMITS, imageBytesMin: 0 }, ocr: eng, passwords: [] }
  const { type, outcome } = await readDocument({ bytes, name: 'scan.avif' }, settings, 'ocr')
  expect(type).toBe('image/avif')
  expect(outcome.kind === 'text' && outcome.pages[0]?.text).toContain('318 guilders')
}, 60_000)

test('pages recognised before are kept and counted, and only the others are read', async () => {
  const kept = {
    page: 1,
    text: 'kept as it was',
    ocr: { confidence: 90, width: 9, height: 9, turned: 0, words: [] },
  }
  const settings = { limits: { ...DEFAULT_LIMITS, ocrPages: 2 }, ocr: eng, passwords: [] }
  const { outcome } = await readDocument(
    { bytes: fixture('two-pages.tif'), name: 'two-pages.tif', recognised: [kept] },
    settings,
    'ocr',
  )
  if (outcome.kind !== 'text') throw new Error(outcome.detail)
  expect(outcome.pages[0]).toMatchObject(kept)
  expect(outcome.pages[1]?.text).toContain('The invoice follows by post')
  expect(outcome).toMatchObject({ ocrPages: 2, pageCount: 2 })
  expect(outcome.cutBy).toBeUndefined()
}, 60_000)
