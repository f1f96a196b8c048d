/**
 * The dictionary that bodies are packed with: the words that stand in many of the first thousand messages, folded.
 * Made once, by the writer; what was packed before stays as it is.
 *
 * It holds no word of a few messages and no order of words, so that it says nothing of any one mail. When a purge finds
 * that a word of it stands in no message any more, bodies are packed without it and the next batch makes another.
 * Not responsible for packing (fold/texts.ts) or for the rows of bodies (bodies.ts).
 */
import { COLUMNS } from '../fold/columns.js'
import { dictionaryOf, packBody, unpackBody, type BodyDictionary } from '../fold/texts.js'
import { BodyReader, BodyWriter } from './bodies.js'
import type { Connection } from './files.js'
import type { Vocabulary } from './vocabulary.js'

/** Messages from which on the common words are known. */
const MESSAGES_MIN = 1_000
/** A word must stand in this share of them. */
const SHARE_MIN = 0.01
/**
 * A made-up body of 3 kB, packed without: 1,454 bytes in 66 µs. With 4 kB of words at level 6: 1,374 in 85; 24 kB:
 * 1,349 in 137, at level 4 1,362 in 82. Real English of 2 kB: 817 bytes in 36 µs without, 709 in 70 with 15 kB at level 4.
 * No more than 32 kB counts (RFC 1951), the text included.
 */
const BYTES_MAX = 24_576
const WORD_CHARS = { min: 3, max: 40 } as const
const PURGED_AT_ONCE = 500

export class Dictionary {
  readonly #db: Connection
  readonly #vocabulary: Vocabulary
  /** Null: there is none yet. Undefined: not looked yet. */
  #current: BodyDictionary | null | undefined
  /** Also when no word was common enough: mail in scripts without words. */
  #isTried = false
  /** Words that a purge took out, by number, for bodies that were packed meanwhile. */
  readonly #purged = new Map<number, Uint8Array>()

  constructor(db: Connection, vocabulary: Vocabulary) {
    this.#db = db
    this.#vocabulary = vocabulary
  }

  /** What bodies are to be packed with now. */
  get current(): BodyDictionary | undefined {
    if (this.#current === undefined)
      this.#current =
        (this.#db
          .prepare('SELECT number, words FROM dictionary ORDER BY number DESC LIMIT 1')
          .get() as BodyDictionary | undefined) ?? null
    return this.#current ?? undefined
  }

  /** The transaction was rolled back: what is known of it may not be so. */
  discard(): void {
    this.#current = undefined
    this.#isTried = false
  }

  /** Makes it when there are messages enough. Inside the transaction of a batch that has bodies. */
  make(): void {
    if (this.#isTried || this.current !== undefined) return
    const isEnough = this.#db.prepare(`SELECT 1 FROM message LIMIT 1 OFFSET ${MESSAGES_MIN - 1}`)
    if (isEnough.get() === undefined) return
    this.#isTried = true
    const messages = this.#db.prepare('SELECT count(*) FROM message').pluck().get() as number
    const common = this.#vocabulary.common(COLUMNS.indexOf('body'), Math.ceil(messages * SHARE_MIN))
    let bytes = 1
    const words: string[] = []
    for (const [word] of [...common].sort((a, b) => b[1] - a[1])) {
      if (word.length < WORD_CHARS.min || word.length > WORD_CHARS.max) continue
      bytes += Buffer.byteLength(word) + 1
      if (bytes > BYTES_MAX) break
      words.push(word)
    }
    if (words.length === 0) return
    // The commonest last: what is near has the shortest code.
    this.#db
      .prepare('INSERT INTO dictionary (words) VALUES (?)')
      .run(Buffer.from(` ${words.reverse().join(' ')} `))
    this.#current = undefined
  }

  /** A body as it can be kept: packed again when its dictionary was taken out since. */
  kept(blocks: readonly Uint8Array[]): readonly Uint8Array[] {
    const wordsOf = (block: Uint8Array): Uint8Array | undefined =>
      this.#purged.get(dictionaryOf(block))
    if (!blocks.some(wordsOf)) return blocks
    return packBody(blocks.map((block) => unpackBody(block, wordsOf(block))).join(''))
  }

  /** Takes it out of the bodies when a word of it stands in no message any more. After an exact recount of `term`. */
  purge(): void {
    const { current } = this
    if (current === undefined) return
    const isAlive = this.#db.prepare('SELECT 1 FROM term WHERE text = ?')
    const words = Buffer.from(current.words).toString().trim().split(' ')
    if (words.every((word) => isAlive.get(word) !== undefined)) return
    const reader = new BodyReader(this.#db)
    const writer = new BodyWriter(this.#db)
    const ids = this.#db.prepare('SELECT id FROM message WHERE id > ? ORDER BY id LIMIT ?').pluck()
    const repack = this.#db.transaction((messages: readonly number[]) => {
      for (const id of messages) {
        const body = [...reader.blocks(id)].join('')
        writer.remove(id)
        writer.insert(id, packBody(body))
      }
    })
    for (let after = 0; ;) {
      const messages = ids.all(after, PURGED_AT_ONCE) as number[]
      if (messages.length === 0) break
      repack.immediate(messages)
      after = messages.at(-1) as number
    }
    this.#db.exec('DELETE FROM dictionary')
    this.#purged.set(current.number, current.words)
    this.discard()
  }
}
