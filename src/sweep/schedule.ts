/**
 * When something that failed is tried again.
 *
 * Not responsible for: the order of what is due (newest message first, text before OCR: that order
 * lies in the indexes of extracts.db).
 */

const RETRY = { firstSeconds: 30, factor: 6, mostSeconds: 86_400 } as const

/**
 * Seconds to wait after failure number `attempts` (from 1): 30 s, 3 min, 18 min … at most a day.
 */
export function retryDelay(attempts: number): number {
  return Math.min(RETRY.firstSeconds * RETRY.factor ** (attempts - 1), RETRY.mostSeconds)
}

/**
 * Seconds to wait for a file that could not be read: due at the next sweep at first, since permissions
 * are mended and disks are mounted by people who then look whether it helped; ever more rarely later.
 *
 * @param last seconds waited before this failure; 0 at the first
 */
export function unreadableDelay(last: number): number {
  if (last <= 0) return 1
  return Math.min(Math.max(RETRY.firstSeconds, last * RETRY.factor), RETRY.mostSeconds)
}
