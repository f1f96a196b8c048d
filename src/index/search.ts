/**
 * Searches one index. Responsible for a search from its text to its hits: one snapshot of the index,
 * ids newest first, rows, matched fields, counts. Not responsible for the query language (query.ts),
 * for what words match (leaves.ts), for finding ids (evaluate.ts) or for excerpts (excerpts.ts).
 *
 * Every statement runs to its end (`.all()`); a paused one would pin the write-ahead log.
 */
import type { Database, Statement } from 'better-sqlite3'
import { COLUMNS } from '../fold/columns.js'
import { PipelineError } from '../part/errors.js'
import type { ContentState } from '../part/states.js'
import { Compiler, matchOf, type Compiled, type Node } from './compile.js'
import { EVERYTHING, Evaluator } from './evaluate.js'
import { ExcerptReader, type Excerpt } from './excerpts.js'
import {
  HitReader,
  MATCHED_FIELDS,
  type Hit,
  type MatchedField,
  type SearchResult,
} from './hits.js'
import { PEOPLE, Vocabulary, type Leaf } from './leaves.js'
import { parseQuery } from './query.js'
import type { Coverage } from './rows.js'

export interface SearchOptions {
  /** Hits at most. Default 20. */
  limit?: number
  /** The `next` of an earlier result: only what comes after it. */
  after?: string
  /** Counts every match, whatever it costs. Default: only when it is cheap. */
  countAll?: boolean
  /** What `newer:` and `today` count from. Default: the current time. */
  now?: Date
}

const FIELD_MASKS: Record<MatchedField, number> = {
  subject: 1 << COLUMNS.indexOf('subject'),
  people: PEOPLE,
  body: 1 << COLUMNS.indexOf('body'),
  filenames: 1 << COLUMNS.indexOf('filenames'),
  attachments: 1 << COLUMNS.indexOf('attachments'),
}

/** Matches counted at most unless all are asked for; a count takes about 0.1 µs a match. */
const COUNTED = 50_000

/** Open connections to one vault's databases; reading is enough. */
export interface SearchFiles {
  index: Database
  /** Missing when attachments are not searched. */
  extracts?: Database
}

/** Searches one vault over open connections. */
export class Searcher {
  private readonly db: Database
  private readonly hits: HitReader
  private readonly vocabulary: Vocabulary
  private readonly excerptReader: ExcerptReader
  private readonly tally: Statement<[], { state: ContentState; contents: number }> | undefined
  /** Words that found a hit, for its excerpt. */
  private readonly words = new WeakMap<Hit, readonly Leaf[]>()

  /** @throws PipelineError when the files cannot be searched */
  constructor({ index, extracts }: SearchFiles) {
    this.db = index
    try {
      this.hits = new HitReader(index)
      this.vocabulary = new Vocabulary(index)
      this.excerptReader = new ExcerptReader(index, extracts)
      this.tally = extracts?.prepare('SELECT state, contents FROM tally')
    } catch (error) {
      throw asPipelineError(error, index.name)
    }
  }

  /**
   * Searches for what a person typed.
   * @param typed any text; see query.ts
   * @returns hits newest first, and a summary
   * @throws PipelineError when the index cannot be read; never for what was typed
   */
  async search(typed: string, options: SearchOptions = {}): Promise<SearchResult> {
    const started = performance.now()
    const limit = options.limit ?? 20
    if (!Number.isSafeInteger(limit) || limit < 0) {
      throw new RangeError('limit must be a whole number of hits, 0 or more')
    }
    try {
      // one snapshot: a sweep may commit between two statements
      return this.db.transaction(() => this.run(typed, limit, options, started))()
    } catch (error) {
      throw asPipelineError(error, this.db.name)
    }
  }

  /**
   * What to show for hits that this searcher found: snippets of body and attachments, with pages.
   * @param hits on screen; texts are inflated for these only
   * @throws PipelineError when the index cannot be read
   */
  async excerpts(hits: readonly Hit[]): Promise<Excerpt[]> {
    try {
      return hits.map((hit) => this.excerptReader.read(hit, this.words.get(hit) ?? []))
    } catch (error) {
      throw asPipelineError(error, this.db.name)
    }
  }

