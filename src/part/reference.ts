/** Where a message lies. What crosses to a worker, which resolves it through vault/. */
export interface MessageReference {
  /** Vault-relative path of the file, `/` between its parts, bytes that are no UTF-8 escaped by vault/. */
  path: string
  /** For a message inside a larger file (mbox): its first byte and length. */
  offset?: number
  bytes?: number
}

/** Flags of a message as bits. */
export const FLAGS = {
  seen: 1,
  flagged: 2,
  answered: 4,
  draft: 8,
  trashed: 16,
  passed: 32,
} as const
export type FlagName = keyof typeof FLAGS
