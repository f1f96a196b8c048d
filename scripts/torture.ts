/**
 * `npm run torture -- --minutes N [--seed S]`: a vault that lives while its indexer is killed.
 *
 * Each round changes the mail some times (deliveries, flags, moves, deletions), starts `index` after each, or a host that sweeps
 * in a process of its own, and ends it (program, host or sweeping process) with SIGKILL at a random moment of the work or at a
 * named place between two commits; now and then the disk is full, and now and then it harms what lies on the disk as a power
 * cut or a bad sector would. No content that was settled may be read again meanwhile. Then `index` runs to its end, and must
 * agree with the vault (`verify`) and, every third round, with an index built afresh: the same messages, states, hits. A further
 * run must read nothing.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  openSync,
  writeSync,
  closeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { writeMaildir } from '../bench/index.js'
import { PROGRAM } from '../bench/harness.js'
import { openVault } from '../src/api.js'
import { CRASH_POINTS } from '../src/sweep/crash-point.js'
import { eml } from './make/mail.js'
import { docx } from './make/office.js'
import { Dice } from './make/random.js'

const SAMPLE = fileURLToPath(new URL('../sample-vault', import.meta.url))
const WORDS = [
  'lighthouse',
  'invoice',
  'brandt',
  'quittengelee',
  'meeting',
  'budget',
  'torture',
  '東京',
  'oak',
]

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '0' },
  },
})
const endsAt = performance.now() + Number(values.minutes) * 60_000
const killsWanted = Number(values.kills)
if (!Number.isFinite(endsAt)) throw new TypeError('--minutes must be a number')
const dice = new Dice(Number(values.seed))

const folder = mkdtempSync(join(tmpdir(), 'paperknife-torture-'))
const vault = join(folder, 'mail')
const index = join(folder, 'index')
const RUN = ['--ocr', 'off', '--workers', '1']

interface Ended {
  status: number | null
  stdout: string
  stderr: string
}

function paperknife(command: string, ...words: string[]): Ended {
  return spawnSync(process.execPath, [PROGRAM, command, ...words], {
    encoding: 'utf8',
    timeout: 300_000,
    maxBuffer: 1e8,
  })
}

/** What `index` took when it ran to its end, the last times; a random moment of the work lies within. */
let usualMs = 1_500
const moment = (): number => usualMs * (0.3 + 0.7 * dice.next())

/** `index` to its end. */
function indexed(at = index): Ended {
  const began = performance.now()
  const ended = paperknife('index', vault, '--index', at, ...RUN, '--json')
  if (at === index) usualMs = (usualMs + performance.now() - began) / 2
  return ended
}

/** Starts `index` and ends it. @returns how often a running process was killed */
async function indexKilled(): Promise<number> {
  const atPlace = dice.next() < 0.4
  const ended = await endedBy(
    spawn(process.execPath, [PROGRAM, 'index', vault, '--index', index, ...RUN], {
      stdio: 'ignore',
      env: {
        ...process.env,
        ...(atPlace && { PAPERKNIFE_CRASH_AT: `${dice.one(CRASH_POINTS)}:${1 + dice.below(2)}` }),
      },
    }),
    atPlace ? 60_000 : moment(),
  )
  return ended === 'SIGKILL' ? 1 : 0
}

/** Resolves with the signal that a process ended by; to be asked for at once, before it can have ended. */
function closeOf(child: ChildProcess): Promise<NodeJS.Signals | null> {
  return new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
}

/** Waits for the end of a process, and brings it about after some time. @returns the signal it ended by */
async function endedBy(
  child: ChildProcess,
  ms: number,
  closed = closeOf(child),
): Promise<NodeJS.Signals | null> {
  await Promise.race([closed, wait(ms, undefined, { ref: false })])
  child.kill('SIGKILL')
  return closed
}

/** A program that embeds the library. */
const HOST = `
  import { openVault } from ${JSON.stringify(new URL('../dist/api.js', import.meta.url).href)}
  const mail = await openVault({ vault: process.argv[1], index: process.argv[2], ocr: false, workers: 1 })
  await mail.sweep()
  await mail.close()`

