/**
 * `npm run torture -- --minutes N [--seed S]`: a vault that lives while its indexer is killed.
 *
 * Each round changes the mail (deliveries, flags, moves, deletions), starts `index`, and ends it with SIGKILL at a
 * random moment or at a named place between two commits; now and then it harms what lies on the disk as a power cut or
 * a bad sector would. Then `index` runs to its end, and must agree with the vault (`verify`) and with an index
 * built afresh: the same messages, states, hits. A further run must read nothing.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
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
import { writeMaildir } from '../bench/index.js'
import { PROGRAM } from '../bench/harness.js'
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

/** Starts `index` and ends it. @returns whether it was still running when it was killed */
async function indexKilled(): Promise<boolean> {
  const atPlace = dice.next() < 0.4
  const child = spawn(process.execPath, [PROGRAM, 'index', vault, '--index', index, ...RUN], {
    stdio: 'ignore',
    env: {
      ...process.env,
      ...(atPlace && { PAPERKNIFE_CRASH_AT: `${dice.one(CRASH_POINTS)}:${1 + dice.below(4)}` }),
    },
  })
  const closed = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('close', (_, signal) => resolve(signal)),
  )
  await Promise.race([closed, wait(atPlace ? 60_000 : 150 + dice.below(2500))])
  child.kill('SIGKILL')
  return (await closed) === 'SIGKILL'
}

const boxes = ['', '.Archive', '.Sent']
const cur = (box: string): string => join(vault, box, 'cur')
let delivered = 0

/** One thing that happens to a mail store. */
async function change(): Promise<void> {
  const box = dice.one(boxes)
  const names = readdirSync(cur(box)).filter((name) => !name.startsWith('.'))
  const name = dice.one(names)
  switch (dice.below(4)) {
    case 0: {
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
    case 1:
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
    case 2:
      if (name) renameSync(join(cur(box), name), join(cur(dice.one(boxes)), name))
      break
    default:
      if (name && names.length > 5) unlinkSync(join(cur(box), name))
  }
}

/** What a power cut or a bad sector leaves: a torn log, a cut or overwritten database. @returns what was done */
function harm(): string | undefined {
  const kind = dice.below(12)
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

/** Messages, states and hits, as they must be whatever happened on the way. */
function seen(at: string): string {
  const status = JSON.parse(
    paperknife('status', vault, '--index', at, '--json').stdout || '{}',
  ) as Record<string, unknown>
  const hits = WORDS.map((word) =>
    paperknife('search', vault, word, '--index', at, '--json', '--limit', '100')
      .stdout.split('\n')
      .filter((line) => line.startsWith('{"id"') || line.includes('"key"'))
      .map((line) => (JSON.parse(line) as { key: string }).key)
      .sort(),
  )
  return JSON.stringify({ messages: status.messages, contents: status.contents, hits })
}

let kills = 0
let rounds = 0
const failures: string[] = []
const harms: Record<string, number> = {}
function fail(what: string): void {
  failures.push(`round ${rounds}: ${what}`)
  console.error(`FAIL seed ${values.seed}, round ${rounds}: ${what}`)
}

try {
  await writeMaildir(vault, 150, 0.4)
  for (const box of ['cur', '.Work/cur', '.Archive/cur'])
    cpSync(join(SAMPLE, box), cur(box.startsWith('.Archive') ? '.Archive' : ''), {
      recursive: true,
    })
  while (performance.now() < endsAt || (killsWanted > 0 && kills < killsWanted)) {
    rounds++
    for (let n = dice.below(6); n > 0; n--) await change()
    let isHarmed = false
    for (let n = 1 + dice.below(4); n > 0; n--) {
      if (await indexKilled()) kills++
      if (dice.next() < 0.3) await change()
      const harmed = harm()
      if (harmed) harms[harmed] = (harms[harmed] ?? 0) + 1
      isHarmed ||= harmed !== undefined
    }
    let last = paperknife('index', vault, '--index', index, ...RUN, '--json')
    // What died in work is tried again when it is due; a forced round makes it due now.
    if (last.status === 75)
      last = paperknife(
        're-extract',
        vault,
        '--index',
        index,
        '--state',
        'failed-transient',
        ...RUN,
      )
    if (last.status !== 0) fail(`index ended with ${last.status}: ${last.stderr.slice(-300)}`)
    const again = paperknife('index', vault, '--index', index, ...RUN, '--json')
    const report = JSON.parse(again.stdout.split('\n')[0] || '{}') as {
      contents?: Record<string, number>
      messages?: Record<string, number>
    }
    if (Object.keys(report.contents ?? { none: 1 }).length > 0)
      fail(`a further run read ${JSON.stringify(report.contents)}`)
    if (report.messages?.added !== 0 || report.messages.changed !== 0)
      fail(`a further run changed ${JSON.stringify(report.messages)}`)
    let verified = paperknife('verify', vault, '--index', index, '--json')
    // Harm inside a page that no run has needed is found by verify alone, which reads everything; the next
    // run then sets the file aside and rebuilds it.
    if (verified.status !== 0 && isHarmed && verified.stderr.includes('is damaged')) {
      const rebuilt = paperknife('index', vault, '--index', index, ...RUN, '--json')
      if (rebuilt.status !== 0)
        fail(`rebuilding ended with ${rebuilt.status}: ${rebuilt.stderr.slice(-300)}`)
      verified = paperknife('verify', vault, '--index', index, '--json')
    }
    if (verified.status !== 0)
      fail(`verify: ${verified.stdout.slice(0, 500)}${verified.stderr.slice(0, 300)}`)
    if (rounds % 3 === 1) {
      const fresh = join(folder, `fresh-${rounds}`)
      const built = paperknife('index', vault, '--index', fresh, ...RUN)
      if (built.status !== 0)
        fail(`a fresh index ended with ${built.status}: ${built.stderr.slice(-300)}`)
      const [lived, clean] = [seen(index), seen(fresh)]
      if (lived !== clean) {
        fail('the index differs from a fresh one')
        appendFileSync(join(tmpdir(), 'paperknife-torture.log'), `${lived}\n${clean}\n`)
      }
      rmSync(fresh, { recursive: true, force: true })
    }
    console.error(
      `round ${rounds}, ${kills} kills, ${failures.length} failures, ${Math.max(0, Math.round((endsAt - performance.now()) / 1000))} s left`,
    )
  }
} finally {
  if (failures.length === 0) rmSync(folder, { recursive: true, force: true })
  else console.error(`the vault and its index are left in ${folder}`)
}
console.log(JSON.stringify({ torture: rounds, seed: Number(values.seed), kills, harms, failures }))
process.exitCode = failures.length === 0 ? 0 : 1
