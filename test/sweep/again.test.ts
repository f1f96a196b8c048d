import {
  appendFileSync,
  existsSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Mail } from '../../src/api.js'
import { contentsOf, letter, TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail | undefined
beforeEach(() => {
  vault = new TestVault()
})
afterEach(async () => {
  await mail?.close()
  vault.remove()
})

const mbox = (from: number, count: number, bodyChars = 2_000): string =>
  Array.from(
    { length: count },
    (_, n) =>
      `From ann@example.org Mon Jan  5 10:00:00 2026\n${letter({
        subject: `Letter ${from + n}`,
        messageId: `${from + n}.box@example.org`,
        body: `number${from + n} ${'says little more. '.repeat(bodyChars / 18)}`,
      })
        .toString()
        .replaceAll('\r\n', '\n')}\n\n`,
  ).join('')

/** Bytes that this process and its threads have read so far, from files and everything else. */
const bytesRead = (): number =>
  Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])

test.skipIf(!existsSync('/proc/self/io'))(
  'of an mbox that grew only the tail is read',
  async () => {
    const file = vault.path('box.mbox')
    writeFileSync(file, mbox(0, 4_000))
    mail = await vault.open()
    expect((await mail.sweep()).messages.added).toBe(4_000)
    const size = readFileSync(file).length
    appendFileSync(file, mbox(4_000, 10))
    const before = bytesRead()
    expect((await mail.sweep()).messages).toMatchObject({ added: 10, changed: 0, total: 4_010 })
    // Sixteen heads of 64 kB to see that it is the same file, the tail, and pages of the index.
    expect(bytesRead() - before).toBeLessThan(size / 3)
    expect((await mail.search('number4009')).hits).toHaveLength(1)
    // What a program cut off is gone, and nothing is read for that but what is left.
    truncateSync(file, size)
    expect((await mail.sweep()).messages).toMatchObject({ removed: 10, added: 0, total: 4_000 })
  },
  60_000,
)

test('an index made again reads no attachment a second time', async () => {
  for (let n = 0; n < 40; n++)
    vault.write(`cur/${n}.host:2,S`, {
      subject: `Letter ${n}`,
      messageId: `${n}.again@example.org`,
      date: new Date(Date.UTC(2026, 0, 1, n)).toUTCString(),
      attachments: { 'own.txt': `apricots of letter ${n}`, 'shared.csv': `a,b\n${n % 3},two` },
    })
  const readings = (): unknown[] => {
    const db = new Database(vault.path('.paperknife/extracts.db'), { readonly: true })
    try {
      return db
        .prepare(
          'SELECT hex(hash), state, revision, recorded, attempts, ms FROM content ORDER BY 1',
        )
        .raw()
        .all()
    } finally {
      db.close()
    }
  }
  mail = await vault.open()
  expect((await mail.sweep()).contents).toEqual({ ok: 43 })
  await mail.close()
  const [before, readBefore] = [contentsOf(vault.path('.paperknife')), readings()]
  rmSync(vault.path('.paperknife/index.db'))
  mail = await vault.open()
  const again = await mail.sweep()
  expect(again.messages.added).toBe(40)
  expect(again.contents).toEqual({})
  expect((await mail.search('attachment:apricots')).hits).toHaveLength(20)
  await mail.close()
  expect(readings()).toEqual(readBefore)
  expect(contentsOf(vault.path('.paperknife'))).toEqual(before)
}, 60_000)
