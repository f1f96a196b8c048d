/**
 * Word for Windows 1 to 2003, and 5 for the Macintosh ([MS-DOC]; those before 97 by their shorter headers):
 * body, notes, comments, text boxes, headers and footers, each distinct header once; words of drawings.
 *
 * An own reader over ole/, because word-extractor 1.0.4 gives no link targets, knows nothing before Word 97,
 * does not see passwords and follows cyclic sector chains. The text is put together from the piece table, so
 * fast-saved files read in order; deleted text is left out and hidden text read, fields give their results.
 */
import { Declined, type Context, type Extractor, type Facts } from './extractor.js'
import type { TextSink } from './sink.js'
import { decodeCodePage, isDoubleByte } from '../mail/codepage.js'
import { looseStream, readHeader, readPieces, type Header, type Piece } from './doc-header.js'
import { readRuns, type Run } from './doc-runs.js'
import { textOfSymbolByte, type Font } from './font-charset.js'
import { shownByInstruction } from './office/field.js'
import { decryptStream, openRc4 } from './office-rc4.js'
import { openXor, unmaskWord } from './office-xor.js'
import { readPictures, shapeTextsWithin } from './office-art.js'
import { OleFile, isOleFile } from '../ole/read.js'
import { readObjectPool } from './ole-embedded.js'
import { writeOleProperties } from './ole-properties.js'

export const doc: Extractor = {
  name: 'doc',
  version: 4,
  title: 'Word for Windows 1 to 2003, for the Macintosh 5 (doc, dot)',
  types: ['application/msword'],
  extensions: ['doc', 'dot'],
  lane: 'text',
  async extract({ bytes }, sink, context) {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // Word 1 and 2, and on the Macintosh, write the stream alone
    if (!isOleFile(bytes)) return writeWord(file, file, readHeader(file), sink)
    let ole: OleFile
    try {
      ole = new OleFile(bytes)
      if (!ole.find('WordDocument')) throw new Error('no WordDocument stream')
    } catch (error) {
      return readLoose(file, sink, error)
    }
    const { facts, decrypt } = readWord(ole, sink, context)
    await readObjectPool(ole, 'ObjectPool/', context)
    const stored = ole.readPath('Data')
    if (stored) {
      const data = decrypt ? decrypt(stored) : stored
      for (const words of shapeTextsWithin(data)) sink.line(words)
      await readPictures(data, context)
    }
    return facts
  },
}

type Decrypt = (stream: Buffer) => Buffer

function readWord(
  ole: OleFile,
  sink: TextSink,
  context: Context,
): { facts: Facts; decrypt: Decrypt | undefined } {
  const main = ole.readPath('WordDocument') ?? NOTHING
  let header = readHeader(main)
  let table =
    header.version === 97
      ? (ole.readPath(header.tableName) ?? ole.readPath(header.otherTableName))
      : main
  let clear = main
  let decrypt: Decrypt | undefined
  if (header.isEncrypted) {
    decrypt = openWord(header, table, context.settings.passwords)
    if (!decrypt) throw new Declined('locked', 'password needed')
    clear = decrypt(main)
    main.copy(clear, 0, 0, header.version === 97 ? CLEAR_BYTES : OLD_CLEAR_BYTES)
    header = readHeader(clear)
    table = header.version === 97 ? table && decrypt(table) : clear
  }
  writeOleProperties(ole, sink)
  return { facts: writeWord(clear, table ?? NOTHING, header, sink), decrypt }
}

const NOTHING = Buffer.alloc(0)

/** The text of a file whose directory is lost, mostly because its end is. @throws `error` when no text is found either */
function readLoose(file: Buffer, sink: TextSink, error: unknown): Facts {
  const main = looseStream(file)
  if (!main) throw error
  const header = readHeader(main)
  if (header.isEncrypted) throw error
  const facts = writeWord(main, header.version === 97 ? NOTHING : main, header, sink)
  return { ...facts, partial: 'the directory of the file is lost' }
}

/** The way back from an encrypted stream, by the first password that opens it. */
function openWord(
  { isObfuscated, key }: Header,
  table: Buffer | undefined,
  passwords: readonly string[],
): Decrypt | undefined {
  if (isObfuscated) {
    const words = [key >>> 16, key & 0xffff] as const
    // writers differ in which comes first
    const mask = openXor(words[0], words[1], passwords) ?? openXor(words[1], words[0], passwords)
    return mask && ((stream) => unmaskWord(stream, mask))
  }
  const block = table && openRc4(table, passwords)
  return block && ((stream) => decryptStream(stream, block, 512))
}

