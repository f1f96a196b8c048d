/** What befalls a vault and its machine while a sweep runs: disks that go and come, clocks that jump, no handles left. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mail } from '../../src/api.js'
import { CLI, contentsOf, FAULTS, TestVault } from './mailbox.js'

const FOLDERS = 30
const EACH = 4

let vault: TestVault
let elsewhere: TestVault
let mail: Mail | undefined
beforeEach(() => {
  vault = new TestVault()
  elsewhere = new TestVault()
  vi.stubEnv('PAPERKNIFE_FAULTS', FAULTS)
})
afterEach(async () => {
  vi.useRealTimers()
  await mail?.close()
  mail = undefined
  vault.remove()
  elsewhere.remove()
  vi.unstubAllEnvs()
})

function fill(attachment = 'FAULT text words'): void {
  for (let folder = 0; folder < FOLDERS; folder++)
    for (let n = 0; n < EACH; n++) {
      const name = `${folder}-${n}`
      vault.write(`.Box${folder}/cur/${name}.host:2,S`, {
        subject: `Letter ${name}`,
        attachments: n === 0 ? { [`${name}.txt`]: `${attachment} ${name}` } : {},
      })
    }
}

async function found(query = 'letter'): Promise<number> {
  return ((await mail?.search(query, { limit: 500 }))?.hits ?? []).length
}

/** Takes the vault away, leaving an empty folder where it was mounted or nothing. */
function unmount(leavesFolder: boolean): () => void {
  const aside = `${vault.root}-aside`
  renameSync(vault.root, aside)
  if (leavesFolder) mkdirSync(vault.root)
  return () => {
    rmSync(vault.root, { recursive: true, force: true })
    renameSync(aside, vault.root)
  }
}

/** Milliseconds, the same in every thread. */
const now = (): number => performance.timeOrigin + performance.now()

/**
 * Takes the vault away after some milliseconds, and back after some more (never, when none are given) — from another thread,
 * since a sweep that lists folders leaves its own no turn.
 *
 * @returns when it was gone
 */
async function unmountAfter(ms: number, leavesFolder: boolean, backAfterMs?: number) {
  const { root } = vault
  const script = `
    const { mkdirSync, renameSync, rmSync } = require('node:fs')
    const { parentPort, workerData: { root, leavesFolder, backAfterMs } } = require('node:worker_threads')
    const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    parentPort.once('message', (ms) => {
      sleep(ms)
      renameSync(root, root + '-aside')
      const goneAt = performance.timeOrigin + performance.now()
      if (leavesFolder) mkdirSync(root)
      if (backAfterMs !== undefined) {
        sleep(backAfterMs)
        rmSync(root, { recursive: true, force: true })
        renameSync(root + '-aside', root)
      }
      parentPort.postMessage(goneAt)
    })
    parentPort.postMessage('ready')`
  const worker = new Worker(script, { eval: true, workerData: { root, leavesFolder, backAfterMs } })
  await once(worker, 'message')
  worker.postMessage(ms)
  return { gone: once(worker, 'message').then(([goneAt]) => goneAt as number) }
}

/** The one way a sweep of a vault that is away may end: with this error, and with nothing removed. */
function isUnreadable(error: unknown): number {
  expect(error).toMatchObject({ code: 'E_VAULT_UNREADABLE' })
  return 0
}

test.each([
  ['an empty folder', true],
  ['nothing', false],
])(
  'a vault that is unmounted in mid-sweep, leaving %s, loses no message',
  async (_, leaves) => {
    fill()
    mail = await vault.open({ index: elsewhere.path('index') })
    expect((await mail.sweep()).messages.added).toBe(FOLDERS * EACH)
    const whole = contentsOf(elsewhere.path('index'))
    let met = 0
    // At another moment each time: while folders are listed, while they are compared, before rows are removed.
    for (let ms = 0; ms < 12; ms++) {
      const { gone } = await unmountAfter(ms, leaves)
      const began = now()
      const removed = await mail
        .sweep({ full: true })
        .then(({ messages }) => messages.removed, isUnreadable)
      const ended = now()
      expect(removed).toBe(0)
      const goneAt = await gone
      if (began < goneAt && goneAt < ended) met++
      expect(await found()).toBe(FOLDERS * EACH)
      rmSync(vault.root, { recursive: true, force: true })
      renameSync(`${vault.root}-aside`, vault.root)
    }
    expect(met).toBeGreaterThan(0)
    expect((await mail.sweep({ full: true })).messages).toMatchObject({ added: 0, removed: 0 })
    expect(contentsOf(elsewhere.path('index'))).toEqual(whole)
  },
  60_000,
)

