/**
 * Matches drawn together: conversations as one line, contents as one line, and counts by sender, year,
 * folder or type. Not responsible for finding the matches (evaluate.ts).
 */
import type { Database, Statement } from 'better-sqlite3'
import { kindsOf } from '../fold/kinds.js'
import type { Node } from './compile.js'
import { EVERYTHING, type Evaluator } from './evaluate.js'

/** A conversation among the matches. */
export interface ThreadGroup {
  /** Newest message of the conversation that matches. */
  readonly newest: number
  /** How many of its messages match. */
  readonly messages: number
}

/** Matches read at a time, at least and at most. */
const BATCH_FIRST = 64
const BATCH_MAX = 8_192

export const COUNTS = ['from', 'year', 'folder', 'type'] as const
export type CountBy = (typeof COUNTS)[number]

export interface Counted {
  /** A sender's address, a year in local time, a folder's name, or a kind or ending of a document. */
  value: string
  messages: number
}

export class Grouper {
  private readonly db: Database
  private readonly threads: Statement<[string], [id: number, thread: number]>
  private readonly members: Statement<[string], [id: number, thread: number]>

  constructor(db: Database) {
    this.db = db
    this.threads = db
      .prepare<[string], [id: number, thread: number]>(
        `SELECT id, thread FROM message WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC`,
      )
      .raw()
    this.members = db
      .prepare<[string], [id: number, thread: number]>(
        `SELECT id, thread FROM message WHERE thread IN (SELECT value FROM json_each(?))`,
      )
      .raw()
  }

  /**
   * Conversations by their newest match, newest first.
   * @param hi the page begins at this id; a conversation with a match above it was on an earlier page
   */
  newestThreads(evaluator: Evaluator, node: Node | null, hi: number, limit: number): ThreadGroup[] {
    const groups: ThreadGroup[] = []
    const seen = new Set<number>()
    let from = hi
    let read = 0
    let batch = Math.max(BATCH_FIRST, Math.ceil(limit * 1.1))
    while (groups.length < limit) {
      const ids = evaluator.newest(node, { lo: EVERYTHING.lo, hi: from }, batch)
      const fresh = this.threads
        .all(JSON.stringify(ids))
        .filter(([, thread]) => !seen.has(thread) && seen.add(thread))
        // on a first page each is a line; on another, those are not that were on an earlier one
        .slice(0, hi === EVERYTHING.hi ? limit - groups.length : undefined)
      const members = this.members
        .all(JSON.stringify(fresh.map(([, thread]) => thread)))
        .sort(([a], [b]) => b - a)
      const memberIds = members.map(([id]) => id)
      const matching = node ? evaluator.matching(node, memberIds) : new Set(memberIds)
      const counts = new Map<number, { newest: number; messages: number }>()
      for (const [id, thread] of members) {
        if (!matching.has(id)) continue
        const count = counts.get(thread)
        if (count) count.messages += 1
        else counts.set(thread, { newest: id, messages: 1 })
      }
      for (const [id, thread] of fresh) {
        const count = counts.get(thread)
        if (count?.newest === id) groups.push(count)
      }
      if (ids.length < batch) break
      from = (ids.at(-1) as number) - 1
      read += ids.length
      // as many as the rate so far asks for
      const wanted = ((limit - groups.length) * read * 1.2) / Math.max(1, groups.length)
      batch = Math.min(BATCH_MAX, Math.max(BATCH_FIRST, Math.ceil(wanted)))
    }
    return groups.slice(0, limit)
  }

  /**
   * How many matches have each value, most first (years: newest first). Reads every match.
   * @returns the counts, and all matches
   */
  count(
    evaluator: Evaluator,
    node: Node | null,
    by: CountBy,
  ): { counts: Counted[]; messages: number } {
    const counts = new Map<string, number>()
    const add = (value: string): void => {
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    const rows = this.db.prepare<
      [string],
      { id: number; date: number; sender: string; folder: string | null }
    >(
      `SELECT m.id, m.date, m.sender, f.name AS folder FROM message m LEFT JOIN folder f ON f.id = m.folder
       WHERE m.id IN (SELECT value FROM json_each(?))`,
    )
    const parts = this.db.prepare<[string], { message: number; name: string; type: string }>(
      `SELECT message, name, declared_type AS type FROM part
       WHERE message IN (SELECT value FROM json_each(?)) ORDER BY message`,
    )
    const ids = evaluator.newest(node, EVERYTHING, Number.MAX_SAFE_INTEGER)
    for (let at = 0; at < ids.length; at += 10_000) {
      const some = JSON.stringify(ids.slice(at, at + 10_000))
      if (by === 'type') {
        const kinds = new Map<number, Set<string>>()
        for (const { message, ...file } of parts.all(some)) {
          const known = kinds.get(message) ?? new Set()
          for (const kind of kindsOf(file)) known.add(kind)
          kinds.set(message, known)
        }
        for (const known of kinds.values()) for (const kind of known) add(kind)
        continue
      }
      for (const { date, sender, folder } of rows.all(some)) {
        if (by === 'year') add(String(new Date(date * 1000).getFullYear()))
        else if (by === 'folder') add(folder ?? '')
        else add(addressOf(sender))
      }
    }
    return { counts: inOrder(counts, by), messages: ids.length }
  }
}

/** Most first; years newest first. */
export function inOrder(counts: ReadonlyMap<string, number>, by: CountBy): Counted[] {
  const counted = [...counts].map(([value, messages]) => ({ value, messages }))
  return by === 'year'
    ? counted.sort((a, b) => Number(b.value) - Number(a.value))
    : counted.sort((a, b) => b.messages - a.messages || (a.value < b.value ? -1 : 1))
}

/** The first sender's address in lower case; the line as it is when there is none. */
function addressOf(sender: string): string {
  const [first = ''] = sender.split('\n')
  return (/<([^<>]*)>\s*$/.exec(first)?.[1] ?? first).toLowerCase()
}
