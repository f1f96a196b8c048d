/**
 * The document properties that people fill in, from the SummaryInformation streams of OLE2 files
 * ([MS-OLEPS] 2.21, [MS-OSHARED] 2.3.3): title, subject, author, keywords, comments, category.
 */
import { decodeCodePage } from '../mail/codepage.js'
import { isGivenByProgram } from './given-by-program.js'
import type { OleFile } from '../ole/read.js'
import type { TextSink } from './sink.js'

const SUMMARY = '\x05SummaryInformation'
const DOCUMENT_SUMMARY = '\x05DocumentSummaryInformation'
/** Property identifiers: title, subject, author, keywords, comments. */
const AUTHOR = 4
const IN_SUMMARY = [2, 3, AUTHOR, 5, 6]
/** Category. */
const IN_DOCUMENT_SUMMARY = [2]
const STREAM_BYTES = 1_000_000

/** Writes the properties a line each; the author apart (`sink.aside`). A damaged stream gives none. */
export function writeOleProperties(ole: OleFile, sink: TextSink, prefix = ''): void {
  for (const [name, wanted] of [
    [SUMMARY, IN_SUMMARY],
    [DOCUMENT_SUMMARY, IN_DOCUMENT_SUMMARY],
  ] as const) {
    const stream = ole.readPath(prefix + name, STREAM_BYTES)
    if (!stream) continue
    const values = readStrings(stream)
    for (const id of wanted) {
      const value = values.get(id)?.trim() ?? ''
      if (value === '' || isGivenByProgram(value)) continue
      if (id === AUTHOR && name === SUMMARY) sink.aside(value)
      else sink.line(value)
    }
  }
}

function readStrings(stream: Buffer): Map<number, string> {
  const values = new Map<number, string>()
  try {
    const at = stream.readUInt32LE(44)
    const count = Math.min(stream.readUInt32LE(at + 4), 200)
    const offsets: Array<[id: number, offset: number]> = []
    for (let i = 0; i < count; i++)
      offsets.push([stream.readUInt32LE(at + 8 + 8 * i), at + stream.readUInt32LE(at + 12 + 8 * i)])
    const codePageAt = offsets.find(([id]) => id === 1)?.[1]
    const codePage = codePageAt === undefined ? 1252 : stream.readUInt16LE(codePageAt + 4)
    for (const [id, offset] of offsets) {
      if (offset + 8 > stream.length) continue
      const kind = stream.readUInt32LE(offset)
      const length = stream.readUInt32LE(offset + 4)
      const from = offset + 8
      if (kind === 31) values.set(id, cString(stream.toString('utf16le', from, from + 2 * length)))
      else if (kind === 30) {
        const bytes = stream.subarray(from, from + length)
        values.set(id, cString(decodeCodePage(bytes, codePage)))
      }
    }
  } catch {
    // a stream cut short gives what it had
  }
  return values
}

function cString(text: string): string {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}
