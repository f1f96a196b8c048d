/**
 * Whether a page needs OCR, by the quality of its text layer and by what is drawn on it.
 *
 * Not responsible for: doing it (scan.ts).
 */
import { textQuality, type TextQuality } from '../ocr/quality.js'
import { COVERS, type PageDrawing, type PlacedImage } from './drawing.js'

/** A text layer of at most so many letters and digits is none. Apache Tika uses the same number. */
export const LETTERS_NONE = 10
/** Unmapped characters that make a layer bad: so many, and this share (a sound page of a font chart holds 2.4 %, the garbage ones 63 %). */
const BAD_MIN = 10
const BAD_SHARE = 0.05
/** Below this score a layer is not writing; the invisible layer of an earlier OCR has to be better. */
const SCORE_BAD = 0.5
const SCORE_BAD_HIDDEN = 0.8
/** Seen letters over a page-sized picture that make it a background; fewer are a stamp or a page number. */
const LETTERS_OVER_BACKGROUND = 200
/** A page without text is a scan when pictures cover this share of it; below, the pictures are read alone. */
const SCAN_COVERAGE = 0.3
/** A picture worth looking at for text: pixels on the short side, and points on the page. */
const REGION_PIXELS_MIN = 128
const REGION_POINTS_MIN = 36

/** Why the text layer cannot be trusted, or undefined when it can. */
export function faultOfLayer(quality: TextQuality, isHidden = false): string | undefined {
  const { letters, bad, singles, score } = quality
  if (bad > BAD_MIN && bad / (letters + bad) > BAD_SHARE) return 'characters without meaning'
  if (letters <= LETTERS_NONE) return undefined
  if (singles > 0.4 && score < SCORE_BAD) return 'letters apart'
  if (score < SCORE_BAD) return 'words are no words'
  if (isHidden && score < SCORE_BAD_HIDDEN) return 'a poor earlier OCR'
  return undefined
}

export type PageDecision =
  | { read: 'layer' }
  | { read: 'page'; why: string }
  /** The layer stays; the text of these pictures comes to it. */
  | { read: 'pictures'; why: string; images: PlacedImage[] }

export interface PageItem {
  /** Where an item of the text layer begins, points, y downwards. */
  x: number
  y: number
  letters: number
}

/** Decides a page whose drawing is known. */
export function decidePage(
  text: string,
  items: readonly PageItem[],
  drawing: PageDrawing,
): PageDecision {
  const quality = textQuality(text)
  const isHidden = drawing.hiddenGlyphs > drawing.shownGlyphs
  const fault = faultOfLayer(quality, isHidden)
  if (fault) return { read: 'page', why: fault }

  if (quality.letters <= LETTERS_NONE && drawing.coverage >= SCAN_COVERAGE)
    return { read: 'page', why: 'no text layer' }
  const images = drawing.images.filter((image) => isUnread(image, items, drawing, isHidden))
  if (images.length === 0)
    // Letters without a font or without a map: nothing but shapes, yet a page full of text.
    return quality.letters === 0 && (drawing.paths > 0 || drawing.shownGlyphs > 0)
      ? { read: 'page', why: 'no text layer' }
      : { read: 'layer' }
  const isPage = images.some((image) => share(image, drawing) >= COVERS)
  return {
    read: 'pictures',
    why: isPage ? 'a stamp over a scan' : 'a picture beside the text',
    images: largestFirst(images),
  }
}

const share = ({ left, right, top, bottom }: PlacedImage, page: PageDrawing): number =>
  ((right - left) * (bottom - top)) / (page.width * page.height)

function isUnread(
  image: PlacedImage,
  items: readonly PageItem[],
  page: PageDrawing,
  isHidden: boolean,
): boolean {
  if (Math.min(image.width, image.height) < REGION_PIXELS_MIN) return false
  const { left, right, top, bottom } = image
  if (Math.min(right - left, bottom - top) < REGION_POINTS_MIN) return false
  let letters = 0
  for (const item of items)
    if (item.x >= left && item.x <= right && item.y >= top && item.y <= bottom)
      letters += item.letters
  if (isHidden && letters > LETTERS_NONE) return false // the text in it is in the layer
  return letters < LETTERS_OVER_BACKGROUND * Math.max(0.05, share(image, page))
}

/** In reading order they would interrupt each other less, but a page's budget should go to the large ones. */
function largestFirst(images: PlacedImage[]): PlacedImage[] {
  const area = (image: PlacedImage): number => image.width * image.height
  return images.sort((a, b) => area(b) - area(a)).slice(0, REGIONS_MAX)
}
const REGIONS_MAX = 20
