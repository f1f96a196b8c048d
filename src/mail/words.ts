/**
 * Text of header values: encoded words (RFC 2047) and raw bytes beyond ASCII in whatever charset.
 *
 * Lenient as mail needs it: words glued to text or to each other, spaces and question marks inside
 * a word, a character cut between two words (their bytes are joined before decoding), a word that is
 * never closed (left as it is).
 */
import { decodeText } from './charset.js'

/**
 * @param value one character a byte, unfolded
 * @param charset of the mail, for raw bytes that are no UTF-8; `''` when unknown
 * @returns the text, NULs and line ends out, other white space as it was
 */
export function decodeWords(value: string, charset = ''): string {
  if (!value.includes('=?')) return raw(value, charset)
  let out = ''
  let at = 0
  /** Bytes of words that follow each other in one charset. */
  let held: { charset: string; bytes: Buffer[] } | undefined
  const release = (): void => {
    if (held) out += decodeText(Buffer.concat(held.bytes), { declared: held.charset }).text
    held = undefined
  }
  /** Where the next `?=` stands, found once for all words that begin before it. */
  let closing = -1
  const closeAfter = (from: number): number => {
    if (closing < from) closing = value.indexOf('?=', from)
    return closing
  }
  for (;;) {
    const begin = value.indexOf('=?', at)
    if (begin < 0) break
    const word = readWord(value, begin, closeAfter)
    if (word === 'none-follows') break
    const between = value.slice(at, begin)
    if (!word) {
      release()
      out += raw(between + '=?', charset)
      at = begin + 2
      continue
    }
    if (!(held && between.trim() === '')) {
      release()
      out += raw(between, charset)
    }
    if (held && (held.charset !== word.charset || isShiftedBack(held.bytes.at(-1)))) release()
    held ??= { charset: word.charset, bytes: [] }
    held.bytes.push(word.bytes)
    at = word.end
  }
  release()
  return clean(out + raw(value.slice(at), charset))
}

/** A word that ends in the escape to ASCII is whole: what follows begins with an escape of its own. */
function isShiftedBack(bytes: Buffer | undefined): boolean {
  const at = bytes ? bytes.length - 3 : -1
  return at >= 0 && bytes?.[at] === 0x1b && bytes[at + 1] === 0x28
}

function readWord(
  value: string,
  begin: number,
  closeAfter: (from: number) => number,
): { charset: string; bytes: Buffer; end: number } | 'none-follows' | undefined {
  const afterCharset = value.indexOf('?', begin + 2)
  if (afterCharset < 0) return 'none-follows'
  if (afterCharset - begin > 80) return undefined
  const kind = value.charCodeAt(afterCharset + 1) | 0x20
  if ((kind !== 0x62 && kind !== 0x71) || value[afterCharset + 2] !== '?') return undefined
  const from = afterCharset + 3
  const close = closeAfter(from)
  if (close < 0) return 'none-follows'
  const charset = value.slice(begin + 2, afterCharset).replace(/\*.*$/, '')
  if (!/^[\w.:+\- ]+$/.test(charset)) return undefined
  // `=?a?q?text =?b?q?…`: the first was never closed.
  const next = value.indexOf('=?', from)
  if (next >= 0 && next <= close - 2) return undefined
  const text = value.slice(from, close)
  return {
    charset: charset.trim().toLowerCase(),
    bytes: kind === 0x62 ? Buffer.from(text, 'base64') : fromQ(text),
    end: close + 2,
  }
}

function fromQ(text: string): Buffer {
  const out = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x3d) {
      const value = hex(text.charCodeAt(i + 1)) * 16 + hex(text.charCodeAt(i + 2))
      if (value >= 0) {
        out[length++] = value
        i += 2
        continue
      }
    }
    out[length++] = code === 0x5f ? 0x20 : code
  }
  return out.subarray(0, length)
}

function hex(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 0x20
  return lower >= 97 && lower <= 102 ? lower - 87 : -1000
}

function raw(value: string, charset: string): string {
  if (BEYOND_ASCII.test(value))
    return clean(decodeText(Buffer.from(value, 'latin1'), { declared: charset }).text)
  // Some mailers put ISO-2022-JP into headers as it is.
  if (value.includes('\x1b$')) return decodeText(Buffer.from(value, 'latin1')).text
  return clean(value)
}

function clean(text: string): string {
  return CONTROLS.test(text) ? text.replace(ALL_CONTROLS, ' ') : text
}

const BEYOND_ASCII = /[\x80-\xff]/
const CONTROLS = /[\0-\x1f\x7f]/
const ALL_CONTROLS = /[\0-\x1f\x7f]+/g
