/**
 * What opening costs, in fresh processes of a host that embeds the library: loading it, opening a vault,
 * the first search, and the memory held when nothing happens; then the same for the one writer. Not
 * responsible for searches themselves (search.ts).
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { fill } from './fill.js'
import { CORPORA, type Corpus } from './generate.js'
import { round, statistics, treePss, type BenchRun } from './harness.js'

const DIST = new URL('../dist/', import.meta.url)
const QUERY = 'budget meeting'

/** Each prints a line a phase: name and milliseconds since the process began; then it waits to be measured. */
const HOSTS: Record<string, string> = {
  node: `phase('node')`,
  reader: `phase('node')
    const { openVault } = await import(${JSON.stringify(new URL('api.js', DIST).href)})
    phase('load')
    const mail = await openVault({ vault: directory, index: directory })
    phase('open')
    await mail.search(${JSON.stringify(QUERY)}, { limit: 20 })
    phase('first search')
    await mail.search(${JSON.stringify(QUERY)}, { limit: 20 })
    phase('second search')`,
  writer: `phase('node')
    const { openStore } = await import(${JSON.stringify(new URL('index/store.js', DIST).href)})
    phase('load')
    const store = openStore({ directory, messageChars: 10_000_000 })
    phase('open')
    globalThis.store = store`,
}

export async function run(bench: BenchRun): Promise<void> {
  const corpus: Corpus = { ...CORPORA.short, messages: bench.number('messages', 50_000) }
  const runs = Math.max(1, bench.number('runs', 7))
  const kept = bench.text('dir')
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'paperknife-bench-'))
  try {
    if (!existsSync(join(directory, 'index.db'))) {
      mkdirSync(directory, { recursive: true })
      fill(directory, corpus)
    }
    for (const [host, script] of Object.entries(HOSTS)) {
      const phases = new Map<string, number[]>()
      const rss: number[] = []
      const pss: number[] = []
      for (let run = 0; run < runs; run++) {
        const one = await start(script, directory)
        for (const [phase, ms] of one.phases) phases.set(phase, [...(phases.get(phase) ?? []), ms])
        rss.push(one.rss)
        if (one.pss !== undefined) pss.push(one.pss)
      }
      for (const [phase, values] of phases)
        bench.emit({
          bench: 'startup',
          host,
          phase,
          messages: corpus.messages,
          ...statistics(values),
          runs,
        })
      bench.emit({
        bench: 'startup',
        host,
        phase: 'idle memory',
        messages: corpus.messages,
        rssMb: round(statistics(rss).median / 1e6),
        ...(pss.length > 0 && { pssMb: round(statistics(pss).median / 1e6) }),
        runs,
      })
    }
  } finally {
    if (kept === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

interface Started {
  /** Milliseconds of each phase alone. */
  phases: Map<string, number>
  /** Bytes, half a second after the last phase, garbage collected. */
  rss: number
  pss: number | undefined
}

async function start(script: string, directory: string): Promise<Started> {
  const program = `const directory = process.argv[1]
    const phase = (name) => console.log(name + '\\t' + (performance.timeOrigin + performance.now()))
    ${script}
    setTimeout(() => {
      globalThis.gc?.()
      console.log('rss\\t' + process.memoryUsage.rss())
      process.stdin.resume()
    }, 500)`
  let before = performance.timeOrigin + performance.now()
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--input-type=module', '-e', program, directory],
    { cwd: fileURLToPath(new URL('..', DIST)), stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const phases = new Map<string, number>()
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [name = '', value = ''] = line.split('\t')
      if (name === 'rss') return { phases, rss: Number(value), pss: treePss(child.pid as number) }
      phases.set(name, Number(value) - before)
      before = Number(value)
    }
  } finally {
    child.kill()
  }
  throw new Error('the process ended before it was measured')
}
