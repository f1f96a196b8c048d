/**
 * Apple Mail's files: a line with the length of the mail, the mail, a property list with flags.
 * `.partial.emlx` holds a mail whose attachments lie beside it, in Attachments/NUMBER/PART/.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { FLAGS } from '../part/reference.js'

/** Cuts the mail out of the file; bytes that are no emlx stay as they are. */
export function mailOfEmlx(bytes: Buffer): Buffer {
  const line = /^\s*(\d{1,12})[ \t]*\r?\n/.exec(bytes.toString('latin1', 0, 40))
  if (!line) return bytes
  const start = line[0].length
  return bytes.subarray(start, Math.min(bytes.length, start + Number(line[1])))
}

/** Bytes at a file's end that hold the property list. */
const TAIL = 4096

/** FLAGS bits from the property list at the end of the file. */
export function flagsOfEmlx(path: string | Buffer): number {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const buffer = Buffer.alloc(Math.min(TAIL, size))
    readSync(file, buffer, 0, buffer.length, size - buffer.length)
    const value = /<key>flags<\/key>\s*<(?:integer|real)>(\d{1,20})/.exec(
      buffer.toString('latin1'),
    )?.[1]
    if (value === undefined) return FLAGS.seen
    const bits = BigInt(value)
    let flags = 0
    for (const [bit, flag] of BITS) if ((bits >> bit) & 1n) flags |= flag
    return flags
  } finally {
    closeSync(file)
  }
}

const BITS: ReadonlyArray<[bigint, number]> = [
  [0n, FLAGS.seen],
  [1n, FLAGS.trashed],
  [2n, FLAGS.answered],
  [4n, FLAGS.flagged],
  [6n, FLAGS.draft],
  [8n, FLAGS.passed],
]

/**
 * A partial mail with its attachments: the mail as it is becomes the first part of a new multipart.
 *
 * @param files what lies beside the mail
 */
export function withAttachments(
  mail: Buffer,
  files: ReadonlyArray<{ name: string; bytes: Buffer }>,
): Buffer {
  if (files.length === 0) return mail
  const lf = mail.indexOf('\n\n', 0, 'latin1')
  const crlf = mail.indexOf('\n\r\n', 0, 'latin1')
  const end = lf >= 0 && (crlf < 0 || lf < crlf) ? lf + 1 : crlf >= 0 ? crlf + 1 : mail.length
  const fields = mail.toString('latin1', 0, end).split(/\r?\n(?![ \t])/)
  const isContent = (field: string): boolean => /^content-/i.test(field)
  const boundary = '=_paperknife_emlx_='
  const outer = fields.filter((field) => field !== '' && !isContent(field))
  const inner = fields.filter((field) => isContent(field))
  const pieces: Array<string | Buffer> = [
    `${outer.join('\n')}\nContent-Type: multipart/mixed; boundary="${boundary}"\n\n--${boundary}\n`,
    `${inner.join('\n')}${inner.length > 0 ? '\n' : ''}`,
    mail.subarray(end),
  ]
  for (const { name, bytes } of files) {
    const quoted = encodeURIComponent(name).replace(
      /['()*]/g,
      (c) => `%${c.charCodeAt(0).toString(16)}`,
    )
    pieces.push(
      `\n--${boundary}\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n` +
        `Content-Disposition: attachment; filename*=utf-8''${quoted}\n\n${bytes.toString('base64')}`,
    )
  }
  pieces.push(`\n--${boundary}--\n`)
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)),
  )
}
