/**
 * Rich Text Format 1.9.1: what a reader sees, in document order.
 *
 * A tokenizer over the bytes with a stack of group states. Notes, comments and text boxes follow the
 * paragraph that they belong to; each distinct header and footer is read once; hidden text is read, for it
 * is in the file; deleted text, field instructions, pictures and tables of styles are left out; embedded
 * documents are read as members.
 * Unbalanced braces end nothing. Not responsible for HTML inside RTF (mail/outlook/message.ts), whose text reads the same.
 */
import type { Context, Extractor } from './extractor.js'
import type { TextSink } from './sink.js'
import { decodeCodePage, isDoubleByte } from '../mail/codepage.js'
import { alternativeText } from './office/drawing.js'
import { shownByInstruction } from './office/field.js'
import type { Font } from './font-charset.js'
import { RtfFonts } from './rtf-fonts.js'
import {
  ASIDE,
  CHARACTERS,
  DESTINATIONS,
  HEADERS,
  INSIDE_SKIPPED,
  KNOWN_STARRED,
  LINES,
  PROPERTIES,
  SHAPE_TEXTS,
  SKIPPED,
  TABLES,
} from './rtf-words.js'

export const rtf: Extractor = {
  name: 'rtf',
  version: 3,
  title: 'Rich Text Format',
  types: ['application/rtf'],
  extensions: ['rtf'],
  lane: 'text',
  async extract({ bytes }, sink, context) {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const reader = new RtfReader(file, sink)
    reader.read()
    let pictures = 0
    for (const object of reader.objects)
      if (object.isPicture) {
        context.budget.takeBytes(object.bytes.length)
        await context.nested(object.bytes, `picture ${++pictures}`)
      } else await readObject(object.bytes, context)
    if (reader.hasPictures) return { empty: 'only-images' }
  },
}

/** Open groups beyond this are counted, not kept. */
const DEPTH_MAX = 10_000
/** Characters of a number that are looked at; a longer one is damage, and no part of the text either. */
const NUMBER_CHARS = 12
/** Of a drop-down list of which nothing was chosen yet. */
const NO_CHOICE = 25
/** Bytes of one run decoded at one time. */
const RUN_BYTES = 32_768
/** A paragraph without end is handed on in pieces of so many characters. */
const PARAGRAPH_CHARS = 100_000
/** Embedded objects and pictures kept for reading. */
const OBJECTS_MAX = 50

/** Where text of a group goes. */
type Target = 'body' | 'skip' | 'font' | 'instruction' | 'object' | 'property' | 'buffer'

interface Group {
  target: Target
  /** Destination that collects apart, ended with its group. */
  buffer?: { kind: string; pieces: string[] }
  unicodeSkip: number
  font: number
  lead: string
  isDeleted: boolean
  /** The group is a field, its instruction and its result. */
  isField?: boolean
  /** The group stands in a table of styles, colours or lists, in which there are no paragraphs. */
  isTable?: boolean
}

