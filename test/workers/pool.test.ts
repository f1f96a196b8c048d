import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DEFAULT_LIMITS, type Limits } from '../../src/part/limits.js'
import type { ReadResult } from '../../src/part/outcome.js'
import { WorkerPool, type Fault, type Threw } from '../../src/workers/pool.js'

const FAULTS = fileURLToPath(new URL('./faults.mjs', import.meta.url))

let folder: string
let pool: WorkerPool | undefined
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paperknife-pool-'))
})
afterEach(async () => {
  await pool?.close()
  pool = undefined
})
afterAll(() => rmSync(folder, { recursive: true }))

function fault(line: string): string {
  const file = join(folder, `${line.replace(/\W+/g, '-')}.txt`)
  writeFileSync(file, `FAULT ${line}\n`)
  return file
}

function open(limits: Partial<Limits> = {}, memoryBytesMax = 1_000_000_000): WorkerPool {
  pool = new WorkerPool({
    settings: { limits: { ...DEFAULT_LIMITS, ...limits }, ocr: false, passwords: [] },
    textThreads: 1,
    ocrThreads: 1,
    memoryBytesMax,
    faults: FAULTS,
  })
  return pool
}

async function read(
  from: WorkerPool,
  file: string,
  signal?: AbortSignal,
): Promise<{ answer?: ReadResult | Threw; fault?: Fault }> {
  let answer: ReadResult | Threw | undefined
  const ended = await from.run(
    { kind: 'document', file, lane: 'text' },
    (_item, given) => (answer = given),
    signal,
  )
  return { ...(answer && { answer }), ...(ended && { fault: ended }) }
}

function textOf(answer: ReadResult | Threw | undefined): string {
  if (!answer || 'threw' in answer || answer.outcome.kind !== 'text') return ''
  return answer.outcome.pages.map((page) => page.text).join('\f')
}

const WELL = 'text all is well'
async function expectStillWell(from: WorkerPool): Promise<void> {
  const { answer, fault: ended } = await read(from, fault(WELL))
  expect(ended).toBeUndefined()
  expect(textOf(answer)).toContain('all is well')
}

test('a thread of the built task file reads a document', async () => {
  await expectStillWell(open())
})

test.each(['spin', 'sleep'])(
  'a reading that never ends (%s) is ended at its limit',
  async (name) => {
    const from = open({ textTimeoutMs: 400 })
    const began = performance.now()
    const { fault: ended } = await read(from, fault(name))
    expect(ended).toMatchObject({ kind: 'timeout', item: 0, detail: 'over 400 ms' })
    expect(performance.now() - began).toBeLessThan(5_000)
    await expectStillWell(from)
  },
)

test('the clock begins when the reading begins, not when it was queued', async () => {
  const from = open({ textTimeoutMs: 900 })
  const files = Array.from({ length: 4 }, (_, n) => fault(`slow 400 ${n}`))
  const results = await Promise.all(files.map((file) => read(from, file)))
  expect(results.map((result) => result.fault)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('a thread that exits costs its item and says so', async () => {
  const from = open()
  const { fault: ended } = await read(from, fault('exit'))
  expect(ended).toMatchObject({ kind: 'died', item: 0 })
  expect(ended?.detail).toContain('3')
  await expectStillWell(from)
})

test('process.abort is refused inside a thread and ends the item alone', async () => {
  const from = open()
  const { answer, fault: ended } = await read(from, fault('abort'))
  expect(ended).toBeUndefined()
  expect(JSON.stringify(answer)).toMatch(/abort/)
  await expectStillWell(from)
})

test('a thread whose heap is full costs its item', async () => {
  const from = open()
  const { fault: ended } = await read(from, fault('heap'))
  expect(ended).toMatchObject({ kind: 'died', item: 0 })
  expect(ended?.detail).toMatch(/memory/)
  await expectStillWell(from)
})

test.each(['buffers', 'buffers-sync'])(
  'buffers beyond the memory mark (%s), which no heap limit bounds, end the item',
  async (name) => {
    const from = open({}, 700_000_000)
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20)
    const { fault: ended } = await read(from, fault(name))
    clearInterval(watch)
    expect(ended).toMatchObject({ kind: 'memory', item: 0 })
    expect(most).toBeLessThan(1_000_000_000)
    await expectStillWell(from)
  },
)

test('an item does not pay for memory that this process holds without it', async () => {
  const held = Buffer.alloc(500_000_000, 1)
  const from = open({}, Math.round(process.memoryUsage.rss() / 0.9))
  const { answer, fault: ended } = await read(from, fault('slow 300'))
  expect(ended).toBeUndefined()
  expect(textOf(answer)).toContain('read after 300 ms')
  expect(held.length).toBe(500_000_000)
})

test('a process of its own that cannot be started costs the item, and nobody waits for it', async () => {
  const from = open()
  const node = process.execPath
  process.execPath = join(folder, 'no-such-program')
  try {
    const ended = await from.run(
      { kind: 'document', file: fault(WELL), lane: 'text' },
      () => {},
      undefined,
      true,
    )
    expect(ended).toMatchObject({ kind: 'died', item: 'preparing' })
    expect(ended?.detail).toContain('ENOENT')
  } finally {
    process.execPath = node
  }
  await expectStillWell(from)
})

test('an error thrown at once is the document being damaged, not a fault of ours', async () => {
  const { answer } = await read(open(), fault('throw'))
  expect(answer).toMatchObject({ outcome: { kind: 'declined', state: 'damaged' } })
})

test('an error thrown from a callback ends its item at once, long before the deadline', async () => {
  const from = open()
  const began = performance.now()
  const { answer } = await read(from, fault('throw-stray'))
  expect(answer).toEqual({ threw: 'thrown from a callback' })
  expect(performance.now() - began).toBeLessThan(5_000)
  await expectStillWell(from)
})

test.each(['throw-late', 'reject-late'])(
  'an error after the end of a reading (%s) costs neither it nor its neighbours',
  async (name) => {
    const from = open()
    const first = await read(from, fault(name))
    expect(textOf(first.answer)).toContain('read before the late')
    for (let n = 0; n < 3; n++) {
      const { answer, fault: ended } = await read(from, fault('slow 30'))
      expect(ended).toBeUndefined()
      expect(textOf(answer)).toContain('read after 30 ms')
    }
  },
)

test('a flood of text is cut at textChars and kept up to there', async () => {
  const { answer } = await read(open({ textChars: 100_000 }), fault('flood'))
  expect(answer).toMatchObject({ outcome: { kind: 'text', cutBy: 'text-chars' } })
  expect(textOf(answer).length).toBeLessThanOrEqual(100_000)
})

test('what a library prints reaches nobody', () => {
  const script = `
    import { WorkerPool } from ${JSON.stringify(new URL('../../dist/workers/pool.js', import.meta.url).href)}
    import { DEFAULT_LIMITS } from ${JSON.stringify(new URL('../../dist/part/limits.js', import.meta.url).href)}
    const pool = new WorkerPool({
      settings: { limits: DEFAULT_LIMITS, ocr: false, passwords: [] },
      textThreads: 1, ocrThreads: 1, faults: ${JSON.stringify(FAULTS)} })
    await pool.run({ kind: 'document', file: ${JSON.stringify(fault('print'))}, lane: 'text' },
      (item, answer) => console.log(answer.outcome.pages[0].text.trim()))
    await pool.close()`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8', timeout: 20_000 },
  )
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'read while printing\n',
    stderr: '',
  })
})

