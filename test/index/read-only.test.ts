/** An index that lies where nothing can be written: a snapshot, a backup, a disk mounted read-only. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openVault, type Mail } from '../../src/api.js'
import { TestVault } from '../sweep/mailbox.js'

let vault: TestVault
let folder: string
beforeEach(() => {
  vault = new TestVault()
  vault.write('cur/1.host:2,S', { subject: 'Lighthouse', attachments: { 'a.txt': 'barnacles' } })
  folder = mkdtempSync(join(tmpdir(), 'paperknife-read-only-'))
  chmodSync(folder, 0o755)
})
afterEach(() => {
  spawnSync('chmod', ['-R', 'u+rwx', folder])
  rmSync(folder, { recursive: true, force: true })
  vault.remove()
})

/** Copies some files of the index of a vault that is being written to a place where nothing can be. */
async function snapshot(endings: readonly string[], isClosed = false): Promise<string> {
  const mail = await vault.open()
  await mail.sweep()
  // What came after the sweep lies in the log alone.
  vault.write('new/2.host', { subject: 'Arrived' })
  await mail.deliver('new/2.host')
  const copy = join(folder, 'index')
  mkdirSync(copy)
  if (isClosed) await mail.close()
  for (const name of ['index.db', 'extracts.db'])
    for (const ending of endings)
      if (existsSync(vault.path('.paperknife', name + ending)))
        copyFileSync(vault.path('.paperknife', name + ending), join(copy, name + ending))
  if (!isClosed) await mail.close()
  spawnSync('chmod', ['-R', 'a+rX,a-w', folder])
  return copy
}

/** Root writes everywhere: what is about permissions is tried as nobody. */
async function asNobody<Result>(
  index: string,
  ask: (mail: Mail) => Promise<Result>,
): Promise<Result> {
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65534)
  const mail = await openVault({ vault: vault.root, index, sweeper: 'inline' })
  try {
    return await ask(mail)
  } finally {
    await mail.close()
    if (isRoot) process.seteuid?.(0)
  }
}

const found = (index: string, query: string): Promise<number> =>
  asNobody(index, async (mail) => (await mail.search(query)).hits.length)

test.each([
  ['closed', [''], true],
  ['open, with its log and shared memory', ['', '-wal', '-shm'], false],
  ['open, with its log alone', ['', '-wal'], false],
] as const)(
  'of an index that was %s every message is found as it lies',
  async (_, endings, isClosed) => {
    const index = await snapshot(endings, isClosed)
    const temporary = mkdtempSync(join(tmpdir(), 'paperknife-temporary-'))
    chmodSync(temporary, 0o777)
    vi.stubEnv('TMPDIR', temporary)
    const before = readdirSync(index).sort()
    expect(await found(index, 'barnacles')).toBe(1)
    expect(await found(index, 'arrived')).toBe(1)
    expect(readdirSync(index).sort()).toEqual(before)
    expect(readdirSync(temporary)).toEqual([])
    vi.unstubAllEnvs()
    rmSync(temporary, { recursive: true })
  },
)

test('of an index that was open, without its log, what had been copied back is found', async () => {
  expect(await found(await snapshot(['']), 'barnacles')).toBe(1)
})

test('an index that cannot be written is compared with its vault as it lies', async () => {
  const index = await snapshot(['', '-wal'])
  chmodSync(vault.root, 0o755)
  const before = readdirSync(index).sort()
  expect(await asNobody(index, (mail) => mail.verify())).toEqual({
    agrees: true,
    differences: [],
    messages: 2,
    contents: 1,
    purged: false,
  })
  vault.write('cur/3.host:2,S', { subject: 'Later' })
  expect(await asNobody(index, (mail) => mail.verify())).toMatchObject({
    agrees: false,
    differences: ['cur/3.host:2,S is not in the index'],
  })
  await expect(asNobody(index, (mail) => mail.verify({ purge: true }))).rejects.toMatchObject({
    code: 'E_INDEX_READONLY',
  })
  expect(readdirSync(index).sort()).toEqual(before)
})

test('an index of an older schema that cannot be written is no damaged one', async () => {
  const index = await snapshot([''], true)
  chmodSync(vault.root, 0o755)
  const old = new URL('../fixtures/schema/index-1.db.gz', import.meta.url)
  spawnSync('chmod', ['-R', 'u+w', index])
  writeFileSync(join(index, 'index.db'), gunzipSync(readFileSync(old)))
  spawnSync('chmod', ['-R', 'a-w', index])
  await expect(asNobody(index, (mail) => mail.verify())).rejects.toMatchObject({
    code: 'E_INDEX_READONLY',
    message: expect.stringContaining('older Paperknife'),
  })
})
