import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HOSTILE } from '../../scripts/make/hostile.js'
import type { Mail, ReExtractOptions, SweepReport } from '../../src/api.js'
import { CLI, contentsOf, FAULTS, letter, TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail
beforeEach(() => {
  vault = new TestVault()
})
afterEach(async () => {
  await mail?.close()
  vault.remove()
  vi.unstubAllEnvs()
})

async function open(options: Parameters<TestVault['open']>[0] = {}): Promise<void> {
  await mail?.close()
  mail = await vault.open(options)
}

async function find(query: string): Promise<string[]> {
  const { hits } = await mail.search(query)
  return hits.map(({ subject }) => subject)
}

/** Sweeps as if some time had gone by since the vault changed. */
async function sweepLater(): Promise<SweepReport> {
  vault.settle()
  return mail.sweep()
}

const NOTHING = { added: 0, changed: 0, moved: 0, removed: 0, unreadable: 0 }
const BUDGET = readFileSync(new URL('../fixtures/office/budget.docx', import.meta.url))

test('a mail with a Word document is found by its words, and shows where', async () => {
  vault.write('cur/1.host:2,S', {
    subject: 'Plans',
    body: 'see below',
    attachments: { 'plan.docx': BUDGET },
  })
  await open()
  const report = await mail.sweep()
  expect(report.messages).toMatchObject({ added: 1, total: 1 })
  expect(report.contents).toEqual({ ok: 1 })
  const { hits, coverage } = await mail.search('gutter')
  expect(hits).toMatchObject([
    {
      subject: 'Plans',
      matched: ['attachments'],
      attachmentOnly: true,
      attachments: ['plan.docx'],
    },
  ])
  expect(coverage).toEqual({ contents: 1, readable: 1, pending: 0, unreadable: 0 })
  const [excerpt] = await mail.excerpts(hits)
  expect(excerpt?.attachments[0]).toMatchObject({ name: 'plan.docx' })
  expect(excerpt?.attachments[0]?.snippet).toContain('gutter')
})

test('a second sweep changes nothing and reads nothing', async () => {
  vault.write('cur/1.host:2,S', { subject: 'One', attachments: { 'a.txt': 'apples' } })
  vault.write('new/2.host', { subject: 'Two' })
  await open()
  await mail.sweep()
  const before = contentsOf(vault.path('.paperknife'))
  for (const sweep of [mail.sweep(), sweepLater(), mail.sweep({ full: true })]) {
    const report = await sweep
    expect(report.messages).toMatchObject(NOTHING)
    expect(report.contents).toEqual({})
  }
  expect(contentsOf(vault.path('.paperknife'))).toEqual(before)
})

test('what an extractor declined as unsupported is not read again by the same one', async () => {
  const nested = Buffer.from((await HOSTILE['nested.p7m']?.()) ?? [])
  vault.write('cur/1.host:2,S', { subject: 'Sealed', attachments: { 'nested.p7m': nested } })
  await open()
  expect((await mail.sweep()).contents).toEqual({ unsupported: 1 })
  expect((await mail.sweep()).contents).toEqual({})
  expect(await mail.reExtract({ stale: true, dryRun: true })).toMatchObject({ contents: 0 })
  expect((await mail.explain('nested.p7m'))[0]?.parts[0]?.next).toContain('version changes')
})

test('flags, moves and deletions are followed without reading a mail again', async () => {
  vault.write('new/1.host', { subject: 'Flagged' })
  vault.write('cur/2.host:2,S', { subject: 'Moved', attachments: { 'm.txt': 'marmalade' } })
  vault.write('cur/3.host:2,', { subject: 'Deleted', attachments: { 'd.txt': 'damson' } })
  for (const name of ['cur', 'new', 'tmp'])
    mkdirSync(vault.path('.Work', name), { recursive: true })
  await open()
  await mail.sweep()
  renameSync(vault.path('new/1.host'), vault.path('cur/1.host:2,FS'))
  renameSync(vault.path('cur/2.host:2,S'), vault.path('.Work/cur/2.host:2,RS'))
  rmSync(vault.path('cur/3.host:2,'))
  const report = await sweepLater()
  expect(report.messages).toMatchObject({ added: 0, changed: 0, moved: 2, removed: 1, total: 2 })
  expect(report.contents).toEqual({})
  expect((await mail.search('flagged')).hits[0]?.flags).toEqual(['seen', 'flagged'])
  expect((await mail.search('marmalade')).hits[0]).toMatchObject({ folder: 'Work' })
  expect(await find('damson')).toEqual([])
  expect((await mail.status()).contents).toEqual({ ok: 1 })
})

test('a file name that now holds another mail is noticed, and no word of the old one stays', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Old words', attachments: { 'o.txt': 'obsolete' } })
  await open()
  await mail.sweep()
  vault.write('cur/1.host:2,S', { subject: 'New', attachments: { 'n.txt': 'novelty' } })
  const report = await mail.sweep({ full: true })
  expect(report.messages).toMatchObject({ added: 0, changed: 1, total: 1 })
  expect(await find('obsolete')).toEqual([])
  expect(await find('old')).toEqual([])
  expect(await find('novelty')).toEqual(['New'])
})

