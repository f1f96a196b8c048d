/**
 * Word 6 to 2003 ([MS-DOC]; Word 6 and 95 by their shorter header): body, notes, comments, text boxes,
 * headers and footers, each distinct header once.
 *
 * An own reader over ole/, because word-extractor 1.0.4 gives no link targets, knows no Word 6 or 95, does
 * not see passwords and follows cyclic sector chains. The text is put together from the piece table, so
 * fast-saved files read in order; deleted text is left out and hidden text read, fields give their results.
 */
import { Declined, type Context, type Extractor, type Facts } from './extractor.js'
import type { TextSink } from './sink.js'
import { decodeCodePage } from '../mail/codepage.js'
import { FONT_CODE_PAGES } from './font-charset.js'
import { rubyBase } from './office/field.js'
import { decryptStream, openRc4 } from './office-rc4.js'
import { readPictures } from './office-art.js'
import { OleFile } from '../ole/read.js'
import { readObjectPool } from './ole-embedded.js'
import { writeOleProperties } from './ole-properties.js'

export const doc: Extractor = {
  name: 'doc',
  version: 3,
  title: 'Word 6 to 2003 (doc, dot)',
  types: ['application/msword'],
  extensions: ['doc', 'dot'],
  lane: 'text',
  async extract({ bytes }, sink, context) {
    const ole = new OleFile(bytes)
    const facts = readWord(ole, sink, context)
    await readObjectPool(ole, 'ObjectPool/', context)
    const data = ole.readPath('Data')
    if (data) await readPictures(data, context)
    return facts
  },
}

function readWord(ole: OleFile, sink: TextSink, context: Context): Facts {
  let main = ole.readPath('WordDocument')
  if (!main || main.length < 0x200) throw new Error('no WordDocument stream')
  if (main.readUInt16LE(0) !== 0xa5ec && main.readUInt16LE(0) !== 0xa5dc)
    throw new Error('no Word document header')
  let fib = readHeader(main)
  let table = fib.isOld ? main : (ole.readPath(fib.tableName) ?? ole.readPath(fib.otherTableName))
  if (fib.isEncrypted) {
    const key = !fib.isOld && table && openRc4(table, context.settings.passwords)
    if (!key) throw new Declined('locked', 'password needed')
    const clear = main.subarray(0, CLEAR_BYTES)
    main = decryptStream(main, key, 512)
    clear.copy(main)
    fib = readHeader(main)
    table = decryptStream(table as Buffer, key, 512)
  }
  writeOleProperties(ole, sink)

  const pieces = (table && readPieces(table, fib)) ?? []
  let partial: string | undefined
  if (pieces.length === 0) {
    // not fast-saved: the text stands in one run; so does what is left of a file without its table
    pieces.push({ start: 0, end: fib.total, at: fib.textStart, isWide: false })
    if (!fib.isOld) partial = 'the piece table is missing or damaged'
  }
  const deleted = table ? deletedRuns(main, table, fib) : []
  const text = assemble(main, pieces, deleted, fib.total)
  const story = new Story(sink, fib.codePage)

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
  return {
    ...(PICTURE_MARKS.test(text) && { empty: 'only-images' }),
    ...(partial && { partial }),
  }
}

/** Bytes of the main stream that an encrypted file leaves in the clear. */
const CLEAR_BYTES = 68

/** Where a picture or a drawn object stands in the text. */
const PICTURE_MARKS = /[\x01\x08]/

interface Header {
  /** Word 6 and 95: one byte a character, tables in the main stream. */
  isOld: boolean
  isEncrypted: boolean
  tableName: string
  otherTableName: string
  textStart: number
  body: number
  footnotes: number
  headers: number
  macros: number
  comments: number
  endnotes: number
  textBoxes: number
  headerTextBoxes: number
  /** Characters of all parts together. */
  total: number
  /** Offset and length of tables: pieces, character runs, header stories. */
  clx: [number, number]
  characters: [number, number]
  headerStories: [number, number]
  codePage: number
}

