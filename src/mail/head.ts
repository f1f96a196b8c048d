/**
 * A header block: its fields, unfolded, as the bytes they are (one character a byte), and the
 * parameters of structured fields. RFC 5322 section 2.2, RFC 2045 section 5, RFC 2231.
 *
 * Not responsible for: what the values say (words.ts, addresses.ts, dates.ts).
 */
import { decodeText } from './charset.js'
import { decodeWords } from './words.js'

/** Bytes read of one header block; what follows is cut. Real heads stay under 100 kB. */
export const HEAD_BYTES = 1_000_000
const FIELDS = 5_000
/** Characters read of one field. */
const FIELD_CHARS = 200_000

export interface Field {
  /** Lower case. */
  name: string
  /** Unfolded, one character a byte, trimmed. */
  value: string
}

export interface Head {
  fields: Field[]
  /** False when a line was no field: such a head is read leniently, and is no plain one. */
  isWellFormed: boolean
}

/**
 * Reads the fields of a header block. A line that is neither a field nor a continuation is dropped
 * and marked (`isWellFormed`).
 *
 * @param text the block, one character a byte, with or without its closing empty line
 */
export function parseHead(text: string): Head {
  const fields: Field[] = []
  let isWellFormed = true
  let at = 0
  let last: Field | undefined
  const block = text.length > HEAD_BYTES ? text.slice(0, HEAD_BYTES) : text
  if (block !== text) isWellFormed = false
  while (at < block.length) {
    let end = block.indexOf('\n', at)
    if (end < 0) end = block.length
    let stop = end
    while (stop > at && block.charCodeAt(stop - 1) === 13) stop--
    const first = block.charCodeAt(at)
    if (stop > at) {
      if (first === 32 || first === 9) {
        if (last) {
          if (last.value.length < FIELD_CHARS) last.value += block.slice(at, stop)
        } else isWellFormed = false
      } else {
        const colon = block.indexOf(':', at)
        const name = colon > at && colon < stop ? block.slice(at, colon).trimEnd() : ''
        if (name !== '' && NAME.test(name)) {
          if (fields.length >= FIELDS) return { fields, isWellFormed: false }
          last = { name: name.toLowerCase(), value: block.slice(colon + 1, stop) }
          fields.push(last)
        } else {
          isWellFormed = false
          last = undefined
        }
      }
    }
    at = end + 1
  }
  for (const field of fields) field.value = field.value.slice(0, FIELD_CHARS).trim()
  return { fields, isWellFormed }
}

const NAME = /^[\x21-\x39\x3b-\x7e]{1,100}$/

/** The first field of that name, or `''`. */
export function first(head: Head, name: string): string {
  for (const field of head.fields) if (field.name === name) return field.value
  return ''
}

export function all(head: Head, name: string): string[] {
  return head.fields.filter((field) => field.name === name).map((field) => field.value)
}

export interface Structured {
  /** Lower case, without comments: `text/plain`, `attachment`. */
  value: string
  /** Decoded, by lower-case name. */
  params: Map<string, string>
}

/** Characters read of a structured field: names of a thousand characters in pieces still fit. */
const STRUCTURED_CHARS = 20_000

const NONE: Structured = { value: '', params: new Map() }
const CACHE = new Map<string, Structured>()

/**
 * Reads a structured field: `text/plain; charset="utf-8"; name*0*=…`.
 *
 * Pieces of RFC 2231 are joined as bytes before they are decoded (a character of ISO-2022-JP may be
 * cut by a piece's end). Encoded words inside quotes are decoded too: most mailers send those.
 */
export function parseStructured(field: string): Structured {
  if (field === '') return NONE
  const known = CACHE.get(field)
  if (known) return known
  const parsed = readStructured(field)
  // Most mails repeat the same few fields.
  if (field.length < 80 && CACHE.size < 500) CACHE.set(field, parsed)
  return parsed
}

function readStructured(field: string): Structured {
  const tokens = split(field.slice(0, STRUCTURED_CHARS))
  // `multipart/mixed boundary=x`: the semicolon was forgotten.
  const glued = /^\s*([^\s="]+)\s+([^\s="]+=.*)$/s.exec(tokens[0] ?? '')
  if (glued) tokens.splice(0, 1, glued[1] as string, glued[2] as string)
  const value = (tokens.shift() ?? '').replace(/^"|"$/g, '').trim().toLowerCase()
  const params = new Map<string, string>()
  const pieces = new Map<string, Array<{ index: number; isEncoded: boolean; text: string }>>()
  for (const token of tokens) {
    const equals = token.indexOf('=')
    if (equals <= 0) continue
    const name = token.slice(0, equals).trim().toLowerCase()
    const text = unquote(token.slice(equals + 1).trim())
    const extended = /^([^*\s]+)(?:\*(\d{1,4}))?(\*)?$/.exec(name)
    if (extended && (extended[2] !== undefined || extended[3])) {
      const base = extended[1] as string
      let list = pieces.get(base)
      if (!list) pieces.set(base, (list = []))
      if (list.length < 1000)
        list.push({ index: Number(extended[2] ?? 0), isEncoded: Boolean(extended[3]), text })
    } else if (!params.has(name)) params.set(name, decodeWords(text))
  }
  for (const [name, list] of pieces) {
    list.sort((a, b) => a.index - b.index)
    let charset = ''
    const head = list[0] as (typeof list)[0]
    if (head.isEncoded) {
      const marks = /^([^']*)'[^']*'/.exec(head.text)
      if (marks) {
        charset = marks[1] as string
        head.text = head.text.slice(marks[0].length)
      }
    }
    const bytes = list.map((piece) => (piece.isEncoded ? percentDecoded(piece.text) : piece.text))
    const text = decodeText(Buffer.from(bytes.join(''), 'latin1'), { declared: charset }).text
    params.set(name, text.includes('=?') ? decodeWords(text) : text)
  }
  return { value, params }
}

/** Splits at `;` outside quotes, dropping comments. */
function split(field: string): string[] {
  if (!field.includes('"') && !field.includes('(')) return field.split(';')
  const tokens: string[] = []
  let token = ''
  let isQuoted = false
  let depth = 0
  for (let i = 0; i < field.length; i++) {
    const c = field[i] as string
    if (depth > 0) {
      if (c === '\\') i++
      else if (c === '(') depth++
      else if (c === ')') depth--
    } else if (isQuoted) {
      token += c
      if (c === '\\') token += field[++i] ?? ''
      else if (c === '"') isQuoted = false
    } else if (c === '"') {
      isQuoted = true
      token += c
    } else if (c === ';') {
      tokens.push(token)
      token = ''
    } else if (c === '(' && (token.trim() === '' || /\s$/.test(token) || !token.includes('=')))
      depth = 1
    else token += c
  }
  tokens.push(token)
  return tokens
}

function unquote(text: string): string {
  if (!text.startsWith('"')) return text
  const inner = text.slice(1, text.endsWith('"') && text.length > 1 ? -1 : undefined)
  // A backslash of a Windows path is no escape.
  return inner.includes('\\') ? inner.replace(/\\(["\\])/g, '$1') : inner
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
}
