/** What every kind of mail store on disk offers: folders, their entries, and the bytes of one. */
import type { MessageReference } from '../part/reference.js'

export interface VaultFolder {
  /** Vault-relative path of the directory or mbox file; `''` is the vault itself. */
  path: string
  /** As a person reads it and `in:` matches it: `INBOX`, `Archive/2014`. */
  name: string
  kind: 'maildir' | 'eml' | 'mbox' | 'mh' | 'emlx' | 'file'
  /** A value that changes when entries were added, removed or renamed (directory times, file size); compared as text. */
  fingerprint: string
  /** True when the folder changed so recently that its fingerprint cannot be trusted yet. */
  isFresh: boolean
}

export interface VaultEntry extends MessageReference {
  /** Name that survives flag changes and moves (Maildir unique name); the file name elsewhere. */
  unique: string
  /** FLAGS bits. */
  flags: number
  size: number
  mtimeMs: number
  inode: number
}
