/** What a thread makes of one message: nothing is left to compute but its place in the index. */
import type { FoldedColumns } from '../fold/columns.js'

export interface ParsedPerson {
  name: string
  address: string
}

export interface ParsedPart {
  /** Place in the MIME tree. */
  path: string
  name: string
  declaredType: string
  disposition: 'attachment' | 'inline'
  /** Decoded bytes. */
  size: number
  /** SHA-256, 64 hex digits. */
  hash: string
}

export interface ParsedMessage {
  kind: 'parsed'
  /** Where it lay: another path than asked for when it was renamed meanwhile. */
  path: string
  messageId: string
  references: string[]
  inReplyTo: string[]
  subject: string
  from: ParsedPerson[]
  to: ParsedPerson[]
  /** Cc and Bcc. */
  cc: ParsedPerson[]
  labels: string[]
  /** Seconds since 1970, null when missing or unreadable. */
  date: number | null
  received: number | null
  parts: ParsedPart[]
  columns: FoldedColumns
  /** Packed body (fold/texts.ts); empty when texts are not kept. */
  body: Uint8Array[]
  /** What of the mail was not read, one sentence each. */
  losses: string[]
}

/** A message that is not there any more, or that the system does not let us read now. */
export interface UnreadMessage {
  kind: 'gone' | 'unreadable'
  detail: string
}
