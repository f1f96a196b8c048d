/**
 * `npm run fuzz -- --inputs N [--seed S]`: damaged fixtures and mails through the real program.
 *
 * Documents go to `extract`, mails to `index`, in batches. Demanded of each batch: the program ends by itself,
 * each file has one line with a state of the closed list (each mail one row), no reading passes its deadline,
 * and the memory of the whole tree of processes stays under the mark. A batch that fails is searched for the file
 * that did it; that file is made smaller and left under test/fixtures/hostile, to be looked at and kept.
 */
import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PROGRAM, runWatched } from '../bench/harness.js'
import { DEFAULT_LIMITS } from '../src/part/limits.js'
import { DECLINED_STATES } from '../src/part/states.js'
import { mutate } from './make/mutate.js'
import { Dice } from './make/random.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const HOSTILE = join(ROOT, 'test/fixtures/hostile')
const MEMORY_BYTES_MAX = 1_200_000_000
/** Files given to one run; small runs are parted, so that documents and mails both come. */
const BATCH_MOST = 250
/** A thread that hangs is ended some seconds after its deadline. */
const DEADLINE_MS = DEFAULT_LIMITS.textTimeoutMs + 10_000
const STATES = new Set<string>(['ok', 'failed-transient', ...DECLINED_STATES])

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
})
const inputs = Number(values.inputs)
const seed = Number(values.seed)
if (!Number.isInteger(inputs) || inputs < 1)
  throw new TypeError('--inputs must be a whole number from 1')
if (!Number.isInteger(seed)) throw new TypeError('--seed must be a whole number')

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort()
}

const documents = filesBelow(join(ROOT, 'test/fixtures')).filter(
  (file) => !file.endsWith('.manifest.tsv') && !/\.\w+\.txt$/.test(basename(file)),
)
const mails = filesBelow(join(ROOT, 'sample-vault')).filter((file) => !file.endsWith('.keep'))

interface Line {
  file: string
  state: string
  reason?: string
  ms: number
}

/** What is wrong with a run over a folder of documents; nothing when all is well. */
async function documentFaults(
  folder: string,
): Promise<{ faults: string[]; lines: Line[]; peak: number }> {
  const {
    code,
    stdout,
    peakBytes = 0,
  } = await runWatched(process.execPath, [
    PROGRAM,
    'extract',
    folder,
    '--json',
    '--ocr',
    'off',
    '--workers',
    '2',
  ])
  const lines = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
  const faults: string[] = []
  if (code !== 0 && code !== 75) faults.push(`exit ${code}`)
  const expected = readdirSync(folder).length
  if (lines.length !== expected) faults.push(`${lines.length} lines for ${expected} files`)
  for (const { file, state, ms } of lines) {
    if (!STATES.has(state)) faults.push(`${file}: state ${state}`)
    if (ms > DEADLINE_MS) faults.push(`${file}: ${ms} ms`)
  }
  if (peakBytes > MEMORY_BYTES_MAX) faults.push(`${Math.round(peakBytes / 1e6)} MB`)
  return { faults, lines, peak: peakBytes }
}

/** What is wrong with indexing a folder of mails. */
async function mailFaults(folder: string): Promise<{ faults: string[]; peak: number }> {
  const index = `${folder}-index`
  const { code, peakBytes = 0 } = await runWatched(process.execPath, [
    PROGRAM,
    'index',
    folder,
    '--index',
    index,
    '--ocr',
    'off',
    '--workers',
    '2',
  ])
  const faults: string[] = []
  if (code !== 0 && code !== 75) faults.push(`exit ${code}`)
  const ask = (command: string) =>
    spawnSync(process.execPath, [PROGRAM, command, folder, '--index', index, '--json'], {
      encoding: 'utf8',
    })
  const expected = readdirSync(folder).length
  const { messages } = JSON.parse(ask('status').stdout || '{}') as { messages?: number }
  if (messages !== expected) faults.push(`${messages} rows for ${expected} mails`)
  const verified = ask('verify')
  if (verified.status !== 0)
    faults.push(`verify: ${verified.stdout.slice(0, 400)} ${verified.stderr.slice(0, 400)}`)
  if (peakBytes > MEMORY_BYTES_MAX) faults.push(`${Math.round(peakBytes / 1e6)} MB`)
  rmSync(index, { recursive: true, force: true })
  return { faults, peak: peakBytes }
}

