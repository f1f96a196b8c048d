import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Searcher } from '../../src/index/search.js'
import { plant, type PlantedVault } from './planted.js'

let vault: PlantedVault
let searcher: Searcher
beforeAll(() => {
  vault = plant([
    { subject: 'budget meeting', from: 'Anna <anna@north.example>', body: 'a b c d 東京 "quoted"' },
    { subject: 'plan', body: 'Übersicht 1,234.50', attachments: [{ name: 'a.pdf', pages: ['b'] }] },
  ])
  searcher = vault.searcher()
})
afterAll(() => vault.close())

const PIECES = [
  ...[
    '(',
    ')',
    '"',
    '“',
    '-',
    '*',
    ':',
    ' ',
    '\u0000',
    '\ud800',
    "'",
    '\\',
    ';',
    '%',
    '{',
    '}',
    '^',
    '+',
    ',',
    '||',
  ],
  ...[
    'OR',
    'AND',
    'NOT',
    'NEAR',
    'NEAR(a b, 2)',
    'rowid',
    'words',
    'from:',
    'subject:',
    'in:',
    'is:unread',
    'thread:1',
  ],
  ...[
    'before:2014',
    'on:2014',
    'larger:5M',
    'type:',
    'has:attachment',
    'budget',
    'a',
    'ab',
    '東京',
    '京',
    '1,234.50',
    'ﬁ',
  ],
]

test('no text is an error of a search', async () => {
  const typed = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join('')),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join(' ')),
  )
  await fc.assert(
    fc.asyncProperty(typed, fc.constantFrom('newest', 'relevance'), async (text, sort) => {
      const { hits } = await searcher.search(text, { sort: sort as 'newest', countAll: true })
      expect(hits.length).toBeLessThanOrEqual(2)
      await searcher.excerpts(hits)
    }),
    { numRuns: 300 },
  )
}, 60_000)

const nest = (depth: number, open: (level: number) => string): string =>
  Array.from({ length: depth }, (_, level) => open(level)).join('') + 'budget' + ')'.repeat(depth)

test.each([
  ['parentheses', '('.repeat(5_000)],
  ['nested AND', nest(200, (level) => `w${level} (`)],
  ['nested AND and OR', nest(200, (level) => (level % 2 ? `a (` : `b OR (`))],
  ['nested NOT', nest(200, (level) => `a${level} -(b${level} OR `)],
  ['nested NOT and AND', nest(24, (level) => `budget -(x${level} `)],
  ['a chain of NOT', `budget ${Array.from({ length: 400 }, (_, i) => `-x${i}`).join(' ')}`],
  ['a chain of OR', Array.from({ length: 400 }, (_, i) => `x${i}`).join(' OR ')],
  ['a chain of AND', Array.from({ length: 400 }, () => 'budget').join(' ')],
  ['a long word', 'a'.repeat(100_000)],
  ['a long phrase', `"${'budget '.repeat(20_000)}"`],
  ['many quotes', '"'.repeat(10_001)],
  ['many fields', 'from:'.repeat(3_000)],
])('%s is no error either', async (_, typed) => {
  await expect(searcher.search(typed, { countAll: true })).resolves.toBeDefined()
})

test('a word that no index holds is left out with a notice', async () => {
  const { hits, cut } = await searcher.search(`budget ${'x'.repeat(65)}`)
  expect(hits.length).toBeGreaterThan(0)
  expect(cut).toHaveLength(1)
  expect(cut[0]).toContain(`“${'x'.repeat(60)}…” was left out`)
})
