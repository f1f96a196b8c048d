/**
 * A page to pixels: the page's own picture where one picture is the page (a scan, at its own
 * resolution), else the page rendered.
 *
 * Decoded in this thread by pdf.js; canvas is used through its synchronous calls only, which are safe
 * when the thread is ended in mid-work (its asynchronous picture decoder is not).
 */
import { luma, turned, scaled, type Picture } from '../image/picture.js'
import { COVERS, type DecodedImage, type PageDrawing, type PlacedImage } from './drawing.js'
import type { PDFPageProxy } from './engine.js'

/** Pixels an inch of a rendered page: 300 gains 0.5 points of recall for 5 to 16 % more time, 150 loses a point. */
const RENDER_DPI = 200
const POINTS = 72

/** The one picture that is the page, or undefined: several pictures, seen text, or a picture set askew. */
export function coveringImage(drawing: PageDrawing): PlacedImage | undefined {
  const { images, width, height } = drawing
  const large = images.filter(
    (image) => image.right - image.left > width * 0.1 && image.bottom - image.top > height * 0.1,
  )
  const [image] = large
  if (!image || large.length !== 1 || image.isMask) return undefined
  const share = ((image.right - image.left) * (image.bottom - image.top)) / (width * height)
  if (share < COVERS || quarterTurns(image) === undefined) return undefined
  // Something drawn over it (a stamp, a signature) is only seen when the page is rendered.
  return drawing.shownGlyphs > 0 || images.length > 1 ? undefined : image
}

/** Clockwise turn that shows a picture as it lies on the page; undefined when it is mirrored or askew. */
function quarterTurns({ matrix: [a, b, c, d] }: PlacedImage): 0 | 90 | 180 | 270 | undefined {
  const slight = 0.02 * Math.max(Math.abs(a), Math.abs(b), Math.abs(c), Math.abs(d))
  if (Math.abs(b) <= slight && Math.abs(c) <= slight) {
    if (a > 0 && d < 0) return 0
    if (a < 0 && d > 0) return 180
  } else if (Math.abs(a) <= slight && Math.abs(d) <= slight) {
    if (b > 0 && c > 0) return 90
    if (b < 0 && c < 0) return 270
  }
  return undefined
}

/** The pixels of a picture of the page, upright as on the page, or undefined when pdf.js could not decode it. */
export async function imagePixels(
  page: PDFPageProxy,
  image: PlacedImage,
  pixelsMax: number,
): Promise<Picture | undefined> {
  const turn = quarterTurns(image)
  const decoded = typeof image.source === 'string' ? decodedOf(page, image.source) : image.source
  if (turn === undefined || !decoded) return undefined
  const picture = greyOf(decoded)
  if (!picture) return undefined
  const factor = Math.sqrt(pixelsMax / picture.grey.length)
  return turned(factor < 1 ? scaled(picture, factor) : picture, turn)
}

function decodedOf(page: PDFPageProxy, id: string): DecodedImage | undefined {
  const objects = (id.startsWith('g_') ? page.commonObjs : page.objs) as unknown as {
    has(id: string): boolean
    get(id: string): DecodedImage | null
  }
  return objects.has(id) ? (objects.get(id) ?? undefined) : undefined
}

function greyOf({ width, height, kind, data }: DecodedImage): Picture | undefined {
  const grey = new Uint8Array(width * height)
  if (kind === 1) {
    const stride = (width + 7) >> 3
    for (let y = 0, to = 0; y < height; y++)
      for (let x = 0; x < width; x++, to++)
        grey[to] = ((data[y * stride + (x >> 3)] ?? 255) >> (7 - (x & 7))) & 1 ? 255 : 0
  } else if (kind === 2 || kind === 3) {
    const channels = kind + 1
    for (let to = 0, from = 0; to < grey.length; to++, from += channels) {
      const value = luma(data[from]!, data[from + 1]!, data[from + 2]!)
      grey[to] = kind === 2 ? value : 255 - (((255 - value) * data[from + 3]!) >> 8)
    }
  } else return undefined
  return { width, height, grey }
}

const BAND_ROWS = 256

/** The whole page as it is shown, in grey, at 200 dpi or at what `pixelsMax` allows. */
export async function renderPage(page: PDFPageProxy, pixelsMax: number): Promise<Picture> {
  const { createCanvas } = await import('@napi-rs/canvas')
  const size = page.getViewport({ scale: 1 })
  const most = Math.sqrt(pixelsMax / Math.max(1, size.width * size.height))
  const viewport = page.getViewport({ scale: Math.min(RENDER_DPI / POINTS, most) })
  const width = Math.max(1, Math.floor(viewport.width))
  const height = Math.max(1, Math.floor(viewport.height))
  const canvas = createCanvas(width, height)
  const canvasContext = canvas.getContext('2d')
  const parameters = { canvas: null, canvasContext, viewport, background: 'white' }
  await page.render(parameters as unknown as Parameters<PDFPageProxy['render']>[0]).promise
  const grey = new Uint8Array(width * height)
  // Taken in bands: a page of 25 megapixels would be copied as another 100 MB.
  for (let top = 0, to = 0; top < height; top += BAND_ROWS) {
    const { data } = canvasContext.getImageData(0, top, width, Math.min(BAND_ROWS, height - top))
    for (let from = 0; from < data.length; to++, from += 4)
      grey[to] = luma(data[from]!, data[from + 1]!, data[from + 2]!)
  }
  return { width, height, grey }
}
