import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isOnBattery, ThrottleGate } from '../../src/sweep/throttle.js'

test('without a throttle nothing waits', () => {
  expect(new ThrottleGate(undefined).wait(undefined)).toBeUndefined()
  expect(new ThrottleGate({ loadAverageMax: 1e9 }).wait(undefined)).toBeUndefined()
})

test('a load above the mark holds work back until the sweep is stopped', async () => {
  const stop = new AbortController()
  // Any load is above this mark, that of a machine at rest too.
  const gate = new ThrottleGate({ loadAverageMax: -1 })
  expect(gate.isHeld()).toBe(true)
  let isOver = false
  const held = gate.wait(stop.signal)
  expect(held).toBeInstanceOf(Promise)
  const over = held?.then(() => (isOver = true))
  await wait(600) // it looks whether it is stopped four times a second
  expect(isOver).toBe(false)
  stop.abort()
  await over
  expect(isOver).toBe(true)
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