/** Starts a host, kills its sweeping process some times, and now and then the host too. @returns the kills */
async function hostKilled(): Promise<number> {
  const host = spawn(process.execPath, ['--input-type=module', '--eval', HOST, vault, index], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = closeOf(host)
  let said = ''
  host.stderr.on('data', (words: Buffer) => (said += words.toString()))
  let kills = 0
  let sweeping: number[] = []
  for (let times = dice.below(4); times > 0 && host.exitCode === null; times--) {
    await Promise.race([closed, wait(moment() + 200)])
    for (const pid of childrenOf(host.pid as number))
      if (isAlive(pid)) {
        process.kill(pid, 'SIGKILL')
        kills++
      }
  }
  const mayEnd = dice.next() < 0.3
  const late = wait(mayEnd ? 120_000 : moment(), 'late', { ref: false })
  if ((await Promise.race([closed, late])) === 'late') {
    // Stopped first: one that is about to start another process would leave it unseen.
    host.kill('SIGSTOP')
    sweeping = childrenOf(host.pid as number)
    host.kill('SIGKILL')
    kills++
    if (mayEnd) fail('a host whose sweeping process was killed did not end')
  }
  const by = await closed
  if (by === null && host.exitCode !== 0)
    fail(`a host ended with ${host.exitCode}: ${said.slice(-300)}`)
  // Without its host the sweeping process ends by itself, cleanly.
  for (let tries = 0; sweeping.some(isAlive); tries++) {
    if (tries === 300) {
      fail('a sweeping process outlived its host by 30 s')
      for (const pid of sweeping) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    }
    await wait(100)
  }
  return kills
}

function childrenOf(pid: number): number[] {
  try {
    const told = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    return told
      .split(' ')
      .map(Number)
      .filter((child) => child > 0)
  } catch {
    // Gone, or no Linux.
  }
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return stdout
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child as number)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A run that the disk has no room for: it says so, and exits with 75. @returns whether the disk was full */
function indexFull(): boolean {
  const file = dice.one(['index.db', 'extracts.db'])
  const { status, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, 'index', vault, '--index', index, ...RUN],
    {
      encoding: 'utf8',
      timeout: 300_000,
      env: { ...process.env, PAPERKNIFE_PAGES_MAX: `${file}:${8 + dice.below(120)}` },
    },
  )
  const isFull = stderr.includes('no space left')
  if (isFull ? status !== 75 : status !== 0 && status !== 75)
    fail(`a full disk ended with ${status}: ${stderr.slice(-300)}`)
  return isFull
}

const boxes = ['', '.Archive', '.Sent']
const cur = (box: string): string => join(vault, box, 'cur')
let delivered = 0

/** One thing that happens to a mail store. */
async function change(): Promise<void> {
  const box = dice.one(boxes)
  const names = readdirSync(cur(box)).filter((name) => !name.startsWith('.'))
  const name = dice.one(names)
  switch (dice.below(6)) {
    case 0:
    case 1: {
      const n = ++delivered
      const bytes = eml({
        from: 'Torture <torture@bench.example>',
        to: 'Hanna Brandt <hanna@brandt.example>',
        subject: `Delivery ${n}`,
        date: new Date(1.7e12 + n * 1000).toISOString().replace('Z', '+00:00'),
        id: `torture-${n}@bench.example`,
        text: `Number ${n} of the torture.\n`,
        attachments:
          dice.next() < 0.5
            ? [
                {
                  name: `oak-${n}.docx`,
                  type: 'application/msword',
                  bytes: await docx([`Oak plank ${n}`]),
                },
              ]
            : [],
      })
      writeFileSync(join(cur(box), `${1.7e9 + n}.T${n}.torture:2,`), bytes)
      break
    }
    case 2:
      if (name)
        renameSync(
          join(cur(box), name),
          join(
            cur(box),
            name.includes(':2,')
              ? name.replace(/:2,.*/, dice.one([':2,', ':2,S', ':2,FS']))
              : `${name}:2,S`,
          ),
        )
      break
    case 3:
      if (name) renameSync(join(cur(box), name), join(cur(dice.one(boxes)), name))
      break
    default:
      if (name && names.length > 5) unlinkSync(join(cur(box), name))
  }
}

