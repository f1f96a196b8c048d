/**
 * What is shown for the hits on screen: a snippet of the body, and for each attachment that matched its
 * name, page and a snippet. Responsible for reading the kept texts: blocks of at most 32 kB, inflated one
 * by one until the words are found. Not responsible for finding words in a text (marks.ts).
 */
import type { Database, Statement } from 'better-sqlite3'
import { unpackPages, type StoredPage } from '../fold/texts.js'
import { BodyReader } from './bodies.js'
import type { Hit } from './hits.js'
import type { Leaf } from './leaves.js'
import { Marker, opening, type Found } from './marks.js'
import { TEXT_BLOCKS } from './schema.js'

export interface ExcerptAttachment {
  /** File name; empty when the mail gives none. */
  name: string
  /** SHA-256 of its bytes, 64 hex digits. */
  hash: string
  /** Page, slide or sheet, from 1; absent where the format has no pages. */
  page?: number
  /** Where in a nest the page lies: `2023/plan.docx › image1.png`. */
  member?: string
  /** Words around the matches, each between `MATCH_BEGIN` and `MATCH_END`; empty when the attachment's text did not match. */
  snippet: string
}

export interface Excerpt {
  id: number
  vault: number
  /** About 160 characters of the body, matches between `MATCH_BEGIN` and `MATCH_END`; its beginning when no word matched there; empty when texts are not kept. */
  snippet: string
  /** All attachments of the message, those that matched first. */
  attachments: ExcerptAttachment[]
}

/** Blocks of one message looked through at most; a 5 M character content has 310. */
const GLANCED = 640
/** Blocks of one message folded whole at most, when a look at the original found nothing. */
const FOLDED = 96

interface PartRow {
  name: string
  hash: Buffer
}

/** Reads kept texts over read-only connections. */
export class ExcerptReader {
  private readonly bodies: BodyReader
  private readonly parts: Statement<[number], PartRow>
  private readonly texts:
    Statement<[{ 1: Buffer; 2: number }], { id: number; text: Buffer }> | undefined

  /** @param extracts extracts.db; `undefined` when there is none, and attachments then have no snippets */
  constructor(index: Database, extracts: Database | undefined) {
    this.bodies = new BodyReader(index)
    this.parts = index.prepare('SELECT name, hash FROM part WHERE message = ? ORDER BY number')
    this.texts = extracts?.prepare(
      `SELECT t.id - c.id * ${TEXT_BLOCKS} AS id, t.text FROM content c JOIN content_text t
       ON t.id >= c.id * ${TEXT_BLOCKS} + ?2 AND t.id < (c.id + 1) * ${TEXT_BLOCKS}
       WHERE c.hash = ?1 ORDER BY t.id LIMIT 1`,
    )
  }

  /** @param leaves words of the query that were wanted */
  read(hit: Hit, leaves: readonly Leaf[]): Excerpt {
    const marker = new Marker(leaves)
    const budget = { glanced: GLANCED, folded: FOLDED }
    return {
      id: hit.id,
      vault: hit.vault,
      snippet: this.body(hit, marker, budget),
      attachments: this.attachments(hit, marker, budget),
    }
  }

  /** The attachments of a message that a query is about: those that hold its words or are named so; all, when it has no words. */
  documents(hit: Hit, leaves: readonly Leaf[]): Array<{ name: string; hash: Buffer; hex: string }> {
    const marker = new Marker(leaves)
    const parts = this.parts
      .all(hit.id)
      .map(({ name, hash }) => ({ name, hash, hex: hash.toString('hex') }))
    if (marker.isEmpty) return parts
    const budget = { glanced: GLANCED, folded: FOLDED }
    return parts.filter(
      ({ name, hash }) =>
        (hit.matched.includes('filenames') && marker.search(name)) ||
        (hit.matched.includes('attachments') &&
          find(() => this.contentBlocks(hash), marker, budget)),
    )
  }

  private body(hit: Hit, marker: Marker, budget: Budget): string {
    const blocks = (): Iterable<StoredPage[]> => this.bodyBlocks(hit.id)
    const found = hit.matched.includes('body') ? find(blocks, marker, budget) : undefined
    if (found) return found.snippet
    for (const [first] of blocks()) return opening(first?.text ?? '')
    return ''
  }

  private *bodyBlocks(id: number): Iterable<StoredPage[]> {
    for (const text of this.bodies.blocks(id)) yield [{ text }]
  }

  private attachments(hit: Hit, marker: Marker, budget: Budget): ExcerptAttachment[] {
    const isWanted = hit.matched.includes('attachments')
    if (!isWanted && hit.attachments.length === 0) return []
    const seen = new Set<string>()
    const matched: Array<ExcerptAttachment & { leaves: number }> = []
    const others: ExcerptAttachment[] = []
    for (const { name, hash } of this.parts.all(hit.id)) {
      const hex = hash.toString('hex')
      const isNew = !seen.has(hex)
      seen.add(hex)
      const found =
        isWanted && isNew ? find(() => this.contentBlocks(hash), marker, budget) : undefined
      if (!found) {
        others.push({ name, hash: hex, snippet: '' })
        continue
      }
      const { page, member } = found.page
      matched.push({
        name,
        hash: hex,
        ...(page !== undefined && { page }),
        ...(member !== undefined && { member }),
        snippet: found.snippet,
        leaves: found.leaves,
      })
    }
    matched.sort((a, b) => b.leaves - a.leaves)
    return [...matched.map(({ leaves: _, ...attachment }) => attachment), ...others]
  }

  private *contentBlocks(hash: Buffer): Iterable<StoredPage[]> {
    if (!this.texts) return
    for (let next = 0; next < TEXT_BLOCKS;) {
      const row = this.texts.get({ 1: hash, 2: next })
      if (!row) return
      yield unpackPages(row.text)
      next = row.id + 1
    }
  }
}

interface Budget {
  glanced: number
  folded: number
}

/** The page with the best snippet: the first that shows every word, else the one that shows the most. */
function find(
  blocks: () => Iterable<StoredPage[]>,
  marker: Marker,
  budget: Budget,
): (Found & { page: StoredPage }) | undefined {
  if (marker.isEmpty) return undefined
  let best: (Found & { page: StoredPage }) | undefined
  const look = (page: StoredPage, found: Found | undefined): boolean => {
    if (found && found.leaves > (best?.leaves ?? 0)) best = { ...found, page }
    return (best?.leaves ?? 0) >= marker.leaves
  }
  let lookedAt = 0
  for (const pages of blocks()) {
    if (budget.glanced <= 0) break
    budget.glanced -= 1
    for (const page of pages) if (look(page, marker.glance(page.text))) return best
    lookedAt += 1
    // a few more blocks may show more of the words on one page; not the whole book
    if (best && lookedAt >= 8) return best
  }
  if (best) return best
  for (const pages of blocks()) {
    if (budget.folded <= 0) break
    budget.folded -= 1
    for (const page of pages) if (look(page, marker.search(page.text))) return best
    if (best) return best
  }
  return best
}
