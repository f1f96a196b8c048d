import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Mail } from '../../src/api.js'
import { TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail
let directory: string
beforeEach(async () => {
  vault = new TestVault()
  directory = vault.path('.paperknife')
  vault.write('cur/1.host:2,S', {
    subject: 'Zwetschgenkuchen',
    body: 'quittengelee und anderes, das niemand mehr lesen soll',
    attachments: { 'mirabellen.txt': 'holunderbluetensirup in vielen Flaschen' },
  })
  for (let n = 0; n < 30; n++)
    vault.write(`cur/${n + 2}.host:2,S`, { subject: 'Stays', body: `usual words ${n}` })
  mail = await vault.open()
  await mail.sweep()
})
afterEach(async () => {
  await mail.close()
  vault.remove()
})

const WORDS = ['wetschgenkuchen', 'quittengelee', 'holunderbluetensirup', 'mirabellen']

/** Kept texts are compressed: their bytes, as they lie in the files. */
function packed(): Buffer[] {
  return (
    [
      [
        'index.db',
        'SELECT text FROM body WHERE id / 8192 = (SELECT id FROM message WHERE subject LIKE ?)',
        'Zwet%',
      ],
      ['extracts.db', 'SELECT text FROM content_text WHERE 1 = ?', 1],
    ] as const
  ).map(([name, sql, value]) => {
    const db = new Database(join(directory, name), { readonly: true })
    try {
      return db.prepare(sql).pluck().get(value) as Buffer
    } finally {
      db.close()
    }
  })
}

/** Files in which a piece of what was deleted is found. */
function holding(blocks: readonly Buffer[]): string[] {
  return readdirSync(directory).filter((name) => {
    const bytes = readFileSync(join(directory, name))
    const core = blocks.map((block) => block.subarray(4, -4))
    return WORDS.some((word) => bytes.includes(word)) || core.some((block) => bytes.includes(block))
  })
}

test('after a purge no file of the index, its log or set aside holds a byte of a deleted mail', async () => {
  const blocks = packed()
  expect(blocks.every((block) => block.length > 20)).toBe(true)
  expect(holding(blocks)).not.toEqual([])
  copyFileSync(join(directory, 'extracts.db'), join(directory, 'extracts.db.set-aside'))
  rmSync(vault.path('cur/1.host:2,S'))
  await mail.sweep({ full: true })
  expect(holding(blocks)).not.toEqual([])

  expect(await mail.verify({ purge: true })).toMatchObject({ agrees: true, purged: true })
  // With the logs, while the index is open.
  expect(existsSync(join(directory, 'index.db-wal'))).toBe(true)
  expect(holding(blocks)).toEqual([])
  await mail.close()
  expect(holding(blocks)).toEqual([])
  expect(vault.command(['verify', vault.root]).status).toBe(0)
})

test('a purge that a reader keeps from its end says so, and the next one does it', async () => {
  const blocks = packed()
  rmSync(vault.path('cur/1.host:2,S'))
  await mail.sweep({ full: true })
  const reader = new Database(join(directory, 'index.db'), { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM message').get()
  await expect(mail.verify({ purge: true })).rejects.toMatchObject({ code: 'E_INDEX_BUSY' })
  reader.close()
  await mail.verify({ purge: true })
  expect(holding(blocks)).toEqual([])
}, 60_000)
