/** When a sweep should hold back for the sake of the machine: others want the processor, or it runs on its battery. */
import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../part/options.js'

const LOOK_MS = 1_000
const SUPPLIES = '/sys/class/power_supply'

/** Resolves when work may be begun; looks at the machine at most once a second. */
export class ThrottleGate {
  readonly #throttle: Settings['throttle']
  #lookedMs = -Infinity
  #isHeld = false

  constructor(throttle: Settings['throttle']) {
    this.#throttle = throttle
  }

  /** @returns undefined when nothing holds, so that the usual case costs no turn of the event loop */
  wait(signal: AbortSignal | undefined): Promise<void> | undefined {
    return this.isHeld() ? this.#hold(signal) : undefined
  }

  isHeld(): boolean {
    return this.#throttle !== undefined && this.#look()
  }

  async #hold(signal: AbortSignal | undefined): Promise<void> {
    while (!signal?.aborted && this.#look())
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS / 4))
  }

  #look(): boolean {
    const now = performance.now()
    if (now - this.#lookedMs < LOOK_MS) return this.#isHeld
    this.#lookedMs = now
    const { loadAverageMax = Infinity, pauseOnBattery = false } = this.#throttle ?? {}
    this.#isHeld = (loadavg()[0] ?? 0) > loadAverageMax || (pauseOnBattery && isOnBattery())
    return this.#isHeld
  }
}

/**
 * Known on Linux; elsewhere never. A laptop may be fed by its mains or by USB; where neither is told of, its
 * battery says whether it is being emptied. Batteries of mice and keyboards are no matter.
 *
 * @param supplies where the system tells of its supplies
 */
export function isOnBattery(supplies = SUPPLIES): boolean {
  const read = (name: string, file: string): string => {
    try {
      return readFileSync(join(supplies, name, file), 'utf8').trim()
    } catch {
      return ''
    }
  }
  let names: string[]
  try {
    names = readdirSync(supplies)
  } catch {
    return false
  }
  const typed = names.map((name) => ({ name, type: read(name, 'type') }))
  const feeds = typed.filter(
    ({ type }) => type === 'Mains' || type === 'USB' || type === 'Wireless',
  )
  const own = typed.filter(
    ({ name, type }) => type === 'Battery' && read(name, 'scope') !== 'Device',
  )
  if (own.length === 0 || feeds.some(({ name }) => read(name, 'online') === '1')) return false
  if (own.some(({ name }) => read(name, 'status') === 'Discharging')) return true
  return feeds.some(({ type }) => type === 'Mains')
}
