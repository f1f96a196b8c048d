import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FLAGS } from '../../src/part/reference.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import { openMailStore } from '../../src/vault/open.js'
import { readMessage } from '../../src/vault/read.js'
import type { VaultEntry, VaultFolder } from '../../src/vault/vault.js'

const MAIL = 'From: anna@example.org\nSubject: hello\nMessage-ID: <a@example.org>\n\nbody\n'
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paperknife-vault-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(path: string | Buffer, content = MAIL): void {
  const place =
    typeof path === 'string' ? join(root, path) : Buffer.concat([Buffer.from(`${root}/`), path])
  if (typeof place === 'string') mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, content)
}

function dirs(...paths: string[]): void {
  for (const path of paths) mkdirSync(join(root, path), { recursive: true })
}

async function listing(): Promise<Array<[string, string, string[]]>> {
  const vault = await openMailStore(root)
  const { folders } = await vault.folders()
  const rows: Array<[string, string, string[]]> = []
  for (const folder of folders) {
    const { entries } = await vault.entries(folder)
    if (entries.length > 0)
      rows.push([folder.kind, folder.name, entries.map(({ path }) => path).sort()])
  }
  return rows
}

const entriesOf = async (): Promise<VaultEntry[]> => {
  const vault = await openMailStore(root)
  const all: VaultEntry[] = []
  for (const folder of (await vault.folders()).folders)
    all.push(...(await vault.entries(folder)).entries)
  return all
}

test('a Maildir++ has INBOX and its dotted folders, their names decoded', async () => {
  dirs(
    'cur',
    'new',
    'tmp',
    '.Archive.2014/cur',
    '.Archive.2014/new',
    '.Entw&APw-rfe/cur',
    '.Entw&APw-rfe/new',
  )
  put('cur/1400000001.M1P1.host:2,FS')
  put('new/1400000002.M2P1.host')
  put('tmp/1400000003.M3P1.host')
  put('.Archive.2014/cur/1400000004.M4P1.host:2,S')
  put('.Entw&APw-rfe/cur/1400000005.M5P1.host:2,D')
  put('dovecot-uidlist', '3 V1\n')
  expect(await listing()).toEqual([
    ['maildir', 'INBOX', ['cur/1400000001.M1P1.host:2,FS', 'new/1400000002.M2P1.host']],
    ['maildir', 'Archive/2014', ['.Archive.2014/cur/1400000004.M4P1.host:2,S']],
    ['maildir', 'Entwürfe', ['.Entw&APw-rfe/cur/1400000005.M5P1.host:2,D']],
  ])
})

test('an mbox beside the folders of a Maildir is read, whatever its name', async () => {
  dirs('cur', 'new', 'tmp', '.Sent/cur', '.Sent/new')
  put('cur/1400000001.M1P1.host:2,S')
  const box = `From a@example.org Mon Mar  2 10:00:00 2020\n${MAIL}\n`
  for (const path of ['Old mail', 'box.mbox', 'courier.mbx', 'maildir-2014', '.Sent/2014'])
    put(path, box)
  for (const path of ['dovecot-uidlist', 'maildirfolder', 'notes']) put(path, '3 V1\n')
  expect((await listing()).sort()).toEqual([
    ['maildir', 'INBOX', ['cur/1400000001.M1P1.host:2,S']],
    ['mbox', '.Sent/2014', ['.Sent/2014']],
    ['mbox', 'Old mail', ['Old mail']],
    ['mbox', 'box', ['box.mbox']],
    ['mbox', 'courier', ['courier.mbx']],
    ['mbox', 'maildir-2014', ['maildir-2014']],
  ])

  // Also in a Maildir that was listed when such files were not looked for, and has not changed since.
  const vault = await openMailStore(root)
  const { folders } = await vault.folders()
  const known = folders
    .filter(({ kind }) => kind === 'maildir')
    .map((folder) => ({
      ...folder,
      isFresh: false,
      fingerprint: folder.fingerprint.replace(/^maildir\d+/, 'maildir'),
    }))
  expect(known).toHaveLength(2)
  expect((await vault.folders(known)).folders).toHaveLength(folders.length)
})

