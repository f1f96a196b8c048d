/**
 * Where extractors write. Keeps pages apart, names members of a nest, counts characters and looks at
 * the clock, so that every format is bounded without code of its own.
 */
import type { OcrPage, PageChoice, TextPage } from '../part/outcome.js'
import { Cut, type Budget } from './budget.js'

/** Between the members of a nest, outermost first. */
export const MEMBER_SEPARATOR = ' › '

export class TextSink {
  readonly #budget: Budget
  readonly #pages: TextPage[] = []
  readonly #members: string[] = []
  /** Page that was open when each member began: it goes on after the member. */
  readonly #numbers: Array<number | undefined> = []
  #chunks: string[] = []
  #current: TextPage = { text: '' }
  #charsLeft: number
  #writes = 0

  constructor(budget: Budget) {
    this.#budget = budget
    this.#charsLeft = budget.limits.textChars
  }

  /** Appends text to the current page as it is: runs glue, so write the separators too. @throws {Cut} `text-chars`, `text-time` */
  write(text: string): void {
    if (text === '') return
    if ((++this.#writes & 0xff) === 0) this.#budget.checkTime()
    if (text.length > this.#charsLeft) {
      this.#chunks.push(text.slice(0, wholeCharacters(text, this.#charsLeft)))
      this.#charsLeft = 0
      throw new Cut('text-chars')
    }
    this.#charsLeft -= text.length
    this.#chunks.push(text)
  }

  /** Writes text and ends the paragraph. */
  line(text: string): void {
    this.write(text)
    this.write('\n')
  }

  /** Begins page, slide or sheet `number` (from 1). */
  page(number: number): void {
    this.#close()
    this.#current = this.#fresh()
    this.#current.page = number
  }

  /** Whether anything was written at all. */
  get hasText(): boolean {
    return this.#writes > 0
  }

  /** Number of the page that is open, 0 outside of pages. */
  get pageNumber(): number {
    return this.#current.page ?? 0
  }

  /** What OCR saw of the current page, and why the page was decided as it was. */
  annotate(about: { ocr?: OcrPage; choice?: PageChoice }): void {
    Object.assign(this.#current, about)
  }

  /** Begins a member of a nest; text goes under its name until `leave()`. */
  enter(name: string): void {
    this.#close()
    this.#members.push(name)
    this.#numbers.push(this.#current.page)
    this.#current = this.#fresh()
  }

  leave(): void {
    this.#close()
    this.#members.pop()
    this.#current = this.#fresh()
    const page = this.#numbers.pop()
    if (page !== undefined) this.#current.page = page
  }

  /**
   * Writes a text about the document (its author) on a page of its own: a search finds it, but it is no
   * text of the document.
   */
  aside(text: string): void {
    if (text.trim() === '') return
    const { page } = this.#current
    this.#close()
    this.#current = { ...this.#fresh(), aside: true }
    this.line(text)
    this.#close()
    this.#current = this.#fresh()
    if (page !== undefined) this.#current.page = page
  }

  /** Members that are open now, outermost first: `report.zip › plan.docx` without the content itself. */
  get member(): string {
    return this.#members.join(MEMBER_SEPARATOR)
  }

  /** The pages that hold text, in order. The sink is done afterwards. */
  finish(): TextPage[] {
    this.#close()
    return this.#pages
  }

  #fresh(): TextPage {
    return this.#members.length > 0 ? { text: '', member: this.member } : { text: '' }
  }

  #close(): void {
    const text = clean(this.#chunks.join(''))
    this.#chunks = []
    if (text.trim() === '' && this.#current.choice === undefined) return
    this.#current.text = text
    this.#pages.push(this.#current)
  }
}

/** NFC, lines ended by \n, no control characters, no halves of characters, at most 30 marks on a letter. */
function clean(text: string): string {
  return withoutMarkFloods(
    text
      .replace(/\r\n?|[\v\f\x85\u2028\u2029]/g, '\n')
      .replace(CONTROLS, '')
      .replace(/\p{Surrogate}/gu, '\ufffd'),
  ).normalize('NFC')
}

/**
 * Drops the marks of a letter after its thirtieth (UAX 15, section 13: stream-safe text). Putting n marks in
 * order takes n² steps inside the engine, where nothing can end a thread: 64,000 took 2 s.
 */
function withoutMarkFloods(text: string): string {
  return /[\u0300-\uffff]/.test(text) ? text.replace(/(\p{M}{30})\p{M}+/gu, '$1') : text
}

const CONTROLS = /[\0-\x08\x0e-\x1f\x7f]/g

/** Never cuts a surrogate pair in two. */
function wholeCharacters(text: string, length: number): number {
  const last = text.charCodeAt(length - 1)
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length
}
