/**
 * What is printed and kept of a mail: nothing of its text where no text was asked for, no control character anywhere,
 * and no text on disk when none is to be kept.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eml } from '../../scripts/make/mail.js'
import { mutate } from '../../scripts/make/mutate.js'
import { docx, pptx, xlsx, zip } from '../../scripts/make/office.js'
import { pdf } from '../../scripts/make/pdf.js'
import { Dice } from '../../scripts/make/random.js'
import { CLI } from '../sweep/mailbox.js'

/** A word that stands in every document and in no name. */
const SECRET = 'quibblesnatch'
const SEEDS = 5

let folder: string
let vault: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paperknife-silence-'))
  vault = join(folder, 'mail')
  for (const place of ['cur', 'new', 'tmp']) mkdirSync(join(vault, place), { recursive: true })
  mkdirSync(join(folder, 'documents'))
  const whole = await documents()
  for (const [name, bytes] of Object.entries(whole)) {
    write(name, bytes)
    for (let seed = 0; seed < SEEDS; seed++)
      write(`${seed}-${name}`, await mutate(bytes, bytes, new Dice(seed * 131 + name.length)))
  }
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A document on disk, and one in a mail whose body holds the word too. */
function write(name: string, bytes: Uint8Array): void {
  writeFileSync(join(folder, 'documents', name), bytes)
  const mail = eml({
    from: 'Ann Lee <ann@example.org>',
    to: 'Bo Ek <bo@example.org>',
    subject: `about ${name}`,
    date: '2026-03-01T10:00:00+01:00',
    id: `${name}@example.org`,
    text: `the ${SECRET} of ${name}`,
    attachments: [{ name, type: 'application/octet-stream', bytes }],
  })
  writeFileSync(join(vault, 'cur', `${name}.host:2,S`), mail)
}

async function documents(): Promise<Record<string, Uint8Array>> {
  const text = (words: string): Buffer => Buffer.from(words)
  const marked = `<r ${SECRET}="${SECRET}"><${SECRET}>${SECRET} &${SECRET};</${SECRET}`
  return {
    'a.docx': await docx([`${SECRET} in a letter`]),
    'a.xlsx': await xlsx({ One: [[SECRET, 1]] }),
    'a.pptx': await pptx([{ title: SECRET, lines: [SECRET] }]),
    'a.pdf': pdf([[`${SECRET} on a page`]]),
    'locked.pdf': pdf([[SECRET]], { password: SECRET }),
    'a.html': text(`<p>${SECRET}<${SECRET} a=${SECRET}>`),
    'a.xml': text(`<?xml version="1.0"?>${marked}`),
    'a.svg': text(`<svg xmlns="http://www.w3.org/2000/svg">${marked}</svg>`),
    'a.json': text(`{"${SECRET}": ${SECRET}`),
    'a.rtf': text(`{\\rtf1 ${SECRET} \\${SECRET} {\\*\\${SECRET}`),
    'a.csv': text(`${SECRET},"${SECRET}\n`),
    'a.ics': text(
      `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n${SECRET}:${SECRET}\r\nDTSTART:${SECRET}\r\n`,
    ),
    'a.eml': text(
      `Subject: ${SECRET}\r\nDate: ${SECRET}\r\nContent-Type: ${SECRET}\r\n\r\n${SECRET}`,
    ),
    'a.zip': await zip({ 'b.txt': SECRET, 'b.docx': text(`PK\u0003\u0004${SECRET}`) }),
    'a.msg': text(`\u00d0\u00cf\u0011\u00e0${SECRET}`),
  }
}

function run(words: string[]) {
  return spawnSync(process.execPath, [CLI, ...words], {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, PAPERKNIFE_DEBUG: '1', NODE_DEBUG: '', TERM: 'xterm' },
  })
}

test('no text of a document, whole or damaged, is printed by a command that was not asked for text', () => {
  const said: string[] = []
  const say = (words: string[]): void => {
    const { stdout, stderr, status } = run(words)
    expect(status, words[0]).toBeLessThan(129)
    said.push(`${words.join(' ')}\n${stdout}\n${stderr}`)
  }
  const documents = join(folder, 'documents')
  say(['extract', documents, '--json', '--ocr', 'off'])
  say(['extract', documents, '--out', join(folder, 'out'), '--ocr', 'off'])
  say(['index', vault, '--ocr', 'off', '--json'])
  say(['index', vault, '--ocr', 'off', '--full', '--passwords', documentsPasswords()])
  for (const json of [[], ['--json']]) {
    say(['status', vault, ...json])
    say(['verify', vault, ...json])
    say(['re-extract', vault, '--dry-run', ...json])
    for (const name of readdirSync(documents).slice(0, 5)) say(['explain', vault, name, ...json])
  }
  expect(said.filter((words) => words.toLowerCase().includes(SECRET))).toEqual([])
  // It was there to be seen, and can be found.
  expect(run(['search', vault, SECRET, '--json', '--limit', '500']).stdout).toContain(SECRET)
}, 180_000)

/** A password is a secret as well. */
function documentsPasswords(): string {
  const file = join(folder, 'passwords')
  writeFileSync(file, `${SECRET}\n`)
  return file
}

