/**
 * Finds messages by what they are called: unique name, path, Message-ID. The table has an index over short
 * keys of these; the text itself decides.
 */
import type { Statement } from 'better-sqlite3'
import type { Connection } from './files.js'

/** 31 bits of a text. */
export function keyOf(text: string): number {
  return hash47(text) & 0x7fffffff
}

/** 47 bits of a text, so that SQLite stores it in six bytes. Never 0. Two multiplicative hashes, mixed. */
export function hash47(text: string): number {
  let low = 0x9e3779b9
  let high = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x9e3779b1)
    high = Math.imul(high ^ code, 0x5f356495)
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  return (high & 0x7fff) * 2 ** 32 + (low >>> 0) || 1
}

/**
 * Unique name of the file at a path: its name, for a Maildir file without the flags. A row keeps '' for a
 * unique name that is this, the text itself for others (messages in an mbox).
 */
export function uniqueOfPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/[:;!]2,[^/]*$/, '')
}

/** Ids of the messages with this Message-ID (without brackets), newest first. */
export function idsByMessageId(index: Connection, messageId: string): number[] {
  if (messageId === '') return []
  return statementsOf(index).byMessageId.all(keyOf(messageId), messageId) as number[]
}

/** Ids of the messages at this vault-relative path, newest first: one for a file, all of an mbox. */
export function idsByPath(index: Connection, path: string): number[] {
  const { byName, mbox, inMbox } = statementsOf(index)
  const name = path.slice(path.lastIndexOf('/') + 1)
  for (const unique of new Set([uniqueOfPath(path), name])) {
    const ids = byName.all(keyOf(unique), path) as number[]
    if (ids.length > 0) return ids
  }
  // In two steps: as one query with IN it reads every message.
  const folder = mbox.get(path) as number | undefined
  return folder === undefined ? [] : (inMbox.all(folder, path) as number[])
}

interface Statements {
  byMessageId: Statement
  byName: Statement
  mbox: Statement
  inMbox: Statement
}
const prepared = new WeakMap<Connection, Statements>()

function statementsOf(index: Connection): Statements {
  let statements = prepared.get(index)
  if (!statements) {
    const ids = (where: string): Statement =>
      index.prepare(`SELECT id FROM message WHERE ${where} ORDER BY id DESC`).pluck()
    statements = {
      byMessageId: ids('message_id_key = ? AND message_id = ?'),
      byName: ids('unique_key = ? AND path = ?'),
      mbox: index.prepare('SELECT id FROM folder WHERE path = ?').pluck(),
      inMbox: ids('folder = ? AND path = ?'),
    }
    prepared.set(index, statements)
  }
  return statements
}
