/**
 * A look at a picture before it is read: is there writing in it at all, along which axis, how large, how
 * askew, dark on light or light on dark. Costs a hundredth of reading a page.
 *
 * Way: ink is what differs from its surroundings; connected ink makes marks; marks of one size that stand
 * side by side on one line make rows. Writing is rows. Photographs have marks too, but few that stand in rows.
 */
import { scaled, type Picture } from '../image/picture.js'
import { inkOf, marksOf, type Ink, type Mark } from './marks.js'

export interface Look {
  /** Marks that stand in rows with others of their size: letters, most of them. */
  letters: number
  /** Letters of rows so long and so varied that hardly anything but writing makes them. */
  sure: number
  /** All marks of a letter's size. */
  marks: number
  /** Those of them that stand in rows and are filled, of one height: windows, tiles, keys. */
  blocks: number
  /** Clockwise turn that seems to set the writing upright. A guess: vertical writing looks like a turned page. */
  turn: 0 | 90 | 180 | 270
  /** Median height of the letters, pixels of the picture looked at. */
  letterHeight: number
  /** Clockwise degrees by which the rows lean. */
  skew: number
  /** True for light writing on a dark ground. */
  isLight: boolean
}

/** The look is taken at no more pixels than this: 10-point letters of a page stay 9 pixels high. */
const PIXELS = 2_000_000

export function lookAt(picture: Picture): Look {
  const factor = Math.sqrt(PIXELS / picture.grey.length)
  const small = factor < 0.85 ? scaled(picture, factor) : picture
  const scale = picture.width / small.width
  const isPaper = isEven(small)
  const ink = inkOf(small)
  const dark = lookFor(small, ink, false, isPaper)
  // A page full of dark letters is not looked at twice.
  const isSure = dark.letters >= LETTERS_SURE && dark.letters > dark.marks * 0.6
  const light = isSure ? dark : lookFor(small, ink, true, isPaper)
  const look = light.letters > dark.letters * 1.5 ? light : dark
  return { ...look, letterHeight: look.letterHeight * scale }
}

/** Paper is of one shade for the most part, photographs are not. */
export function isEven({ grey }: Picture): boolean {
  const counts = new Uint32Array(256)
  const step = Math.max(1, Math.floor(grey.length / 200_000))
  let all = 0
  for (let i = 0; i < grey.length; i += step, all++) counts[grey[i]!]!++
  let best = 0
  let sum = 0
  for (let value = 0; value < 256; value++) {
    sum += counts[value]! - (value >= 25 ? counts[value - 25]! : 0)
    if (sum > best) best = sum
  }
  return best > all * 0.6
}

function lookFor(picture: Picture, ink: Ink, isLight: boolean, isPaper: boolean): Look {
  const runs = isLight ? ink.light : ink.dark
  if (runs.isTooMany) {
    const smaller = scaled(picture, 0.5)
    const half = lookFor(smaller, inkOf(smaller), isLight, isPaper)
    return { ...half, letterHeight: half.letterHeight * 2 }
  }
  const marks = marksOf(runs)
  const most = Math.max(16, Math.min(picture.width, picture.height) * 0.7)
  const glyphs = marks.filter((mark) => isGlyph(mark, most))
  const chainAt = (turn: number, mayLean: boolean): Chain =>
    bestChain(
      glyphs.map((mark) => turnedMark(mark, turn, picture)),
      mayLean,
    )
  const upright = chainAt(0, isPaper)
  const half = chainAt(180, isPaper)
  const rows = isTurnedOver(upright, half) ? half : upright
  // Where nearly every mark stands in a row already, no columns that lean are looked for.
  const mayLean = isPaper && rows.letters < glyphs.length * 0.8
  const quarter = chainAt(90, mayLean)
  const threeQuarters = chainAt(270, mayLean)
  const columns = isTurnedOver(quarter, threeQuarters) ? threeQuarters : quarter
  // Digits in a table stand in columns as well as in rows: letters are closer along the line than across.
  const isColumns =
    columns.letters > rows.letters * 0.7 &&
    (columns.gap < rows.gap * 0.6 ||
      (columns.letters > rows.letters * 1.4 && columns.gap < rows.gap * 1.4))
  const best = isColumns ? columns : rows
  return {
    letters: best.letters,
    marks: glyphs.length,
    blocks: best.blocks,
    turn: TURNS[[upright, quarter, half, threeQuarters].indexOf(best)]!,
    letterHeight: best.height,
    skew: best.skew,
    isLight,
    sure: best.sure,
  }
}