test('a mail that cannot be read has a row, and is read at a later sweep', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Secret' })
  vault.write('cur/2.host:2,S', { subject: 'Open', attachments: { 'a.txt': 'apricots' } })
  chmodSync(vault.path('cur/1.host:2,S'), 0)
  await asOrdinaryUser(async () => {
    await open()
    const report = await mail.sweep()
    expect(report.messages).toMatchObject({ added: 1, unreadable: 1, total: 2 })
    expect(await find('open')).toEqual(['Open'])
    expect((await sweepLater()).messages).toMatchObject({ added: 0, unreadable: 1, total: 2 })
    expect((await mail.status()).messagesUnreadable).toBe(1)
    chmodSync(vault.path('cur/1.host:2,S'), 0o600)
    expect((await sweepLater()).messages).toMatchObject({ changed: 1, unreadable: 0, total: 2 })
    expect((await mail.status()).messagesUnreadable).toBe(0)
    expect(await find('secret')).toEqual(['Secret'])
    await mail.close()
  })
})

test('what was cut is read once under a larger limit, also beside a mail that cannot be read', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Secret' })
  vault.write('cur/2.host:2,S', { subject: 'Long', body: 'nutmeg '.repeat(9_000) })
  chmodSync(vault.path('cur/1.host:2,S'), 0)
  await asOrdinaryUser(async () => {
    await open({ limits: { messageBytes: 1_000 } })
    await mail.sweep()
    await open({ limits: { messageBytes: 2_000 } })
    expect((await mail.sweep()).messages).toMatchObject({ changed: 1, unreadable: 1 })
    expect((await sweepLater()).messages).toMatchObject({ changed: 0, unreadable: 1 })
  })
})

test('a content whose mail cannot be read is tried again, and never becomes a poison file', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Shut', attachments: { 'a.txt': 'apricots' } })
  await asOrdinaryUser(async () => {
    await open({ attachments: 'off' })
    await mail.sweep()
    chmodSync(vault.path('cur/1.host:2,S'), 0)
    await open()
    vi.setSystemTime(Date.now())
    for (let n = 0; n < 5; n++) {
      expect((await mail.sweep()).contents).toEqual({ 'failed-transient': 1 })
      vi.setSystemTime(Date.now() + 86_400_000)
    }
    chmodSync(vault.path('cur/1.host:2,S'), 0o600)
    expect((await mail.sweep()).contents).toEqual({ ok: 1 })
    vi.useRealTimers()
    await mail.close()
  })
})

/** Root reads everything: what is about permissions is tried as nobody. */
async function asOrdinaryUser(run: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return run()
  execFileSync('chown', ['-R', '65534:65534', vault.root])
  process.seteuid?.(65534)
  try {
    await run()
  } finally {
    await mail?.close()
    process.seteuid?.(0)
  }
}

