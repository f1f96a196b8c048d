import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openForReading } from '../../src/index/read-files.js'
import { segments, WORD_TABLES, type WordTable } from '../../src/index/merging.js'
import type { Store } from '../../src/index/store.js'
import { folder, letter, matches, open, rows } from './letters.js'

const segmentsOf = (directory: string, table: WordTable): number => {
  const files = openForReading(directory)
  try {
    return segments(files.index, table)
  } finally {
    files.close()
  }
}

/** Forty words of 4,000, far apart in the alphabet, and one of its own. */
const words = (n: number): string =>
  [...Array.from({ length: 40 }, (_, i) => `word${(n * 7 + i * 101) % 4_000}`), `own${n}`].join(' ')

const filled = (directory: string, messages: number): Store => {
  const store = open(directory)
  for (let from = 0; from < messages; from += 500)
    store.messages.add(
      Array.from({ length: Math.min(500, messages - from) }, (_, n) =>
        letter({ date: 1_000_000 + (from + n) * 60, body: words(from + n) }),
      ),
    )
  while (store.idle.step());
  return store
}

const deliver = (store: Store, count: number, first = 0): void => {
  for (let n = first; n < first + count; n++)
    store.messages.add([
      letter({ date: 900_000_000 + n * 60, body: `delivered ${words(1e6 + n)}` }),
    ])
}

test('a delivery writes no more pages into a large index than into a small one', () => {
  const pages = [100, 6_000].map((messages) => {
    const directory = folder()
    const store = filled(directory, messages)
    // The words that this process has not met since it opened the index are looked up once.
    deliver(store, 20)
    store.checkpoint()
    deliver(store, 100, 20)
    const { size } = statSync(join(directory, 'index.db-wal'))
    store.close()
    return size / 8_192 / 100
  }) as [number, number]
  expect(pages[0]).toBeGreaterThan(5)
  expect(pages[1]).toBeLessThan(pages[0] * 1.5)
})

test('after the index was opened, a delivery writes only the words that are new', () => {
  const directory = folder()
  filled(directory, 2_000).close()
  const store = open(directory)
  deliver(store, 1)
  expect(
    rows(directory, 'index', 'SELECT text FROM term WHERE newest >= 900000000 ORDER BY text'),
  ).toEqual([{ text: 'delivered' }, { text: 'own1000000' }])
  store.close()
})

test('2,000 deliveries without a pause leave few segments, and idle steps join them', () => {
  const directory = folder()
  const store = filled(directory, 100)
  for (let n = 0; n < 2_000; n += 500) {
    deliver(store, 500, n)
    for (const table of WORD_TABLES)
      expect([table, segmentsOf(directory, table) <= 40]).toEqual([table, true])
  }
  while (store.idle.step());
  for (const table of WORD_TABLES) expect([table, segmentsOf(directory, table)]).toEqual([table, 1])
  expect(matches(directory, 'delivered')).toHaveLength(2_000)
  store.close()
})

test('what a few deliveries left is joined without writing the whole index again', () => {
  const directory = folder()
  const store = filled(directory, 4_000)
  deliver(store, 60)
  const before = segmentsOf(directory, 'words')
  store.checkpoint()
  let steps = 0
  while (store.idle.step()) steps++
  expect(before).toBeGreaterThan(6)
  expect(segmentsOf(directory, 'words')).toBeLessThanOrEqual(6)
  expect(steps).toBeLessThan(10)
  expect(matches(directory, 'delivered')).toHaveLength(60)
  store.close()
})
