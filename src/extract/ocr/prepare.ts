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

/** Median height of letters: below the first they are enlarged, above the last shrunk, both to what lies between. */
const LETTERS_SMALL = 13.5
const LETTERS_WANTED = 21
const LETTERS_SHRUNK = 30
const LETTERS_LARGE = 48
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
  const counts = new Uint32Array(256)
  for (const value of picture.grey) counts[value]!++
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
  return { ...picture, grey: picture.grey.map((value) => table[value]!) }
}
const RANGE_BLANK = 12
const RANGE_GOOD = 170

/** Below so many pixels reading costs less than doubting. */
const PIXELS_SURE = 250_000

/**
 * Whether reading a picture can give text. Errs on the side of reading: rows of letters anywhere, or marks of
 * a letter's size on an even ground.
 */
export function mayHoldText(picture: Picture, look: Look): boolean {
  if (picture.grey.length < PIXELS_SURE) return look.marks > 0 || !isEven(picture)
  const isClear = look.letters >= 60 || look.letters >= look.marks * 0.05
  return (
    (look.letters >= 8 && isClear) || (look.marks >= 4 && look.marks <= 5_000 && isEven(picture))
  )
}

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
  const scale = scaleFor(look.letterHeight, width * height, pixelsMax, isSquare)
  return { picture: scaled(levelled, scale), turn, width, height, level, scale }
}

function scaleFor(
  letterHeight: number,
  pixels: number,
  pixelsMax: number,
  isSquare: boolean,
): number {
  if (letterHeight === 0) return 1
  if (letterHeight > LETTERS_LARGE) return LETTERS_SHRUNK / letterHeight
  if (letterHeight >= (isSquare ? SQUARE_SMALL : LETTERS_SMALL)) return 1
  const wanted = isSquare ? SQUARE_WANTED : LETTERS_WANTED
  return Math.min(ENLARGE_MAX, wanted / letterHeight, Math.sqrt(pixelsMax / pixels))
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
