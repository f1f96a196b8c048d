/** The dictionary of kept bodies, from the first thousand mails of a sweep to the excerpts of later ones. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { dictionaryOf } from '../../src/fold/texts.js'
import { TestVault } from './mailbox.js'

let vault: TestVault
beforeEach(() => {
  vault = new TestVault()
})
afterEach(() => vault.remove())

test('mail that comes after the first thousand is packed with it, and its excerpt is what it was', async () => {
  for (let n = 0; n < 1_100; n++)
    vault.write(`cur/${n}.host:2,S`, {
      subject: `Mail ${n}`,
      body: `Immer wieder dieselben alltaeglichen Worte, und einmal ${(n * 7_919).toString(36)}.`,
    })
  const mail = await vault.open()
  try {
    await mail.sweep()
    const body = 'Die zwetschgen kommen mit denselben alltaeglichen Worte, Immer wieder ÜBER alles.'
    vault.write('cur/last.host:2,S', { subject: 'Last', body })
    await mail.sweep()
    const { hits } = await mail.search('zwetschgen alltaeglichen')
    expect(hits).toHaveLength(1)
    const [excerpt] = await mail.excerpts(hits)
    expect(excerpt?.snippet.replace(/[\x02\x03]/g, '')).toBe(body)
    const db = new Database(join(vault.path('.paperknife'), 'index.db'), { readonly: true })
    const block = db
      .prepare('SELECT text FROM body WHERE id / 8192 = CAST(? AS INTEGER) ORDER BY id LIMIT 1')
      .pluck()
      .get(hits[0]?.id) as Buffer
    db.close()
    expect(dictionaryOf(block)).toBe(1)
    expect(block.length).toBeLessThan(70)
  } finally {
    await mail.close()
  }
}, 120_000)
