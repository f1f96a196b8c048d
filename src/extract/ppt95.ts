/**
 * PowerPoint 95: the stream of the same name as that of 97 with longer record heads. Slides as they lie in the
 * stream, each with its notes; masters are left out.
 *
 * The format was never published: 16 bytes of head (type, 0xFFFF for a container, length), the types mostly those of
 * [MS-PPT], texts as bytes of the code page in a container of their own.
 */
import { decodeText } from '../mail/charset.js'
import type { TextSink } from './sink.js'

const HEAD_BYTES = 16
const CONTAINER = 0xffff
const TYPE = {
  file: 3,
  slide: 0x3ee,
  notes: 0x3f0,
  master: 0x3f8,
  bytes: 0x7ee,
  text: 0xfe0,
} as const
/** Containers inside containers; real ones stay under 15. */
const DEPTH_MAX = 40

export function isPowerPoint95(stream: Buffer): boolean {
  return (
    stream.length > 2 * HEAD_BYTES &&
    stream.readUInt32LE(0) === TYPE.file &&
    stream.readUInt16LE(4) === CONTAINER
  )
}

/** @returns the number of slides */
export function readPowerPoint95(stream: Buffer, sink: TextSink): number {
  let slides = 0
  const walk = (body: Buffer, parent: number, isOnSlide: boolean, depth: number): void => {
    for (let at = 0; at + HEAD_BYTES <= body.length;) {
      const type = body.readUInt32LE(at)
      const isContainer = body.readUInt16LE(at + 4) === CONTAINER
      const next = at + HEAD_BYTES + body.readUInt32LE(at + 8)
      const inner = body.subarray(at + HEAD_BYTES, next)
      at = next
      if (!isContainer) {
        if (type !== TYPE.bytes || parent !== TYPE.text || !isOnSlide) continue
        const { text } = decodeText(inner, { declared: 'windows-1252' })
        if (text.trim() !== '') sink.line(text.replace(/[\r\v]/g, '\n').trimEnd())
      } else if (depth < DEPTH_MAX && type !== TYPE.master) {
        // notes beside the slides are the master of notes
        if (type === TYPE.notes && !isOnSlide) continue
        if (type === TYPE.slide) sink.page(++slides)
        walk(inner, type, isOnSlide || type === TYPE.slide, depth + 1)
      }
    }
  }
  walk(stream, 0, false, 0)
  return slides
}
