/**
 * Names on disk: bytes that are no UTF-8, the modified UTF-7 of Maildir++ folders, Maildir file names.
 */
import { isUtf8 } from 'node:buffer'
import { FLAGS } from '../part/reference.js'

/**
 * A name as text. Bytes that are no UTF-8 become `\xNN`, and so does the backslash, so that the text
 * can be turned back (`nameBytes`).
 */
export function nameText(bytes: Buffer): string {
  if (isUtf8(bytes)) {
    const text = bytes.toString('utf8')
    return text.includes('\\') && SEPARATOR !== '\\' ? text.replaceAll('\\', '\\x5c') : text
  }
  let out = ''
  let i = 0
  while (i < bytes.length) {
    const length = sequenceLength(bytes, i)
    if (length === 0 || bytes[i] === 0x5c)
      out += `\\x${(bytes[i++] as number).toString(16).padStart(2, '0')}`
    else {
      out += bytes.toString('utf8', i, i + length)
      i += length
    }
  }
  return out
}

const SEPARATOR = process.platform === 'win32' ? '\\' : '/'

function sequenceLength(bytes: Buffer, at: number): number {
  for (const length of [1, 2, 3, 4])
    if (at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length))) return length
  return 0
}

/** A path for the system from vault-relative text: a string, or bytes when the text holds escapes. */
export function systemPath(root: string, path: string): string | Buffer {
  const whole = path === '' ? root : `${root}/${path}`
  if (!path.includes('\\x')) return whole
  const pieces: Buffer[] = [Buffer.from(`${root}/`)]
  let from = 0
  for (const match of path.matchAll(/\\x([0-9a-f]{2})/g)) {
    pieces.push(
      Buffer.from(path.slice(from, match.index)),
      Buffer.from([parseInt(match[1] as string, 16)]),
    )
    from = match.index + match[0].length
  }
  pieces.push(Buffer.from(path.slice(from)))
  return Buffer.concat(pieces)
}

/** Name of a Maildir file without its flags, and its flags. `:2,`; `;2,` and `!2,` where `:` is no letter of a name. */
export function maildirName(name: string): { unique: string; flags: number } {
  const match = /[:;!]2,([^/]*)$/.exec(name)
  if (!match) return { unique: name, flags: 0 }
  let flags = 0
  for (const letter of match[1] as string) flags |= MAILDIR_FLAGS[letter] ?? 0
  return { unique: name.slice(0, match.index), flags }
}

const MAILDIR_FLAGS: Record<string, number> = {
  S: FLAGS.seen,
  F: FLAGS.flagged,
  R: FLAGS.answered,
  D: FLAGS.draft,
  T: FLAGS.trashed,
  P: FLAGS.passed,
}

/** A mailbox name in modified UTF-7 (RFC 3501 section 5.1.3) as text; what is no such name stays as it is. */
export function fromModifiedUtf7(name: string): string {
  if (!name.includes('&')) return name
  return name.replace(/&([A-Za-z0-9+,]*)-/g, (whole, coded: string) => {
    if (coded === '') return '&'
    const bytes = Buffer.from(coded.replaceAll(',', '/'), 'base64')
    if (bytes.length < 2) return whole
    return bytes
      .subarray(0, bytes.length & ~1)
      .swap16()
      .toString('utf16le')
  })
}
