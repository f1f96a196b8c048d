/**
 * Strings that other projects' own tests demand of their documents, where a naive reader finds them too. Skipped where the
 * folder of real files is not there. White space does not count; what is not found has its reason in test/explained-*.md.
 */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../src/extract/read.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import { CORPUS, EXPECTED } from './corpus.js'

interface Row {
  document: string
  kind: string
  strings: string[]
}

const rows: Row[] = (existsSync(EXPECTED) ? readFileSync(EXPECTED, 'utf8').split('\n') : [])
  .map((line) => line.split('\t'))
  .filter(
    ([, , , found]) => found === 'yes' || found === 'partly' || /^\d+\/\d+$/.test(found ?? ''),
  )
  .filter(([document = '']) => existsSync(`${CORPUS}/${document}`))
  .map(([document = '', kind = '', truth = '']) => ({
    document,
    kind,
    strings: JSON.parse(truth) as string[],
  }))

const explained = ['explained-formats.md', 'explained-office.md']
  .map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))
  .join('\n')

const squeezed = (text: string): string => text.normalize('NFKC').replace(/\s+/g, '')

describe.skipIf(rows.length === 0)('finds what other tests demand of', () => {
  test.each(rows)('$document ($kind)', async ({ document, kind, strings }) => {
    const { outcome } = await readDocument(
      { bytes: new Uint8Array(readFileSync(`${CORPUS}/${document}`)), name: document },
      { limits: DEFAULT_LIMITS, ocr: false, passwords: [] },
      'text',
    )
    const text = outcome.kind === 'text' ? outcome.pages.map((page) => page.text).join('\n') : ''
    const missing = strings.filter((string) => !squeezed(text).includes(squeezed(string)))
    // One of them is enough there.
    if (kind.endsWith('_any') && missing.length < strings.length) return
    const name = document.split('/').at(-1)!
    if (missing.length > 0 && !explained.includes(name)) expect(missing).toEqual([])
  })
})
