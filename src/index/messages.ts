/**
 * Writes messages: rows, parts, words, kept bodies, threads and counts of one batch in one transaction of
 * index.db, after their contents were registered in extracts.db.
 *
 * Not responsible for: the text of attachments that arrives later (rewrites.ts).
 */
import {
  COLUMNS,
  foldAttachments,
  foldFiles,
  personLine,
  wordsLost,
  type FoldedColumns,
} from '../fold/columns.js'
import type { BodyDictionary } from '../fold/texts.js'
import { attachmentTexts } from './attachment-texts.js'
import { BodyWriter } from './bodies.js'
import { REGISTRATIONS, type Contents } from './contents.js'
import type { Dictionary } from './dictionary.js'
import { LOG_PAGES, type Connection } from './files.js'
import { idsByMessageId, idsByPath, keyOf, uniqueOfPath } from './lookup.js'
import { mergeCrowded } from './merging.js'
import type { Meta } from './meta.js'
import { RowIds } from './row-ids.js'
import type { EntryRow, MessageInput } from './rows.js'
import type { EntryChange, MessageStore } from './store.js'
import { Threads } from './threads.js'
import type { Vocabulary } from './vocabulary.js'

const ENTRY = `id, folder, path, offset, bytes, unique_name AS "unique", flags, size, mtime AS mtimeMs, ctime AS ctimeMs, inode,
  message_id AS messageId`

function entry(row: EntryRow): EntryRow {
  return row.unique === '' ? { ...row, unique: uniqueOfPath(row.path) } : row
}

/** Characters of known attachments folded in one batch; the rest waits for its rewrite. About a fifth of a second. */
const COMPLETED_CHARS = 4_000_000
/** Rows of a transaction from which on it is a batch: it merges too. */
const BATCH_ROWS = 50
/** Pages of merging that a row of a batch pays for: about what its words are, once a level. */
const PAGES_A_ROW = 2
/** A delivery writes a page or two of words, which are merged three times in a thousand deliveries. */
const PAGES_A_DELIVERY = 6
/** Deliveries that pay together, 2 to 5 ms, whatever the size of the index. */
const MERGE_EVERY = 16

/** The two statements that any change of words is made of. */
export class Words {
  readonly #db: Connection
  #logPages: number = LOG_PAGES.batches
  #deliveries = 0
  readonly #insert
  readonly #remove

