/**
 * Bytes to text, whatever they were written in: byte order mark, then the declared name, then an
 * HTML or XML declaration, then strict UTF-8, then a detector, then windows-1252.
 *
 * A declared name is a claim: bytes that are valid UTF-8 beyond ASCII are UTF-8 even when a mail
 * calls them Latin-1, and a name that the bytes contradict gives way to the detector.
 * Names: WHATWG Encoding labels first (https://encoding.spec.whatwg.org/), iconv-lite for the rest.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import chardet from 'chardet'
import iconv from 'iconv-lite'
import { wideEncoding } from './wide.js'

export interface Decoded {
  text: string
  /** Name of the encoding that was used, lower case. */
  charset: string
}

export interface DecodeOptions {
  /** Name given beside the bytes (Content-Type, encoded word); empty when none. */
  declared?: string
  /** Looks for `<meta charset>` and `<?xml encoding>` in the first bytes. Default false. */
  markup?: boolean
}

/** Bytes looked at for a declaration inside the markup. HTML asks for the first 1024; pages have it behind long scripts. */
const MARKUP_HEAD = 64 * 1024
/** Where nothing but a rare seven-bit encoding is looked for. */
const MARKUP_START = 2048
/** Bytes given to the detector; it is slow, and more does not make it surer. */
const DETECT_BYTES = 64 * 1024

/**
 * Decodes a whole text. Never throws; what no encoding explains becomes U+FFFD. A byte order mark is
 * not part of the text.
 */
export function decodeText(bytes: Uint8Array, options: DecodeOptions = {}): Decoded {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mark = byteOrderMark(buffer)
  if (mark)
    return { text: decodeAs(buffer.subarray(mark.length), mark.name) ?? '', charset: mark.name }

  const declared = encodingNamed(options.declared ?? '')
  if (isAscii(buffer)) {
    // Seven-bit encodings with escapes are ASCII by their bytes, named or not.
    const inside = options.markup ? declaredInMarkup(buffer, MARKUP_START) : undefined
    const shifted =
      [declared, inside].find((name) => name && SEVEN_BIT.has(name)) ?? escapedAs(buffer)
    const text = shifted && decodeAs(buffer, shifted)
    if (text !== undefined && text !== '') return { text, charset: shifted as string }
    if (declared && WIDE.has(declared) && buffer.includes(0))
      return { text: decodeAs(buffer, declared) ?? '', charset: declared }
    const wide = wideEncoding(buffer)
    if (wide) return { text: decodeAs(buffer, wide) ?? '', charset: wide }
    return { text: buffer.toString('latin1'), charset: 'us-ascii' }
  }
  const isWide = declared && WIDE.has(declared) && (buffer.includes(0) || !isUtf8(buffer))
  const isShifted = declared && SEVEN_BIT.has(declared) && declared !== 'utf-7'
  if (isWide || isShifted) {
    const text = decodeAs(buffer, declared)
    if (text !== undefined && !isMostlyBroken(text)) return { text, charset: declared }
  }
  if (isUtf8(buffer)) {
    const wide = wideEncoding(buffer)
    if (wide) return { text: decodeAs(buffer, wide) ?? '', charset: wide }
    // Valid UTF-8 by chance is as good as impossible, except in a few bytes of an Asian encoding.
    if (!declared || declared === 'utf-8' || !MULTI_BYTE.has(declared) || buffer.length > 32)
      return { text: buffer.toString('utf8'), charset: 'utf-8' }
  }
  for (const from of ['declared', 'markup'] as const) {
    const name = from === 'declared' ? declared : options.markup && declaredInMarkup(buffer)
    if (!name || (WESTERN.has(name) && isOfAnotherScript(buffer, options.markup))) continue
    if (name === 'utf-8') {
      const text = buffer.toString('utf8')
      // A cut or damaged UTF-8 text has few broken places; a mislabelled one has nothing else.
      if (replacedShare(text) < 0.3) return { text, charset: 'utf-8' }
      continue
    }
    const text = decodeAs(buffer, name)
    if (text !== undefined && !isMostlyBroken(text)) return { text, charset: name }
  }
  const wide = wideEncoding(buffer)
  if (wide) return { text: decodeAs(buffer, wide) ?? '', charset: wide }
  const guess = detect(buffer, options.markup)
  return { text: decodeAs(buffer, guess) ?? buffer.toString('latin1'), charset: guess }
}