/** File information block, [MS-DOC] 2.5; its Word 6 form has the same fields at other places. */
function readHeader(main: Buffer): Header {
  const ident = main.readUInt16LE(0)
  const version = main.readUInt16LE(2)
  const flags = main.readUInt16LE(10)
  const isOld = ident === 0xa5dc || version < 105
  const pair = (at: number): [number, number] => [main.readUInt32LE(at), main.readUInt32LE(at + 4)]
  const counts = isOld ? 0x34 : 0x4c
  const count = (nth: number): number => {
    const value = main.readInt32LE(counts + 4 * nth)
    return value > 0 && value <= main.length ? value : 0
  }
  const fib = {
    isOld,
    isEncrypted: (flags & 0x100) !== 0,
    tableName: flags & 0x200 ? '1Table' : '0Table',
    otherTableName: flags & 0x200 ? '0Table' : '1Table',
    textStart: main.readUInt32LE(0x18),
    body: count(0),
    footnotes: count(1),
    headers: count(2),
    macros: count(3),
    comments: count(4),
    endnotes: count(5),
    textBoxes: count(6),
    headerTextBoxes: count(7),
    total: 0,
    clx: pair(isOld ? 0x160 : 0x1a2),
    characters: pair(isOld ? 0xb8 : 0xfa),
    headerStories: pair(isOld ? 0xb0 : 0xf2),
    codePage: isOld ? oldCodePage(main) : 1252,
  }
  const all = [fib.body, fib.footnotes, fib.headers, fib.macros, fib.comments, fib.endnotes]
  fib.total =
    all.reduce((sum, one) => sum + one, fib.textBoxes + fib.headerTextBoxes) || main.length
  return fib
}

/** Word 6 and 95 name a character set, and a language where the set says nothing. */
function oldCodePage(main: Buffer): number {
  const byCharacterSet = FONT_CODE_PAGES[main.readUInt16LE(0x14)]
  if (byCharacterSet) return byCharacterSet
  const language = main.readUInt16LE(6) & 0x3ff
  return (
    { 0x19: 1251, 0x15: 1250, 0x05: 1250, 0x0e: 1250, 0x08: 1253, 0x1f: 1254 }[language] ?? 1252
  )
}

interface Piece {
  /** Character positions. */
  start: number
  end: number
  /** Byte in the main stream. */
  at: number
  isWide: boolean
}

/** Piece table, [MS-DOC] 2.9.38 and 2.9.177. A damaged one gives the pieces up to there. */
function readPieces(table: Buffer, fib: Header): Piece[] | undefined {
  const [offset, length] = fib.clx
  if (length === 0) return undefined
  const end = Math.min(offset + length, table.length)
  let at = offset
  while (at + 5 <= end && table[at] === 1) at += 3 + table.readUInt16LE(at + 1)
  if (at + 5 > end || table[at] !== 2) return undefined
  const size = Math.min(table.readUInt32LE(at + 1), end - at - 5)
  const count = Math.floor((size - 4) / 12)
  const positions = at + 5
  const descriptors = positions + 4 * (count + 1)
  const pieces: Piece[] = []
  for (let i = 0; i < count; i++) {
    const start = table.readUInt32LE(positions + 4 * i)
    const stop = table.readUInt32LE(positions + 4 * i + 4)
    const place = table.readUInt32LE(descriptors + 8 * i + 2)
    if (stop <= start) continue
    const isWide = !fib.isOld && (place & 0x40000000) === 0
    pieces.push({
      start,
      end: stop,
      at: fib.isOld || isWide ? place : (place & 0x3fffffff) >>> 1,
      isWide,
    })
  }
  return pieces
}

/** Runs of bytes in the main stream whose text is deleted, in order. */
function deletedRuns(main: Buffer, table: Buffer, fib: Header): Array<[from: number, to: number]> {
  const runs: Array<[number, number]> = []
  const [offset, length] = fib.characters
  // entries: positions, then page numbers of 4 bytes (2 before Word 97)
  const width = fib.isOld ? 2 : 4
  const count = Math.floor((length - 4) / (4 + width))
  const pages = offset + 4 * (count + 1)
  for (let i = 0; i < count; i++) {
    const entry = pages + width * i
    if (entry + width > table.length) break
    const page =
      (width === 4 ? table.readUInt32LE(entry) & 0x3fffff : table.readUInt16LE(entry)) * 512
    if (page + 512 > main.length) continue
    const runsOnPage = main[page + 511] as number
    for (let j = 0; j < runsOnPage; j++) {
      const at = page + 4 * j
      const properties = 2 * (main[page + 4 * (runsOnPage + 1) + j] ?? 0)
      if (properties === 0 || 4 * (runsOnPage + 1) > 511) continue
      const size = main[page + properties] ?? 0
      const from = page + properties + 1
      const bytes = main.subarray(from, Math.min(from + size, page + 511))
      if (isDeleted(bytes, fib.isOld)) runs.push([main.readUInt32LE(at), main.readUInt32LE(at + 4)])
    }
  }
  return runs.filter(([from, to]) => to > from).sort((a, b) => a[0] - b[0])
}

