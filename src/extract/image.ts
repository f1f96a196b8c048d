/**
 * Pictures: tiny ones and pixel bombs are told by their header, the others are read by OCR.
 *
 * Not responsible for: decoding (image/decode.ts), recognition (ocr/).
 */
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { decodePicture, decodeSmall, refuseBomb } from './image/decode.js'
import { endsEarly, readHeader, type PictureHeader } from './image/header.js'
import { isKept, mayRecognise, recogniseCounted } from './ocr/page.js'
import { isTextless } from './ocr/recognise.js'
import type { Limits } from '../part/limits.js'
import type { TextSink } from './sink.js'

export const image: Extractor = {
  name: 'image',
  version: 1,
  title: 'Pictures (png, jpg, gif, bmp, webp, tiff, avif, pbm, pgm, ppm)',
  types: [
    'image/png',
    'image/jpeg',
    'image/gif',
    'image/bmp',
    'image/webp',
    'image/tiff',
    'image/avif',
    'image/x-portable-bitmap',
    'image/x-portable-graymap',
    'image/x-portable-pixmap',
  ],
  extensions: ['png', 'jpg', 'jpeg', 'gif', 'bmp', 'webp', 'tif', 'tiff', 'avif'],
  lane: 'ocr',
  extract: readImage,
}

async function readImage(
  { bytes }: Source,
  sink: TextSink,
  context: Context,
): Promise<Facts | void> {
  const { limits } = context.budget
  const header = readHeader(bytes)
  if (!header) throw new Declined('damaged', 'no size in the picture’s header')
  if (isTiny(bytes.length, header, limits))
    throw new Declined('skipped-tiny', `${header.width} x ${header.height}, ${bytes.length} bytes`)
  refuseBomb(header, limits.ocrPixels)

  const facts: Facts = header.pages > 1 ? { pageCount: header.pages } : {}
  if (context.lane !== 'ocr' || context.settings.ocr === false) {
    context.budget.leaveForOcr(Math.min(header.pages, limits.ocrPages))
    return { ...facts, empty: 'ocr-off' }
  }

  const failures: string[] = []
  facts.empty = 'no-text-found'
  for (let page = 0; page < header.pages; page++) {
    if (!mayRecognise(context)) break
    const number = header.pages > 1 ? page + 1 : undefined
    if (number !== undefined) sink.page(number)
    if (isKept(number, sink, context)) continue
    try {
      const small = await decodeSmall(bytes, header, limits.ocrPixels)
      if (small && isTextless(small, true)) continue
      const picture = await decodePicture(bytes, header, page, limits.ocrPixels)
      const recognised = await recogniseCounted(picture, context)
      if (!recognised) continue
      if (recognised.engine) facts.engine = recognised.engine
      if (recognised.text === '') continue
      sink.write(recognised.text)
      sink.annotate({ ocr: recognised.page })
    } catch (error) {
      // One bad page of a fax loses no other.
      if (!(error instanceof Declined) || header.pages === 1) throw error
      failures.push(`page ${page + 1}`)
    }
  }
  if (endsEarly(bytes, header)) facts.partial = 'the picture ends early'
  if (failures.length > 0) facts.partial = `not read: ${failures.slice(0, 20).join(', ')}`
  return facts
}

/** The rules of `skipped-tiny`: logos and spacers, but never a fax page, however small its bytes. */
export function isTiny(bytes: number, header: PictureHeader, limits: Limits): boolean {
  if (header.bits === 1 && header.width * header.height >= 1_000_000) return false
  return (
    bytes < limits.imageBytesMin || Math.min(header.width, header.height) < limits.imageShortSideMin
  )
}
