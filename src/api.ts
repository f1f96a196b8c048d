/**
 * The one public entry: opens a vault, and everything a host or the command line does with it.
 *
 * Not responsible for: printing, reading argv or the environment (cli/).
 */
import type { ContentState, Lane, ReadReason } from './part/states.js'
import { settleReading, type OpenOptions, type ReadingOptions } from './part/options.js'
import type { Extractor } from './extract/extractor.js'
import { EXTRACTORS } from './extract/table.js'
import { readDocuments, type DocumentReading } from './workers/documents.js'

export type { Limits } from './part/limits.js'
export { DEFAULT_LIMITS } from './part/limits.js'
export { PipelineError, type ErrorCode } from './part/errors.js'
export { CONTENT_STATES, type ContentState, type Lane, type ReadReason } from './part/states.js'
export type { Outcome, ReadResult, TextPage, OcrPage, PageChoice } from './part/outcome.js'
export type { DocumentReading } from './workers/documents.js'
export type { OpenOptions, OcrOptions, ReadingOptions } from './part/options.js'

/** How far a sweep is. Sent at most some times a second, and at each change of phase. */
export interface Progress {
  /** `list`: comparing the vault with the index · `messages`: reading new mail · `text`, `ocr`: reading contents · `write`: putting texts into the index. */
  phase: 'list' | 'messages' | 'text' | 'ocr' | 'write'
  /** Folders, messages or contents done in this phase. */
  done: number
  /** As far as is known; grows while listing. */
  total: number
  /** What is being read, when it takes long: a vault-relative path. */
  current?: string
}

export interface SweepOptions {
  /** Stops the sweep soon: what is done stays done, what was claimed is given back. */
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  /** Compare every file, also in folders that look unchanged. Default false. */
  full?: boolean
}

export interface SweepReport {
  /** Messages by what happened to their rows. */
  messages: {
    added: number
    changed: number
    /** Flags, folder or file name changed; nothing was read. */
    moved: number
    removed: number
    /** Files that could not be read; their rows stand and they are tried at the next sweep. */
    unreadable: number
    /** In the index now. */
    total: number
  }
  /** Contents read in this sweep, by the state they came to. */
  contents: Partial<Record<ContentState, number>>
  /** Failed contents that wait for their next try. `nextDue` in seconds since 1970. */
  retries: number
  nextDue?: number
  /** Files of the index that were damaged or newer, and set aside under these names. */
  setAside: string[]
  stopped: boolean
  ms: number
}

export interface SearchOptions {
  /** Hits at most. Default 100. */
  limit?: number
  sort?: 'newest' | 'relevance'
  /** Hits of documents instead of messages. */
  documents?: boolean
  /** From the `next` of an earlier result. */
  after?: string
  signal?: AbortSignal
}

export type MatchedField = 'subject' | 'people' | 'body' | 'filenames' | 'attachments'

export interface Hit {
  /** Cursor of the row, not an identity. */
  id: number
  /** Lasts: vault-relative path and Message-ID. */
  key: string
  /** Seconds since 1970. */
  date: number
  subject: string
  from: string
  folder: string
  flags: string[]
  size: number
  /** Vault-relative. */
  path: string
  messageId: string
  /** Which vault, by its position, when several are searched. */
  vault: number
  /** File names. */
  attachments: string[]
  matched: MatchedField[]
  attachmentOnly: boolean
}

export interface SearchResult {
  hits: Hit[]
  /** Number of all hits when it is cheap to know; else undefined, and `more` is true. */
  count: number | undefined
  more: boolean
  ms: number
  tier: 'exact' | 'close'
  terms: string[]
  /** What of the query was cut or dropped, a sentence each. */
  cut: string[]
  coverage: Coverage
  /** For `after`, when there are more hits. */
  next?: string
}

export interface Coverage {
  contents: number
  readable: number
  pending: number
  unreadable: number
}

