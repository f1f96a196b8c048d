/**
 * What .ci/run does after `npm ci`: types, lint, tests, and, where the corpus of real files lies beside the
 * project, whole runs over it. Prints one line a check and, at the very end, the sums of real runs alone
 * on a line.
 */
import { spawnSync } from 'node:child_process'
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PROGRAM, runWatched } from '../bench/harness.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SHARED = ['../shared', '../../shared']
  .map((place) => join(ROOT, place))
  .find((place) => existsSync(join(place, 'corpus/files')))

/** Least micro recall by format, measured against the agreement of independent readers. */
const RECALL: Record<string, number> = { docx: 0.97, xlsx: 0.97, pptx: 0.97, pdf: 0.97 }
const MEMORY_BYTES_MAX = 1_500_000_000
const EXTRACT_MINUTES_MAX = 10

let passed = 0
let failed = 0

function record(name: string, isGood: boolean, detail = ''): void {
  if (isGood) passed++
  else failed++
  console.log(`${isGood ? 'ok  ' : 'FAIL'} ${name}${detail ? `: ${detail}` : ''}`)
}

function step(name: string, command: string, words: string[]): void {
  const { status } = spawnSync(command, words, { cwd: ROOT, stdio: 'inherit' })
  record(name, status === 0)
}

/** High advisories that do not reach us, each with its reason in SECURITY.md. */
const ANSWERED = ['GHSA-hq66-cqwq-w95j']

/** Known holes of what is installed with the package; a registry that answers no audit is said, and is no failure. */
function audit(): void {
  const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  let report: { auditReportVersion?: number; vulnerabilities?: Record<string, { via: unknown[] }> }
  try {
    report = JSON.parse(stdout) as typeof report
  } catch {
    report = {}
  }
  if (report.auditReportVersion === undefined) {
    console.log('skipped: the registry answers no audit')
    return
  }
  const open = new Set<string>()
  for (const { via } of Object.values(report.vulnerabilities ?? {}))
    for (const advisory of via as Array<string | { severity: string; url: string }>)
      if (typeof advisory !== 'string' && /^(?:high|critical)$/.test(advisory.severity))
        if (!ANSWERED.some((id) => advisory.url.endsWith(id))) open.add(advisory.url)
  record('no known hole, high or critical', open.size === 0, [...open].join(' '))
}

function tests(folder: string): void {
  const report = join(folder, 'tests.json')
  spawnSync(
    'npx',
    ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    {
      cwd: ROOT,
      stdio: 'inherit',
    },
  )
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(
      readFileSync(report, 'utf8'),
    ) as {
      numPassedTests: number
      numFailedTests: number
      testResults: Array<{ name: string; status: string; assertionResults: unknown[] }>
    }
    passed += numPassedTests
    failed += numFailedTests
    // A file that cannot even be loaded has no tests to fail.
    for (const { name, status, assertionResults } of testResults)
      if (status === 'failed' && assertionResults.length === 0)
        record(name, false, 'could not be run')
  } catch (error) {
    record('tests', false, String(error))
  }
}

function filesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  ).length
}

async function extractCorpus(shared: string, folder: string): Promise<void> {
  const files = join(shared, 'corpus/files')
  const texts = join(folder, 'texts')
  const { ms, code, peakBytes, stdout } = await runWatched(process.execPath, [
    PROGRAM,
    'extract',
    files,
    '--out',
    texts,
    '--ocr',
    'off',
  ])
  const lines = stdout.split('\n').filter((line) => line !== '')
  const seen = new Set(lines.map((line) => (JSON.parse(line) as { file: string }).file))
  const expected = filesBelow(files)
  record('extract ends by itself', code === 0 || code === 75, `exit ${code}`)
  record(
    'one line a file',
    lines.length === expected && seen.size === expected,
    `${lines.length} of ${expected}`,
  )
  record(
    `extract takes less than ${EXTRACT_MINUTES_MAX} minutes`,
    ms < EXTRACT_MINUTES_MAX * 60_000,
    `${Math.round(ms / 1000)} s`,
  )
  if (peakBytes !== undefined)
    record('memory of extract', peakBytes < MEMORY_BYTES_MAX, `${Math.round(peakBytes / 1e6)} MB`)

  const score = spawnSync('python3', [join(shared, 'tools/score.py'), texts, '--worst', '0'], {
    encoding: 'utf8',
  })
  if (score.error) {
    console.log('skipped: the score needs python3')
    return
  }
  console.log(score.stdout)
  for (const [format, least] of Object.entries(RECALL)) {
    const row = score.stdout.split('\n').find((line) => line.startsWith(`${format} `))
    const recall = Number(row?.trim().split(/\s+/)[3])
    record(`recall of ${format}`, recall >= least, `${recall}, at least ${least}`)
  }
}

interface Status {
  messages: number
}

async function indexCorpus(shared: string, folder: string): Promise<void> {
  const files = join(shared, 'corpus/files')
  const index = join(folder, 'index')
  const words = [PROGRAM, 'index', files, '--index', index, '--ocr', 'off', '--json']
  const first = await runWatched(process.execPath, words)
  record(
    'the corpus is indexed',
    first.code === 0 || first.code === 75,
    `exit ${first.code}, ${Math.round(first.ms / 1000)} s`,
  )
  const status = spawnSync(
    process.execPath,
    [PROGRAM, 'status', files, '--index', index, '--json'],
    { encoding: 'utf8' },
  )
  const { messages } = JSON.parse(status.stdout) as Status
  const mails = await mailsOf(join(shared, 'corpus/INDEX.tsv'))
  record('each mail has a row', messages >= mails, `${messages} rows, ${mails} mails in INDEX.tsv`)

  const again = await runWatched(process.execPath, words)
  const report = JSON.parse(again.stdout.split('\n')[0] ?? '{}') as {
    messages?: Record<string, number>
  }
  const changes = ['added', 'changed', 'moved', 'removed'].map((kind) => report.messages?.[kind])
  record(
    'a second index changes nothing',
    changes.every((count) => count === 0),
    changes.join(' '),
  )
}

async function mailsOf(tsv: string): Promise<number> {
  let mails = 0
  for await (const line of createInterface({ input: createReadStream(tsv) }))
    if (line.split('\t')[8] === 'eml') mails++
  return mails
}

const folder = mkdtempSync(join(tmpdir(), 'paperknife-ci-'))
try {
  step('types', 'npm', ['run', '--silent', 'types'])
  step('lint', 'npm', ['run', '--silent', 'lint'])
  step('build', 'npm', ['run', '--silent', 'build'])
  audit()
  tests(folder)
  step('a share of the fuzz', 'npx', ['tsx', 'scripts/fuzz.ts', '--inputs', '250', '--seed', '7'])
  step('a share of the torture', 'npx', [
    'tsx',
    'scripts/torture.ts',
    '--minutes',
    '1',
    '--seed',
    '7',
  ])
  step('the demo', process.execPath, ['scripts/demo.mjs'])
  if (SHARED === undefined) console.log('skipped: no corpus of real files beside the project')
  else {
    await extractCorpus(SHARED, folder).catch((error: unknown) =>
      record('extract over the corpus', false, String(error)),
    )
    await indexCorpus(SHARED, folder).catch((error: unknown) =>
      record('index over the corpus', false, String(error)),
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
