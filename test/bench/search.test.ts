import { expect, test } from 'vitest'
import { run } from '../../bench/search.js'
import { SHAPES } from '../../bench/shapes.js'

test.each([
  ['short', '600'],
  ['cjk', '120'],
])(
  'every planted answer of the %s corpus is exact at %s messages, fresh, rewritten and merged',
  async (corpus, messages) => {
    const lines: Array<Record<string, unknown>> = []
    const flags: Record<string, string> = { corpus, messages, runs: '1' }
    await run({
      text: (name) => flags[name],
      number: (name, otherwise) => Number(flags[name] ?? otherwise),
      has: () => false,
      positional: [],
      emit: (line) => lines.push(line),
      readme: () => {},
    })
    const measured = new Set(lines.map((line) => line.shape))
    for (const shape of SHAPES) expect(measured).toContain(shape.name)
    const last = lines.filter((line) => line.state === 'merged' && line.segments !== undefined)
    expect(new Set(last.map((line) => line.segments))).toEqual(new Set([1]))
  },
  120_000,
)
