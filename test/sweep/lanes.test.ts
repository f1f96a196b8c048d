/** Which of text and pages is read first, told by the order in which readings were begun. */
import { existsSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mail, SweepReport } from '../../src/api.js'
import { FAULTS, TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail
let stop: AbortController
let sweep: Promise<SweepReport> | undefined
beforeEach(async () => {
  vault = new TestVault()
  stop = new AbortController()
  vi.stubEnv('PAPERKNIFE_FAULTS', FAULTS)
  vi.stubEnv('PAPERKNIFE_FAULTS_LOG', vault.path('begun.log'))
  mail = await vault.open({ ocr: { languages: ['eng'], engine: 'wasm' } })
})
afterEach(async () => {
  stop.abort()
  await sweep
  sweep = undefined
  await mail.close()
  vault.remove()
  vi.unstubAllEnvs()
})

/** Mails, the first the newest. */
function fill(faults: string[]): void {
  for (const [n, fault] of faults.entries())
    vault.write(`cur/${n}.host:2,S`, {
      date: `Sun, 1 Mar 2026 10:00:${59 - n} +0000`,
      attachments: { [`${n}.txt`]: `FAULT ${fault}` },
    })
}

const begun = (): string[] =>
  existsSync(vault.path('begun.log'))
    ? readFileSync(vault.path('begun.log'), 'utf8').trim().split('\n')
    : []
const scans = (): string[] => begun().filter((line) => line.startsWith('scan'))

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

test('all text is begun before the first page, though its mail is older', async () => {
  fill(['scan 1 50 a', 'scan 1 50 b', ...Array.from({ length: 8 }, (_, n) => `slow 40 ${n}`)])
  expect((await mail.sweep()).contents).toEqual({ ok: 10 })
  const order = begun()
  expect(scans()).toHaveLength(2)
  // The last text may wait for the only thread of its lane while the first page begins on another.
  expect(order.findIndex((line) => line.startsWith('scan'))).toBeGreaterThanOrEqual(7)
})

test('text that arrives while pages are recognised waits for no page that has not begun', async () => {
  fill(Array.from({ length: 4 }, (_, n) => `scan 1 1500 ${n}`))
  sweep = mail.sweep({ signal: stop.signal })
  await until(() => scans().length > 0)
  vault.write('new/9.host', { attachments: { 'now.txt': 'FAULT text now' } })
  const before = scans().length
  await mail.deliver(vault.path('new/9.host'))
  await sweep
  expect((await mail.status()).contents).toEqual({ ok: 5 })
  expect(scans()).toHaveLength(4)
  expect(begun().indexOf('text now')).toBeLessThanOrEqual(before + 1)
}, 30_000)

test('a pause while a page is recognised lets it end and begins no other; resume goes on', async () => {
  fill(Array.from({ length: 4 }, (_, n) => `scan 1 400 ${n}`))
  sweep = mail.sweep({ signal: stop.signal })
  await until(() => scans().length > 0)
  mail.pause()
  const atWork = scans().length
  await until(async () => ((await mail.status()).contents['ok'] ?? 0) >= atWork)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(scans()).toHaveLength(atWork)
  expect((await mail.status()).contents).toEqual({ ok: atWork, pending: 4 - atWork })
  mail.resume()
  await sweep
  expect((await mail.status()).contents).toEqual({ ok: 4 })
  expect(scans()).toHaveLength(4)
}, 30_000)
