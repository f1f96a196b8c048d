/** Sweeps, then follows changes of a vault until it is stopped. */
import type { Sweeping } from './sweeping.js'
import type { SweepOptions } from './sweep.js'

/** How often folders are compared; a comparison of unchanged folders costs their directory times. */
const EVERY_MS = 1_000

export async function watchVault(
  _root: string,
  sweeping: Sweeping,
  { signal, onProgress }: SweepOptions & { signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await sweeping.perform({ name: 'sweep', full: false }, signal, onProgress)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, EVERY_MS)
      signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer)
          resolve()
        },
        { once: true },
      )
    })
  }
}
