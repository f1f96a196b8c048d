/**
 * Searches one index. Responsible for a search from its text to its hits: one snapshot of the index, exact
 * words or else similar ones, order, pages, counts. Not responsible for the query language (query.ts), for
 * what words match (leaves.ts), for finding ids (evaluate.ts) or for excerpts (excerpts.ts).
 *
 * Every statement runs to its end (`.all()`); a paused one would pin the write-ahead log.
 */
import { dirname } from 'node:path'
import type { Database, Statement } from 'better-sqlite3'
import type { ContentState } from '../part/states.js'
import { Compiler, matchOf, type Compiled, type Node } from './compile.js'
import { coverageOf } from './contents.js'
import { DocumentFinder } from './documents.js'
import { EVERYTHING, Evaluator } from './evaluate.js'
import { ExcerptReader, type Excerpt } from './excerpts.js'
import { explained, explanationOf } from './files.js'
import { COUNTS, Grouper, type CountBy } from './groups.js'
import { HitReader, type Hit, type SearchResult } from './hits.js'
import type { Leaf } from './leaves.js'
import { positiveWords, setMatched } from './matched.js'
import { parseQuery, type QueryNode } from './query.js'
import { ranked, RANKED } from './relevance.js'
import { Similar } from './similar.js'
import { Vocabulary, type Term } from './terms.js'

export interface SearchOptions {
  /** Hits at most. Default 20. */
  limit?: number
  /** `relevance` ranks the newest 1,000 matches. Default `newest`. */
  sort?: 'newest' | 'relevance'
  /** One hit a conversation (its newest match, `messages` of them) or a document (`document`). Default: one a message. */
  by?: 'message' | 'thread' | 'document'
  /** The same as `by: 'document'`. */
  documents?: boolean
  /** The `next` of an earlier result: only what comes after it. */
  after?: string
  /** Also counts all matches by this; costs time that grows with the matches. */
  countBy?: CountBy
  /** Counts every match, whatever it costs. Default: only when it is cheap. */
  countAll?: boolean
  /** What `newer:` and `today` count from. Default: the current time. */
  now?: Date
}

/** Matches counted at most unless all are asked for; a count takes about 0.1 µs a match. */
const COUNTED = 50_000
/** A phrase of several words is read at the cost of so many single ones. */
const PHRASE_COST = 5
/** Terms named in a result. */
const TERMS_SHOWN = 50

/** Open connections to one vault's databases; reading is enough. */
export interface SearchFiles {
  index: Database
  /** Missing when attachments are not searched. */
  extracts?: Database
}

/** One page of ids, with what is known of each. */
interface Page {
  readonly ids: readonly number[]
  readonly next?: string
  /** By id: matches of the conversation. */
  readonly messages?: ReadonlyMap<number, number>
}

/** Searches one vault over open connections. */
export class Searcher {
  private readonly db: Database
  /** Where a file in which damage was met is noted, for the next writer. */
  private readonly directory: string
  private readonly hits: HitReader
  private readonly vocabulary: Vocabulary
  private readonly similar: Similar
  private readonly grouper: Grouper
  private readonly excerptReader: ExcerptReader
  private readonly documents: DocumentFinder
  private readonly tally: Statement<[], { state: ContentState; contents: number }> | undefined
  /** Words that found a hit, for its excerpt. */
  private readonly words = new WeakMap<Hit, readonly Leaf[]>()

  /** @throws PipelineError when the files cannot be searched */
  constructor({ index, extracts }: SearchFiles) {
    this.db = index
    this.directory = dirname(index.name)
    try {
      this.hits = new HitReader(index)
      this.vocabulary = new Vocabulary(index)
      this.similar = new Similar(index)
      this.grouper = new Grouper(index)
      this.excerptReader = new ExcerptReader(index, extracts)
      this.documents = new DocumentFinder(index, this.hits, this.excerptReader)
      this.tally = extracts?.prepare('SELECT state, contents FROM tally')
    } catch (error) {
      throw explanationOf(this.directory, error)
    }
  }

