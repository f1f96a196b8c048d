/**
 * Running text of a document: runs glue, and separators (cell, line, paragraph) are written late, so
 * that empty paragraphs and cells leave nothing behind. Boxes (text boxes, notes) are kept out of the
 * sentence they hang on and follow its paragraph.
 */

const TAB = 1
const NEWLINE = 2
/** A drawing and the picture in it often carry the same alternative text. */
const REPEATED_WITHIN = 10

interface Box {
  chunks: string[] | undefined
  pending: number
  begun: boolean
  after: string[]
}

export class Flow {
  readonly #sink: { write(text: string): void }
  readonly #boxes: Box[] = []
  #chunks: string[] | undefined
  #pending = 0
  #begun = false
  /** Texts that follow the current paragraph. */
  #after: string[] = []

  constructor(sink: { write(text: string): void }) {
    this.#sink = sink
  }

  /** Appends to the current run of text. */
  text(text: string): void {
    if (text === '') return
    if (this.#pending !== 0) {
      if (this.#begun) this.#write(this.#pending === TAB ? '\t' : '\n')
      this.#pending = 0
    }
    this.#begun = true
    this.#write(text)
  }

  /** The cell is over: a tab before the next text. */
  cell(): void {
    this.#pending = TAB
  }

  /** The line, paragraph or row is over: a new line before the next text. */
  newline(): void {
    this.#pending = NEWLINE
  }

  /** The paragraph is over; what waited for its end is written behind it. */
  paragraph(): void {
    this.#pending = NEWLINE
    if (this.#after.length === 0) return
    const after = this.#after
    this.#after = []
    for (const text of after) {
      this.text(text)
      this.#pending = NEWLINE
    }
  }

  /** A text of its own (alternative text) that follows the current paragraph; not again when it came just before. */
  behind(text: string): void {
    if (!this.#after.slice(-REPEATED_WITHIN).includes(text)) this.#after.push(text)
  }

  /** Begins a box: its text follows the current paragraph. */
  enterBox(): void {
    this.#boxes.push({
      chunks: this.#chunks,
      pending: this.#pending,
      begun: this.#begun,
      after: this.#after,
    })
    this.#chunks = []
    this.#pending = 0
    this.#begun = false
    this.#after = []
  }

  leaveBox(): void {
    const box = this.#boxes.pop()
    if (!box) return
    this.paragraph()
    const text = (this.#chunks ?? []).join('')
    this.#chunks = box.chunks
    this.#pending = box.pending
    this.#begun = box.begun
    this.#after = box.after
    if (text.trim() !== '') this.#after.push(text)
  }

  get isInBox(): boolean {
    return this.#boxes.length > 0
  }

  /** Ends the text with a new line, if there was any. */
  end(): void {
    while (this.#boxes.length > 0) this.leaveBox()
    this.paragraph()
    if (this.#begun) this.#write('\n')
    this.#begun = false
    this.#pending = 0
  }

  #write(text: string): void {
    if (this.#chunks) this.#chunks.push(text)
    else this.#sink.write(text)
  }
}