const SEVEN_BIT = new Set(['iso-2022-jp', 'iso-2022-kr', 'hz-gb-2312', 'utf-7', 'utf-7-imap'])
const WIDE = new Set(['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be', 'utf-16', 'utf-32'])
/** What programs declare when they know nothing. */
const WESTERN = new Set(['windows-1252', 'iso-8859-1', 'iso-8859-15', 'us-ascii'])
const MULTI_BYTE = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'big5', 'gbk', 'gb18030'])

/** Names in mail that neither WHATWG nor iconv-lite knows, or that they read otherwise. */
const ALIASES: Record<string, string> = {
  utf8mb4: 'utf-8',
  'utf-8-sig': 'utf-8',
  'unicode-1-1-utf-7': 'utf-7',
  utf7: 'utf-7',
  'x-unicode-2-0-utf-7': 'utf-7',
  cp932: 'shift_jis',
  'windows-932': 'shift_jis',
  'iso-2022-jp-1': 'iso-2022-jp',
  'iso-2022-jp-2': 'iso-2022-jp',
  'iso-2022-jp-3': 'iso-2022-jp',
  'iso-2022-jp-2004': 'iso-2022-jp',
  'iso-2022-jp-ms': 'iso-2022-jp',
  cp50220: 'iso-2022-jp',
  cp50221: 'iso-2022-jp',
  'eucjp-ms': 'euc-jp',
  cp51932: 'euc-jp',
  hz: 'hz-gb-2312',
  csiso2022kr: 'iso-2022-kr',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  ms949: 'euc-kr',
  'windows-949': 'euc-kr',
  cp936: 'gbk',
  'windows-936': 'gbk',
  ms936: 'gbk',
  'gb2312-80': 'gbk',
  cp950: 'big5',
  'windows-950': 'big5',
  'x-mac-ce': 'maccenteuro',
  'x-mac-centraleurroman': 'maccenteuro',
  'x-mac-greek': 'macgreek',
  'x-mac-turkish': 'macturkish',
  'x-mac-icelandic': 'maciceland',
  'iso-8859-8-e': 'iso-8859-8',
  '8bit': '',
  '7bit': '',
  binary: '',
  default: '',
  unknown: '',
  'unknown-8bit': '',
  'x-unknown': '',
  'x-user-defined': '',
  default_charset: '',
  auto: '',
  'utf-32': 'utf-32',
  'utf-16': 'utf-16',
}

const NAMES = new Map<string, string | undefined>()

/**
 * The encoding a label means, as this module names it, or undefined when nobody knows the label.
 * Labels come as mail writes them: in any case, quoted, with `_` for `-`.
 */
export function encodingNamed(label: string): string | undefined {
  if (label === '' || label.length > 64) return undefined
  let name = NAMES.get(label)
  if (name !== undefined || NAMES.has(label)) return name
  name = lookUp(label)
  if (NAMES.size < 2000) NAMES.set(label, name)
  return name
}

