/**
 * Reading documents: files and MB a second by format, milliseconds a file, peak memory.
 *
 * Every file is read once to warm parsers and the disk's cache, then `--runs` times; a file's time is
 * the median of its runs, as the thread that read it measured it. With `--vs` two other readers read the same
 * files between our passes, in as many processes; a file that both read counts.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Api from '../src/api.js'
import { round, statistics, watchMemory, type BenchRun } from './harness.js'
import { Peer, peerOf, PEERS } from './peers.js'

/** The built library, whose worker threads are built too. */
const API = new URL('../dist/api.js', import.meta.url).href
const FIXTURES = fileURLToPath(new URL('../test/fixtures', import.meta.url))

interface Read {
  format: string
  bytes: number
  ms: number[]
  /** Of the other reader, where one was asked and gave text. */
  peerMs: number[]
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
  const vs = bench.text('vs')
  const peers = vs === undefined ? [] : PEERS.map((name) => new Peer(vs, name, threads))
  let readings = 0
  let peak: number | undefined
  let wallMs = 0
  let onReading = (): void => {}
  /** Until as many readings are done as were asked for, so that nobody else is at work in a peer's pass. */
  async function drained(count: number): Promise<void> {
    while (readings < count) await new Promise<void>((resolve) => (onReading = resolve))
  }
  /** One warming pass, then the measured ones, through the same threads; the peers' passes between them. */
  async function* passes(): AsyncGenerator<string> {
    for (let pass = 0; pass <= runs; pass++) {
      const began = performance.now()
      yield* files
      await drained(files.length * (pass + 1))
      if (pass > 0) wallMs += (performance.now() - began) / runs
      // Ours alone: of all passes, or of the first where processes of others, which count too, follow it.
      if (pass === runs || peers.length > 0) peak ??= memory.stop().peakBytes
      for (const peer of peers) {
        const own = [...reads].filter(([, read]) => peerOf(read.format) === peer.name)
        await peer.pass(
          own.map(([file]) => file),
          (file, ms) => {
            if (pass > 0) reads.get(file)?.peerMs.push(ms)
          },
        )
      }
    }
  }
  const options = {
    workers: threads,
    ...(bench.text('ocr') === 'on' ? {} : { ocr: false as const }),
  }
  for await (const { file, result } of extractDocuments(passes(), options)) {
    const times = (seen.get(file) ?? 0) + 1
    seen.set(file, times)
    if (result?.outcome.kind === 'text') {
      const read = reads.get(file) ?? {
        format: result.extractor ?? result.type,
        bytes: statSync(file).size,
        ms: [],
        peerMs: [],
      }
      if (times > 1) read.ms.push(result.ms)
      reads.set(file, read)
    }
    readings++
    onReading()
  }
  for (const peer of peers) peer.close()

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
  for (const peer of peers) againstPeer(bench, peer, [...reads.values()])
  bench.readme(
    `Reading ${bench.text('files') === undefined ? 'the test fixtures' : `${files.length} documents`} without OCR, ${threads} threads, milliseconds a file (median)`,
    `${told.join(', ')}${peak === undefined ? '' : `; at most ${Math.round(peak / 1e6)} MB`}`,
  )
}

/** How many times as fast as another reader, by format: over all files together and of the middle file. */
function againstPeer(bench: BenchRun, peer: Peer, reads: readonly Read[]): void {
  const compared = reads
    .filter((read) => peerOf(read.format) === peer.name && read.peerMs.length > 0)
    .map((read) => ({
      format: read.format,
      ours: statistics(read.ms).median,
      theirs: statistics(read.peerMs).median,
    }))
  const told: string[] = []
  for (const format of [...new Set(compared.map((file) => file.format))].sort()) {
    const files = compared.filter((file) => file.format === format)
    const sum = (of: 'ours' | 'theirs'): number => files.reduce((ms, file) => ms + file[of], 0)
    const line = {
      msPerFile: statistics(files.map((file) => file.ours)),
      theirMsPerFile: statistics(files.map((file) => file.theirs)),
      timesAsFast: {
        together: round(sum('theirs') / sum('ours')),
        ...statistics(files.map((file) => file.theirs / file.ours)),
      },
    }
    bench.emit({
      bench: 'extract',
      format,
      peer: `${peer.name} ${peer.version}`,
      files: files.length,
      ...line,
    })
    told.push(`${format} ${line.timesAsFast.together.toFixed(1)} (${files.length})`)
  }
  if (told.length > 0)
    bench.readme(
      `Times as fast as ${peer.name} ${peer.version} on the same files in the same run (files)`,
      told.join(', '),
    )
}

/** Formats named in the README. */
const FORMATS_TOLD = ['docx', 'xlsx', 'pptx', 'opendocument', 'pdf', 'html', 'doc', 'xls', 'mail']
