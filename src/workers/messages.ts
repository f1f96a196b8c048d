/**
 * What crosses between the pool and its threads, both ways.
 *
 * A task names what to read and never carries bytes in; the thread reads files itself. Answers come
 * one an item over the task's own port, as soon as they are known, so that what was finished
 * survives the death of a later item. Where the thread stands is written into shared memory and not
 * sent: it can then be read at any moment, also when nothing more will ever be sent.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Lane } from '../part/states.js'
import type { ReadSettings } from '../part/settings.js'
import type { MessageReference } from '../part/reference.js'
import type { ReadResult, TextPage } from '../part/outcome.js'
import type { FoldedColumns } from '../fold/columns.js'
import type { BodyDictionary, PackedBlock } from '../fold/texts.js'
import type { ParsedMessage, UnreadMessage } from './parsed.js'

/** Reads and parses messages, one item each. */
export interface ParseTask {
  kind: 'parse'
  /** Absolute path of the vault. */
  vault: string
  references: MessageReference[]
  /** What bodies are packed with. */
  dictionary?: BodyDictionary
  /** Only the headers, for a message whose parsing ended its thread before. */
  headOnly?: boolean
  /** On a thread that no other task takes. */
  urgent?: boolean
}

/** Parses one message once and reads its due contents, one item each. */
export interface ExtractTask {
  kind: 'extract'
  vault: string
  reference: MessageReference
  /** SHA-256 of the contents to read, 64 hex digits each. */
  hashes: string[]
  lane: Lane
  /** By hash: pages that an earlier reading recognised, which a raised limit leaves as they are. */
  recognised?: Record<string, TextPage[]>
}

/** Reads a file on disk that lies in no vault, one item. */
export interface DocumentTask {
  kind: 'document'
  file: string
  lane: Lane
}

/** Folds a message again with the texts of its contents, where texts are not kept; one item. */
export interface RefoldTask {
  kind: 'refold'
  vault: string
  reference: MessageReference
  /** SHA-256 of the contents whose text counts. */
  hashes: string[]
  lane: Lane
}

export type Task = ParseTask | ExtractTask | DocumentTask | RefoldTask

/** What an item of each kind of task is answered with. */
export interface Answers {
  parse: ParsedMessage | UnreadMessage
  extract: ExtractedContent | UnreadMessage
  document: ReadResult
  refold: RefoldedMessage | UnreadMessage
}

export interface RefoldedMessage {
  kind: 'refolded'
  columns: FoldedColumns
}

/** A content that was read: its pages are packed, and no longer in the result. */
export interface ExtractedContent {
  kind: 'extracted'
  result: ReadResult
  /** Empty when texts are not kept. */
  text: PackedBlock[]
  /** UTF-16 units of its text. */
  chars: number
}

/** A task as it is handed to a thread. */
export interface Errand {
  task: Task
  port: MessagePort
  /**
   * Two Int32: NOT_BEGUN, PREPARING, or FIRST_ITEM + the index of the item in work; and the id of the process that recognises a
   * page for it, or 0.
   */
  progress: SharedArrayBuffer
}

export const NOT_BEGUN = 0
export const PREPARING = 1
export const FIRST_ITEM = 2

/** One item's answer: a result, or the error that ended this item alone. */
export type Reply =
  { item: number; answer: Answers[Task['kind']] } | { item: number; threw: string; code?: string }

/** What a thread returns when a task is done. */
export interface Report {
  /** Bytes this thread's heap and buffers hold now; a thread that holds much is replaced. */
  heldBytes: number
  /** Set when something went wrong outside every item: the thread is replaced. */
  suspect?: string
}

/** Given to a thread once, at its start. */
export interface ThreadSettings {
  settings: ReadSettings
  keepTexts: boolean
  /** Where the item in work is noted (journal.ts); absent without an index. */
  journal?: { directory: string; thread: number }
  /** Module of a fault extractor (tests only). */
  faults?: string
}