export interface Excerpt {
  id: number
  vault: number
  snippet: string
  attachments: Array<{ name: string; hash: string; page?: number; snippet: string }>
}

export interface Status {
  messages: number
  contents: Partial<Record<ContentState, number>>
  reasons: Record<string, number>
  pending: number
  coverage: Coverage
  indexBytes: number
  extractsBytes: number
  /** What is left to do, with hours by this machine's own rates when they are known. */
  backlog: Estimate
  sweeping: boolean
}

export interface Estimate {
  contents: number
  pagesToOcr: number
  hours?: number
}

export interface ExplainedPart {
  path: string
  name: string
  declaredType: string
  size: number
  hash: string
  state: ContentState
  lane: Lane
  /** Why it was, or will be, read. */
  why: ReadReason
  type?: string
  extractor?: string
  version?: number
  engine?: string
  reason?: string
  detail?: string
  cutBy?: string
  pages?: number
  ocrPages?: number
  chars?: number
  ms?: number
  attempts: number
  /** What would be tried next, and when, in a sentence. */
  next: string
}

export interface Explanation {
  id: number
  path: string
  messageId: string
  subject: string
  date: number
  folder: string
  parts: ExplainedPart[]
}

export interface ReExtractOptions {
  states?: readonly ContentState[]
  reason?: string
  /** Media type, or with `*` at its end. */
  type?: string
  /** File name with `*` and `?`. */
  name?: string
  /** Seconds since 1970. */
  since?: number
  /** Only contents whose extractor, limits, languages or passwords have changed. */
  stale?: boolean
  /** Message (path or Message-ID) or hash. */
  of?: string
  /** Count and estimate only. */
  dryRun?: boolean
}

export interface ReExtractReport extends Estimate {
  byState: Partial<Record<ContentState, number>>
  dryRun: boolean
}

export interface VerifyReport {
  agrees: boolean
  /** One sentence each. */
  differences: string[]
  messages: number
  contents: number
  purged: boolean
}

export interface Mail {
  sweep(options?: SweepOptions): Promise<SweepReport>
  /** One message that has just arrived, by its path; searchable by body when this resolves. */
  deliver(path: string): Promise<{ id: number }>
  /** Sweeps, then follows changes until `signal` fires. */
  watch(options: SweepOptions & { signal: AbortSignal }): Promise<void>
  search(query: string, options?: SearchOptions): Promise<SearchResult>
  /** What to show for hits on screen, in their order; texts are inflated for these only. */
  excerpts(hits: readonly Hit[]): Promise<Excerpt[]>
  status(): Promise<Status>
  /** A message by path or Message-ID, a content by hash, or a file name. */
  explain(what: string): Promise<Explanation[]>
  reExtract(options: ReExtractOptions): Promise<ReExtractReport>
  verify(options?: { purge?: boolean; signal?: AbortSignal }): Promise<VerifyReport>
  /** Stops beginning work until `resume()`. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

/** @throws {TypeError | RangeError} naming the option and its rule · {PipelineError} E_VAULT_UNREADABLE, E_INDEX_BUSY */
export async function openVault(_options: OpenOptions): Promise<Mail> {
  throw new Error('not built')
}

/**
 * Reads documents that lie in no vault, on several threads; gives each as it is done, in no order.
 *
 * @throws {TypeError | RangeError} for its options, never for what a file holds
 */
export async function* extractDocuments(
  files: Iterable<string> | AsyncIterable<string>,
  options: ReadingOptions = {},
): AsyncGenerator<DocumentReading> {
  yield* readDocuments(files, settleReading(options), options.signal)
}

/** A row of the table of extractors, for people and for `formats`. */
export type Format = Pick<Extractor, 'name' | 'version' | 'title' | 'types' | 'extensions' | 'lane'>

/** Every format that is read, by which extractor, at which version. */
export function formats(): Format[] {
  return EXTRACTORS.map(({ name, version, title, types, extensions, lane }) => ({
    name,
    version,
    title,
    types,
    extensions,
    lane,
  }))
}