function writeWord(main: Buffer, table: Buffer, fib: Header, sink: TextSink): Facts {
  const pieces = readPieces(table, fib)
  let partial: string | undefined
  if (pieces.length === 0) {
    // not fast-saved: the text stands in one run; so does what is left of a file without its table
    const isWide =
      fib.version === 97
        ? looksWide(main.subarray(fib.textStart, fib.textStart + Math.min(fib.total, 4_096)))
        : fib.isWide
    pieces.push({ start: 0, end: fib.total, at: fib.textStart, isWide })
    if (fib.version === 97) partial = 'the piece table is missing or damaged'
  }
  const { runs, codePage } = readRuns(main, table, fib)
  const text = assemble(main, pieces, runs, fib, codePage)
  const story = new Story(sink)

  let at = 0
  const take = (length: number): string => text.slice(at, (at += length))
  story.write(take(fib.body))
  const footnotes = take(fib.footnotes)
  const headers = take(fib.headers)
  at += fib.macros
  for (const part of [
    footnotes,
    take(fib.comments),
    take(fib.endnotes),
    take(fib.textBoxes),
    take(fib.headerTextBoxes),
  ])
    story.write(part)
  for (const header of headerStories(headers, table, fib)) story.writeOnce(header)
  const [drawings, bytes] = fib.drawings
  for (const words of shapeTextsWithin(table.subarray(drawings, drawings + bytes))) sink.line(words)
  return {
    ...(PICTURE_MARKS.test(text) && { empty: 'only-images' }),
    ...(partial && { partial }),
  }
}

/** Text of two bytes a character, where no table says so: one in twenty of its bytes would be a control. */
function looksWide(text: Buffer): boolean {
  const controls = text.filter((byte) => byte < 0x07 || (byte >= 0x0e && byte <= 0x12))
  return controls.length * 20 > text.length
}

/** Bytes of the main stream that an encrypted file leaves in the clear, [MS-DOC] 2.2.6; before Word 97. */
const CLEAR_BYTES = 68
const OLD_CLEAR_BYTES = 52

/** Where a picture or a drawn object stands in the text. */
const PICTURE_MARKS = /[\x01\x08]/

/** Stands for a character that is deleted; dropped when written, counted until then. */
const LEFT_OUT = '\0'

/** The whole text, one UTF-16 unit a character position. */
function assemble(
  main: Buffer,
  pieces: Piece[],
  runs: Run[],
  { total, version }: Header,
  codePage: number,
): string {
  const parts: string[] = []
  let length = 0
  for (const piece of pieces.sort((a, b) => a.start - b.start)) {
    if (length >= total || length > main.length) break
    if (piece.start > length) {
      const gap = Math.min(piece.start - length, main.length)
      parts.push(LEFT_OUT.repeat(gap))
      length += gap
    }
    const width = piece.isWide ? 2 : 1
    const bytes = main.subarray(piece.at, piece.at + width * (piece.end - piece.start))
    const isUnicode = version === 97 && piece.isWide
    const decode = (from: number, to: number, font?: Font): string => {
      if (isUnicode) return bytes.toString('utf16le', 2 * from, 2 * to)
      const some = bytes.subarray(width * from, width * to)
      if (piece.isWide) return decodePairs(some, codePage)
      if (font?.isSymbol) return decodeSymbols(some, font, codePage)
      return decodeBytes(some, font?.codePage ?? codePage)
    }
    const text = applyRuns(piece.at, width, Math.floor(bytes.length / width), runs, decode)
    parts.push(text)
    length += text.length
  }
  return parts.join('')
}

/** Text of a piece of so many characters, its runs as their properties say. */
function applyRuns(
  at: number,
  width: number,
  length: number,
  runs: Run[],
  decode: (from: number, to: number, font?: Font) => string,
): string {
  const end = at + width * length
  let out = ''
  let done = 0
  for (let i = firstAfter(runs, at); i < runs.length; i++) {
    const run = runs[i] as Run
    if (run.from >= end) break
    const first = Math.max(done, Math.ceil((run.from - at) / width))
    const last = Math.min(length, Math.ceil((run.to - at) / width))
    if (last <= first) continue
    if (first > done) out += decode(done, first)
    out += run.isDeleted
      ? LEFT_OUT.repeat(last - first)
      : shownOf(run, decode(first, last, run.font))
    done = last
  }
  return done < length ? out + decode(done, length) : out
}

/** Text of a run with its symbols: placeholders, and letters at the private places of a symbol font. */
function shownOf({ font, symbol }: Run, text: string): string {
  if (symbol !== undefined) return text.replaceAll(SYMBOL_PLACE, symbol)
  if (!font?.isSymbol) return text
  return text.replace(
    /[\uf020-\uf0ff]/g,
    (one) => textOfSymbolByte(one.charCodeAt(0) & 0xff, font.name) ?? one,
  )
}

/** What stands for a symbol, [MS-DOC] 2.4.1. */
const SYMBOL_PLACE = '('

/**
 * One unit a byte: behind a character of two bytes stands one that is left out. Quotation marks and others of
 * 0x80 to 0x9f in 1252 wait as controls until a line is written: a text of one byte a unit is half as large.
 */
function decodeBytes(bytes: Buffer, codePage: number): string {
  const latin = bytes.toString('latin1')
  if (codePage === 1252 || !/[\x80-\xff]/.test(latin)) return latin
  if (!isDoubleByte(codePage)) return decodeCodePage(bytes, codePage)
  return latin.replace(/[\x80-\xff][^\0-\x2f]*/g, (some) =>
    decodeCodePage(Buffer.from(some, 'latin1'), codePage).padEnd(some.length, LEFT_OUT),
  )
}