  /**
   * Searches for what a person typed.
   * @param typed any text; see query.ts
   * @returns hits, newest first unless sorted by relevance, and how far the search went
   * @throws {PipelineError} when the index cannot be read; never for what was typed
   * @throws {RangeError} for an option that makes no sense
   */
  async search(typed: string, options: SearchOptions = {}): Promise<SearchResult> {
    const started = performance.now()
    check(options)
    // one snapshot: a sweep may commit between two statements
    const result = explained(this.directory, () =>
      this.db.transaction(() => this.run(typed, options))(),
    )
    return { ...result, ms: Math.round((performance.now() - started) * 100) / 100 }
  }

  /**
   * What to show for hits that this searcher found: snippets of body and attachments, with pages.
   * @param hits on screen; texts are inflated for these only
   * @throws PipelineError when the index cannot be read
   */
  async excerpts(hits: readonly Hit[]): Promise<Excerpt[]> {
    return explained(this.directory, () =>
      hits.map((hit) => this.excerptReader.read(hit, this.words.get(hit) ?? [])),
    )
  }

  private run(typed: string, options: SearchOptions): Omit<SearchResult, 'ms'> {
    const query = parseQuery(typed, options.now)
    const evaluator = new Evaluator(this.db)
    const exact = new Compiler(this.db, this.vocabulary).compile(query.tree)
    let compiled = exact
    let page = this.hitsOf(compiled, evaluator, options)
    if (page.hits.length === 0) {
      const { limit = 20, after, by, documents } = options
      const isKnown = limit > 0 && after === undefined && !documents && by !== 'document'
      const close =
        (isKnown || evaluator.newest(exact.node, EVERYTHING, 1).length === 0) &&
        this.close(query.tree, exact, evaluator)
      if (close) {
        compiled = close
        page = this.hitsOf(compiled, evaluator, options)
      }
    }
    const leaves = positiveWords(compiled.node).map(({ leaf }) => leaf)
    for (const hit of page.hits) this.words.set(hit, leaves)
    const { countBy } = options
    const grouped = countBy && this.grouper.count(evaluator, compiled.node, countBy)
    const count = grouped?.messages ?? this.count(evaluator, compiled, page, options)
    return {
      hits: page.hits,
      count,
      more: count === undefined,
      tier: compiled === exact ? 'exact' : 'close',
      terms: [...new Set(leaves.flatMap((leaf) => leaf.terms))].slice(0, TERMS_SHOWN),
      cut: [...query.notices, ...compiled.notices],
      coverage: coverageOf(this.tally?.all() ?? []),
      ...(page.next !== undefined && { next: page.next }),
      ...(grouped && { counts: grouped.counts }),
    }
  }

  /**
   * Similar words, when the exact ones match nothing: for those that the index does not hold, then for all.
   * @returns `undefined` when they match nothing either
   */
  private close(
    tree: QueryNode | null,
    exact: Compiled,
    evaluator: Evaluator,
  ): Compiled | undefined {
    const leaves = positiveWords(exact.node).map(({ leaf }) => leaf)
    if (leaves.length === 0) return undefined
    const modes = leaves.some((leaf) => leaf.phrases.length === 0) ? [false, true] : [true]
    const found = new Map<string, readonly Term[]>()
    for (const isForAll of modes) {
      const similar = { similar: this.similar, found, isForAll }
      const compiler = new Compiler(this.db, this.vocabulary, similar)
      const close = compiler.compile(tree)
      const isClose = positiveWords(close.node).some(({ leaf }) => leaf.isClose)
      if (isClose && evaluator.newest(close.node, EVERYTHING, 1).length > 0) return close
    }
    return undefined
  }

  private hitsOf(
    compiled: Compiled,
    evaluator: Evaluator,
    options: SearchOptions,
  ): { hits: Hit[]; next?: string } {
    const { limit = 20, after } = options
    return options.documents || options.by === 'document'
      ? this.documents.newest(evaluator, compiled.node, startOf(after), limit)
      : this.messages(compiled, evaluator, options, limit)
  }

