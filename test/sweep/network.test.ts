/** What a network disk changes, in real processes: `--network-disk yes` stands in for a mount. */
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openVault } from '../../src/api.js'
import { mountOf, networkDiskOf } from '../../src/vault/network.js'
import { CLI, TestVault } from './mailbox.js'

let vault: TestVault
let index: string
let watcher: ChildProcess | undefined
let told = ''
beforeEach(() => {
  vault = new TestVault()
  index = vault.path('elsewhere')
  vault.write('cur/1.host:2,S', {
    subject: 'Lighthouse',
    body: 'the lamp was lit',
    attachments: { 'log.txt': 'barnacles on the hull' },
  })
})
afterEach(async () => {
  if (watcher && watcher.exitCode === null && watcher.signalCode === null) {
    const exit = new Promise((resolve) => watcher?.once('exit', resolve))
    watcher.kill('SIGINT')
    await exit
  }
  watcher = undefined
  vault.remove()
})

const ON_NETWORK = ['--network-disk', 'yes']

/** Starts a watch that holds the index alone, and waits for its first report. */
async function watch(env: Record<string, string> = {}): Promise<void> {
  told = ''
  const words = ['watch', vault.root, '--index', index, '--ocr', 'off', ...ON_NETWORK]
  watcher = spawn(process.execPath, [CLI, ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  watcher.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()))
  await until(() => /\d message/.test(told))
}

async function until(isTrue: () => boolean): Promise<void> {
  const began = performance.now()
  while (!isTrue()) {
    if (performance.now() - began > 20_000) throw new Error(`waited for 20 s: ${told}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const ask = (command: string, ...words: string[]) =>
  vault.command([command, vault.root, ...words, '--index', index])

test('while a watch holds the index alone, other processes search, explain and count through its socket', async () => {
  await watch()
  expect(told).toContain('answered by it')
  expect(statSync(join(index, 'search.sock')).mode & 0o077).toBe(0)
  // Nobody shares memory: there is no such file.
  expect(existsSync(join(index, 'index.db-shm'))).toBe(false)

  const found = ask('search', 'barnacles', '--json')
  expect(found.stderr).toBe('')
  const [hit, last] = found.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { attachments: Array<{ snippet: string }> })
  expect(hit).toMatchObject({ subject: 'Lighthouse', matched: ['attachments'] })
  expect(hit?.attachments[0]?.snippet).toContain('\u0002barnacles\u0003')
  expect(last).toMatchObject({ summary: { hits: 1, coverage: { contents: 1, readable: 1 } } })
  expect(ask('search', 'nothing').status).toBe(1)
  expect(ask('status').stdout).toContain('1 message, 1 attachment: 1 searchable')
  expect(ask('explain', 'log.txt').stdout).toContain('plain version')

  // Polling finds new mail without an event.
  vault.write('tmp/2.host', { subject: 'Arrived' })
  renameSync(vault.path('tmp/2.host'), vault.path('new/2.host'))
  await until(() => ask('search', 'arrived').status === 0)

  const second = ask('index', ...ON_NETWORK)
  expect(second.status).toBe(75)
  expect(second.stderr).toContain('another process is writing the index')
}, 60_000)

test('a watch that was killed leaves a socket that nobody waits for, and an index that is searched', async () => {
  await watch()
  const exit = new Promise((resolve) => watcher?.once('exit', resolve))
  watcher?.kill('SIGKILL')
  await exit
  expect(existsSync(join(index, 'search.sock'))).toBe(true)
  expect(ask('search', 'barnacles', ...ON_NETWORK).status).toBe(0)
  expect(ask('index', '--ocr', 'off', ...ON_NETWORK).status).toBe(0)
  expect(existsSync(join(index, 'search.sock'))).toBe(false)
  expect(ask('verify', ...ON_NETWORK).status).toBe(0)
}, 60_000)

test('where the folder of the index can hold no socket, it lies in the folder for them', async () => {
  const deep = join(index, ...Array.from({ length: 10 }, () => 'a-rather-long-name'))
  mkdirSync(deep, { recursive: true })
  index = deep
  const runtime = vault.path('run')
  mkdirSync(runtime)
  await watch({ XDG_RUNTIME_DIR: runtime })
  expect(statSync(join(runtime, 'paperknife')).mode & 0o077).toBe(0)
  const words = ['search', vault.root, 'barnacles', '--index', index]
  expect(vault.command(words, { XDG_RUNTIME_DIR: runtime }).status).toBe(0)
}, 60_000)

test('a host whose sweeping process holds the index alone searches through it', async () => {
  const mail = await openVault({
    vault: vault.root,
    index,
    ocr: false,
    networkDisk: 'yes',
    sweeper: 'process',
  })
  try {
    await mail.sweep()
    const { hits } = await mail.search('barnacles')
    expect(hits).toHaveLength(1)
    expect((await mail.excerpts(hits))[0]?.attachments[0]?.snippet).toContain('barnacles')
    expect(await mail.status()).toMatchObject({ messages: 1, contents: { ok: 1 } })
    expect((await mail.explain('log.txt'))[0]?.subject).toBe('Lighthouse')
    await expect(mail.search('barnacles', { limit: -1 })).rejects.toThrow(RangeError)
  } finally {
    await mail.close()
  }
}, 60_000)

test('the index of a vault on a network disk is kept on this machine, unless one lies beside the mail', async () => {
  const data = vault.path('data')
  const env = { XDG_DATA_HOME: data }
  const first = vault.command(['index', vault.root, '--ocr', 'off', ...ON_NETWORK], env)
  expect(first.stderr).toContain(`kept on this machine, in ${data}`)
  expect(existsSync(vault.path('.paperknife'))).toBe(false)
  expect(vault.command(['search', vault.root, 'barnacles', ...ON_NETWORK], env).status).toBe(0)
  expect(vault.command(['index', vault.root, '--ocr', 'off']).status).toBe(0)
  const beside = vault.command(['index', vault.root, '--ocr', 'off', ...ON_NETWORK], env)
  expect(beside.stderr).toContain(`the index in ${vault.path('.paperknife')}`)
})

test('an index that somebody else holds and that no socket answers for says so', async () => {
  await watch()
  chmodSync(join(index, 'search.sock'), 0o600)
  renameSync(join(index, 'search.sock'), join(index, 'gone.sock'))
  const { status, stderr } = ask('search', 'barnacles', ...ON_NETWORK)
  expect(status).toBe(75)
  expect(stderr).toContain('is held by the process that writes it')
}, 60_000)

describe('what the system says', () => {
  test('the disks of this machine are no network disks', () => {
    expect(networkDiskOf(vault.root)).toBeUndefined()
    expect(networkDiskOf(vault.path('not', 'there', 'yet'))).toBeUndefined()
  })

  test('FUSE says what it shows by the innermost, latest mount', () => {
    const mounts = [
      '22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
      '40 22 0:40 / /home/ann/far\\040mail rw,nosuid shared:9 - fuse.sshfs ann@far:/mail rw',
      '41 22 0:41 / /media/disk rw shared:9 - fuseblk /dev/sdb1 rw',
    ].join('\n')
    expect(mountOf('/home/ann/far mail/cur', mounts)).toBe('fuse.sshfs')
    expect(mountOf('/home/ann/far', mounts)).toBe('ext4')
    expect(mountOf('/media/disk', mounts)).toBe('fuseblk')
  })
})
