/**
 * After the death of a process: what a thread had in work is suspected, pays an attempt and is read in a
 * process of its own; other claims are given back. A suspect pays only once: when it does kill, its own
 * process shows it, and when we are killed from outside it is not to blame.
 */
import type { Store } from '../index/store.js'
import type { MessageReference } from '../part/reference.js'
import { forgetJournal, readJournals } from '../workers/journal.js'
import { transition } from './transition.js'

const KEY = 'suspects'

export class Suspects {
  readonly #store: Store
  /** Messages, by place, and contents, by hash, that were in work when a process died. */
  readonly #suspects: Set<string>

  /**
   * Looks at what a dead process left, and settles it.
   *
   * @param directory folder of the index, where threads keep their journals
   */
  constructor(store: Store, directory: string, maxAttempts: number) {
    this.#store = store
    const suspects = new Set(JSON.parse(store.get(KEY) ?? '[]') as string[])
    this.#suspects = suspects
    const journals = readJournals(directory)
    const fresh = new Set<string>()
    for (const { item } of journals) {
      const suspect = 'hash' in item ? item.hash : placeOf(item)
      if (!suspects.has(suspect)) fresh.add(suspect)
      suspects.add(suspect)
    }
    if (fresh.size > 0) store.set(KEY, JSON.stringify([...suspects]))

    for (;;) {
      const left = store.contents.interrupted(500)
      if (left.length === 0) break
      // Claimed once more for the right to record what became of the first claim.
      const claimed = store.contents.claim(left.map(({ id }) => id))
      if (claimed.length === 0) break
      store.contents.record(
        claimed.map(({ id, claim, why, lane, hash, attempts: withThis }) => {
          const pays = fresh.has(hash)
          const attempts = Math.max(0, withThis - (pays ? 1 : 2))
          return {
            id,
            claim,
            why,
            lane,
            attempts,
            state: transition(
              'extracting',
              pays ? { kind: 'died', isLast: attempts >= maxAttempts } : { kind: 'interrupted' },
            ),
            ...(pays && { detail: 'died: the process ended while this was read', due: 0 }),
          }
        }),
      )
    }
    for (const { thread } of journals) forgetJournal(directory, thread)
    store.rewrites.queue()
  }

  hasMessage(reference: MessageReference): boolean {
    return this.#suspects.has(placeOf(reference))
  }

  hasContent(hash: string): boolean {
    return this.#suspects.has(hash)
  }

  /** All messages were read and the process lives; or what they do was seen in a process of their own. */
  clearMessages(): void {
    this.#clear((suspect) => !/^[0-9a-f]{64}$/.test(suspect))
  }

  clearContent(hash: string): void {
    this.#clear((suspect) => suspect === hash)
  }

  #clear(isCleared: (suspect: string) => boolean): void {
    const cleared = [...this.#suspects].filter(isCleared)
    if (cleared.length === 0) return
    for (const suspect of cleared) this.#suspects.delete(suspect)
    this.#store.set(KEY, JSON.stringify([...this.#suspects]))
  }
}

function placeOf({ path, offset }: MessageReference): string {
  return offset === undefined ? path : `${path}#${offset}`
}
