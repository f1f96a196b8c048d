/**
 * Reading a vault's index beside its writer: searches, excerpts, and what `status` and `explain` tell.
 * Opens the files read-only, and again when the writer has put new ones in their place.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { idsByMessageId, idsByPath } from './lookup.js'
import { Contents } from './contents.js'
import type { Excerpt } from './excerpts.js'
import { openForReading, type Connection, type ReaderFiles } from './files.js'
import type { Hit, SearchResult } from './hits.js'
import { Meta } from './meta.js'
import type { ContentRow, Coverage } from './rows.js'
import { Searcher, type SearchOptions } from './search.js'
import type { ContentStore } from './store.js'
import type { PageReading } from '../part/outcome.js'

/** A message with its documents, as it stands in the index. */
export interface DescribedMessage {
  id: number
  path: string
  messageId: string
  subject: string
  /** Seconds since 1970. */
  date: number
  folder: string
  parts: DescribedPart[]
}

export interface DescribedPart {
  path: string
  name: string
  declaredType: string
  size: number
  /** 64 hex digits. */
  hash: string
  /** Absent when extracts.db was lost and not yet made again. */
  content: ContentRow | undefined
  /** How its pages came by their text, where OCR had a part in it. */
  choices?: PageReading[]
}

interface Opened {
  files: ReaderFiles
  /** Devices and inodes of the files that were opened. */
  inodes: string
  searcher: Searcher
  contents: ContentStore & Pick<Contents, 'choices' | 'reasons' | 'rates' | 'backlogWork'>
}

export class IndexReader {
  readonly #directory: string
  #opened: Opened | undefined

  /** @param directory folder of index.db and extracts.db */
  constructor(directory: string) {
    this.#directory = directory
  }

  /** @throws {PipelineError} `E_INDEX_MISSING`, `E_INDEX_NEWER`, `E_INDEX_DAMAGED` */
  search(typed: string, options: SearchOptions): Promise<SearchResult> {
    return this.#open().searcher.search(typed, options)
  }

  /** For hits that `search` of this reader gave. */
  excerpts(hits: readonly Hit[]): Promise<Excerpt[]> {
    return this.#open().searcher.excerpts(hits)
  }

  /** Contents, for reading only. */
  get contents(): Opened['contents'] {
    return this.#open().contents
  }

  coverage(): Coverage {
    return this.contents.coverage()
  }

  messages(): number {
    return this.#index.prepare('SELECT count(*) FROM message').pluck().get() as number
  }

  /** Messages whose file could not be read: they have a time that no file has, in folders that are looked at again. */
  messagesUnreadable(): number {
    const sql = `SELECT count(*) FROM message WHERE mtime = 0 AND offset IS NULL
      AND folder IN (SELECT id FROM folder WHERE scanned = 0)`
    return this.#index.prepare(sql).pluck().get() as number
  }

  /** Vault-relative paths of all folders. */
  folders(): string[] {
    return this.#index.prepare('SELECT path FROM folder').pluck().all() as string[]
  }

  /** Bytes of both databases with their logs. */
  sizes(): { indexBytes: number; extractsBytes: number } {
    const bytes = (name: string): number =>
      [name, `${name}-wal`].reduce(
        (sum, file) =>
          sum + (statSync(join(this.#directory, file), { throwIfNoEntry: false })?.size ?? 0),
        0,
      )
    return { indexBytes: bytes('index.db'), extractsBytes: bytes('extracts.db') }
  }

  /**
   * Messages that a person names.
   *
   * @param what vault-relative path, Message-ID, hash of a content (or its first 8 digits and more), or file name
   * @returns newest first
   */
  describe(what: string, limit = 1_000): DescribedMessage[] {
    const ids = this.#find(what, limit)
    return ids.map((id) => this.#describe(id))
  }

  close(): void {
    this.#opened?.files.close()
    this.#opened = undefined
  }

  #find(what: string, limit: number): number[] {
    const all = (sql: string, ...values: unknown[]): number[] =>
      this.#index
        .prepare(`${sql} ORDER BY 1 DESC LIMIT ?`)
        .pluck()
        .all(...values, limit) as number[]
    const byPath = idsByPath(this.#index, what)
    if (byPath.length > 0) return byPath.slice(0, limit)
    const bare = what.replace(/^<|>$/g, '')
    const byId = idsByMessageId(this.#index, bare)
    if (byId.length > 0) return byId.slice(0, limit)
    if (/^[0-9a-f]{8,64}$/i.test(what)) {
      const low = Buffer.from(what.padEnd(64, '0'), 'hex')
      const high = Buffer.from(what.padEnd(64, 'f'), 'hex')
      const byHash = all('SELECT DISTINCT message FROM part WHERE hash BETWEEN ? AND ?', low, high)
      if (byHash.length > 0) return byHash
    }
    const byName = all('SELECT DISTINCT message FROM part WHERE lower(name) = lower(?)', what)
    if (byName.length > 0) return byName
    const ending = `%/${what.replace(/[\\%_]/g, '\\$&')}`
    return all(`SELECT id FROM message WHERE path LIKE ? ESCAPE '\\'`, ending)
  }

  #describe(id: number): DescribedMessage {
    const message = this.#index
      .prepare(
        `SELECT message.id, message.path, message_id AS messageId, subject, date, folder.name AS folder
         FROM message LEFT JOIN folder ON folder.id = message.folder WHERE message.id = ?`,
      )
      .get(id) as Omit<DescribedMessage, 'parts'>
    const parts = this.#index
      .prepare(
        `SELECT path, name, declared_type AS declaredType, size, lower(hex(hash)) AS hash
         FROM part WHERE message = ? ORDER BY number`,
      )
      .all(id) as Array<Omit<DescribedPart, 'content'>>
    return {
      ...message,
      parts: parts.map((part) => {
        const content = this.contents.byHash(part.hash)
        const choices = content?.state === 'ok' ? this.contents.choices(content.id) : []
        return { ...part, content, ...(choices.length > 0 && { choices }) }
      }),
    }
  }

  get #index(): Connection {
    return this.#open().files.index
  }

  #open(): Opened {
    const inodes = ['index.db', 'extracts.db'].map((name) => {
      const file = statSync(join(this.#directory, name), { throwIfNoEntry: false })
      return file ? `${file.dev}:${file.ino}` : ''
    })
    if (this.#opened?.inodes === inodes.join()) return this.#opened
    this.close()
    const files = openForReading(this.#directory)
    try {
      const { index, extracts } = files
      this.#opened = {
        files,
        inodes: inodes.join(),
        searcher: new Searcher({ index, extracts }),
        contents: new Contents(extracts, new Meta(extracts), index),
      }
      return this.#opened
    } catch (error) {
      files.close()
      throw error
    }
  }
}
