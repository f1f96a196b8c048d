/**
 * Files written into a text body: uuencode (POSIX) and yEnc (version 1.3).
 *
 * A block counts only when its lines hold together, so that prose beginning with "begin" stays text.
 */

export interface Block {
  name: string
  bytes: Buffer
}

/**
 * Takes the encoded blocks out of a body.
 *
 * @returns undefined when there is none; else the body without them, and the files
 */
export function takeBlocks(body: Buffer): { rest: Buffer; blocks: Block[] } | undefined {
  const mayHold = body.includes('begin ')
    ? /(?:^|[\r\n])begin [0-7]{3,4} /.test(body.toString('latin1'))
    : false
  const mayHoldY = body.includes('=ybegin ')
  if (!mayHold && !mayHoldY) return undefined
  const blocks: Block[] = []
  const kept: Buffer[] = []
  let from = 0
  let at = 0
  while (at < body.length && blocks.length < 1000) {
    let end = body.indexOf(0x0a, at)
    if (end < 0) end = body.length
    const next = end + 1
    // `begin 644 name` / `=ybegin line=128 size=… name=…`
    const head =
      body[at] === 0x62 || body[at] === 0x3d
        ? body.toString('latin1', at, Math.min(end, at + 400))
        : ''
    const uu = head.startsWith('begin ') ? /^begin [0-7]{3,4} (.*?)\s*$/.exec(head) : null
    const y = head.startsWith('=ybegin ') ? /^=ybegin .*?name=(.*?)\s*$/.exec(head) : null
    const found = uu
      ? readUu(body, next, uu[1] as string)
      : y
        ? readY(body, next, y[1] as string)
        : undefined
    if (found) {
      kept.push(body.subarray(from, at))
      blocks.push(found.block)
      from = at = found.end
    } else at = next
  }
  if (blocks.length === 0) return undefined
  kept.push(body.subarray(from))
  return { rest: Buffer.concat(kept), blocks }
}

function readUu(
  body: Buffer,
  start: number,
  name: string,
): { block: Block; end: number } | undefined {
  const pieces: Buffer[] = []
  let at = start
  while (at < body.length) {
    let end = body.indexOf(0x0a, at)
    if (end < 0) end = body.length
    let stop = end
    while (stop > at && (body[stop - 1] === 0x0d || body[stop - 1] === 0x20)) stop--
    if (stop - at === 3 && body.toString('latin1', at, stop) === 'end')
      return { block: { name, bytes: Buffer.concat(pieces) }, end: end + 1 }
    if (stop > at) {
      const count = ((body[at] as number) - 32) & 63
      const chars = Math.ceil(count / 3) * 4
      // Trailing blanks may have been eaten, a checksum may follow.
      if ((body[at] as number) > 96 || stop - at - 1 > chars + 2) break
      if (count > 0) pieces.push(uuLine(body, at + 1, stop, count))
    }
    at = end + 1
  }
  // Without its end it is a cut file when it has some lines, else prose.
  return pieces.length >= 2 ? { block: { name, bytes: Buffer.concat(pieces) }, end: at } : undefined
}

function uuLine(body: Buffer, from: number, stop: number, count: number): Buffer {
  const out = Buffer.allocUnsafe(count)
  let length = 0
  const value = (i: number): number => (i < stop ? ((body[i] as number) - 32) & 63 : 0)
  for (let i = from; length < count; i += 4) {
    const triple = (value(i) << 18) | (value(i + 1) << 12) | (value(i + 2) << 6) | value(i + 3)
    out[length++] = triple >> 16
    if (length < count) out[length++] = (triple >> 8) & 255
    if (length < count) out[length++] = triple & 255
  }
  return out
}

function readY(
  body: Buffer,
  start: number,
  name: string,
): { block: Block; end: number } | undefined {
  const stop = body.indexOf('=yend', start)
  const limit = stop < 0 ? body.length : stop
  let at = start
  // `=ypart begin=… end=…`
  if (body.toString('latin1', at, at + 7) === '=ypart ') {
    const line = body.indexOf(0x0a, at)
    at = line < 0 ? limit : line + 1
  }
  const out = Buffer.allocUnsafe(Math.max(0, limit - at))
  let length = 0
  for (; at < limit; at++) {
    let byte = body[at] as number
    if (byte === 0x0a || byte === 0x0d) continue
    if (byte === 0x3d) byte = (body[++at] ?? 0) - 64
    out[length++] = (byte - 42) & 255
  }
  const line = stop < 0 ? -1 : body.indexOf(0x0a, stop)
  if (length === 0) return undefined
  return { block: { name, bytes: out.subarray(0, length) }, end: line < 0 ? body.length : line + 1 }
}