function withMarks(text: string): string {
  return text.replace(/[\x80-\x9f]/g, (one) => decodeCodePage(Buffer.from(one, 'latin1'), 1252))
}

function decodeSymbols(bytes: Buffer, font: Font, codePage: number): string {
  return Array.from(
    bytes,
    (byte) =>
      (byte < 0x20 ? undefined : textOfSymbolByte(byte, font.name)) ??
      decodeBytes(Buffer.of(byte), codePage),
  ).join('')
}

/** The higher byte of western characters among those of East Asia, as of quotation marks. */
const WESTERN = 0x10

/** Characters of Word 6 in East Asia, their codes in two bytes, the higher one 0 for those of one byte. */
function decodePairs(bytes: Buffer, codePage: number): string {
  return bytes.toString('utf16le').replace(/[^\0-\x7f]/g, (one) => {
    const [high, low] = [one.charCodeAt(0) >> 8, one.charCodeAt(0) & 0xff]
    const some = Buffer.from(high === 0 || high === WESTERN ? [low] : [high, low])
    return decodeCodePage(some, high === WESTERN ? 1252 : codePage).slice(0, 1) || LEFT_OUT
  })
}

/** First run that ends after a place; runs are in order. */
function firstAfter(runs: Run[], place: number): number {
  let low = 0
  let high = runs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((runs[middle] as Run).to > place) high = middle
    else low = middle + 1
  }
  return low
}

/** Header and footer stories, [MS-DOC] 2.8.10; the first six separate notes. */
function headerStories(text: string, table: Buffer, fib: Header): string[] {
  if (text === '') return []
  const [offset, length] = fib.headerStories
  const count = Math.floor(length / 4)
  if (count < 8 || offset + length > table.length) return [text]
  const stories: string[] = []
  for (let i = 6; i + 1 < count; i++) {
    const from = table.readUInt32LE(offset + 4 * i)
    const to = table.readUInt32LE(offset + 4 * i + 4)
    if (to > from && from < text.length) stories.push(text.slice(from, to))
  }
  return stories
}

/** Turns Word's characters into text: marks into lines and tabs, fields into their results. */
class Story {
  readonly #sink: TextSink
  readonly #once = new Set<string>()

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  /** Writes a part that may stand in several sections only the first time. */
  writeOnce(text: string): void {
    const key = text.replace(/[\0\r\s]+/g, ' ').trim()
    if (key === '' || this.#once.has(key)) return
    this.#once.add(key)
    this.write(text)
  }

  write(text: string): void {
    if (text === '') return
    const links: string[] = []
    /** Open fields, innermost last: whether their instruction is being read, and what it says. */
    const fields: Array<{ isInstruction: boolean; says: string }> = []
    let instructions = 0
    let line = ''
    const endLine = (): void => {
      this.#sink.line(line)
      line = ''
      for (const link of links.splice(0)) this.#sink.line(link)
    }
    for (const [piece] of text.matchAll(/[^\0-\x1f\xad]+|\0+|[\x01-\x1f\xad]/g)) {
      const code = piece.charCodeAt(0)
      if (code >= 32 && code !== 0xad) {
        const shown = withMarks(piece)
        if (instructions > 0) (fields.at(-1) as { says: string }).says += shown
        else line += shown
        if (line.length > 100_000) endLine()
        continue
      }
      if (code === 0x13) {
        if (fields.length >= FIELDS_MAX) continue
        fields.push({ isInstruction: true, says: '' })
        instructions++
      } else if (code === 0x14) {
        const field = fields.at(-1)
        if (field?.isInstruction) {
          field.isInstruction = false
          instructions--
          const target = linkTarget(field.says)
          if (target && instructions === 0) links.push(target)
        }
      } else if (code === 0x15) {
        const field = fields.pop()
        if (field?.isInstruction) {
          instructions--
          const shown = shownByInstruction(field.says)
          if (shown && instructions === 0) line += shown
        }
      } else if (instructions === 0) {
        const shown = code === CELL_END && line.endsWith('\t') ? '\n' : SHOWN[code]
        if (shown === '\n') endLine()
        else if (shown) line += shown
      }
    }
    if (line !== '' || links.length > 0) endLine()
  }
}

/** Fields open at one time; more are damage. */
const FIELDS_MAX = 1_000
/** Ends a cell; behind another one it ends the row. */
const CELL_END = 0x07

/** Word's control characters, [MS-DOC] 2.4.3 and 2.8.26. */
const SHOWN: Record<number, string> = {
  0x07: '\t',
  0x09: '\t',
  0x0a: '\n',
  0x0b: '\n',
  0x0c: '\n',
  0x0d: '\n',
  0x0e: '\n',
  0x1e: '-',
}

function linkTarget(instruction: string): string | undefined {
  const target = /^\s*HYPERLINK\s+"?([^"\s]+)/i.exec(instruction)?.[1]
  return target && /^(https?|mailto|ftp|file):/i.test(target) ? target : undefined
}
