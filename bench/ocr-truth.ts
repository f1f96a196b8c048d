/**
 * `npm run bench -- ocr-truth --truth FILE --files DIR`: pictures and scans whose text is known, read by each engine and by
 * the machine's tesseract alone on the same files. Share of the words read, and character error rate, by language
 * and kind. FILE is a table with the columns image, truth (a file in DIR, or the text), language and granularity.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { closeOcr } from '../src/extract/ocr/engine.js'
import { installedLanguages } from '../src/extract/ocr/languages.js'
import { nativeTesseract } from '../src/extract/ocr/native.js'
import { toPgm } from '../src/extract/image/picture.js'
import { withPdf } from '../src/extract/pdf/engine.js'
import { renderPage } from '../src/extract/pdf/raster.js'
import { readDocument } from '../src/extract/read.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import { round, type BenchRun } from './harness.js'
import { shareRead } from '../scripts/make/sheets.js'

interface Row {
  file: string
  truth: string
  languages: string[]
  kind: string
  /** False where the truth is only what the text must contain. */
  isWhole: boolean
}

const READERS = ['wasm', 'native', 'tesseract --psm 3'] as const
type Reader = (typeof READERS)[number]

export async function run(bench: BenchRun): Promise<void> {
  const [table, folder] = [bench.text('truth'), bench.text('files')]
  if (!table || !folder) throw new TypeError('--truth and --files are needed')
  const rows = readRows(table, folder)
  setPriority(10) // takes minutes, and counts no time
  const wanted = bench.text('engine')
  const readers = (await nativeTesseract()) ? READERS : READERS.slice(0, 1)

  const groups = new Map<
    string,
    Map<Reader, { read: number; pictures: number; errors: number[] }>
  >()
  for (const reader of readers.filter((one) => wanted === undefined || one === wanted)) {
    for (const [i, row] of rows.entries()) {
      const seconds = Math.round(performance.now() / 1000)
      console.error(`${seconds} s: ${reader}, ${i + 1} of ${rows.length}, ${basename(row.file)}`)
      const text = await readBy(reader, row)
      const key = `${row.languages.join('+')}, ${row.kind}`
      const group = groups.get(key) ?? new Map()
      groups.set(key, group)
      const sum = group.get(reader) ?? { read: 0, pictures: 0, errors: [] }
      group.set(reader, sum)
      sum.read += shareRead([row.truth.toLowerCase()], text.toLowerCase())
      sum.pictures++
      if (row.isWhole) sum.errors.push(errorRate(row.truth, text))
    }
    await closeOcr()
  }
  for (const [key, group] of groups) {
    const figures = [...group].map(([reader, { read, pictures, errors }]) => {
      const rate = errors.length > 0 ? mean(errors) : undefined
      return {
        reader,
        pictures,
        recall: round(read / pictures),
        ...(rate !== undefined && { cer: round(rate) }),
      }
    })
    for (const figure of figures) bench.emit({ kind: key, ...figure })
    bench.readme(
      `OCR of ${figures[0]!.pictures} known pictures (${key}): words read, character error rate`,
      figures
        .map(
          ({ reader, recall, cer }) => `${reader} ${recall}${cer === undefined ? '' : `, ${cer}`}`,
        )
        .join('; '),
    )
  }
}

function readRows(table: string, folder: string): Row[] {
  const installed = new Set(installedLanguages())
  const [, ...lines] = readFileSync(table, 'utf8').trim().split('\n')
  return lines.flatMap((line) => {
    const [image = '', truth = '', language = '', granularity = ''] = line.split('\t')
    const languages = language.split('+').filter((one) => installed.has(one))
    const file = `${folder}/${image}`
    if (languages.length === 0 || !existsSync(file)) return []
    const truthFile = truth.length < 400 ? `${folder}/${truth}` : ''
    const known = truthFile && existsSync(truthFile) ? readFileSync(truthFile, 'utf8') : truth
    if (known.trim() === '') return []
    return {
      file,
      truth: known,
      languages,
      kind: granularity.split(/[,(]/)[0]!.trim(),
      isWhole: !/contain|begins|first line/.test(granularity),
    }
  })
}

async function readBy(reader: Reader, { file, languages }: Row): Promise<string> {
  const bytes = new Uint8Array(readFileSync(file))
  if (reader === 'tesseract --psm 3') return alone(file, bytes, languages)
  // None is too small here: single lines are pictures as well.
  const limits = { ...DEFAULT_LIMITS, imageBytesMin: 1, imageShortSideMin: 1 }
  const settings = { limits, ocr: { languages, engine: reader }, passwords: [] }
  const { outcome } = await readDocument({ bytes, name: basename(file) }, settings, 'ocr')
  return outcome.kind === 'text' ? outcome.pages.map(({ text }) => text).join('\n') : ''
}

/** The program without anything around it; pages of a PDF are rendered for it at 200 dpi. */
async function alone(file: string, bytes: Uint8Array, languages: string[]): Promise<string> {
  const tesseract = (input: string, picture?: Uint8Array): string =>
    spawnSync('tesseract', [input, 'stdout', '-l', languages.join('+'), '--psm', '3'], {
      input: picture,
      env: { ...process.env, OMP_THREAD_LIMIT: '1' },
      encoding: 'utf8',
      maxBuffer: 1e8,
    }).stdout
  if (!file.endsWith('.pdf')) return tesseract(file)
  return withPdf(bytes, [], 60_000, 'pixels', async ({ document: pdf }) => {
    let text = ''
    for (let page = 1; page <= pdf.numPages; page++)
      text += tesseract('stdin', toPgm(await renderPage(await pdf.getPage(page), 25e6)))
    return text
  })
}

/** Edit distance over the length of the truth, white space folded. */
function errorRate(truth: string, text: string): number {
  const folded = (of: string): string[] => [...of.normalize('NFKC').replace(/\s+/g, ' ').trim()]
  const [wanted, seen] = [folded(truth), folded(text).slice(0, 3 * truth.length + 100)]
  let row = Uint32Array.from({ length: seen.length + 1 }, (_, i) => i)
  for (const [i, character] of wanted.entries()) {
    const next = new Uint32Array(row.length)
    next[0] = i + 1
    for (let j = 1; j < row.length; j++)
      next[j] = Math.min(
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + (character === seen[j - 1] ? 0 : 1),
      )
    row = next
  }
  return row.at(-1)! / Math.max(1, wanted.length)
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
