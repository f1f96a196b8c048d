/**
 * The contract between the table and a format.
 *
 * An extractor writes text into the sink it is given, in reading order, and returns a few facts. It
 * never builds the outcome: read.ts does, so that a limit met half-way (`Cut`), a password (`Declined`)
 * or a damaged tail keeps what was written up to there.
 */
import type { Lane, EmptyReason, DeclinedState } from '../part/states.js'
import type { TextPage } from '../part/outcome.js'
import type { ReadSettings } from '../part/settings.js'
import type { Budget } from './budget.js'
import type { TextSink } from './sink.js'

export interface Source {
  bytes: Uint8Array
  /** File name as the mail or archive gives it; may be empty or wrong. */
  name: string
  /** Media type as declared; may be empty or wrong. */
  declaredType: string
  /** Media type by the bytes (sniff.ts). */
  type: string
  /** Character set as declared beside the type, for text; empty when none. */
  charset: string
}

export interface Context {
  readonly settings: ReadSettings
  /** `text`: pages of pixels are counted with `budget.leaveForOcr()` and left; `ocr`: they are read. */
  readonly lane: Lane
  /** One for the whole nest: bytes, entries, depth, pages, time. */
  readonly budget: Budget
  /** What an earlier reading recognised of this page of the document (or member) in work. */
  recognised(page?: number): TextPage | undefined
  /**
   * Reads a document inside this one into the same sink, under its member name, one level deeper.
   * A declined member is noted (`partial`) and never ends the reading of the others.
   */
  nested(
    bytes: Uint8Array,
    name: string,
    declaredType?: string,
    options?: { transparent?: boolean },
  ): Promise<void>
  /** Says what could not be read, one sentence without text of the document. */
  note(sentence: string): void
  /** Says that a member could not even be handed to `nested`: an encrypted entry, one that is too large. */
  declined(member: string, state: DeclinedState, detail: string): void
}

/** What an extractor knows beside the text. All optional. */
export interface Facts {
  /** Pages, slides or sheets that the document has. */
  pageCount?: number
  /** Why there is no text, should there be none. Default `no-content`. */
  empty?: EmptyReason
  /** What could not be read, one sentence without text of the document. */
  partial?: string
  engine?: string
}

export interface Extractor {
  /** Kebab-case and permanent: it is stored beside every content this extractor read. */
  readonly name: string
  /** Raise it when the text of any fixture changes; the next sweep then reads the contents of the old version again. */
  readonly version: number
  /** As the README and `formats` call it: `Word (docx, docm, dotx, dotm)`. */
  readonly title: string
  /** Media types as sniff.ts names them, lower case. */
  readonly types: readonly string[]
  /** Usual file name endings, without the dot, for people and as a last resort for plain text. */
  readonly extensions: readonly string[]
  /** `ocr`: nothing can be read without OCR. */
  readonly lane: Lane
  /** @throws {Cut} a limit was met · @throws {Declined} cannot be read · @throws {EngineFault} we failed · @throws other errors: `damaged`, with what was written kept */
  extract(source: Source, sink: TextSink, context: Context): Promise<Facts | void>
}

/** Thrown by an extractor, caught in read.ts: this content will not be read. */
export class Declined extends Error {
  readonly state: DeclinedState
  readonly detail: string
  constructor(state: DeclinedState, detail: string) {
    super(detail)
    this.name = 'Declined'
    this.state = state
    this.detail = detail
  }
}

/** Thrown when a helper of ours failed and the document is not to blame: the content is tried again. */
export class EngineFault extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'EngineFault'
  }
}
