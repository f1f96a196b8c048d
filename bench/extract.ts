/**
 * Reading documents: files and MB a second by format, milliseconds a file, peak memory.
 *
 * Every file is read once to warm parsers and the disk's cache, then `--runs` times; a file's time is
 * the median of its runs, as the thread that read it measured it.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Api from '../src/api.js'
import { round, statistics, watchMemory, type BenchRun } from './harness.js'

/** The built library, whose worker threads are built too. */
const API = new URL('../dist/api.js', import.meta.url).href
const FIXTURES = fileURLToPath(new URL('../test/fixtures', import.meta.url))

interface Read {
  format: string
  bytes: number
  ms: number[]
}

export async function run(bench: BenchRun): Promise<void> {
  const { extractDocuments } = (await import(API)) as typeof Api
  const folder = bench.text('files') ?? FIXTURES
  const threads = bench.number('threads', 2)
  const runs = bench.number('runs', 5)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
    // What lies beside the fixtures: expected texts and manifests.
    .filter((file, _, all) => !(file.endsWith('.txt') && all.includes(file.slice(0, -4))))
    .filter((file) => !file.endsWith('.manifest.tsv'))
    .sort()
  const memory = watchMemory(process.pid)
  const reads = new Map<string, Read>()
  const seen = new Map<string, number>()
  let began = 0
  /** One warming pass, then the measured ones, through the same threads. */
  function* passes(): Generator<string> {
    yield* files
    began = performance.now()
    for (let pass = 0; pass < runs; pass++) yield* files
  }
  const options = {
    workers: threads,
    ...(bench.text('ocr') === 'on' ? {} : { ocr: false as const }),
  }
  for await (const { file, result } of extractDocuments(passes(), options)) {
    const times = (seen.get(file) ?? 0) + 1
    seen.set(file, times)
    if (times === 1 || result?.outcome.kind !== 'text') continue
    const read = reads.get(file) ?? {
      format: result.extractor ?? result.type,
      bytes: statSync(file).size,
      ms: [],
    }
    read.ms.push(result.ms)
    reads.set(file, read)
  }
  const wallMs = (performance.now() - began) / runs
  const { peakBytes: peak } = memory.stop()

  const medians = [...reads.values()].map((read) => ({ ...read, ms: statistics(read.ms).median }))
  for (const format of [...new Set(medians.map((read) => read.format))].sort()) {
    const all = medians.filter((read) => read.format === format)
    const seconds = all.reduce((ms, read) => ms + read.ms, 0) / 1000
    const bytes = all.reduce((sum, read) => sum + read.bytes, 0)
    bench.emit({
      bench: 'extract',
      format,
      files: all.length,
      bytes,
      filesPerSecond: round(all.length / seconds),
      megabytesPerSecond: round(bytes / 1e6 / seconds),
      msPerFile: statistics(all.map((read) => read.ms)),
    })
  }
  bench.emit({
    bench: 'extract',
    format: 'all',
    threads,
    files: files.length,
    read: medians.length,
    wallMsAPass: round(wallMs),
    filesPerSecond: round(files.length / (wallMs / 1000)),
    peakBytes: peak,
  })
  const told = FORMATS_TOLD.flatMap((format) => {
    const ms = medians.filter((read) => read.format === format).map((read) => read.ms)
    return ms.length === 0 ? [] : [`${format} ${statistics(ms).median.toFixed(1)}`]
  })
  bench.readme(
    `Reading ${bench.text('files') === undefined ? 'the test fixtures' : `${files.length} documents`} without OCR, ${threads} threads, milliseconds a file (median)`,
    `${told.join(', ')}${peak === undefined ? '' : `; at most ${Math.round(peak / 1e6)} MB`}`,
  )
}

/** Formats named in the README. */
const FORMATS_TOLD = ['docx', 'xlsx', 'pptx', 'opendocument', 'pdf', 'html', 'doc', 'xls', 'mail']
