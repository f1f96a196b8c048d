/** A leaf or attachment as a part: hashed, and with its bytes when they were asked for. */
import { createHash } from 'node:crypto'
import type { Limits } from '../part/limits.js'
import type { Part } from './message.js'

export interface ParseOptions {
  readonly limits: Limits
  /** Parts whose bytes are handed out: by hash, all, or none. Default `'none'`. */
  readonly want?: ReadonlySet<string> | 'none' | 'all'
}

export function partOf(
  bytes: Buffer,
  about: Omit<Part, 'hash' | 'size' | 'bytes'>,
  { limits, want = 'none' }: ParseOptions,
): Part {
  const hash = createHash('sha256').update(bytes).digest('hex')
  const isWanted = want === 'all' || (want !== 'none' && want.has(hash))
  return {
    ...about,
    hash,
    size: bytes.length,
    ...(isWanted && bytes.length <= limits.partBytes && { bytes }),
  }
}