class RtfReader {
  /** Embedded objects and pictures that stand as bytes in the file, in order. */
  readonly objects: Array<{ bytes: Buffer; isPicture: boolean }> = []
  /** Pictures of any kind were met. */
  hasPictures = false
  readonly #file: Buffer
  readonly #sink: TextSink
  readonly #fonts = new RtfFonts()
  readonly #stack: Group[] = []
  #group: Group = {
    target: 'body',
    unicodeSkip: 1,
    font: -1,
    lead: '',
    isDeleted: false,
  }
  #overflow = 0
  /** Bytes of the text run that is not decoded yet, and how many they are. */
  #run = Buffer.allocUnsafe(1_024)
  #runBytes = 0
  #skip = 0
  #isStarred = false
  /** Nothing but `\*` has been read of the group. */
  #isHead = false
  #paragraph: string[] = []
  #paragraphChars = 0
  #asides: string[] = []
  #headers = new Set<string>()
  #instruction = ''
  /** What the field's instruction shows while it has no result: a symbol, the text under a phonetic guide. */
  #unresolved = ''
  /** Entries of the field's drop-down list, and the number of the chosen one. */
  #choices: string[] = []
  #choice: number | undefined
  /** Name of the shape's property whose value comes next. */
  #shapeProperty = ''
  /** Hexadecimal of the object being read. */
  #object: Buffer[] = []
  #isPicture = false

  constructor(file: Buffer, sink: TextSink) {
    this.#file = file
    this.#sink = sink
  }

  read(): void {
    const file = this.#file
    const length = file.length
    let at = 0
    while (at < length) {
      const byte = file[at] as number
      if (byte === 0x7b) {
        this.#open()
        at++
      } else if (byte === 0x7d) {
        this.#close()
        at++
        // after the last group stands nothing, or the rest of a document whose braces do not balance
        if (
          this.#stack.length === 0 &&
          this.#overflow === 0 &&
          !/^\s*[\\{]/.test(file.toString('latin1', at, at + 64))
        )
          break
      } else if (byte === 0x5c) at = this.#control(at + 1)
      else if (this.#group.target === 'skip' || this.#group.target === 'object') {
        const end = nextMark(file, at)
        if (this.#group.target === 'object') this.#object.push(file.subarray(at, end))
        at = end
      } else {
        if (byte !== 0x0a && byte !== 0x0d && byte !== 0) this.#byte(byte)
        at++
        if (byte > 0x80 && this.#isTrail(at)) this.#byte(file[at++] as number)
      }
    }
    while (this.#stack.length > 0) this.#close()
    this.#flush()
    if (this.#paragraph.length > 0) this.#endParagraph()
    this.#writeAsides()
  }

  /**
   * Whether a brace or backslash is the second byte of a character, written as it is. An escape is none: a
   * backslash before another mark.
   */
  #isTrail(at: number): boolean {
    const byte = this.#file[at]
    if (byte !== 0x5c && byte !== 0x7b && byte !== 0x7d) return false
    const next = this.#file[at + 1] ?? 0
    if (byte === 0x5c && (next === 0x27 || next === 0x5c || next === 0x7b || next === 0x7d))
      return false
    const { codePage } = this.#currentFont()
    if (!isDoubleByte(codePage)) return false
    // no byte under 0x81 begins a pair: what follows the last of them begins a character
    let from = this.#runBytes
    while (from > 0 && (this.#run[from - 1] as number) > 0x80) from--
    return decodeCodePage(this.#run.subarray(from, this.#runBytes), codePage).endsWith('\ufffd')
  }

  #open(): void {
    this.#flush()
    this.#isStarred = false
    this.#isHead = true
    this.#skip = 0
    if (this.#stack.length >= DEPTH_MAX) {
      this.#overflow++
      return
    }
    this.#stack.push(this.#group)
    const { buffer: _, isField: __, ...inherited } = this.#group
    this.#group = inherited
  }

  #close(): void {
    this.#flush()
    this.#skip = 0
    if (this.#overflow > 0) {
      this.#overflow--
      return
    }
    const closed = this.#group
    const outer = this.#stack.pop()
    if (!outer) return
    this.#group = outer
    if (closed.target === 'font' && outer.target !== 'font') this.#fonts.end()
    if (closed.target === 'instruction' && outer.target !== 'instruction') this.#endInstruction()
    if (closed.target === 'object' && outer.target !== 'object') this.#endObject()
    if (closed.isField && this.#unresolved !== '') {
      const shown = this.#unresolved
      this.#unresolved = ''
      this.#text(shown)
    }
    if (closed.buffer) this.#endBuffer(closed.buffer)
  }

  /** Reads a control word or symbol at `at` (behind the backslash); returns where the text goes on. */
  #control(at: number): number {
    const file = this.#file
    const first = file[at]
    if (first === undefined) return at
    if (first !== 0x2a) this.#isHead = false
    if (first === 0x27) {
      const value = parseInt(file.toString('latin1', at + 1, at + 3), 16)
      if (Number.isNaN(value)) return at + 1
      const wasSkipping = this.#skip
      this.#byte(value)
      if (wasSkipping > 0 && this.#skip > 0) this.#doubtSkip(at + 3)
      return at + 3
    }
    if (!isLetter(first)) {
      this.#symbol(first)
      return at + 1
    }
    let end = at
    while (end < file.length && isLetter(file[end] as number) && end - at < 40) end++
    const word = file.toString('latin1', at, end)
    let number: number | undefined
    const signed = file[end] === 0x2d ? end + 1 : end
    let digits = signed
    while (digits < file.length && isDigit(file[digits] as number)) digits++
    if (digits > signed) {
      number = 0
      for (let i = signed; i < digits && i < signed + NUMBER_CHARS; i++)
        number = 10 * number + (file[i] as number) - 0x30
      if (signed > end) number = -number
      end = digits
    }
    if (file[end] === 0x20) end++
    if (word === 'bin') {
      const size = Math.max(0, Math.min(number ?? 0, file.length - end))
      if (this.#group.target === 'object')
        this.#object.push(Buffer.from(file.toString('hex', end, end + size)))
      return end + size
    }
    this.#word(word, number)
    return end
  }

  #symbol(code: number): void {
    switch (code) {
      case 0x2a: // \*, which says nothing but at the head of a group
        this.#isStarred = this.#isHead
        return
      case 0x5c:
      case 0x7b:
      case 0x7d:
        this.#byte(code)
        return
      case 0x7e:
        this.#text('\u00a0')
        return
      case 0x5f:
        this.#text('-')
        return
      case 0x0a:
      case 0x0d:
        this.#line()
        return
    }
    // \- (soft hyphen), \| \: and unknown symbols have no text
  }

  #word(word: string, number: number | undefined): void {
    if (word === 'u') {
      this.#unicode(number ?? 0)
      return
    }
    const isStarred = this.#isStarred
    this.#isStarred = false
    if (this.#skip > 0 && (CHARACTERS.has(word) || LINES.has(word))) {
      this.#skip--
      return
    }
    if (this.#group.isTable && (word === 'par' || word === 'sectd')) this.#leaveTable()
    const group = this.#group
    const character = CHARACTERS.get(word)
    if (character !== undefined) return this.#text(character)
    if (LINES.has(word)) return this.#line()
    if (isStarred || SKIPPED.has(word) || DESTINATIONS.has(word)) {
      if (this.#begin(word, isStarred)) return
    }
    switch (word) {
      case 'ansi':
        return
      case 'mac':
        this.#fonts.codePage = 10000
        return
      case 'pc':
        this.#fonts.codePage = 437
        return
      case 'pca':
        this.#fonts.codePage = 850
        return
      case 'ansicpg':
        if (number && number > 0) this.#fonts.codePage = number
        return
      case 'deff':
        this.#fonts.standard = number ?? -1
        return
      case 'uc':
        group.unicodeSkip = Math.max(0, Math.min(number ?? 1, 16))
        return
      case 'f':
        this.#flush()
        if (group.target === 'font') {
          this.#fonts.begin(number ?? 0, this.#stack.length)
        } else group.font = number ?? 0
        return
      case 'af':
        if (group.lead === 'dbch' && group.target !== 'font') {
          this.#flush()
          group.font = number ?? 0
        }
        return
      case 'loch':
      case 'hich':
      case 'dbch':
        group.lead = word
        return
      case 'fcharset':
        if (group.target === 'font') this.#fonts.setCharacterSet(number ?? 0)
        return
      case 'cpg':
        if (group.target === 'font' && number) this.#fonts.setCodePage(number)
        return
      case 'plain':
        this.#flush()
        group.font = this.#fonts.standard
        group.isDeleted = false
        group.lead = ''
        return
      case 'field':
        group.isField = true
        this.#choices = []
        this.#choice = undefined
        return
      case 'ffdefres':
        this.#choice ??= number
        return
      case 'ffres':
        if (number !== NO_CHOICE) this.#choice = number
        return
      case 'deleted':
      case 'mvf':
        this.#flush()
        group.isDeleted = number !== 0
        return
    }
  }

  /** A paragraph in a table of styles or colours: the end of the table was lost, and the text goes on. */
  #leaveTable(): void {
    for (const group of [...this.#stack, this.#group])
      if (group.isTable) {
        group.isTable = false
        group.target = 'body'
      }
  }

  /** Begins a destination. Returns false for a word that is none. */
  #begin(word: string, isStarred: boolean): boolean {
    const group = this.#group
    if (group.target === 'skip' && !INSIDE_SKIPPED.has(word)) return true
    this.#flush()
    if (group.target === 'font') return word !== 'f'
    if (word === 'fonttbl') group.target = 'font'
    else if (word === 'fldinst') {
      group.target = 'instruction'
      this.#instruction = ''
    } else if (word === 'objdata' || word === 'pict') {
      group.target = this.objects.length < OBJECTS_MAX ? 'object' : 'skip'
      this.#object = []
      this.#isPicture = word === 'pict'
      this.hasPictures ||= this.#isPicture
    } else if (word === 'info') group.target = 'property'
    else if (group.target === 'property' && PROPERTIES.has(word)) {
      group.target = 'buffer'
      group.buffer = { kind: word === 'author' ? 'author' : 'property', pieces: [] }
    } else if (ASIDE.has(word) || HEADERS.has(word)) {
      group.target = 'buffer'
      group.buffer = { kind: HEADERS.has(word) ? 'header' : 'aside', pieces: [] }
    } else if (word === 'ffl') {
      group.target = 'buffer'
      group.buffer = { kind: 'choice', pieces: [] }
    } else if (word === 'sn') {
      group.target = 'buffer'
      group.buffer = { kind: 'shape-property', pieces: [] }
    } else if (word === 'sv') {
      const kind = SHAPE_TEXTS.get(this.#shapeProperty)
      if (kind) {
        group.target = 'buffer'
        group.buffer = { kind, pieces: [] }
      } else group.target = 'skip'
      this.#shapeProperty = ''
    } else if (word === 'upr') group.target = 'skip'
    else if (word === 'ud') group.target = this.#outerTarget()
    else if (SKIPPED.has(word) || (isStarred && !KNOWN_STARRED.has(word))) {
      group.target = 'skip'
      group.isTable = TABLES.has(word)
    }
    return true
  }

  /** `\upr{…}{\*\ud{…}}`: the Unicode form goes where the group around `\upr` goes. */
  #outerTarget(): Target {
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      const target = (this.#stack[i] as Group).target
      if (target !== 'skip') return target
    }
    return 'body'
  }

  #unicode(number: number): void {
    this.#flush()
    const code = number < 0 ? number + 65_536 : number
    this.#skip = 0
    if (code >= 0xf020 && code <= 0xf0ff) {
      // a place in a symbol font
      const font = this.#currentFont()
      if (font.isSymbol) this.#text(this.#fonts.symbolCharacter(code - 0xf000, font))
    } else if (code > 0 && code <= 0xffff) this.#text(String.fromCharCode(code))
    else if (code > 0xffff && code <= 0x10ffff) this.#text(String.fromCodePoint(code))
    this.#skip = this.#group.unicodeSkip
  }

  /**
   * `\\uc2` means fallbacks of two bytes, but some writers leave it on where one byte, in hexadecimal, is
   * the whole fallback. A letter that follows in a single-byte code page is then text. (Two bytes are
   * both written in hexadecimal.)
   */
  #doubtSkip(next: number): void {
    const byte = this.#file[next]
    if (byte !== undefined && byte !== 0x5c && !isDoubleByte(this.#currentFont().codePage))
      this.#skip = 0
  }

  #byte(byte: number): void {
    this.#isHead = false
    if (this.#skip > 0) {
      this.#skip--
      return
    }
    const { target } = this.#group
    if (target === 'skip' || target === 'property' || target === 'object') return
    if (this.#runBytes === this.#run.length)
      this.#run = Buffer.concat([this.#run, Buffer.allocUnsafe(this.#run.length)])
    this.#run[this.#runBytes++] = byte
    if (this.#runBytes <= RUN_BYTES) return
    // Not inside a character of two or four bytes: none of them is under 0x30.
    const isInside = isDoubleByte(this.#currentFont().codePage) && byte >= 0x30
    if (!isInside || this.#runBytes > RUN_BYTES * 32) this.#flush()
  }

  #currentFont(): Font {
    return this.#fonts.of(this.#group.font)
  }

  /** Decodes the pending bytes and sends the text on its way. */
  #flush(): void {
    if (this.#runBytes === 0) return
    const run = this.#run.subarray(0, this.#runBytes)
    this.#runBytes = 0
    if (this.#group.target === 'font') {
      this.#fonts.addName(run, this.#stack.length)
      return
    }
    this.#text(this.#fonts.decode(run, this.#currentFont()))
  }

  #text(text: string): void {
    this.#flush()
    const { target, isDeleted } = this.#group
    if (target === 'instruction') {
      this.#instruction += text
      return
    }
    if (isDeleted) return
    if (text.trim() !== '') this.#unresolved = ''
    if (target === 'body') {
      this.#paragraph.push(text)
      this.#paragraphChars += text.length
      if (this.#paragraphChars > PARAGRAPH_CHARS) this.#writeParagraph()
    } else if (target === 'buffer') this.#buffer()?.pieces.push(text)
  }

  #buffer(): Group['buffer'] {
    if (this.#group.buffer) return this.#group.buffer
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      const { buffer } = this.#stack[i] as Group
      if (buffer) return buffer
    }
    return undefined
  }

  #line(): void {
    this.#flush()
    if (this.#group.target === 'body') {
      this.#endParagraph()
      this.#writeAsides()
    } else this.#text('\n')
  }

  #endParagraph(): void {
    this.#paragraph.push('\n')
    this.#writeParagraph()
  }

  #writeParagraph(): void {
    this.#sink.write(this.#paragraph.join(''))
    this.#paragraph = []
    this.#paragraphChars = 0
  }

  #writeAsides(): void {
    for (const aside of this.#asides) this.#sink.line(aside)
    this.#asides = []
  }

  /** The target of a link is what a person may search; other instructions are not. */
  #endInstruction(): void {
    this.#unresolved =
      shownByInstruction(this.#instruction) ?? this.#choices[this.#choice ?? 0] ?? ''
    const target = /^\s*HYPERLINK\s+(?:\\\\?l\s+)?"?([^"\s]+)/i.exec(this.#instruction)?.[1]
    this.#instruction = ''
    if (target && /^(https?|mailto|ftp|file):/i.test(target)) this.#asides.push(target)
  }

  #endObject(): void {
    const hex = Buffer.concat(this.#object)
      .toString('latin1')
      .replace(/[^0-9a-fA-F]+/g, '')
    this.#object = []
    if (hex.length < 64 || (this.#isPicture && !/^(ffd8ff|89504e47)/i.test(hex))) return
    this.objects.push({ bytes: Buffer.from(hex, 'hex'), isPicture: this.#isPicture })
  }

  #endBuffer({ kind, pieces }: { kind: string; pieces: string[] }): void {
    const text = pieces.join('').trim()
    if (kind === 'choice') this.#choices.push(text)
    if (text === '' || kind === 'choice') return
    if (kind === 'shape-property') {
      this.#shapeProperty = text
      return
    }
    if (kind === 'header') {
      if (this.#headers.has(text)) return
      this.#headers.add(text)
    }
    if (kind === 'alternative') {
      const written = alternativeText(text)
      if (written) this.#asides.push(written)
    } else if (kind === 'property') this.#sink.line(text)
    else if (kind === 'author') this.#sink.aside(text)
    else this.#asides.push(text)
  }
}

/** Place of the next brace or backslash. */
function nextMark(file: Buffer, from: number): number {
  let at = from
  while (at < file.length) {
    const byte = file[at]
    if (byte === 0x5c || byte === 0x7b || byte === 0x7d) break
    at++
  }
  return at
}

function isLetter(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** `\objdata`: an OLE 1 object ([MS-OLEDS] 2.2.5) whose native data is a document. */
async function readObject(bytes: Buffer, context: Context): Promise<void> {
  let at = 8
  for (let strings = 0; strings < 3; strings++) {
    if (at + 4 > bytes.length) return
    at += 4 + bytes.readUInt32LE(at)
  }
  if (bytes.readUInt32LE(4) !== 2 || at + 4 > bytes.length) return
  const native = bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at))
  if (native.length === 0) return
  context.budget.takeBytes(native.length)
  await context.nested(native, 'embedded object')
}
