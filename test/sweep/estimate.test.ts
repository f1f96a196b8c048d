import { expect, test } from 'vitest'
import type { BacklogWork, ContentRow, Rate } from '../../src/index/rows.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import { estimate, estimateBacklog } from '../../src/sweep/estimate.js'
import { DEFAULT_OCR_THREADS } from '../../src/workers/pool.js'

const settings = {
  ocr: { languages: ['eng'], engine: 'wasm' as const },
  workers: 1,
  limits: DEFAULT_LIMITS,
}

/** Readings of one type: bytes and milliseconds each, and pages when they were recognised. */
function rate(
  type: string,
  readings: ReadonlyArray<readonly [bytes: number, ms: number, pages?: number]>,
): Rate {
  const sum = (of: (bytes: number, ms: number) => number): number =>
    readings.reduce((total, [bytes, ms]) => total + of(bytes, ms), 0)
  const ocrPages = readings.reduce((total, [, , pages]) => total + (pages ?? 0), 0)
  return {
    type,
    isRecognised: ocrPages > 0 ? 1 : 0,
    contents: readings.length,
    ms: sum((_, ms) => ms),
    bytes: sum((bytes) => bytes),
    bytesSquared: sum((bytes) => bytes * bytes),
    bytesMs: sum((bytes, ms) => bytes * ms),
    ocrPages,
    pagesWaiting: 0,
  }
}

const row = (given: Partial<ContentRow>): ContentRow =>
  ({ size: 1_000, ms: null, ocrPages: null, pagesToOcr: null, ...given }) as ContentRow
const hoursOf = (ms: number): number => Math.round((ms / 3_600_000) * 10_000) / 10_000

/** 100 ms and 1 ms a kilobyte. */
const WORD = rate(
  'application/msword',
  [10, 20, 30, 40, 50].map((kb) => [kb * 1_000, 100 + kb] as const),
)
const SCANS = rate(
  'application/pdf',
  Array.from({ length: 5 }, () => [1_000_000, 12_000, 4] as const),
)

test('the time of a type grows with its bytes as it was measured here', () => {
  const rows = Array.from({ length: 1_000 }, () =>
    row({ declaredType: 'application/msword', size: 900_000 }),
  )
  expect(estimate([WORD, SCANS], settings, rows)).toEqual({
    contents: 1_000,
    pagesToOcr: 0,
    hours: hoursOf(1_000 * 1_000),
  })
})

test('pages cost what pages of the type cost, and as many are expected as there were', () => {
  const unread = Array.from({ length: 10 }, () => row({ declaredType: 'application/pdf' }))
  const { pagesToOcr, hours } = estimate([WORD, SCANS], settings, unread)
  expect(pagesToOcr).toBe(40)
  expect(hours).toBeGreaterThanOrEqual(hoursOf((40 * 3_000) / DEFAULT_OCR_THREADS))
  const limits = { ...DEFAULT_LIMITS, ocrPages: 1 }
  expect(estimate([WORD, SCANS], { ...settings, limits }, unread).pagesToOcr).toBe(10)
  expect(estimate([WORD, SCANS], { ...settings, ocr: false }, unread).pagesToOcr).toBe(0)
})

test('what was read before is taken at its own word', () => {
  const rows = [
    row({ declaredType: 'text/plain', ms: 36_000 }),
    row({ declaredType: 'application/pdf', ms: 99, ocrPages: 0, pagesToOcr: 7 }),
  ]
  const { pagesToOcr } = estimate([WORD, SCANS], settings, rows)
  expect(pagesToOcr).toBe(7)
})

test('a picture that was never seen is a page when it is large enough', () => {
  const picture = (size: number): ContentRow => row({ declaredType: 'image/png', size })
  expect(estimate([WORD], settings, [picture(50_000), picture(2_000)]).pagesToOcr).toBe(1)
})

test('the backlog is priced as its contents are', () => {
  const work: BacklogWork = {
    lane: 'text',
    type: 'application/msword',
    contents: 1_000,
    bytes: 900_000_000,
    pages: 0,
    unseen: 1_000,
    unseenLarge: 1_000,
  }
  const rows = Array.from({ length: 1_000 }, () =>
    row({ declaredType: 'application/msword', size: 900_000 }),
  )
  expect(estimateBacklog({ backlogWork: [work], rates: [WORD] }, settings)).toEqual(
    estimate([WORD], settings, rows),
  )
})

test('nothing measured is no hours at all', () => {
  expect(estimate([], settings, [row({ declaredType: 'text/plain' })])).toEqual({
    contents: 1,
    pagesToOcr: 0,
  })
})
