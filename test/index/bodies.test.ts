/** Kept bodies: the rows they lie in, and the dictionary they are packed with. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dictionaryOf, packBody } from '../../src/fold/texts.js'
import { BodyReader } from '../../src/index/bodies.js'
import { openForReading } from '../../src/index/read-files.js'
import { Searcher } from '../../src/index/search.js'
import { openStore, type Store } from '../../src/index/store.js'
import { letter } from './letters.js'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'paperknife-bodies-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const open = (): Store => openStore({ directory, messageChars: 1_000_000 })
/** Words that hardly shrink. */
const noise = (n: number, words: number): string =>
  Array.from({ length: words }, (_, i) => ((n * 7_919 + i * 104_729) ** 2).toString(36)).join(' ')

function bodyOf(id: number): string {
  const { index, close } = openForReading(directory)
  try {
    return [...new BodyReader(index).blocks(id)].join('')
  } finally {
    close()
  }
}

const inIndex = <Result>(use: (db: Database.Database) => Result): Result => {
  const db = new Database(join(directory, 'index.db'))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

/** Messages enough for a dictionary, each with the words all have and one of its own. */
function fillUp(store: Store): number[] {
  const ids: number[] = []
  for (let batch = 0; batch < 11; batch++)
    ids.push(
      ...store.messages.add(
        Array.from({ length: 100 }, (_, i) =>
          letter({
            body: `gemeinsames wortgut überall, only${batch * 100 + i} aside ${noise(i, 5)}`,
          }),
        ),
      ),
    )
  return ids
}

test('a body comes back whatever its length, and leaves no row when its message goes', () => {
  const store = open()
  const bodies = ['', 'short', ...[60, 300, 700, 1_000, 9_000].map((words) => noise(1, words))]
  // One whose block is exactly a row, and one more byte.
  let exact = noise(3, 80)
  while (packBody(exact)[0]?.length !== 512) exact = exact.slice(0, -1)
  bodies.push(exact, ...['a', 'bc', 'def'].map((more) => exact + more))
  const ids = store.messages.add(bodies.map((body) => letter({ body })))
  ids.forEach((id, n) => expect(bodyOf(id)).toBe(bodies[n]))
  const rowsOf = (id: number): number[] =>
    inIndex((db) =>
      db
        .prepare('SELECT length(text) FROM body WHERE id / 8192 = CAST(? AS INTEGER) ORDER BY id')
        .pluck()
        .all(id),
    ) as number[]
  const single = ids.filter((_, n) => packBody(bodies[n] as string).length === 1)
  expect(single.length).toBeGreaterThan(6)
  for (const id of single) expect(rowsOf(id).every((length) => length <= 512)).toBe(true)
  expect(rowsOf(ids.at(-4) as number)).toEqual([512])
  expect(rowsOf(ids[6] as number).some((length) => length > 512)).toBe(true)
  store.messages.remove(ids)
  expect(inIndex((db) => db.prepare('SELECT count(*) FROM body').pluck().get())).toBe(0)
  store.close()
})

test('a body in one row, as earlier versions wrote it, is read', () => {
  const store = open()
  const old = noise(5, 200)
  const [id] = store.messages.add([letter({ body: '' })]) as [number]
  store.close()
  const [block] = packBody(old) as [Uint8Array]
  expect(block.length).toBeGreaterThan(512)
  inIndex((db) => db.prepare('INSERT INTO body VALUES (?, ?)').run(id * 8192, block))
  expect(bodyOf(id)).toBe(old)
})

describe('a dictionary', () => {
  test('is made of words of many messages once there are a thousand, and serves whoever writes', () => {
    const store = open()
    store.messages.add(Array.from({ length: 60 }, () => letter({ body: 'gemeinsames wortgut' })))
    expect(store.messages.dictionary).toBeUndefined()
    fillUp(store)
    const { dictionary } = store.messages
    const words = Buffer.from(dictionary?.words ?? []).toString()
    expect(words).toContain(' gemeinsames ')
    expect(words).not.toMatch(/only\d/)
    const body = 'Gemeinsames wortgut und gemeinsames mehr'
    const packed = packBody(body, dictionary)
    expect(dictionaryOf(packed[0] as Uint8Array)).toBe(dictionary?.number)
    expect(packed[0]?.length).toBeLessThan((packBody(body)[0] as Uint8Array).length)
    const [id] = store.messages.add([{ ...letter({ body }), body: packed }]) as [number]
    store.close()
    expect(bodyOf(id)).toBe(body)
    const again = open()
    expect(again.messages.dictionary).toEqual(dictionary)
    again.close()
  })

  test('that is lost makes the index a damaged one, which the next writer begins afresh', async () => {
    const store = open()
    fillUp(store)
    const body = `zanzibar gemeinsames wortgut ${noise(9, 100)}`
    store.messages.add([{ ...letter({ body }), body: packBody(body, store.messages.dictionary) }])
    store.close()
    inIndex((db) => db.exec('DELETE FROM dictionary'))
    const files = openForReading(directory)
    const searcher = new Searcher(files)
    const { hits } = await searcher.search('zanzibar', {})
    expect(hits).toHaveLength(1)
    await expect((async () => searcher.excerpts(hits))()).rejects.toMatchObject({
      code: 'E_INDEX_DAMAGED',
    })
    files.close()
    const next = open()
    expect(next.opened).toMatchObject({ isNewIndex: true })
    expect(next.opened.setAside).toHaveLength(1)
    next.close()
  })

  test('loses its words when they stand nowhere any more and the index is purged', () => {
    const store = open()
    const ids = fillUp(store)
    const { dictionary } = store.messages
    const body = 'something else altogether'
    const [kept] = store.messages.add([
      { ...letter({ body }), body: packBody(body, dictionary) },
    ]) as [number]
    const held = (): boolean =>
      ['index.db', 'index.db-wal'].some((name) =>
        readFileSync(join(directory, name)).includes('gemeinsames'),
      )
    expect(held()).toBe(true)
    store.idle.purge()
    expect(store.messages.dictionary).toEqual(dictionary)
    store.messages.remove(ids)
    store.idle.purge()
    expect(store.messages.dictionary).toBeUndefined()
    expect(held()).toBe(false)
    expect(bodyOf(kept)).toBe(body)
    // One that a thread had packed meanwhile.
    const [late] = store.messages.add([
      { ...letter({ body }), body: packBody(body, dictionary) },
    ]) as [number]
    expect(bodyOf(late)).toBe(body)
    fillUp(store)
    // Another one has another number: no body can be read with the wrong words.
    expect(store.messages.dictionary?.number).toBe((dictionary?.number ?? 0) + 1)
    store.close()
  })
})
