/**
 * Transfer encodings: base64, quoted-printable, and none. RFC 2045 section 6.
 *
 * Damage is read through, not refused: padding in the middle (encoders that were joined), missing
 * padding, lines of other text after the end, lower-case hex, broken soft line ends.
 */
import { createHash } from 'node:crypto'

export const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['', '7bit', '8bit', 'binary'])

/** Lower case, without comments and quotes. */
export function encodingOf(field: string): string {
  if (field === '') return ''
  return field
    .slice(0, 200)
    .replace(/\([^)]*\)/g, '')
    .replace(/["';]/g, '')
    .trim()
    .toLowerCase()
}

/**
 * Decodes a leaf as a whole. An encoding that nobody knows is taken as none.
 *
 * @returns may be a view of `raw`
 */
export function decodeTransfer(raw: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return fromBase64(raw)
  if (encoding === 'quoted-printable') return fromQuotedPrintable(raw)
  return raw
}

/** Hash and size of a leaf too large to be decoded at once; a megabyte at a time. */
export function measureTransfer(raw: Buffer, encoding: string): { hash: string; size: number } {
  const hash = createHash('sha256')
  let size = 0
  if (encoding === 'base64') {
    let carry = ''
    for (let at = 0; at < raw.length; at += MEGABYTE) {
      const text = carry + raw.toString('latin1', at, at + MEGABYTE).replace(/[^A-Za-z0-9+/]/g, '')
      const whole = text.length - (text.length % 4)
      const bytes = Buffer.from(text.slice(0, whole), 'base64')
      carry = text.slice(whole)
      hash.update(bytes)
      size += bytes.length
    }
    const rest = Buffer.from(carry, 'base64')
    hash.update(rest)
    size += rest.length
  } else {
    // Cut at line ends, so that no escape is cut.
    for (let at = 0; at < raw.length;) {
      let end = Math.min(raw.length, at + MEGABYTE)
      if (end < raw.length) {
        const line = raw.lastIndexOf(0x0a, end)
        if (line > at) end = line + 1
      }
      const bytes = decodeTransfer(raw.subarray(at, end), encoding)
      hash.update(bytes)
      size += bytes.length
      at = end
    }
  }
  return { hash: hash.digest('hex'), size }
}

const MEGABYTE = 1 << 20

function fromBase64(raw: Buffer): Buffer {
  const text = raw.toString('latin1')
  const padding = text.indexOf('=')
  if (padding < 0 || END.test(text.slice(padding))) return Buffer.from(text, 'base64')
  // Padding and then more: encoded pieces that were joined, or a footer that is no base64.
  const out = Buffer.allocUnsafe(Math.ceil(text.length * 0.75) + 3)
  let length = 0
  let from = 0
  for (let pieces = 0; from < text.length && pieces < PIECES; pieces++) {
    let end = text.indexOf('=', from)
    if (end < 0) end = text.length
    let next = end
    while (text[next] === '=') next++
    const piece = text.slice(from, end)
    if (pieces > 0 && !isBase64(piece, next - end)) break
    length += out.write(piece, length, 'base64')
    from = next
  }
  return out.subarray(0, length)
}

/** Words behind the end are no base64: a whole piece has no blanks within its lines and comes out even. */
function isBase64(piece: string, padding: number): boolean {
  if (/[^A-Za-z0-9+/\s]|\S[ \t]+\S/.test(piece)) return false
  return (piece.replace(/\s+/g, '').length + padding) % 4 === 0
}

/** Joined pieces read of one leaf; a real one has a handful. */
const PIECES = 100_000

const END = /^=[=\s]*$/

function fromQuotedPrintable(raw: Buffer): Buffer {
  let at = raw.indexOf(0x3d)
  if (at < 0) return raw
  const out = Buffer.allocUnsafe(raw.length)
  let length = 0
  let from = 0
  while (at >= 0) {
    if (at > from) length += raw.copy(out, length, from, at)
    const value = hex(raw[at + 1]) * 16 + hex(raw[at + 2])
    if (value >= 0) {
      out[length++] = value
      from = at + 3
    } else {
      // A soft line end, perhaps with blanks before it.
      let i = at + 1
      while (raw[i] === 0x20 || raw[i] === 0x09) i++
      if (raw[i] === 0x0d && raw[i + 1] === 0x0a) from = i + 2
      else if (raw[i] === 0x0a || raw[i] === 0x0d) from = i + 1
      else if (i >= raw.length) from = raw.length
      else {
        out[length++] = 0x3d
        from = at + 1
      }
    }
    at = raw.indexOf(0x3d, from)
  }
  length += raw.copy(out, length, from)
  return out.subarray(0, length)
}

function hex(code: number | undefined): number {
  if (code === undefined) return -1000
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 0x20
  return lower >= 97 && lower <= 102 ? lower - 87 : -1000
}
