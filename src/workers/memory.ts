/**
 * What processes hold. On Linux the figures are read from files: where no file handle is left there is none, and
 * that must end neither the process nor the reading of a document.
 */
import { readFileSync } from 'node:fs'

let lastHeld = 0

/** Resident bytes of this process, its threads with it; the last figure known where the system gives none now. */
export function heldBytes(): number {
  try {
    lastHeld = process.memoryUsage.rss()
  } catch {
    // The next look finds out.
  }
  return lastHeld
}

/** Resident bytes of another process; undefined where /proc is missing, or when it has gone. */
export function residentBytes(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined
  try {
    const held = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return Number(held?.[1] ?? 0) * 1024
  } catch {
    return undefined
  }
}

/** Bytes of this thread: its heap, and what lies beside it; 0 where the system does not tell now. */
export function heldByThread(): number {
  try {
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  } catch {
    return 0
  }
}
