/**
 * Text items of a PDF page to lines of text. pdf.js gives the items in the order they are drawn, with most spaces
 * found already; what it leaves to its reader is mended here: items that stand apart on the page but touch in the
 * text, letters set wide apart, words printed twice to look bold.
 */
import type { TextItem } from 'pdfjs-dist/types/src/display/api.js'

/** The text of a page, lines ended by newlines, spaces only where the page has them. */
export function pageText(items: readonly TextItem[]): string {
  const once = withoutDoubles(items)
  const isSpaced = isSetWide(once.map(({ str }) => str))
  return byDirection(once)
    .map((along) => linesOf(along, isSpaced))
    .reduce((text, next) => (text === '' || text.endsWith('\n') ? text : `${text}\n`) + next, '')
}

/**
 * What is written in the direction of most letters, then each other quarter turn: a note up the margin stands between no two
 * lines of a sentence, wherever in the page it is drawn.
 */
function byDirection(items: readonly TextItem[]): ReadonlyArray<readonly TextItem[]> {
  const turns: TextItem[][] = []
  let turn = 0
  for (const item of items) {
    if (item.transform && item.str.trim() !== '') {
      const [a, b] = item.transform as [number, number]
      turn = b === 0 && a > 0 ? 0 : (Math.round(Math.atan2(b, a) / (Math.PI / 2)) + 4) % 4
    }
    ;(turns[turn] ??= []).push(item)
  }
  if (Object.keys(turns).length < 2) return [items]
  return turns.filter(Boolean).sort((a, b) => letters(b) - letters(a))
}

const letters = (items: readonly TextItem[]): number =>
  items.reduce((sum, { str }) => sum + str.trim().length, 0)

function linesOf(items: readonly TextItem[], isSpaced: boolean): string {
  let text = ''
  let line: TextItem[] = []
  for (const item of items) {
    const last = line.at(-1)
    if (item.str !== '') {
      if (last && isNewLine(last, item)) {
        text += `${lineText(line, isSpaced)}\n`
        line = []
      }
      line.push(item)
    }
    if (item.hasEOL) {
      text += `${lineText(line, isSpaced)}\n`
      line = []
    }
  }
  return inLetters(text + lineText(line, isSpaced))
}

/** Shapes of Arabic and Hebrew letters as letters, now that their order is right: one shape may stand for two of them. */
function inLetters(text: string): string {
  return text.replace(/[\ufb1d-\ufdff\ufe70-\ufefc]+/g, (shapes) => shapes.normalize('NFKC'))
}

function lineText(items: readonly TextItem[], isSpaced: boolean): string {
  const strings: string[] = []
  let last: TextItem | undefined
  for (const item of inReadingOrder(items)) {
    const { gap, str } = last ? joined(last, item) : { gap: '', str: item.str }
    if (gap !== '') strings.push(gap)
    strings.push(str)
    last = item
  }
  return (isSpaced || isSetWide(strings) ? strings.map(closeUp) : strings).join('')
}

/** Shares of the letters' height: a step aside that is a new line, a gap that is a space, a step back, a letter's least width. */
const NEW_LINE = 0.45
const SPACE = 0.15
const STEP_BACK = -0.25
const LETTER = 0.4

/** How far `after` begins along and aside of the line of `before`, in heights of the letters. */
function step(before: TextItem, after: TextItem): { along: number; aside: number } | undefined {
  if (!before.transform || !after.transform || before.dir === 'ttb' || after.dir === 'ttb')
    return undefined
  const [a, b, , , x, y] = before.transform as number[]
  const size = Math.hypot(a!, b!)
  const height = Math.max(before.height, after.height)
  if (size === 0 || height === 0) return undefined
  const dx = after.transform[4] - x!
  const dy = after.transform[5] - y!
  return {
    along: (dx * a! + dy * b!) / size / height,
    aside: Math.abs((dy * a! - dx * b!) / size) / height,
  }
}

function isNewLine(before: TextItem, after: TextItem): boolean {
  const aside = step(before, after)?.aside ?? 0
  return aside > NEW_LINE && before.str.trim() !== '' && after.str.trim() !== ''
}

