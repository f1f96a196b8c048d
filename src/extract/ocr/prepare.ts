/**
 * A picture made ready for the engine: contrast stretched, dark on light, upright, level, letters of the
 * size the engine was trained on. And the way back, for the boxes of words.
 */
import { inverted, rotated, scaled, turned, type Picture } from '../image/picture.js'
import { isEven, type Look } from './look.js'
import type { Word } from './words.js'

export interface Prepared {
  picture: Picture
  /** Clockwise quarter turn that was done. */
  turn: 0 | 90 | 180 | 270
  /** Size of the picture after the turn, before it was levelled and scaled: boxes are given in its pixels. */
  width: number
  height: number
  /** What was done after the turn. */
  level: number
  scale: number
}

/**
 * Median height of letters: below the first they are enlarged to the second, above the last shrunk to the third. Enlarging
 * costs a third more and gains up to two words in a hundred at 8 pixels, none from 10 on; pages of two shades lose by it.
 * A page at 600 dpi is read as well at 400, which is 489 MB instead of 521 (the process, tesseract.js).
 */
const LETTERS_SMALL = 9.6
const LETTERS_SMALL_BILEVEL = 7
const LETTERS_WANTED = 17
const LETTERS_SHRUNK = 30
const LETTERS_LARGE = 40
/** Letters of less that were read badly as they are may be read better at the second. */
const LETTERS_DOUBTED = 13.5
const LETTERS_DOUBTED_WANTED = 21
/** Characters of many strokes need more: at 19 pixels the WASM engine reads Japanese with a confidence of 19, at 25 of 92. */
const SQUARE_SMALL = 24
const SQUARE_WANTED = 28
const ENLARGE_MAX = 4
/** A lean of less is read as well without, degrees; one of more is no lean of a page. */
const LEVEL_MIN = 0.4
const LEVEL_MAX = 32

/**
 * Stretches a weak contrast over the whole range.
 *
 * @returns undefined when the picture is of one shade: a blank page
 */
export function stretched(picture: Picture): Picture | undefined {
  const counts = shadesOf(picture.grey)
  const edge = (few: number, from: number, step: number): number => {
    let sum = 0
    let value = from
    while (value >= 0 && value <= 255 && (sum += counts[value]!) <= few) value += step
    return Math.max(0, Math.min(255, value))
  }
  const range = (few: number): [number, number] => [edge(few, 0, 1), edge(few, 255, -1)]
  let [low, high] = range(picture.grey.length / 2000)
  // One line on a large sheet is less ink than that.
  if (high - low < RANGE_BLANK) [low, high] = range(Math.min(100, picture.grey.length / 2000))
  if (high - low < RANGE_BLANK) return undefined
  if (high - low > RANGE_GOOD) return picture
  const table = Uint8Array.from({ length: 256 }, (_, value) =>
    Math.max(0, Math.min(255, Math.round(((value - low) * 255) / (high - low)))),
  )
  const grey = new Uint8Array(picture.grey.length)
  for (let i = 0; i < grey.length; i++) grey[i] = table[picture.grey[i]!]!
  return { ...picture, grey }
}

/** Pixels of each shade. Counted in four tables by turns: on white paper each count would wait for the one before it. */
function shadesOf(grey: Uint8Array): Uint32Array {
  const counts = new Uint32Array(4 * 256)
  const end = grey.length & ~3
  for (let i = 0; i < end; i += 4) {
    counts[grey[i]!]!++
    counts[256 + grey[i + 1]!]!++
    counts[512 + grey[i + 2]!]!++
    counts[768 + grey[i + 3]!]!++
  }
  for (let i = end; i < grey.length; i++) counts[grey[i]!]!++
  for (let i = 256; i < counts.length; i++) counts[i & 255]! += counts[i]!
  return counts.subarray(0, 256)
}
const RANGE_BLANK = 12
const RANGE_GOOD = 170

/** Below so many pixels reading costs less than doubting. */
const PIXELS_SURE = 160_000

/**
 * Whether reading a picture can give text. Errs on the side of reading: on even ground a few marks of a letter's
 * size are enough, among the thousand marks of a photograph it takes rows that only writing makes.
 *
 * @param isSmall the picture is a small copy, and another look at the whole one may follow
 */
export function mayHoldText(picture: Picture, look: Look, isSmall = false): boolean {
  const { marks, blocks, sure } = look
  const isOnPaper = isEven(picture)
  if (picture.grey.length < PIXELS_SURE) return marks > 0 || !isOnPaper
  if (isOnPaper && marks >= 4 && marks <= 5_000 && blocks < marks * BLOCKS_SHARE) return true
  const share = isSmall ? SURE_SHARE_SMALL : SURE_SHARE
  const letters = look.letters - blocks
  if (isSmall && letters >= LETTERS_SMALL_COPY && letters >= marks * LETTERS_SHARE_SMALL)
    return true
  return sure >= SURE_MIN && (sure >= marks * share || sure >= SURE_MANY)
}
/**
 * Letters in sure rows: pages of text have 22 to 97 of a hundred marks in them, photographs 0 to 15 (50 generated, 60 kinds of
 * pages). At least so many, and that share of the marks or, of however many marks, so many.
 */
