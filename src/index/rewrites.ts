/**
 * Brings the attachment column of messages up to the texts that extracts.db holds. The queue is a table of
 * index.db, so that an interruption loses nothing: `queue()` finds the contents recorded since the revision
 * noted in `meta`, and puts their messages in, in the transaction that moves the note.
 *
 * A rewrite is DELETE and INSERT of all seven columns in row order; body and attachments are folded again
 * from the kept texts.
 */
import { foldColumns, wordsLost, type FoldedColumns, type FoldPerson } from '../fold/columns.js'
import { attachmentTexts } from './attachment-texts.js'
import { BodyReader } from './bodies.js'
import type { Contents } from './contents.js'
import type { Connection } from './files.js'
import type { Words } from './messages.js'
import type { Meta } from './meta.js'
import type { Lane } from '../part/states.js'
import type { RewriteDue, RewriteStore } from './store.js'
import type { Vocabulary } from './vocabulary.js'

const CHUNK = 2_000

interface MessageRow {
  subject: string
  sender: string
  recipients: string
  copies: string
  labels: string | null
  isKept: number
}

export class Rewrites implements RewriteStore {
  readonly #db: Connection
  readonly #meta: Meta
  readonly #contents: Contents
  readonly #words: Words
  readonly #vocabulary: Vocabulary
  readonly #messageChars: number
  readonly #bodies: BodyReader
  #passed = 0
  readonly #sql

