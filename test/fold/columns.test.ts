import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  COLUMNS,
  foldAttachments,
  foldColumns,
  foldFiles,
  foldPeople,
  withTerms,
  wordsLost,
} from '../../src/fold/columns.js'
import { foldText } from '../../src/fold/fold.js'
import { HAS_ATTACHMENT, LABEL, SEPARATOR, TYPE } from '../../src/fold/marks.js'

const shown = (folded: string): string =>
  folded
    .replaceAll(SEPARATOR, '|')
    .replaceAll(TYPE, 'type:')
    .replaceAll(HAS_ATTACHMENT, 'has')
    .replaceAll(LABEL, 'in:')

test('people are kept apart', () => {
  const people = [
    { name: 'Lee, Ann', address: 'ann@example.org' },
    { name: '', address: 'bo@example.org' },
    { name: 'Undisclosed', address: '' },
  ]
  expect(shown(foldPeople(people))).toBe('lee ann ann example org | bo example org | undisclosed')
})

test('files have their names, kinds and endings', () => {
  const files = [
    {
      name: 'Budget 2024.xlsx',
      type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    },
    { name: '', type: 'application/pdf' },
  ]
  const tokens = shown(foldFiles(files, ['Work/Projects', 'inbox'])).split(' ')
  for (const token of ['budget', '2024', 'xlsx', 'has', 'type:xlsx', 'type:pdf'])
    expect(tokens).toContain(token)
  expect(tokens.filter((token) => token.startsWith('in:'))).toHaveLength(2)
  expect(foldFiles([], [])).toBe('')
})

test('pages and attachments are kept apart, and the whole is capped', () => {
  const two = [[{ text: 'one two' }, { text: 'three' }], [{ text: 'four' }]]
  expect(shown(foldAttachments(two, 100))).toBe('one two | three | four')
  expect(shown(foldAttachments(two, 10))).toBe('one two | thr')
})

test('a body is capped like the attachments', () => {
  const input = { subject: '', from: [], to: [], cc: [], files: [], labels: [], attachments: [] }
  expect(foldColumns({ ...input, body: 'one two three' }, 7).body).toBe('one two')
})

describe('the word table', () => {
  const db = new Database(':memory:')
  db.exec(`CREATE VIRTUAL TABLE words USING fts5(${COLUMNS.join(', ')}, tokenize = 'ascii');
    CREATE VIRTUAL TABLE seen USING fts5vocab(words, instance)`)
  const insert = db.prepare('INSERT INTO words (rowid, body) VALUES (1, ?)')
  const seen = db.prepare('SELECT term FROM seen ORDER BY offset').pluck()

  test('sees the tokens that folding made, no more and no others, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 80 }),
          fc.string({ unit: 'grapheme', maxLength: 80 }),
          fc.constantFrom('INV-1, 1,234.50 日本語 ﬁn น้ำ', 'a\0b\ud800', '𠮷野家'),
        ),
        (text) => {
          const folded = foldText(text)
          db.exec('DELETE FROM words')
          insert.run(folded)
          expect(seen.all()).toEqual(folded === '' ? [] : folded.split(' '))
        },
      ),
      { numRuns: 1500 },
    )
  })
})

test('distinct words of a column are capped; those that were there before the cap still count', () => {
  expect(withTerms('a b c a d b e', 3)).toBe('a b c a b')
  expect(withTerms('a b c a d b e', 5)).toBe('a b c a d b e')
  const flood = Array.from({ length: 500_000 }, (_, i) => `n${i}`).join(' ')
  const attachments = [[{ text: flood }], [{ text: 'n7 afterwards' }]]
  const tokens = foldAttachments(attachments, 10_000_000).split(' ')
  expect(new Set(tokens).size).toBe(400_000)
  expect(tokens.at(-1)).toBe('n7')
  const none = { subject: '', from: [], to: [], cc: [], body: '', files: [], labels: [] }
  const columns = foldColumns({ ...none, attachments }, 10_000_000)
  expect(wordsLost(columns)).toEqual([
    '400,000 distinct words of its attachments are indexed; others that come later are not',
  ])
  expect(wordsLost({ ...columns, attachments: 'a b a b' }, 2)).toHaveLength(1)
  expect(wordsLost({ ...columns, attachments: 'a b a b' }, 3)).toEqual([])
})