test('a vault that is gone, or whose place another folder took, loses no row', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Kept' })
  const index = vault.path('.paperknife')
  await open({ index })
  await mail.sweep()
  const aside = `${vault.root}-aside`
  renameSync(vault.root, aside)
  mkdirSync(vault.root)
  renameSync(`${aside}/.paperknife`, index)
  await open({ index })
  await expect(mail.sweep()).rejects.toMatchObject({ code: 'E_VAULT_UNREADABLE' })
  expect(await find('kept')).toEqual(['Kept'])
  await mail.close()
  renameSync(index, `${aside}/.paperknife`)
  rmSync(vault.root, { recursive: true })
  renameSync(aside, vault.root)
  await open({ index })
  expect((await mail.sweep()).messages).toMatchObject({ ...NOTHING, total: 1 })
})

test('a vault that was copied, and whose every message has other flags since, is known by its names', async () => {
  vault.write('cur/1.host:2,', { subject: 'Kept' })
  const index = vault.path('.paperknife')
  await open({ index })
  await mail.sweep()
  await mail.close()
  const aside = `${vault.root}-aside`
  renameSync(vault.root, aside)
  execFileSync('cp', ['-rp', aside, vault.root])
  rmSync(aside, { recursive: true })
  renameSync(vault.path('cur/1.host:2,'), vault.path('cur/1.host:2,S'))
  await open({ index })
  expect((await mail.sweep()).messages).toMatchObject({ ...NOTHING, moved: 1, total: 1 })
  expect(await find('kept')).toEqual(['Kept'])
})

test('a missing vault says so', async () => {
  mail = await (
    await import('../../src/api.js')
  ).openVault({
    vault: '/nowhere/at/all',
    index: vault.path('elsewhere'),
    sweeper: 'inline',
  })
  await expect(mail.sweep()).rejects.toMatchObject({ code: 'E_VAULT_UNREADABLE' })
})

test('the same document in many mails is read once', async () => {
  for (let n = 0; n < 5; n++)
    vault.write(`cur/${n}.host:2,S`, { subject: `Copy ${n}`, attachments: { 'a.txt': 'apricots' } })
  await open()
  expect((await mail.sweep()).contents).toEqual({ ok: 1 })
  expect(await find('apricots')).toHaveLength(5)
})

test('where no texts are kept, attachments are found all the same', async () => {
  vault.write('cur/1.host:2,S', {
    subject: 'Unkept',
    body: 'b',
    attachments: { 'a.txt': 'apricots' },
  })
  await open({ keepTexts: 'off' })
  await mail.sweep()
  const { hits } = await mail.search('apricots')
  expect(hits).toMatchObject([{ subject: 'Unkept', attachmentOnly: true }])
  expect(await find('unkept')).toEqual(['Unkept'])
  expect(await mail.verify()).toMatchObject({ agrees: true })
})

test('where no texts are kept, mail that cannot be read keeps no other from its words', async () => {
  const old: string[] = []
  for (let n = 0; n < 60; n++)
    old.push(
      vault.write(`cur/${n}.host:2,S`, {
        subject: `Old ${n}`,
        date: `Sun, 1 Feb 2026 10:00:${String(n).padStart(2, '0')} +0100`,
        attachments: { 'a.txt': 'apricots' },
      }),
    )
  vault.write('cur/new.host:2,S', { subject: 'New', attachments: { 'a.txt': 'apricots' } })
  await open({ keepTexts: 'off' })
  await mail.sweep({
    // Listed, the text read once, and then away before the messages are read again for it.
    onProgress: ({ phase }) => {
      if (phase === 'text') for (const path of old.splice(0)) rmSync(vault.path(path))
    },
  })
  expect(old).toEqual([])
  expect(await find('apricots')).toEqual(['New'])
})

test('attachments switched on later are all read then', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Later', attachments: { 'a.txt': 'apricots' } })
  await open({ attachments: 'off' })
  expect((await mail.sweep()).contents).toEqual({})
  expect(await find('apricots')).toEqual([])
  expect(await find('later')).toEqual(['Later'])
  await open()
  expect((await mail.sweep()).contents).toEqual({ ok: 1 })
  expect(await find('apricots')).toEqual(['Later'])
})

