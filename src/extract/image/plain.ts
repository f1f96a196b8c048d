/**
 * Picture formats that sharp does not read: BMP (Windows and OS/2, uncompressed and run-length coded)
 * and Netpbm (PBM, PGM, PPM; plain and raw). Sources: Microsoft's BITMAPINFOHEADER, netpbm.sourceforge.net.
 */
import { Declined } from '../extractor.js'
import type { PictureHeader } from './header.js'
import { luma, type Picture } from './picture.js'

/** @throws {Declined} `damaged`, `unsupported` */
export function readBmp(bytes: Uint8Array): Picture {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerBytes = view.getUint32(14, true)
  const core = headerBytes === 12
  const width = core ? view.getUint16(18, true) : Math.abs(view.getInt32(18, true))
  const signedHeight = core ? view.getUint16(20, true) : view.getInt32(22, true)
  const height = Math.abs(signedHeight)
  const bits = view.getUint16(core ? 24 : 28, true)
  const compression = core ? 0 : view.getUint32(30, true)
  const pixels = view.getUint32(10, true)
  if (pixels >= bytes.length) throw new Declined('damaged', 'bitmap without pixels')

  const palette: number[] = []
  if (bits <= 8) {
    const entry = core ? 3 : 4
    const stated = core ? 0 : view.getUint32(46, true)
    const colours = stated > 0 && stated <= 256 ? stated : 1 << bits
    const masks = compression === 3 && headerBytes === 40 ? 12 : 0
    for (let i = 0, at = 14 + headerBytes + masks; i < colours; i++, at += entry)
      palette.push(luma(bytes[at + 2] ?? 0, bytes[at + 1] ?? 0, bytes[at] ?? 0))
  }
  const grey = new Uint8Array(width * height).fill(255)
  if (compression === 1 || compression === 2) {
    runLengths(bytes, pixels, width, height, compression === 2, palette, grey)
  } else if (compression === 0 || compression === 3 || compression === 6) {
    const masks =
      compression === 0
        ? undefined
        : [54, 58, 62].map((at) => maskOf(view.getUint32(at, true) >>> 0))
    const stride = Math.ceil((width * bits) / 32) * 4
    for (let row = 0; row < height; row++) {
      const from = pixels + row * stride
      const to = (signedHeight < 0 ? row : height - 1 - row) * width
      for (let x = 0; x < width; x++) grey[to + x] = bmpPixel(bytes, from, x, bits, palette, masks)
    }
  } else throw new Declined('unsupported', `bitmap, compression ${compression}`)
  return { width, height, grey }
}

interface Mask {
  shift: number
  max: number
}
const maskOf = (mask: number): Mask => {
  const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask)
  return { shift, max: mask === 0 ? 0 : mask >>> shift }
}

function bmpPixel(
  bytes: Uint8Array,
  row: number,
  x: number,
  bits: number,
  palette: number[],
  masks: Mask[] | undefined,
): number {
  if (bits <= 8) {
    const bit = x * bits
    const byte = bytes[row + (bit >> 3)] ?? 0
    return palette[(byte >> (8 - bits - (bit & 7))) & ((1 << bits) - 1)] ?? 255
  }
  const at = row + x * (bits >> 3)
  if (bits === 16 || (bits === 32 && masks)) {
    let value = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)
    if (bits === 32)
      value = (value | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
    const [r, g, b] = (masks ?? FIVE_BITS).map(({ shift, max }) =>
      max === 0 ? 0 : (((value >>> shift) & max) * 255) / max,
    )
    return luma(r!, g!, b!)
  }
  return luma(bytes[at + 2] ?? 255, bytes[at + 1] ?? 255, bytes[at] ?? 255)
}
const FIVE_BITS: Mask[] = [0x7c00, 0x3e0, 0x1f].map(maskOf)

function runLengths(
  bytes: Uint8Array,
  start: number,
  width: number,
  height: number,
  fourBits: boolean,
  palette: number[],
  grey: Uint8Array,
): void {
  let at = start
  let x = 0
  let y = height - 1
  const put = (index: number): void => {
    if (x < width && y >= 0) grey[y * width + x] = palette[index] ?? 255
    x++
  }
  while (at + 1 < bytes.length && y >= 0) {
    const count = bytes[at]!
    const value = bytes[at + 1]!
    at += 2
    if (count > 0) {
      for (let i = 0; i < count; i++)
        put(fourBits ? (i % 2 === 0 ? value >> 4 : value & 15) : value)
    } else if (value === 0) {
      x = 0
      y--
    } else if (value === 1) return
    else if (value === 2) {
      x += bytes[at] ?? 0
      y -= bytes[at + 1] ?? 0
      at += 2
    } else {
      for (let i = 0; i < value; i++) {
        const byte = bytes[at + (fourBits ? i >> 1 : i)] ?? 0
        put(fourBits ? (i % 2 === 0 ? byte >> 4 : byte & 15) : byte)
      }
      const used = fourBits ? (value + 1) >> 1 : value
      at += used + (used & 1)
    }
  }
}

/** @throws {Declined} `damaged` */
export function readPnm(bytes: Uint8Array, { width, height }: PictureHeader): Picture {
  const kind = bytes[1]! - 48
  let at = 2
  const number = (): number => {
    for (;;) {
      const byte = bytes[at]
      if (byte === undefined) throw new Declined('damaged', 'picture cut short')
      if (byte === 0x23) while (at < bytes.length && bytes[at] !== 0x0a) at++
      else if (byte >= 48 && byte <= 57) break
      else at++
    }
    let value = 0
    while (bytes[at]! >= 48 && bytes[at]! <= 57) value = value * 10 + bytes[at++]! - 48
    return value
  }
  number()
  number()
  const max = kind === 1 || kind === 4 ? 1 : number()
  const grey = new Uint8Array(width * height).fill(255)
  const colour = kind === 3 || kind === 6
  if (kind <= 3) {
    const digit = (): number => {
      while (bytes[at] === 0x20 || (bytes[at]! >= 9 && bytes[at]! <= 13)) at++
      return bytes[at++]! - 48
    }
    const next = kind === 1 ? digit : number
    for (let i = 0; i < grey.length && at < bytes.length; i++)
      grey[i] = colour
        ? (luma(next(), next(), next()) * 255) / max
        : kind === 1
          ? 255 * (1 - next())
          : (next() * 255) / max
    return { width, height, grey }
  }
  at++ // the one white space before the raster
  if (kind === 4) {
    const stride = (width + 7) >> 3
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++)
        grey[y * width + x] =
          ((bytes[at + y * stride + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1 ? 0 : 255
    return { width, height, grey }
  }
  const wide = max > 255 ? 2 : 1
  const sample = (i: number): number =>
    wide === 2 ? ((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0) : (bytes[i] ?? max)
  for (let i = 0; i < grey.length; i++) {
    const from = at + i * wide * (colour ? 3 : 1)
    const value = colour
      ? luma(sample(from), sample(from + wide), sample(from + 2 * wide))
      : sample(from)
    grey[i] = (value * 255) / max
  }
  return { width, height, grey }
}
