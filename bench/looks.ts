/**
 * `npm run bench -- looks`: what a look at a picture decides before anything is read. Generated pages in three
 * languages turned by quarters and laid askew have to be read upright, upright ones left as they are, photographs
 * without text told from pages; and what the look costs beside OCR.
 */
import sharp from 'sharp'
import { decodePicture } from '../src/extract/image/decode.js'
import { readHeader } from '../src/extract/image/header.js'
import { rotated, turned, type Picture } from '../src/extract/image/picture.js'
import { closeOcr } from '../src/extract/ocr/engine.js'
import { lookAt } from '../src/extract/ocr/look.js'
import { stretched } from '../src/extract/ocr/prepare.js'
import { recognise, type Recognised } from '../src/extract/ocr/recognise.js'
import { readDocument } from '../src/extract/read.js'
import { installedLanguages } from '../src/extract/ocr/languages.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import type { ReadResult } from '../src/part/outcome.js'
import type { OcrSettings } from '../src/part/settings.js'
import { photograph, type Photograph } from '../scripts/make/photographs.js'
import { fontsOf, LAYOUTS, mixedPage, shareRead, WRITING } from '../scripts/make/sheets.js'
import { round, type BenchRun } from './harness.js'

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

/** What the OCR lane takes for photographs, beside what it would take if it read each of them whatever a look says. */
async function photographs(bench: BenchRun, count: number): Promise<void> {
  const ocr: OcrSettings = { languages: ['eng'], engine: 'wasm' } // in this process, whose CPU is counted
  const settings = { limits: DEFAULT_LIMITS, ocr, passwords: [] }
  async function timed<T>(work: () => Promise<T>): Promise<[seconds: number, result: T]> {
    const before = process.cpuUsage()
    const result = await work()
    const { user, system } = process.cpuUsage(before)
    return [(user + system) / 1e6, result]
  }
  const readAnyway = async (bytes: Uint8Array): Promise<unknown> => {
    const picture = await decodePicture(bytes, readHeader(bytes)!, 0, DEFAULT_LIMITS.ocrPixels)
    return recognise(picture, ocr, DEFAULT_LIMITS.ocrPixels, 300_000, true)
  }
  const jpegOf = async (seed: number): Promise<Photograph & { jpeg: Uint8Array }> => {
    const made = photograph(seed)
    const { width, height, rgba } = made
    const jpeg = await sharp(rgba, { raw: { width, height, channels: 4 } })
      .jpeg({ quality: 85 + (seed % 8) })
      .toBuffer()
    return { ...made, jpeg: new Uint8Array(jpeg) }
  }
  const lookAtIt = (jpeg: Uint8Array): Promise<ReadResult> =>
    readDocument({ bytes: jpeg, name: 'photograph.jpg' }, settings, 'ocr')

  // Modules and engine start outside of the clock.
  const { jpeg: first } = await jpegOf(1_000)
  await lookAtIt(first)
  await readAnyway(first)
  const kinds = new Map<string, { passed: number; ours: number; all: number }>()
  let megapixels = 0
  for (let i = 0; i < count; i++) {
    const { subject, width, height, jpeg } = await jpegOf(i)
    megapixels += (width * height) / 1e6
    const sums = kinds.get(subject) ?? { passed: 0, ours: 0, all: 0 }
    kinds.set(subject, sums)
    const [ours, { outcome }] = await timed(() => lookAtIt(jpeg))
    if (outcome.kind === 'text' && outcome.engine !== undefined) sums.passed++
    const [all] = await timed(() => readAnyway(jpeg))
    sums.ours += ours
    sums.all += all
  }
  await closeOcr()
  const sum = (key: 'passed' | 'ours' | 'all'): number =>
    [...kinds.values()].reduce((total, sums) => total + sums[key], 0)
  const [passed, ours, all] = [sum('passed'), sum('ours'), sum('all')]
  for (const [kind, sums] of kinds)
    bench.emit({ kind, passed: sums.passed, cpuSeconds: round(sums.ours), ofOcr: round(sums.all) })
  bench.emit({
    trial: 'photographs',
    of: count,
    megapixels: round(megapixels / count),
    passed,
    cpuSeconds: round(ours),
    cpuSecondsOfOcr: round(all),
    share: round((ours / all) * 100),
  })
  bench.readme(
    `${count} generated photographs of 3 to 12 megapixels without text, ten kinds`,
    `${passed} given to OCR; ${Math.round((ours / all) * 1000) / 10} % of the CPU of reading all`,
  )
}
