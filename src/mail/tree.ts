/** What both readers of the MIME structure (plain.ts, lenient.ts) give: the root's head and the leaves. */
import type { Head } from './head.js'

export interface Multipart {
  /** Position in the tree, `''` for the root. */
  path: string
  /** `mixed`, `alternative`, … */
  subtype: string
}

export interface Leaf {
  /** Position in the MIME tree, from 1, `2.1`. */
  path: string
  head: Head
  /** The multiparts around it, outermost first. */
  within: readonly Multipart[]
  /** Content as it stands in the mail, transfer encoding not undone. */
  raw: Buffer
}

export interface Tree {
  head: Head
  leaves: Leaf[]
  /** What is odd about it; see Message. */
  problems: string[]
  /** What of it was not read. */
  losses: string[]
}