test('a vault that is away for a moment while it is listed loses no message', async () => {
  fill()
  mail = await vault.open({ index: elsewhere.path('index') })
  await mail.sweep()
  let met = 0
  for (let ms = 0; ms < 12; ms++) {
    const { gone } = await unmountAfter(ms, true, 4)
    const began = now()
    const removed = await mail
      .sweep({ full: true })
      .then(({ messages }) => messages.removed, isUnreadable)
    const ended = now()
    const goneAt = await gone
    if (began < goneAt && goneAt < ended) met++
    expect(removed).toBe(0)
    expect(await found()).toBe(FOLDERS * EACH)
  }
  expect(met).toBeGreaterThan(0)
}, 60_000)

test('attachments of a vault that is unmounted while they are read are read when it is back', async () => {
  fill('FAULT slow 60')
  mail = await vault.open({ index: elsewhere.path('index') })
  let remount: (() => void) | undefined
  await mail.sweep({
    onProgress: ({ phase, done }) => {
      if (phase === 'text' && done > 3) remount ??= unmount(true)
    },
  })
  expect(remount).toBeDefined()
  const { contents } = await mail.status()
  expect(contents['failed-transient']).toBeGreaterThan(0)
  expect(contents['gave-up']).toBeUndefined()
  remount?.()
  vi.setSystemTime(Date.now() + 3_600_000)
  await mail.sweep()
  expect((await mail.status()).contents).toEqual({ ok: FOLDERS })
  expect(await found()).toBe(FOLDERS * EACH)
}, 60_000)

test('a failure recorded under a clock that ran years ahead is tried again when it is set right', async () => {
  vault.write('cur/1.host:2,S', { attachments: { 'a.txt': 'FAULT exit' } })
  mail = await vault.open()
  vi.setSystemTime(Date.now() + 20 * 365 * 86_400_000)
  expect((await mail.sweep()).contents).toEqual({ 'failed-transient': 1 })
  vi.useRealTimers()
  expect((await mail.sweep()).contents).toEqual({ 'failed-transient': 1 })
})

test.each([
  ['back', -20 * 365],
  ['ahead', 20 * 365],
])('a clock that jumps %s between sweeps changes no row and hides no new mail', async (_, days) => {
  fill()
  mail = await vault.open()
  await mail.sweep()
  const before = contentsOf(vault.path('.paperknife'))
  vi.setSystemTime(Date.now() + days * 86_400_000)
  expect((await mail.sweep()).messages).toMatchObject({ added: 0, changed: 0, removed: 0 })
  expect(contentsOf(vault.path('.paperknife'))).toEqual(before)
  vault.write('.Box1/cur/new.host:2,S', { subject: 'Letter after the jump' })
  // The folder's own time comes from the clock that jumped.
  const jumped = Date.now() / 1000
  utimesSync(vault.path('.Box1/cur'), jumped, jumped)
  expect((await mail.sweep()).messages).toMatchObject({ added: 1 })
})

