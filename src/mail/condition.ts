/**
 * Makes bytes that were once a mail readable as one: what stands before the head is taken off, line
 * ends are made usable, a head without its closing empty line gets one, an endless head is cut.
 *
 * Changes nothing in a mail that is well-formed. Never guesses at content.
 */
import { HEAD_BYTES } from './head.js'

/** A separator line of an mbox file, plain or quoted, or one that a mailer left on top. */
const FROM_LINE = /^>?From [^\n]*\n/

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

/** @param bytes from the head on (`headStart`) */
export function repair(bytes: Buffer): { mail: Buffer; problems: string[] } {
  const problems: string[] = []
  let mail = bytes
  if (mail.indexOf(0x0a) < 0 && mail.indexOf(0x0d) >= 0) {
    mail = Buffer.from(mail)
    for (let at = mail.indexOf(0x0d); at >= 0; at = mail.indexOf(0x0d, at + 1)) mail[at] = 0x0a
    problems.push('lines end in a bare carriage return')
  }

  let at = 0
  let fields = 0
  while (at < mail.length) {
    const line = lineAt(mail, at)
    if (line.text === '') return { mail, problems }
    if (at > HEAD_BYTES) {
      problems.push(`the head is longer than ${HEAD_BYTES} bytes and was cut`)
      return { mail: withEmptyLine(mail, at, skipHead(mail, at)), problems }
    }
    const isField = FIELD.test(line.text)
    const isContinuation = fields > 0 && /^[ \t]/.test(line.text)
    if (isField) fields++
    else if (!isContinuation && !/^>?From /.test(line.text)) {
      const after = lineAt(mail, line.next)
      // A folded line that lost its blank stands between fields; anything else is the body.
      if (
        fields > 0 &&
        (FIELD.test(after.text) ||
          (after.text === '' && fields > 2 && line.text.length < 998 && !line.isLast))
      ) {
        problems.push('a line of the head is no field')
      } else {
        problems.push(fields === 0 ? 'there is no head' : 'no empty line ends the head')
        return { mail: withEmptyLine(mail, at, at), problems }
      }
    }
    at = line.next
  }
  if (mail.length > 0 && fields > 0) problems.push('the mail ends within its head')
  else problems.push(mail.length === 0 ? 'the file is empty' : 'there is no head')
  return {
    mail: fields > 0 ? withEmptyLine(mail, mail.length, mail.length) : withEmptyLine(mail, 0, 0),
    problems,
  }
}

const FIELD = /^[\x21-\x39\x3b-\x7e]{1,100}[ \t]*:/

function lineAt(mail: Buffer, at: number): { text: string; next: number; isLast: boolean } {
  let end = mail.indexOf(0x0a, at)
  const isLast = end < 0
  if (isLast) end = mail.length
  let stop = Math.min(end, at + 1000)
  while (stop > at && mail[stop - 1] === 0x0d) stop--
  return { text: mail.toString('latin1', at, stop), next: end + 1, isLast }
}

/** From within a head to the empty line that ends it. */
function skipHead(mail: Buffer, at: number): number {
  const lf = mail.indexOf('\n\n', at)
  const crlf = mail.indexOf('\n\r\n', at)
  if (lf < 0 && crlf < 0) return mail.length
  return lf >= 0 && (crlf < 0 || lf < crlf) ? lf + 2 : crlf + 3
}

function withEmptyLine(mail: Buffer, end: number, bodyStart: number): Buffer {
  const head = mail.subarray(0, end)
  const closing = head.length === 0 || head[head.length - 1] === 0x0a ? '\n' : '\n\n'
  return Buffer.concat([head, Buffer.from(closing), mail.subarray(bodyStart)])
}