type Check = (folder: string) => Promise<{ faults: string[] }>

async function faultsOf(check: Check, files: ReadonlyMap<string, Uint8Array>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-fuzz-'))
  try {
    const inside = join(folder, 'in')
    mkdirSync(inside)
    for (const [name, bytes] of files) writeFileSync(join(inside, name), bytes)
    return (await check(inside)).faults
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Halves a failing batch down to one file where one file alone fails, then makes it smaller. */
async function hunt(check: Check, batch: Map<string, Uint8Array>): Promise<void> {
  let files = [...batch]
  while (files.length > 1) {
    const half = files.slice(0, files.length >> 1)
    const other = files.slice(files.length >> 1)
    if ((await faultsOf(check, new Map(half))).length > 0) files = half
    else if ((await faultsOf(check, new Map(other))).length > 0) files = other
    else break
  }
  const [[name, bytes] = ['', new Uint8Array(0)]] = files
  let smallest = bytes
  if (files.length === 1)
    for (let piece = smallest.length >> 1, tries = 0; piece > 16 && tries < 40; piece >>= 1)
      for (let at = 0; at < smallest.length && tries < 40; at += piece, tries++) {
        const less = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + piece)])
        if ((await faultsOf(check, new Map([[name, less]]))).length > 0) smallest = less
      }
  mkdirSync(HOSTILE, { recursive: true })
  const kept = join(HOSTILE, `fuzz-${seed}-${name}`)
  writeFileSync(kept, smallest)
  console.error(
    `  left as ${kept} (${smallest.length} bytes${files.length > 1 ? `, with ${files.length - 1} others it takes` : ''})`,
  )
}

const states: Record<string, number> = {}
let failures = 0
let peak = 0
const began = performance.now()
const batchSize = Math.min(BATCH_MOST, Math.ceil(inputs / 4))
const dice = new Dice(seed)
for (let done = 0; done < inputs;) {
  const isMail = dice.next() < 0.3
  const sources = isMail ? mails : documents
  const batch = new Map<string, Uint8Array>()
  while (batch.size < batchSize && done < inputs) {
    const source = dice.one(sources)
    const other = readFileSync(dice.one(sources))
    const bytes = await mutate(readFileSync(source), other, dice)
    const ending = isMail ? '.eml' : extname(source)
    // A mail of nothing is no mail, and so no row.
    if (isMail && !/^[\w-]+:/m.test(Buffer.from(bytes).toString('latin1', 0, 300))) continue
    batch.set(`${String(done++).padStart(6, '0')}${ending}`, bytes)
  }
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-fuzz-'))
  try {
    const inside = join(folder, 'in')
    mkdirSync(inside)
    for (const [name, bytes] of batch) writeFileSync(join(inside, name), bytes)
    const result = isMail
      ? { ...(await mailFaults(inside)), lines: [] }
      : await documentFaults(inside)
    for (const { state, reason } of result.lines) {
      const name = state === 'failed-transient' ? `${state} ${reason}` : state
      states[name] = (states[name] ?? 0) + 1
    }
    peak = Math.max(peak, result.peak)
    if (result.faults.length > 0) {
      failures++
      console.error(`FAIL seed ${seed}, inputs to ${done}: ${result.faults.slice(0, 5).join('; ')}`)
      await hunt(isMail ? mailFaults : documentFaults, batch)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.error(
    `${done} of ${inputs}, ${Math.round((performance.now() - began) / 1000)} s, at most ${Math.round(peak / 1e6)} MB`,
  )
}
console.log(JSON.stringify({ fuzz: inputs, seed, failures, peakBytes: peak, states }))
process.exitCode = failures === 0 ? 0 : 1
