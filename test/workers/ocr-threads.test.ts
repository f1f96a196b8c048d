/** How long what reads pages is kept: a thread for so many pages, an engine for one set of languages. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test, vi } from 'vitest'
import { closeOcr, engineFor } from '../../src/extract/ocr/engine.js'
import { languageFile } from '../../src/extract/ocr/languages.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { OcrSettings } from '../../src/part/settings.js'
import { WorkerPool } from '../../src/workers/pool.js'

afterAll(closeOcr)

test('a thread of the OCR lane is kept over documents, and replaced after 50 pages', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-ocr-threads-'))
  const log = join(folder, 'begun.log')
  vi.stubEnv('PAPERKNIFE_FAULTS_LOG', log)
  vi.stubEnv('PAPERKNIFE_FAULTS_THREADS', '1')
  const pool = new WorkerPool({
    settings: {
      limits: DEFAULT_LIMITS,
      ocr: { languages: ['eng'], engine: 'wasm' },
      passwords: [],
    },
    textThreads: 1,
    ocrThreads: 1,
    faults: fileURLToPath(new URL('./faults.mjs', import.meta.url)),
  })
  try {
    for (const name of ['a', 'b', 'c', 'd']) {
      const file = join(folder, `${name}.txt`)
      writeFileSync(file, `FAULT scan 20 1 ${name}\n`)
      expect(await pool.run({ kind: 'document', file, lane: 'ocr' }, () => {})).toBeUndefined()
    }
    const threads = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').at(-1))
    expect(threads).toHaveLength(4)
    expect(threads[1]).toBe(threads[0])
    expect(threads[2]).toBe(threads[0])
    expect(threads[3]).not.toBe(threads[0])
  } finally {
    await pool.close()
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  }
})

const ENGLISH: OcrSettings = { languages: ['eng'], engine: 'wasm' }
const blank = (width: number, height: number) => ({
  width,
  height,
  grey: new Uint8Array(width * height).fill(255),
})

test('an engine stays warm until its pages are spent or one was very large', async () => {
  const first = await engineFor(ENGLISH)
  for (let page = 1; page <= 50; page++) {
    expect(await engineFor({ ...ENGLISH })).toBe(first)
    await first.recognise(blank(64, 64), 60_000)
  }
  expect(first.isOpen).toBe(false)
  const second = await engineFor(ENGLISH)
  expect(second).not.toBe(first)
  await second.recognise(blank(4_000, 3_600), 60_000)
  expect(second.isOpen).toBe(false)
}, 60_000)

test.skipIf(!languageFile('deu'))(
  'other languages are another engine, and close the first',
  async () => {
    const english = await engineFor(ENGLISH)
    const german = await engineFor({ ...ENGLISH, languages: ['deu'] })
    expect(german.name).toContain('deu')
    expect([english.isOpen, german.isOpen]).toEqual([false, true])
  },
  60_000,
)
