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
import { createCanvas } from '@napi-rs/canvas'
import sharp from 'sharp'
import { toPgm, type Picture } from '../src/extract/image/picture.js'
import { closeOcr, engineFor } from '../src/extract/ocr/engine.js'
import { installedLanguages } from '../src/extract/ocr/languages.js'
import { nativeTesseract } from '../src/extract/ocr/native.js'
import { readDocument } from '../src/extract/read.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import type { OcrSettings } from '../src/part/settings.js'
import type { BenchRun } from './harness.js'

const SENTENCES: Record<string, { font: string; text: string[] }> = {
  eng: {
    font: 'Liberation Serif',
    text: [
      'The pilot boat left the harbour before dawn and returned with two passengers.',
      'Nobody had expected the ice to break so early, least of all the ferryman.',
      'A letter from the insurance company lay unopened on the window sill.',
      'Seventeen crates of oranges were counted twice and written into the ledger.',
    ],
  },
  deu: {
    font: 'Liberation Serif',
    text: [
      'Das Lotsenboot verließ den Hafen vor der Dämmerung und kehrte mit zwei Gästen zurück.',
      'Niemand hatte erwartet, dass das Eis so früh bricht, am wenigsten der Fährmann.',
      'Ein Brief der Versicherung lag ungeöffnet auf dem Fensterbrett.',
      'Siebzehn Kisten Orangen wurden zweimal gezählt und in das Buch eingetragen.',
    ],
  },
  jpn: {
    font: 'Noto Sans CJK JP',
    text: [
      '水先船は夜明け前に港を出て、二人の客を乗せて戻ってきた。',
      '氷がこれほど早く割れるとは、渡し守でさえ思っていなかった。',
      '保険会社からの手紙は封を切られないまま窓辺に置かれていた。',
      'みかんの箱は二度数えられ、帳簿に書き込まれた。',
    ],
  },
}

/** An A4 page of forty lines of eleven points. */
function page(language: string, dpi: number): Picture {
  const { font, text } = SENTENCES[language]!
  const scale = dpi / 72
  const canvas = createCanvas(Math.round(595 * scale), Math.round(842 * scale))
  const pen = canvas.getContext('2d')
  pen.fillStyle = '#fff'
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.fillStyle = '#000'
  pen.font = `${11 * scale}px "${font}"`
  for (let line = 0; line < 40; line++)
    pen.fillText(text[line % text.length]!, 60 * scale, (70 + line * 18) * scale)
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height)
  const grey = new Uint8Array(canvas.width * canvas.height)
  for (let i = 0; i < grey.length; i++) grey[i] = data[i * 4]!
  return { width: canvas.width, height: canvas.height, grey }
}

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
  const wanted = SENTENCES[language]!.text.flatMap(units)
  return wanted.filter((unit) => seen.has(unit)).length / wanted.length
}

export async function run(bench: BenchRun): Promise<void> {
  const languages = installedLanguages().filter((language) => language in SENTENCES)
  const native = await nativeTesseract()
  const engines = (['wasm', 'native'] as const).filter((engine) => engine === 'wasm' || native)
  const dpis = bench.text('dpi') !== undefined ? [bench.number('dpi', 200)] : [150, 200, 300]
  const runs = bench.number('runs', 2)

  for (const engine of engines)
    for (const language of languages) {
      if (engine === 'native' && !native?.languages.has(language)) continue
      const ocr: OcrSettings = { languages: [language], engine }
      await read(await pngOf(page(language, 72)), ocr) // starts the engine
      for (const dpi of dpis) {
        const drawn = page(language, dpi)
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

  const photograph = noise()
  const seconds = await cpuSeconds(() => read(photograph, { languages: ['eng'], engine: 'wasm' }))
  bench.emit({ picture: 'a photograph without text', cpuSeconds: round(seconds) })
  await closeOcr()

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

/** Soft clouds: nothing even, nothing in rows. */
function noise(): Buffer {
  const canvas = createCanvas(1600, 1200)
  const pen = canvas.getContext('2d')
  for (let i = 0; i < 900; i++) {
    const [x, y] = [(i * 7919) % 1600, (i * 104729) % 1200]
    const shade = (i * 37) % 200
    pen.fillStyle = `rgba(${shade}, ${(shade * 3) % 220}, ${255 - shade}, 0.35)`
    pen.beginPath()
    pen.arc(x, y, 20 + ((i * 13) % 160), 0, 7)
    pen.fill()
  }
  return canvas.toBuffer('image/png')
}

/** Two threads read the same page again and again. */
async function pagesAMinute(engine: 'wasm' | 'native', seconds: number): Promise<number> {
  const png = await pngOf(page('eng', 200))
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
