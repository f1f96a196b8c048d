/** UTF-16 and UTF-32, told by their bytes. */

export type WideEncoding = 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be'

/**
 * UTF-16 or UTF-32 by byte order mark, or by where the zero bytes stand.
 *
 * @returns undefined for one-byte and multi-byte encodings and for binary
 */
export function wideEncoding(bytes: Uint8Array): WideEncoding | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'utf-32be'
  const length = Math.min(bytes.length, 4_096) & ~3
  if (length < 4 || bytes.subarray(0, length).indexOf(0) < 0) return undefined
  const zeros = [0, 0, 0, 0]
  for (let i = 0; i < length; i++) if (bytes[i] === 0) zeros[i & 3] = (zeros[i & 3] as number) + 1
  const share = (nth: number): number => (4 * (zeros[nth] as number)) / length
  if (share(0) === 0 && share(2) > 0.95 && share(3) > 0.95 && share(1) > 0.5) return 'utf-32le'
  if (share(3) === 0 && share(0) > 0.95 && share(1) > 0.95 && share(2) > 0.5) return 'utf-32be'
  const even = (share(0) + share(2)) / 2
  const odd = (share(1) + share(3)) / 2
  if (odd > 0.4 && even < 0.02 && readable(bytes, length, 1)) return 'utf-16le'
  if (even > 0.4 && odd < 0.02 && readable(bytes, length, 0)) return 'utf-16be'
  if (odd > 0 && even < 0.02 && isOfOneScript(bytes, length, 1)) return 'utf-16le'
  if (even > 0 && odd < 0.02 && isOfOneScript(bytes, length, 0)) return 'utf-16be'
  return undefined
}

/** Pairs that tell a script. */
const SCRIPT_PAIRS = 8

/**
 * UTF-16 beyond Latin: the high bytes are those of one alphabet (04 for Cyrillic), or of kana, Han, Hangul and their
 * marks, and zero for blanks, line ends and ASCII.
 */
function isOfOneScript(bytes: Uint8Array, length: number, highAt: 0 | 1): boolean {
  const pairs = length / 2
  if (pairs < SCRIPT_PAIRS || !readable(bytes, length, highAt)) return false
  const counts = new Uint32Array(256)
  for (let i = highAt; i < length; i += 2) {
    const high = bytes[i] as number
    counts[high] = (counts[high] as number) + 1
  }
  const count = (from: number, to = from): number =>
    counts.subarray(from, to + 1).reduce((sum, one) => sum + one, 0)
  const common = count(0) + count(0x20)
  for (let high = 1; high <= 0x12; high++)
    if (count(high) > pairs / 2 && count(high) + common > 0.97 * pairs) return true
  const eastern = count(0x30, 0x31) + count(0x4e, 0x9f) + count(0xac, 0xd7) + count(0xff)
  return eastern > pairs / 2 && eastern + common + count(0x22, 0x26) > 0.98 * pairs
}

/** UTF-16 without a mark: its Latin characters are printable ones. `highAt` is the place of the high byte. */
function readable(bytes: Uint8Array, length: number, highAt: 0 | 1): boolean {
  let bad = 0
  for (let i = 0; i < length; i += 2)
    if (bytes[i + highAt] === 0 && isOddControl(bytes[i + 1 - highAt] as number)) bad++
  return bad * 50 <= length / 2
}

/** A control character that text does not hold. Tab, line ends, form feed, escape (ISO-2022) and ^Z are ordinary. */
export function isOddControl(byte: number): boolean {
  return (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 0x1b && byte !== 0x1a) || byte === 127
}
