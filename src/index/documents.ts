/**
 * Contents instead of messages: one hit a content whose text or file name matches, with the newest matching
 * message that carries it. Which of a message's attachments holds the words is seen in the kept texts.
 */
import type { Database, Statement } from 'better-sqlite3'
import { EVERYTHING, type Evaluator } from './evaluate.js'
import type { Node } from './compile.js'
import type { ExcerptReader } from './excerpts.js'
import type { Hit, HitReader } from './hits.js'
import { positiveWords, setMatched } from './matched.js'

const BATCH_MAX = 1_000

export class DocumentFinder {
  private readonly hits: HitReader
  private readonly excerpts: ExcerptReader
  private readonly carriers: Statement<[Buffer], number>
  private readonly newestCarrier: Statement<[Buffer, bigint], number>

  constructor(db: Database, hits: HitReader, excerpts: ExcerptReader) {
    this.hits = hits
    this.excerpts = excerpts
    this.carriers = db
      .prepare<[Buffer], number>('SELECT count(DISTINCT message) FROM part WHERE hash = ?')
      .pluck()
    this.newestCarrier = db
      .prepare<[Buffer, bigint], number>(
        'SELECT message FROM part WHERE hash = ? AND message > ? ORDER BY message DESC LIMIT 100',
      )
      .pluck()
  }

  /**
   * @param hi the page begins at this id; a content that a newer matching message carries was on an earlier page
   * @returns hits with `document` set
   */
  newest(
    evaluator: Evaluator,
    node: Node | null,
    hi: number,
    limit: number,
  ): { hits: Hit[]; next?: string } {
    const found: Hit[] = []
    const seen = new Set<string>()
    const leaves = positiveWords(node).map(({ leaf }) => leaf)
    let from = hi
    let batch = Math.max(50, limit * 2)
    for (;;) {
      const ids = evaluator.newest(node, { lo: EVERYTHING.lo, hi: from }, batch)
      const page = this.hits.read(ids)
      const hits = page.hits.filter((hit) => hit.attachments.length > 0)
      if (node) setMatched(evaluator, node, hits, page.headOf)
      for (const hit of hits) {
        if (found.length >= limit) {
          // a message is never split between two pages
          return { hits: found, next: String(found.at(-1)?.id) }
        }
        for (const { name, hash, hex } of this.excerpts.documents(hit, leaves)) {
          if (seen.has(hex)) continue
          seen.add(hex)
          if (this.wasShown(evaluator, node, hash, hi)) continue
          const document = { name, hash: hex, messages: this.carriers.get(hash) ?? 1 }
          found.push({ ...hit, document })
        }
      }
      if (ids.length < batch) return { hits: found }
      from = (ids.at(-1) as number) - 1
      batch = Math.min(BATCH_MAX, batch * 2)
    }
  }

  private wasShown(evaluator: Evaluator, node: Node | null, hash: Buffer, hi: number): boolean {
    if (hi === EVERYTHING.hi) return false
    const newer = this.newestCarrier.all(hash, BigInt(hi))
    return newer.length > 0 && (!node || evaluator.matching(node, newer).size > 0)
  }
}
