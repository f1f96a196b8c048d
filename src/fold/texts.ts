/**
 * How texts are kept: compressed in blocks of at most 32 kB, so that an excerpt inflates only what it
 * needs. Packing is done in the workers, unpacking where excerpts and rewrites are made.
 */
import type { OcrPage, PageChoice, TextPage } from '../part/outcome.js'

/** UTF-16 units of text in one block at most. */
export const BLOCK_CHARS = 16_384

/** One block of a content's text. */
export interface PackedBlock {
  text: Uint8Array
  /** Words, boxes and choices of the block's pages. */
  ocr?: Uint8Array
}

/** A page, or a stretch of a long one, as it comes out of a block. */
export interface StoredPage {
  text: string
  page?: number
  member?: string
  /** True when this goes on with the page before it, which was too long for one block. */
  isContinued?: boolean
}

/** What OCR saw of a page: aligned with the pages of its block. */
export interface StoredOcr {
  ocr?: OcrPage
  choice?: PageChoice
}

/** Compresses a body. @returns blocks in order, none for an empty body; at most 8,192 (128 M characters), the rest is cut */
export function packBody(_text: string): Uint8Array[] {
  throw new Error('not yet')
}

/** One block of a body. */
export function unpackBody(_block: Uint8Array): string {
  throw new Error('not yet')
}

/** Compresses the pages of a content. Short pages share a block, a long one is spread over several. */
export function packPages(_pages: readonly TextPage[]): PackedBlock[] {
  throw new Error('not yet')
}

/** The pages of one block. */
export function unpackPages(_text: Uint8Array): StoredPage[] {
  throw new Error('not yet')
}

/** What OCR saw, aligned with `unpackPages` of the same block. */
export function unpackOcr(_ocr: Uint8Array): StoredOcr[] {
  throw new Error('not yet')
}
