/** Width and height of a picture from its first bytes, to pass over logos and rules without decoding them. */

export interface PictureSize {
  width: number
  height: number
  /** One bit a pixel: a fax page is small in bytes and still a page. */
  isBilevel?: boolean
}

/** @returns undefined for a format without a known header (vector formats among them) */
export function pictureSize(head: Uint8Array): PictureSize | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (bytes.length < 26) return undefined
  if (bytes.readUInt32BE(0) === 0x89504e47)
    return {
      width: bytes.readUInt32BE(16),
      height: bytes.readUInt32BE(20),
      isBilevel: bytes[24] === 1,
    }
  const start = bytes.toString('latin1', 0, 4)
  if (start === 'GIF8') return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  if (start.startsWith('BM'))
    return { width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) }
  if (start === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP') return webpSize(bytes)
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return jpegSize(bytes)
  if (start === 'II*\0' || start === 'MM\0*') return tiffSize(bytes)
  return undefined
}

/** Start-of-frame segment. ITU T.81, B.2.2. */
function jpegSize(bytes: Buffer): PictureSize | undefined {
  let at = 2
  while (at + 9 < bytes.length) {
    if (bytes[at] !== 0xff) {
      at++
      continue
    }
    const marker = bytes[at + 1] as number
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at +=
      marker === 0xff ? 1 : marker >= 0xd0 && marker <= 0xd9 ? 2 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

function webpSize(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 30) return undefined
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8X')
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (kind === 'VP8 ')
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** First directory, when it stands within these bytes. TIFF 6.0, section 2. */
function tiffSize(bytes: Buffer): PictureSize | undefined {
  const isLittle = bytes[0] === 0x49
  const u16 = (at: number): number => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))
  const u32 = (at: number): number => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  const directory = u32(4)
  if (directory + 2 > bytes.length) return undefined
  const size: PictureSize = { width: 0, height: 0 }
  for (
    let i = 0, at = directory + 2;
    i < u16(directory) && at + 12 <= bytes.length;
    i++, at += 12
  ) {
    const value = u16(at + 2) === 3 ? u16(at + 8) : u32(at + 8)
    if (u16(at) === 0x100) size.width = value
    else if (u16(at) === 0x101) size.height = value
    else if (u16(at) === 0x102) size.isBilevel = value === 1
  }
  return size.width > 0 && size.height > 0 ? size : undefined
}