test('what is recorded of a document beside its text holds no word of it', () => {
  const db = new Database(join(vault, '.paperknife/extracts.db'), { readonly: true })
  try {
    const rows = db.prepare('SELECT * FROM content').all()
    expect(rows.length).toBeGreaterThan(40)
    expect(JSON.stringify(rows).toLowerCase()).not.toContain(SECRET)
  } finally {
    db.close()
  }
})

test('where no texts are kept, none lies in the files', () => {
  const index = join(folder, 'unkept')
  run(['index', vault, '--index', index, '--ocr', 'off', '--keep-texts', 'off'])
  const extracts = new Database(join(index, 'extracts.db'), { readonly: true })
  const rows = new Database(join(index, 'index.db'), { readonly: true })
  try {
    expect(extracts.prepare('SELECT count(*) FROM content_text').pluck().get()).toBe(0)
    expect(rows.prepare('SELECT count(*) FROM body').pluck().get()).toBe(0)
  } finally {
    extracts.close()
    rows.close()
  }
  expect(readFileSync(join(index, 'extracts.db')).includes(SECRET)).toBe(false)
  expect(run(['search', vault, SECRET, '--index', index]).status).toBe(0)
}, 60_000)

/** Every control character but the ones that lay out lines, and what turns the direction of writing. */
const HOSTILE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

test.runIf(process.platform !== 'win32')(
  'no control character of a mail, a file name or a member’s name reaches the terminal',
  async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u202egnp.\u0085\u009b31mx\rover'
    const place = join(folder, 'evil')
    const letters = join(place, `mail\u001b[31m\u202e`, 'cur')
    mkdirSync(letters, { recursive: true })
    for (const name of ['new', 'tmp']) mkdirSync(join(letters, '..', name))
    const inside = await zip({ [`${evil}.txt`]: `words ${evil}`, [`${evil}.docx`]: 'no document' })
    const raw = Buffer.from(
      [
        `From: "${evil}" <${evil}@example.org>`,
        `Subject: words ${evil}`,
        `Message-ID: <${evil}@example.org>`,
        `Date: Sun, 1 Mar 2026 10:00:00 +0100 (${evil})`,
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary="edge"',
        '',
        '--edge',
        'Content-Type: text/plain; charset=utf-8',
        '',
        `words ${evil}`,
        '--edge',
        `Content-Type: application/zip; name="${evil}.zip"`,
        `Content-Disposition: attachment; filename="${evil}.zip"`,
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from(inside).toString('base64'),
        '--edge--',
      ].join('\n'),
    )
    writeFileSync(join(letters, `1\u001b[31m\n\u202e.host:2,S`), raw)
    writeFileSync(join(place, `a\u001b[31m\n\u202e.zip`), inside)
    const mails = join(letters, '..')
    const said: Record<string, string> = {}
    const say = (...words: string[]): void => {
      const { stdout, stderr, status } = run(words)
      expect([words, status, stderr]).toEqual([words, expect.toBeOneOf([0, 1, 75]), stderr])
      said[words.join(' ')] = stdout + stderr
    }
    say('index', mails)
    say('search', mails, 'words')
    say('search', mails, 'words', '--documents')
    say('search', mails, 'words', '--json')
    say('search', mails, 'words', '--by', 'thread')
    say('search', mails, 'words', '--count-by', 'from')
    say('search', mails, 'words', '--count-by', 'folder')
    for (const json of [[], ['--json']]) {
      say('status', mails, ...json)
      say('explain', mails, 'cur/1\u001b[31m\n\u202e.host:2,S', ...json)
      say('explain', mails, `${evil}.zip`, ...json)
      say('re-extract', mails, '--dry-run', ...json)
      say('extract', place, '--json')
    }
    say('verify', mails)
    for (const words of [
      ['search', join(place, 'not\u001b[31m\u202ethere'), 'x'],
      ['index', join(place, 'not\u001b[31m\u202ethere')],
      ['extract', join(place, 'not\u001b[31m\u202ethere')],
      ['\u001b[31m\u202e'],
      ['search', '--\u001b[31m\u202e', mails],
    ])
      said[words.join(' ')] = Object.values(run(words)).join('')
    const hostile = Object.entries(said)
      .map(([command, text]) => [command, HOSTILE.exec(text)?.[0], text] as const)
      .filter(([, found]) => found !== undefined)
    expect(hostile).toEqual([])
  },
  120_000,
)

const hasScript =
  spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0

test.runIf(hasScript)(
  'a terminal is shown the text of a document without what it would obey',
  () => {
    const file = join(folder, 'obeyed.txt')
    writeFileSync(file, 'first\u202e line\n\u001b]0;owned\u0007second\ttabbed\u009b31m line\n')
    const command = [process.execPath, CLI, 'extract', file].map((word) => `'${word}'`).join(' ')
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' })
    expect(stdout).toContain('first line')
    expect(stdout).toContain('second\ttabbed')
    // What the terminal driver and our own progress line add aside.
    expect(HOSTILE.exec(stdout.replaceAll(/\r|\u001b\[K/g, ''))).toBeNull()
    expect(run(['extract', file]).stdout).toContain('\u202e')
  },
)