// nextcloud/fulltextsearch#234: one locked document ended the whole index
test('states: too large, locked, unknown, lying names', async () => {
  const locked = new URL('../fixtures/pdf/locked.pdf', import.meta.url)
  vault.write('cur/1.host:2,S', {
    subject: 'Kinds',
    attachments: {
      'locked.pdf': readFileSync(locked),
      'large.txt': 'x'.repeat(5_000),
      'letter.docx': 'a text that calls itself a document',
      'blob.xyz': Buffer.from([0, 1, 2, 3, 250, 251, 252, 0, 9, 8, 7, 0]),
    },
  })
  await open({ limits: { partBytes: 4_000 } })
  await mail.sweep()
  const [explained] = await mail.explain('cur/1.host:2,S')
  expect(explained?.parts.map(({ name, state }) => [name, state])).toEqual([
    ['locked.pdf', 'locked'],
    ['large.txt', 'too-large'],
    ['letter.docx', 'ok'],
    ['blob.xyz', 'unsupported'],
  ])
  expect(explained?.parts[1]?.next).toBe('read again when the limits change')
  expect(await find('calls itself')).toEqual(['Kinds'])

  await open({ limits: { partBytes: 6_000 } })
  expect((await mail.sweep()).contents).toEqual({ ok: 1 })
  expect((await mail.sweep()).contents).toEqual({})
})

test('a content that does harm costs its attempts and none of its neighbours', async () => {
  vi.stubEnv('PAPERKNIFE_FAULTS', FAULTS)
  vault.write('cur/1.host:2,S', {
    subject: 'Poison',
    attachments: {
      'a.txt': 'FAULT text apples',
      'b.txt': 'FAULT exit',
      'c.txt': 'FAULT spin',
      'd.txt': 'FAULT text damsons',
    },
  })
  await open({ limits: { textTimeoutMs: 500, maxAttempts: 2 } })
  const first = await mail.sweep()
  expect(first.contents).toEqual({ ok: 2, 'failed-transient': 2 })
  expect(first.retries).toBe(2)
  expect(first.nextDue).toBeGreaterThan(Date.now() / 1000)
  expect(await find('apples damsons')).toEqual(['Poison'])
  expect((await mail.sweep()).contents).toEqual({})

  vi.setSystemTime(Date.now() + 3_600_000)
  expect((await mail.sweep()).contents).toEqual({ 'gave-up': 2 })
  vi.setSystemTime(Date.now() + 86_400_000)
  expect((await mail.sweep()).contents).toEqual({})
  vi.useRealTimers()
  const [explained] = await mail.explain('cur/1.host:2,S')
  expect(explained?.parts[2]).toMatchObject({
    state: 'gave-up',
    detail: 'timeout: over 500 ms',
    attempts: 2,
  })
  expect(await mail.reExtract({ states: ['gave-up'], dryRun: true })).toMatchObject({
    contents: 2,
    byState: { 'gave-up': 2 },
  })
  expect(await mail.reExtract({ name: 'b.*' })).toMatchObject({ contents: 1 })
  expect((await mail.sweep()).contents).toEqual({ 'failed-transient': 1 })
})

