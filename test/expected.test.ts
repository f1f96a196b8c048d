/**
 * Strings that other projects' own tests demand of their documents, where a naive reader finds them too. Skipped where the
 * folder of real files is not there. White space does not count. What is not found has its reason in test/explained-strings.tsv:
 * document, which of its rows (from 1), which strings of that row (from 0). A reason that is no longer needed fails as well.
 */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../src/extract/read.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import { CORPUS, EXPECTED } from './corpus.js'

interface Row {
  document: string
  kind: string
  /** Which row of the document, from 1. */
  nth: number
  strings: string[]
}

const seen = new Map<string, number>()
const rows: Row[] = (existsSync(EXPECTED) ? readFileSync(EXPECTED, 'utf8').split('\n') : [])
  .map((line) => line.split('\t'))
  .filter(
    ([, , , found]) => found === 'yes' || found === 'partly' || /^\d+\/\d+$/.test(found ?? ''),
  )
  .filter(([document = '']) => existsSync(`${CORPUS}/${document}`))
  .map(([document = '', kind = '', truth = '']) => {
    const nth = (seen.get(document) ?? 0) + 1
    seen.set(document, nth)
    return { document, kind, nth, strings: JSON.parse(truth) as string[] }
  })

/** Places of the strings that are not in the text, by document and row. */
const explained = new Map(
  readFileSync(new URL('explained-strings.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .map(([document, nth, places = '']) => [`${document} ${nth}`, places.split(',').map(Number)]),
)

const squeezed = (text: string): string => text.normalize('NFKC').replace(/\s+/g, '')

describe.skipIf(rows.length === 0)('finds what other tests demand of', () => {
  test.each(rows)('$document ($kind, row $nth)', async ({ document, kind, nth, strings }) => {
    const { outcome } = await readDocument(
      { bytes: new Uint8Array(readFileSync(`${CORPUS}/${document}`)), name: document },
      { limits: DEFAULT_LIMITS, ocr: false, passwords: [] },
      'text',
    )
    const text = outcome.kind === 'text' ? outcome.pages.map((page) => page.text).join('\n') : ''
    const isFound = strings.map((string) => squeezed(text).includes(squeezed(string)))
    // One of them is enough there.
    const isEnough = kind.endsWith('_any') && isFound.includes(true)
    const missing = isEnough ? [] : isFound.flatMap((found, place) => (found ? [] : [place]))
    expect(
      missing,
      missing.map((place) => strings[place]).join('\n') || 'all are found: the reason can go',
    ).toEqual(explained.get(`${document} ${nth}`) ?? [])
  })

  test('each reason is one for a row that there is', () => {
    const known = new Set(rows.map(({ document, nth }) => `${document} ${nth}`))
    expect([...explained.keys()].filter((key) => !known.has(key))).toEqual([])
  })
})
