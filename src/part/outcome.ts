/**
 * What reading a content gives. Outcomes are data: they cross threads, where an error would lose its
 * name and code, and they are what the states are made from.
 */
import type { CutBy, DeclinedState, EmptyReason } from './states.js'

/** One page of extracted text, in reading order, NFC, not folded. */
export interface TextPage {
  text: string
  /** Number of the page, slide or sheet inside its document, from 1; absent where a format has no pages. */
  page?: number
  /** Where in a nest the page lies, members joined by ` › `: `2023/plan.docx › image1.png`; absent for the content itself. */
  member?: string
  /** About the document and not in it (its author): found by a search, left out where the text is printed. */
  aside?: true
  /** What OCR saw of this page, when OCR read it. */
  ocr?: OcrPage
  /** For a page where a text layer and OCR competed: which won, why, and both scores (0 to 1). */
  choice?: PageChoice
}

export interface OcrPage {
  /** Mean confidence of the words, 0 to 100. */
  confidence: number
  /** Pixels of the picture that the boxes refer to. */
  width: number
  height: number
  /** Clockwise degrees that the picture was turned by before it was read. */
  turned: number
  /** `[text, left, top, width, height, confidence]` in reading order, pixels of the turned picture. */
  words: Array<[string, number, number, number, number, number]>
}

export interface PageChoice {
  took: 'text-layer' | 'ocr' | 'both'
  why: string
  layerScore: number
  ocrScore?: number
}

/** How a page came by its text, for people. */
export interface PageReading extends Partial<PageChoice> {
  page?: number
  member?: string
  /** `text-layer` without a `why`: nothing competed with it. */
  took: PageChoice['took']
  /** Of the words that OCR saw, 0 to 100. */
  confidence?: number
  turned?: number
}

export interface TextOutcome {
  kind: 'text'
  pages: TextPage[]
  /** Pages, slides or sheets that the document has, where it has any. */
  pageCount?: number
  /** Pages and pictures recognised by OCR. */
  ocrPages?: number
  /** Pages and pictures that only OCR could read, left for the OCR lane (set by a reading without OCR). */
  pagesToOcr?: number
  /** Why there is no text, when there is none. */
  empty?: EmptyReason
  cutBy?: CutBy
  /** What could not be read of a document that was otherwise read: one sentence, no text of the document. */
  partial?: string
  /** Program and version that did the reading where there is a choice: `tesseract.js 7.0.0 eng+deu`. */
  engine?: string
}

export interface DeclinedOutcome {
  kind: 'declined'
  state: DeclinedState
  /** What was met, in a few words: `password needed`, `application/zip, encrypted`. */
  detail: string
}

export type Outcome = TextOutcome | DeclinedOutcome

/** An outcome with who gave it, as it is stored and as `extract --json` prints it. */
export interface ReadResult {
  outcome: Outcome
  /** Media type by the bytes. */
  type: string
  /** Row of extract/table.ts that read it; absent when none accepts the type. */
  extractor?: string
  version?: number
  /** Wall milliseconds of the reading. */
  ms: number
}
