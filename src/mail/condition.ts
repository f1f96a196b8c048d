/**
 * Makes bytes that were once a mail readable as one: what stands before the head is taken off, line
 * ends are made usable, a head without its closing empty line gets one, an endless head is cut.
 *
 * Changes nothing in a mail that is well-formed. Never guesses at content.
 */
import { decodeText } from './charset.js'
import { HEAD_BYTES } from './head.js'

/** A separator line of an mbox file, plain or quoted, or one that a mailer left on top. */
const FROM_LINE = /^>?From [^\n]*\n/

/**
 * A mail that was saved as UTF-16, as UTF-8; any other as it is.
 */
export function fromWide(bytes: Buffer): Buffer {
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff
  const isBare =
    bytes.length > 16 && !isLittle && !isBig && (isField16(bytes, 0, 1) || isField16(bytes, 1, 0))
  if (!isLittle && !isBig && !isBare) return bytes
  const declared = isBig || (isBare && isField16(bytes, 1, 0)) ? 'utf-16be' : 'utf-16le'
  return Buffer.from(decodeText(bytes, { declared }).text, 'utf8')
}

/** Letters of a field's name with zeros between them. */
function isField16(bytes: Buffer, letter: number, zero: number): boolean {
  for (let i = 0; i < 8; i += 2)
    if (
      bytes[i + zero] !== 0 ||
      !/[A-Za-z-]/.test(String.fromCharCode(bytes[i + letter] as number))
    )
      return false
  return true
}

/**
 * What stands before the head: a byte order mark, blank lines, an mbox separator.
 *
 * @returns where the head begins
 */
export function headStart(bytes: Buffer): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === 0x0a || byte === 0x0d) at++
    else if (byte === 0x46 || byte === 0x3e) {
      const line = FROM_LINE.exec(bytes.toString('latin1', at, at + 1000))
      if (!line) break
      at += line[0].length
    } else if (byte === 0x20 || byte === 0x09 || byte === 0) {
      // A line of blanks only.
      let i = at
      while (bytes[i] === 0x20 || bytes[i] === 0x09 || bytes[i] === 0) i++
      if (bytes[i] !== 0x0a && bytes[i] !== 0x0d) break
      at = i
    } else break
  }
  return at
}

export interface Repaired {
  mail: Buffer
  /** What is odd about it, and what of it is not in `mail`; see Message. */
  problems: string[]
  losses: string[]
}

/** @param bytes from the head on (`headStart`) */
export function repair(bytes: Buffer): Repaired {
  const problems: string[] = []
  const losses: string[] = []
  let mail = bytes
  const firstFeed = mail.indexOf(0x0a)
  const firstReturn = mail.indexOf(0x0d)
  // Old Macintosh line ends, perhaps with a line feed of somebody else's further down.
  if (
    firstReturn >= 0 &&
    (firstFeed < 0 ||
      /\r[^\n]*\r[^\r\n]/.test(mail.toString('latin1', 0, Math.min(firstFeed, 2000))))
  ) {
    mail = Buffer.from(mail)
    for (let at = firstReturn; at >= 0; at = mail.indexOf(0x0d, at + 1))
      if (mail[at + 1] !== 0x0a) mail[at] = 0x0a
    problems.push('lines end in a bare carriage return')
  }

  let at = 0
  let fields = 0
  /** Pieces of a head whose folded lines lost their blank; what is before `kept` is in them. */
  const pieces: Buffer[] = []
  let kept = 0
  const done = (headEnd: number, bodyStart: number): Repaired => {
    if (pieces.length === 0 && headEnd === bodyStart && headEnd === at && isBlank)
      return { mail, problems, losses }
    const head = Buffer.concat([...pieces, mail.subarray(kept, headEnd)])
    const closing = head.length === 0 || head[head.length - 1] === 0x0a ? '\n' : '\n\n'
    const whole = Buffer.concat([head, Buffer.from(closing), mail.subarray(bodyStart)])
    return { mail: whole, problems, losses }
  }
  let isBlank = false
  while (at < mail.length) {
    const line = lineAt(mail, at)
    if (line.text === '') {
      isBlank = true
      return done(at, pieces.length === 0 ? at : line.next)
    }
    if (at > HEAD_BYTES) {
      losses.push(`the head is longer than ${HEAD_BYTES} bytes and was cut`)
      return done(at, skipHead(mail, at))
    }
    if (FIELD.test(line.text)) fields++
    else if (!(fields > 0 && /^[ \t]/.test(line.text)) && !/^>?From /.test(line.text)) {
      // A folded line that lost its blank has fields after it; anything else is the body.
      if (fields === 0 || !isFieldAhead(mail, line.next)) {
        problems.push(fields === 0 ? 'there is no head' : 'no empty line ends the head')
        return done(at, at)
      }
      note(problems, 'a line of the head is no field')
      pieces.push(mail.subarray(kept, at), BLANK)
      kept = at
    }
    at = line.next
  }
  if (mail.length === 0) problems.push('the file is empty')
  else problems.push(fields > 0 ? 'the mail ends within its head' : 'there is no head')
  return done(fields > 0 ? mail.length : 0, fields > 0 ? mail.length : 0)
}

const BLANK = Buffer.from(' ')

/** Fields that tell a head from prose with a colon in it. */
const KNOWN =
  /^(?:from|to|cc|subject|date|message-id|mime-version|received|reply-to|references|in-reply-to|return-path|sender|content-[\w-]+|x-[\w-]+|dkim-signature|list-[\w-]+)[ \t]*:/i

/** Whether a field that mail has comes before the next empty line, or nothing but fields. */
function isFieldAhead(mail: Buffer, from: number): boolean {
  let at = from
  let fields = 0
  let isProse = false
  for (let lines = 0; lines < 60 && at < mail.length; lines++) {
    const line = lineAt(mail, at)
    if (line.text === '') break
    if (KNOWN.test(line.text)) return true
    if (FIELD.test(line.text)) fields++
    else if (!/^[ \t]/.test(line.text)) isProse = true
    at = line.next
  }
  return fields > 0 && !isProse
}

const FIELD = /^[\x21-\x39\x3b-\x7e]{1,100}[ \t]*:/

function lineAt(mail: Buffer, at: number): { text: string; next: number } {
  let end = mail.indexOf(0x0a, at)
  if (end < 0) end = mail.length
  let stop = Math.min(end, at + 1000)
  while (stop > at && mail[stop - 1] === 0x0d) stop--
  return { text: mail.toString('latin1', at, stop), next: end + 1 }
}

/** From within a head to the empty line that ends it. */
function skipHead(mail: Buffer, at: number): number {
  const lf = mail.indexOf('\n\n', at)
  const crlf = mail.indexOf('\n\r\n', at)
  if (lf < 0 && crlf < 0) return mail.length
  return lf >= 0 && (crlf < 0 || lf < crlf) ? lf + 2 : crlf + 3
}

function note(problems: string[], problem: string): void {
  if (!problems.includes(problem)) problems.push(problem)
}
