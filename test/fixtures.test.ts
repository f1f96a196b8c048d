/**
 * Every fixture is read by the one way in and compared with the text written beside it, pages joined by
 * form feeds. `UPDATE=1 npx vitest run test/fixtures.test.ts` rewrites the texts; the diff is the review.
 *
 * The manifests (test/fixtures/<area>.manifest.tsv) have a row for each: `fixture` (path below test/fixtures), `lane` (`text`, or
 * `ocr` when pixels must be read), `expect` (`ok`, `ok cut:<limit>`, `ok empty:<reason>`, `ok partial`,
 * or the declined state), who made it, and why it exists.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../src/extract/read.js'
import { EXTRACTORS } from '../src/extract/table.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import { LANES, type Lane } from '../src/part/states.js'
import type { Outcome } from '../src/part/outcome.js'
import type { ReadSettings } from '../src/part/settings.js'

const FOLDER = fileURLToPath(new URL('fixtures/', import.meta.url))
const COLUMNS = ['fixture', 'lane', 'expect', 'made by', 'why it exists']

const manifests = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.manifest.tsv'))
  .map((name) =>
    readFileSync(join(FOLDER, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t')),
  )
const rows = manifests.flatMap((lines) => lines.slice(1))

const settings: ReadSettings = {
  limits: DEFAULT_LIMITS,
  ocr: { languages: ['eng'], engine: 'wasm' },
  passwords: [],
}

/** `ok cut:cells`, `locked`, … as the manifest writes it. */
function summary(outcome: Outcome): string {
  if (outcome.kind === 'declined') return outcome.state
  return [
    'ok',
    outcome.cutBy && `cut:${outcome.cutBy}`,
    outcome.empty && `empty:${outcome.empty}`,
    outcome.partial && 'partial',
  ]
    .filter(Boolean)
    .join(' ')
}

test('each manifest has its columns, and each row names a file, a lane and a reason', () => {
  for (const [header] of manifests) expect(header).toEqual(COLUMNS)
  for (const row of rows) {
    const [fixture = '', lane, expected, madeBy, why] = row
    expect(row, fixture).toHaveLength(COLUMNS.length)
    expect(existsSync(join(FOLDER, fixture)), `${fixture} is missing`).toBe(true)
    expect(LANES, fixture).toContain(lane)
    for (const cell of [expected, madeBy, why]) expect(cell, fixture).not.toBe('')
  }
  const names = rows.map((row) => row[0])
  expect(names).toHaveLength(new Set(names).size)
})

test('each file with an expected text beside it has a row in the manifest', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => statSync(join(FOLDER, name)).isFile())
  const withText = files.filter((name) => files.includes(`${name}.txt`))
  expect(rows.map((row) => row[0])).toEqual(expect.arrayContaining(withText))
})

/** Names of the extractors that read a fixture of their own. */
const readBy = new Set<string | undefined>()

describe('reads', () => {
  test.each(rows)(
    '%s',
    async (fixture = '', lane = 'text', expected = 'ok') => {
      const file = join(FOLDER, fixture)
      const { outcome, extractor } = await readDocument(
        { bytes: new Uint8Array(readFileSync(file)), name: basename(file) },
        lane === 'ocr' ? settings : { ...settings, ocr: false },
        lane as Lane,
      )
      expect(summary(outcome)).toBe(expected)
      readBy.add(extractor)
      if (outcome.kind === 'declined') return
      // The text beside it fixes order and repetition; its pages are numbered in that order, those of a member by themselves.
      const numbers = outcome.pages.flatMap(({ page, member, aside }) =>
        page === undefined || aside ? [] : [[member ?? '', page] as const],
      )
      for (const [i, [member, page]] of numbers.entries()) {
        const before = numbers.slice(0, i).findLast(([of]) => of === member)
        expect(page, `${fixture}, ${member}`).toBeGreaterThanOrEqual(before?.[1] ?? 1)
        if (member === '' && outcome.pageCount)
          expect(page, fixture).toBeLessThanOrEqual(outcome.pageCount)
      }
      const text = outcome.pages.map((page) => page.text).join('\f')
      if (process.env.UPDATE) writeFileSync(`${file}.txt`, text)
      expect(text).toBe(readFileSync(`${file}.txt`, 'utf8'))
    },
    120_000,
  )
})

test('each extractor reads at least one fixture', ({ skip }) => {
  if (readBy.size === 0) skip('no fixture was read')
  expect(EXTRACTORS.map(({ name }) => name).filter((name) => !readBy.has(name))).toEqual([])
})
