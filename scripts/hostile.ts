/**
 * `npm run hostile`: every document of scripts/make/hostile.ts and reaching.ts, each in a mail of its own, through `index`
 * with OCR.
 *
 * Demanded: the program ends by itself; each mail has a row and each document a state, and none is left for another try;
 * the memory of the whole tree of processes stays under the mark; nothing is written but the index, neither here nor where
 * names of members lead; no temporary file is left; a further run reads nothing; `verify` is clean.
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PROGRAM, runWatched } from '../bench/harness.js'
import { HOSTILE } from './make/hostile.js'
import { eml } from './make/mail.js'
import { reachingDocuments } from './make/reaching.js'

const MEMORY_BYTES_MAX = 1_200_000_000
/** A document of thousands of pages may take ten minutes by default; here a minute, so that the run ends soon. */
const LIMITS = ['--document-timeout-ms', '60000']

const INDEX_FILES = ['index.db', 'extracts.db', 'writer.lock'].map((name) => join('index', name))

const folder = mkdtempSync(join(tmpdir(), 'paperknife-hostile-'))
const vault = join(folder, 'mail')
const index = join(folder, 'index')
const temporary = join(folder, 'tmp')
const failures: string[] = []
const expect = (isTrue: boolean, what: string): void => {
  if (!isTrue) {
    failures.push(what)
    console.error(`FAIL ${what}`)
  }
}

const aboves = (path: string): string[] =>
  dirname(path) === path ? [path] : [path, ...aboves(dirname(path))]
/** Where the names of climbing members lead, from wherever they are taken to begin. */
const REACHED = [...new Set(['/tmp', homedir(), process.cwd(), index].flatMap(aboves))]

/** Files there that have such a name; a stranger's may have lain there before. */
function climbed(): string[] {
  return REACHED.flatMap((place) =>
    existsSync(place)
      ? readdirSync(place)
          .filter((name) => name.includes('climbed'))
          .map((name) => join(place, name))
      : [],
  )
}

/** Every file below, with its time and size: what was written to shows. */
function seen(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== 'index' && !INDEX_FILES.includes(name))
    .map((name) => {
      const { mtimeMs, size } = statSync(join(folder, name))
      return `${name} ${mtimeMs} ${size}`
    })
    .sort()
}

function ask(...words: string[]): { status: number | null; stdout: string } {
  return spawnSync(process.execPath, [PROGRAM, ...words, '--index', index], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
}

try {
  for (const place of ['mail/cur', 'mail/new', 'mail/tmp', 'tmp'])
    mkdirSync(join(folder, place), { recursive: true })
  const names: string[] = []
  const post = (name: string, bytes: Uint8Array): void => {
    names.push(name)
    const mail = eml({
      from: 'Ann Lee <ann@example.org>',
      to: 'Bo Ek <bo@example.org>',
      subject: `about ${name}`,
      date: new Date(1.7e12 + names.length * 60_000).toISOString().replace('Z', '+00:00'),
      id: `${name}@example.org`,
      text: 'see below',
      attachments: [{ name, type: 'application/octet-stream', bytes }],
    })
    writeFileSync(join(vault, 'cur', `${name}.host:2,S`), mail)
  }
  for (const [name, make] of Object.entries(HOSTILE)) post(name, await make())
  for (const [name, bytes] of Object.entries(await reachingDocuments('http://127.0.0.1:9')))
    post(`reaching-${name}`, bytes)

  process.env.TMPDIR = temporary
  const before = seen()
  const climbedBefore = climbed()
  const words = ['index', vault, '--index', index, '--json', ...LIMITS]
  const { code, peakBytes = 0, ms } = await runWatched(process.execPath, [PROGRAM, ...words])
  expect(code === 0, `index ended with ${code}`)
  expect(peakBytes < MEMORY_BYTES_MAX, `${Math.round(peakBytes / 1e6)} MB`)
  const after = seen()
  expect(
    after.join('\n') === before.join('\n'),
    `written: ${after.filter((row) => !before.includes(row)).join(', ')}`,
  )
  const risen = climbed().filter((path) => !climbedBefore.includes(path))
  expect(risen.length === 0, `names climbed: ${risen.join(', ')}`)

  const { messages, contents } = JSON.parse(ask('status', vault, '--json').stdout || '{}') as {
    messages: number
    contents: Record<string, number>
  }
  expect(messages === names.length, `${messages} rows for ${names.length} mails`)
  for (const state of ['pending', 'extracting'])
    expect((contents[state] ?? 0) === 0, `${contents[state]} ${state}`)
  const left: string[] = []
  if ((contents['failed-transient'] ?? 0) > 0)
    for (const name of names) {
      const [line = '{}'] = ask('explain', vault, name, '--json').stdout.split('\n')
      const { parts = [] } = JSON.parse(line || '{}') as {
        parts?: Array<{ name: string; state: string; detail?: string }>
      }
      for (const { state, detail } of parts)
        if (state === 'failed-transient') left.push(`${name}: ${detail}`)
    }
  for (const reason of left) expect(false, `left to be tried again: ${reason}`)
  expect((contents['gave-up'] ?? 0) === 0, `${contents['gave-up']} gave-up`)
  const again = JSON.parse(
    ask('index', vault, '--json', ...LIMITS).stdout.split('\n')[0] || '{}',
  ) as {
    contents?: Record<string, number>
    messages?: Record<string, number>
  }
  const { total, ...changes } = again.messages ?? {}
  expect(
    total === names.length && Object.values(changes).every((count) => count === 0),
    `a further run changed rows: ${JSON.stringify(again.messages)}`,
  )
  expect(
    again.contents !== undefined && Object.keys(again.contents).length === 0,
    `a further run read documents: ${JSON.stringify(again.contents)}`,
  )
  expect(ask('verify', vault).status === 0, 'verify found differences')
  console.log(
    JSON.stringify({
      hostile: names.length,
      ms: Math.round(ms),
      peakBytes,
      contents,
      left,
      failures,
    }),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failures.length === 0 ? 0 : 1