test.runIf(process.platform !== 'win32').each([24, 40, 64, 128])(
  'with %i file handles a run works or says why, and a later one completes',
  (handles) => {
    fill()
    const index = elsewhere.path('index')
    const run = ['index', vault.root, '--index', index, '--ocr', 'off', '--workers', '2']
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `ulimit -n ${handles}; exec "$0" "$@"`, process.execPath, CLI, ...run],
      { encoding: 'utf8', timeout: 60_000 },
    )
    if (status !== 0)
      expect(stderr.trim().split('\n').at(-1)).toMatch(/too many open files|EMFILE/i)
    expect(vault.command(run).status).toBe(0)
    const clean = elsewhere.path('clean')
    expect(vault.command(run.with(3, clean)).status).toBe(0)
    expect(contentsOf(index)).toEqual(contentsOf(clean))
  },
  90_000,
)

test('while a sweep runs, whatever it writes is its owner’s alone, under any umask', async () => {
  fill('FAULT slow 20')
  const old = process.umask(0)
  try {
    mail = await vault.open({ sweeper: 'process' })
    const seen = new Set<string>()
    const directory = vault.path('.paperknife')
    let isOver = false
    const sweep = mail.sweep().finally(() => (isOver = true))
    while (!isOver) {
      await wait(10)
      for (const name of listed(directory)) {
        const mode = statSync(`${directory}/${name}`, { throwIfNoEntry: false })?.mode ?? 0
        expect([name, mode & 0o077]).toEqual([name, 0])
        seen.add(name)
      }
    }
    await sweep
    expect(statSync(directory).mode & 0o077).toBe(0)
    expect([...seen].join(' ')).toMatch(/index\.db-wal.*|extracts\.db-wal/)
    expect([...seen].some((name) => name.startsWith('work-'))).toBe(true)
  } finally {
    process.umask(old)
  }
}, 60_000)

function listed(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

const isRoot = process.getuid?.() === 0
test.runIf(process.platform !== 'win32' && !isRoot)(
  'a folder that becomes unreadable in mid-life keeps its messages',
  async () => {
    fill()
    mail = await vault.open({ index: elsewhere.path('index') })
    await mail.sweep()
    chmodSync(vault.path('.Box3/cur'), 0)
    const { messages, unreadable } = await mail.sweep({ full: true })
    expect(messages.removed).toBe(0)
    expect(unreadable.length).toBeGreaterThan(0)
    expect(await found()).toBe(FOLDERS * EACH)
  },
)

test.each(['inline', 'process'] as const)(
  'an index that turns out to be damaged in mid-sweep (%s) is set aside and made anew by that sweep',
  async (sweeper) => {
    fill()
    mail = await vault.open()
    await mail.sweep()
    const whole = contentsOf(vault.path('.paperknife'))
    await mail.close()
    // Behind the first pages, which are read when it is opened.
    const file = vault.path('.paperknife/index.db')
    const bytes = readFileSync(file)
    bytes.fill(0xa5, Math.floor(bytes.length / 3))
    writeFileSync(file, bytes)
    mail = await vault.open({ sweeper })
    const { setAside, messages } = await mail.sweep({ full: true })
    expect(setAside).toHaveLength(1)
    expect(messages.total).toBe(FOLDERS * EACH)
    expect(await found()).toBe(FOLDERS * EACH)
    expect(contentsOf(vault.path('.paperknife'))).toEqual(whole)
    expect((await mail.verify()).differences).toEqual([])
  },
  60_000,
)

test.each(['inline', 'process'] as const)(
  'damage that only a search meets is mended by the next sweep of a host that had the index open (%s)',
  async (sweeper) => {
    fill()
    mail = await vault.open({ sweeper })
    await mail.sweep()
    const file = vault.path('.paperknife/index.db')
    const bytes = readFileSync(file)
    bytes.fill(0xa5, 8_192 * 12)
    writeFileSync(file, bytes)
    const other = await vault.open()
    await expect(other.status()).rejects.toMatchObject({ code: 'E_INDEX_DAMAGED' })
    expect((await mail.sweep()).setAside).toHaveLength(1)
    expect(await other.status()).toMatchObject({ messages: FOLDERS * EACH })
    await other.close()
    expect(await found()).toBe(FOLDERS * EACH)
    expect((await mail.verify()).differences).toEqual([])
  },
  60_000,
)
