/** Two reports of one bench side by side: every figure that both have, and how it moved. */
import { readFileSync } from 'node:fs'
import type { BenchRun, Line, Report } from './harness.js'

/** What names a line, against what was measured on it. */
const isName = (value: unknown): boolean => typeof value === 'string'

const keyOf = (line: Line): string =>
  Object.entries(line)
    .filter(([key, value]) => isName(value) || key === 'messages')
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
