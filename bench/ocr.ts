/**
 * `npm run bench -- ocr`: CPU seconds a page by engine, resolution and language, what Paperknife adds to the
 * bare engine, and pages a minute with two threads.
 *
 * Pages are drawn here from text written here, in fonts of the machine. CPU seconds are those of this process and
 * its children; wall time is only given for pages a minute, since it says more about the machine's load.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import sharp from 'sharp'
import { toPgm, type Picture } from '../src/extract/image/picture.js'
import { closeOcr, engineFor } from '../src/extract/ocr/engine.js'
import { installedLanguages } from '../src/extract/ocr/languages.js'
import { nativeTesseract } from '../src/extract/ocr/native.js'
import { readDocument } from '../src/extract/read.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import type { OcrSettings } from '../src/part/settings.js'
import { a4Page, WRITING } from '../scripts/make/sheets.js'
import type { BenchRun } from './harness.js'

const pngOf = ({ width, height, grey }: Picture): Promise<Buffer> =>
  sharp(grey, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer()

async function read(png: Buffer, ocr: OcrSettings): Promise<string> {
  const settings = { limits: DEFAULT_LIMITS, ocr, passwords: [] }
  const { outcome } = await readDocument({ bytes: png, name: 'page.png' }, settings, 'ocr')
  return outcome.kind === 'text' ? outcome.pages.map(({ text }) => text).join('\n') : ''
}

/** CPU seconds of what `work` does, in this process and in children that it waits for. */
async function cpuSeconds(work: () => unknown): Promise<number> {
  const children = childSeconds()
  const own = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(own)
  return (user + system) / 1e6 + childSeconds() - children
}

/** CPU seconds of ended children, from the kernel; 0 where there is no /proc. */
function childSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
      .map(Number)
    return (user + system) / 100
  } catch {
    return 0
  }
}

/** Share of the words of the page that were read. */
function recall(language: string, text: string): number {
  const squash = (line: string): string => line.replace(/\s+/g, language === 'jpn' ? '' : ' ')
  const units = (line: string): string[] =>
    language === 'jpn' ? [...squash(line)] : squash(line).split(' ')
  const seen = new Set(units(text))
  const wanted = WRITING[language]!.text.flatMap(units)
  return wanted.filter((unit) => seen.has(unit)).length / wanted.length
}

export async function run(bench: BenchRun): Promise<void> {
  const languages = installedLanguages().filter((language) => language in WRITING)
  const native = await nativeTesseract()
  const engines = (['wasm', 'native'] as const).filter((engine) => engine === 'wasm' || native)
  const dpis = bench.text('dpi') !== undefined ? [bench.number('dpi', 200)] : [150, 200, 300]
  const runs = bench.number('runs', 2)

  for (const engine of engines)
    for (const language of languages) {
      if (engine === 'native' && !native?.languages.has(language)) continue
      const ocr: OcrSettings = { languages: [language], engine }
      await read(await pngOf(a4Page(language, 72)), ocr) // starts the engine
      for (const dpi of dpis) {
        const drawn = a4Page(language, dpi)
        const png = await pngOf(drawn)
        let text = ''
        const seconds = await fastest(runs, () =>
          cpuSeconds(async () => (text = await read(png, ocr))),
        )
        const bare = await fastest(runs, () => cpuSeconds(() => bareEngine(drawn, ocr)))
        bench.emit({
          engine: (await engineFor(ocr)).name,
          language,
          dpi,
          cpuSecondsAPage: round(seconds),
          bareEngine: round(bare),
          overBare: round(seconds / bare),
          recall: round(recall(language, text)),
          residentMb: Math.round(process.memoryUsage().rss / 1e6),
        })
        if (dpi === 200)
          bench.readme(`OCR, ${engine}, ${language}, 200 dpi`, `${round(seconds)} CPU s a page`)
      }
      await closeOcr()
    }

  for (const engine of engines) {
    const minute = await pagesAMinute(engine, bench.number('seconds', 30))
    bench.emit({ engine, threads: 2, pagesAMinute: round(minute) })
    bench.readme(`OCR, ${engine}, two threads`, `${Math.round(minute)} pages a minute`)
  }
}

/** The engine alone: the same pixels, without a look, a decision or a document around it. */
async function bareEngine(picture: Picture, ocr: OcrSettings): Promise<void> {
  if (ocr.engine === 'wasm') {
    await (await engineFor(ocr)).recognise(picture, 300_000)
    return
  }
  const words = [
    'stdin',
    'stdout',
    '-l',
    ocr.languages.join('+'),
    '--oem',
    '1',
    '--psm',
    '3',
    'tsv',
  ]
  spawnSync('tesseract', words, {
    input: toPgm(picture),
    env: { ...process.env, OMP_THREAD_LIMIT: '1' },
    maxBuffer: 1e8,
  })
}

async function fastest(runs: number, work: () => Promise<number>): Promise<number> {
  let best = Infinity
  for (let i = 0; i < runs; i++) best = Math.min(best, await work())
  return best
}

const round = (value: number): number => Math.round(value * 100) / 100

/** Two threads read the same page again and again. */
async function pagesAMinute(engine: 'wasm' | 'native', seconds: number): Promise<number> {
  const png = await pngOf(a4Page('eng', 200))
  const workers = [0, 1].map(
    () =>
      new Worker(fileURLToPath(new URL('ocr-thread.mjs', import.meta.url)), {
        workerData: { png, engine },
      }),
  )
  const counts = await Promise.all(
    workers.map(
      (worker) =>
        new Promise<number>((resolve, reject) => {
          let pages = 0
          worker.on('error', reject)
          worker.on('message', (message: 'ready' | 'page') => {
            if (message === 'ready') setTimeout(() => resolve(pages), seconds * 1_000)
            else pages++
          })
        }),
    ),
  )
  await Promise.all(workers.map((worker) => worker.terminate()))
  return ((counts[0]! + counts[1]!) * 60) / seconds
}
