import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { COLUMNS, type FoldedColumns } from '../../src/fold/columns.js'
import { HEAVY } from '../../src/index/compile.js'
import { FIELD_MASKS } from '../../src/index/matched.js'
import { MATCHED_FIELDS, type MatchedField } from '../../src/index/hits.js'
import type { Hit } from '../../src/index/hits.js'
import type { Searcher } from '../../src/index/search.js'
import { plant, type Planted, type PlantedVault } from './planted.js'

const TERMS = 150
expect(TERMS).toBeGreaterThan(HEAVY)

let vault: PlantedVault | undefined
afterEach(() => {
  vault?.close()
  vault = undefined
})

const word = fc.oneof(
  fc.nat(TERMS - 1).map((n) => `abx${n}`),
  fc.constantFrom('zed', 'Übersicht', 'abxé', 'INV-2023-abx7', '東京'),
)
const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '))
const message: fc.Arbitrary<Planted> = fc.record({
  subject: text,
  from: text,
  to: text,
  cc: text,
  body: text,
  attachments: fc.array(
    fc.record({
      name: fc.constantFrom('abx3.pdf', 'plan.pdf'),
      pages: fc.array(text, { minLength: 1, maxLength: 2 }),
    }),
    { maxLength: 1 },
  ),
  flags: fc.nat(1),
})

/** Columns of a message that hold a word with `abx` inside. */
function columnsWith(columns: FoldedColumns, part: string): number {
  return COLUMNS.reduce(
    (mask, column, i) =>
      columns[column]
        .split(' ')
        .some((token) => !/^[\ue000-\uf8ff]/.test(token) && token.includes(part))
        ? mask | (1 << i)
        : mask,
    0,
  )
}

async function pages(searcher: Searcher, query: string): Promise<Hit[]> {
  const hits: Hit[] = []
  let after: string | undefined
  do {
    const page = await searcher.search(query, { limit: 3, ...(after && { after }) })
    hits.push(...page.hits)
    after = page.next
  } while (after !== undefined)
  return hits
}

test('a word that stands for very many terms finds what a scan finds, page by page, with the same fields', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 40 }), async (messages) => {
      // every term stands somewhere, so that the word is heavy
      const all = Array.from({ length: TERMS }, (_, n) => `abx${n}`).join(' ')
      vault = plant([{ body: all, date: '2019-01-01T00:00:00' }, ...messages])
      const searcher = vault.searcher()
      const [, ...columns] = vault.columns
      const [first, ...ids] = vault.ids as [number, ...number[]]
      const naive = ids.map((id, i) => ({
        id,
        abx: columnsWith(columns[i] as FoldedColumns, 'abx'),
        zed: columnsWith(columns[i] as FoldedColumns, 'zed'),
        unread: messages[i]?.flags === 0,
      }))
      const expectHits = async (
        query: string,
        test: (one: (typeof naive)[number]) => boolean,
        mask: (one: (typeof naive)[number]) => number,
        hasFirst: boolean,
      ): Promise<void> => {
        const expected = naive.filter(test).sort((a, b) => b.id - a.id)
        const hits = await pages(searcher, query)
        expect(hits.map(({ id }) => id)).toEqual([
          ...expected.map(({ id }) => id),
          ...(hasFirst ? [first] : []),
        ])
        for (const [i, one] of expected.entries()) {
          const fields: MatchedField[] = MATCHED_FIELDS.filter(
            (field) => mask(one) & FIELD_MASKS[field],
          )
          expect(hits[i]?.matched).toEqual(fields)
        }
      }
      await expectHits(
        'abx',
        ({ abx }) => abx > 0,
        ({ abx }) => abx,
        true,
      )
      await expectHits(
        'abx zed',
        ({ abx, zed }) => abx > 0 && zed > 0,
        ({ abx, zed }) => abx | zed,
        false,
      )
      await expectHits(
        'abx OR zed',
        ({ abx, zed }) => (abx | zed) > 0,
        ({ abx, zed }) => abx | zed,
        true,
      )
      await expectHits(
        'abx -zed',
        ({ abx, zed }) => abx > 0 && zed === 0,
        ({ abx }) => abx,
        true,
      )
      await expectHits(
        'zed -abx',
        ({ abx, zed }) => abx === 0 && zed > 0,
        ({ zed }) => zed,
        false,
      )
      await expectHits(
        'abx is:unread',
        ({ abx, unread }) => abx > 0 && unread,
        ({ abx }) => abx,
        true,
      )
      vault.close()
      vault = undefined
    }),
    { numRuns: 15 },
  )
}, 120_000)

test('identifiers by the thousand: a part is complete where it fits, cut and said so where it does not', async () => {
  // 3,000 terms, a hundred in each message
  const two = (n: number): string => String(n).padStart(2, '0')
  vault = plant(
    Array.from({ length: 30 }, (_, n) => ({
      body: Array.from({ length: 100 }, (_, i) => `ident0${two(n)}${two(i)}`).join(' '),
    })),
  )
  const { ids } = vault
  const searcher = vault.searcher()
  const found = async (query: string): Promise<[number[], boolean]> => {
    const { hits, cut } = await searcher.search(query, { limit: 100 })
    return [hits.map(({ id }) => ids.indexOf(id)), cut.length > 0]
  }
  for (const query of ['ident012', 'ident012*', 'dent012', 'ident01234', 'ident01234*', 't01234'])
    expect([query, await found(query)]).toEqual([query, [[12], false]])
  for (const query of ['ident', 'ident*', 'iden', 'iden*', 'dent', 'ident0', 'id*', 'i*', 'den']) {
    const [hits, isCut] = await found(query)
    expect([query, hits.length > 0, isCut]).toEqual([query, true, true])
  }
  expect(await found('ident0ab*')).toEqual([[], false])
})
