/**
 * What every bench shares: arguments, statistics, the memory of a tree of processes, and the report with
 * the machine and the versions in it.
 *
 * A bench prints one JSON object a line on standard output and words for people on standard error. With
 * `--save`, main.ts writes the lines as bench/results/<bench>.json, from which the README is made.
 */
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export type Line = Record<string, unknown>

/** What a bench gets. */
export interface BenchRun {
  /** Value of `--name`, or undefined. A bench names its flags in its row of the table. */
  text(name: string): string | undefined
  number(name: string, otherwise: number): number
  has(name: string): boolean
  readonly positional: readonly string[]
  /** Prints a line and keeps it for the report. */
  emit(line: Line): void
  /** A figure for the README's table: what was measured, and the result in words. */
  readme(what: string, figure: string): void
}

export interface Bench {
  readonly name: string
  readonly summary: string
  /** Flags beside `--save`: `{ messages: 'N' }` takes a value, `{ 'vs-mu': '' }` takes none. */
  readonly flags: Readonly<Record<string, string>>
  load(): Promise<{ run(bench: BenchRun): Promise<void> }>
}

export interface Report {
  bench: string
  arguments: string[]
  date: string
  machine: string
  /** Load average at the start: more than the cores means that others were at work. */
  load: number
  versions: Record<string, string>
  results: Line[]
  readme: Array<[string, string]>
}

/** Where files are kept, and other readers installed, is of this machine alone. */
const isPlace = (word: string | undefined): boolean =>
  word === '--dir' || word === '--vs' || word === '--files'

/** Runs a bench. @throws {TypeError} for a flag that it does not have */
export async function runBench(bench: Bench, words: string[]): Promise<Report> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(bench.flags).map(([name, value]) => [
        name,
        { type: value === '' ? 'boolean' : 'string' } as const,
      ]),
    ),
  })
  const report: Report = {
    bench: bench.name,
    arguments: words.filter((word, i) => !isPlace(word) && !isPlace(words[i - 1])),
    date: new Date().toISOString(),
    machine: machine(),
    load: round(loadavg()[0] as number),
    versions: versions(),
    results: [],
    readme: [],
  }
  const text = (name: string): string | undefined => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  await (
    await bench.load()
  ).run({
    text,
    number: (name, otherwise) => {
      const value = Number(text(name) ?? otherwise)
      if (!Number.isFinite(value) || value < 0) throw new TypeError(`--${name} must be a number`)
      return value
    },
    has: (name) => values[name] === true,
    positional: positionals,
    emit: (line) => {
      report.results.push(line)
      console.log(JSON.stringify(line))
    },
    readme: (what, figure) => report.readme.push([what, figure]),
  })
  return report
}

/** `2 cores, 24 GB, model name`. */
export function machine(): string {
  const model = cpus()[0]?.model.replace(/\s+/g, ' ').trim() || process.arch
  return `${availableParallelism()} cores, ${Math.round(totalmem() / 1e9)} GB, ${model}`
}

const OURS = ['better-sqlite3', 'pdfjs-dist', 'tesseract.js', 'piscina'] as const

function versions(): Record<string, string> {
  const versionOf = (path: string): string =>
    (JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string })
      .version
  return {
    paperknife: versionOf('../package.json'),
    node: process.versions.node,
    ...Object.fromEntries(
      OURS.map((name) => [name, versionOf(`../node_modules/${name}/package.json`)]),
    ),
  }
}

/** Of at least one number. */
export function statistics(values: readonly number[]): {
  median: number
  min: number
  max: number
  runs: number
} {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] as number
  const middle = (at(0.5) + (sorted[Math.ceil((sorted.length - 1) / 2)] as number)) / 2
  return { median: round(middle), min: round(at(0)), max: round(at(1)), runs: sorted.length }
}

/** Three significant digits and a bit: 0.0123, 4.56, 789.1. */
export function round(value: number): number {
  return value >= 100 ? Math.round(value * 10) / 10 : Number(value.toPrecision(4))
}

export const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

export interface Finished {
  ms: number
  code: number | null
  /** Highest sum of PSS over the tree of processes; undefined where /proc is missing. */
  peakBytes: number | undefined
  /** Processor time of the process and its threads, to a fifth of a second: what a busy machine does not change. */
  cpuMs: number | undefined
  stdout: string
}

/** Runs a program and watches the memory of it and its children, five times a second. */
export function runWatched(command: string, words: string[]): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'ignore'] })
    const memory = watchMemory(child.pid as number)
    const output: Buffer[] = []
    child.stdout.on('data', (piece: Buffer) => output.push(piece))
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({
        ms: performance.now() - began,
        code,
        ...memory.stop(),
        stdout: Buffer.concat(output).toString(),
      }),
    )
  })
}

/** Samples a tree of processes until stopped. @returns `stop`, which gives the highest sum of PSS in bytes, and processor time */
export function watchMemory(
  root: number,
  everyMs = 200,
): { stop(): Pick<Finished, 'peakBytes' | 'cpuMs'> } {
  let peakBytes: number | undefined
  let cpuMs: number | undefined
  const look = (): void => {
    const bytes = treePss(root)
    if (bytes !== undefined && bytes > 0) peakBytes = Math.max(peakBytes ?? 0, bytes)
    cpuMs = processorMs(root) ?? cpuMs
  }
  look()
  const clock = setInterval(look, everyMs)
  return {
    stop: () => {
      clearInterval(clock)
      return { peakBytes, cpuMs }
    },
  }
}

/** Ticks of 10 ms: Linux's USER_HZ is 100 on every machine that Node runs on. */
function processorMs(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
  } catch {
    return undefined
  }
}

/** Sum of the proportional set sizes of a process and all below it, in bytes. */
export function treePss(root: number): number | undefined {
  try {
    const parents = new Map<number, number>()
    for (const name of readdirSync('/proc'))
      if (/^\d+$/.test(name))
        try {
          const fields = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/^.*\) /s, '')
          parents.set(Number(name), Number(fields.split(' ')[1]))
        } catch {
          // gone meanwhile
        }
    const isBelow = (pid: number): boolean => {
      for (let at: number | undefined = pid; at !== undefined && at > 0; at = parents.get(at))
        if (at === root) return true
      return false
    }
    let sum = 0
    for (const pid of parents.keys()) {
      if (!isBelow(pid)) continue
      try {
        const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
        sum += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024
      } catch {
        // gone meanwhile
      }
    }
    return sum
  } catch {
    return undefined
  }
}
