/**
 * `npm run bench -- looks`: what a look at a picture decides before anything is read. Generated pages in three
 * languages turned by quarters and laid askew have to be read upright, upright ones left as they are, photographs
 * without text told from pages; and what the look costs beside OCR.
 */
import sharp from 'sharp'
import { rotated, turned, type Picture } from '../src/extract/image/picture.js'
import { closeOcr, engineFor } from '../src/extract/ocr/engine.js'
import { lookAt } from '../src/extract/ocr/look.js'
import { mayHoldText, stretched } from '../src/extract/ocr/prepare.js'
import { recognise, type Recognised } from '../src/extract/ocr/recognise.js'
import { readDocument } from '../src/extract/read.js'
import { installedLanguages } from '../src/extract/ocr/languages.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import type { OcrSettings } from '../src/part/settings.js'
import {
  fontsOf,
  LAYOUTS,
  mixedPage,
  photograph,
  shareRead,
  WRITING,
} from '../scripts/make/sheets.js'
import type { BenchRun } from './harness.js'

const TURNS = [90, 180, 270] as const
/** Share of the characters of a page that make it read; upside down it is a tenth. */
const RIGHT = 0.7

export async function run(bench: BenchRun): Promise<void> {
  const engine = bench.text('engine') === 'native' ? 'native' : 'wasm'
  const languages = installedLanguages().filter(
    (language) => language in WRITING && fontsOf(language).length > 0,
  )
  const read = (language: string, picture: Picture): Promise<Recognised | undefined> =>
    recognise(picture, { languages: [language], engine }, 25e6, 120_000)

  let right = 0
  let trials = 0
  for (const language of languages)
    for (const [i, turn] of [...TURNS, 0 as const].entries()) {
      const lean = [0.4, -0.6, 0.3, -2.5][i]!
      const page = mixedPage(language, LAYOUTS[i]!, i)
      const seen = await read(language, turned(rotated(page, lean), turn))
      const recall = shareRead(page.lines, seen?.text ?? '')
      trials++
      // Tesseract turns blocks of CJK by itself, so the text tells more than the turn.
      if (recall >= RIGHT) right++
      else bench.emit({ wrong: 'turned page', language, turn, layout: LAYOUTS[i], recall })
    }
  bench.emit({ trial: 'turned and skewed pages', right, of: trials })

  const count = bench.number('pages', 200)
  let wrong = 0
  let doubted = 0
  for (let i = 0; i < count; i++) {
    const language = languages[i % languages.length]!
    const layout = LAYOUTS[i % LAYOUTS.length]!
    const page = mixedPage(language, layout, 1_000 + i)
    const ready = stretched(page)
    // Only where the look would turn the page does reading decide.
    if (ready && lookAt(ready).turn === 0) continue
    doubted++
    const setBy = (await read(language, page))?.page.turned
    if (setBy === 0) continue
    wrong++
    bench.emit({ wrong: 'upright page', language, layout, setBy })
  }
  bench.emit({ trial: 'upright pages', wrongTurns: wrong, doubted, of: count })
  await closeOcr()

  await photographs(bench, bench.number('photographs', 50))
  bench.readme(
    'Generated pages turned by 90, 180, 270 degrees or laid askew, three languages',
    `${right} of ${trials} read upright; of ${count} upright pages ${wrong} turned`,
  )
}

async function photographs(bench: BenchRun, count: number): Promise<void> {
  const ocr: OcrSettings = { languages: ['eng'], engine: 'wasm' } // in this process, whose CPU is counted
  const settings = { limits: DEFAULT_LIMITS, ocr, passwords: [] }
  const cpu = async (work: () => Promise<unknown>): Promise<number> => {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6
  }
  const recogniseBare = async (picture: Picture): Promise<unknown> =>
    (await engineFor(ocr)).recognise(picture, 300_000)
  await recogniseBare(mixedPage('eng', 'few', 1)) // starts the engine
  let passed = 0
  let ours = 0
  let all = 0
  for (let i = 0; i < count; i++) {
    const { width, height, rgba } = photograph(i)
    const jpeg = await sharp(rgba, { raw: { width, height, channels: 4 } })
      .jpeg({ quality: 85 })
      .toBuffer()
    const { data } = await sharp(jpeg)
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true })
    const picture = { width, height, grey: new Uint8Array(data) }
    const ready = stretched(picture)
    if (ready && mayHoldText(ready, lookAt(ready))) passed++
    const document = { bytes: new Uint8Array(jpeg), name: 'photograph.jpg' }
    ours += await cpu(() => readDocument(document, settings, 'ocr'))
    // Reading each of them would take as long as the measuring of everything else.
    if (i % 5 === 0) all += 5 * (await cpu(() => recogniseBare(picture)))
  }
  await closeOcr()
  const share = Math.round((ours / all) * 1000) / 10
  bench.emit({
    trial: 'photographs',
    of: count,
    passed,
    cpuSeconds: ours,
    cpuSecondsOfOcr: all,
    share,
  })
  bench.readme(
    `${count} generated photographs without text`,
    `${passed} given to OCR; ${share} % of the CPU of reading all`,
  )
}