const SPRM_DELETED = 0x0800
const OLD_SPRM_DELETED = 65

/** Reads single property modifiers, [MS-DOC] 2.2.5.1. */
function isDeleted(bytes: Buffer, isOld: boolean): boolean {
  let at = 0
  while (at < bytes.length) {
    if (isOld) {
      const code = bytes[at] as number
      if (code === OLD_SPRM_DELETED) return bytes[at + 1] === 1
      return false // lengths of the old modifiers are not known here; this one stands first or alone
    }
    if (at + 3 > bytes.length) return false
    const sprm = bytes.readUInt16LE(at)
    const operand = bytes[at + 2] as number
    if (sprm === SPRM_DELETED && (operand === 1 || operand === 0x81)) return true
    const kind = sprm >> 13
    at += 2 + ([1, 1, 2, 4, 2, 2, 1 + operand, 3][kind] as number)
  }
  return false
}

/** Stands for a character that is deleted; dropped when written, counted until then. */
const LEFT_OUT = '\0'

/** The whole text, one UTF-16 unit a character position. Word 6 text stays bytes (Latin-1) until it is written. */
function assemble(
  main: Buffer,
  pieces: Piece[],
  deleted: Array<[number, number]>,
  total: number,
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
    const text = piece.isWide ? bytes.toString('utf16le') : westernText(bytes)
    parts.push(blank(text, piece.at, width, deleted))
    length += text.length
  }
  return parts.join('')
}

/** Latin-1 with the 1252 characters of 0x80 to 0x9f, which [MS-DOC] 2.9.73 lists; old text is decoded later. */
function westernText(bytes: Buffer): string {
  return bytes.toString('latin1')
}

function blank(text: string, at: number, width: number, deleted: Array<[number, number]>): string {
  const end = at + width * text.length
  let out = ''
  let done = 0
  for (let i = firstAfter(deleted, at); i < deleted.length; i++) {
    const [from, to] = deleted[i] as [number, number]
    if (from >= end) break
    const first = Math.max(done, Math.ceil((from - at) / width))
    const last = Math.min(text.length, Math.ceil((to - at) / width))
    if (last <= first) continue
    out += text.slice(done, first) + LEFT_OUT.repeat(last - first)
    done = last
  }
  return done === 0 ? text : out + text.slice(done)
}

/** First run that ends after a place; runs are in order. */
function firstAfter(runs: Array<[number, number]>, place: number): number {
  let low = 0
  let high = runs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((runs[middle] as [number, number])[1] > place) high = middle
    else low = middle + 1
  }
  return low
}

/** Header and footer stories, [MS-DOC] 2.8.10; the first six separate notes. */
function headerStories(text: string, table: Buffer | undefined, fib: Header): string[] {
  if (text === '') return []
  const [offset, length] = fib.headerStories
  const count = Math.floor(length / 4)
  if (!table || count < 8 || offset + length > table.length) return [text]
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
  readonly #codePage: number
  readonly #once = new Set<string>()

  constructor(sink: TextSink, codePage: number) {
    this.#sink = sink
    this.#codePage = codePage
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
        const shown = this.#decode(piece)
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
          const base = rubyBase(field.says)
          if (base && instructions === 0) line += base
        }
      } else if (instructions === 0) {
        const shown = code === CELL_END && line.endsWith('\t') ? '\n' : SHOWN[code]
        if (shown === '\n') endLine()
        else if (shown) line += shown
      }
    }
    if (line !== '' || links.length > 0) endLine()
  }

  #decode(text: string): string {
    if (!/[\x80-\xff]/.test(text)) return text
    if (this.#codePage !== 1252) return decodeCodePage(Buffer.from(text, 'latin1'), this.#codePage)
    return text.replace(/[\x80-\x9f]/g, (one) => decodeCodePage(Buffer.from(one, 'latin1'), 1252))
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
