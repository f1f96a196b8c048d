/** What limits cut of a mail is recorded and told. */
import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Mail } from '../../src/api.js'
import { letter, TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail
beforeEach(() => {
  vault = new TestVault()
})
afterEach(async () => {
  await mail.close()
  vault.remove()
})

const lossesOf = async (path: string): Promise<readonly string[] | undefined> =>
  (await mail.explain(path))[0]?.losses

test('explain and status say which messages were not read whole, and why', async () => {
  vault.write('cur/whole.host:2,S', { subject: 'Whole', body: 'cinnamon' })
  vault.write('cur/long.host:2,S', { subject: 'Long', body: 'nutmeg '.repeat(2_000) })
  const attachments = Object.fromEntries(
    Array.from({ length: 9 }, (_, n) => [`${n}.txt`, `ginger ${n}`]),
  )
  vault.write('cur/many.host:2,S', { subject: 'Many', attachments })
  const inner = ['From - Sun Mar  1 10:00:00 2026', letter({ body: 'saffron '.repeat(2_000) }), '']
  vault.write('box.mbox', Buffer.from(inner.join('\n')))
  mail = await vault.open({ limits: { messageBytes: 6_000, messageParts: 5 } })
  await mail.sweep()

  expect(await lossesOf('cur/whole.host:2,S')).toBeUndefined()
  const cut = ['larger than 6000 bytes; the rest was not read']
  expect(await lossesOf('cur/long.host:2,S')).toEqual(cut)
  expect(await lossesOf('box.mbox')).toEqual(cut)
  expect(await lossesOf('cur/many.host:2,S')).toEqual([expect.stringContaining('not read')])
  expect(await mail.status()).toMatchObject({ messages: 4, messagesCut: 3 })

  const printed = vault.command(['explain', vault.root, 'cur/long.host:2,S'])
  expect(printed.stdout).toContain('not whole: larger than 6000 bytes')
  const { stdout } = vault.command(['explain', vault.root, 'cur/long.host:2,S', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ losses: cut })
  expect(vault.command(['status', vault.root]).stdout).toContain('3 messages read in part')
})

test('a mail that messageBytes cut is read again when that is raised, and no other', async () => {
  vault.write('cur/long.host:2,S', { subject: 'Long', body: `${'nutmeg '.repeat(2_000)} cardamom` })
  vault.write('cur/larger.host:2,S', { subject: 'Larger', body: 'mace '.repeat(9_000) })
  const attachments = Object.fromEntries(
    Array.from({ length: 9 }, (_, n) => [`${n}.txt`, `ginger ${n}`]),
  )
  vault.write('cur/many.host:2,S', { subject: 'Many', attachments })
  const inner = [
    'From - Sun Mar  1 10:00:00 2026',
    letter({ body: `${'saffron '.repeat(2_000)} turmeric` }),
    '',
  ]
  vault.write('box.mbox', Buffer.from(inner.join('\n')))
  const sweep = async (messageBytes: number): Promise<number> => {
    mail = await vault.open({ limits: { messageBytes, messageParts: 5 } })
    return (await mail.sweep()).messages.changed
  }
  const found = async (): Promise<number> => (await mail.search('cardamom OR turmeric')).hits.length
  expect([await sweep(6_000), await found()]).toEqual([0, 0])
  await mail.close()
  expect([await sweep(30_000), await found()]).toEqual([3, 2])
  expect(await lossesOf('cur/long.host:2,S')).toBeUndefined()
  expect(await lossesOf('cur/larger.host:2,S')).toEqual([
    'larger than 30000 bytes; the rest was not read',
  ])
  expect(await mail.status()).toMatchObject({ messages: 4, messagesCut: 2 })
  await mail.close()
  expect(await sweep(30_000)).toBe(0)
  await mail.close()
  expect(await sweep(60_000)).toBe(1)
  expect(await mail.status()).toMatchObject({ messages: 4, messagesCut: 1 })
})

test('an index in which the limit cannot be noted is let go of', async () => {
  mail = await vault.open()
  await mail.sweep()
  await mail.close()
  const change = (sql: string): void => {
    const index = new Database(vault.path('.paperknife/index.db'))
    index.exec(sql)
    index.close()
  }
  change(
    "CREATE TRIGGER refuse BEFORE INSERT ON meta WHEN new.key = 'own message-bytes' BEGIN SELECT raise(ABORT, 'refused'); END",
  )
  mail = await vault.open({ limits: { messageBytes: 6_000 } })
  await expect(mail.sweep()).rejects.toThrow('refused')
  change('DROP TRIGGER refuse')
  expect(await mail.sweep()).toMatchObject({ stopped: false })
})

test('a mail with more distinct words than are indexed says so, with the text of its attachments and without', async () => {
  const words = Array.from({ length: 400_100 }, (_, n) => `n${n.toString(36)}`).join(' ')
  vault.write('cur/dump.host:2,S', { subject: 'Dump', attachments: { 'dump.txt': words } })
  mail = await vault.open()
  await mail.sweep()
  const told =
    '400,000 distinct words of its attachments are indexed; others that come later are not'
  expect(await lossesOf('cur/dump.host:2,S')).toEqual([told])
  expect(await mail.status()).toMatchObject({ contents: { ok: 1 }, messagesCut: 1 })
  await mail.close()
  // Made again from the kept texts, it is written once, complete.
  for (const file of ['index.db', 'index.db-wal'])
    rmSync(vault.path(`.paperknife/${file}`), { force: true })
  mail = await vault.open()
  await mail.sweep()
  expect(await lossesOf('cur/dump.host:2,S')).toEqual([told])
}, 120_000)
