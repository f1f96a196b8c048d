/** Words and conditions that stand unevenly over the years: what was expected of a share of the rows is wrong. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hit } from '../../src/index/hits.js'
import { FLAGS } from '../../src/part/reference.js'
import { plant, type Planted, type PlantedVault } from './planted.js'

const MESSAGES = 1_200
const isOld = (n: number): boolean => n < 500
const is = {
  budget: (n: number) => (isOld(n) ? n % 4 === 0 : n % 97 === 0),
  plan: (n: number) => n % 3 === 0,
  unread: (n: number) => (isOld(n) ? n % 7 < 2 : n % 2 === 0),
  flagged: (n: number) => !isOld(n) || n % 50 === 0,
  large: (n: number) => n % 9 === 4,
  archived: (n: number) => n % 5 < 3,
  amount: (n: number) => n % 6 === 1,
  longer: (n: number) => n === 300,
  tokyo: (n: number) => n % 8 === 3,
  paper: (n: number) => n % 40 === 3 || n % 40 === 5,
}

function message(n: number): Planted {
  const words = [
    is.budget(n) && 'budget',
    is.plan(n) && 'plan',
    is.amount(n) && 'over 1,234.50 euros',
    is.longer(n) && 'over 91234.50 euros',
    is.tokyo(n) && '東京の請求書',
  ]
  return {
    body: words.filter(Boolean).join(' '),
    flags: (is.unread(n) ? 0 : FLAGS.seen) | (is.flagged(n) ? FLAGS.flagged : 0),
    size: is.large(n) ? 6_000_000 + n : 5_000,
    folder: is.archived(n) ? 'Archive' : 'INBOX',
    ...(n % 4 === 3 && {
      attachments: [{ name: 'a.txt', pages: ['東京のことは請求していません'] }],
    }),
    ...(is.paper(n) && { attachments: [{ name: 'a.txt', pages: ['これは東京の請求書です'] }] }),
  }
}

let vault: PlantedVault
beforeAll(() => {
  vault = plant(Array.from({ length: MESSAGES }, (_, n) => message(n)))
})
afterAll(() => vault.close())

async function pages(query: string, limit: number): Promise<Hit[]> {
  const searcher = vault.searcher()
  const hits: Hit[] = []
  let after: string | undefined
  do {
    const page = await searcher.search(query, { limit, ...(after && { after }) })
    expect(page.hits.length).toBeLessThanOrEqual(limit)
    hits.push(...page.hits)
    after = page.next
  } while (after !== undefined)
  return hits
}

test.each<[string, (n: number) => boolean]>([
  ['is:unread budget', (n) => is.unread(n) && is.budget(n)],
  ['is:flagged budget', (n) => is.flagged(n) && is.budget(n)],
  ['in:archive budget', (n) => is.archived(n) && is.budget(n)],
  ['larger:5M budget', (n) => is.large(n) && is.budget(n)],
  ['larger:5M is:unread budget', (n) => is.large(n) && is.unread(n) && is.budget(n)],
  ['is:unread budget -plan', (n) => is.unread(n) && is.budget(n) && !is.plan(n)],
  ['is:unread (budget OR is:flagged)', (n) => is.unread(n) && (is.budget(n) || is.flagged(n))],
  ['is:unread 請求書', (n) => is.unread(n) && (is.tokyo(n) || is.paper(n))],
  ['is:unread nothing', () => false],
  ['1234.50', (n) => is.amount(n) || is.longer(n)],
])('%s', async (query, matches) => {
  const expected = vault.ids.filter((_, n) => matches(n)).reverse()
  for (const limit of [7, 40, 2_000])
    expect((await pages(query, limit)).map(({ id }) => id)).toEqual(expected)
})

test('a phrase of pairs is told from its pairs, in body and attachments', async () => {
  const of = new Map(vault.ids.map((id, n) => [id, n]))
  const hits = await pages('東京の請求書', 50)
  expect(hits.length).toBeGreaterThan(100)
  for (const { id, matched } of hits) {
    const n = of.get(id) as number
    expect([n, matched]).toEqual([
      n,
      [is.tokyo(n) && 'body', is.paper(n) && 'attachments'].filter(Boolean),
    ])
  }
})
