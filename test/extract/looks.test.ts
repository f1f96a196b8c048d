/** A small share of `npm run bench -- looks`: what a look decides on generated pages and photographs. */
import { existsSync, readFileSync } from 'node:fs'
import sharp from 'sharp'
import { afterAll, describe, expect, test } from 'vitest'
import {
  a4Page,
  columnsPage,
  fontsOf,
  LAYOUTS,
  mixedPage,
  shareRead,
} from '../../scripts/make/sheets.js'
import { photograph, photographOf, type Photograph } from '../../scripts/make/photographs.js'
import { decodePicture, decodeSmall } from '../../src/extract/image/decode.js'
import { readHeader } from '../../src/extract/image/header.js'
import { rotated, turned, type Picture } from '../../src/extract/image/picture.js'
import { closeOcr } from '../../src/extract/ocr/engine.js'
import { languageFile } from '../../src/extract/ocr/languages.js'
import { lookAt, type Look } from '../../src/extract/ocr/look.js'
import { stretched } from '../../src/extract/ocr/prepare.js'
import { isTextless, recognise } from '../../src/extract/ocr/recognise.js'
import { TRUTH, CORPUS } from '../corpus.js'

afterAll(closeOcr)

const look = (picture: Picture): Look => lookAt(stretched(picture) ?? picture)

async function smallOf({ width, height, rgba }: Photograph): Promise<Picture> {
  const jpeg = await sharp(rgba, { raw: { width, height, channels: 4 } })
    .jpeg({ quality: 88 })
    .toBuffer()
  const bytes = new Uint8Array(jpeg)
  return (await decodeSmall(bytes, readHeader(bytes)!, 25e6))!
}

test.skipIf(fontsOf('eng').length === 0)('no upright page is turned', () => {
  const turns = Array.from({ length: 32 }, (_, i) => {
    const language = i % 2 ? 'deu' : 'eng'
    return look(mixedPage(language, LAYOUTS[i % LAYOUTS.length]!, i)).turn
  })
  expect(turns).toEqual(turns.map(() => 0))
})

describe('a page is read', () => {
  test.for([
    ['eng', 90, 'letter'],
    ['eng', 0, 'few'],
    ['deu', 180, 'list'],
    ['jpn', 270, 'few'],
  ] as const)(
    'in %s, turned by %i degrees and askew',
    { timeout: 120_000 },
    async ([language, turn, layout], { skip }) => {
      if (fontsOf(language).length === 0) skip(`no font for ${language}`)
      const page = mixedPage(language, layout, 5)
      const seen = turned(rotated(page, turn === 0 ? 2.5 : 0.5), turn)
      const read = await recognise(seen, { languages: [language], engine: 'wasm' }, 25e6, 100_000)
      expect(shareRead(page.lines, read?.text ?? '')).toBeGreaterThan(0.7)
    },
  )
})

test.skipIf(!languageFile('jpn_vert') || fontsOf('jpn').length === 0)(
  'Japanese from top to bottom is read where its data is installed',
  async () => {
    const page = columnsPage()
    const read = await recognise(page, { languages: ['jpn'], engine: 'wasm' }, 25e6, 100_000)
    expect(shareRead(page.lines, read?.text ?? '')).toBeGreaterThan(0.9)
    expect(read?.engine).toContain('jpn_vert')
  },
  120_000,
)

describe('text is told from none', () => {
  test('of photographs without text hardly any is decoded whole or costs an engine its time', async () => {
    let read = 0
    for (let i = 0; i < 10; i++)
      if (!isTextless(await smallOf(photograph(i, [2048, 1536])), true)) read++
    expect(read).toBeLessThanOrEqual(1)
  }, 60_000)

  test.skipIf(fontsOf('jpn').length === 0)(
    'photographs of pages are read, half in the shade as they are',
    async () => {
      for (const [i, language] of ['eng', 'jpn'].entries())
        for (const [page, fill] of [
          [mixedPage(language, LAYOUTS[i]!, i), 0.85],
          [a4Page(language, 200), 0.85],
          [a4Page(language, 200), 0.5], // as small as six points
        ] as const) {
          const small = await smallOf(photographOf(page, i, fill))
          expect(isTextless(small, true), `${language}, ${page.width}, ${fill}`).toBe(false)
        }
    },
    60_000,
  )

  test.skipIf(fontsOf('jpn').length === 0)('every page of text is read', () => {
    for (const language of ['eng', 'deu', 'jpn'])
      for (const layout of LAYOUTS)
        expect(isTextless(mixedPage(language, layout, 9)), `${language} ${layout}`).toBe(false)
  })

  test.skipIf(!existsSync(TRUTH))(
    'so is every picture whose text is known',
    async () => {
      const [, ...rows] = readFileSync(TRUTH, 'utf8').trim().split('\n')
      const pictures = rows
        .map((row) => row.split('\t')[0]!)
        .filter((name) => !name.endsWith('.pdf') && existsSync(`${CORPUS}/${name}`))
      for (const name of pictures) {
        const bytes = new Uint8Array(readFileSync(`${CORPUS}/${name}`))
        const header = readHeader(bytes)!
        const small = await decodeSmall(bytes, header, 25e6)
        expect(small !== undefined && isTextless(small, true), name).toBe(false)
        expect(isTextless(await decodePicture(bytes, header, 0, 25e6)), name).toBe(false)
      }
      expect(pictures.length).toBeGreaterThan(50)
    },
    120_000,
  )
})