  constructor(
    db: Connection,
    meta: Meta,
    contents: Contents,
    words: Words,
    vocabulary: Vocabulary,
    messageChars: number,
  ) {
    this.#db = db
    this.#meta = meta
    this.#contents = contents
    this.#words = words
    this.#vocabulary = vocabulary
    this.#messageChars = messageChars
    this.#bodies = new BodyReader(db)
    this.#sql = {
      enqueue: db.prepare(
        `INSERT OR IGNORE INTO rewrite SELECT message.id FROM part JOIN message ON message.id = part.message
         WHERE part.hash = ? AND message.revision < ?`,
      ),
      lacking: db
        .prepare(
          `SELECT message.id FROM part JOIN message ON message.id = part.message
           WHERE part.hash = ? AND message.revision < ?`,
        )
        .pluck(),
      queued: db.prepare('SELECT message FROM rewrite').pluck(),
      length: db.prepare('SELECT count(*) FROM rewrite').pluck(),
      due: db
        .prepare('SELECT message FROM rewrite WHERE message > ? ORDER BY message LIMIT ?')
        .pluck(),
      message: db.prepare(
        'SELECT subject, sender, recipients, copies, labels, is_kept AS isKept FROM message WHERE id = ?',
      ),
      parts: db.prepare(
        'SELECT name, declared_type AS declaredType, lower(hex(hash)) AS hash FROM part WHERE message = ? ORDER BY number',
      ),
      before: db.prepare('SELECT revision, losses FROM message WHERE id = ?'),
      setLosses: db.prepare('UPDATE message SET losses = ? WHERE id = ?'),
      setRevision: db.prepare('UPDATE message SET revision = ? WHERE id = ?'),
      done: db.prepare('DELETE FROM rewrite WHERE message = ?'),
      reference: db.prepare(
        `SELECT id, path, offset, bytes FROM message
         WHERE id IN (SELECT message FROM rewrite WHERE message > ? ORDER BY message LIMIT ?) ORDER BY id`,
      ),
    }
  }

  queue(): number {
    for (;;) {
      const from = this.#meta.number('folded')
      const recorded = this.#contents.recordedSince(from, CHUNK)
      if (recorded.length === 0) return this.#sql.length.get() as number
      this.#db
        .transaction(() => {
          for (const { hash, revision } of recorded) this.#sql.enqueue.run(hash, revision)
          this.#meta.set('folded', (recorded.at(-1) as { revision: number }).revision)
        })
        .immediate()
    }
  }

  behind(): number {
    const behind = new Set(this.#sql.queued.all() as number[])
    for (let from = this.#meta.number('folded'); ;) {
      const recorded = this.#contents.recordedSince(from, CHUNK)
      if (recorded.length === 0) return behind.size
      for (const { hash, revision } of recorded) {
        for (const id of this.#sql.lacking.all(hash, revision) as number[]) behind.add(id)
        from = revision
      }
    }
  }

  run(options: { limit: number; untilMs?: number; settledLanes?: readonly Lane[] }): {
    rewritten: number
    left: number
  } {
    const { limit, untilMs = Infinity, settledLanes } = options
    let rewritten = 0
    // Messages that wait are passed over; the next call goes on behind them and not at them.
    let after = settledLanes === undefined ? 0 : this.#passed
    while (rewritten < limit && performance.now() < untilMs) {
      const due = this.#sql.due.all(after, Math.min(200, limit - rewritten)) as number[]
      if (due.length === 0) {
        after = 0
        break
      }
      const ready: Array<{ id: number; columns: FoldedColumns; revision: number }> = []
      let chars = 0
      for (const id of due) {
        after = id
        if (settledLanes !== undefined && this.#isUnsettled(id, settledLanes)) continue
        const folded = this.refold(id)
        if (folded === undefined) continue
        ready.push({ id, ...folded })
        chars += folded.columns.attachments.length + folded.columns.body.length
        if (chars > 4_000_000 || performance.now() >= untilMs) break
      }
      this.write(ready)
      rewritten += ready.length
    }
    this.#passed = settledLanes === undefined ? 0 : after
    return { rewritten, left: this.#sql.length.get() as number }
  }

  #isUnsettled(id: number, lanes: readonly Lane[]): boolean {
    return this.#partsOf(id).some(({ hash }) => {
      const content = this.#contents.byHash(hash)
      return (
        content !== undefined &&
        (content.state === 'pending' || content.state === 'extracting') &&
        lanes.includes(content.lane)
      )
    })
  }

  toRead(limit: number, afterId = 0): RewriteDue[] {
    const rows = this.#sql.reference.all(afterId, limit) as Array<{
      id: number
      path: string
      offset: number | null
      bytes: number | null
    }>
    return rows.map(({ id, path, offset, bytes }) => ({
      id,
      reference: {
        path,
        ...(offset !== null && { offset }),
        ...(bytes !== null && { bytes }),
      },
    }))
  }

  write(rewrites: ReadonlyArray<{ id: number; columns: FoldedColumns; revision: number }>): void {
    if (rewrites.length === 0) return
    try {
      this.#db
        .transaction(() => {
          for (const { id, columns, revision } of [...rewrites].sort((a, b) => a.id - b.id)) {
            const before = this.#sql.before.get(id) as Before | undefined
            if (before === undefined) continue
            this.#words.remove(id)
            this.#words.insert(id, columns)
            this.#vocabulary.addAgain(id, columns, before.revision === 0)
            this.#sql.setRevision.run(revision, id)
            const lost = wordsLost(columns)
            if (lost.length > 0) this.#sql.setLosses.run(withLosses(before.losses, lost), id)
            if (this.#newest(id) <= revision) this.#sql.done.run(id)
          }
          this.#vocabulary.write()
          this.#words.written(rewrites.length)
          this.#meta.set('changes', this.#meta.number('changes') + rewrites.length)
          this.#meta.set('miscounted', this.#meta.number('miscounted') + rewrites.length)
        })
        .immediate()
    } catch (error) {
      this.#vocabulary.discard()
      throw error
    }
  }

  refold(id: number): { columns: FoldedColumns; revision: number } | undefined {
    const message = this.#sql.message.get(id) as MessageRow | undefined
    if (message === undefined || message.isKept === 0) return undefined
    const texts = attachmentTexts(this.#contents, this.#partsOf(id), this.#messageChars)
    if (texts === undefined) return undefined
    const { files, attachments, revision } = texts
    const columns = foldColumns(
      {
        subject: message.subject,
        from: people(message.sender),
        to: people(message.recipients),
        cc: people(message.copies),
        body: [...this.#bodies.blocks(id)].join(''),
        files,
        labels: message.labels === null ? [] : (JSON.parse(message.labels) as string[]),
        attachments,
      },
      this.#messageChars,
    )
    return { columns, revision }
  }

  #partsOf(id: number): Array<{ name: string; declaredType: string; hash: string }> {
    return this.#sql.parts.all(id) as Array<{ name: string; declaredType: string; hash: string }>
  }

  #newest(id: number): number {
    return Math.max(
      0,
      ...this.#partsOf(id).map(({ hash }) => this.#contents.byHash(hash)?.revision ?? 0),
    )
  }
}

interface Before {
  revision: number
  /** JSON array of sentences. */
  losses: string | null
}

function withLosses(before: string | null, lost: readonly string[]): string {
  const known = before === null ? [] : (JSON.parse(before) as string[])
  return JSON.stringify([...new Set([...known, ...lost])])
}

/** People as their lines are kept: a line folds as the person did. */
function people(lines: string): FoldPerson[] {
  return lines === '' ? [] : lines.split('\n').map((line) => ({ name: line, address: '' }))
}
