/**
 * Where a message of an mbox file begins, and the quoting of its lines: mboxo, mboxrd, mboxcl and mboxcl2 (RFC 4155).
 *
 * A message begins at a `From ` line that holds a date and is followed by a field, so that prose in a body begins
 * none. For files of a vault, which are streamed (vault/mbox.ts), and for attached ones (extract/mail.ts).
 */

/** A separator line, without its line end; the date may stand with or without zone and seconds. */
const SEPARATOR =
  /^From (?:- |\S.{0,300}? |)(?:[A-Z][a-z]{2},? {1,2})?(?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2}) .{0,60}\d{4}|^From - *$/
const FIELD = /^(?:[\x21-\x39\x3b-\x7e]{1,100}[ \t]*:|>?From )/

/** Whether a line that separates messages begins at `at`, with the line behind it as far as it is there. */
export function isSeparator(buffer: Buffer, at: number): boolean {
  if (buffer[at] !== 0x46 || buffer.toString('latin1', at, at + 5) !== 'From ') return false
  let end = buffer.indexOf(0x0a, at)
  if (end < 0 || end - at > 500) return false
  const next = buffer.toString('latin1', end + 1, end + 110)
  if (buffer[end - 1] === 0x0d) end--
  // The cheap test first.
  return FIELD.test(next) && SEPARATOR.test(buffer.toString('latin1', at, end))
}

/** Takes one `>` off lines that begin with `>From ` or `>>From `, which mboxo and mboxrd put there. */
export function unquoted(bytes: Buffer): Buffer {
  let found = bytes.indexOf('From ', 1, 'latin1')
  const marks: number[] = []
  while (found > 0) {
    let at = found
    while (bytes[at - 1] === 0x3e) at--
    if (at < found && bytes[at - 1] === 0x0a) marks.push(at)
    found = bytes.indexOf('From ', found + 5, 'latin1')
  }
  if (marks.length === 0) return bytes
  const pieces: Buffer[] = []
  let from = 0
  for (const mark of marks) {
    pieces.push(bytes.subarray(from, mark))
    from = mark + 1
  }
  pieces.push(bytes.subarray(from))
  return Buffer.concat(pieces)
}
