import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { extractDocuments, formats, type DocumentReading } from '../../src/api.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paperknife-documents-'))
  vi.stubEnv('PAPERKNIFE_FAULTS', fileURLToPath(new URL('./faults.mjs', import.meta.url)))
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

async function readAll(files: string[], options = {}): Promise<Record<string, DocumentReading>> {
  const readings: Record<string, DocumentReading> = {}
  for await (const reading of extractDocuments(files, options))
    readings[reading.file.slice(folder.length + 1)] = reading
  return readings
}

test('one reading a file, whatever its neighbours do', async () => {
  const files = [
    write('a.txt', 'FAULT text the first'),
    write('b.txt', 'FAULT spin'),
    write('c.txt', 'FAULT exit'),
    write('d.txt', 'FAULT throw'),
    write('e.txt', 'FAULT text the last'),
    join(folder, 'missing.txt'),
  ]
  const readings = await readAll(files, { limits: { textTimeoutMs: 500 }, ocr: false })
  expect(Object.keys(readings).sort()).toEqual([
    'a.txt',
    'b.txt',
    'c.txt',
    'd.txt',
    'e.txt',
    'missing.txt',
  ])
  expect(readings['a.txt']).toMatchObject({ state: 'ok' })
  expect(readings['b.txt']).toMatchObject({ state: 'failed-transient', reason: 'timeout' })
  expect(readings['c.txt']).toMatchObject({ state: 'failed-transient', reason: 'died' })
  expect(readings['d.txt']).toMatchObject({ state: 'damaged' })
  expect(readings['e.txt']).toMatchObject({ state: 'ok' })
  expect(readings['missing.txt']).toMatchObject({ state: 'failed-transient', reason: 'unreadable' })
})

test('documents that only together need too much memory are all read', async () => {
  const files = ['k', 'l'].map((name) => write(`${name}.txt`, `FAULT hold 350 1500 ${name}`))
  const readings = await readAll(files, { ocr: false, workers: 2, memoryBytesMax: 700_000_000 })
  expect(Object.values(readings).map(({ state }) => state)).toEqual(['ok', 'ok'])
})

test('a document that needs too much memory alone is tried twice, and said to', async () => {
  const log = join(folder, 'begun')
  vi.stubEnv('PAPERKNIFE_FAULTS_LOG', log)
  const readings = await readAll([write('m.txt', 'FAULT buffers')], {
    ocr: false,
    memoryBytesMax: 600_000_000,
  })
  expect(readings['m.txt']).toMatchObject({ state: 'failed-transient', reason: 'memory' })
  expect(readFileSync(log, 'utf8')).toBe('buffers\nbuffers\n')
})

test('a consumer that leaves early ends the threads', async () => {
  const files = [write('f.txt', 'FAULT text early'), write('g.txt', 'FAULT sleep')]
  for await (const reading of extractDocuments(files, { ocr: false })) {
    expect(reading.state).toBe('ok')
    break
  }
})

test('a stopped reading ends and gives what was done', async () => {
  const files = [write('h.txt', 'FAULT text done'), write('i.txt', 'FAULT sleep')]
  const stop = new AbortController()
  const given: string[] = []
  for await (const { file } of extractDocuments(files, { ocr: false, signal: stop.signal })) {
    given.push(file)
    stop.abort()
  }
  expect(given).toEqual([files[0]])
})

test('a process that reads documents ends by itself', () => {
  const script = `
    import { extractDocuments } from ${JSON.stringify(new URL('../../dist/api.js', import.meta.url).href)}
    for await (const { state } of extractDocuments([${JSON.stringify(write('j.txt', 'FAULT text end'))}])) console.log(state)`
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8', timeout: 20_000 },
  )
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'ok\n' })
})

test('a wrong option is refused before anything is read', async () => {
  await expect(readAll([], { vault: '/x' })).rejects.toThrow('vault is not an option')
  await expect(readAll([], { signal: 1 })).rejects.toThrow('signal must be an AbortSignal')
})

test('formats lists each row of the table with its version', () => {
  for (const format of formats()) {
    expect(format.name).toMatch(/^[a-z0-9-]+$/)
    expect(format.version).toBeGreaterThan(0)
  }
})
