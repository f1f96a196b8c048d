/**
 * Every cap there is, with its unit in the name and its default. A limit cuts and records
 * (`cutBy`, `too-large`, `skipped-tiny`); it never loses what was already read.
 */
export interface Limits {
  /** Bytes of one message file; a larger one is indexed by its headers and what its first bytes hold. */
  readonly messageBytes: number
  /** MIME leaves read of one message. */
  readonly messageParts: number
  /** Depth of nested multiparts and messages in one message. */
  readonly mimeDepth: number
  /** Decoded bytes of one attachment; a larger one is `too-large` and never read. */
  readonly partBytes: number
  /** Bytes inflated out of one attachment, everything nested in it included. */
  readonly archiveBytes: number
  /** Entries opened in one attachment, everything nested in it included. */
  readonly archiveEntries: number
  /** Documents inside documents: mail in zip in mail is 2 deep. */
  readonly nesting: number
  /** Open XML elements at one time. */
  readonly xmlDepth: number
  /** Cells with a value read of one workbook. */
  readonly cells: number
  /** Pages recognised of one document. */
  readonly ocrPages: number
  /** Pixels of one page or picture given to OCR; larger ones are scaled down, or declined before decoding when ten times over. */
  readonly ocrPixels: number
  /** A smaller picture, in bytes, is `skipped-tiny`. */
  readonly imageBytesMin: number
  /** A picture narrower on its short side, in pixels, is `skipped-tiny`. */
  readonly imageShortSideMin: number
  /** Characters (UTF-16 units) kept of one content. */
  readonly textChars: number
  /** Characters of attachment text put into the index for one message. */
  readonly messageChars: number
  /** Milliseconds to read and parse one message. */
  readonly parseTimeoutMs: number
  /** Milliseconds for one content without OCR. */
  readonly textTimeoutMs: number
  /** Milliseconds to recognise one page. */
  readonly ocrPageTimeoutMs: number
  /** Milliseconds for one content with OCR. */
  readonly documentTimeoutMs: number
  /** Transient failures before a content is given up. */
  readonly maxAttempts: number
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  messageBytes: 150_000_000,
  messageParts: 1_000,
  mimeDepth: 50,
  partBytes: 25_000_000,
  archiveBytes: 50_000_000,
  archiveEntries: 10_000,
  nesting: 5,
  xmlDepth: 2_000,
  cells: 2_000_000,
  ocrPages: 50,
  ocrPixels: 25_000_000,
  imageBytesMin: 10_000,
  imageShortSideMin: 128,
  textChars: 5_000_000,
  messageChars: 10_000_000,
  parseTimeoutMs: 30_000,
  textTimeoutMs: 30_000,
  ocrPageTimeoutMs: 60_000,
  documentTimeoutMs: 600_000,
  maxAttempts: 3,
})
