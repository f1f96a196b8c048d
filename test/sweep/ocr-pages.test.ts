import { readFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { unpackPages } from '../../src/fold/texts.js'
import { TestVault } from './mailbox.js'

let vault: TestVault
beforeEach(() => {
  vault = new TestVault()
})
afterEach(() => vault.remove())

const facts = (): unknown => {
  const db = new Database(vault.path('.paperknife/extracts.db'), { readonly: true })
  const row = db.prepare('SELECT state, cut_by, ocr_pages FROM content').get()
  db.close()
  return row
}

test('a raised limit of pages goes on from the next page, and leaves those that were read', async () => {
  const fax = readFileSync(new URL('../fixtures/image/two-pages.tif', import.meta.url))
  vault.write('cur/1.host:2,S', { subject: 'Fax', attachments: { 'fax.tif': fax } })
  const ocr = { languages: ['eng'], engine: 'wasm' as const }
  const first = await vault.open({ ocr, limits: { ocrPages: 1 } })
  await first.sweep()
  await first.close()
  expect(facts()).toEqual({ state: 'ok', cut_by: 'ocr-pages', ocr_pages: 1 })

  // Reading the first page again would undo this.
  const db = new Database(vault.path('.paperknife/extracts.db'))
  const rows = db.prepare('SELECT id, text FROM content_text').all() as Array<{
    id: number
    text: Buffer
  }>
  for (const { id, text } of rows) {
    const pages = unpackPages(text).map((page) => ({ ...page, text: 'albatross' }))
    const packed = deflateRawSync(JSON.stringify(pages))
    db.prepare('UPDATE content_text SET text = ? WHERE id = ?').run(packed, id)
  }
  db.close()

  const second = await vault.open({ ocr, limits: { ocrPages: 2 } })
  await second.sweep()
  expect(facts()).toEqual({ state: 'ok', cut_by: null, ocr_pages: 2 })
  expect((await second.search('albatross')).hits).toHaveLength(1)
  expect((await second.search('invoice')).hits).toHaveLength(1)

  // xberg-io/xberg#495: by force each page is recognised again, whatever was kept.
  await second.reExtract({ states: ['ok'] })
  await second.sweep()
  expect(facts()).toEqual({ state: 'ok', cut_by: null, ocr_pages: 2 })
  expect((await second.search('albatross')).hits).toHaveLength(0)
  expect((await second.search('invoice')).hits).toHaveLength(1)
  await second.close()
}, 120_000)
