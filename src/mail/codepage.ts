/**
 * Windows and Macintosh code pages by number, as Office files of before Unicode name them.
 *
 * Not responsible for guessing: a file that names no code page is decoded with the one its caller gives.
 */
import iconv from 'iconv-lite'
import { decodeJohab } from './johab.js'

/** Code pages whose usual name is not `cp<number>`. */
const NAMES: Record<number, string> = {
  367: 'us-ascii',
  708: 'iso-8859-6',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  1200: 'utf-16le',
  1201: 'utf-16be',
  1250: 'windows-1250',
  1251: 'windows-1251',
  1252: 'windows-1252',
  1253: 'windows-1253',
  1254: 'windows-1254',
  1255: 'windows-1255',
  1256: 'windows-1256',
  1257: 'windows-1257',
  1258: 'windows-1258',
  1361: 'johab',
  10000: 'macintosh',
  10001: 'shift_jis',
  10002: 'big5',
  10003: 'euc-kr',
  10004: 'windows-1256',
  10005: 'windows-1255',
  10006: 'macgreek',
  10007: 'x-mac-cyrillic',
  10008: 'gbk',
  10010: 'macromania',
  10017: 'x-mac-cyrillic',
  10021: 'windows-874',
  10029: 'maccenteuro',
  10079: 'maciceland',
  10081: 'macturkish',
  10082: 'maccroatian',
  20127: 'us-ascii',
  20866: 'koi8-r',
  20932: 'euc-jp',
  20936: 'gbk',
  21866: 'koi8-u',
  32768: 'macintosh',
  32769: 'windows-1252',
  50220: 'iso-2022-jp',
  50221: 'iso-2022-jp',
  50222: 'iso-2022-jp',
  51932: 'euc-jp',
  51936: 'gbk',
  51949: 'euc-kr',
  52936: 'gbk',
  54936: 'gb18030',
  65000: 'utf-7',
  65001: 'utf-8',
}

type Decode = (bytes: Uint8Array) => string

const DECODERS = new Map<number, Decode>()

/** Name of a code page, lower case; `windows-1252` for a number that nobody knows. */
export function codePageName(codePage: number): string {
  const name = NAMES[codePage]
  if (name) return name
  if (codePage >= 28591 && codePage <= 28606) return `iso-8859-${codePage - 28590}`
  return iconv.encodingExists(`cp${codePage}`) ? `cp${codePage}` : 'windows-1252'
}

/** Decodes bytes by code page number. Never throws; an unknown number is read as 1252. */
export function decodeCodePage(bytes: Uint8Array, codePage: number): string {
  let decode = DECODERS.get(codePage)
  if (!decode) DECODERS.set(codePage, (decode = decoderFor(codePageName(codePage))))
  return decode(bytes)
}

/** True for code pages in which a character may take two bytes. */
export function isDoubleByte(codePage: number): boolean {
  return /^(shift_jis|gbk|gb18030|euc-|big5|johab)/.test(codePageName(codePage))
}

function decoderFor(name: string): Decode {
  if (name === 'johab') return decodeJohab
  try {
    const decoder = new TextDecoder(name, { ignoreBOM: true })
    // Node 20.20's own decoder reads 0x80 to 0x9F of windows-1252 as controls.
    if (decoder.encoding === 'windows-1252') return (bytes) => iconv.decode(bytes, 'windows-1252')
    return (bytes) => decoder.decode(bytes)
  } catch {
    return (bytes) => iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), name)
  }
}
