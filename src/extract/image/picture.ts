/**
 * A picture as OCR takes it: 8-bit grey, and the few plain operations on it.
 *
 * Not responsible for: file formats (decode.ts), what helps recognition (ocr/prepare.ts).
 */

export interface Picture {
  width: number
  height: number
  /** Row by row from the top left, one byte a pixel, 0 is black. */
  grey: Uint8Array
}

/** A colour as grey, all of 0 to 255 (ITU-R BT.601). */
export const luma = (r: number, g: number, b: number): number => (r * 77 + g * 151 + b * 28) >> 8

/** What stands before the pixels in a binary PGM (Netpbm P5), which every engine reads at once. */
export function pgmHead({ width, height }: Picture): Uint8Array {
  return new TextEncoder().encode(`P5\n${width} ${height}\n255\n`)
}

/** The picture as a binary PGM. */
export function toPgm(picture: Picture): Uint8Array {
  const { grey } = picture
  const head = pgmHead(picture)
  const pgm = new Uint8Array(head.length + grey.length)
  pgm.set(head)
  pgm.set(grey, head.length)
  return pgm
}

/** Turns clockwise by whole quarters. */
export function turned(picture: Picture, degrees: 0 | 90 | 180 | 270): Picture {
  if (degrees === 0) return picture
  const { width, height, grey } = picture
  const out = new Uint8Array(grey.length)
  if (degrees === 180) {
    for (let from = 0, to = grey.length - 1; to >= 0; from++, to--) out[to] = grey[from]!
    return { width, height, grey: out }
  }
  for (let y = 0, from = 0; y < height; y++)
    for (let x = 0; x < width; x++, from++)
      out[degrees === 90 ? x * height + (height - 1 - y) : (width - 1 - x) * height + y] =
        grey[from]!
  return { width: height, height: width, grey: out }
}

/** Left to right, as in a mirror. */
export function mirrored({ width, height, grey }: Picture): Picture {
  const out = new Uint8Array(grey.length)
  for (let row = 0; row < grey.length; row += width)
    for (let x = 0; x < width; x++) out[row + width - 1 - x] = grey[row + x]!
  return { width, height, grey: out }
}

/** Black for white. */
export function inverted({ width, height, grey }: Picture): Picture {
  const out = new Uint8Array(grey.length)
  for (let i = 0; i < grey.length; i++) out[i] = 255 - grey[i]!
  return { width, height, grey: out }
}

/** Cuts out a rectangle; edges are moved into the picture. */
export function cropped(
  picture: Picture,
  left: number,
  top: number,
  right: number,
  bottom: number,
): Picture {
  const x0 = Math.max(0, Math.floor(left))
  const y0 = Math.max(0, Math.floor(top))
  const width = Math.max(1, Math.min(picture.width, Math.ceil(right)) - x0)
  const height = Math.max(1, Math.min(picture.height, Math.ceil(bottom)) - y0)
  const out = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const from = (y0 + y) * picture.width + x0
    out.set(picture.grey.subarray(from, from + width), y * width)
  }
  return { width, height, grey: out }
}

/** Scales by area when smaller, between neighbours when larger. */
export function scaled(picture: Picture, factor: number): Picture {
  const width = Math.max(1, Math.round(picture.width * factor))
  const height = Math.max(1, Math.round(picture.height * factor))
  if (width === picture.width && height === picture.height) return picture
  return factor < 1 ? shrunk(picture, width, height) : enlarged(picture, width, height)
}

function shrunk({ width: w, height: h, grey }: Picture, width: number, height: number): Picture {
  const out = new Uint8Array(width * height)
  const sums = new Float64Array(width)
  const ends = Int32Array.from({ length: width }, (_, x) => Math.floor(((x + 1) * w) / width))
  for (let y = 0; y < height; y++) {
    const y0 = Math.floor((y * h) / height)
    const y1 = Math.max(y0 + 1, Math.floor(((y + 1) * h) / height))
    sums.fill(0)
    for (let row = y0; row < y1; row++) {
      const begin = row * w
      for (let x = 0, from = 0; x < width; x++) {
        const end = ends[x]!
        let sum = grey[begin + from]!
        for (let at = from + 1; at < end; at++) sum += grey[begin + at]!
        sums[x] = sums[x]! + sum / (end - from)
        from = end
      }
    }
    const rows = y1 - y0
    for (let x = 0, to = y * width; x < width; x++) out[to + x] = sums[x]! / rows + 0.5
  }
  return { width, height, grey: out }
}

function enlarged({ width: w, height: h, grey }: Picture, width: number, height: number): Picture {
  const out = new Uint8Array(width * height)
  const at = new Uint32Array(width)
  const part = new Float32Array(width)
  for (let x = 0; x < width; x++) {
    const source = Math.min(w - 1, Math.max(0, ((x + 0.5) * w) / width - 0.5))
    at[x] = Math.min(Math.floor(source), Math.max(0, w - 2))
    part[x] = w === 1 ? 0 : source - at[x]!
  }
  const right = w === 1 ? 0 : 1
  for (let y = 0; y < height; y++) {
    const source = Math.min(h - 1, Math.max(0, ((y + 0.5) * h) / height - 0.5))
    const top = Math.min(Math.floor(source), Math.max(0, h - 2))
    const down = h === 1 ? 0 : source - top
    const a = top * w
    const b = h === 1 ? a : a + w
    for (let x = 0; x < width; x++) {
      const i = at[x]!
      const f = part[x]!
      const upper = grey[a + i]! + (grey[a + i + right]! - grey[a + i]!) * f
      const lower = grey[b + i]! + (grey[b + i + right]! - grey[b + i]!) * f
      out[y * width + x] = Math.round(upper + (lower - upper) * down)
    }
  }
  return { width, height, grey: out }
}

/** Turns clockwise by a small angle about the middle; the corners that come in are white. */
export function rotated(picture: Picture, degrees: number): Picture {
  const { width, height, grey } = picture
  const sin = Math.sin((degrees * Math.PI) / 180)
  const cos = Math.cos((degrees * Math.PI) / 180)
  const out = new Uint8Array(grey.length).fill(255)
  const cx = (width - 1) / 2
  const cy = (height - 1) / 2
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const sx = cos * (x - cx) + sin * (y - cy) + cx
      const sy = -sin * (x - cx) + cos * (y - cy) + cy
      const x0 = Math.floor(sx)
      const y0 = Math.floor(sy)
      if (x0 < 0 || y0 < 0 || x0 >= width - 1 || y0 >= height - 1) continue
      const i = y0 * width + x0
      const fx = sx - x0
      const upper = grey[i]! + (grey[i + 1]! - grey[i]!) * fx
      const lower = grey[i + width]! + (grey[i + width + 1]! - grey[i + width]!) * fx
      out[y * width + x] = upper + (lower - upper) * (sy - y0)
    }
  }
  return { width, height, grey: out }
}
