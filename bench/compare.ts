/**
 * Two reports of one bench side by side: every figure that both have, and how it moved. With `--growth`, two
 * sizes of one corpus: how many times each shape of search takes as long in the larger.
 */
import { readFileSync } from 'node:fs'
import type { BenchRun, Line, Report } from './harness.js'

/** What names a line, against what was measured on it. */
const isName = (value: unknown): boolean => typeof value === 'string'

/** A shape that stays below this may grow as it likes. */
const FREE_MS = 3
const GROWTH_MAX = 4

const keyOf = (line: Line, isSized = true): string =>
  Object.entries(line)
    .filter(([key, value]) => isName(value) || (isSized && key === 'messages'))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(' ')

/** Reads a saved report, or the printed lines of a bench. */
function linesOf(file: string): Line[] {
  const text = readFileSync(file, 'utf8')
  try {
    return (JSON.parse(text) as Report).results
  } catch {
    return text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
  }
}

export function run(bench: BenchRun): Promise<void> {
  const [before, after] = bench.positional
  if (before === undefined || after === undefined) throw new TypeError('compare A.json B.json')
  if (bench.has('growth')) {
    growth(bench, linesOf(before), linesOf(after))
    return Promise.resolve()
  }
  const old = new Map(linesOf(before).map((line) => [keyOf(line), line]))
  for (const line of linesOf(after)) {
    const was = old.get(keyOf(line))
    if (!was) continue
    const moved = Object.entries(line).flatMap(([key, now]) => {
      const then = was[key]
      if (typeof now !== 'number' || typeof then !== 'number' || key === 'messages') return []
      return [
        [
          key,
          {
            before: then,
            after: now,
            ratio: then === 0 ? null : Math.round((now / then) * 100) / 100,
          },
        ],
      ]
    })
    bench.emit({
      ...Object.fromEntries(
        Object.entries(line).filter(([key, value]) => isName(value) || key === 'messages'),
      ),
      ...Object.fromEntries(moved),
    })
  }
  return Promise.resolve()
}

/** Slowest growth last; a shape beyond the bound is marked, and so is the end of the program. */
function growth(bench: BenchRun, smaller: readonly Line[], larger: readonly Line[]): void {
  const old = new Map(smaller.map((line) => [keyOf(line, false), line]))
  const grown = larger.flatMap((line) => {
    const was = old.get(keyOf(line, false))
    const [then, now] = [was?.median, line.median]
    if (typeof then !== 'number' || typeof now !== 'number') return []
    const ratio = Math.round((now / then) * 100) / 100
    const { shape, query, state } = line
    const isOver = ratio > GROWTH_MAX && now >= FREE_MS
    return [
      { shape, query, state, from: was?.messages, to: line.messages, then, now, ratio, isOver },
    ]
  })
  for (const line of grown.sort((a, b) => a.ratio - b.ratio)) bench.emit(line)
  if (grown.some(({ isOver }) => isOver)) process.exitCode = 1
}