/** What a power cut or a bad sector leaves: a torn log, a cut or overwritten database. @returns what was done */
function harm(): string | undefined {
  const kind = dice.below(20)
  const [name, file] = (
    kind < 2
      ? [
          kind === 0 ? 'index.db-wal torn' : 'extracts.db-wal torn',
          kind === 0 ? 'index.db-wal' : 'extracts.db-wal',
        ]
      : kind < 4
        ? [kind === 2 ? 'index.db cut' : 'index.db overwritten', 'index.db']
        : kind === 4
          ? ['index.db gone', 'index.db']
          : []
  ) as [string?, string?]
  if (name === undefined || file === undefined) return undefined
  const path = join(index, file)
  if (!existsSync(path)) return undefined
  const size = statSync(path).size
  if (size === 0) return undefined
  if (kind === 4)
    for (const left of ['index.db', 'index.db-wal', 'index.db-shm'])
      rmSync(join(index, left), { force: true })
  else if (kind === 3) {
    const handle = openSync(path, 'r+')
    writeSync(handle, Buffer.alloc(4096, 0x5a), 0, 4096, dice.below(Math.max(1, size >> 12)) * 4096)
    closeSync(handle)
  } else truncateSync(path, dice.below(size))
  return name
}

/** Contents that came to an end, with the revision that their reading got. Undefined when the file cannot be read now. */
function settled(): Map<string, number> | undefined {
  const look = join(folder, 'look')
  rmSync(look, { recursive: true, force: true })
  mkdirSync(look)
  // A copy: who opens the file itself puts its log in order.
  for (const name of ['extracts.db', 'extracts.db-wal'])
    if (existsSync(join(index, name))) copyFileSync(join(index, name), join(look, name))
  try {
    const db = new Database(join(look, 'extracts.db'), { fileMustExist: true })
    try {
      const rows = db
        .prepare(
          `SELECT hex(hash) AS hash, revision FROM content
           WHERE state NOT IN ('pending', 'extracting', 'failed-transient', 'gave-up')`,
        )
        .all() as Array<{ hash: string; revision: number }>
      return new Map(rows.map(({ hash, revision }) => [hash, revision]))
    } finally {
      db.close()
    }
  } catch {
    return undefined
  }
}

let settledBefore: Map<string, number> | undefined
/** No content that was settled at the last look has been read again. */
function lookForReadAgain(): void {
  const now = settled()
  for (const [hash, revision] of settledBefore ?? []) {
    const other = now?.get(hash)
    if (other !== undefined && other !== revision) fail(`content ${hash} was read again`)
  }
  settledBefore = now
}

/** Messages, states and hits, as they must be whatever happened on the way. */
async function seen(at: string): Promise<string> {
  const mail = await openVault({ vault, index: at, ocr: false, sweeper: 'inline' })
  try {
    const { messages, contents } = await mail.status()
    const hits: string[][] = []
    for (const word of WORDS)
      hits.push((await mail.search(word, { limit: 100 })).hits.map(({ key }) => key).sort())
    return JSON.stringify({ messages, contents, hits })
  } finally {
    await mail.close()
  }
}

let kills = 0
let rounds = 0
/** Contents that died in work so often that their next try was far, or none. */
let forced = 0
/** Milliseconds by what they went into. */
const spent: Record<string, number> = {}
const spend = (on: string, began: number): void => {
  spent[on] = Math.round((spent[on] ?? 0) + performance.now() - began)
}
const failures: string[] = []
const harms: Record<string, number> = {}
function fail(what: string): void {
  failures.push(`round ${rounds}: ${what}`)
  console.error(`FAIL seed ${values.seed}, round ${rounds}: ${what}`)
}

