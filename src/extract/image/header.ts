/**
 * What a picture says of itself before it is decoded: size and depth, read from the first bytes only,
 * so that tiny pictures and pixel bombs are known without decoding either.
 *
 * Sources: PNG (ISO 15948), JPEG (ITU T.81 B.2.2), GIF89a, BMP (BITMAPCOREHEADER, BITMAPINFOHEADER),
 * WebP (RFC 9649), TIFF 6.0, Netpbm's formats, AVIF (ISO 23008-12, `ispe`).
 */

export type PictureFormat = 'png' | 'jpeg' | 'gif' | 'bmp' | 'webp' | 'tiff' | 'pnm' | 'avif'

export interface PictureHeader {
  format: PictureFormat
  /** Pixels as stored, before any turn that the file asks for. */
  width: number
  height: number
  /** Bits a pixel; 1 for faxes. */
  bits: number
  /** Pictures in the file, for TIFF. */
  pages: number
  /** True when a decoder holds the whole picture at once: interlaced, progressive, or a format without rows. */
  whole: boolean
}

/** @returns undefined when the bytes are no picture known here, or end before its size */
export function readHeader(bytes: Uint8Array): PictureHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    for (const read of [png, jpeg, gif, bmp, webp, tiff, pnm, avif]) {
      const header = read(view)
      if (header && header.width > 0 && header.height > 0) return header
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error // a read past the end
  }
  return undefined
}

/**
 * Whether the file is shorter than it says: decoders fill the rest of such a picture with grey and give no error. What stands
 * behind the end, as cameras write it, is no matter; formats whose end is not marked never end early.
 */
export function endsEarly(bytes: Uint8Array, { format }: PictureHeader): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (format === 'png') {
    let at = 8
    while (at + 12 <= bytes.length) {
      if (ascii(view, at + 4, 4) === 'IEND') return false
      at += 12 + view.getUint32(at)
    }
    return true
  }
  if (format === 'jpeg') return file.lastIndexOf(Buffer.from([0xff, 0xd9])) === -1
  if (format === 'gif') return !hasTrailer(file)
  if (format === 'webp') return view.getUint32(4, true) + 8 > bytes.length
  return false
}

/** Whether the blocks of a GIF lead to its trailer (GIF89a, 15 to 27). */
function hasTrailer(file: Buffer): boolean {
  const table = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let at = 13 + table(file[10] ?? 0)
  while (at < file.length) {
    const block = file[at]
    if (block === 0x3b) return true
    if (block === 0x2c) at += 11 + table(file[at + 9] ?? 0)
    else if (block === 0x21) at += 2
    else return false
    while (at < file.length && file[at] !== 0) at += 1 + (file[at] ?? 0)
    at++
  }
  return false
}

const ascii = (view: DataView, at: number, length: number): string => {
  let text = ''
  for (let i = at; i < at + length; i++) text += String.fromCharCode(view.getUint8(i))
  return text
}

function png(view: DataView): PictureHeader | undefined {
  if (view.getUint32(0) !== 0x89504e47) return undefined
  const channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[view.getUint8(25)] ?? 1
  return {
    format: 'png',
    width: view.getUint32(16),
    height: view.getUint32(20),
    bits: view.getUint8(24) * channels,
    pages: 1,
    whole: view.getUint8(28) !== 0,
  }
}

/** Walks the segments up to the first start of frame. */
function jpeg(view: DataView): PictureHeader | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined
  let at = 2
  for (;;) {
    if (view.getUint8(at) !== 0xff) {
      at++ // fill or damage between segments
      continue
    }
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) at++
    else if (marker === 0x01 || marker === 0x00 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return {
        format: 'jpeg',
        height: view.getUint16(at + 5),
        width: view.getUint16(at + 7),
        bits: view.getUint8(at + 4) * view.getUint8(at + 9),
        pages: 1,
        whole: marker >= 0xc2,
      }
    else at += 2 + view.getUint16(at + 2)
  }
}

function gif(view: DataView): PictureHeader | undefined {
  if (ascii(view, 0, 4) !== 'GIF8') return undefined
  return {
    format: 'gif',
    width: view.getUint16(6, true),
    height: view.getUint16(8, true),
    bits: 8,
    pages: 1,
    whole: true,
  }
}

