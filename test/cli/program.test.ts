/** The program as a person runs it: the built file, in a process of its own, on the sample vault. */
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docx } from '../../scripts/make/office.js'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const SAMPLE = fileURLToPath(new URL('../../sample-vault', import.meta.url))

let folder: string
let vault: string

function paperknife(...words: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [PROGRAM, ...words], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  })
}

type Json = Record<string, unknown>
const lines = (stdout: string): Json[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paperknife-cli-'))
  vault = join(folder, 'mail')
  cpSync(SAMPLE, vault, { recursive: true, preserveTimestamps: true })
  const { status, stderr } = paperknife('index', 'mail', '--ocr', 'off')
  expect(stderr).toMatch(/32 messages \(32 added\)/)
  expect(status).toBe(0)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('search', () => {
  test.each([
    ['a subject', 'german edition', 'subject', undefined, undefined],
    ['a cell of a Word table', 'pennant', 'attachments', 'contract-lighthouse.docx', undefined],
    ['a cell of a workbook', 'quittengelee', 'attachments', 'honorare-2024.xlsx', undefined],
    ["a slide's notes", 'foghorn', 'attachments', 'salon-2024.pptx', 2],
    ['the third page of a PDF', 'chuchotement', 'attachments', 'catalogue-printemps.pdf', 3],
    ['a Japanese sentence', '来年の春に東京で', 'attachments', '出版計画.docx', undefined],
    ['a Word 97 letter', 'kellerabteil', 'attachments', 'mietvertrag.doc', undefined],
    ['a body, without its accents', 'reserve bibliotheque', 'body', undefined, undefined],
  ])('finds %s', (_, query, field, name, page) => {
    const { stdout, status } = paperknife('search', 'mail', query, '--json')
    const [hit, ...rest] = lines(stdout)
    expect(status).toBe(0)
    expect(hit?.matched).toContain(field)
    const [first] = hit?.attachments as Array<{ name: string; page?: number; snippet: string }>
    if (name !== undefined) {
      expect(first?.name).toBe(name)
      expect(first?.snippet).not.toBe('')
    }
    if (page !== undefined) expect(first?.page).toBe(page)
    const { summary } = rest.at(-1) as { summary: Json }
    expect(Object.keys(summary)).toEqual(['hits', 'more', 'ms', 'tier', 'terms', 'cut', 'coverage'])
  })

  test('gives the fields of a hit that scripts rely on', () => {
    const [hit] = lines(paperknife('search', 'mail', 'pennant', '--json').stdout)
    for (const key of ['id', 'key', 'date', 'subject', 'from', 'folder', 'flags', 'path'])
      expect(hit).toHaveProperty(key)
    for (const key of ['messageId', 'matched', 'attachmentOnly', 'attachments', 'snippet'])
      expect(hit).toHaveProperty(key)
    expect(hit?.attachmentOnly).toBe(true)
  })

  test('exits with 1 when nothing is found, and never fails on what is typed', () => {
    expect(paperknife('search', 'mail', 'zzyzxqq').status).toBe(1)
    for (const query of [
      '"',
      '((',
      'OR',
      '-',
      'from:',
      '*',
      '\\',
      "'; --",
      'NEAR(a b)',
      'is:constructor',
    ])
      expect([0, 1]).toContain(paperknife('search', 'mail', query).status)
  })

  test('shows where a hit matched, on paper as between marks', () => {
    const { stdout, stderr } = paperknife('search', 'mail', 'foghorn')
    expect(stdout).toContain('salon-2024.pptx, page 2: ')
    expect(stdout).toContain('«foghorn»')
    expect(stderr).toMatch(/^1 hit in .* attachments searched/)
  })
})

describe('other ways to show hits', () => {
  test('names the document inside an archive that matched', () => {
    const { stdout } = paperknife('search', 'mail', 'nachtzug zurück')
    expect(stdout).toContain('belege.zip › belege/reise/paris.docx: ')
  })

  test('--count-by counts in groups', () => {
    const rows = lines(paperknife('search', 'mail', 'hanna', '--count-by', 'year', '--json').stdout)
    expect(rows).toContainEqual({ value: '2024', messages: expect.any(Number) as number })
    expect(rows.at(-1)).toHaveProperty('summary')
  })

  test('--by thread gives one line a conversation', () => {
    const rows = lines(
      paperknife('search', 'mail', 'lighthouse', '--by', 'thread', '--json').stdout,
    )
    expect(rows.slice(0, -1)).toHaveLength(1)
    expect(rows[0]?.messages).toBeGreaterThan(2)
  })

  test('--before-id gives the next page, exactly', () => {
    const all = lines(paperknife('search', 'mail', 'hanna', '--limit', '9', '--json').stdout)
    const ids = all.slice(0, -1).map(({ id }) => id)
    const page = paperknife(
      'search',
      'mail',
      'hanna',
      '--limit',
      '5',
      '--before-id',
      String(ids[3]),
      '--json',
    )
    expect(
      lines(page.stdout)
        .slice(0, -1)
        .map(({ id }) => id),
    ).toEqual(ids.slice(4, 9))
  })

  test('--mbox writes the messages found, which can be indexed again', () => {
    expect(paperknife('search', 'mail', 'lighthouse', '--mbox', 'found.mbox').status).toBe(0)
    const { stdout } = paperknife('search', 'mail', 'lighthouse', '--json')
    const count = lines(stdout).length - 1
    expect(paperknife('index', 'found.mbox', '--index', 'found-index', '--ocr', 'off').status).toBe(
      0,
    )
    const again = paperknife(
      'search',
      'found.mbox',
      'lighthouse',
      '--index',
      'found-index',
      '--json',
    )
    expect(lines(again.stdout)).toHaveLength(count + 1)
  })

  test('--mbox writes all messages found, or as many as --limit says', () => {
    const written = (...flags: string[]): number => {
      const run = paperknife('search', 'mail', 'hanna', '--mbox', 'all.mbox', ...flags)
      expect(run.status).toBe(0)
      return readFileSync(join(folder, 'all.mbox'), 'latin1').match(/^From /gm)?.length ?? 0
    }
    const { stdout } = paperknife('search', 'mail', 'hanna', '--limit', '100', '--json')
    const all = lines(stdout).length - 1
    expect(all).toBeGreaterThan(20)
    expect(written()).toBe(all)
    expect(written('--limit', '3')).toBe(3)
  })

  test('--mbox never writes into the vault', () => {
    writeFileSync(join(folder, 'one.mbox'), readFileSync(join(folder, 'found.mbox')))
    for (const [of, file] of [
      ['found.mbox', 'found.mbox'],
      ['mail', 'mail/found.mbox'],
      ['mail', 'mail/cur/../found.mbox'],
    ] as const) {
      const { status, stderr } = paperknife('search', of, 'lighthouse', '--mbox', file)
      expect(stderr).toContain(`--mbox: ${file} lies in the vault`)
      expect(status).toBe(2)
    }
    expect(readFileSync(join(folder, 'found.mbox'))).toEqual(readFileSync(join(folder, 'one.mbox')))
    expect(existsSync(join(vault, 'found.mbox'))).toBe(false)
  })

  test('--mbox says when the disk cannot take it', () => {
    const { status, stdout, stderr } = paperknife(
      'search',
      'mail',
      'hanna',
      '--mbox',
      'nowhere/found.mbox',
    )
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^paperknife: ENOENT.*nowhere/m)
    expect(status).toBe(2)
    if (!existsSync('/dev/full')) return
    const full = paperknife('search', 'mail', 'hanna', '--mbox', '/dev/full')
    expect(full.stderr).toMatch(/^paperknife: no space left/m)
    expect(full.status).toBe(75)
  })

  test('--also searches several vaults as one', () => {
    cpSync(join(vault, '.Archive/cur'), join(folder, 'other/cur'), { recursive: true })
    mkdirSync(join(folder, 'other/new'))
    mkdirSync(join(folder, 'other/tmp'))
    expect(paperknife('index', 'other', '--ocr', 'off').status).toBe(0)
    const one = lines(paperknife('search', 'mail', 'Ruhezeiten', '--json').stdout).length
    const two = lines(
      paperknife('search', 'mail', 'Ruhezeiten', '--also', 'other', '--json').stdout,
    )
    expect(two).toHaveLength(one + 1)
    expect(two.map(({ vault }) => vault).slice(0, -1)).toContain('other')
    const counted = paperknife('search', 'mail', '', '--count-by', 'folder', '--json').stdout
    const { summary } = lines(counted).at(-1) as { summary: Json }
    expect(summary.more).toBe(false)
    const count = (...also: string[]): number =>
      lines(
        paperknife('search', 'mail', 'Ruhezeiten', '--count-by', 'year', '--json', ...also).stdout,
      )
        .map(({ messages }) => Number(messages ?? 0))
        .reduce((sum, messages) => sum + messages)
    expect(count('--also', 'other')).toBe(count() + 1)
  })
})

