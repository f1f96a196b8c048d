import fs from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Compiler } from '../../src/index/compile.js'
import { LEAF_LIMITS } from '../../src/index/leaves.js'
import { parseQuery } from '../../src/index/query.js'
import { Searcher, type SearchOptions } from '../../src/index/search.js'
import { Similar } from '../../src/index/similar.js'
import { Vocabulary } from '../../src/index/terms.js'
import { plant, type PlantedVault } from './planted.js'

let vault: PlantedVault
let db: Database.Database
let extracts: Database.Database
let searcher: Searcher
let statements: string[] = []
/** Whether it was run or not. */
const prepared = new Set<string>()

beforeAll(() => {
  const letters = Array.from({ length: 300 }, (_, n) => ({
    subject: n % 3 === 0 ? 'budget' : `word${n}`,
    from: `anna${n % 7} <anna${n % 7}@north.example>`,
    body: n % 2 === 0 ? `meeting abx${n} 東京` : 'plan',
    flags: n % 5 === 0 ? 0 : 1,
    size: n * 1_000,
    attachments: n % 10 === 0 ? [{ name: `file${n}.pdf`, pages: ['warranty of the budget'] }] : [],
  }))
  vault = plant(letters)
  const log = (sql: unknown): unknown => statements.push(String(sql))
  db = new Database(join(vault.directory, 'index.db'), { readonly: true, verbose: log })
  extracts = new Database(join(vault.directory, 'extracts.db'), { readonly: true })
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    prepared.add(sql)
    return prepare(sql)
  }) as typeof db.prepare
  searcher = new Searcher({ index: db, extracts })
})
afterAll(() => {
  db.close()
  extracts.close()
  vault.close()
})

/** Statements that a search runs, their values in place. */
async function run(query: string, options: SearchOptions): Promise<string[]> {
  statements = []
  await searcher.search(query, { limit: 500, ...options })
  const read = [...new Set(statements)].filter((sql) => /^\s*(SELECT|WITH)/i.test(sql))
  expect(read.length).toBeGreaterThan(0)
  return read
}

function expectPlan(sql: string): void {
  // a plan is made for statements, not for values: a search's own text has its values in place, the rest has none
  const places = [...sql.matchAll(/\?(\d*)/g)].map(([, place]) => place as string)
  const isNumbered = places.some((place) => place !== '')
  const unbound = isNumbered
    ? [Object.fromEntries(places.map((place) => [place, null]))]
    : places.map(() => null)
  const plan = db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...(prepared.has(sql) ? unbound : [])) as Array<{ detail: string }>
  for (const { detail } of plan) {
    const shown = `${detail}\n${sql}`
    expect(shown).not.toMatch(/^CORRELATED/)
    // a word is asked by MATCH (M…) in every use of the word table, with row id limits where there are any
    if (/^SCAN (words|term_gram|g) /.test(detail))
      expect(shown).toMatch(/VIRTUAL TABLE INDEX \d+:.*M\d/)
    // small tables and lists of the query itself may be read whole, and an index up to a cap
    else if (/^SCAN /.test(detail)) {
      expect(shown).toMatch(
        /^SCAN (folder|tally|message USING INDEX[^]*LIMIT (?:30000|4096)|json_each|CONSTANT ROW|\(subquery|t\b|gram_count|meta|(found|near)$)/m,
      )
    }
    // sorting: terms of one word, sizes (at most some ten thousand, counted before), never messages by date
    if (/TEMP B-TREE/.test(detail)) expect(sql).toMatch(/FROM term|\) t\b|message_size|thread IN/)
  }
}

const QUERIES: ReadonlyArray<[string, SearchOptions]> = [
  ['', {}],
  ['budget', {}],
  ['budget meeting', {}],
  ['"budget"', {}],
  ['bud*', {}],
  ['abx', {}],
  ['abx budget', {}],
  ['ab', {}],
  ['a', {}],
  ['budget -meeting', {}],
  ['-budget', {}],
  ['budget OR plan', {}],
  ['from:anna1 budget', {}],
  ['attachment:warranty', {}],
  ['東京', {}],
  ['京', {}],
  ['is:unread', {}],
  ['is:unread budget', {}],
  ['(is:unread OR is:flagged) budget', {}],
  ['is:unread OR budget', {}],
  ['in:inbox', {}],
  ['in:inbox budget', {}],
  ['larger:200k', {}],
  ['larger:200k budget', {}],
  ['on:2020', {}],
  ['on:2020 budget', {}],
  ['has:attachment', {}],
  ['type:pdf budget', {}],
  ['thread:1@planted.example', {}],
  ['buget', {}],
  ['budget', { sort: 'relevance' }],
  ['budget', { by: 'thread' }],
  ['budget', { by: 'document' }],
  ['budget', { after: '1577840000' }],
]

test.each(QUERIES)('%s %j reads through an index and sorts no matches', async (query, options) => {
  for (const sql of await run(query, options)) expectPlan(sql)
})

test('every statement that a search prepares reads through an index, also those that only a large one runs', async () => {
  for (const [query, options] of QUERIES) await run(query, options)
  const read = [...prepared].filter((sql) => !sql.startsWith('EXPLAIN'))
  expect(read.length).toBeGreaterThan(30)
  for (const sql of read) expectPlan(sql)
})

test('a search opens no file and reads no kept text, but for its excerpts', async () => {
  const opened = [
    vi.spyOn(fs, 'openSync'),
    vi.spyOn(fs, 'readFileSync'),
    vi.spyOn(fs, 'open'),
    vi.spyOn(fs.promises, 'readFile'),
  ]
  try {
    for (const [query, options] of QUERIES) {
      if (options.by === 'document') continue
      statements = []
      await searcher.search(query, { limit: 500, ...options })
      expect(statements.filter((sql) => /\b(body|content_text)\b\s+WHERE/.test(sql))).toEqual([])
    }
    for (const spy of opened) expect(spy).not.toHaveBeenCalled()
  } finally {
    for (const spy of opened) spy.mockRestore()
  }
})

test('the number of statements does not grow with the hits', async () => {
  const count = async (limit: number): Promise<number> => {
    statements = []
    await searcher.search('meeting', { limit })
    return statements.length
  }
  expect(await count(150)).toBeLessThanOrEqual((await count(60)) + 1)
})

test('a phrase of misspelled words is asked for in a bounded number of ways', () => {
  const closeness = { similar: new Similar(db), found: new Map(), isForAll: false }
  const compiler = new Compiler(db, new Vocabulary(db), closeness)
  const [leaf] = compiler.compile(parseQuery(Array(9).fill('abx1q').join('-')).tree).leaves
  expect(leaf?.phrases).toHaveLength(LEAF_LIMITS.phrases)
  expect(leaf?.isCut).toBe(true)
})

test('a word that is typed many times is looked up once', async () => {
  const count = async (query: string): Promise<number> => {
    statements = []
    await searcher.search(query, { limit: 5 })
    return statements.length
  }
  expect(await count('abx OR '.repeat(40) + 'abx')).toBe(await count('abx'))
})