/** What stands between two items that pdf.js put side by side (nothing, mostly), and what is left of the second. */
function joined(before: TextItem, after: TextItem): { gap: '' | ' '; str: string } {
  const { str } = after
  const between = step(before, after)
  if (!between || /\s$/.test(before.str) || /^\s/.test(str)) return { gap: '', str }
  const height = Math.max(before.height, after.height)
  if (before.dir === 'rtl' || after.dir === 'rtl') {
    // Either may stand left of the other: the distance between the two counts.
    const right = between.along - before.width / height
    const left = -between.along - after.width / height
    return { gap: Math.max(left, right) > SPACE ? ' ' : '', str }
  }
  const forward = between.along - before.width / height
  if (forward > SPACE) return { gap: ' ', str }
  // Letters one by one, in a font that states them wider than they are set.
  const isLetter = before.str.length === 1 && between.along > LETTER
  if (forward >= STEP_BACK || isLetter) return { gap: '', str }
  // Bold made letter by letter: B, BO, OL, LD, each a letter's width back.
  const isOverprint = forward > -1.2 && before.str.at(-1) === str[0]
  return isOverprint ? { gap: '', str: str.slice(1) } : { gap: ' ', str }
}

/** Lines from right to left are often drawn from the left: their words whole, their order not. */
function inReadingOrder(items: readonly TextItem[]): readonly TextItem[] {
  const rightToLeft = items.filter(({ dir }) => dir === 'rtl')
  if (rightToLeft.length < 2 || letters(rightToLeft) * 2 < letters(items)) return items
  if (items.some(({ transform }) => !transform || transform[1] !== 0 || transform[0] <= 0))
    return items
  const x = ({ transform }: TextItem): number => transform[4] as number
  const sorted = [...items].sort((a, b) => x(b) - x(a))
  // Words of another script inside the line keep their own order.
  for (let from = 0; from < sorted.length; from++) {
    if (!isLeftToRight(sorted[from]!)) continue
    let to = from
    while (
      to + 1 < sorted.length &&
      (isLeftToRight(sorted[to + 1]!) ||
        (sorted[to + 1]!.str.trim() === '' &&
          to + 2 < sorted.length &&
          isLeftToRight(sorted[to + 2]!)))
    )
      to++
    sorted.splice(from, to - from + 1, ...sorted.slice(from, to + 1).reverse())
    from = to
  }
  return sorted
}

const isLeftToRight = ({ dir, str }: TextItem): boolean =>
  dir === 'ltr' && /[\p{L}\p{N}]/u.test(str)

/** Bold made by printing twice, and shadows: the same item within a sixth of its height of itself. */
function withoutDoubles(items: readonly TextItem[]): TextItem[] {
  const seen = new Map<string, Places>()
  return items.map((item) => {
    const { str, transform, height } = item
    if (!transform || str.trim() === '') return item
    const [x, y] = [transform[4] as number, transform[5] as number]
    const near = Math.max(0.5, height / 6)
    let places = seen.get(str)
    if (!places) seen.set(str, (places = new Places()))
    return places.take(x, y, near) ? item : { ...item, str: '' }
  })
}

/** Where one string stands on a page. A few places are compared one by one, thousands by squares of the page. */
class Places {
  readonly #few: Array<readonly [x: number, y: number]> = []
  /** Of the others one a square as wide as `near`: two in one square are near each other. */
  readonly #squares = new Map<string, readonly [x: number, y: number]>()

  /** @returns false when the string stands nearer than `near` already; of the many, in letters of this size */
  take(x: number, y: number, near: number): boolean {
    const isNear = (at: readonly [number, number] | undefined): boolean =>
      at !== undefined && Math.abs(at[0] - x) < near && Math.abs(at[1] - y) < near
    if (this.#few.some(isNear)) return false
    if (this.#few.length < FEW_PLACES) {
      this.#few.push([x, y])
      return true
    }
    const square = (column: number, row: number): string =>
      `${near} ${Math.floor(x / near) + column} ${Math.floor(y / near) + row}`
    for (const column of [0, -1, 1])
      for (const row of [0, -1, 1]) if (isNear(this.#squares.get(square(column, row)))) return false
    this.#squares.set(square(0, 0), [x, y])
    return true
  }
}
const FEW_PLACES = 32

/** Whether letters stand apart: most words are one letter, and there are too many of them for a list of points. */
function isSetWide(strings: readonly string[]): boolean {
  let single = 0
  let all = 0
  for (const string of strings)
    for (const word of string.match(/[\p{L}\p{M}]+/gu) ?? []) {
      all++
      if (word.length === 1) single++
    }
  return single >= 8 && single > all * 0.6
}

/** Takes the spaces out of single characters in a row; letters and digits stay apart. */
function closeUp(text: string): string {
  return text.replace(/(?<!\S)\S(?: \S)+(?!\S)/gu, (run) =>
    run.replace(/ /g, '').replace(/(\p{L})(?=\p{N})|(\p{N})(?=\p{L})/gu, '$1$2 '),
  )
}
