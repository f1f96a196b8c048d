import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/sweep/crash-point.js'
import { CLI, contentsOf, FAULTS, recorded, TestVault } from './mailbox.js'

const MESSAGES = 24
const BUDGET = readFileSync(new URL('../fixtures/office/budget.docx', import.meta.url))

let vault: TestVault
let whole: Record<string, unknown>
beforeAll(() => {
  vault = new TestVault()
  for (let n = 0; n < MESSAGES; n++)
    vault.write(`cur/${n}.host:2,S`, {
      subject: `Letter ${n}`,
      body: `body of letter ${n}`,
      date: new Date(Date.UTC(2026, 0, 1 + (n % 20))).toUTCString(),
      attachments: {
        [`a${n}.txt`]: `FAULT text words of ${n}`,
        [`b${n}.txt`]: `FAULT slow 20 ${n}`,
        'budget.docx': BUDGET,
      },
    })
  expect(index(vault.path('whole')).status).toBe(0)
  whole = contentsOf(vault.path('whole'))
})
afterAll(() => vault.remove())

function index(directory: string, env: Record<string, string> = {}) {
  return vault.command(['index', vault.root, '--index', directory, '--ocr', 'off'], {
    PAPERKNIFE_FAULTS: FAULTS,
    ...env,
  })
}

/** First lines of the contents that were begun. */
function begun(log: string): string[] {
  if (!existsSync(log)) return []
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  rmSync(log)
  return lines
}

test.each([
  ['rows-added', 1],
  ['claimed', 7],
  ['recorded', 1],
  ['recorded', 20],
  ['rewritten', 1],
] satisfies Array<[CrashPoint, number]>)(
  'a process that dies at %s, time %i, leaves an index that the next one finishes',
  (point, time) => {
    const directory = vault.path(`at-${point}-${time}`)
    const log = vault.path(`log-${point}-${time}`)
    const env = { PAPERKNIFE_FAULTS_LOG: log }
    const died = index(directory, { ...env, PAPERKNIFE_CRASH_AT: `${point}:${time}` })
    expect(died.signal).toBe('SIGKILL')
    begun(log)
    const before = recorded(directory)

    expect(index(directory, env).status).toBe(0)
    // 49 contents, one of which is the document that all mails carry and no fault extractor reads.
    expect(begun(log).length).toBeLessThanOrEqual(2 * MESSAGES - Math.max(0, before - 1))
    expect(contentsOf(directory)).toEqual(whole)
    expect(vault.command(['verify', vault.root, '--index', directory]).status).toBe(0)
  },
  60_000,
)

test('kill -9 at random moments, again and again, ends in the same index', async () => {
  const directory = vault.path('random')
  const log = vault.path('log-random')
  let kills = 0
  for (let attempt = 0; ; attempt++) {
    expect(attempt).toBeLessThan(60)
    const child = spawn(
      process.execPath,
      [CLI, 'index', vault.root, '--index', directory, '--ocr', 'off'],
      {
        stdio: 'ignore',
        env: { ...process.env, PAPERKNIFE_FAULTS: FAULTS, PAPERKNIFE_FAULTS_LOG: log },
      },
    )
    // Later and later, so that the first is killed on a fast machine and the walk ends on a slow one.
    const timer = setTimeout(() => child.kill('SIGKILL'), 300 + Math.random() * 200 * attempt)
    const code = await new Promise((resolve) => child.once('exit', resolve))
    clearTimeout(timer)
    if (code === 0) break
    kills++
  }
  expect(kills).toBeGreaterThan(0)
  expect(contentsOf(directory)).toEqual(whole)
  // A content is read once, and once more only when it was in work at a kill.
  expect(begun(log).length).toBeLessThanOrEqual(2 * MESSAGES + 3 * kills)
}, 120_000)
