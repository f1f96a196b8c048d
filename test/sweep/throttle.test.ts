import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isOnBattery, ThrottleGate } from '../../src/sweep/throttle.js'

test('without a throttle nothing waits', () => {
  expect(new ThrottleGate(undefined).wait(undefined)).toBeUndefined()
  expect(new ThrottleGate({ loadAverageMax: 1e9 }).wait(undefined)).toBeUndefined()
})

test('a load above the mark holds work back until the sweep is stopped', async () => {
  const held = new ThrottleGate({ loadAverageMax: Number.MIN_VALUE }).wait(AbortSignal.timeout(300))
  const began = performance.now()
  await held
  if (held) expect(performance.now() - began).toBeGreaterThan(200)
})

test.each([
  ['mains off', { AC: { type: 'Mains', online: '0' }, BAT0: { type: 'Battery' } }, true],
  ['mains on', { AC: { type: 'Mains', online: '1' }, BAT0: { type: 'Battery' } }, false],
  [
    'fed by USB alone',
    {
      AC: { type: 'Mains', online: '0' },
      usb: { type: 'USB', online: '1' },
      BAT0: { type: 'Battery', status: 'Charging' },
    },
    false,
  ],
  ['nothing but a battery, emptied', { BAT0: { type: 'Battery', status: 'Discharging' } }, true],
  ['nothing but a battery, full', { BAT0: { type: 'Battery', status: 'Full' } }, false],
  [
    'a desktop with the battery of a mouse',
    { mouse: { type: 'Battery', scope: 'Device', status: 'Discharging' } },
    false,
  ],
  ['a desktop', {}, false],
] as Array<[string, Record<string, Record<string, string>>, boolean]>)(
  'on battery: %s',
  (_, supplies, expected) => {
    const folder = mkdtempSync(join(tmpdir(), 'paperknife-power-'))
    try {
      for (const [name, files] of Object.entries(supplies)) {
        mkdirSync(join(folder, name))
        for (const [file, text] of Object.entries(files))
          writeFileSync(join(folder, name, file), `${text}\n`)
      }
      expect(isOnBattery(folder)).toBe(expected)
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