test('of several vaults, one that is not there keeps nobody from the others', () => {
  const { stdout, stderr, status } = paperknife(
    'index',
    'nowhere',
    'mail',
    '--ocr',
    'off',
    '--json',
  )
  expect(stderr).toMatch(/there is no vault at .*nowhere/)
  expect(lines(stdout)).toMatchObject([{ vault: 'mail', messages: { total: 32 } }])
  expect(status).toBe(2)
})

test.each(['nothing.mbox', 'nothing'])('%s, a vault without mail, says so', (name) => {
  if (name === 'nothing') mkdirSync(join(folder, name))
  else writeFileSync(join(folder, name), '')
  const { stderr, status } = paperknife('index', name, '--index', `${name}-index`)
  expect(stderr).toMatch(new RegExp(`^0 messages.*\nno mail was found in ${name}: `))
  expect(status).toBe(0)
})

test('a second index changes nothing', () => {
  const { stdout, status } = paperknife('index', 'mail', '--ocr', 'off', '--json')
  const [report] = lines(stdout) as [{ messages: Json; contents: Json }]
  expect(report.messages).toMatchObject({ added: 0, changed: 0, moved: 0, removed: 0, total: 32 })
  expect(report.contents).toEqual({})
  expect(status).toBe(0)
})

test('watch finds a mail that arrives, tells it in a line, and ends with 130 at Ctrl-C', async () => {
  const watched = join(folder, 'watched')
  cpSync(join(SAMPLE, '.Work'), watched, { recursive: true })
  const child = spawn(process.execPath, [PROGRAM, 'watch', watched, '--ocr', 'off', '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const reports: Json[] = []
  const next = async (): Promise<Json | undefined> => {
    const deadline = Date.now() + 25_000
    while (reports.length === 0 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50))
    return reports.shift()
  }
  child.stdout.on('data', (piece: Buffer) => reports.push(...lines(piece.toString())))
  try {
    expect(await next()).toMatchObject({ messages: { added: 6 } })
    const mail = 'From: ida@pier.example\nSubject: zebrawood\n\nIt has come.\n'
    writeFileSync(join(watched, 'new/1800000000.M1.pier'), mail)
    expect(await next()).toMatchObject({ messages: { added: 1, total: 7 } })
    expect(paperknife('search', 'watched', 'zebrawood').status).toBe(0)
  } finally {
    child.kill('SIGINT')
  }
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(130)
})

test('status counts states and says why', () => {
  const [status] = lines(paperknife('status', 'mail', '--json').stdout)
  for (const key of ['messages', 'contents', 'reasons', 'pending', 'indexBytes', 'extractsBytes'])
    expect(status).toHaveProperty(key)
  expect(status).toMatchObject({ messages: 32, contents: { locked: 1, damaged: 1 } })
  expect(paperknife('status', 'mail').stdout).toContain('password needed')
})

test('explain shows the state of an attachment and what would be tried next', () => {
  const { stdout, status } = paperknife('explain', 'mail', 'kontoauszug-2025-01.pdf')
  expect(status).toBe(0)
  expect(stdout).toMatch(/locked: password needed/)
  expect(stdout).toMatch(/next: .*passwords/)
  const none = paperknife('explain', 'mail', 'no-such-name.pdf')
  expect(none.stderr).toMatch(/^nothing in the index is called no-such-name.pdf: give /)
  expect(none.status).toBe(1)
})

test('re-extract --dry-run prices what it would read, and reads nothing', () => {
  const { stdout, status } = paperknife(
    're-extract',
    'mail',
    '--state',
    'locked',
    '--dry-run',
    '--json',
  )
  expect(status).toBe(0)
  expect(lines(stdout)[0]).toMatchObject({ contents: 1, dryRun: true })
  expect(paperknife('status', 'mail', '--json').stdout).toContain('"pending":0')
})

test('re-extract --json tells what is read again, then what the sweep did', () => {
  const { stdout } = paperknife(
    're-extract',
    'mail',
    ...['--state', 'locked', '--ocr', 'off', '--json'],
  )
  const [chosen, swept, ...more] = lines(stdout)
  expect(chosen).toMatchObject({ contents: 1, dryRun: false, byState: { locked: 1 } })
  expect(swept).toMatchObject({ vault: 'mail', contents: { locked: 1 }, stopped: false })
  expect(more).toEqual([])
})

test('re-extract takes each reason that status prints, as it is printed', () => {
  const { stdout } = paperknife('status', 'mail')
  const why = /\nWhy:\n([\s\S]*)/.exec(stdout)?.[1]?.split('\n') ?? []
  const rows = why.flatMap((line) => [...line.matchAll(/^ +(\d+) {2}(.+)$/g)])
  expect(rows.length).toBeGreaterThan(3)
  for (const [, count, reason] of rows) {
    const chosen = paperknife(
      're-extract',
      'mail',
      '--reason',
      reason as string,
      '--dry-run',
      '--json',
    )
    expect(lines(chosen.stdout)[0], reason).toMatchObject({ contents: Number(count) })
  }
})

test("re-extract refuses two names of what is meant, and a name that is nobody's", () => {
  const two = paperknife('re-extract', 'mail', '--message', 'a', '--hash', 'b', '--dry-run')
  expect(two.stderr).toContain('--message and --hash each name what is meant')
  expect(two.status).toBe(2)
  const none = paperknife('re-extract', 'mail', '--message', 'nobody@example.org', '--dry-run')
  expect(none.stderr).toContain('nothing in the index is called nobody@example.org')
  expect(none.status).toBe(2)
})

test('verify exits with 0 when vault, index and extracts agree', () => {
  expect(paperknife('verify', 'mail').status).toBe(0)
})

describe('extract', () => {
  beforeAll(async () => {
    mkdirSync(join(folder, 'papers/deep'), { recursive: true })
    writeFileSync(join(folder, 'papers/plan.docx'), await docx(['The plan', [['a', 'b']]]))
    writeFileSync(join(folder, 'papers/deep/note.txt'), 'a short note\n')
    writeFileSync(join(folder, 'papers/deep/broken.pdf'), '%PDF-1.4\nnothing more')
    writeFileSync(join(folder, 'papers/strange.bin'), Buffer.from([0, 1, 2, 254, 255, 3]))
  })

  test('prints the text of one file', () => {
    const { stdout, status } = paperknife('extract', 'papers/plan.docx')
    expect(stdout).toContain('The plan')
    expect(status).toBe(0)
  })

  test('prints one JSON line a file of a folder, and mirrors the tree with --out', () => {
    const { stdout, status } = paperknife('extract', 'papers', '--out', 'texts', '--ocr', 'off')
    expect(status).toBe(0)
    const rows = lines(stdout)
    expect(rows.map(({ file }) => file).sort()).toEqual([
      'papers/deep/broken.pdf',
      'papers/deep/note.txt',
      'papers/plan.docx',
      'papers/strange.bin',
    ])
    expect(rows.find(({ file }) => file === 'papers/plan.docx')).toMatchObject({
      state: 'ok',
      extractor: 'docx',
      ocrPages: 0,
    })
    expect(rows.find(({ file }) => file === 'papers/strange.bin')?.state).toBe('unsupported')
    expect(readFileSync(join(folder, 'texts/plan.docx.txt'), 'utf8')).toContain('The plan')
    expect(readFileSync(join(folder, 'texts/deep/note.txt.txt'), 'utf8')).toContain('a short note')
    expect(existsSync(join(folder, 'texts/strange.bin.txt'))).toBe(false)
  })

  test('reads a list, and goes on past what is missing', () => {
    writeFileSync(join(folder, 'list'), 'papers/plan.docx\nno/such.docx\npapers/deep/note.txt\n')
    const { stdout, stderr, status } = paperknife(
      'extract',
      '--files-from',
      'list',
      '--out',
      'listed',
    )
    expect(lines(stdout)).toHaveLength(3)
    expect(stderr).toContain('no/such.docx: no such file')
    expect(status).toBe(2)
    expect(existsSync(join(folder, 'listed/papers/plan.docx.txt'))).toBe(true)
  })

  test.runIf(process.platform !== 'win32')(
    'names a folder that cannot be listed, reads the others, and ends with 75',
    () => {
      mkdirSync(join(folder, 'shelves/closed'), { recursive: true })
      writeFileSync(join(folder, 'shelves/note.txt'), 'a short note\n')
      chmodSync(join(folder, 'shelves/closed'), 0)
      chmodSync(folder, 0o755)
      const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [PROGRAM, 'extract', 'shelves'],
        { cwd: folder, encoding: 'utf8', timeout: 60_000, ...nobody },
      )
      expect(lines(stdout)).toMatchObject([
        { file: 'shelves/note.txt', state: 'ok' },
        { file: 'shelves/closed', state: 'failed-transient', reason: 'unreadable' },
      ])
      expect(stderr).toMatch(/^shelves\/closed: cannot be listed \(EACCES/m)
      expect(status).toBe(75)
    },
  )

  test('ends quietly when the reader of its output has gone', () => {
    const { stderr, stdout } = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${PROGRAM}" extract papers papers papers --json | head -n 1`],
      { cwd: folder, encoding: 'utf8', timeout: 60_000 },
    )
    expect(lines(stdout)).toHaveLength(1)
    expect(stderr).not.toMatch(/EPIPE|Error| at /)
  })

  test('ends with 130 at Ctrl-C, also while it waits for names', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'extract', '--files-from', '-', '--json'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.write('papers/plan.docx\n')
    await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGINT')
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(130)
  })
})

