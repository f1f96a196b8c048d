/**
 * What is drawn on a page and where: its pictures, how much of it they cover, whether its text is seen.
 * Read from pdf.js's list of drawing operations; nothing is rendered.
 *
 * Format: ISO 32000-2, 8.3 (coordinates), 8.9 (images), 9.3.6 (text rendering modes).
 */
import { loadPdfJs, type PDFPageProxy } from './engine.js'
import { times, type Matrix } from './matrix.js'

export interface PlacedImage {
  /** pdf.js's name for the decoded picture, or the picture itself (inline). */
  source: string | DecodedImage
  /** Pixels. */
  width: number
  height: number
  isMask: boolean
  /** The unit square of the picture to the page as shown, in points, y downwards. */
  matrix: Matrix
  /** Where it lies on the page as shown, in points, cut to the page. */
  left: number
  top: number
  right: number
  bottom: number
}

/** As pdf.js hands over a decoded picture. */
export interface DecodedImage {
  width: number
  height: number
  /** 1: one bit a pixel; 2: RGB; 3: RGBA. Absent for masks. */
  kind?: number
  data: Uint8Array | Uint8ClampedArray
}

export interface PageDrawing {
  /** Size of the page as shown, points. */
  width: number
  height: number
  /** In the order they are drawn. */
  images: PlacedImage[]
  /** Share of the page's area under pictures, 0 to 1 (overlaps counted once, to a 50th of each side). */
  coverage: number
  /** Characters shown, and characters that nobody sees: drawn invisible, or before a picture that covers the page. */
  shownGlyphs: number
  hiddenGlyphs: number
  /** Lines and shapes drawn. */
  paths: number
}

const INVISIBLE = 3
const INVISIBLE_CLIP = 7

export async function pageDrawing(page: PDFPageProxy): Promise<PageDrawing> {
  const { OPS } = await loadPdfJs()
  const list = await page.getOperatorList()
  const viewport = page.getViewport({ scale: 1 })
  const drawing: PageDrawing = {
    width: viewport.width,
    height: viewport.height,
    images: [],
    coverage: 0,
    shownGlyphs: 0,
    hiddenGlyphs: 0,
    paths: 0,
  }
  let matrix = viewport.transform as unknown as Matrix
  let mode = 0
  const saved: Array<{ matrix: Matrix; mode: number }> = []
  const save = (): void => void saved.push({ matrix, mode })
  const restore = (): void => {
    const last = saved.pop()
    if (last) ({ matrix, mode } = last)
  }
  const place = (
    source: PlacedImage['source'],
    width: number,
    height: number,
    isMask: boolean,
  ): void => {
    const image = placed(source, width, height, isMask, matrix, drawing)
    if (!image) return
    drawing.images.push(image)
    if (areaShare(image, drawing) > COVERS) {
      drawing.hiddenGlyphs += isMask ? 0 : drawing.shownGlyphs
      drawing.shownGlyphs = isMask ? drawing.shownGlyphs : 0
    }
  }

  for (const [i, operation] of list.fnArray.entries()) {
    const args = (list.argsArray[i] ?? []) as unknown[]
    switch (operation) {
      case OPS.save:
        save()
        break
      case OPS.restore:
        restore()
        break
      case OPS.transform:
        matrix = times(matrix, args as unknown as Matrix)
        break
      case OPS.paintFormXObjectBegin:
        save()
        if (args[0]) matrix = times(matrix, args[0] as Matrix)
        break
      case OPS.paintFormXObjectEnd:
        restore()
        break
      case OPS.setTextRenderingMode:
        mode = args[0] as number
        break
      case OPS.showText: {
        const glyphs = (args[0] as unknown[]).filter((glyph) => typeof glyph === 'object').length
        if (mode === INVISIBLE || mode === INVISIBLE_CLIP) drawing.hiddenGlyphs += glyphs
        else drawing.shownGlyphs += glyphs
        break
      }
      case OPS.constructPath:
        drawing.paths++
        break
      case OPS.paintImageXObject:
        place(args[0] as string, args[1] as number, args[2] as number, false)
        break
      case OPS.paintInlineImageXObject: {
        const image = args[0] as DecodedImage
        place(image, image.width, image.height, false)
        break
      }
      case OPS.paintImageMaskXObject: {
        const mask = args[0] as { data: string | Uint8Array; width: number; height: number }
        const source =
          typeof mask.data === 'string'
            ? mask.data
            : { data: mask.data, width: mask.width, height: mask.height }
        place(source, mask.width, mask.height, true)
        break
      }
      default:
    }
  }
  drawing.coverage = covered(drawing)
  return drawing
}

/** A picture over this share of the page lies under or over everything on it. */
export const COVERS = 0.85

function placed(
  source: PlacedImage['source'],
  width: number,
  height: number,
  isMask: boolean,
  matrix: Matrix,
  page: { width: number; height: number },
): PlacedImage | undefined {
  const [a, b, c, d, e, f] = matrix
  const xs = [e, e + a, e + c, e + a + c]
  const ys = [f, f + b, f + d, f + b + d]
  const image = {
    source,
    width,
    height,
    isMask,
    matrix,
    left: Math.max(0, Math.min(...xs)),
    top: Math.max(0, Math.min(...ys)),
    right: Math.min(page.width, Math.max(...xs)),
    bottom: Math.min(page.height, Math.max(...ys)),
  }
  return image.right > image.left && image.bottom > image.top ? image : undefined
}

function areaShare(image: PlacedImage, page: { width: number; height: number }): number {
  return (
    ((image.right - image.left) * (image.bottom - image.top)) /
    Math.max(1, page.width * page.height)
  )
}

const CELLS = 50

function covered({ images, width, height }: PageDrawing): number {
  const grid = new Uint8Array(CELLS * CELLS)
  for (const image of images) {
    const x0 = Math.round((image.left / width) * CELLS)
    const x1 = Math.round((image.right / width) * CELLS)
    const y0 = Math.round((image.top / height) * CELLS)
    const y1 = Math.round((image.bottom / height) * CELLS)
    for (let y = y0; y < y1; y++) grid.fill(1, y * CELLS + x0, y * CELLS + x1)
  }
  return grid.reduce((sum, cell) => sum + cell, 0) / grid.length
}