  private run(typed: string, limit: number, options: SearchOptions, started: number): SearchResult {
    const query = parseQuery(typed, options.now)
    const compiled = new Compiler(this.db, this.vocabulary).compile(query.tree)
    const evaluator = new Evaluator(this.db)
    const range = { lo: EVERYTHING.lo, hi: startOf(options.after) }
    const found = evaluator.newest(compiled.node, range, limit + 1)
    const ids = found.slice(0, limit)
    const count = this.count(evaluator, compiled, found.length, limit, options)
    const hits = this.hits.read(ids)
    if (compiled.node) setMatched(evaluator, compiled.node, hits)
    const wanted = compiled.node ? positiveWords(compiled.node) : []
    const leaves = wanted.map((node) => node.leaf)
    for (const hit of hits) this.words.set(hit, leaves)
    const last = ids.at(-1)
    return {
      hits,
      count: count,
      more: count === undefined,
      ms: Math.round((performance.now() - started) * 100) / 100,
      tier: 'exact',
      terms: [...new Set(compiled.leaves.flatMap((leaf) => leaf.terms))].slice(0, TERMS_SHOWN),
      cut: [...query.notices, ...compiled.notices],
      coverage: coverageOf(this.tally?.all() ?? []),
      ...(found.length > limit && last !== undefined && { next: String(last) }),
    }
  }

  /** Exact when everything was found, when all is asked for, or when few postings have to be read. */
  private count(
    evaluator: Evaluator,
    { node }: Compiled,
    found: number,
    limit: number,
    { countAll = false, after }: SearchOptions,
  ): number | undefined {
    if (found <= limit && after === undefined) return found
    const match = node && matchOf(node)
    const isCheap = match !== null && match !== undefined && cost(node as Node) <= COUNTED
    if (!countAll && !isCheap) return undefined
    return match === null || match === undefined
      ? evaluator.newest(node, EVERYTHING, Number.MAX_SAFE_INTEGER).length
      : evaluator.count(match)
  }
}

function coverageOf(rows: ReadonlyArray<{ state: ContentState; contents: number }>): Coverage {
  const coverage = { contents: 0, readable: 0, pending: 0, unreadable: 0 }
  for (const { state, contents } of rows) {
    coverage.contents += contents
    if (state === 'ok') coverage.readable += contents
    else if (state === 'pending' || state === 'extracting' || state === 'failed-transient') {
      coverage.pending += contents
    } else coverage.unreadable += contents
  }
  return coverage
}

/** Where a page starts: right below the last hit of the page before. */
function startOf(after: string | undefined): number {
  if (after === undefined) return EVERYTHING.hi
  if (!/^-?\d{1,15}$/.test(after)) {
    throw new RangeError('after must be the `next` of an earlier result')
  }
  return Number(after) - 1
}

/** Terms named in a summary. */
const TERMS_SHOWN = 50

/**
 * Notes on each hit the fields that any wanted word stands in. Each field is asked once for the whole page, and
 * only when the answer is not known: a word that every hit must hold and that only one field can hold settles it.
 */
function setMatched(evaluator: Evaluator, node: Node, hits: readonly Hit[]): void {
  const wanted = positiveWords(node)
  const needed = new Set<Node>(node.kind === 'and' ? node.of : [node])
  for (const field of MATCHED_FIELDS) {
    const columns = FIELD_MASKS[field]
    const words = wanted.filter((word) => word.leaf.mask & columns)
    if (words.length === 0) continue
    const isSettled = words.some((word) => needed.has(word) && !(word.leaf.mask & ~columns))
    const asked =
      field === 'attachments' || field === 'filenames'
        ? hits.filter((hit) => hit.attachments.length > 0)
        : hits
    const phrases = words.flatMap((word) => word.leaf.phrases)
    if (words.length > 1) phrases.sort((a, b) => b.messages - a.messages)
    const ids = asked.map((hit) => hit.id)
    const found = isSettled ? undefined : evaluator.phrasesAmong(phrases, columns, ids)
    for (const hit of asked) if (!found || found.has(hit.id)) hit.matched.push(field)
  }
  for (const hit of hits) {
    hit.attachmentOnly = hit.matched.length === 1 && hit.matched[0] === 'attachments'
  }
}

type Words = Extract<Node, { kind: 'words' }>

/** Words that are wanted, not refused, in a tree. */
function positiveWords(node: Node): Words[] {
  if (node.kind === 'words') return node.isMark ? [] : [node]
  return node.kind === 'and' || node.kind === 'or' ? node.of.flatMap(positiveWords) : []
}

/** Postings read for a full count, at most: AND leaps by its rarest side. */
function cost(node: Node): number {
  switch (node.kind) {
    case 'words':
      return node.leaf.messages
    case 'and':
      return Math.min(...node.of.map(cost)) * node.of.length
    case 'or':
      return node.of.reduce((sum, of) => sum + cost(of), 0)
    case 'not':
    case 'row':
      return Number.POSITIVE_INFINITY
  }
}

/** What SQLite reports about a file becomes an error that names it and says what to do. */
export function asPipelineError(error: unknown, file: string): unknown {
  const code = (error as { code?: unknown }).code
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return error
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new PipelineError('E_INDEX_BUSY', `${file} is locked by another process: try again`, {
      cause: error,
    })
  }
  return new PipelineError(
    'E_INDEX_DAMAGED',
    `${file} cannot be searched (${(error as Error).message}): run \`paperknife index\` to build it again`,
    { cause: error },
  )
}