test.each([
  ['1.M1.h:2,FRS', FLAGS.flagged | FLAGS.answered | FLAGS.seen],
  ['1.M1.h;2,S', FLAGS.seen],
  ['1.M1.h!2,TP', FLAGS.trashed | FLAGS.passed],
  ['1.M1.h:2,', 0],
  ['1.M1.h', 0],
])('the flags of %s are read and are no part of its unique name', async (name, flags) => {
  dirs('cur', 'new', 'tmp')
  put(`cur/${name}`)
  expect(await entriesOf()).toMatchObject([{ unique: '1.M1.h', flags }])
})

test('a tree of Maildirs, mail files, mbox and MH folders is found by looking', async () => {
  dirs('anna/cur', 'anna/new', 'karl/Maildir/cur', 'karl/Maildir/new')
  put('anna/cur/1400000001.M1P1.host:2,S')
  put('karl/Maildir/new/1400000002.M2P1.host')
  put('export/2020/one.eml')
  put('export/2020/report.pdf', '%PDF-1.4')
  put('export/2020/notes', 'Todo: buy milk\nLater: sleep\n')
  put('export/2020/without-ending')
  put('old/mh/.mh_sequences', 'unseen: 2\nflagged: 1-2\n')
  put('old/mh/1')
  put('old/mh/2')
  put('box.mbox', `From a@example.org Mon Mar  2 10:00:00 2020\n${MAIL}\n`)
  const rows = await listing()
  expect(rows.sort()).toEqual(
    [
      ['eml', 'export/2020', ['export/2020/one.eml', 'export/2020/without-ending']],
      ['maildir', 'anna', ['anna/cur/1400000001.M1P1.host:2,S']],
      ['maildir', 'karl/Maildir', ['karl/Maildir/new/1400000002.M2P1.host']],
      ['mbox', 'box', ['box.mbox']],
      ['mh', 'old/mh', ['old/mh/1', 'old/mh/2']],
    ].sort(),
  )
  const flags = (await entriesOf())
    .filter(({ path }) => path.startsWith('old/mh'))
    .map((entry) => entry.flags)
  expect(flags).toEqual([FLAGS.seen | FLAGS.flagged, FLAGS.flagged])
})

test('our own folder and symbolic links in a circle are no folders', async () => {
  put('.paperknife/one.eml')
  put('a/one.eml')
  symlinkSync('..', join(root, 'a/up'))
  symlinkSync(root, join(root, 'a/again'))
  expect(await listing()).toEqual([['eml', 'a', ['a/one.eml']]])
})

test.skipIf(process.platform === 'darwin')(
  'a name that is no UTF-8 can be listed and read',
  async () => {
    dirs('sub')
    put(Buffer.from('sub/gr\xfc\\\xdfe.eml', 'latin1'))
    const [entry] = await entriesOf()
    expect(entry?.path).toBe('sub/gr\\xfc\\x5c\\xdfe.eml')
    const vault = await openMailStore(root)
    const read = await readMessage(vault.root, entry as VaultEntry, DEFAULT_LIMITS)
    expect(read).toMatchObject({ kind: 'read' })
  },
)

test('a message renamed for a flag since it was listed is still read', async () => {
  dirs('cur', 'new', 'tmp')
  put('new/1400000001.M1P1.host')
  const [entry] = await entriesOf()
  renameSync(join(root, 'new/1400000001.M1P1.host'), join(root, 'cur/1400000001.M1P1.host:2,S'))
  expect(await readMessage(root, entry as VaultEntry, DEFAULT_LIMITS)).toMatchObject({
    kind: 'read',
    path: 'cur/1400000001.M1P1.host:2,S',
  })
  rmSync(join(root, 'cur/1400000001.M1P1.host:2,S'))
  expect(await readMessage(root, entry as VaultEntry, DEFAULT_LIMITS)).toMatchObject({
    kind: 'gone',
  })
})