  constructor(db: Connection) {
    this.#db = db
    this.#insert = db.prepare(
      `INSERT INTO words (rowid, ${COLUMNS.join(', ')}) VALUES (?, ${COLUMNS.map(() => '?').join(', ')})`,
    )
    this.#remove = db.prepare('DELETE FROM words WHERE rowid = ?')
  }

  /** The row must not exist: FTS5 would keep the older words as ghosts. */
  insert(id: number, columns: FoldedColumns): void {
    this.#insert.run(id, ...COLUMNS.map((column) => columns[column]))
  }

  remove(id: number): void {
    this.#remove.run(id)
  }

  /** Before a transaction of so many rows: its commit copies the log back when that has grown. */
  begin(rows: number): void {
    const pages = rows >= BATCH_ROWS ? LOG_PAGES.batches : LOG_PAGES.deliveries
    if (pages === this.#logPages) return
    this.#logPages = pages
    this.#db.pragma(`wal_autocheckpoint = ${pages}`)
  }

  /** At the end of a transaction of so many rows: pays for the segments that it and others before it have made. */
  written(rows: number): void {
    if (rows >= BATCH_ROWS) mergeCrowded(this.#db, rows * PAGES_A_ROW, 'batch')
    else if (++this.#deliveries % MERGE_EVERY === 0)
      mergeCrowded(this.#db, MERGE_EVERY * PAGES_A_DELIVERY, 'deliveries')
  }
}

export class Messages implements MessageStore {
  readonly #db: Connection
  readonly #meta: Meta
  readonly #contents: Contents
  readonly #words: Words
  readonly #vocabulary: Vocabulary
  readonly #bodies: BodyWriter
  readonly #dictionary: Dictionary
  readonly #threads: Threads
  readonly #ids: RowIds
  readonly #messageChars: number
  readonly #sql

  constructor(
    db: Connection,
    meta: Meta,
    contents: Contents,
    words: Words,
    vocabulary: Vocabulary,
    dictionary: Dictionary,
    messageChars: number,
  ) {
    this.#messageChars = messageChars
    this.#db = db
    this.#meta = meta
    this.#contents = contents
    this.#words = words
    this.#vocabulary = vocabulary
    this.#bodies = new BodyWriter(db)
    this.#dictionary = dictionary
    this.#threads = new Threads(db)
    this.#ids = new RowIds(db, meta.number('shift'))
    this.#sql = {
      count: db.prepare('SELECT count(*) FROM message').pluck(),
      entries: db.prepare(`SELECT ${ENTRY} FROM message WHERE folder = ?`),
      byId: db.prepare(`SELECT ${ENTRY} FROM message WHERE id = ?`),
      byUnique: db.prepare(`SELECT ${ENTRY} FROM message WHERE unique_key = ?`),
      carriers: db.prepare(
        `SELECT ${ENTRY} FROM message WHERE id IN
           (SELECT message FROM part WHERE hash = ? ORDER BY message DESC LIMIT ?) ORDER BY id DESC`,
      ),
      lossy: db
        .prepare('SELECT id FROM message WHERE losses IS NOT NULL AND size > ? ORDER BY id DESC')
        .pluck(),
      hashes: db
        .prepare('SELECT lower(hex(hash)) FROM part WHERE message = ? ORDER BY number')
        .pluck(),
      insert: db.prepare(
        `INSERT INTO message (id, date, folder, flags, size, thread, revision, subject, sender, attachments, labels,
           message_id, message_id_key, path, offset, bytes, unique_name, unique_key, mtime, inode, is_kept, recipients,
           copies, ctime, losses)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      insertPart: db.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
      insertRewrite: db.prepare('INSERT OR IGNORE INTO rewrite VALUES (?)'),
      thread: db.prepare('SELECT thread FROM message WHERE id = ?').pluck(),
      partHashes: db.prepare('SELECT DISTINCT hash FROM part WHERE message = ?').pluck(),
      isCarried: db.prepare('SELECT 1 FROM part WHERE hash = ? LIMIT 1').pluck(),
      removeMessage: db.prepare('DELETE FROM message WHERE id = ?'),
      removeParts: db.prepare('DELETE FROM part WHERE message = ?'),
      removeRewrite: db.prepare('DELETE FROM rewrite WHERE message = ?'),
      orphan: db.prepare('INSERT OR IGNORE INTO orphan VALUES (?)'),
      orphans: db.prepare('SELECT hash FROM orphan LIMIT 1000').pluck(),
      forgetOrphan: db.prepare('DELETE FROM orphan WHERE hash = ?'),
    }
  }

  get dictionary(): BodyDictionary | undefined {
    return this.#dictionary.current
  }

  count(): number {
    return this.#sql.count.get() as number
  }

  entries(folder: number): EntryRow[] {
    return (this.#sql.entries.all(folder) as EntryRow[]).map(entry)
  }

  byId(id: number): EntryRow | undefined {
    const row = this.#sql.byId.get(id) as EntryRow | undefined
    return row && entry(row)
  }

  byPath(path: string, offset?: number): EntryRow | undefined {
    for (const id of idsByPath(this.#db, path)) {
      const row = this.byId(id)
      if (offset === undefined || row?.offset === offset) return row
    }
    return undefined
  }

  byUnique(unique: string): EntryRow[] {
    const rows = (this.#sql.byUnique.all(keyOf(unique)) as EntryRow[]).map(entry)
    return rows.filter((row) => row.unique === unique)
  }

  byMessageId(messageId: string): EntryRow[] {
    return idsByMessageId(this.#db, messageId).map((id) => this.byId(id) as EntryRow)
  }

  carriers(hash: string, limit: number): EntryRow[] {
    return (this.#sql.carriers.all(Buffer.from(hash, 'hex'), limit) as EntryRow[]).map(entry)
  }

  lossy(largerThan: number): number[] {
    return this.#sql.lossy.all(largerThan) as number[]
  }

  hashes(message: number): string[] {
    return this.#sql.hashes.all(message) as string[]
  }

  add(batch: readonly MessageInput[]): number[] {
    return this.#change([], batch)
  }

  remove(ids: readonly number[]): void {
    this.#change(ids, [])
  }

  replace(id: number, message: MessageInput): number {
    return this.#change([id], [message])[0] as number
  }

  update(changes: readonly EntryChange[]): void {
    this.#db
      .transaction(() => {
        for (const change of changes) {
          const { id, mtimeMs, ctimeMs, ...rest } = change
          const before = this.byId(id)
          if (before === undefined) continue
          // The stored name depends on the path.
          const path = change.path ?? before.path
          const unique = change.unique ?? before.unique
          delete rest.unique
          const values: Record<string, unknown> = {
            ...rest,
            unique_name: unique === uniqueOfPath(path) ? '' : unique,
            unique_key: keyOf(unique),
            ...(mtimeMs !== undefined && { mtime: Math.floor(mtimeMs) }),
            ...(ctimeMs !== undefined && { ctime: Math.floor(ctimeMs) }),
          }
          const names = Object.keys(values)
          this.#db
            .prepare(
              `UPDATE message SET ${names.map((name) => `${name} = @${name}`).join(', ')} WHERE id = @id`,
            )
            .run({ ...values, id })
        }
      })
      .immediate()
  }

  /** Deletes from extracts.db the contents that lost their last message, also those that an interruption left. */
  clearOrphans(): void {
    for (;;) {
      const hashes = this.#sql.orphans.all() as Buffer[]
      if (hashes.length === 0) return
      this.#contents.forget(hashes.filter((hash) => this.#sql.isCarried.get(hash) === undefined))
      this.#db
        .transaction(() => {
          for (const hash of hashes) this.#sql.forgetOrphan.run(hash)
        })
        .immediate()
    }
  }

  /**
   * Deletes contents that no message carries: left in extracts.db by mail that was deleted while index.db was
   * missing, or before a message whose contents were registered came into it (a crash, a full disk in between).
   * Costs nothing when neither can be. Not for an index that may still be incomplete.
   */
  dropLeftBehind(): void {
    const registrations = this.#contents.registrations()
    if (this.#meta.number(REGISTRATIONS) === registrations) return
    this.dropUncarried()
    this.#meta.set(REGISTRATIONS, registrations)
  }

  /** As dropLeftBehind, whatever is noted. */
  dropUncarried(): void {
    for (let afterId = 0; ;) {
      const rows = this.#contents.list({}, 1_000, afterId)
      if (rows.length === 0) return
      afterId = (rows.at(-1) as { id: number }).id
      const hashes = rows.map((row) => Buffer.from(row.hash, 'hex'))
      this.#contents.forget(hashes.filter((hash) => this.#sql.isCarried.get(hash) === undefined))
    }
  }

  #change(removed: readonly number[], given: readonly MessageInput[]): number[] {
    const isEven = this.#meta.number(REGISTRATIONS) === this.#contents.registrations()
    const known = this.#contents.register(given)
    const added = this.#completed(given, known)
    let ids: number[] = []
    this.#words.begin(removed.length + added.length)
    try {
      this.#db
        .transaction(() => {
          for (const id of removed) this.#delete(id)
          if (removed.length > 0) this.#ids.forget()
          const shift = this.#ids.shift
          ids = added.map((message) => this.#ids.take(message.date))
          // All of them before the first row, so that a thread joined meanwhile moves rows of older batches only.
          const assigned = added.map((message, place) =>
            this.#threads.assign(ids[place] as number, message),
          )
          const order = ids.map((_, place) => place)
          order.sort((a, b) => (ids[a] as number) - (ids[b] as number))
          for (const place of order)
            this.#insert(
              ids[place] as number,
              this.#threads.joined(assigned[place] as number),
              added[place] as MessageInput,
              known,
            )
          this.#vocabulary.write()
          if (added.length >= BATCH_ROWS && added.some(({ body }) => body !== null))
            this.#dictionary.make()
          this.#words.written(added.length)
          if (this.#ids.shift !== shift) this.#meta.set('shift', this.#ids.shift)
          if (isEven) this.#meta.set(REGISTRATIONS, this.#contents.registrations())
          this.#meta.set('changes', this.#meta.number('changes') + removed.length + added.length)
          if (removed.length > 0)
            this.#meta.set('miscounted', this.#meta.number('miscounted') + removed.length)
        })
        .immediate()
      this.#ids.written()
    } catch (error) {
      this.#ids.forget()
      this.#vocabulary.discard()
      this.#dictionary.discard()
      throw error
    }
    if (removed.length > 0) this.clearOrphans()
    return ids
  }

  /**
   * Messages whose contents were all read before, as in an index made again, with the words of these: they need not
   * be written a second time. Not more of them than are folded in the time of a batch.
   */
  #completed(
    added: readonly MessageInput[],
    known: ReadonlyMap<string, number>,
  ): readonly MessageInput[] {
    let chars = 0
    return added.map((message) => {
      const { parts, columns, labels, revision = 0 } = message
      if (revision > 0 || parts.length === 0 || chars > COMPLETED_CHARS) return message
      if (!parts.every(({ hash }) => (known.get(hash) ?? 0) > 0)) return message
      const texts = attachmentTexts(this.#contents, parts, this.#messageChars)
      if (texts === undefined) return message
      chars += texts.chars
      return {
        ...message,
        revision: texts.revision,
        columns: {
          ...columns,
          filenames: foldFiles(texts.files, labels),
          attachments: foldAttachments(texts.attachments, this.#messageChars),
        },
      }
    })
  }

  #insert(
    id: number,
    thread: number,
    message: MessageInput,
    known: ReadonlyMap<string, number>,
  ): void {
    const revision = message.revision ?? 0
    const losses = [...(message.losses ?? []), ...wordsLost(message.columns)]
    this.#sql.insert.run(
      id,
      message.date,
      message.folder,
      message.flags,
      message.size,
      thread,
      revision,
      message.subject,
      message.from.map(personLine).join('\n'),
      message.parts.length > 0 ? JSON.stringify(message.parts.map((part) => part.name)) : null,
      message.labels.length > 0 ? JSON.stringify(message.labels) : null,
      message.messageId,
      keyOf(message.messageId),
      message.path,
      message.offset ?? null,
      message.bytes ?? null,
      message.unique === uniqueOfPath(message.path) ? '' : message.unique,
      keyOf(message.unique),
      Math.floor(message.mtimeMs),
      message.inode,
      message.body === null ? 0 : 1,
      message.to.map(personLine).join('\n'),
      message.cc.map(personLine).join('\n'),
      Math.floor(message.ctimeMs ?? 0),
      losses.length > 0 ? JSON.stringify(losses) : null,
    )
    message.parts.forEach((part, number) => {
      this.#sql.insertPart.run(
        id,
        number,
        part.path,
        part.name,
        part.declaredType,
        part.disposition === 'inline' ? 1 : 0,
        part.size,
        Buffer.from(part.hash, 'hex'),
      )
    })
    this.#bodies.insert(id, this.#dictionary.kept(message.body ?? []))
    if (message.parts.some((part) => (known.get(part.hash) ?? 0) > revision))
      this.#sql.insertRewrite.run(id)
    this.#words.insert(id, message.columns)
    this.#vocabulary.add(id, message.columns)
  }

  #delete(id: number): void {
    const thread = this.#sql.thread.get(id) as number | undefined
    if (thread === undefined) return
    const hashes = this.#sql.partHashes.all(id) as Buffer[]
    this.#sql.removeMessage.run(id)
    this.#sql.removeParts.run(id)
    this.#bodies.remove(id)
    this.#sql.removeRewrite.run(id)
    this.#words.remove(id)
    this.#threads.left(thread)
    for (const hash of hashes)
      if (this.#sql.isCarried.get(hash) === undefined) this.#sql.orphan.run(hash)
  }
}