  private messages(
    { node }: Compiled,
    evaluator: Evaluator,
    options: SearchOptions,
    limit: number,
  ): { hits: Hit[]; next?: string } {
    const { ids, next, messages } = this.page(node, evaluator, options, limit)
    const { hits, headOf } = this.hits.read(ids)
    // fields are asked for a page in the order of ids
    if (node) {
      const byId = [...hits].sort((a, b) => b.id - a.id)
      setMatched(evaluator, node, byId, headOf)
    }
    for (const hit of hits) {
      const count = messages?.get(hit.id)
      if (count !== undefined) hit.messages = count
    }
    return { hits, ...(next !== undefined && { next }) }
  }

  private page(
    node: Node | null,
    evaluator: Evaluator,
    { sort, by, after }: SearchOptions,
    limit: number,
  ): Page {
    if (by === 'thread') {
      const groups = this.grouper.newestThreads(evaluator, node, startOf(after), limit + 1)
      const shown = groups.slice(0, limit)
      return {
        ...withNext(
          shown.map(({ newest }) => newest),
          groups.length > limit,
        ),
        messages: new Map(shown.map(({ newest, messages }) => [newest, messages])),
      }
    }
    if (sort === 'relevance' && node) {
      const skipped = after === undefined ? 0 : startOf(after) + 1
      const newest = evaluator.newest(node, EVERYTHING, RANKED)
      const best = ranked(this.db, evaluator, node, newest)
      const ids = best.slice(skipped, skipped + limit)
      const isLast = skipped + limit >= best.length
      return { ids, ...(!isLast && { next: String(skipped + limit) }) }
    }
    const found = evaluator.newest(node, { lo: EVERYTHING.lo, hi: startOf(after) }, limit + 1)
    return withNext(found.slice(0, limit), found.length > limit)
  }

  /** Exact when everything was found, when all is asked for, or when few postings have to be read. */
  private count(
    evaluator: Evaluator,
    { node }: Compiled,
    { hits, next }: { hits: readonly Hit[]; next?: string },
    { countAll = false, limit = 20, after, by, sort, documents }: SearchOptions,
  ): number | undefined {
    const isOfMessages = (by ?? 'message') === 'message' && !documents && sort !== 'relevance'
    if (isOfMessages && limit > 0 && next === undefined && after === undefined) return hits.length
    const match = node && matchOf(node)
    const isCheap = node && typeof match === 'string' && cost(node) <= COUNTED
    if (!countAll && !isCheap) return undefined
    return typeof match === 'string'
      ? evaluator.count(match)
      : evaluator.newest(node, EVERYTHING, Number.MAX_SAFE_INTEGER).length
  }
}

function check({ limit = 20, after, countBy, sort, by }: SearchOptions): void {
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new RangeError('limit must be a whole number of hits, 0 or more')
  }
  if (after !== undefined && !/^-?\d{1,15}$/.test(after)) {
    throw new RangeError('after must be the `next` of an earlier result')
  }
  if (sort !== undefined && sort !== 'newest' && sort !== 'relevance') {
    throw new RangeError("sort must be 'newest' or 'relevance'")
  }
  if (by !== undefined && by !== 'message' && by !== 'thread' && by !== 'document') {
    throw new RangeError("by must be 'message', 'thread' or 'document'")
  }
  if (countBy !== undefined && !COUNTS.includes(countBy)) {
    throw new RangeError(`countBy must be one of ${COUNTS.join(', ')}`)
  }
}

/** Where a page starts: right below the last hit of the page before. */
const startOf = (after: string | undefined): number =>
  after === undefined ? EVERYTHING.hi : Number(after) - 1

function withNext(ids: readonly number[], hasMore: boolean): Page {
  const last = ids.at(-1)
  return { ids, ...(hasMore && last !== undefined && { next: String(last) }) }
}

/** Postings read for a full count, at most: AND leaps by its rarest side. */
function cost(node: Node): number {
  switch (node.kind) {
    case 'words':
      return node.leaf.phrases.reduce(
        (sum, { messages, tokens }) => sum + messages * (tokens.length > 1 ? PHRASE_COST : 1),
        0,
      )
    case 'and':
      return Math.min(...node.of.map(cost)) * node.of.length
    case 'or':
      return node.of.reduce((sum, of) => sum + cost(of), 0)
    case 'not':
    case 'row':
      return Number.POSITIVE_INFINITY
  }
}
