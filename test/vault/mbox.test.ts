import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseMessage } from '../../src/mail/parse.js'
import { FLAGS } from '../../src/part/reference.js'
import { DEFAULT_LIMITS as limits } from '../../src/part/limits.js'
import { listMbox } from '../../src/vault/mbox.js'
import { openMailStore } from '../../src/vault/open.js'
import { readMessage } from '../../src/vault/read.js'
import type { VaultEntry } from '../../src/vault/vault.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paperknife-mbox-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const FROM = 'From anna@example.org Mon Mar  2 10:00:00 2020\n'
const mail = (n: number, body = 'body', fields = ''): string =>
  `${fields}From: anna@example.org\nSubject: number ${n}\nMessage-ID: <${n}@example.org>\n\n${body}\n\n`

async function list(text: string, known?: VaultEntry[]): Promise<VaultEntry[]> {
  writeFileSync(join(root, 'box'), text, 'latin1')
  return listMbox(root, 'box', text.length, known)
}

async function bodies(entries: VaultEntry[]): Promise<string[]> {
  const texts: string[] = []
  for (const entry of entries) {
    const read = await readMessage(root, entry, limits)
    if (read.kind !== 'read') throw new Error(read.detail)
    texts.push((await parseMessage(read.bytes, { limits })).body)
  }
  return texts
}

test('messages begin at separator lines, not at prose that begins with From', async () => {
  const entries = await list(
    FROM +
      mail(1, 'From here on it is prose.\n\nFrom the shop on Monday 2 March\nno field follows') +
      FROM +
      mail(2, '>From quoted\n>>From twice') +
      'From - Mon Mar 02 10:00:00 2020\r\n' +
      mail(3).replaceAll('\n', '\r\n'),
  )
  expect(entries.map(({ unique }) => unique)).toEqual([
    '<1@example.org>',
    '<2@example.org>',
    '<3@example.org>',
  ])
  expect(await bodies(entries)).toEqual([
    'From here on it is prose.\n\nFrom the shop on Monday 2 March\nno field follows',
    'From quoted\n>From twice',
    'body',
  ])
  expect(entries[0]).toMatchObject({
    offset: 0,
    mtimeMs: Date.UTC(2020, 2, 2, 10),
    flags: FLAGS.seen,
  })
})

test('a Content-Length that leads to a separator is believed, another is not', async () => {
  const inner = `${FROM}${mail(9)}`
  const whole = `${FROM}Content-Length: ${inner.length}\n${mail(1, inner).trimEnd()}\n\n\n${FROM}`
  const entries = await list(whole + mail(2, 'last', 'Content-Length: 3\n') + FROM + mail(3))
  expect(entries.map(({ unique }) => unique)).toEqual([
    '<1@example.org>',
    '<2@example.org>',
    '<3@example.org>',
  ])
})

test("Thunderbird's flags are read, and what it expunged is left out", async () => {
  const status = (hex: string): string => `X-Mozilla-Status: ${hex}\nX-Mozilla-Status2: 00000000\n`
  const text =
    FROM +
    mail(1, 'a', status('0001')) +
    FROM +
    mail(2, 'b', status('0009')) +
    FROM +
    mail(3, 'c', status('0006'))
  const entries = await list(text)
  expect(entries.map(({ unique, flags }) => [unique, flags])).toEqual([
    ['<1@example.org>', FLAGS.seen],
    ['<3@example.org>', FLAGS.answered | FLAGS.flagged],
  ])
  const later = await list(
    text.replace('X-Mozilla-Status: 0006', 'X-Mozilla-Status: 0007'),
    entries,
  )
  expect(later.map(({ flags }) => flags)).toEqual([
    FLAGS.seen,
    FLAGS.seen | FLAGS.answered | FLAGS.flagged,
  ])
})

test('a file that grew is read from its last message on, a rewritten one anew', async () => {
  const text = FROM + mail(1) + FROM + mail(2)
  const entries = await list(text)
  // A mark on what is known shows that it was not read again.
  const marked = entries.map((entry) => ({ ...entry, flags: 32 }))
  const grown = await list(text + FROM + mail(3), marked)
  expect(grown.map(({ unique, flags }) => [unique, flags])).toEqual([
    ['<1@example.org>', 32],
    ['<2@example.org>', FLAGS.seen],
    ['<3@example.org>', FLAGS.seen],
  ])
  const compacted = await list(FROM + mail(2) + FROM + mail(3) + FROM + mail(4), grown)
  expect(compacted.map(({ unique, offset }) => [unique, offset])).toEqual([
    ['<2@example.org>', 0],
    ['<3@example.org>', FROM.length + mail(2).length],
    ['<4@example.org>', 2 * (FROM.length + mail(2).length)],
  ])
  expect(await readMessage(root, { path: 'box', offset: 3, bytes: 100 }, limits)).toMatchObject({
    kind: 'gone',
  })
})

