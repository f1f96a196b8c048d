/** What can be asked of the one who writes a vault's index, wherever it runs. */
import type { Progress, SweepReport } from './sweep.js'
import type { ReExtractOptions, ReExtractReport } from './re-extract.js'
import type { VerifyReport } from './verify.js'

/** Plain data: it may cross to another process. */
export type Call =
  | { name: 'sweep'; full: boolean; yieldMs?: number }
  | { name: 'deliver'; path: string }
  | { name: 're-extract'; options: ReExtractOptions }
  | { name: 'verify'; purge: boolean }

/** What came of a message that was delivered. */
export interface Delivery {
  /** Its row. */
  id: number
  /** As a sweep counts it: neither, when it was in the index as it lies there, or could not be read. */
  counts: Pick<SweepReport['messages'], 'added' | 'changed'>
}

export interface Results {
  sweep: SweepReport
  deliver: Delivery
  're-extract': ReExtractReport
  verify: VerifyReport
}

export interface Sweeping {
  perform<N extends Call['name']>(
    call: Extract<Call, { name: N }>,
    signal?: AbortSignal,
    onProgress?: (progress: Progress) => void,
  ): Promise<Results[N]>
  /** Begins nothing more until `resume()`. */
  pause(): void
  resume(): void
  /** Off: contents in work are given back and none is begun; on: the next sweep reads all that waits. */
  setAttachments(value: 'on' | 'off'): void
  close(): Promise<void>
}
