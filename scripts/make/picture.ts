/**
 * Draws pictures for the sample vault and the fixtures: a page of text as a scanner would see it, a
 * small noisy logo, a photograph without a letter.
 *
 * Fonts are the machine's (DejaVu Sans), so another machine may give other pixels; the made files are
 * committed and looked at, never compared byte by byte.
 */
import { createCanvas } from '@napi-rs/canvas'
import sharp, { type SharpOptions } from 'sharp'
import { numbers } from './random.js'

export interface Sheet {
  /** One a line; the first is the heading. */
  lines: string[]
  width?: number
  height?: number
  /** Pixels of the letters' height. Default 30: 11 points at 200 dpi. */
  size?: number
  font?: string
  /** Degrees that the sheet lies askew on the glass. */
  skew?: number
  seed?: number
}

function draw({
  lines,
  width = 1240,
  height = 900,
  size = 30,
  font = 'DejaVu Sans',
  skew = 0,
  seed = 7,
}: Sheet): { pixels: Buffer; width: number; height: number } {
  const canvas = createCanvas(width, height)
  const pen = canvas.getContext('2d')
  pen.fillStyle = '#fbfbf8'
  pen.fillRect(0, 0, width, height)
  pen.translate(width / 2, height / 2)
  pen.rotate((skew * Math.PI) / 180)
  pen.translate(-width / 2, -height / 2)
  pen.fillStyle = '#1c1c22'
  lines.forEach((line, i) => {
    pen.font = `${i === 0 ? 'bold ' : ''}${i === 0 ? size * 1.3 : size}px "${font}"`
    pen.fillText(line, 90, 120 + i * size * 1.75)
  })
  const image = pen.getImageData(0, 0, width, height).data
  const random = numbers(seed)
  const pixels = Buffer.alloc(width * height)
  for (let i = 0; i < pixels.length; i++) {
    const value = (image[i * 4] as number) + (random() < 0.02 ? (random() - 0.5) * 40 : 0)
    pixels[i] = Math.max(0, Math.min(255, value))
  }
  return { pixels, width, height }
}

const grey = (width: number, height: number): SharpOptions => ({
  raw: { width, height, channels: 1 },
})

/** A scan as a grey PNG of few shades. */
export async function scanPng(sheet: Sheet): Promise<Uint8Array> {
  const { pixels, width, height } = draw(sheet)
  return sharp(pixels, grey(width, height))
    .png({ palette: true, colours: 16, effort: 9 })
    .toBuffer()
}

/** A scan as a grey JPEG, with its size, as pdf() wants it. */
export async function scanJpeg(
  sheet: Sheet,
): Promise<{ jpeg: Uint8Array; width: number; height: number; grey: true }> {
  const { pixels, width, height } = draw(sheet)
  const jpeg = await sharp(pixels, grey(width, height))
    .toColourspace('b-w')
    .jpeg({ quality: 60 })
    .toBuffer()
  return { jpeg, width, height, grey: true }
}

/** A logo of about 8 KB: noise, so that no packer makes it smaller. */
export async function logoPng(): Promise<Uint8Array> {
  const side = 52
  const random = numbers(11)
  const pixels = Buffer.from(Array.from({ length: side * side * 3 }, () => random() * 256))
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
    .png()
    .toBuffer()
}

/** Hills under an evening sky: large enough to be looked at, nothing in it to be read. */
export async function photographJpeg(): Promise<Uint8Array> {
  const [width, height] = [640, 420]
  const random = numbers(23)
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const hill = 250 + 40 * Math.sin(x / 90) + 22 * Math.sin(x / 31)
      const noise = (random() - 0.5) * 14
      const [r, g, b] = y > hill ? [60 + x / 20, 92, 58] : [225 - y / 4, 150 - y / 6, 120 + y / 4]
      for (const [c, value] of [r, g, b].entries())
        pixels[(y * width + x) * 3 + c] = Math.max(0, Math.min(255, (value as number) + noise))
    }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer()
}