function lookUp(label: string): string | undefined {
  const bare = label
    .trim()
    .replace(/^["'<(]+|["'>);,]+$/g, '')
    .toLowerCase()
  const dashed = bare.replace(/^charset=/, '').replace(/_/g, '-')
  const names = [bare, dashed, dashed.replace(/^x-/, '')]
  const page = /^(?:cp|ibm|ms|dos|windows|win)[- ]?(\d{3,5})$/.exec(names[2] as string)
  if (page) names.push(`windows-${page[1]}`, `cp${page[1]}`)
  const iso = /^iso[- ]?8859[- ]?(\d{1,2})(?:\D|$)/.exec(dashed)
  if (iso) names.push(`iso-8859-${Number(iso[1])}`)
  if (/^utf[- ]?8/.test(dashed)) names.push('utf-8')
  for (const name of names) {
    const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined
    if (alias === '') return undefined
    if (alias) return alias
    try {
      return new TextDecoder(name).encoding
    } catch {
      // not a WHATWG label
    }
    if (name === 'iso-2022-kr' || name === 'hz-gb-2312') return name
  }
  return names.find((name) => !NO_CHARSET.test(name) && iconv.encodingExists(name))
}

/** What iconv-lite knows and is no character set. */
const NO_CHARSET = /^(?:base64|hex|binary|ucs2|internal|cesu8|utf-?7-?imap)$/

function byteOrderMark(b: Buffer): { name: string; length: number } | undefined {
  if (b[0] === 0xef && b[1] === 0xbb && b[2] === 0xbf) return { name: 'utf-8', length: 3 }
  if (b[0] === 0xff && b[1] === 0xfe && b[2] === 0 && b[3] === 0 && b.length % 4 === 0)
    return { name: 'utf-32le', length: 4 }
  if (b[0] === 0 && b[1] === 0 && b[2] === 0xfe && b[3] === 0xff)
    return { name: 'utf-32be', length: 4 }
  if (b[0] === 0xff && b[1] === 0xfe) return { name: 'utf-16le', length: 2 }
  if (b[0] === 0xfe && b[1] === 0xff) return { name: 'utf-16be', length: 2 }
  return undefined
}

const DECODERS = new Map<string, InstanceType<typeof TextDecoder> | null>()

/** Decodes with one encoding, or undefined when nobody knows it. */
function decodeAs(buffer: Buffer, name: string): string | undefined {
  switch (name) {
    case 'utf-8':
      return buffer.toString('utf8')
    case 'us-ascii':
      return buffer.toString('latin1')
    case 'windows-1252':
      // Node 20's TextDecoder reads it as Latin-1: quotes and dashes become control characters.
      return iconv.decode(buffer, name)
    case 'utf-16le':
      return buffer.toString('utf16le', 0, buffer.length & ~1)
    case 'utf-16':
      return buffer.length > 1 && wideEncoding(buffer) === 'utf-16le'
        ? buffer.toString('utf16le', 0, buffer.length & ~1)
        : decodeAs(buffer, 'utf-16be')
    case 'iso-2022-jp':
      return decoderFor(name)?.decode(withoutIdleEscapes(buffer))
    case 'iso-2022-kr':
      return decodeAs(unshift(buffer), 'euc-kr')
    case 'hz-gb-2312':
      return decodeAs(unTilde(buffer), 'gbk')
  }
  const decoder = decoderFor(name)
  if (decoder) return decoder.decode(buffer)
  if (!iconv.encodingExists(name)) return undefined
  return iconv.decode(buffer, name)
}

function decoderFor(name: string): InstanceType<typeof TextDecoder> | null {
  let decoder = DECODERS.get(name)
  if (decoder === undefined) {
    try {
      decoder = new TextDecoder(name, { ignoreBOM: true })
    } catch {
      decoder = null
    }
    if (DECODERS.size < 200) DECODERS.set(name, decoder)
  }
  return decoder
}

/** An escape right after another is an error to WHATWG, and a habit of mailers. */
function withoutIdleEscapes(buffer: Buffer): Buffer {
  const text = buffer.toString('latin1')
  const cleaned = text.replace(/(?:\x1b\([BJ])+(?=\x1b[$(])/g, '')
  return cleaned === text ? buffer : Buffer.from(cleaned, 'latin1')
}

/** ISO-2022-KR (RFC 1557): SO and SI switch between ASCII and KS X 1001 without its high bits. */
function unshift(buffer: Buffer): Buffer {
  const out = Buffer.allocUnsafe(buffer.length)
  let length = 0
  let isShifted = false
  for (let i = 0; i < buffer.length; i++) {
    const byte = buffer[i] as number
    if (byte === 0x0e) isShifted = true
    else if (byte === 0x0f) isShifted = false
    else if (byte === 0x1b && buffer[i + 1] === 0x24 && buffer[i + 2] === 0x29) i += 3
    else {
      if (byte === 0x0a) isShifted = false
      out[length++] = isShifted && byte > 0x20 ? byte | 0x80 : byte
    }
  }
  return out.subarray(0, length)
}

/** HZ (RFC 1843): ~{ and ~} around GB 2312 without its high bits. */
function unTilde(buffer: Buffer): Buffer {
  const out = Buffer.allocUnsafe(buffer.length)
  let length = 0
  let isShifted = false
  for (let i = 0; i < buffer.length; i++) {
    const byte = buffer[i] as number
    if (byte === 0x7e) {
      const next = buffer[i + 1]
      if (next === 0x7b) isShifted = true
      else if (next === 0x7d) isShifted = false
      else if (next === 0x7e) out[length++] = 0x7e
      else if (next !== 0x0a) {
        out[length++] = byte
        continue
      }
      i++
    } else {
      if (byte === 0x0a) isShifted = false
      out[length++] = isShifted && byte > 0x20 ? byte | 0x80 : byte
    }
  }
  return out.subarray(0, length)
}

/** The seven-bit encoding whose escape sequences stand in an ASCII text, if any. */
function escapedAs(buffer: Buffer): string | undefined {
  const escape = buffer.indexOf(0x1b)
  if (escape >= 0) {
    const head = buffer.toString('latin1', escape, escape + DETECT_BYTES)
    if (/\x1b\$\)C/.test(head) && head.includes('\x0e')) return 'iso-2022-kr'
    if (/\x1b\$[@B]|\x1b\(J|\x1b\$\(D/.test(head)) return 'iso-2022-jp'
  }
  return undefined
}

/** `<meta charset>`, `<meta http-equiv content="…charset=">`, `<?xml encoding>`, `@charset`. */
function declaredInMarkup(buffer: Buffer, within = MARKUP_HEAD): string | undefined {
  const head = buffer.toString('latin1', 0, within)
  const match =
    /<\?xml[^>]{0,200}?encoding\s*=\s*["']?([\w:.-]+)/i.exec(head) ??
    /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head) ??
    /^@charset\s+["']([\w:.-]+)/i.exec(head)
  const name = match && encodingNamed(match[1] as string)
  // Markup that can be read as ASCII is not UTF-16, whatever it says (WHATWG).
  return name && WIDE.has(name) ? 'utf-8' : (name ?? undefined)
}

/** Share of replacement characters among the characters beyond ASCII. */
function replacedShare(text: string): number {
  let beyond = 0
  let replaced = 0
  const length = Math.min(text.length, DETECT_BYTES)
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) beyond++
    if (code === 0xfffd) replaced++
  }
  return beyond === 0 ? 0 : replaced / beyond
}

/** True when the encoding explains less than four fifths of what is beyond ASCII. */
function isMostlyBroken(text: string): boolean {
  return replacedShare(text) > 0.2
}

const NON_LATIN = new Set([
  'shift_jis',
  'euc-jp',
  'euc-kr',
  'big5',
  'gb18030',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-8',
  'windows-1251',
  'windows-1253',
  'windows-1255',
  'windows-1256',
  'koi8-r',
])

/**
 * The likeliest encoding of a text that is no UTF-8. A short text of mostly ASCII letters is Western;
 * one of mostly high bytes is not, and only there the detector's word counts for other scripts.
 */
function detect(buffer: Buffer, markup = false): string {
  const sample = sampleOf(buffer, markup)
  const { high, share } = highBytes(sample)
  if (isThai(sample)) return 'windows-874'
  // The detector judges by frequency, so a few words are repeated to be heard at all. So does one odd sign count in them.
  const heard = sample.length < 64 ? Buffer.concat([sample, SPACE, sample, SPACE, sample]) : sample
  // In a word or two (Grüße) the accents weigh more; Asian and Cyrillic words have hardly another letter.
  const isWestern = share < 0.25 || (high < 8 && share < 0.6)
  for (const { name, confidence } of chardet.analyse(heard)) {
    const encoding = encodingNamed(name)
    if (!encoding || encoding === 'utf-8' || WIDE.has(encoding) || SEVEN_BIT.has(encoding)) continue
    if (isWestern) {
      if (NON_LATIN.has(encoding)) {
        // Some Asian words in a Latin text: the pairs must all be valid ones.
        if (confidence < 60 || !MULTI_BYTE.has(encoding) || high < 12) continue
      } else if (encoding !== 'windows-1252' && !isTurkish(encoding, confidence, sample))
        if (high < 8 || confidence < 30) continue
    } else if (!NON_LATIN.has(encoding) && high > 4 && share > 0.5) continue
    const text = decodeAs(buffer, encoding)
    if (text === undefined || replacedShare(text) >= 0.02 || /[\ue000-\uf8ff]/.test(text)) continue
    // Any bytes above 0xa0 are half-width kana to Shift_JIS; hardly anybody writes those.
    if (encoding === 'shift_jis' && halfWidthShare(text) > 0.5) continue
    if (CYRILLIC.includes(encoding)) return cyrillic(sample).name
    return encoding === 'windows-1252' ? likeliestLatin(heard) : encoding
  }
  if (!isWestern && cyrillic(sample).score > 0.35 * high) return cyrillic(sample).name
  return likeliestLatin(heard)
}

/** Bytes beyond ASCII, and their share among these and the ASCII letters. */
function highBytes(sample: Buffer): { high: number; share: number } {
  let high = 0
  let letters = 0
  for (const byte of sample) {
    if (byte > 0x7f) high++
    else if ((byte > 0x40 && byte < 0x5b) || (byte > 0x60 && byte < 0x7b)) letters++
  }
  return { high, share: high / Math.max(1, high + letters) }
}

/** A text called Western half of whose letters are beyond ASCII, and that the detector knows in another script. */
function isOfAnotherScript(buffer: Buffer, markup = false): boolean {
  const { high, share } = highBytes(sampleOf(buffer, markup))
  if (high < 16 || share < 0.5) return false
  const guess = detect(buffer, markup)
  return NON_LATIN.has(guess) || CYRILLIC.includes(guess) || guess === 'windows-874'
}

/**
 * Thai in its one-byte code (TIS-620): marks stand behind consonants only, and there are many. Words of it have any
 * length, those of the codes with two bytes a character an even one.
 */
function isThai(sample: Buffer): boolean {
  const text = sample.toString('latin1')
  const words = text.match(/[\x80-\xff]+/g) ?? []
  if (words.every((word) => word.length % 2 === 0)) return false
  if (words.some((word) => /[\x80-\xa0\xdb-\xde\xfc-\xff]/.test(word))) return false
  const marks = text.match(/[\xd1\xd4-\xda\xe7-\xee]/g)?.length ?? 0
  const rest = text.replace(/([\xa1-\xce])[\xd1\xd4-\xda\xe7-\xee]{1,3}/g, '$1')
  return marks >= 4 && !/[\xd1\xd4-\xda\xe7-\xee]/.test(rest)
}

/** ı, ş and ğ make Turkish of Latin-1; Icelandic, whose letters stand in their places, has æ as well. */
function isTurkish(encoding: string, confidence: number, sample: Buffer): boolean {
  if (!/-(1254|8859-9)$/.test(encoding) || confidence < 20) return false
  return sample.includes(0xfd) && sample.includes(0xfe) && !sample.includes(0xe6)
}

/**
 * Signs inside words, capitals behind small letters where one is beyond ASCII, and what is no character. The sign of
 * micro is a letter to Unicode, and stands before the capitals of units.
 */
const ODD_IN_WORDS =
  /(?<=\p{L})(?![\x00-\x7f’‘´·×®–—…“”„«»°])[^\p{L}\p{M}\s](?=\p{L})|[\x80-\x9f\ufffd]|ƒ(?=\p{L})|(?<=\p{L})ƒ|\p{Ll}(?![A-Z])\p{Lu}|\p{Lu}(?![A-Z])\p{Lu}\p{Ll}|(?![a-zµ])\p{Ll}\p{Lu}/gu
const LATIN = ['windows-1252', 'windows-1250', 'iso-8859-2', 'cp850', 'macintosh']

/**
 * The Latin encoding in whose reading words are made of letters: one that is wrong puts signs and capitals into their
 * midst (`GrŸ§e`). Western as long as its reading has hardly any.
 */
function likeliestLatin(sample: Buffer): string {
  const odd = (name: string): number => decodeAs(sample, name)?.match(ODD_IN_WORDS)?.length ?? 0
  const western = odd('windows-1252')
  if (western < 2) return 'windows-1252'
  let best = 'windows-1252'
  let least = western / 4
  for (const name of LATIN.slice(1)) {
    const count = odd(name)
    if (count >= least) continue
    least = count
    best = name
  }
  return best
}

const CYRILLIC = ['windows-1251', 'koi8-r', 'iso-8859-5', 'ibm866', 'x-mac-cyrillic']

/**
 * The Cyrillic encoding whose reading looks most like words: they differ in which letters and which
 * case they make of the same bytes, and the detector tells them apart only in long texts.
 *
 * @returns `score`: letters that are common in it, less twice what stands in no word
 */
function cyrillic(sample: Buffer): { name: string; score: number } {
  let best = CYRILLIC[0] as string
  let most = -Infinity
  for (const name of CYRILLIC) {
    const text = decodeAs(sample, name) ?? ''
    const common = text.match(/[оеаинтсрвлкмд]/g)?.length ?? 0
    const odd = text.match(/[а-яё][А-ЯЁ]|[^\x00-\x7fа-яёА-ЯЁіїєґўІЇЄҐ«»—–…№“”„]/g)?.length ?? 0
    if (common - 2 * odd > most) {
      most = common - 2 * odd
      best = name
    }
  }
  return { name: best, score: most }
}

function halfWidthShare(text: string): number {
  let beyond = 0
  let half = 0
  for (let i = 0; i < Math.min(text.length, DETECT_BYTES); i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) beyond++
    if (code >= 0xff61 && code <= 0xff9f) half++
  }
  return beyond === 0 ? 0 : half / beyond
}

const SPACE = Buffer.from(' ')

/** The stretch around the first high byte, without tags: a long English head must not hide the rest. */
function sampleOf(buffer: Buffer, markup = false): Buffer {
  const text = markup
    ? Buffer.from(withoutTags(buffer.toString('latin1', 0, 4 * DETECT_BYTES)), 'latin1')
    : buffer
  if (text.length <= DETECT_BYTES) return text
  let first = 0
  while (first < text.length && (text[first] as number) < 0x80) first++
  return text.subarray(Math.min(first, text.length - DETECT_BYTES), first + DETECT_BYTES)
}

/** What stands between tags, scripts and styles, in one pass. */
function withoutTags(page: string): string {
  const pieces: string[] = []
  let from = 0
  for (let at = page.indexOf('<'); at >= 0; at = page.indexOf('<', from)) {
    pieces.push(page.slice(from, at))
    const hidden = /^<(script|style)\b/i.exec(page.slice(at, at + 8))?.[1]
    const end = hidden ? page.indexOf(`</${hidden}`, at) : page.indexOf('>', at)
    from = end < 0 ? page.length : end + 1
  }
  pieces.push(page.slice(from))
  return pieces.join(' ')
}
