/**
 * `npm run bench -- ocr`: CPU seconds a page by engine, resolution and language, what Paperknife adds to the
 * bare engine that is given the same file, memory, and pages a minute with two threads. Takes three minutes of a quiet
 * machine; languages beside English are read at 200 dpi alone unless `--all` asks for more.
 *
 * Pages are drawn here from text written here, in fonts of the machine. CPU seconds are those of this process and
 * its children; wall time is only given for pages a minute, since it says more about the machine's load.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import sharp from 'sharp'
import type { Picture } from '../src/extract/image/picture.js'
import { closeOcr, engineFor } from '../src/extract/ocr/engine.js'
import { installedLanguages } from '../src/extract/ocr/languages.js'
import { nativeTesseract } from '../src/extract/ocr/native.js'
import { readDocument } from '../src/extract/read.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import type { OcrSettings } from '../src/part/settings.js'
import { a4Page, fontsOf, mixedPage, WRITING } from '../scripts/make/sheets.js'
import { PROGRAM, round, runWatched, type BenchRun } from './harness.js'
import { bareCore, bareProgram } from './ocr-bare.js'

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
  const languages = installedLanguages().filter(
    (language) => language in WRITING && fontsOf(language).length > 0,
  )
  const native = await nativeTesseract()
  const engines = (['wasm', 'native'] as const).filter((engine) => engine === 'wasm' || native)
  const dpis = bench.text('dpi') !== undefined ? [bench.number('dpi', 200)] : [150, 200, 300]
  const runs = bench.number('runs', 2)
  const say = (what: string): void => console.error(`${clock()} ${what}`)

  for (const engine of engines) {
    const perPage: string[] = []
    const over: number[] = []
    for (const language of languages) {
      if (engine === 'native' && !native?.languages.has(language)) continue
      const ocr: OcrSettings = { languages: [language], engine }
      const bare = engine === 'wasm' ? await bareCore(language) : bareProgram(language)
      // Starts the engines, and has the code compiled that looks at pages.
      const small = await pngOf(mixedPage(language, 'few', 1))
      for (let i = 0; i < 5; i++) await read(small, ocr)
      bare(small)
      for (const dpi of bench.has('all') || language === 'eng' || dpis.length === 1
        ? dpis
        : [200]) {
        say(`${engine}, ${language}, ${dpi} dpi`)
        const png = await pngOf(a4Page(language, dpi))
        let text = ''
        let [ours, alone] = [Infinity, Infinity]
        for (let i = 0; i < runs; i++) {
          ours = Math.min(ours, await cpuSeconds(async () => (text = await read(png, ocr))))
          alone = Math.min(alone, await cpuSeconds(() => bare(png)))
        }
        over.push(ours / alone)
        bench.emit({
          engine: (await engineFor(ocr)).name,
          language,
          dpi,
          cpuSecondsAPage: round(ours),
          bareEngine: round(alone),
          overBare: round(ours / alone),
          recall: round(recall(language, text)),
        })
        if (dpi === 200) perPage.push(`${language} ${round(ours)}`)
      }
      await closeOcr()
    }
    const [least, most] = [Math.min(...over), Math.max(...over)].map(round)
    bench.readme(
      `OCR of an A4 page at 200 dpi, ${engine}, CPU seconds`,
      `${perPage.join(', ')}; at ${dpis.join(', ')} dpi ${least} to ${most} times the bare engine`,
    )
  }

  const folder = mkdtempSync(join(tmpdir(), 'paperknife-bench-ocr-'))
  try {
    for (const engine of engines) {
      const peaks: string[] = []
      for (const dpi of dpis) {
        say(`${engine}, memory at ${dpi} dpi`)
        const file = join(folder, `${dpi}.png`)
        writeFileSync(file, await pngOf(a4Page('eng', dpi)))
        const words = [PROGRAM, 'extract', file, '--ocr-engine', engine, '--workers', '1']
        const { peakBytes, code } = await runWatched(process.execPath, words)
        const peakMb = peakBytes === undefined ? undefined : Math.round(peakBytes / 1e6)
        bench.emit({ engine, dpi, peakMb, code })
        peaks.push(`${peakMb ?? '?'} MB at ${dpi} dpi`)
      }
      say(`${engine}, pages a minute`)
      const minute = await pagesAMinute(engine, bench.number('seconds', 15))
      bench.emit({ engine, threads: 2, pagesAMinute: round(minute) })
      bench.readme(
        `OCR of A4 pages, ${engine}`,
        `${Math.round(minute)} pages a minute with two threads at 200 dpi; the whole program at most ${peaks.join(', ')}`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const clock = (): string => `${Math.round(performance.now() / 1000)} s:`

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
