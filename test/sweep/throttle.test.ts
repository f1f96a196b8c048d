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

test('a laptop whose mains are off is on its battery; a machine without a battery is not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-power-'))
  try {
    expect(isOnBattery(folder)).toBe(false)
    for (const [name, type, online] of [
      ['AC', 'Mains', '0'],
      ['BAT0', 'Battery', ''],
    ] as const) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'type'), `${type}\n`)
      if (online) writeFileSync(join(folder, name, 'online'), `${online}\n`)
    }
    expect(isOnBattery(folder)).toBe(true)
    writeFileSync(join(folder, 'AC', 'online'), '1\n')
    expect(isOnBattery(folder)).toBe(false)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
