/**
 * Places where tests end the process as a power cut would: PAPERKNIFE_CRASH_AT=name, or name:3 for
 * the third time it is passed. Costs a comparison when the variable is not set.
 */
export const CRASH_POINTS = [
  'rows-added', // messages are in the index, their folder is not marked as listed
  'claimed', // contents are claimed, nothing is read
  'recorded', // text and state are in extracts.db, index.db does not know
  'rewritten', // some messages are rewritten, others are queued
] as const
export type CrashPoint = (typeof CRASH_POINTS)[number]

const [wanted, count = '1'] = (process.env.PAPERKNIFE_CRASH_AT ?? '').split(':')
let left = Number(count)

export function crashPoint(name: CrashPoint): void {
  if (name === wanted && --left <= 0) process.kill(process.pid, 'SIGKILL')
}
