import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore, type Store } from '../../src/index/store.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import { Intake } from '../../src/sweep/intake.js'
import { openMailStore } from '../../src/vault/open.js'
import type { VaultEntry, VaultFolder } from '../../src/vault/vault.js'
import { WorkerPool } from '../../src/workers/pool.js'
import { TestVault } from './mailbox.js'

let vault: TestVault
let store: Store
let pool: WorkerPool
beforeEach(() => {
  vault = new TestVault()
  store = openStore({ directory: vault.path('.paperknife'), messageChars: 10_000 })
  pool = new WorkerPool({
    settings: { limits: DEFAULT_LIMITS, ocr: false, passwords: [] },
    textThreads: 1,
    ocrThreads: 0,
  })
})
afterEach(async () => {
  await pool.close()
  store.close()
  vault.remove()
})

const intake = (isDelivered: (path: string) => boolean): Intake =>
  new Intake({ pool, store, root: vault.root, keepTexts: true, yieldMs: 40, isDelivered })

test('the folder of a message that a delivery took and did not bring is compared again', async () => {
  vault.write('new/1.host', { subject: 'Arrived' })
  const mail = await openMailStore(vault.root)
  const folder = (await mail.folders()).folders[0] as VaultFolder
  const id = store.folders.save({ ...folder, scanned: 0, fullCheck: 0 })
  const entry = async (): Promise<VaultEntry> =>
    (await mail.entries(folder)).entries[0] as VaultEntry

  const before = intake(() => true)
  await before.read({ entry: await entry(), folder: id })
  expect(await before.settle()).toEqual(new Set([id]))
  expect(store.messages.count()).toBe(0)

  const delivery = intake(() => false)
  await delivery.read({ entry: await entry(), folder: id })
  expect(await delivery.settle()).toEqual(new Set())
  const after = intake(() => true)
  await after.read({ entry: await entry(), folder: id })
  expect(await after.settle()).toEqual(new Set())

  vault.write('new/1.host', { subject: 'Arrived and written over' })
  const over = intake(() => true)
  const replaces = store.messages.byPath('new/1.host')?.id as number
  await over.read({ entry: await entry(), folder: id, replaces })
  expect(await over.settle()).toEqual(new Set([id]))
})