test('messages that an interrupted sweep left out between others are found', async () => {
  const text = [1, 2, 3, 4, 5].map((n) => FROM + mail(n)).join('')
  const entries = (await list(text)).map((entry) => ({ ...entry, flags: 32 }))
  const some = entries.filter((_, at) => at === 1 || at === 3)
  const whole = await list(text, some)
  expect(whole.map(({ unique, flags }) => [unique, flags])).toEqual([
    ['<1@example.org>', FLAGS.seen],
    ['<2@example.org>', 32],
    ['<3@example.org>', FLAGS.seen],
    // The last one known may have grown.
    ['<4@example.org>', FLAGS.seen],
    ['<5@example.org>', FLAGS.seen],
  ])
  expect(whole.map(({ offset, bytes }) => [offset, bytes])).toEqual(
    entries.map(({ offset, bytes }) => [offset, bytes]),
  )
})

test('separators are found wherever the pieces of a large file end', async () => {
  const filler = `${'x'.repeat(997)}\n`.repeat(1100)
  let text = ''
  for (let n = 1; n <= 12; n++) text += FROM + mail(n, filler.slice(n * 131))
  const entries = await list(text)
  expect(entries.map(({ unique }) => unique)).toEqual(
    Array.from({ length: 12 }, (_, i) => `<${i + 1}@example.org>`),
  )
  expect(entries.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)).toBe(text.length)
})

test('a Thunderbird profile is walked through its .sbd folders', async () => {
  const put = (path: string, text: string): void => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  put('Mail/Local Folders/Inbox', FROM + mail(1))
  put('Mail/Local Folders/Inbox.msf', '// <!-- <mdb:mork:z v="1.4"/> -->')
  put('Mail/Local Folders/Archives.sbd/2014', FROM + mail(2))
  put('Mail/Local Folders/Archives', '')
  put('Mail/Local Folders/Archives.msf', '')
  put('prefs.js', 'user_pref("a", 1);')
  const vault = await openMailStore(root)
  const { folders } = await vault.folders()
  const boxes = folders.filter(({ kind }) => kind === 'mbox')
  expect(boxes.map(({ name }) => name).sort()).toEqual([
    'Mail/Local Folders/Archives',
    'Mail/Local Folders/Archives/2014',
    'Mail/Local Folders/Inbox',
  ])
  // A file that grows does not change its directory's time: it is looked at itself.
  appendFileSync(join(root, 'Mail/Local Folders/Archives'), FROM + mail(3))
  const again = (await vault.folders(folders.map((folder) => ({ ...folder, isFresh: false }))))
    .folders
  const archives = again.find(({ path }) => path === 'Mail/Local Folders/Archives')
  expect(archives?.fingerprint).not.toBe(
    boxes.find(({ path }) => path === archives?.path)?.fingerprint,
  )
})

test('an emlx gives its mail and flags, a partial one its attachments too', async () => {
  const put = (path: string, text: string): void => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const plist = (flags: number): string =>
    `<?xml version="1.0"?><plist version="1.0"><dict><key>flags</key><integer>${flags}</integer></dict></plist>\n`
  const one = mail(1)
  put('Work.mbox/Messages/1.emlx', `${one.length}      \n${one}${plist(0b10001)}`)
  put('Work.mbox/Messages/2.partial.emlx', `${mail(2).length}\n${mail(2)}${plist(0)}`)
  put('Work.mbox/Attachments/2/2/plan.txt', 'the plan')
  // What is too large, or no file, is left; a pipe would be waited for without end.
  put('Work.mbox/Attachments/2/1/huge.bin', '')
  truncateSync(join(root, 'Work.mbox/Attachments/2/1/huge.bin'), 101_000_000)
  if (process.platform !== 'win32')
    execFileSync('mkfifo', [join(root, 'Work.mbox/Attachments/2/1/pipe')])
  const vault = await openMailStore(root)
  const folder = (await vault.folders()).folders.find(({ kind }) => kind === 'emlx')
  expect(folder?.name).toBe('Work')
  const { entries } = await vault.entries(folder as NonNullable<typeof folder>)
  entries.sort((a, b) => (a.path < b.path ? -1 : 1))
  expect(entries.map(({ flags }) => flags)).toEqual([FLAGS.seen | FLAGS.flagged, 0])
  const messages = []
  for (const entry of entries) {
    const read = await readMessage(vault.root, entry, limits)
    if (read.kind === 'read') messages.push(await parseMessage(read.bytes, { limits, want: 'all' }))
  }
  expect(
    messages.map(({ subject, body, parts }) => [subject, body, parts.map(({ name }) => name)]),
  ).toEqual([
    ['number 1', 'body', []],
    ['number 2', 'body', ['plan.txt']],
  ])
})
