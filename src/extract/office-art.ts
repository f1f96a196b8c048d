/**
 * Drawings of legacy Office files ([MS-ODRAW]): pictures, which are BLIP records (2.2.23) wherever they stand, and
 * the texts that shapes keep among their properties.
 *
 * Of pictures JPEG, PNG, TIFF and bitmaps only: metafiles hold drawings, whose text nobody recognises here.
 */
import type { Context } from './extractor.js'
import { alternativeText } from './office/drawing.js'

/** Record types and their file endings. */
const KINDS: ReadonlyArray<readonly [type: number, ending: string]> = [
  [0xf01d, 'jpg'],
  [0xf01e, 'png'],
  [0xf029, 'tiff'],
  [0xf02a, 'jpg'],
]
/** Pictures read of one document. */
const PICTURES_MAX = 500
const UNIQUE_ID_BYTES = 16

/** Hands each distinct picture to the table; without OCR it is only counted. @returns how many there are */
export async function readPictures(stream: Buffer, context: Context, first = 1): Promise<number> {
  let found = 0
  for (const { bytes, ending } of findPictures(stream)) {
    await context.nested(bytes, `picture ${first + found}.${ending}`)
    if (++found >= PICTURES_MAX) break
  }
  return found
}

function* findPictures(stream: Buffer): Generator<{ bytes: Buffer; ending: string }> {
  const seen = new Set<string>()
  const marks = KINDS.map(([type, ending]) => ({ mark: uint16(type), ending }))
  let at = 0
  while (at < stream.length) {
    let next: { place: number; ending: string } | undefined
    for (const { mark, ending } of marks) {
      const place = stream.indexOf(mark, at)
      if (place >= 2 && (!next || place < next.place)) next = { place, ending }
    }
    if (!next) return
    const picture = pictureAt(stream, next.place - 2)
    at = next.place + (picture ? picture.length : 1)
    if (!picture) continue
    const key = picture.toString('hex', 0, UNIQUE_ID_BYTES)
    if (seen.has(key)) continue
    seen.add(key)
    const bytes = withoutHeader(picture)
    if (bytes) yield { bytes, ending: next.ending }
  }
}

function uint16(value: number): Buffer {
  return Buffer.from([value & 255, value >> 8])
}

/** Content of the record at a place, when its length can be true. */
function pictureAt(stream: Buffer, at: number): Buffer | undefined {
  if (at + 8 + UNIQUE_ID_BYTES + 9 > stream.length) return undefined
  if ((stream[at] as number) & 15) return undefined // version 0
  const length = stream.readUInt32LE(at + 4)
  if (length < 50 || at + 8 + length > stream.length) return undefined
  return stream.subarray(at + 8, at + 8 + length)
}

/** One or two identifiers and a tag stand before the picture. */
function withoutHeader(record: Buffer): Buffer | undefined {
  for (const at of [UNIQUE_ID_BYTES + 1, 2 * UNIQUE_ID_BYTES + 1]) {
    const mark = record.toString('latin1', at, at + 4)
    if (/^(\xff\xd8\xff|\x89PNG|II\*\0|MM\0\*)/.test(mark)) return record.subarray(at)
  }
  return undefined
}

/** Tables of properties: the first, and those of later versions. 2.2.9 to 2.2.11. */
const PROPERTIES = new Set([0xf00b, 0xf121, 0xf122])
/** `gtextUNICODE`, 2.3.22.1, `wzDescription`, 2.3.4.16, and the bit that says that a value stands behind the table. */
const WORD_ART = 0x00c0
const DESCRIPTION = 0x0381
const IS_COMPLEX = 0x8000
const IS_PICTURE = 0x4000

/** Of the shapes of a drawing, in its order: their WordArt, and the alternative texts that a person wrote. */
export function shapeTexts(drawing: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at + 8 <= drawing.length;) {
    const start = drawing.readUInt16LE(at)
    const end = at + 8 + drawing.readUInt32LE(at + 4)
    if (PROPERTIES.has(drawing.readUInt16LE(at + 2))) {
      let value = at + 8 + 6 * (start >> 4)
      for (let entry = at + 8; entry + 6 <= at + 8 + 6 * (start >> 4); entry += 6) {
        if (entry + 6 > drawing.length) break
        const id = drawing.readUInt16LE(entry)
        if ((id & IS_COMPLEX) === 0) continue
        const next = value + drawing.readUInt32LE(entry + 2)
        const property = id & 0x3fff
        if (property === WORD_ART || property === DESCRIPTION) {
          const stored = drawing.toString('utf16le', value, next).replace(/\0.*$/s, '')
          const text = property === WORD_ART ? stored.trim() : alternativeText(stored)
          if (text) texts.push(text)
        }
        value = next
      }
    }
    // a container's content follows its header
    at = (start & 15) === 15 ? at + 8 : end
  }
  return texts
}

/** A shape's container, 2.2.14, as it begins wherever it stands. */
const SHAPE = Buffer.from([0x0f, 0x00, 0x04, 0xf0])

/** The properties looked for as they are written; streams of pictures alone hold none, and are long. */
const NAMED = [WORD_ART, DESCRIPTION].flatMap((id) => [
  uint16(id | IS_COMPLEX),
  uint16(id | IS_COMPLEX | IS_PICTURE),
])

/** Texts of all shapes in a stream that holds other things too, as Word's do, each text once. */
export function shapeTextsWithin(stream: Buffer): string[] {
  const found = new Set<string>()
  if (!NAMED.some((id) => stream.includes(id))) return []
  for (let at = stream.indexOf(SHAPE); at >= 0 && at + 8 <= stream.length;) {
    const end = at + 8 + stream.readUInt32LE(at + 4)
    const isWhole = end <= stream.length
    if (isWhole) for (const text of shapeTexts(stream.subarray(at, end))) found.add(text)
    at = stream.indexOf(SHAPE, isWhole ? end : at + 4)
  }
  return [...found]
}
