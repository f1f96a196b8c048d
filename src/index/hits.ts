/**
 * What a search gives: hits with the row already built, and how far the search went. Responsible for
 * the shapes and for making a hit from its row; not for finding it.
 */
import type { Database, Statement } from 'better-sqlite3'
import { FLAGS, type FlagName } from '../part/reference.js'
import { uniqueOfPath } from './lookup.js'
import type { Counted } from './groups.js'
import type { Coverage } from './rows.js'

/** Where a query matched, in the order in which `matched` lists them. */
export const MATCHED_FIELDS = ['subject', 'people', 'body', 'filenames', 'attachments'] as const
export type MatchedField = (typeof MATCHED_FIELDS)[number]

/** A message found, ready to be drawn in a list. */
export interface Hit {
  /** Cursor of the row: its date in seconds, moved to a free second. Not an identity: see `key`. */
  id: number
  /** Which vault, by its position, when several are searched. */
  vault: number
  /** Lasts across sweeps, moves of flags and restarts: folder, name in the folder and Message-ID. */
  key: string
  /** Seconds since 1970. */
  date: number
  subject: string
  /** `Ann Lee <ann@example.org>`, several joined by `, `. */
  from: string
  folder: string
  flags: FlagName[]
  /** Bytes of the message. */
  size: number
  /** Vault-relative path of the file. */
  path: string
  /** For a message inside a larger file (mbox): its first byte and length. */
  offset?: number
  bytes?: number
  /** Without angle brackets; empty when the message has none. */
  messageId: string
  /** File names. */
  attachments: string[]
  /** Where words of the query stand; empty when the query has none. */
  matched: MatchedField[]
  /** True when nothing but the text of attachments matched. */
  attachmentOnly: boolean
  /** Matches of its conversation, with `by: 'thread'`. */
  messages?: number
  /** The content that this hit stands for, with `by: 'document'`; `messages` carry it. */
  document?: { name: string; hash: string; messages: number }
}

export interface SearchResult {
  /** Newest first, or best first when sorted by relevance. */
  hits: Hit[]
  /** How many messages match; undefined when that is not cheap to know, and then `more` is true. */
  count: number | undefined
  /** True when there are more matches than the exact number of hits given, and nobody counted them. */
  more: boolean
  /** Wall milliseconds of the search, excerpts not included. */
  ms: number
  /** `close` when nothing matched exactly and similar words were taken: `terms` names them. */
  tier: 'exact' | 'close'
  /** Words of the index that were searched in place of a part or a misspelling of them, most frequent first. */
  terms: string[]
  /** What was cut or not understood, and how to widen it, a sentence each. */
  cut: string[]
  /** What part of the vault's attachments the search could see. */
  coverage: Coverage
  /** For `after`, when there are more hits. Opaque. */
  next?: string
  /** With `countBy`. */
  counts?: Counted[]
}

/** As the statement gives it: an object for each row, by the names of its columns, costs as much as the row. */
type Row = readonly [
  id: number,
  date: number,
  folder: number,
  flags: number,
  size: number,
  subject: string,
  sender: string,
  attachments: string | null,
  messageId: string,
  path: string,
  offset: number | null,
  bytes: number | null,
  uniqueName: string,
  recipients: string,
  copies: string,
]

/** Columns of the word table that stand in the row, one text a line. */
export type Head = Record<'subject' | 'sender' | 'recipients' | 'copies' | 'filenames', string>

/** The head of a hit that was read. */
export type HeadOf = (hit: Hit) => Head | undefined

const FLAG_LIST = Object.entries(FLAGS) as Array<[FlagName, number]>

/** Reads rows by id. One statement for a whole page of hits. */
export class HitReader {
  private readonly rows: Statement<[string], Row>
  private readonly folders: Statement<[], { id: number; name: string; path: string }>

  constructor(db: Database) {
    this.rows = db
      .prepare<[string], Row>(
        `SELECT id, date, folder, flags, size, subject, sender, attachments, message_id, path, offset, bytes, unique_name,
           recipients, copies
         FROM message WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC`,
      )
      .raw()
    this.folders = db.prepare('SELECT id, name, path FROM folder')
  }

  /**
   * @param ids newest first
   * @returns hits in the order of `ids`, their matched fields still empty, and what the word table holds of their rows
   */
  read(ids: readonly number[]): { hits: Hit[]; headOf: HeadOf } {
    const folders = new Map(this.folders.all().map((folder) => [folder.id, folder]))
    const rows = new Map(this.rows.all(JSON.stringify(ids)).map((row) => [row[0], row]))
    const hits: Hit[] = []
    for (const wanted of ids) {
      const row = rows.get(wanted)
      if (!row) continue
      const [id, date, folderId, flags, size, subject, sender, attachments, ...rest] = row
      const [messageId, path, offset, bytes, uniqueName] = rest
      const folder = folders.get(folderId)
      const place = offset === null ? '' : `#${offset}`
      const hit: Hit = {
        id,
        vault: 0,
        key: `${folder?.path ?? ''}/${uniqueName || uniqueOfPath(path)}${place} <${messageId}>`,
        date,
        subject,
        from: sender.includes('\n') ? sender.replaceAll('\n', ', ') : sender,
        folder: folder?.name ?? '',
        flags: FLAG_LIST.filter(([, bit]) => flags & bit).map(([name]) => name),
        size,
        path,
        messageId,
        attachments: names(attachments),
        matched: [],
        attachmentOnly: false,
      }
      if (offset !== null) hit.offset = offset
      if (bytes !== null) hit.bytes = bytes
      hits.push(hit)
    }
    const headOf = ({ id, attachments }: Hit): Head | undefined => {
      const row = rows.get(id)
      if (!row) return undefined
      const [, , , , , subject, sender, , , , , , , recipients, copies] = row
      return { subject, sender, recipients, copies, filenames: attachments.join('\n') }
    }
    return { hits, headOf }
  }
}

const names = (json: string | null): string[] => (json ? (JSON.parse(json) as string[]) : [])
