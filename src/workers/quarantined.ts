/** The process of quarantine.ts: one thread, one task, and the end. */
import type { FromQuarantine, ToQuarantine } from './quarantine.js'
import { WorkerPool } from './pool.js'

function tell(message: FromQuarantine): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

let pool: WorkerPool | undefined
process.once('message', ({ options, task }: ToQuarantine) => {
  void (async () => {
    pool = new WorkerPool({ ...options, textThreads: 1, ocrThreads: 1 })
    const fault = await pool.run(
      task,
      (item, answer) => void tell({ kind: 'answer', item, answer }),
    )
    await pool.close()
    await tell({ kind: 'end', fault })
  })()
})
// Ended by the one that started it, after the last word or in the middle.
process.on('disconnect', () => {
  pool?.endChildren()
  process.exit(0)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
