/**
 * How texts are kept: compressed in blocks of at most 32 kB, so that an excerpt inflates only what it
 * needs. Packing is done in the workers, unpacking where excerpts and rewrites are made.
 *
 * Not responsible for: where the blocks lie (index/schema.ts).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { OcrPage, PageChoice, TextPage } from '../part/outcome.js'

/** UTF-16 units of text in one block at most. */
export const BLOCK_CHARS = 16_384
/** Where a block may end early, at a line's end or a space. */
const TAIL_CHARS = 1_638
/** Blocks of one body at most: the rows that index/schema.ts leaves for them. */
const BODY_BLOCKS_MAX = 8_128
/**
 * First byte of a block that was packed with a dictionary, before two bytes of its number: a kind of block that
 * Deflate has not (RFC 1951, 3.2.3), so that no other block begins so.
 */
const WITH_DICTIONARY = 0b110

/** Words that stand in many bodies: what a body has of them need not be in its block. Numbers are never given twice. */
export interface BodyDictionary {
  /** From 1 to 65,535. */
  number: number
  words: Uint8Array
}

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

/** Compresses a body. @returns blocks in order, none for an empty body; at most 8,128 (127 M characters), the rest is cut */
export function packBody(text: string, dictionary?: BodyDictionary): Uint8Array[] {
  return stretches(text)
    .slice(0, BODY_BLOCKS_MAX)
    .map((stretch) => compress(stretch, dictionary))
}

/** Number of the dictionary that a block was packed with; 0 none. */
export function dictionaryOf(block: Uint8Array): number {
  return block[0] === WITH_DICTIONARY ? (block[1] as number) + (block[2] as number) * 256 : 0
}

/** One block of a body. @param words of the dictionary it was packed with */
export function unpackBody(block: Uint8Array, words?: Uint8Array): string {
  return dictionaryOf(block) === 0
    ? inflateRawSync(block).toString()
    : inflateRawSync(block.subarray(3), words && { dictionary: words }).toString()
}

/** Compresses the pages of a content. Short pages share a block, a long one is spread over several. */
export function packPages(pages: readonly TextPage[]): PackedBlock[] {
  const blocks: PackedBlock[] = []
  let block: StoredPage[] = []
  let seen: StoredOcr[] = []
  let chars = 0
  const close = (): void => {
    if (block.length === 0) return
    blocks.push({
      text: compress(JSON.stringify(block)),
      ...(seen.some((page) => page.ocr !== undefined || page.choice !== undefined) && {
        ocr: compress(JSON.stringify(seen)),
      }),
    })
    block = []
    seen = []
    chars = 0
  }
  for (const { text, page, member, ocr, choice } of pages) {
    const parts = text === '' ? [''] : stretches(text)
    parts.forEach((part, index) => {
      if (chars + part.length > BLOCK_CHARS) close()
      block.push({
        text: part,
        ...(page !== undefined && { page }),
        ...(member !== undefined && { member }),
        ...(index > 0 && { isContinued: true }),
      })
      seen.push(index > 0 ? {} : { ...(ocr && { ocr }), ...(choice && { choice }) })
      chars += part.length + 16
    })
  }
  close()
  return blocks
}

/** The pages of one block. */
export function unpackPages(text: Uint8Array): StoredPage[] {
  return JSON.parse(inflateRawSync(text).toString()) as StoredPage[]
}

/** What OCR saw, aligned with `unpackPages` of the same block. */
export function unpackOcr(ocr: Uint8Array): StoredOcr[] {
  return JSON.parse(inflateRawSync(ocr).toString()) as StoredOcr[]
}

/** Cuts at a line's end or a space when there is one in the last tenth, and never a surrogate pair in two. */
function stretches(text: string): string[] {
  const cut: string[] = []
  let at = 0
  while (text.length - at > BLOCK_CHARS) {
    let end = at + BLOCK_CHARS
    const from = end - TAIL_CHARS
    // Of the tail alone: a text without spaces would be searched back to its beginning each time.
    const tail = text.slice(from, end)
    const line = tail.lastIndexOf('\n')
    const space = tail.lastIndexOf(' ')
    if (line >= 0) end = from + line + 1
    else if (space >= 0) end = from + space + 1
    else if (text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) <= 0xdbff) end--
    cut.push(text.slice(at, end))
    at = end
  }
  if (at < text.length) cut.push(text.slice(at))
  return cut
}

/**
 * Deflate with a window no larger than the text: half the CPU of brotli at quality 5 for 6 % more bytes
 * (2 kB of English prose: 48 µs and 973 bytes against 81 µs and 920).
 */
function compress(text: string, dictionary?: BodyDictionary): Uint8Array {
  const isShort = text.length < 3_000 && !dictionary
  const packed = deflateRawSync(text, {
    // With a dictionary level 6 gains 1 to 2 % for up to half as much time again.
    level: dictionary ? 4 : 6,
    ...(isShort && { windowBits: 12, memLevel: 5, chunkSize: 4_096 }),
    ...(dictionary && { dictionary: dictionary.words }),
  })
  // Exactly its bytes: a view of a larger chunk would cross threads with the whole chunk.
  if (!dictionary) return new Uint8Array(packed)
  const block = new Uint8Array(packed.length + 3)
  block.set([WITH_DICTIONARY, dictionary.number & 255, dictionary.number >> 8])
  block.set(packed, 3)
  return block
}
