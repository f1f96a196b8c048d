/** A small share of `npm run bench -- looks`: what a look decides on generated pages and photographs. */
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import {
  columnsPage,
  fontsOf,
  greyOf,
  LAYOUTS,
  mixedPage,
  photograph,
  shareRead,
} from '../../scripts/make/sheets.js'
import { decodePicture } from '../../src/extract/image/decode.js'
import { readHeader } from '../../src/extract/image/header.js'
import { rotated, turned, type Picture } from '../../src/extract/image/picture.js'
import { closeOcr } from '../../src/extract/ocr/engine.js'
import { languageFile } from '../../src/extract/ocr/languages.js'
import { lookAt, type Look } from '../../src/extract/ocr/look.js'
import { mayHoldText, stretched } from '../../src/extract/ocr/prepare.js'
import { recognise } from '../../src/extract/ocr/recognise.js'
import { TRUTH, CORPUS } from '../corpus.js'

afterAll(closeOcr)

const look = (picture: Picture): Look => lookAt(stretched(picture) ?? picture)
const mayHold = (picture: Picture): boolean => {
  const ready = stretched(picture)
  return ready !== undefined && mayHoldText(ready, lookAt(ready))
}

test.skipIf(fontsOf('eng').length === 0)('no upright page is turned', () => {
  const turns = Array.from({ length: 32 }, (_, i) => {
    const language = i % 2 ? 'deu' : 'eng'
    return look(mixedPage(language, LAYOUTS[i % LAYOUTS.length]!, i)).turn
  })
  expect(turns).toEqual(turns.map(() => 0))
})

describe('a page is read', () => {
  test.each([
    ['eng', 90, 'letter'],
    ['eng', 0, 'few'],
    ['deu', 180, 'list'],
    ['jpn', 270, 'few'],
  ] as const)(
    'in %s, turned by %i degrees and askew',
    async (language, turn, layout) => {
      if (fontsOf(language).length === 0) return
      const page = mixedPage(language, layout, 5)
      const seen = turned(rotated(page, turn === 0 ? 2.5 : 0.5), turn)
      const read = await recognise(seen, { languages: [language], engine: 'wasm' }, 25e6, 100_000)
      expect(shareRead(page.lines, read?.text ?? '')).toBeGreaterThan(0.7)
    },
    120_000,
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
  test('of photographs without text hardly any costs an engine its time', () => {
    let read = 0
    for (let i = 0; i < 20; i++) {
      const { width, height, rgba } = photograph(i, 640, 480)
      if (mayHold({ width, height, grey: greyOf(rgba) })) read++
    }
    expect(read).toBeLessThanOrEqual(1)
  })

  test.skipIf(fontsOf('jpn').length === 0)('every page of text is read', () => {
    for (const language of ['eng', 'deu', 'jpn'])
      for (const layout of LAYOUTS)
        expect(mayHold(mixedPage(language, layout, 9)), `${language} ${layout}`).toBe(true)
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
        const picture = await decodePicture(bytes, readHeader(bytes)!, 0, 25e6)
        expect(mayHold(picture), name).toBe(true)
      }
      expect(pictures.length).toBeGreaterThan(50)
    },
    120_000,
  )
})