test('a stopped task is interrupted, and a pool that closes leaves nothing waiting', async () => {
  const from = open()
  const stop = new AbortController()
  const first = read(from, fault('sleep'), stop.signal)
  const queued = read(from, fault(WELL))
  setTimeout(() => stop.abort(), 300)
  expect((await first).fault).toMatchObject({ kind: 'interrupted' })
  expect(textOf((await queued).answer)).toContain('all is well')

  const running = read(from, fault('sleep'))
  const waiting = read(from, fault(WELL))
  await new Promise((resolve) => setTimeout(resolve, 200))
  await from.close()
  expect((await running).fault).toMatchObject({ kind: 'interrupted' })
  expect((await waiting).fault).toMatchObject({ kind: 'interrupted' })
})

test('what the caller throws at an answer is the caller’s to hear, and no fault of the thread', async () => {
  const from = open()
  const full = new Error('no space left')
  await expect(
    from.run({ kind: 'document', file: fault(WELL), lane: 'text' }, () => {
      throw full
    }),
  ).rejects.toBe(full)
  await expectStillWell(from)
})

test('a file that cannot be read answers with the code of the file system', async () => {
  const { answer } = await read(open(), join(folder, 'missing.txt'))
  expect(answer).toMatchObject({ code: 'ENOENT' })
})

test('a file over partBytes is too large and never read', async () => {
  const file = join(folder, 'large.bin')
  writeFileSync(file, Buffer.alloc(2_000))
  const { answer } = await read(open({ partBytes: 1_999 }), file)
  expect(answer).toMatchObject({ outcome: { kind: 'declined', state: 'too-large' } })
})

test.runIf(process.platform === 'linux')(
  'a thread that is ended takes the process that recognises a page for it along',
  async () => {
    const programs = mkdtempSync(join(tmpdir(), 'paperknife-slow-'))
    const note = join(programs, 'pid')
    // Answers what it is asked before it is used; a page then takes it a minute.
    const lines = [
      '#!/bin/sh',
      'case "$1" in --version) echo tesseract 5.0.0; exit;; --list-langs) printf "list\\neng\\n"; exit;; esac',
      `echo $$ > ${note}.new && mv ${note}.new ${note}`,
      'exec sleep 60',
    ]
    writeFileSync(join(programs, 'tesseract'), lines.join('\n'), { mode: 0o755 })
    const before = process.env['PATH']
    process.env['PATH'] = `${programs}:${before}`
    try {
      pool = new WorkerPool({
        settings: {
          limits: DEFAULT_LIMITS,
          ocr: { languages: ['eng'], engine: 'native' },
          passwords: [],
        },
        textThreads: 1,
        ocrThreads: 1,
      })
      const stop = new AbortController()
      const file = fileURLToPath(new URL('../fixtures/image/scan.png', import.meta.url))
      const run = pool.run({ kind: 'document', file, lane: 'ocr' }, () => {}, stop.signal)
      while (!existsSync(note)) await new Promise((resolve) => setTimeout(resolve, 20))
      const pid = Number(readFileSync(note, 'utf8'))
      expect(isAlive(pid)).toBe(true)
      stop.abort()
      expect(await run).toMatchObject({ kind: 'interrupted' })
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
    } finally {
      process.env['PATH'] = before
      rmSync(programs, { recursive: true })
    }
  },
  20_000,
)

/** A zombie counts as dead: who started it is gone, and nobody has asked for its end yet. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
