/** Errors about a call. What is wrong with a part is never an error: see outcome.ts. */
export const ERROR_CODES = [
  'E_VAULT_UNREADABLE', // the vault is missing or cannot be listed
  'E_INDEX_MISSING', // no index there: run `paperknife index` first
  'E_INDEX_BUSY', // another process sweeps this vault
  'E_INDEX_NEWER', // written by a newer Paperknife
  'E_INDEX_READONLY', // no permission to write the index where it lies
  'E_INDEX_DAMAGED', // SQLite cannot read it
  'E_DISK_FULL', // no space for the index
  'E_OCR_LANGUAGE', // no data for a configured language
  'E_NOT_FOUND', // the message, file or hash asked for is not in the index
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** An error whose message names the file or option concerned and what to do. */
export class PipelineError extends Error {
  readonly code: ErrorCode
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PipelineError'
    this.code = code
  }
}
