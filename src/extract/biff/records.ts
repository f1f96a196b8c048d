/**
 * BIFF, the record stream of Excel 2 to 2003 workbooks ([MS-XLS] 2.1.4 and 2.5; the OpenOffice.org description of
 * the format for BIFF 2 to 5): records with their continuations, and the strings in them.
 */
import { decodeCodePage } from '../../mail/codepage.js'

export interface BiffRecord {
  id: number
  /** Byte of the record's header in the stream. */
  at: number
  /** The record's bytes and those of the CONTINUE records behind it, one each. */
  parts: Buffer[]
}

const CONTINUE = 0x3c

/** Records in order; one cut by the end of the stream comes as far as it goes. */
export function* records(stream: Buffer): Generator<BiffRecord> {
  let at = 0
  while (at + 4 <= stream.length) {
    const id = stream.readUInt16LE(at)
    const start = at
    at += 4 + stream.readUInt16LE(at + 2)
    const parts = [stream.subarray(start + 4, at)]
    while (at + 4 <= stream.length && stream.readUInt16LE(at) === CONTINUE) {
      const next = at + 4 + stream.readUInt16LE(at + 2)
      parts.push(stream.subarray(at + 4, next))
      at = next
    }
    if (id === 0 && parts[0]?.length === 0) {
      // zeros fill the end of some streams
      if (stream.subarray(at, at + 64).every((byte) => byte === 0)) return
    }
    yield { id, at: start, parts }
  }
}

/** Reads fields across the parts of a record. Reading past the end throws RangeError. */
export class Fields {
  readonly #parts: readonly Buffer[]
  #part = 0
  #at = 0

  constructor(parts: readonly Buffer[], skip = 0) {
    this.#parts = parts
    this.skip(skip)
  }

  get isAtEnd(): boolean {
    this.#settle()
    return this.#part >= this.#parts.length
  }

  #settle(): void {
    while (
      this.#part < this.#parts.length &&
      this.#at >= (this.#parts[this.#part] as Buffer).length
    ) {
      this.#at -= (this.#parts[this.#part] as Buffer).length
      this.#part++
    }
  }

  byte(): number {
    this.#settle()
    const value = this.#parts[this.#part]?.[this.#at]
    if (value === undefined) throw new RangeError('the record ends early')
    this.#at++
    return value
  }

  uint16(): number {
    return this.byte() | (this.byte() << 8)
  }

  uint32(): number {
    return this.uint16() + this.uint16() * 0x10000
  }

  skip(bytes: number): void {
    this.#at += bytes
  }

  /**
   * A BIFF 8 string without its length: flags, characters, and behind them formatting runs and phonetic
   * text, which are skipped. Characters that go on in the next part begin there with new flags.
   *
   * @param length UTF-16 units
   */
  unicode(length: number): string {
    const flags = this.byte()
    const runs = flags & 8 ? this.uint16() : 0
    const extra = flags & 4 ? this.uint32() : 0
    const text = this.characters(length, (flags & 1) === 1)
    this.skip(4 * runs + extra)
    return text
  }

  /** Characters, one or two bytes each. */
  characters(length: number, isWide: boolean): string {
    let left = length
    let text = ''
    let width = isWide ? 2 : 1
    for (;;) {
      const part = this.#parts[this.#part]
      if (left === 0 || part === undefined) return text
      const here = Math.min(left, Math.floor((part.length - this.#at) / width))
      if (here > 0) {
        const end = this.#at + here * width
        text += part.toString(width === 2 ? 'utf16le' : 'latin1', this.#at, end)
        this.#at = end
        left -= here
      }
      if (left === 0) return text
      this.#part++
      this.#at = 0
      const flags = this.#parts[this.#part]?.[0]
      if (flags === undefined) return text
      width = flags & 1 ? 2 : 1
      this.#at = 1
    }
  }

  /** A string of one byte a character in the workbook's code page. */
  bytes(length: number, codePage: number): string {
    this.#settle()
    const part = this.#parts[this.#part]
    if (!part) return ''
    const text = decodeCodePage(part.subarray(this.#at, this.#at + length), codePage)
    this.#at += length
    return text
  }
}

/** The number packed into four bytes, [MS-XLS] 2.5.217. */
export function rkNumber(bits: number): number {
  const whole = bits & 2 ? bits >> 2 : floatOfHigh(bits & 0xfffffffc)
  return bits & 1 ? whole / 100 : whole
}

const scratch = Buffer.alloc(8)

function floatOfHigh(high: number): number {
  scratch.writeUInt32LE(0, 0)
  scratch.writeInt32LE(high | 0, 4)
  return scratch.readDoubleLE(0)
}

/** Errors of cells by their code, [MS-XLS] 2.5.10. */
export const ERROR_TEXTS: Record<number, string> = {
  0x00: '#NULL!',
  0x07: '#DIV/0!',
  0x0f: '#VALUE!',
  0x17: '#REF!',
  0x1d: '#NAME?',
  0x24: '#NUM!',
  0x2a: '#N/A',
}