/** Letters, or a word of letters that touch; no dots, rules, frames or filled areas. */
function isGlyph({ left, top, right, bottom, area }: Mark, most: number): boolean {
  const width = right - left
  const height = bottom - top
  const size = Math.max(width, height)
  if (Math.min(width, height) < 2 || size < 5 || size > most) return false
  if (size > 8 * Math.min(width, height)) return false
  const fill = area / (width * height)
  return fill > 0.12 && (fill < 0.85 || size > 3 * Math.min(width, height))
}

const TURNS = [0, 90, 180, 270] as const

/**
 * Whether rows stand on their heads: more letters rise above the small ones (capitals, b, d, h, l) than hang
 * below them (g, p, y) in every alphabet that has both. Without such letters, feet line up better than heads.
 */
function isTurnedOver(one: Chain, other: Chain): boolean {
  const rises = one.rising + other.rising
  if (rises >= RISING_MIN && Math.abs(one.rising - other.rising) > rises * 0.4)
    return other.rising > one.rising
  return other.letters >= LETTERS_SURE && other.letters > one.letters * 1.06
}
const RISING_MIN = 16
const LETTERS_SURE = 60

/** Where a mark comes to lie when the picture is turned clockwise. */
function turnedMark(mark: Mark, turn: number, { width, height }: Picture): Mark {
  const { left, top, right, bottom, area } = mark
  switch (turn) {
    case 90:
      return { left: height - bottom, top: left, right: height - top, bottom: right, area }
    case 180:
      return {
        left: width - right,
        top: height - bottom,
        right: width - left,
        bottom: height - top,
        area,
      }
    case 270:
      return { left: top, top: width - right, right: bottom, bottom: width - left, area }
    default:
      return mark
  }
}

/** Rows that lean by more than some 10 degrees are no rows to `chain`: then the marks are sheared first. */
const LEANS = [-24, -16, -8, 8, 16, 24]

function bestChain(marks: Mark[], isPaper: boolean): Chain {
  const straight = chain(marks)
  // Photographs are full of marks at every angle, and are no sheets laid askew.
  if (!isPaper || marks.length < 20 || straight.letters > marks.length * 0.5) return straight
  let best = straight
  for (const lean of LEANS) {
    const slope = Math.tan((lean * Math.PI) / 180)
    const sheared = marks.map((mark) => {
      const shift = Math.round(slope * mark.left)
      return { ...mark, top: mark.top - shift, bottom: mark.bottom - shift }
    })
    const found = chain(sheared)
    if (found.letters > best.letters * 1.3 + 8) best = { ...found, skew: found.skew + lean }
  }
  return best
}

interface Chain {
  letters: number
  /** Median height of the letters, their median gap in heights, and the lean of their rows in degrees. */
  height: number
  gap: number
  skew: number
  /** Letters that rise above the small ones of their row. */
  rising: number
  /** Letters of long and varied rows. */
  sure: number
  blocks: number
}

/** How far the next letter may begin, in heights; how much it may differ in height and foot. */
const GAP_MAX = 1.3
const HEIGHT_RATIO_MAX = 2.1
const FOOT_MAX = 0.3
const ROW_MIN = 4
const ROW_SURE = 8

