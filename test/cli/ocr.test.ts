/** What OCR does to the pages of a document, as a person sees it: the built program on a small vault. */
import { readFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { document, greyJpeg, paint } from '../../scripts/make/pdf-objects.js'
import { scanJpeg } from '../../scripts/make/picture.js'
import { unpackPages, type StoredPage } from '../../src/fold/texts.js'
import { TEXT_BLOCKS } from '../../src/index/schema.js'
import type { PageReading } from '../../src/part/outcome.js'
import { TestVault } from '../sweep/mailbox.js'

const PAGES = 60
const vault = new TestVault()
afterAll(() => vault.remove())

const LETTERS = 'bdfhkmnprtvz'
/** A word for each page that no other page has and that OCR reads without doubt. */
const word = (page: number): string => `${LETTERS[page % 12]}a${LETTERS[(page / 12) | 0]}olin`

beforeAll(async () => {
  const sheets = await Promise.all(
    Array.from({ length: PAGES }, (_, i) =>
      scanJpeg({
        lines: [`The ${word(i + 1)} sailed`],
        width: 640,
        height: 200,
        size: 28,
        seed: i,
      }),
    ),
  )
  const sixty = document((objects) => ({
    pages: sheets.map((sheet) => ({
      content: paint('S', 0, 0, 200, 80),
      images: { S: greyJpeg(objects, sheet) },
      more: '/MediaBox [0 0 200 80]',
    })),
  }))
  const mixed = readFileSync(new URL('../fixtures/pdf/mixed.pdf', import.meta.url))
  vault.write('cur/1.host:2,S', { subject: 'Log book', attachments: { 'sixty.pdf': sixty } })
  vault.write('cur/2.host:2,S', { subject: 'Papers', attachments: { 'mixed.pdf': mixed } })
})

const paperknife = (...args: string[]): ReturnType<TestVault['command']> => vault.command(args)
const index = (...args: string[]): void => {
  const { status, stderr } = paperknife(
    ...['index', vault.root, '--ocr-engine', 'wasm', '--workers', '1', ...args],
  )
  expect(status, stderr).toBe(0)
}

interface Content {
  id: number
  cut_by: string | null
  pages: number
  ocr_pages: number
}
const content = (db: Database.Database): Content =>
  db
    .prepare('SELECT id, cut_by, pages, ocr_pages FROM content WHERE pages = ?')
    .get(PAGES) as Content

const pagesOf = (db: Database.Database): StoredPage[] =>
  (
    db
      .prepare('SELECT text FROM content_text WHERE id / ? = ? ORDER BY id')
      .pluck()
      .all(TEXT_BLOCKS, content(db).id) as Buffer[]
  ).flatMap((text) => unpackPages(text))

test('of a scan of 60 pages 50 are read, and a raised limit reads ten more and no other', () => {
  index()
  const db = new Database(vault.path('.paperknife/extracts.db'))
  expect(content(db)).toMatchObject({ cut_by: 'ocr-pages', ocr_pages: 50 })
  const numbers = (those: readonly StoredPage[]): unknown[] => those.map(({ page }) => page)
  const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1)
  const read = pagesOf(db)
  expect(numbers(read)).toEqual(upTo(50))
  for (const { page, text } of read) expect(text).toContain(word(page!))
  const [explained] = JSON.parse(
    `[${paperknife('explain', vault.root, 'sixty.pdf', '--json').stdout}]`,
  ) as Array<{ parts: Array<{ cutBy?: string; choices?: PageReading[] }> }>
  expect(explained?.parts[0]?.cutBy).toBe('ocr-pages')
  expect(explained?.parts[0]?.choices?.map(({ page, took }) => took === 'ocr' && page)).toEqual(
    upTo(50),
  )

  // What was read is marked: reading a page again would undo it.
  const blocks = db
    .prepare('SELECT rowid AS id, text FROM content_text WHERE ocr IS NOT NULL')
    .all() as Array<{ id: number; text: Buffer }>
  for (const { id, text } of blocks) {
    const pages = unpackPages(text).map((page) => ({ ...page, text: `${page.text}albatross\n` }))
    const packed = deflateRawSync(JSON.stringify(pages))
    db.prepare('UPDATE content_text SET text = ? WHERE id = ?').run(packed, id)
  }

  index('--ocr-pages', String(PAGES))
  expect(content(db)).toMatchObject({ cut_by: null, ocr_pages: PAGES })
  const all = pagesOf(db)
  expect(numbers(all)).toEqual(upTo(PAGES))
  expect(numbers(all.filter(({ text }) => text.includes('albatross')))).toEqual(upTo(50))
  for (let page = 51; page <= PAGES; page++) expect(all[page - 1]?.text).toContain(word(page))
  db.close()
}, 240_000)

test('explain says of each page of a mixed document how it came by its text', () => {
  const { stdout, status } = paperknife('explain', vault.root, 'mixed.pdf')
  expect(status).toBe(0)
  const pages = stdout.split('\n').filter((line) => /^ +pages? \d/.test(line))
  expect(pages.map((line) => line.replace(/ \(.*/, '').trim())).toEqual([
    'page 1: text layer',
    'page 2: OCR, no text layer',
    'page 3: text layer and OCR, a stamp over a scan',
    'page 4: text layer', // letters apart, put together again
    'pages 5 to 6: OCR, words are no words', // a wrong map of letters, a poor old OCR under the scan
    'pages 7 to 8: OCR, no text layer; none found', // blank, a photograph
  ])
  expect(pages[1]).toMatch(/\(text layer 0, OCR \d[.\d]*, confidence \d+\)$/)
})
