import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mail } from '../../src/api.js'
import { FAULTS, TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail
const stop = { current: new AbortController() }
beforeEach(() => {
  vault = new TestVault()
  stop.current = new AbortController()
})
afterEach(async () => {
  stop.current.abort()
  await mail.close()
  vault.remove()
  vi.unstubAllEnvs()
})

async function until(isTrue: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() - began > 20_000) throw new Error('waited for 20 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return performance.now() - began
}

const isFound = (query: string) => async (): Promise<boolean> =>
  (await mail.search(query)).hits.length > 0

test('new mail, flags and deletions are followed, and the watch ends when it is told to', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Before' })
  mail = await vault.open()
  const watching = mail.watch({ signal: stop.current.signal })
  await until(isFound('before'))
  vault.write('tmp/2.host', { subject: 'Arrived', attachments: { 'a.txt': 'apricots' } })
  renameSync(vault.path('tmp/2.host'), vault.path('new/2.host'))
  await until(isFound('arrived'))
  await until(isFound('apricots'))
  renameSync(vault.path('new/2.host'), vault.path('cur/2.host:2,FS'))
  await until(isFound('is:flagged'))
  stop.current.abort()
  await watching
}, 60_000)

test('a mail that arrives during a long sweep is searchable before the backlog is read', async () => {
  vi.stubEnv('PAPERKNIFE_FAULTS', FAULTS)
  for (let n = 0; n < 10; n++)
    vault.write(`cur/${n}.host:2,S`, { attachments: { 'a.txt': `FAULT slow 1500 ${n}` } })
  mail = await vault.open()
  // Folders are known, and watched, after a first sweep.
  await mail.sweep({ signal: AbortSignal.timeout(1) })
  const watching = mail.watch({ signal: stop.current.signal })
  await until(async () => ((await mail.status()).contents.ok ?? 0) > 0)
  // What cannot even be looked at must not end the host.
  symlinkSync('in-a-circle', vault.path('new/in-a-circle'))
  vault.write('new/new.host', { subject: 'Urgent' })
  await mail.deliver('new/new.host')
  expect((await mail.search('urgent')).hits).toHaveLength(1)
  expect((await mail.status()).contents.pending).toBeGreaterThan(3)
  stop.current.abort()
  await watching
}, 60_000)

/** Directories of which the system tells this process. */
function watched(): number {
  return readdirSync('/proc/self/fdinfo').reduce((sum, file) => {
    try {
      const text = readFileSync(`/proc/self/fdinfo/${file}`, 'utf8')
      return sum + (text.match(/^inotify wd:/gm)?.length ?? 0)
    } catch {
      return sum
    }
  }, 0)
}

test.runIf(process.platform === 'linux')(
  'a mail that is written over while it is followed is told as changed, not as another',
  async () => {
    vault.write('loose/1.eml', { subject: 'Before' })
    mail = await vault.open()
    await mail.sweep()
    const others = watched()
    const told = { added: 0, changed: 0 }
    const watching = mail.watch({
      signal: stop.current.signal,
      onReport: ({ messages }) => {
        told.added += messages.added
        told.changed += messages.changed
      },
    })
    await until(async () => watched() > others)
    vault.write('tmp/1.eml', { subject: 'Written aside' })
    renameSync(vault.path('tmp/1.eml'), vault.path('loose/1.eml'))
    await until(isFound('aside'))
    await until(async () => told.changed > 0)
    expect(told).toEqual({ added: 0, changed: 1 })
    stop.current.abort()
    await watching
  },
  60_000,
)

test.runIf(process.platform === 'linux')(
  'a folder that was deleted and made again is watched again',
  async () => {
    const make = (): void => {
      for (const part of ['cur', 'new', 'tmp'])
        mkdirSync(vault.path('.Box', part), { recursive: true })
    }
    const others = watched()
    make()
    vault.write('.Box/cur/1.host:2,S', { subject: 'Before' })
    mail = await vault.open()
    const watching = mail.watch({ signal: stop.current.signal })
    await until(isFound('before'))
    // The vault and the folder, each with cur and new.
    const all = others + 6
    await until(() => Promise.resolve(watched() === all))
    rmSync(vault.path('.Box'), { recursive: true })
    await until(() => Promise.resolve(watched() === all - 3))
    make()
    vault.write('.Box/cur/2.host:2,S', { subject: 'Again' })
    await until(isFound('again'))
    await until(() => Promise.resolve(watched() === all))
    stop.current.abort()
    await watching
  },
  60_000,
)

test('a vault that goes away is told once, waited for, and told when it is back', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Before' })
  const index = `${vault.root}-index`
  mail = await vault.open({ index })
  const told: string[] = []
  const watching = mail.watch({
    signal: stop.current.signal,
    onAway: ({ message }) => told.push(message),
    onBack: () => told.push('back'),
  })
  await until(isFound('before'))
  renameSync(vault.root, `${vault.root}-away`)
  await until(() => Promise.resolve(told.length > 0))
  await new Promise((resolve) => setTimeout(resolve, 4_500))
  renameSync(`${vault.root}-away`, vault.root)
  await until(() => Promise.resolve(told.includes('back')))
  expect(told).toEqual([expect.stringContaining(`${vault.root} cannot be read`), 'back'])
  stop.current.abort()
  await watching
  rmSync(index, { recursive: true })
}, 60_000)

test('what deliveries leave behind is tidied when nothing is asked for a while', async () => {
  mail = await vault.open()
  for (let n = 0; n < 5; n++)
    await mail.deliver(vault.write(`new/${n}.host`, { subject: `Delivered ${n}` }))
  const log = vault.path('.paperknife', 'index.db-wal')
  expect(statSync(log).size).toBeGreaterThan(0)
  mail.pause()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(statSync(log).size).toBeGreaterThan(0)
  mail.resume()
  await until(() => Promise.resolve(statSync(log).size === 0))
}, 60_000)
