/**
 * Conversations, from Message-ID, References and In-Reply-To. Each id that a message names belongs to one
 * thread; a message that names ids of two threads joins them, so that the order of arrival does not matter.
 */
import type { Connection } from './files.js'
import { hash47 } from './lookup.js'

/** References of one message that count: the first, and the last of the rest. */
const REFERENCES_MAX = 50

/** Longest chain of joined threads that is followed. Each join links two roots, so that chains stay short. */
const CHAIN_MAX = 64

/** Messages of a thread that are counted to find the larger; a mailing list's thread has thousands. */
const COUNTED_MAX = 256

/**
 * A thread's number is the key of its first id, whose row names itself. Joining makes the row of the smaller
 * thread's first id name the larger one; the rows of its other ids lead there through it.
 */
export class Threads {
  readonly #next
  readonly #add
  readonly #lead
  readonly #size
  readonly #moveMessages
  readonly #isAlive
  readonly #forget

  constructor(db: Connection) {
    this.#next = db.prepare('SELECT thread FROM thread_member WHERE key = ?').pluck()
    this.#add = db.prepare('INSERT OR IGNORE INTO thread_member VALUES (?, ?)')
    this.#lead = db.prepare('INSERT OR REPLACE INTO thread_member VALUES (?, ?)')
    this.#size = db
      .prepare(`SELECT count(*) FROM (SELECT 1 FROM message WHERE thread = ? LIMIT ${COUNTED_MAX})`)
      .pluck()
    this.#moveMessages = db.prepare('UPDATE message SET thread = ? WHERE thread = ?')
    this.#isAlive = db.prepare('SELECT 1 FROM message WHERE thread = ? LIMIT 1').pluck()
    this.#forget = db.prepare('DELETE FROM thread_member WHERE key = ?')
  }

  /** The thread of a message that is about to be written under this row id. */
  assign(
    id: number,
    message: { messageId: string; references: readonly string[]; inReplyTo: readonly string[] },
  ): number {
    const keys = keysOf(message)
    if (keys.length === 0) return -id
    const found = new Set<number>()
    const fresh: number[] = []
    for (const key of keys) {
      const thread = this.#find(key)
      if (thread === undefined) fresh.push(key)
      else found.add(thread)
    }
    const [only] = found
    const thread = found.size > 1 ? this.#join([...found]) : (only ?? (keys[0] as number))
    for (const key of fresh) this.#add.run(key, thread)
    return thread
  }

  /** The thread that an assigned one has been joined to since. */
  joined(thread: number): number {
    return thread < 0 ? thread : (this.#find(thread) ?? thread)
  }

  /**
   * A message of the thread was deleted. When it was the last, the thread's own row goes; the rows of its
   * other ids lead to nothing then, and begin it anew when one of them is named again.
   */
  left(thread: number): void {
    if (thread >= 0 && this.#isAlive.get(thread) === undefined) this.#forget.run(thread)
  }

  #find(key: number): number | undefined {
    let at = key
    for (let step = 0; step < CHAIN_MAX; step++) {
      const next = this.#next.get(at) as number | undefined
      if (next === undefined) {
        // The row of a thread that was emptied: it lives again under the same number.
        if (at === key) return undefined
        this.#add.run(at, at)
        return at
      }
      if (next === at) return at
      at = next
    }
    return at
  }

  /** Moves the smaller ones into the largest. */
  #join(threads: number[]): number {
    const sizes = new Map(threads.map((thread) => [thread, this.#size.get(thread) as number]))
    const [largest, ...rest] = threads.sort(
      (a, b) => (sizes.get(b) as number) - (sizes.get(a) as number) || a - b,
    ) as [number, ...number[]]
    for (const thread of rest) {
      this.#moveMessages.run(largest, thread)
      this.#lead.run(thread, largest)
    }
    return largest
  }
}

function keysOf(message: {
  messageId: string
  references: readonly string[]
  inReplyTo: readonly string[]
}): number[] {
  const { references } = message
  const counted =
    references.length > REFERENCES_MAX
      ? [references[0] as string, ...references.slice(1 - REFERENCES_MAX)]
      : references
  const ids = [...counted, ...message.inReplyTo.slice(0, REFERENCES_MAX), message.messageId]
  return [...new Set(ids.filter((id) => id !== '').map(hash47))]
}
