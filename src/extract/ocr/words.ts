/**
 * The words an engine saw, and the text they make. Tesseract's TSV is the common tongue of both
 * engines: `level page block par line word left top width height conf text`, one word a line.
 */

/** `[text, left, top, width, height, confidence]`, pixels and 0 to 100. */
export type Word = [string, number, number, number, number, number]

export interface Words {
  /** In reading order, with what stands before each: nothing, a line's end, or a paragraph's end. */
  words: Word[]
  breaks: Array<'' | '\n' | '\n\n'>
  /** Mean confidence of the words, weighted by their length; 0 when there is none. */
  confidence: number
}

export function wordsOfTsv(tsv: string): Words {
  const words: Word[] = []
  const breaks: Words['breaks'] = []
  let paragraph = ''
  let line = ''
  for (const row of tsv.split('\n')) {
    const cell = row.split('\t')
    if (cell[0] !== '5') continue
    const text = (cell[11] ?? '').trim()
    if (text === '') continue
    const thisParagraph = `${cell[2]}.${cell[3]}`
    const thisLine = `${thisParagraph}.${cell[4]}`
    breaks.push(
      words.length === 0 || thisLine === line ? '' : thisParagraph === paragraph ? '\n' : '\n\n',
    )
    paragraph = thisParagraph
    line = thisLine
    const [left, top, width, height, confidence] = cell.slice(6, 11).map(Number)
    words.push([text, left!, top!, width!, height!, Math.round(confidence!)])
  }
  return { words, breaks, confidence: meanConfidence(words) }
}

function meanConfidence(words: readonly Word[]): number {
  let sum = 0
  let letters = 0
  for (const [text, , , , , confidence] of words) {
    sum += confidence * text.length
    letters += text.length
  }
  return letters === 0 ? 0 : sum / letters
}

/** Scripts that are written without spaces: between two such characters Tesseract's space is no space. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々〆、-〟・！-｠]/u

/** The words as running text: lines ended by newlines, paragraphs by an empty line. */
export function textOf({ words, breaks }: Words): string {
  let text = ''
  for (const [i, [word]] of words.entries()) {
    const gap = breaks[i] || (i === 0 ? '' : ' ')
    const glued = gap === ' ' && UNSPACED.test(text.slice(-1)) && UNSPACED.test(word.slice(0, 1))
    text += (glued ? '' : gap) + word
  }
  return text
}