test('a message is read up to messageBytes', async () => {
  put('one.eml')
  const [entry] = await entriesOf()
  const read = await readMessage(root, entry as VaultEntry, { messageBytes: 10 })
  expect(read.kind === 'read' && read.bytes.toString()).toBe(MAIL.slice(0, 10))
})

test('an unchanged folder has the same fingerprint, a changed or a new one shows', async () => {
  dirs('cur', 'new', 'tmp', '.A/cur', '.A/new')
  put('cur/1400000001.M1P1.host:2,S')
  const old = new Date(Date.now() - 60_000)
  const age = (): void => {
    for (const path of ['', 'cur', 'new', '.A', '.A/cur', '.A/new'])
      utimesSync(join(root, path), old, old)
  }
  age()
  const vault = await openMailStore(root)
  const first = (await vault.folders()).folders
  expect(first.map(({ isFresh }) => isFresh)).toEqual([false, false])
  const again = (await vault.folders(first)).folders
  expect(again).toEqual(first)

  put('.A/new/1400000002.M2P1.host')
  dirs('.B/cur', '.B/new')
  const changed = (await vault.folders(first)).folders
  const byPath = (folders: VaultFolder[], path: string): VaultFolder | undefined =>
    folders.find((folder) => folder.path === path)
  expect(byPath(changed, '.A')?.fingerprint).not.toBe(byPath(first, '.A')?.fingerprint)
  expect(byPath(changed, '.A')?.isFresh).toBe(true)
  expect(byPath(changed, '.B')).toBeDefined()
})

test.skipIf(process.getuid?.() === 0)(
  'a folder that may not be listed is reported, not empty',
  async () => {
    put('open/one.eml')
    put('shut/two.eml')
    chmodSync(join(root, 'shut'), 0)
    const vault = await openMailStore(root)
    const { folders, unreadable } = await vault.folders()
    chmodSync(join(root, 'shut'), 0o755)
    expect(unreadable).toMatchObject([{ path: 'shut', detail: expect.stringContaining('EACCES') }])
    expect(folders.some(({ path }) => path === 'shut')).toBe(false)
  },
)

test('a vault that is not there is an error that names it', async () => {
  await expect(openMailStore(join(root, 'none'))).rejects.toMatchObject({
    code: 'E_VAULT_UNREADABLE',
    message: expect.stringContaining(join(root, 'none')),
  })
  const vault = await openMailStore(root)
  rmSync(root, { recursive: true })
  await expect(vault.folders()).rejects.toMatchObject({ code: 'E_VAULT_UNREADABLE' })
})

test('a single file is a vault of one message, or of one mbox', async () => {
  put('one.eml')
  put('box', `From a Mon Mar  2 10:00:00 2020\n${MAIL}\nFrom b Mon Mar  2 10:00:01 2020\n${MAIL}\n`)
  for (const [name, kind, count] of [
    ['one.eml', 'file', 1],
    ['box', 'mbox', 2],
  ] as const) {
    const vault = await openMailStore(join(root, name))
    const [folder] = (await vault.folders()).folders
    expect(folder).toMatchObject({ kind, path: name })
    const { entries } = await vault.entries(folder as VaultFolder)
    expect(entries).toHaveLength(count)
    expect(await readMessage(vault.root, entries[0] as VaultEntry, DEFAULT_LIMITS)).toMatchObject({
      kind: 'read',
    })
  }
})

test('the entry of a delivery is the one that a listing gives', async () => {
  dirs('cur', 'new', 'tmp')
  put('new/1400000001.M1P1.host')
  put('sub/two.eml')
  const vault = await openMailStore(root)
  for (const path of ['new/1400000001.M1P1.host', 'sub/two.eml']) {
    const found = await vault.entryAt(join(root, path))
    const folder = (await vault.folders()).folders.find((one) => one.path === found?.folder.path)
    expect(found?.folder).toEqual(folder)
    expect((await vault.entries(folder as VaultFolder)).entries).toContainEqual(found?.entry)
  }
  expect(await vault.entryAt('new/none')).toBeUndefined()
  expect(await vault.entryAt('/etc/hostname')).toBeUndefined()
})
