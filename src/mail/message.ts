/** The shape that parsing a message gives. No words are folded here and nothing is stored. */
import type { Limits } from '../part/limits.js'

export interface Person {
  /** Display name, decoded; empty when there is none. */
  name: string
  /** `local@domain`, as written; may be empty in broken mail. */
  address: string
}

/** A MIME leaf that a reader sees as a document, or a whole nested message. */
export interface Part {
  /**
   * Position in the MIME tree, from 1, `2.1`. Stable for the same bytes. A file written into a text
   * body (uuencode, yEnc) has the position of the text and its number: `1.file1`.
   */
  path: string
  /** File name, decoded; empty when the mail gives none. */
  name: string
  /** Media type as declared, lower case, without parameters. */
  declaredType: string
  /** Character set as declared beside the type; empty when none. */
  charset: string
  disposition: 'attachment' | 'inline'
  /** SHA-256 of the decoded bytes, 64 hex digits. */
  hash: string
  /** Decoded bytes. */
  size: number
  /** The decoded bytes, when they were asked for and are within `partBytes`. */
  bytes?: Uint8Array
}

export interface Message {
  /** Without angle brackets; empty when missing. At most 998 characters. */
  messageId: string
  inReplyTo: string[]
  references: string[]
  subject: string
  from: Person[]
  to: Person[]
  cc: Person[]
  bcc: Person[]
  /** Seconds since 1970 of the Date header, or null when it is missing or unreadable. */
  date: number | null
  /** Seconds since 1970 of the newest Received header, or null. */
  received: number | null
  /** Readable body text: plain text, else text made from HTML. */
  body: string
  parts: Part[]
  /** X-Gmail-Labels or X-Keywords, for sources that keep folders in headers. */
  labels: string[]
  /** What is odd about the mail, a sentence each; all of it was read. */
  problems: string[]
  /** What of the mail was not read, by a limit or for damage, a sentence each; the rest of it was. */
  losses: string[]
}

/** The loss of a mail that has more of them. */
export const tooManyParts = ({ messageParts }: Limits): string =>
  `more than ${messageParts} parts; the rest was not read`
