/** Shapes that cross between the store and those who use it (sweep/, search, api.ts). */
import type { FoldedColumns } from '../fold/columns.js'
import type { PackedBlock } from '../fold/texts.js'
import type { ReadResult } from '../part/outcome.js'
import type { MessageReference } from '../part/reference.js'
import type { ContentState, Lane, ReadReason } from '../part/states.js'

/** A folder as it was when it was last scanned. */
export interface FolderRow {
  id: number
  path: string
  name: string
  kind: string
  fingerprint: string
  /** ms since 1970 of the last scan; 0 while the fingerprint cannot be trusted. */
  scanned: number
  /** ms since 1970 of the last full check. */
  fullCheck: number
}

/** What reconcile compares with the vault's listing. */
export interface EntryRow {
  id: number
  folder: number
  path: string
  offset: number | null
  bytes: number | null
  unique: string
  flags: number
  size: number
  mtimeMs: number
  /** 0 when it is not known. */
  ctimeMs: number
  inode: number
  messageId: string
}

/** A document of a message. */
export interface PartInput {
  /** Place in the MIME tree. */
  path: string
  name: string
  declaredType: string
  disposition: 'attachment' | 'inline'
  /** Decoded bytes. */
  size: number
  /** SHA-256, 64 hex digits. */
  hash: string
  /** Queue that reads the content first. */
  lane: Lane
}

/** A message as a worker hands it over: parsed, folded and packed, nothing left to compute but its place. */
export interface MessageInput extends MessageReference {
  folder: number
  unique: string
  flags: number
  size: number
  mtimeMs: number
  /** Default 0: not known. */
  ctimeMs?: number
  inode: number
  /** Seconds since 1970, chosen by `chooseDate` (row-ids.ts). */
  date: number
  messageId: string
  references: readonly string[]
  inReplyTo: readonly string[]
  subject: string
  from: readonly PersonRow[]
  to: readonly PersonRow[]
  /** Cc and Bcc. */
  cc: readonly PersonRow[]
  labels: readonly string[]
  parts: readonly PartInput[]
  columns: FoldedColumns
  /** What of the mail was not read, one sentence each. Default none. */
  losses?: readonly string[]
  /** Packed by `packBody`; null when texts are not kept. */
  body: readonly Uint8Array[] | null
  /**
   * Revision of extracts.db that `columns.attachments` holds, when it was folded from the recorded texts of
   * all parts (a new mail written once, complete). 0, the default: the column is empty, and the message is
   * queued for a rewrite by itself when a part's text is already known.
   */
  revision?: number
}

export interface PersonRow {
  name: string
  address: string
}

/** A content as it stands in extracts.db. */
export interface ContentRow {
  id: number
  /** 64 hex digits. */
  hash: string
  size: number
  state: ContentState
  lane: Lane
  why: ReadReason
  newest: number
  attempts: number
  due: number
  revision: number
  recorded: number
  declaredType: string
  type: string | null
  extractor: string | null
  version: number | null
  engine: string | null
  pages: number | null
  ocrPages: number | null
  pagesToOcr: number | null
  ms: number | null
  chars: number | null
  empty: string | null
  cutBy: string | null
  detail: string | null
  limits: string | null
  languages: string | null
  passwords: string | null
}

/** A content taken for work. `claim` is the token its outcome must show. */
export interface ClaimedContent extends ContentRow {
  claim: number
}

/** What becomes of a claimed content. The state is decided by sweep/transition.ts. */
export interface ContentOutcome {
  id: number
  claim: number
  state: ContentState
  lane: Lane
  why: ReadReason
  attempts: number
  /** Seconds since 1970, for failed-transient. */
  due?: number
  /** Absent when nothing was read: a fault, a claim given back. What was recorded before then stays. */
  result?: ReadResult
  /** `result`'s pages, packed in the worker; absent or empty when texts are not kept. */
  text?: readonly PackedBlock[]
  /** UTF-16 units of the text. */
  chars?: number
  /** What happened, for a fault. */
  detail?: string
  /** Fingerprints of what the result depended on; absent where it did not. */
  limits?: string
  languages?: string
  passwords?: string
}

/** Which contents an operator or a check asks for. All given conditions hold together. */
export interface ContentFilter {
  states?: readonly ContentState[]
  /** Matches `empty` or `cutBy` exactly, or a part of `detail`. */
  reason?: string
  /** Media type, exact or with `*`, or the name of an extractor, or a file name ending. */
  type?: string
  /** File name of a part that carries the content, with `*` and `?`, case ignored. */
  name?: string
  /** Seconds since 1970: carried by a message at least this new. */
  since?: number
  hashes?: readonly string[]
}

/** Contents by state, from kept counts: costs the same at any size. */
export interface Coverage {
  contents: number
  /** ok */
  readable: number
  /** pending, extracting, failed-transient */
  pending: number
  /** the rest: unsupported, too-large, skipped-tiny, locked, damaged, gave-up */
  unreadable: number
}

/** What waits to be read, of one declared type in one lane. */
export interface BacklogWork {
  lane: Lane
  type: string
  contents: number
  bytes: number
  /** Pages that are known to need OCR. */
  pages: number
  /** Contents of which it is not known whether they have such pages, and how many of them have 10,000 bytes and more. */
  unseen: number
  unseenLarge: number
}

/** What the last readings of one declared type took, with OCR and without. Sums. */
export interface Rate {
  type: string
  /** 1: pages were recognised. */
  isRecognised: number
  contents: number
  ms: number
  bytes: number
  bytesSquared: number
  bytesMs: number
  ocrPages: number
  /** Pages that still wait for OCR. */
  pagesWaiting: number
}
