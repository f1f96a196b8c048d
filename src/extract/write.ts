/**
 * Windows Write 3, and Word for DOS, which has the same shell: a header of 128 bytes, the text in one byte a
 * character, then pages of properties (Microsoft's description of the Write file format). Of the properties only
 * those that say that a paragraph of Write is a picture are read.
 */
import { decodeCodePage } from '../mail/codepage.js'
import type { Extractor } from './extractor.js'

export const write: Extractor = {
  name: 'write',
  version: 1,
  title: 'Windows Write, Word for DOS (wri)',
  types: ['application/x-mswrite'],
  extensions: ['wri'],
  lane: 'text',
  async extract({ bytes }, sink) {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (file.length <= PAGE_BYTES) throw new Error('no text behind the header')
    const end = Math.min(file.readUInt32LE(TEXT_END_AT), file.length)
    const isWrite = file.readUInt16LE(LAST_PAGE_AT) !== 0
    const pictures = isWrite ? pictureRuns(file, end) : []
    let at = PAGE_BYTES
    for (const [from, to] of [...pictures, [end, end] as const]) {
      if (from > at)
        sink.write(shown(decodeCodePage(file.subarray(at, from), isWrite ? 1252 : 850)))
      at = Math.max(at, to)
    }
    return pictures.length > 0 ? { empty: 'only-images' } : {}
  },
}

const PAGE_BYTES = 128
const TEXT_END_AT = 14
const PARAGRAPHS_AT = 18
/** 0 in Word for DOS. */
const LAST_PAGE_AT = 96
/** In the properties of a paragraph. */
const KIND_AT = 16
const IS_PICTURE = 0x10

/** Bytes `from` to `to` of paragraphs that are pictures, in order. */
function pictureRuns(file: Buffer, end: number): Array<readonly [from: number, to: number]> {
  const runs: Array<readonly [number, number]> = []
  let from = PAGE_BYTES
  for (
    let page = file.readUInt16LE(PARAGRAPHS_AT) * PAGE_BYTES;
    page + PAGE_BYTES <= file.length && from < end;
    page += PAGE_BYTES
  ) {
    const count = file[page + PAGE_BYTES - 1] as number
    for (let i = 0; i < count && 4 + 6 * i + 6 < PAGE_BYTES; i++) {
      const to = file.readUInt32LE(page + 4 + 6 * i)
      const properties = file.readUInt16LE(page + 8 + 6 * i)
      const place = page + 4 + properties
      if (to <= from || to > end) return runs
      const isKnown = properties !== 0xffff && (file[place] ?? 0) > KIND_AT
      if (isKnown && (file[place + 1 + KIND_AT] ?? 0) & IS_PICTURE) runs.push([from, to])
      from = to
    }
  }
  return runs
}

/** Optional hyphens and marks of numbers and notes out, breaks as lines. */
function shown(text: string): string {
  return text.replace(/\r\n?|[\v\f]/g, '\n').replace(/[\0-\x08\x0e-\x1f]/g, '')
}
