/**
 * The text that annotations draw themselves: the caption of a button, "Digitally signed by …", the words of a stamp. pdf.js
 * gives it for text fields only, so it is taken from the list of drawing operations.
 *
 * Format: ISO 32000-2, 9.4 (text objects), 12.5.5 (appearance streams).
 */
import type { TextItem } from 'pdfjs-dist/types/src/display/api.js'
import { loadPdfJs, type PDFPageProxy } from './engine.js'
import { pageText } from './lines.js'
import { times, type Matrix } from './matrix.js'

interface Glyph {
  unicode?: string
  /** Thousandths of the letters' size. */
  width?: number
  isSpace?: boolean
}

interface TextState {
  matrix: Matrix
  size: number
  /** Added to each letter and to each space, the width of all, the way to the next line. */
  letterGap: number
  wordGap: number
  stretch: number
  leading: number
}

const UPRIGHT: Matrix = [1, 0, 0, 1, 0, 0]
const NONE: TextState = {
  matrix: UPRIGHT,
  size: 0,
  letterGap: 0,
  wordGap: 0,
  stretch: 1,
  leading: 0,
}

/** @returns the text drawn by each annotation of the page that draws any, by its id */
export async function appearances(page: PDFPageProxy): Promise<Map<string, string>> {
  const { AnnotationMode, OPS } = await loadPdfJs()
  const { fnArray, argsArray } = await page.getOperatorList({
    annotationMode: AnnotationMode.ENABLE,
  })
  const found = new Map<string, string>()
  let id: string | undefined
  let items: TextItem[] = []
  let state = NONE
  let saved: TextState[] = []
  let line = UPRIGHT
  let at = UPRIGHT
  const save = (): void => void saved.push(state)
  const restore = (): void => void (state = saved.pop() ?? state)
  const move = (x: number, y: number): void => void (at = line = times(line, [1, 0, 0, 1, x, y]))

  for (const [i, operation] of fnArray.entries()) {
    const args = (argsArray[i] ?? []) as unknown[]
    const [first, second] = args as [number, number]
    if (operation === OPS.beginAnnotation) {
      id = args[0] as string
      items = []
      state = NONE
      saved = []
    } else if (id === undefined) continue
    switch (operation) {
      case OPS.endAnnotation: {
        const text = pageText(items).trim()
        if (text !== '') found.set(id, text)
        id = undefined
        break
      }
      case OPS.save:
        save()
        break
      case OPS.restore:
      case OPS.paintFormXObjectEnd:
        restore()
        break
      case OPS.transform:
        state = { ...state, matrix: times(state.matrix, args as unknown as Matrix) }
        break
      case OPS.paintFormXObjectBegin:
        save()
        if (args[0]) state = { ...state, matrix: times(state.matrix, args[0] as Matrix) }
        break
      case OPS.setFont:
        state = { ...state, size: second }
        break
      case OPS.setCharSpacing:
        state = { ...state, letterGap: first }
        break
      case OPS.setWordSpacing:
        state = { ...state, wordGap: first }
        break
      case OPS.setHScale:
        state = { ...state, stretch: first / 100 }
        break
      case OPS.setLeading:
        state = { ...state, leading: -first }
        break
      case OPS.beginText:
        at = line = UPRIGHT
        break
      case OPS.setTextMatrix:
        at = line = (args.length === 1 ? args[0] : args) as Matrix
        break
      case OPS.moveText:
        move(first, second)
        break
      case OPS.setLeadingMoveText:
        state = { ...state, leading: second }
        move(first, second)
        break
      case OPS.nextLine:
        move(0, state.leading)
        break
      case OPS.showText:
        at = show(args[0] as Array<Glyph | number | null>, at, state, items)
        break
      default:
    }
  }
  return found
}

/**
 * Adds what is shown to the items, in pieces between which the file sets a distance.
 *
 * @returns where the next text begins
 */
function show(
  glyphs: ReadonlyArray<Glyph | number | null>,
  at: Matrix,
  { matrix, size, letterGap, wordGap, stretch }: TextState,
  items: TextItem[],
): Matrix {
  let str = ''
  let width = 0
  const end = (skipped: number): void => {
    const transform = times(matrix, at)
    const [a, b, c, d] = transform
    const visible = str.replace(/\p{Cc}/gu, '')
    if (visible !== '')
      items.push({
        str: visible,
        dir: 'ltr',
        width: width * Math.hypot(a, b),
        height: Math.abs(size) * Math.hypot(c, d),
        transform: [...transform],
        fontName: '',
        hasEOL: false,
      })
    at = times(at, [1, 0, 0, 1, width + skipped, 0])
    str = ''
    width = 0
  }
  for (const glyph of glyphs) {
    if (typeof glyph === 'number') end(((-glyph * size) / 1000) * stretch)
    else if (glyph) {
      str += glyph.unicode ?? ''
      const gap = letterGap + (glyph.isSpace ? wordGap : 0)
      width += (((glyph.width ?? 0) * size) / 1000 + gap) * stretch
    }
  }
  end(0)
  return at
}