function bmp(view: DataView): PictureHeader | undefined {
  if (ascii(view, 0, 2) !== 'BM') return undefined
  const core = view.getUint32(14, true) === 12
  return {
    format: 'bmp',
    width: core ? view.getUint16(18, true) : Math.abs(view.getInt32(18, true)),
    height: core ? view.getUint16(20, true) : Math.abs(view.getInt32(22, true)),
    bits: view.getUint16(core ? 24 : 28, true),
    pages: 1,
    whole: true,
  }
}

function webp(view: DataView): PictureHeader | undefined {
  if (ascii(view, 0, 4) !== 'RIFF' || ascii(view, 8, 4) !== 'WEBP') return undefined
  const size = (width: number, height: number): PictureHeader => ({
    format: 'webp',
    width,
    height,
    bits: 24,
    pages: 1,
    whole: true,
  })
  const uint24 = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  switch (ascii(view, 12, 4)) {
    case 'VP8 ':
      return size(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff)
    case 'VP8L': {
      const packed = view.getUint32(21, true)
      return size((packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1)
    }
    case 'VP8X':
      return size(uint24(24) + 1, uint24(27) + 1)
    default:
      return undefined
  }
}

/** More directories than this are a loop or an attack. */
const TIFF_PAGES_MAX = 10_000

function tiff(view: DataView): PictureHeader | undefined {
  const order = view.getUint16(0)
  if (order !== 0x4949 && order !== 0x4d4d) return undefined
  const little = order === 0x4949
  if (view.getUint16(2, little) !== 42) return undefined
  const header = { format: 'tiff' as const, width: 0, height: 0, bits: 1, pages: 0, whole: false }
  const seen = new Set<number>()
  let at = view.getUint32(4, little)
  while (at !== 0 && !seen.has(at) && header.pages < TIFF_PAGES_MAX) {
    seen.add(at)
    if (at + 2 > view.byteLength) break
    const entries = view.getUint16(at, little)
    const end = at + 2 + entries * 12
    if (end + 4 > view.byteLength) break
    header.pages++
    if (header.pages === 1) {
      let samples = 1
      for (let entry = at + 2; entry < end; entry += 12) {
        const long = view.getUint16(entry + 2, little) === 4
        const value = long ? view.getUint32(entry + 8, little) : view.getUint16(entry + 8, little)
        const tag = view.getUint16(entry, little)
        if (tag === 256) header.width = value
        else if (tag === 257) header.height = value
        else if (tag === 277) samples = value
        else if (tag === 258 && view.getUint32(entry + 4, little) <= 2) header.bits = value
        else if (tag === 258) header.bits = 8 // an array elsewhere: 8 or 16 a sample
      }
      header.bits *= samples
    }
    at = view.getUint32(end, little)
  }
  return header.pages > 0 ? header : undefined
}

function pnm(view: DataView): PictureHeader | undefined {
  const start = ascii(view, 0, Math.min(view.byteLength, 512))
  const found = /^P([1-6])(?:\s+|#[^\n]*\n)+(\d{1,7})(?:\s+|#[^\n]*\n)+(\d{1,7})\s/.exec(start)
  if (!found) return undefined
  const kind = Number(found[1])
  return {
    format: 'pnm',
    width: Number(found[2]),
    height: Number(found[3]),
    bits: kind === 1 || kind === 4 ? 1 : kind === 2 || kind === 5 ? 8 : 24,
    pages: 1,
    whole: true,
  }
}

function avif(view: DataView): PictureHeader | undefined {
  if (ascii(view, 4, 4) !== 'ftyp' || !/^avi[fs]$/.test(ascii(view, 8, 4))) return undefined
  let largest: PictureHeader | undefined
  for (let at = 12; at + 16 <= Math.min(view.byteLength, 65_536); at++)
    if (view.getUint32(at) === 0x69737065) {
      const width = view.getUint32(at + 8)
      const height = view.getUint32(at + 12)
      if (!largest || width * height > largest.width * largest.height)
        largest = { format: 'avif', width, height, bits: 24, pages: 1, whole: true }
    }
  return largest
}