const SURE_MIN = 12
const SURE_SHARE = 0.12
const SURE_MANY = 150
/** In a copy of a quarter of the size, photographs of printed pages have 9 to 92 of a hundred, of grass under 5. */
const SURE_SHARE_SMALL = 0.05
/** Of letters in any rows they have 17 and more there, photographs up to 15; among so many at least. */
const LETTERS_SHARE_SMALL = 0.16
const LETTERS_SMALL_COPY = 40
/** An even wall with hardly anything on it but rows of windows. */
const BLOCKS_SHARE = 0.7

/**
 * @param turn instead of the one the look suggests
 * @param isSquare for Chinese, Japanese and Korean
 */
export function prepare(
  picture: Picture,
  look: Look,
  turn: 0 | 90 | 180 | 270,
  pixelsMax: number,
  isSquare = false,
): Prepared {
  const dark = look.isLight ? inverted(picture) : picture
  const upright = turned(dark, turn)
  const { width, height } = upright
  const lean = Math.abs(look.skew)
  const level = lean >= LEVEL_MIN && lean <= LEVEL_MAX ? -look.skew : 0
  const levelled = level === 0 ? upright : rotated(upright, level)
  const wanted = scaleFor(look.letterHeight, isSquare, !isSquare && hasTwoShades(levelled))
  const scale = Math.min(wanted, mostFor(levelled, pixelsMax))
  return { picture: scaled(levelled, scale), turn, width, height, level, scale }
}

/**
 * The same at another size, for a second reading of small letters: as it was when it was enlarged, enlarged when
 * it was not.
 *
 * @returns undefined when another size would not help
 */
export function resized(prepared: Prepared, look: Look, pixelsMax: number): Prepared | undefined {
  const { letterHeight } = look
  if (prepared.scale < 1 || letterHeight === 0 || letterHeight >= LETTERS_DOUBTED) return undefined
  const wanted = prepared.scale > 1 ? 1 : LETTERS_DOUBTED_WANTED / letterHeight
  const scale = Math.min(wanted, ENLARGE_MAX, mostFor(prepared, pixelsMax))
  if (Math.abs(scale / prepared.scale - 1) < 0.15) return undefined
  return { ...prepared, picture: scaled(prepared.picture, scale / prepared.scale), scale }
}

/** Enlarging that keeps within the pixels of a page. */
const mostFor = ({ width, height }: { width: number; height: number }, pixelsMax: number): number =>
  Math.max(1, Math.sqrt(pixelsMax / (width * height)))

function scaleFor(letterHeight: number, isSquare: boolean, isBilevel: boolean): number {
  if (letterHeight === 0) return 1
  if (letterHeight > LETTERS_LARGE) return LETTERS_SHRUNK / letterHeight
  const small = isSquare ? SQUARE_SMALL : isBilevel ? LETTERS_SMALL_BILEVEL : LETTERS_SMALL
  if (letterHeight >= small) return 1
  return Math.min(ENLARGE_MAX, (isSquare ? SQUARE_WANTED : LETTERS_WANTED) / letterHeight)
}

/** Whether hardly a pixel lies between black and white, as on a fax. */
function hasTwoShades({ grey }: Picture): boolean {
  const step = Math.max(1, Math.floor(grey.length / 200_000))
  let between = 0
  for (let i = 0; i < grey.length; i += step) if (grey[i]! > 40 && grey[i]! < 215) between += step
  return between < grey.length * 0.005
}

/** Boxes of the picture that was read, as boxes of the turned one. */
export function toTurned(words: readonly Word[], prepared: Prepared): Word[] {
  const { width, height, level, scale } = prepared
  if (scale === 1 && level === 0) return [...words]
  const sin = Math.sin((-level * Math.PI) / 180)
  const cos = Math.cos((-level * Math.PI) / 180)
  return words.map(([text, left, top, w, h, confidence]) => {
    const x = (left + w / 2) / scale - width / 2
    const y = (top + h / 2) / scale - height / 2
    const centreX = cos * x - sin * y + width / 2
    const centreY = sin * x + cos * y + height / 2
    return [
      text,
      Math.max(0, Math.round(centreX - w / scale / 2)),
      Math.max(0, Math.round(centreY - h / scale / 2)),
      Math.round(w / scale),
      Math.round(h / scale),
      confidence,
    ]
  })
}
