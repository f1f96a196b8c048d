/**
 * What can be asked of an index over open connections: searches, excerpts, and what `status` and `explain`
 * tell. The connections are a reader's own, or the writer's where nobody else can open the files.
 *
 * Not responsible for: opening files (reader.ts, files.ts), who asks (sweep/asking.ts).
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Contents } from './contents.js'
import type { Excerpt } from './excerpts.js'
import type { Connection } from './files.js'
import type { Hit, SearchResult } from './hits.js'
import { idsByMessageId, idsByPath } from './lookup.js'
import type { PageReading } from '../part/outcome.js'
import { Meta } from './meta.js'
import type { ContentRow, Coverage } from './rows.js'
import { Searcher, type SearchOptions } from './search.js'
import type { ContentStore } from './store.js'

/** A message with its documents, as it stands in the index. */
export interface DescribedMessage {
  id: number
  path: string
  messageId: string
  subject: string
  /** Seconds since 1970. */
  date: number
  folder: string
  /** What of the mail was not read (a limit, damage), one sentence each; absent when all of it was. */
  losses?: string[]
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

/** What `status` tells of one index. Plain data. */
export interface Summary {
  messages: number
  messagesUnreadable: number
  /** Messages of which something was not read. */
  messagesCut: number
  /** Contents by state. */
  states: Record<string, number>
  coverage: Coverage
  reasons: ReturnType<ContentStore['reasons']>
  backlogWork: ReturnType<ContentStore['backlogWork']>
  rates: ReturnType<ContentStore['rates']>
  /** Bytes of each database with its log. */
  indexBytes: number
  extractsBytes: number
}

export class Answers {
  readonly #directory: string
  readonly #index: Connection
  readonly #contents: Contents
  readonly #searcher: Searcher

  /** @param directory folder that the two files lie in */
  constructor(directory: string, { index, extracts }: { index: Connection; extracts: Connection }) {
    this.#directory = directory
    this.#index = index
    this.#searcher = new Searcher({ index, extracts })
    this.#contents = new Contents(extracts, new Meta(extracts), index)
  }

  search(typed: string, options: SearchOptions): Promise<SearchResult> {
    return this.#searcher.search(typed, options)
  }

  /** For hits that `search` of this object gave. */
  excerpts(hits: readonly Hit[]): Promise<Excerpt[]> {
    return this.#searcher.excerpts(hits)
  }

  /** Vault-relative paths of all folders. */
  folders(): string[] {
    return this.#index.prepare('SELECT path FROM folder').pluck().all() as string[]
  }

  summary(): Summary {
    const contents = this.#contents
    return {
      messages: this.#index.prepare('SELECT count(*) FROM message').pluck().get() as number,
      messagesUnreadable: this.#messagesUnreadable(),
      messagesCut: this.#messagesCut(),
      states: contents.states(),
      coverage: contents.coverage(),
      reasons: contents.reasons(),
      backlogWork: contents.backlogWork(),
      rates: contents.rates(),
      indexBytes: this.#bytes('index.db'),
      extractsBytes: this.#bytes('extracts.db'),
    }
  }

  /** Messages whose file could not be read: they have a time that no file has, in folders that are looked at again. */
  #messagesUnreadable(): number {
    const sql = `SELECT count(*) FROM message WHERE mtime = 0 AND offset IS NULL
      AND folder IN (SELECT id FROM folder WHERE scanned = 0)`
    return this.#index.prepare(sql).pluck().get() as number
  }

  #messagesCut(): number {
    if (!this.#hasLosses()) return 0
    const sql = 'SELECT count(*) FROM message WHERE losses IS NOT NULL'
    return this.#index.prepare(sql).pluck().get() as number
  }

  /** An index of an older schema, read as it lies, has no such column. */
  #hasLosses(): boolean {
    return (this.#index.pragma('user_version', { simple: true }) as number) >= 3
  }

  #bytes(name: string): number {
    return [name, `${name}-wal`].reduce(
      (sum, file) =>
        sum + (statSync(join(this.#directory, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
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
    const { losses, ...message } = this.#index
      .prepare(
        `SELECT message.id, message.path, message_id AS messageId, subject, date, folder.name AS folder,
           ${this.#hasLosses() ? 'losses' : 'NULL AS losses'}
         FROM message LEFT JOIN folder ON folder.id = message.folder WHERE message.id = ?`,
      )
      .get(id) as Omit<DescribedMessage, 'parts' | 'losses'> & { losses: string | null }
    const parts = this.#index
      .prepare(
        `SELECT path, name, declared_type AS declaredType, size, lower(hex(hash)) AS hash
         FROM part WHERE message = ? ORDER BY number`,
      )
      .all(id) as Array<Omit<DescribedPart, 'content'>>
    return {
      ...message,
      ...(losses !== null && { losses: JSON.parse(losses) as string[] }),
      parts: parts.map((part) => {
        const content = this.#contents.byHash(part.hash)
        const choices = content?.state === 'ok' ? this.#contents.choices(content.id) : []
        return { ...part, content, ...(choices.length > 0 && { choices }) }
      }),
    }
  }
}
