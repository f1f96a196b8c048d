/** Names that come to hold another message, and files that only look as if they did. */
import { chmodSync, cpSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mail } from '../../src/api.js'
import { letter, TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail
beforeEach(async () => {
  vault = new TestVault()
  mail = await vault.open()
})
afterEach(async () => {
  vi.useRealTimers()
  await mail.close()
  vault.remove()
})

const find = async (query: string): Promise<string[]> =>
  (await mail.search(query)).hits.map(({ subject }) => subject)
const NOTHING = { added: 0, changed: 0, moved: 0, removed: 0, unreadable: 0 }

/** Other bytes of the same length under the same name, with the same time as before. */
function writeOver(place: string, words: string, messageId: string): void {
  const file = vault.path(place)
  const { mtime, atime, size } = statSync(file)
  const mail = letter({ subject: words, body: 'same length', messageId })
  expect(mail.length).toBe(size)
  writeFileSync(file, mail)
  utimesSync(file, atime, mtime)
}

test.each([
  ['a Maildir file', 'cur/1700000000.1.host:2,S'],
  ['a loose file', 'export/1.eml'],
  ['a number of MH', 'mh/1'],
])('%s that was written over with its size and time kept is read again', async (_, place) => {
  vault.write('mh/.mh_sequences', Buffer.from('unseen: 7\n'))
  vault.write(place, { subject: 'first', body: 'same length', messageId: '1.reuse@example.org' })
  await mail.sweep()
  writeOver(place, 'other', '2.reuse@example.org')
  expect((await mail.sweep({ full: true })).messages).toMatchObject({ ...NOTHING, changed: 1 })
  expect(await find('first')).toEqual([])
  expect(await find('other')).toEqual(['other'])
  expect((await mail.verify()).differences).toEqual([])
})

test('it is found without being asked for, a week after its folder was last compared', async () => {
  const place = vault.write('cur/1.host:2,S', {
    subject: 'first',
    body: 'same length',
    messageId: '1.reuse@example.org',
  })
  await mail.sweep()
  vault.settle()
  await mail.sweep()
  writeOver(place, 'other', '2.reuse@example.org')
  expect((await mail.sweep()).messages).toMatchObject(NOTHING)
  vi.setSystemTime(Date.now() + 8 * 86_400_000)
  expect((await mail.sweep()).messages).toMatchObject({ ...NOTHING, changed: 1 })
  expect(await find('other')).toEqual(['other'])
})

test('a file whose permissions or links changed, or that was put back from a copy, is not read again', async () => {
  const place = vault.write('cur/1.host:2,S', { subject: 'first' })
  utimesSync(vault.path(place), 1_700_000_000, 1_700_000_000)
  await mail.sweep()
  chmodSync(vault.path(place), 0o400)
  expect((await mail.sweep({ full: true })).messages).toMatchObject(NOTHING)
  const copy = vault.path('tmp/copy')
  cpSync(vault.path(place), copy, { preserveTimestamps: true })
  rmSync(vault.path(place))
  renameSync(copy, vault.path(place))
  expect((await mail.sweep({ full: true })).messages).toMatchObject(NOTHING)
})

test('a new mail under a name and size that another folder has just lost is no move', async () => {
  const one = { body: 'same length', subject: 'first', messageId: '1.reuse@example.org' }
  vault.write('export/1.eml', one)
  vault.write('other/9.eml', { subject: 'ninth' })
  const past = new Date('2026-01-01T00:00:00Z')
  utimesSync(vault.path('export/1.eml'), past, past)
  await mail.sweep()
  rmSync(vault.path('export/1.eml'))
  vault.write('other/1.eml', { ...one, subject: 'other', messageId: '2.reuse@example.org' })
  utimesSync(vault.path('other/1.eml'), past, past)
  expect((await mail.sweep()).messages).toMatchObject({ ...NOTHING, added: 1, removed: 1 })
  expect(await find('first')).toEqual([])
  expect(await find('other')).toEqual(['other'])
})

test('a folder that changed shortly before its scan is compared again at the next one', async () => {
  const place = vault.write('cur/1.host:2,S', { subject: 'first' })
  await mail.sweep()
  // A change in the same tick of the clock leaves the folder the time it had.
  const { atime, mtime } = statSync(vault.path('cur'))
  rmSync(vault.path(place))
  vault.write('cur/2.host:2,S', { subject: 'second' })
  utimesSync(vault.path('cur'), atime, mtime)
  expect((await mail.sweep()).messages).toMatchObject({ added: 1, removed: 1 })
})
