/**
 * Conversations, from Message-ID, References and In-Reply-To. Each id that a message names belongs to one
 * thread; a message that names ids of two threads joins them, so that the order of arrival does not matter.
 */
import type { Connection } from './files.js'

/** References of one message that count: the first, and the last of the rest. */
const REFERENCES_MAX = 50

export class Threads {
  readonly #threadOf
  readonly #add
  readonly #size
  readonly #moveMessages
  readonly #moveMembers
  readonly #isAlive
  readonly #forget

  constructor(db: Connection) {
    this.#threadOf = db.prepare('SELECT thread FROM thread_member WHERE key = ?').pluck()
    this.#add = db.prepare('INSERT OR IGNORE INTO thread_member VALUES (?, ?)')
    this.#size = db.prepare('SELECT count(*) FROM message WHERE thread = ?').pluck()
    this.#moveMessages = db.prepare('UPDATE message SET thread = ? WHERE thread = ?')
    this.#moveMembers = db.prepare('UPDATE thread_member SET thread = ? WHERE thread = ?')
    this.#isAlive = db.prepare('SELECT 1 FROM message WHERE thread = ? LIMIT 1').pluck()
    this.#forget = db.prepare('DELETE FROM thread_member WHERE thread = ?')
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
      const thread = this.#threadOf.get(key) as number | undefined
      if (thread === undefined) fresh.push(key)
      else found.add(thread)
    }
    const thread = found.size > 1 ? this.#join([...found]) : ([...found][0] ?? (keys[0] as number))
    for (const key of fresh) this.#add.run(key, thread)
    return thread
  }

  /** A message of the thread was deleted: a thread without messages is forgotten. */
  left(thread: number): void {
    if (thread >= 0 && this.#isAlive.get(thread) === undefined) this.#forget.run(thread)
  }

  /** Moves the smaller ones into the largest. */
  #join(threads: number[]): number {
    const sizes = new Map(threads.map((thread) => [thread, this.#size.get(thread) as number]))
    const [largest, ...rest] = threads.sort(
      (a, b) => (sizes.get(b) as number) - (sizes.get(a) as number) || a - b,
    ) as [number, ...number[]]
    for (const thread of rest) {
      this.#moveMessages.run(largest, thread)
      this.#moveMembers.run(largest, thread)
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
  return [...new Set(ids.filter((id) => id !== '').map(hash52))]
}

/** 52 bits of a string: two 32-bit multiplicative hashes, mixed. Never 0. */
function hash52(text: string): number {
  let low = 0x9e3779b9
  let high = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x9e3779b1)
    high = Math.imul(high ^ code, 0x5f356495)
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  return (high & 0xfffff) * 2 ** 32 + (low >>> 0) || 1
}