/** Runs without the rights of root, whom no permission keeps out. */
async function unprivileged<Result>(run: () => Promise<Result>): Promise<Result> {
  chmodSync(vault.root, 0o755)
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    return await run()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

test.runIf(process.platform !== 'win32')(
  'a folder that cannot be listed is a difference to verify, and no end of it',
  async () => {
    for (const part of ['.Box/cur', '.Box/new', '.Box/tmp'])
      mkdirSync(vault.path(part), { recursive: true })
    vault.write('.Box/cur/1.host:2,S', { subject: 'Boxed', attachments: { 'a.txt': 'apricots' } })
    vault.write('cur/2.host:2,S', { subject: 'Beside' })
    await open()
    await mail.sweep()
    vault.write('cur/3.host:2,S', { subject: 'Later' })
    chmodSync(vault.path('.Box/cur'), 0)
    const { agrees, differences } = await unprivileged(() => mail.verify())
    expect(agrees).toBe(false)
    expect(differences).toEqual(
      expect.arrayContaining([
        expect.stringContaining('.Box cannot be listed (EACCES'),
        'cur/3.host:2,S is not in the index',
      ]),
    )
    expect(differences).toHaveLength(2)

    chmodSync(vault.path('.Box'), 0)
    expect((await unprivileged(() => mail.verify())).differences).toEqual([
      expect.stringContaining('.Box cannot be read (EACCES'),
      'cur/3.host:2,S is not in the index',
    ])
  },
)

test.runIf(process.platform !== 'win32')(
  'a folder that cannot be listed keeps its messages, and the others are read',
  async () => {
    for (const part of ['.Box/cur', '.Box/new', '.Box/tmp'])
      mkdirSync(vault.path(part), { recursive: true })
    vault.write('.Box/cur/1.host:2,S', { subject: 'Boxed' })
    await open()
    await mail.sweep()
    vault.write('.Box/cur/2.host:2,S', { subject: 'Hidden' })
    vault.write('cur/3.host:2,S', { subject: 'Beside' })
    chmodSync(vault.path('.Box/cur'), 0)
    const { messages, unreadable } = await unprivileged(() => mail.sweep())
    expect(messages).toMatchObject({ added: 1, removed: 0, total: 2 })
    expect(unreadable).toEqual([
      { path: '.Box', detail: expect.stringContaining('EACCES') as string },
    ])
    chmodSync(vault.path('.Box/cur'), 0o755)
    expect((await mail.sweep()).messages).toMatchObject({ added: 1, removed: 0, total: 3 })
  },
)

test('more contents than are listed at one time are all read again', async () => {
  vault.write('cur/1.host:2,S', { subject: 'One', attachments: { 'a.txt': 'apricots' } })
  await open()
  await mail.sweep()
  await mail.close()
  const extracts = new Database(vault.path('.paperknife', 'extracts.db'))
  extracts
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000)
       INSERT INTO content (hash, size, state, lane, why, newest, declared_type)
       SELECT randomblob(32), 1, 'damaged', 'text', 'never-seen', 1, 'text/plain' FROM n`,
    )
    .run()
  extracts.close()
  await open()
  expect(await mail.reExtract({ dryRun: true })).toMatchObject({
    contents: 45_001,
    byState: { ok: 1, damaged: 45_000 },
  })
})

test("re-extract chooses by media type, extractor and file name ending, and says when a name is nobody's", async () => {
  vault.write('cur/1.host:2,S', {
    messageId: 'one@example.org',
    attachments: { 'a.TXT': 'apples', 'b.csv': 'pear,plum\n1,2\n', 'c.md': '# cherries' },
  })
  vault.write('cur/2.host:2,S', { messageId: 'bare@example.org' })
  await open()
  await mail.sweep()
  const chosen = async (options: ReExtractOptions): Promise<number> =>
    (await mail.reExtract({ ...options, dryRun: true })).contents
  expect(await chosen({ type: 'text/csv' })).toBe(1)
  expect(await chosen({ type: 'text/*' })).toBe(3)
  expect(await chosen({ type: 'plain' })).toBe(2)
  expect(await chosen({ type: 'txt' })).toBe(1)
  expect(await chosen({ type: '.md' })).toBe(1)
  expect(await chosen({ type: 'pdf' })).toBe(0)
  expect(await chosen({ of: '<one@example.org>', type: 'csv' })).toBe(1)
  expect(await chosen({ of: 'bare@example.org' })).toBe(0)
  for (const of of ['nobody@example.org', 'cur/3.host:2,S', '0'.repeat(64)])
    await expect(chosen({ of })).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
})

test('a reader that stays open sees the extracts that were put in the place of damaged ones', async () => {
  vault.write('cur/1.host:2,S', { attachments: { 'a.txt': 'apples' } })
  await open()
  await mail.sweep()
  await mail.close()
  mail = await vault.open()
  expect((await mail.status()).contents).toEqual({ ok: 1 })
  writeFileSync(vault.path('.paperknife/extracts.db'), Buffer.alloc(50_000, 'x'))
  const other = await vault.open({ attachments: 'off' })
  expect((await other.sweep()).setAside).toHaveLength(1)
  await other.close()
  expect((await mail.status()).contents).toEqual({ pending: 1 })
})

// Handed over as arguments, the rows of a large folder are more than the stack holds; a small stack shows it sooner.
test('a folder of many messages may go at once', () => {
  const one = (n: number): string =>
    `From a@b.example Thu Jan  1 00:00:00 2026\nSubject: x\nMessage-ID: <${n}@example.org>\n\nb\n\n`
  vault.write('many.mbox', Buffer.from(Array.from({ length: 12_000 }, (_, n) => one(n)).join('')))
  const index = (): SweepReport =>
    JSON.parse(
      execFileSync(process.execPath, ['--stack-size=100', CLI, 'index', vault.root, '--json'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as SweepReport
  expect(index().messages.added).toBe(12_000)
  rmSync(vault.path('many.mbox'))
  expect(index().messages).toMatchObject({ removed: 12_000, total: 0 })
})

test('a stopped sweep gives its claims back and the next one finishes', async () => {
  vi.stubEnv('PAPERKNIFE_FAULTS', FAULTS)
  for (let n = 0; n < 6; n++)
    vault.write(`cur/${n}.host:2,S`, {
      subject: `Slow ${n}`,
      attachments: { 'a.txt': `FAULT slow 300 ${n}` },
    })
  await open()
  const stop = new AbortController()
  const stopped = await mail.sweep({
    signal: stop.signal,
    onProgress: ({ phase }) => {
      if (phase === 'text') stop.abort()
    },
  })
  expect(stopped.stopped).toBe(true)
  const { contents } = await mail.status()
  expect(contents['extracting'] ?? 0).toBe(0)
  expect(contents['pending']).toBeGreaterThan(0)
  await mail.sweep()
  expect((await mail.status()).contents).toEqual({ ok: 6 })
  const [explained] = await mail.explain('cur/0.host:2,S')
  expect(explained?.parts[0]?.attempts).toBe(1)
})

test('a paused sweep begins nothing, goes on when told to, and can be stopped while it waits', async () => {
  for (let n = 0; n < 3; n++)
    vault.write(`cur/${n}.host:2,S`, { attachments: { 'a.txt': `apricots ${n}` } })
  await open()
  mail.pause()
  const stop = new AbortController()
  const first = mail.sweep({ signal: stop.signal })
  await new Promise((resolve) => setTimeout(resolve, 300))
  stop.abort()
  expect(await first).toMatchObject({ stopped: true, contents: {} })
  const second = mail.sweep()
  await new Promise((resolve) => setTimeout(resolve, 300))
  mail.resume()
  expect((await second).contents).toEqual({ ok: 3 })
})

test('a delivery is searchable at once and its folder is not compared', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Before' })
  await open()
  await mail.sweep()
  vault.write('new/2.host', { subject: 'Arrived', attachments: { 'a.txt': 'apricots' } })
  const { id } = await mail.deliver(vault.path('new/2.host'))
  expect((await mail.search('arrived')).hits).toMatchObject([{ id, flags: [] }])
  const report = await mail.sweep()
  expect(report.messages).toMatchObject(NOTHING)
  expect(report.contents).toEqual({ ok: 1 })
  await expect(mail.deliver('new/3.host')).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
})

test('a mail that the system tells of twice, also while a sweep lists it, is one message', async () => {
  vault.write('cur/1.host:2,S', { subject: 'Before' })
  await open()
  await mail.sweep()
  vault.write('new/2.host', { subject: 'Arrived' })
  const path = vault.path('new/2.host')
  const told = [mail.deliver(path), mail.deliver(path), mail.sweep(), mail.deliver(path)] as const
  const [first, second, , third] = await Promise.all(told)
  expect([second.id, third.id]).toEqual([first.id, first.id])
  expect((await mail.search('arrived')).hits).toMatchObject([{ id: first.id }])
  expect((await mail.verify()).agrees).toBe(true)
})

test('a mail that was written over and is delivered while a sweep compares its folder is one message', async () => {
  vault.write('loose/1.eml', { subject: 'Before' })
  await open()
  await mail.sweep()
  // Another date is another row id.
  vault.write('loose/1.eml', { subject: 'Changed', date: 'Mon, 2 Mar 2026 10:00:00 +0100' })
  const [{ id }] = await Promise.all([
    mail.deliver(vault.path('loose/1.eml')),
    mail.sweep({ full: true }),
  ])
  expect((await mail.search('changed')).hits).toMatchObject([{ id }])
  expect((await mail.sweep({ full: true })).messages).toMatchObject({ ...NOTHING, total: 1 })
})

test('a mail put in the place of another as long inside an mbox file is found by a full sweep', async () => {
  const box = (changed: number): Buffer =>
    Buffer.concat(
      Array.from({ length: 100 }, (_, n) => [
        Buffer.from('From - Sun Mar  1 10:00:00 2026\n'),
        letter({
          subject: n === changed ? 'Other' : 'Plain',
          messageId: `${n === changed ? 'other' : 'plain'}.${n}@example.org`,
        }),
        Buffer.from('\n\n'),
      ]).flat(),
    )
  vault.write('box.mbox', box(-1))
  await open()
  await mail.sweep()
  // Between two samples.
  vault.write('box.mbox', box(50))
  expect((await mail.sweep({ full: true })).messages).toMatchObject({
    added: 1,
    removed: 1,
    total: 100,
  })
  expect(await find('subject:other')).toEqual(['Other'])
})

test('a delivery may be named through a link that leads into the vault', async () => {
  const link = `${vault.root}-link`
  symlinkSync(vault.root, link)
  try {
    await open()
    vault.write('new/2.host', { subject: 'Arrived' })
    const { id } = await mail.deliver(`${link}/new/2.host`)
    expect((await mail.search('arrived')).hits).toMatchObject([{ id, path: 'new/2.host' }])
    await expect(mail.deliver(`${link}/new/3.host`)).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
  } finally {
    rmSync(link)
  }
})

test('verify agrees after a sweep and tells every difference after that', async () => {
  vault.write('cur/1.host:2,S', { subject: 'One', attachments: { 'a.txt': 'apricots' } })
  await open()
  await mail.sweep()
  expect(await mail.verify()).toMatchObject({ agrees: true, differences: [], messages: 1 })
  vault.write('cur/2.host:2,S', { subject: 'Two' })
  expect((await mail.verify()).differences).toEqual(['cur/2.host:2,S is not in the index'])
})

test('text of a deleted mail is in no file of the index after a purge', async () => {
  vault.write('cur/1.host:2,S', {
    subject: 'Zwetschgenkuchen',
    body: 'quittengelee',
    attachments: { 'mirabellen.txt': 'holunderbluetensirup' },
  })
  vault.write('cur/2.host:2,S', { subject: 'Stays' })
  await open({ keepTexts: 'on' })
  await mail.sweep()
  rmSync(vault.path('cur/1.host:2,S'))
  await mail.sweep({ full: true })
  expect(await mail.verify({ purge: true })).toMatchObject({ agrees: true, purged: true })
  await mail.close()
  for (const file of ['index.db', 'extracts.db'])
    for (const word of ['wetschgenkuchen', 'quittengelee', 'holunderbluetensirup', 'mirabellen'])
      expect(
        readFileSync(vault.path('.paperknife', file)).includes(word),
        `${word} in ${file}`,
      ).toBe(false)
})

test('a mail whose date lies says when it came by its file', async () => {
  writeFileSync(
    vault.path('cur/1.host:2,S'),
    letter({ subject: 'Liar', date: 'Mon, 1 Jan 1900 00:00:00 +0000' }),
  )
  utimesSync(vault.path('cur/1.host:2,S'), 1_600_000_000, 1_600_000_000)
  await open()
  await mail.sweep()
  expect((await mail.search('liar')).hits[0]?.date).toBe(1_600_000_000)
})

test('several vaults are searched as one, page by page', async () => {
  const other = new TestVault()
  try {
    for (let n = 0; n < 4; n++) {
      vault.write(`cur/${n}.a:2,S`, { subject: `A ${n}`, body: 'pear', date: day(n * 2) })
      other.write(`cur/${n}.b:2,S`, { subject: `B ${n}`, body: 'pear', date: day(n * 2 + 1) })
    }
    const { openVault } = await import('../../src/api.js')
    mail = await openVault({ vaults: [vault.root, other.root], sweeper: 'inline', ocr: false })
    expect((await mail.sweep()).messages).toMatchObject({ added: 8, total: 8 })
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await mail.search('pear', { limit: 3, ...(after !== undefined && { after }) })
      seen.push(...page.hits.map(({ subject, vault: at }) => `${subject} in ${at}`))
      after = page.next
    } while (after !== undefined)
    expect(seen).toEqual([3, 2, 1, 0].flatMap((n) => [`B ${n} in 1`, `A ${n} in 0`]))
    expect((await mail.excerpts((await mail.search('pear')).hits))[0]?.vault).toBe(1)
    expect((await mail.search('pear', { countBy: 'year' })).counts).toEqual([
      { value: '2026', messages: 8 },
    ])
    const ranked: string[] = []
    for (after = undefined; ;) {
      const page = await mail.search('pear', {
        limit: 3,
        sort: 'relevance',
        ...(after && { after }),
      })
      ranked.push(...page.hits.map(({ subject }) => subject))
      after = page.next
      if (after === undefined) break
    }
    expect(new Set(ranked).size).toBe(8)
    expect(ranked).toHaveLength(8)
    await expect(mail.search('pear', { after: '5' })).rejects.toThrow(/`next`/)
  } finally {
    await mail.close()
    other.remove()
  }
})

test('of several vaults, one that holds the word itself keeps similar words of the others away', async () => {
  const other = new TestVault()
  try {
    vault.write('cur/1.a:2,S', { subject: 'exact', body: 'gooseberry' })
    vault.write('cur/2.a:2,S', { subject: 'exact too', body: 'gooseberry' })
    other.write('cur/1.b:2,S', { subject: 'similar', body: 'goosebarry' })
    const { openVault } = await import('../../src/api.js')
    mail = await openVault({ vaults: [vault.root, other.root], sweeper: 'inline', ocr: false })
    await mail.sweep()
    const first = await mail.search('gooseberry', { limit: 1 })
    expect(first).toMatchObject({ tier: 'exact', terms: ['gooseberry'], hits: [{ vault: 0 }] })
    const second = await mail.search('gooseberry', { limit: 5, after: first.next as string })
    expect(second.hits.map(({ subject }) => subject)).toEqual(['exact'])
    expect(second.next).toBeUndefined()
  } finally {
    await mail.close()
    other.remove()
  }
})

test('of several vaults, dates that stand in another order than their rows lose no hit between pages', async () => {
  const other = new TestVault()
  try {
    // Messages of one second take the seconds after it, past a later one that was there before.
    vault.write('cur/0.a:2,S', {
      subject: 'later',
      body: 'plum',
      date: 'Sun, 1 Mar 2026 10:00:02 +0100',
    })
    const { openVault } = await import('../../src/api.js')
    mail = await openVault({ vaults: [vault.root, other.root], sweeper: 'inline', ocr: false })
    await mail.sweep()
    for (let n = 1; n <= 5; n++)
      vault.write(`cur/${n}.a:2,S`, { subject: `same ${n}`, body: 'plum' })
    await mail.sweep()
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await mail.search('plum', { limit: 2, ...(after !== undefined && { after }) })
      seen.push(...page.hits.map(({ subject }) => subject))
      after = page.next
    } while (after !== undefined)
    expect(seen.sort()).toEqual(['later', 'same 1', 'same 2', 'same 3', 'same 4', 'same 5'])
  } finally {
    await mail.close()
    other.remove()
  }
})

function day(n: number): string {
  return new Date(Date.UTC(2026, 1, n + 1)).toUTCString().replace('GMT', '+0000')
}