describe('bad usage exits with 2 and says what to do', () => {
  test.each([
    [[], /Usage: paperknife COMMAND/],
    [['serch', 'x'], /no command serch; did you mean search\?/],
    [['search', 'mail'], /search takes VAULT QUERY…/],
    [['index'], /index takes VAULT…/],
    [['index', 'mail', '--workers', 'many'], /--workers must be a whole number from 1, not "many"/],
    [['index', 'mail', '--passwords', 'nowhere'], /cannot read nowhere/],
    [
      ['index', 'mail', '--memory-bytes-max', '1MB'],
      /--memory-bytes-max must be at least 300000000 bytes, not "1MB"/,
    ],
    [['index', 'mail', '--languages', 'eng+'], /--languages must be names .* not "eng\+"/],
    [['extract', 'papers', '--language-path', 'nowhere'], /--language-path: .*no folder nowhere/],
    [['search', 'mail', 'x', '--also', 'other', '--before-id', '1'], /--before-id is an id of one/],
    [['index', 'no-such-vault'], /no-such-vault/],
    [['index', 'mail', '--languages', 'eng+klingon'], /no data for klingon.*paperknife doctor/],
    [['search', '.', 'x'], /no index in .*paperknife index/],
    [['search', 'no-such-vault', 'x'], /there is no vault at .*no-such-vault/],
    [['status', 'no-such-vault'], /there is no vault at .*no-such-vault/],
    [['index', 'mail', 'papers', '--index', 'x'], /--index is the place of one index/],
    [['search', 'mail', 'x', '--also', 'other', '--index', 'y'], /--also/],
    [['formats', 'x'], /takes no further words/],
  ])('%j', (words, message) => {
    const { stderr, status } = paperknife(...words)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n {4}at /)
    expect(status).toBe(2)
  })
})

test('doctor lists engines and languages, and fails when one that is wanted is missing', () => {
  const found = paperknife('doctor', '--languages', 'eng', '--ocr-engine', 'wasm')
  expect(found.stdout).toMatch(/scans in eng are read by tesseract\.js \d/)
  expect(found.status).toBe(0)
  const lost = paperknife('doctor', '--languages', 'klingon', '--json')
  expect(lines(lost.stdout)[0]?.problem).toMatch(/klingon/)
  expect(lost.status).toBe(2)
})

test('help of a command that is none says so', () => {
  const { stderr, status } = paperknife('help', 'serach')
  expect(stderr).toContain('there is no command serach; did you mean search?')
  expect(status).toBe(2)
})

test('help and version go to standard output and exit with 0', () => {
  expect(paperknife('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(paperknife('--help').stdout).toContain('search VAULT QUERY…')
  expect(paperknife('search', '--help').stdout).toContain('--limit N')
  expect(paperknife('help', 'index').stdout).toContain('--workers N')
  expect(paperknife('formats', '--json').stdout).toContain('"name":"docx"')
})
