import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import { settle, type OpenOptions } from '../../src/part/options.js'

test('a vault alone is enough, and what is settled is frozen', () => {
  const settings = settle({ vault: '/mail' })
  expect(settings).toMatchObject({
    vaults: ['/mail'],
    attachments: 'on',
    keepTexts: true,
    sweeper: 'process',
    ocr: { languages: ['eng'], engine: 'auto' },
    limits: DEFAULT_LIMITS,
  })
  expect(Object.isFrozen(settings)).toBe(true)
  expect(Object.isFrozen(settings.limits)).toBe(true)
})

test('an option that is undefined keeps its default', () => {
  expect(
    settle({ vault: '/mail', limits: { ocrPages: undefined } } as unknown as OpenOptions).limits,
  ).toEqual(DEFAULT_LIMITS)
})

test.each<[unknown, typeof TypeError | typeof RangeError, string]>([
  [{}, TypeError, 'give either vault or vaults'],
  [{ vault: '/a', vaults: ['/b'] }, TypeError, 'give either vault or vaults'],
  [{ vault: '' }, RangeError, 'vault must not be empty'],
  [{ vaults: [] }, RangeError, 'vaults must name at least one vault'],
  [{ vaults: ['/a', ''] }, RangeError, 'vaults must not be empty'],
  [{ vaults: ['/a', '/b/../a'] }, RangeError, 'vaults names /b/../a twice'],
  [{ vault: '/a', vualt: 1 }, TypeError, 'vualt is not an option'],
  [{ vault: '/a', limits: { ocrPagse: 1 } }, TypeError, 'limits.ocrPagse is not a limit'],
  [
    { vault: '/a', limits: { ocrPages: 0 } },
    RangeError,
    'limits.ocrPages must be a positive integer',
  ],
  [{ vault: '/a', limits: { ocrPages: NaN } }, RangeError, 'limits.ocrPages must be a positive'],
  [{ vault: '/a', limits: { ocrPages: Infinity } }, RangeError, 'limits.ocrPages must be a'],
  [{ vault: '/a', limits: { ocrPages: '20' } }, TypeError, 'limits.ocrPages must be a number'],
  [{ vault: '/a', limits: { constructor: 1 } }, TypeError, 'limits.constructor is not a limit'],
  [{ vault: '/a', ocr: true }, TypeError, 'ocr must be false or an object'],
  [{ vault: '/a', ocr: { languages: [] } }, RangeError, 'ocr.languages must name'],
  [{ vault: '/a', ocr: { languages: ['../x'] } }, RangeError, 'ocr.languages holds "../x"'],
  [{ vault: '/a', ocr: { engine: 'magic' } }, RangeError, "ocr.engine must be 'auto' or"],
  [{ vault: '/a', sweeper: 'thread' }, RangeError, "sweeper must be 'process' or 'inline'"],
  [{ vault: '/a', attachments: true }, TypeError, "attachments must be 'on' or 'off'"],
  [{ vault: '/a', passwords: 'secret' }, TypeError, 'passwords must be an array of strings'],
  [{ vault: '/a', workers: 1.5 }, RangeError, 'workers must be a positive integer'],
  [{ vault: '/a', memoryBytesMax: 1 }, RangeError, 'memoryBytesMax must be at least'],
  [{ vault: '/a', throttle: { loadAverageMax: 0 } }, RangeError, 'throttle.loadAverageMax must be'],
  [{ vault: '/a', throttle: { battery: true } }, TypeError, 'throttle.battery is not an option'],
  [null, TypeError, 'options must be an object'],
])('%j is refused', (options, kind, rule) => {
  const attempt = (): unknown => settle(options as OpenOptions)
  expect(attempt).toThrow(kind)
  expect(attempt).toThrow(rule)
})