function chain(marks: Mark[]): Chain {
  const cell = 24
  const buckets = new Map<number, Mark[]>()
  for (const mark of marks) {
    const key = Math.floor(mark.bottom / cell)
    const bucket = buckets.get(key)
    if (bucket) bucket.push(mark)
    else buckets.set(key, [mark])
  }
  for (const bucket of buckets.values()) bucket.sort((a, b) => a.left - b.left)

  const next = new Map<Mark, Mark>()
  const hasPrevious = new Set<Mark>()
  for (const mark of marks) {
    const height = mark.bottom - mark.top
    let best: Mark | undefined
    const low = Math.floor((mark.bottom - FOOT_MAX * height) / cell)
    const high = Math.floor((mark.bottom + FOOT_MAX * height) / cell)
    for (let key = low; key <= high; key++) {
      const bucket = buckets.get(key)
      if (!bucket) continue
      for (let i = firstFrom(bucket, mark.left + 1); i < bucket.length; i++) {
        const other = bucket[i]!
        const gap = other.left - mark.right
        if (gap > GAP_MAX * height || (best && other.left >= best.left)) break
        const otherHeight = other.bottom - other.top
        if (gap < -0.3 * height || Math.abs(other.bottom - mark.bottom) > FOOT_MAX * height)
          continue
        if (otherHeight > height * HEIGHT_RATIO_MAX || height > otherHeight * HEIGHT_RATIO_MAX)
          continue
        best = other
      }
    }
    if (best) {
      next.set(mark, best)
      hasPrevious.add(best)
    }
  }

  const heights: number[] = []
  const gaps: number[] = []
  let rising = 0
  let sure = 0
  let blocks = 0
  const leans: Array<[lean: number, length: number]> = []
  const taken = new Set<Mark>()
  for (const mark of marks) {
    if (hasPrevious.has(mark)) continue
    const row: Mark[] = []
    for (let at: Mark | undefined = mark; at && !taken.has(at); at = next.get(at)) {
      taken.add(at)
      row.push(at)
    }
    if (row.length < ROW_MIN || !isRow(row)) continue
    rising += risingIn(row)
    if (areBlocks(row)) blocks += row.length
    else if (row.length >= ROW_SURE && isVaried(row)) sure += row.length
    for (const [i, letter] of row.entries()) {
      heights.push(letter.bottom - letter.top)
      if (i > 0)
        gaps.push((letter.left - row[i - 1]!.right) / Math.max(1, letter.bottom - letter.top))
    }
    const length = row.at(-1)!.right - row[0]!.left
    if (row.length >= 8) leans.push([leanOf(row), length])
  }
  return {
    letters: heights.length,
    height: median(heights),
    gap: gaps.length > 0 ? median(gaps) : GAP_MAX,
    skew: (Math.atan(weightedMedian(leans)) * 180) / Math.PI,
    rising,
    sure,
    blocks,
  }
}

/** Letters differ in their ink; meshes of a cloth hardly do. */
function isVaried(row: readonly Mark[]): boolean {
  return spreadOf(row.map(({ area }) => area)) > 0.2
}

/** Windows of a house fill their frames by 0.74 to 0.82 and are of one height; letters fill theirs by 0.2 to 0.66. */
function areBlocks(row: readonly Mark[]): boolean {
  const heights = row.map(({ top, bottom }) => bottom - top)
  if (spreadOf(heights) > 0.02) return false
  const fills = row.map(
    ({ left, top, right, bottom, area }) => area / ((right - left) * (bottom - top)),
  )
  return fills.reduce((sum, fill) => sum + fill, 0) > row.length * 0.7
}

/** Standard deviation over the mean. */
function spreadOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return Math.sqrt(square) / mean
}

/** Most feet of a row of letters stand on one line; marks of a texture stand anywhere. */
function isRow(row: readonly Mark[]): boolean {
  const height = median(row.map((mark) => mark.bottom - mark.top))
  const lean = row.length >= 8 ? leanOf(row) : 0
  const feet = row.map((mark) => mark.bottom - lean * (mark.left - row[0]!.left))
  const line = median(feet)
  const onLine = feet.filter((foot) => Math.abs(foot - line) <= Math.max(1, 0.12 * height)).length
  return onLine >= row.length * 0.6
}

function risingIn(row: readonly Mark[]): number {
  const lean = row.length >= 8 ? leanOf(row) : 0
  const shift = (mark: Mark): number => lean * (mark.left - row[0]!.left)
  const foot = median(row.map((mark) => mark.bottom - shift(mark)))
  const head = median(row.map((mark) => mark.top - shift(mark)))
  const clear = Math.max(2, (foot - head) * 0.18)
  return row.filter(
    (mark) =>
      mark.top - shift(mark) < head - clear && Math.abs(mark.bottom - shift(mark) - foot) < clear,
  ).length
}

/** Slope of the feet of a row: the median of slopes over half its length, which descenders do not move. */
function leanOf(row: readonly Mark[]): number {
  const half = row.length >> 1
  const slopes: number[] = []
  for (let i = 0; i + half < row.length; i++) {
    const [a, b] = [row[i]!, row[i + half]!]
    if (b.left > a.left) slopes.push((b.bottom - a.bottom) / (b.left - a.left))
  }
  return median(slopes)
}

function firstFrom(sorted: readonly Mark[], left: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]!.left < left) low = middle + 1
    else high = middle
  }
  return low
}

function median(values: readonly number[]): number {
  if (values.length === 0) return 0
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}

function weightedMedian(values: Array<[value: number, weight: number]>): number {
  values.sort((a, b) => a[0] - b[0])
  const half = values.reduce((sum, [, weight]) => sum + weight, 0) / 2
  let sum = 0
  for (const [value, weight] of values) {
    sum += weight
    if (sum >= half) return value
  }
  return 0
}