try {
  await writeMaildir(vault, 50, 0.4)
  for (const box of ['cur', '.Work/cur', '.Archive/cur'])
    cpSync(join(SAMPLE, box), cur(box.startsWith('.Archive') ? '.Archive' : ''), {
      recursive: true,
    })
  while (performance.now() < endsAt || (killsWanted > 0 && kills < killsWanted)) {
    rounds++
    let isHarmed = false
    for (let n = 4 + dice.below(6); n > 0; n--) {
      // Work enough that a random moment lies in it.
      for (let changes = 2 + dice.below(8); changes > 0; changes--) await change()
      const way = dice.next()
      const began = performance.now()
      if (way < 0.07) {
        if (indexFull()) harms['disk full'] = (harms['disk full'] ?? 0) + 1
      } else kills += await (way < 0.35 ? hostKilled() : indexKilled())
      spend('kills', began)
      lookForReadAgain()
      const harmed = harm()
      if (harmed === undefined) continue
      harms[harmed] = (harms[harmed] ?? 0) + 1
      isHarmed = true
      if (harmed.startsWith('extracts.db')) settledBefore = undefined
    }
    let began = performance.now()
    const last = indexed()
    // What died in work is tried again when it is due, and what died three times never; a forced round makes both due now.
    const { contents = {} } = JSON.parse(
      paperknife('status', vault, '--index', index, '--json').stdout || '{}',
    ) as { contents?: Record<string, number> }
    for (const state of ['failed-transient', 'gave-up'])
      if ((contents[state] ?? 0) > 0) {
        forced += contents[state] ?? 0
        const read = paperknife('re-extract', vault, '--index', index, '--state', state, ...RUN)
        if (read.status !== 0)
          fail(`re-extract ended with ${read.status}: ${read.stderr.slice(-300)}`)
      }
    if (last.status !== 0 && last.status !== 75)
      fail(`index ended with ${last.status}: ${last.stderr.slice(-300)}`)
    lookForReadAgain()
    const again = indexed()
    const report = JSON.parse(again.stdout.split('\n')[0] || '{}') as {
      contents?: Record<string, number>
      messages?: Record<string, number>
    }
    if (Object.keys(report.contents ?? { none: 1 }).length > 0)
      fail(`a further run read ${JSON.stringify(report.contents)}`)
    if (report.messages?.added !== 0 || report.messages.changed !== 0)
      fail(`a further run changed ${JSON.stringify(report.messages)}`)
    spend('index', began)
    began = performance.now()
    let verified = paperknife('verify', vault, '--index', index, '--json')
    // Harm inside a page that no run has needed is found by verify alone, which reads everything; the next
    // run then sets the file aside and rebuilds it.
    if (verified.status !== 0 && isHarmed && verified.stderr.includes('is damaged')) {
      const rebuilt = indexed()
      if (rebuilt.status !== 0)
        fail(`rebuilding ended with ${rebuilt.status}: ${rebuilt.stderr.slice(-300)}`)
      verified = paperknife('verify', vault, '--index', index, '--json')
      settledBefore = undefined
    }
    if (verified.status !== 0)
      fail(`verify: ${verified.stdout.slice(0, 500)}${verified.stderr.slice(0, 300)}`)
    spend('verify', began)
    began = performance.now()
    if (rounds % 3 === 1) {
      const fresh = join(folder, `fresh-${rounds}`)
      const built = indexed(fresh)
      if (built.status !== 0)
        fail(`a fresh index ended with ${built.status}: ${built.stderr.slice(-300)}`)
      try {
        const [lived, clean] = [await seen(index), await seen(fresh)]
        if (lived !== clean) {
          fail('the index differs from a fresh one')
          appendFileSync(join(tmpdir(), 'paperknife-torture.log'), `${lived}\n${clean}\n`)
        }
      } catch (error) {
        cpSync(index, join(folder, `unread-${rounds}`), { recursive: true })
        fail(`an index that verify found whole cannot be read: ${(error as Error).stack}`)
      }
      rmSync(fresh, { recursive: true, force: true })
    }
    spend('compare', began)
    console.error(
      `round ${rounds}, ${kills} kills, ${failures.length} failures, ${Math.max(0, Math.round((endsAt - performance.now()) / 1000))} s left`,
    )
  }
} finally {
  if (failures.length === 0) rmSync(folder, { recursive: true, force: true })
  else console.error(`the vault and its index are left in ${folder}`)
}
console.log(
  JSON.stringify({
    torture: rounds,
    seed: Number(values.seed),
    kills,
    harms,
    forced,
    spent,
    failures,
  }),
)
process.exitCode = failures.length === 0 ? 0 : 1
