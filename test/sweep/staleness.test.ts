import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Outcome, ReadResult } from '../../src/part/outcome.js'
import type { ReadSettings } from '../../src/part/settings.js'
import { retryDelay, unreadableDelay } from '../../src/sweep/schedule.js'
import {
  areLanguagesStale,
  areLimitsStale,
  arePasswordsStale,
  dependenciesOf,
} from '../../src/sweep/staleness.js'

const settings: ReadSettings = {
  limits: DEFAULT_LIMITS,
  ocr: { languages: ['eng'], engine: 'wasm' },
  passwords: [],
}
const result = (outcome: Outcome): ReadResult => ({ outcome, type: 'x/y', ms: 1 })
const NOTHING = { limits: null, languages: null, passwords: null }

test('a text read without meeting a limit depends on nothing', () => {
  expect(dependenciesOf(result({ kind: 'text', pages: [{ text: 'a' }] }), settings)).toEqual(
    NOTHING,
  )
})

test('a cut depends on the limit that cut, and on no other', () => {
  const stored = dependenciesOf(
    result({ kind: 'text', pages: [{ text: 'a' }], cutBy: 'ocr-pages', ocrPages: 50 }),
    settings,
  )
  expect(stored).toEqual({ limits: 'ocrPages=50', languages: 'eng', passwords: null })
  expect(areLimitsStale('ocrPages=50', { ...DEFAULT_LIMITS, cells: 1 })).toBe(false)
  expect(areLimitsStale('ocrPages=50', { ...DEFAULT_LIMITS, ocrPages: 60 })).toBe(true)
})

test('a large part depends on the limits that refused it', () => {
  const { limits } = dependenciesOf(
    result({ kind: 'declined', state: 'too-large', detail: '' }),
    settings,
  )
  expect(areLimitsStale(limits as string, { ...DEFAULT_LIMITS, partBytes: 1 })).toBe(true)
})

test('pages left because OCR was off are read when it is switched on, never the other way', () => {
  const off = { ...settings, ocr: false as const }
  const { languages } = dependenciesOf(
    result({ kind: 'text', pages: [], empty: 'no-text-layer', pagesToOcr: 2 }),
    off,
  )
  expect(languages).toBe('off')
  expect(areLanguagesStale('off', off)).toBe(false)
  expect(areLanguagesStale('off', settings)).toBe(true)
  expect(areLanguagesStale('eng', settings)).toBe(false)
  expect(areLanguagesStale('eng', off)).toBe(false)
})

test('a locked document waits for another list of passwords, which is not stored', () => {
  const { passwords } = dependenciesOf(
    result({ kind: 'declined', state: 'locked', detail: '' }),
    settings,
  )
  expect(arePasswordsStale(passwords as string, settings)).toBe(false)
  const withOne = { ...settings, passwords: ['hunter2'] }
  expect(arePasswordsStale(passwords as string, withOne)).toBe(true)
  expect(
    dependenciesOf(result({ kind: 'declined', state: 'locked', detail: '' }), withOne).passwords,
  ).toMatch(/^[0-9a-f]{8}$/)
})

test('delays grow, and end at a day', () => {
  expect([1, 2, 3, 9].map(retryDelay)).toEqual([30, 180, 1080, 86_400])
  expect([0, 1, 30, 180].map(unreadableDelay)).toEqual([1, 30, 180, 1080])
})
