/**
 * Bytes of a picture to grey pixels, upright as the file asks, on the ground that shows it.
 *
 * sharp decodes (safe when its thread is ended in mid-work, which canvas's decoder is not: it ended the
 * whole process in every trial of 40 s); bmp and Netpbm, which sharp does not read, are read here.
 */
import type { Metadata, OutputInfo, Sharp } from 'sharp'
import { Declined } from '../extractor.js'
import type { PictureHeader } from './header.js'
import { luma, mirrored, scaled, turned, type Picture } from './picture.js'
import { readBmp, readPnm } from './plain.js'

/** A picture over this many times the pixel limit is declined before decoding, a whole-picture format earlier. */
const OVER_MAX = 10
const OVER_MAX_WHOLE = 4

/** @throws {Declined} `too-large` by the header alone */
export function refuseBomb(header: PictureHeader, pixelsMax: number): void {
  const pixels = header.width * header.height
  if (pixels > pixelsMax * (header.whole ? OVER_MAX_WHOLE : OVER_MAX))
    throw new Declined('too-large', `${header.width} x ${header.height} pixels`)
}

/**
 * @param page from 0, for TIFF
 * @param pixelsMax a larger picture is scaled down while it is decoded
 * @throws {Declined} `too-large` or `damaged`
 */
export async function decodePicture(
  bytes: Uint8Array,
  header: PictureHeader,
  page: number,
  pixelsMax: number,
): Promise<Picture> {
  refuseBomb(header, pixelsMax)
  if (header.format === 'bmp') return shrunkTo(readBmp(bytes), pixelsMax)
  if (header.format === 'pnm') return shrunkTo(readPnm(bytes, header), pixelsMax)

  const open = await opener(bytes, pixelsMax, header.format === 'tiff' ? page : 0)
  try {
    const meta = await open().metadata()
    refuseBomb({ ...header, width: meta.width, height: meta.height }, pixelsMax)
    const shrink = Math.sqrt(pixelsMax / (meta.width * meta.height))
    const decoder = open()
    if (shrink < 1)
      decoder.resize(
        Math.max(1, Math.floor(meta.width * shrink)),
        Math.max(1, Math.floor(meta.height * shrink)),
        { fit: 'fill' },
      )
    return uprighted(await greyPixels(decoder, meta), meta.orientation)
  } catch (error) {
    if (error instanceof Declined) throw error
    throw new Declined('damaged', (error as Error).message.split('\n')[0]!.slice(0, 200))
  }
}

async function opener(bytes: Uint8Array, pixelsMax: number, page: number): Promise<() => Sharp> {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  return () =>
    sharp(bytes, {
      page,
      pages: 1,
      failOn: 'none', // a picture cut short still shows its upper part
      limitInputPixels: pixelsMax * OVER_MAX,
      sequentialRead: true,
    })
}

/** Least pixels of a picture that is only looked at. */
const SMALL_PIXELS = 480_000

/**
 * The picture at a half or a quarter of its size, as small as a look needs it, lying as it is stored. JPEG and WebP are
 * shrunk while they are decoded: 12 megapixels cost 30 ms instead of 77, and no memory.
 *
 * @returns undefined where that saves little, or nothing can be decoded
 */
export async function decodeSmall(
  bytes: Uint8Array,
  { format, width, height }: PictureHeader,
  pixelsMax: number,
): Promise<Picture | undefined> {
  if (format !== 'jpeg' && format !== 'webp') return undefined
  const parts = [4, 2].find((side) => width * height >= SMALL_PIXELS * side * side)
  if (parts === undefined) return undefined
  const open = await opener(bytes, pixelsMax, 0)
  try {
    const { data, info } = await open()
      .resize(Math.ceil(width / parts), Math.ceil(height / parts), { fit: 'fill' })
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
    return pictureOf(data, info)
  } catch {
    return undefined // the whole picture tells what is wrong
  }
}

async function greyPixels(decoder: Sharp, meta: Metadata): Promise<Picture> {
  // Turned to grey, sharp leaves the transparency out.
  decoder.toColourspace(meta.hasAlpha === true ? 'srgb' : 'b-w')
  const { data, info } = await decoder.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true })
  return pictureOf(data, info)
}

function pictureOf(data: Buffer, { width, height, channels }: OutputInfo): Picture {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.length)
  const grey = channels === 1 ? bytes : channels === 3 ? lumaOf(bytes) : onGround(bytes, channels)
  return { width, height, grey }
}

/** Lays a picture with transparency on white, or on black when all that shows is light: white text is text. */
function onGround(data: Uint8Array, channels: number): Uint8Array {
  const grey = new Uint8Array(data.length / channels)
  let dark = 0
  let shown = 0
  for (let at = 0, from = 0; at < grey.length; at++, from += channels) {
    const value = channels === 4 ? luma(data[from]!, data[from + 1]!, data[from + 2]!) : data[from]!
    const alpha = data[from + channels - 1]!
    grey[at] = value
    if (value < 160) dark += alpha
    shown += alpha
  }
  const isTransparent = shown < grey.length * 255 * 0.98
  const ground = isTransparent && shown > 0 && dark < shown * 0.01 ? 0 : 255
  for (let at = 0, from = channels - 1; at < grey.length; at++, from += channels) {
    const alpha = data[from]!
    grey[at] = Math.round((grey[at]! * alpha + ground * (255 - alpha)) / 255)
  }
  return grey
}

function lumaOf(rgb: Uint8Array): Uint8Array {
  const grey = new Uint8Array(rgb.length / 3)
  for (let at = 0, from = 0; at < grey.length; at++, from += 3)
    grey[at] = luma(rgb[from]!, rgb[from + 1]!, rgb[from + 2]!)
  return grey
}

/** EXIF orientation 1 to 8 (CIPA DC-008, 4.6.4). */
function uprighted(picture: Picture, orientation = 1): Picture {
  switch (orientation) {
    case 2:
      return mirrored(picture)
    case 3:
      return turned(picture, 180)
    case 4:
      return mirrored(turned(picture, 180))
    case 5:
      return mirrored(turned(picture, 90))
    case 6:
      return turned(picture, 90)
    case 7:
      return mirrored(turned(picture, 270))
    case 8:
      return turned(picture, 270)
    default:
      return picture
  }
}

function shrunkTo(picture: Picture, pixelsMax: number): Picture {
  const factor = Math.sqrt(pixelsMax / (picture.width * picture.height))
  return factor < 1 ? scaled(picture, factor) : picture
}
