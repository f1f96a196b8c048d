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

/** Known on Linux; elsewhere never. @param supplies where the system tells of its supplies */
export function isOnBattery(supplies = SUPPLIES): boolean {
  try {
    const mains = readdirSync(supplies).filter(
      (name) => readFileSync(join(supplies, name, 'type'), 'utf8').trim() === 'Mains',
    )
    return (
      mains.length > 0 &&
      mains.every((name) => readFileSync(join(supplies, name, 'online'), 'utf8').trim() === '0')
    )
  } catch {
    return false
  }
}
