/** A disk that is full in mid-sweep: it is said, exit 75, what was read stays, and with space again the sweep completes. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { CLI, contentsOf, recorded, TestVault } from './mailbox.js'

const MESSAGES = 60

let vault: TestVault
let whole: Record<string, unknown>
beforeAll(() => {
  vault = new TestVault()
  for (let n = 0; n < MESSAGES; n++)
    vault.write(`cur/${n}.host:2,S`, {
      subject: `Letter ${n}`,
      body: words('body', n, 400),
      date: new Date(Date.UTC(2026, 0, 1 + n)).toUTCString(),
      attachments: { [`a${n}.txt`]: words('attachment', n, 2_000) },
    })
  expect(vault.command(index(vault.path('whole'))).status).toBe(0)
  whole = contentsOf(vault.path('whole'))
})
afterAll(() => vault.remove())
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Words that no other letter has, so that each needs its space. */
function words(kind: string, n: number, count: number): string {
  return Array.from({ length: count }, (_, i) => `${kind}${n}x${(i * 7919 + n) % 9973}`).join(' ')
}

function index(directory: string): string[] {
  return ['index', vault.root, '--index', directory, '--ocr', 'off', '--workers', '1']
}

/** Runs once more with space: everything is there, and nothing that was recorded is read again. */
function expectCompletes(directory: string): void {
  const before = recorded(directory)
  const completed = vault.command([...index(directory), '--json'])
  expect(completed.status).toBe(0)
  const { contents } = JSON.parse(completed.stdout) as { contents: { ok?: number } }
  expect((contents.ok ?? 0) + before).toBe(MESSAGES)
  expect(contentsOf(directory)).toEqual(whole)
  expect(vault.command(['verify', vault.root, '--index', directory]).status).toBe(0)
}

test.each([
  ['index.db', 30, 'before the first row'],
  ['index.db', 120, 'while attachments are put into the index'],
  ['extracts.db', 8, 'before the first content'],
  ['extracts.db', 40, 'while texts are recorded'],
])(
  '%s that may not pass %i pages is full %s, and completes with space',
  (name, pages) => {
    const directory = vault.path(`quota-${name}-${pages}`)
    // A second try on a disk that is still full loses nothing either.
    for (let attempt = 0; attempt < 2; attempt++) {
      const full = vault.command(index(directory), { PAPERKNIFE_PAGES_MAX: `${name}:${pages}` })
      expect(full.stderr).toContain(`no space left for the index in ${directory}`)
      expect(full.status).toBe(75)
    }
    expectCompletes(directory)
  },
  60_000,
)

test('what a full disk left of mail that is deleted then, and what a lost index.db knew of it, goes too', () => {
  const directory = vault.path('left-behind')
  const verify = (): unknown => vault.command(['verify', vault.root, '--index', directory])
  const gone = vault.write('cur/gone.host:2,S', { attachments: { 'gone.txt': 'gooseberries' } })
  const full = vault.command(index(directory), { PAPERKNIFE_PAGES_MAX: 'index.db:30' })
  expect(full.status).toBe(75)
  rmSync(vault.path(gone))
  expect(vault.command(index(directory)).status).toBe(0)
  expect(verify()).toMatchObject({ status: 0 })
  expect(contentsOf(directory)).toEqual(whole)

  vault.write(gone, { attachments: { 'gone.txt': 'gooseberries' } })
  expect(vault.command(index(directory)).status).toBe(0)
  rmSync(vault.path(gone))
  rmSync(join(directory, 'index.db'))
  expect(vault.command(index(directory)).status).toBe(0)
  expect(verify()).toMatchObject({ status: 0 })
  expect(contentsOf(directory)).toEqual(whole)
}, 60_000)

test('a host is told that the disk is full, goes on searching, and completes with space', async () => {
  vi.stubEnv('PAPERKNIFE_PAGES_MAX', 'extracts.db:40')
  const directory = vault.path('host')
  const mail = await vault.open({ index: directory, sweeper: 'process' })
  try {
    await expect(mail.sweep()).rejects.toMatchObject({ code: 'E_DISK_FULL' })
    expect((await mail.search('letter', { limit: 100 })).hits).toHaveLength(MESSAGES)
  } finally {
    await mail.close()
  }
  vi.unstubAllEnvs()
  expectCompletes(directory)
}, 60_000)

const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0

// The log fills the disk here, long before a database does.
test.runIf(canMount).each([600, 1_800, 3_000])(
  'a disk of %i kB that fills with the log, and is then made larger',
  (kilobytes) => {
    const disk = vault.path(`disk-${kilobytes}`)
    const kept = vault.path(`kept-${kilobytes}`)
    mkdirSync(disk)
    const run = `"${process.execPath}" "${CLI}" ${index(`${disk}/index`).join(' ')}`
    const { stdout, stderr } = spawnSync(
      'unshare',
      [
        '-rm',
        'sh',
        '-c',
        `mount -t tmpfs -o size=${kilobytes}k none ${disk} || exit 1
         ${run}; echo full $?; ${run}; echo full $?
         mount -o remount,size=100m ${disk}
         ${run}; echo then $?
         cp -r ${disk}/index ${kept}`,
      ],
      { encoding: 'utf8', timeout: 60_000 },
    )
    expect(stdout).toBe('full 75\nfull 75\nthen 0\n')
    expect(stderr).toContain(`no space left for the index in ${disk}`)
    expect(contentsOf(kept)).toEqual(whole)
    expect(vault.command(['verify', vault.root, '--index', kept]).status).toBe(0)
  },
  90_000,
)

test.runIf(canMount)(
  'nothing that is read or recognised needs room for temporary files',
  () => {
    const temporary = vault.path('temporary')
    mkdirSync(temporary)
    const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))
    const { stdout } = spawnSync(
      'unshare',
      [
        '-rm',
        'sh',
        '-c',
        `mount -t tmpfs -o size=4k,nr_inodes=1 none ${temporary} || exit 1
       TMPDIR=${temporary} "${process.execPath}" "${CLI}" extract --json ${fixtures}/image ${fixtures}/nest ${fixtures}/pdf`,
      ],
      { encoding: 'utf8', timeout: 120_000 },
    )
    const states = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { state: string }).state)
    expect(states.length).toBeGreaterThan(10)
    expect(states).not.toContain('failed-transient')
  },
  150_000,
)
