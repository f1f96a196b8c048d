import { existsSync, readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'

const place = (path: string): URL => new URL(path, import.meta.url)
const rows = readFileSync(place('known-failures.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number, what, by] = /^\| (\d+) \| (.+?) \| (.+) \|$/.exec(line) ?? []
    return number === undefined ? [] : [{ number: Number(number), what, by: by ?? '' }]
  })

test('each of the sixty-five known failures has its row', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 65 }, (_, n) => n + 1))
})

test.each(rows)('$number is held by what is there: $what', ({ by }) => {
  const named = [...by.matchAll(/`([^`]+)`(?: \(([^)]+)\))?/g)]
  expect(named.length).toBeGreaterThan(0)
  for (const [, path = '', part] of named) {
    expect(existsSync(place(path)) && statSync(place(path)).isFile(), path).toBe(true)
    // A file of many tests is no answer; which of them, is.
    expect(part !== undefined, path).toBe(path.endsWith('.test.ts'))
    if (part) expect(readFileSync(place(path), 'utf8'), path).toContain(part)
    else expect(manifests, path).toContain(`${path.replace(/^fixtures\//, '')}\t`)
  }
})

const manifests = ['formats', 'office', 'pdf', 'text']
  .map((area) => readFileSync(place(`fixtures/${area}.manifest.tsv`), 'utf8'))
  .join('')
