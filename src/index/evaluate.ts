/**
 * Finds the newest messages that a compiled query matches. Responsible for the order of asking: one
 * MATCH where FTS5 can answer alone, else a driver (the rarest side) whose ids are tested in batches
 * against the rest. Not responsible for rows and matched fields (hits.ts, search.ts).
 *
 * Row ids grow with the date, so every list is read newest first and stops early. Ids are bound as
 * BigInt: better-sqlite3 binds numbers as REAL, and FTS5 ignores a rowid limit that is REAL.
 */
import type { Database, Statement } from 'better-sqlite3'
import { HEAVY, joined, matchOf, matchOfPhrases, type Node, type RowTest } from './compile.js'
import { conditionOf } from './conditions.js'
import { ALL_COLUMNS, type Leaf, type Phrase } from './leaves.js'

/** Ids from `lo` to `hi`, both included. */
export interface Range {
  readonly lo: number
  readonly hi: number
}

export const EVERYTHING: Range = { lo: Number.MIN_SAFE_INTEGER, hi: Number.MAX_SAFE_INTEGER }

const BATCH_FIRST = 512
const BATCH_MAX = 16_384
/** Phrases of a leaf that are asked first, at most; what they find bounds how far back the rest is asked. */
const FREQUENT = 24
/** Nor is one asked first that has less than this share of the messages of those before it, when these fill a page. */
const MINOR = 0.02
/** Phrases asked at once, at most: each holds a page in each segment, and 192 at once took 2.5 times as long as in fours. */
const HELPING = 48

/** Microseconds, measured at a million messages merged into one segment: what ways of asking are compared by. */
const COST = {
  /** Opening a phrase's cursor. */
  phrase: 6,
  /** Running a statement. */
  statement: 12,
  /** A matching row that is read and refused. */
  row: 0.15,
  /** The same where the other side is a set, a member of that, and a row of the message table looked up by its id. */
  posting: 0.08,
  member: 0.06,
  lookup: 1,
}
/** Stands for "many, but it can give ids": an index that holds more rows than are counted; a scan. */
const MANY = 1e10
const SCAN = 1e14
/** Rows counted at most to find the rarer side, and sorted at most. */
const COUNTED_MAX = 30_000
/** Rows counted first where the other side is words. */
const LOOKED_AT = 4_096

/** So much further back is looked than the known shares say, so that one stretch is enough. */
const AHEAD = 1.06

/** A condition on rows that few meet, and a MATCH expression, as one driver. */
interface Pair {
  readonly of: readonly Node[]
  readonly test: RowTest
  /** Whether an index gives its rows by date; else their set is the same for every stretch. */
  readonly isInOrder: boolean
  /** That meet the condition, or MANY. */
  readonly rows: number
  readonly match: string
  /** Of all messages, that the expression finds, at most. */
  readonly share: number
}

export class Evaluator {
  private readonly db: Database
  private readonly statements = new Map<string, Statement<unknown[], number>>()
  /** Largest move of an id away from its date, seconds. */
  private readonly shift: number
  private readonly span: Range

  constructor(db: Database) {
    this.db = db
    const shift = db
      .prepare<[], { value: string | number }>(`SELECT value FROM meta WHERE key = 'shift'`)
      .get()
    this.shift = Number(shift?.value ?? 0)
    const span = db
      .prepare<[], { lo: number | null; hi: number | null }>(
        'SELECT (SELECT min(id) FROM message) AS lo, (SELECT max(id) FROM message) AS hi',
      )
      .get()
    this.span = { lo: span?.lo ?? 0, hi: span?.hi ?? 0 }
  }

  /**
   * The newest ids of a node in a range, descending, at most `limit`.
   * @param node `null` asks for every message
   */
  newest(node: Node | null, range: Range, limit: number): number[] {
    if (limit <= 0 || range.lo > range.hi) return []
    if (!node) return this.all(range, limit)
    if (node.kind === 'words' && firstHelping(node.leaf.phrases, limit) < node.leaf.phrases.length)
      return this.heavy(node.leaf, range, limit)
    const match = matchOf(node)
    if (match !== null) return this.match(match, range, limit)
    switch (node.kind) {
      case 'words':
        return this.heavy(node.leaf, range, limit)
      case 'row':
        return this.rows(node.test, range, limit)
      case 'or':
        return this.either(node.of, range, limit)
      case 'and':
        return this.both(node.of, range, limit)
      case 'not':
        return this.both([node], range, limit)
    }
  }

  /**
   * A leaf of many phrases, in growing helpings, the frequent ones first. When a page is full, its oldest id
   * bounds how far back the others matter, and of those most have no message that new.
   */
  private heavy(leaf: Leaf, { lo, hi }: Range, limit: number): number[] {
    let page: number[] = []
    let from = lo
    let left = leaf.phrases
    for (let helping = firstHelping(left, limit); left.length > 0; helping = HELPING) {
      const some = left.slice(0, helping)
      const more = this.match(matchOfPhrases(some), { lo: from, hi }, limit)
      page = [...new Set([...page, ...more])].sort((a, b) => b - a).slice(0, limit)
      if (page.length === limit) from = page.at(-1) as number
      left = left.slice(helping).filter((phrase) => phrase.newest >= from)
    }
    return page
  }

  /** Which of `ids` (descending) a node matches. */
  matching(node: Node, ids: readonly number[]): Set<number> {
    if (ids.length === 0) return new Set()
    const match = matchOf(node)
    if (match !== null) return this.among(match, ids, phrasesIn(node), this.estimate(node))
    switch (node.kind) {
      case 'words':
        return this.phrasesAmong(node.leaf.phrases, ALL_COLUMNS, ids)
      case 'row': {
        const { where, values } = conditionOf(node.test)
        return new Set(
          this.statement(
            `SELECT id FROM message NOT INDEXED WHERE id IN (SELECT value FROM json_each(?)) AND ${where}`,
          ).all(JSON.stringify(ids), ...values),
        )
      }
      case 'not': {
        const refused = this.matching(node.of, ids)
        return new Set(ids.filter((id) => !refused.has(id)))
      }
      case 'or': {
        const found = new Set<number>()
        for (const of of grouped('or', node.of)) {
          const rest = ids.filter((id) => !found.has(id))
          for (const id of this.matching(of, rest)) found.add(id)
        }
        return found
      }
      case 'and': {
        let left = [...ids]
        for (const of of grouped('and', node.of)) {
          const kept = this.matching(of, left)
          left = left.filter((id) => kept.has(id))
        }
        return new Set(left)
      }
    }
  }

  /** Which of `ids` (descending) hold any of the phrases in the columns: the frequent phrases first, the rest for what is left. */
  phrasesAmong(phrases: readonly Phrase[], columns: number, ids: readonly number[]): Set<number> {
    const found = new Set<number>()
    const possible = phrases.filter((phrase) => phrase.mask & columns)
    let left = ids
    let unasked = possible
    for (let helping = FREQUENT; unasked.length > 0 && left.length > 0; helping = HELPING) {
      const lo = left.at(-1) as number
      unasked = unasked.filter((phrase) => phrase.newest >= lo)
      const some = unasked.slice(0, unasked.length <= HEAVY ? HEAVY : helping)
      unasked = unasked.slice(some.length)
      if (some.length === 0) break
      const messages = some.reduce((sum, phrase) => sum + phrase.messages, 0)
      for (const id of this.among(matchOfPhrases(some, columns), left, some.length, messages)) {
        found.add(id)
      }
      left = left.filter((id) => !found.has(id))
    }
    return found
  }

  /**
   * Ids of `ids` (descending, the page of hits) that a MATCH expression finds: one by one where they are few and
   * far apart, else as a set between the oldest and the newest.
   */
  private among(
    match: string,
    ids: readonly number[],
    phrases: number,
    messages: number,
  ): Set<number> {
    const range = { lo: ids.at(-1) as number, hi: ids[0] as number }
    const share = (range.hi - range.lo) / Math.max(1, this.span.hi - this.span.lo)
    // nothing is known of pairs of characters: probably not far from what is asked about
    const rows = messages < MANY ? messages * Math.min(1, share) : 4 * ids.length
    const singly = ids.length * (phrases * COST.phrase + COST.statement)
    if (singly < phrases * COST.phrase + COST.statement + rows * COST.row) {
      const one = this.statement('SELECT rowid FROM words WHERE words MATCH ? AND rowid = ?')
      return new Set(ids.filter((id) => one.get(match, BigInt(id)) !== undefined))
    }
    if (rows > 2 * ids.length) {
      // the plus keeps the set a filter: FTS5 would run the MATCH again for each of its members.
      // FTS5 begins at one end of each list of rows and leaps to the first it needs: the nearer end
      const isNew = this.span.hi - range.hi < range.lo - this.span.lo
      return new Set(
        this.statement(
          `SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
           AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY rowid ${isNew ? 'DESC' : 'ASC'}`,
        ).all(match, BigInt(range.lo), BigInt(range.hi), JSON.stringify(ids)),
      )
    }
    const wanted = new Set(ids)
    const found = this.match(match, range, Number.MAX_SAFE_INTEGER)
    return new Set(found.filter((id) => wanted.has(id)))
  }

  /** How many messages between the oldest and the newest of `ids` hold a phrase, about. */
  expected(phrases: readonly Phrase[], ids: readonly number[]): number {
    const share = ((ids[0] ?? 0) - (ids.at(-1) ?? 0)) / Math.max(1, this.span.hi - this.span.lo)
    return phrases.reduce((sum, { messages }) => sum + Math.min(messages, MANY), 0) * share
  }

  match(match: string, { lo, hi }: Range, limit: number): number[] {
    return this.statement(
      'SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?',
    ).all(match, BigInt(lo), BigInt(hi), BigInt(limit))
  }

  /** All matches of an expression. */
  count(match: string): number {
    return this.statement('SELECT count(*) FROM words WHERE words MATCH ?').get(match) ?? 0
  }

  private all({ lo, hi }: Range, limit: number): number[] {
    return this.statement(
      'SELECT id FROM message WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?',
    ).all(BigInt(lo), BigInt(hi), BigInt(limit))
  }

  /** Every branch gives its newest ids; the newest of all of them are the answer. */
  private either(nodes: readonly Node[], range: Range, limit: number): number[] {
    const found = new Set<number>()
    for (const node of grouped('or', nodes)) {
      for (const id of this.newest(node, range, limit)) found.add(id)
    }
    return [...found].sort((a, b) => b - a).slice(0, limit)
  }

  /** Ids of a driver in batches, tested against the other conditions. */
  private both(nodes: readonly Node[], range: Range, limit: number): number[] {
    let bounds = range
    const rest: Node[] = []
    for (const node of nodes) {
      const test = node.kind === 'row' && node.test.kind === 'date' ? node.test : undefined
      if (test) bounds = this.dated(test, bounds)
      if (!test || this.shift > 0) rest.push(node)
    }
    const { lo } = bounds
    let { hi } = bounds
    if (lo > hi) return []
    const { driver, others, pair } = this.split(rest, limit)
    const filter = joined('and', others)
    const found: number[] = []
    let batch = filter ? Math.max(BATCH_FIRST, Math.min(BATCH_MAX, Math.ceil(limit * 1.2))) : limit
    let seen = 0
    for (;;) {
      const ids = pair
        ? this.paired(pair, { lo, hi }, batch)
        : this.newest(driver, { lo, hi }, batch)
      const kept = filter && this.matching(filter, ids)
      for (const id of ids) if (!kept || kept.has(id)) found.push(id)
      if (ids.length < batch || found.length >= limit) return found.slice(0, limit)
      hi = (ids.at(-1) as number) - 1
      seen += ids.length
      // as many as the rate so far asks for, and twice as many while nothing passes
      const wanted =
        found.length > 0 ? ((limit - found.length) * seen * 1.2) / found.length : seen * 2
      batch = Math.min(BATCH_MAX, Math.max(BATCH_FIRST, Math.ceil(wanted)))
    }
  }

  /** Ids that a date allows: dates moved up by at most `shift`. */
  private dated(
    { from, until }: { readonly from?: number; readonly until?: number },
    { lo, hi }: Range,
  ): Range {
    return {
      lo: from === undefined ? lo : Math.max(lo, from),
      hi: until === undefined ? hi : Math.min(hi, until - 1 + this.shift),
    }
  }

  /** Chooses who gives the ids: the part with the fewest messages, among those with an index. `null`: every message. */
  private split(
    nodes: readonly Node[],
    limit: number,
  ): { driver: Node | null; others: Node[]; pair?: Pair } {
    const parts = grouped('and', nodes)
    const pair = this.pairAmong(parts, limit)
    if (pair) return { driver: null, others: parts.filter((part) => !pair.of.includes(part)), pair }
    let driver: Node | null = null
    let fewest = Number.POSITIVE_INFINITY
    for (const part of parts) {
      const messages = this.estimate(part)
      if (messages < fewest) {
        fewest = messages
        driver = part
      }
    }
    return { driver, others: parts.filter((part) => part !== driver) }
  }

  private pairAmong(parts: readonly Node[], limit: number): Pair | undefined {
    const words = parts.find((part) => matchOf(part) !== null)
    if (!words) return undefined
    // a few are counted first: mostly that is enough
    for (const most of [LOOKED_AT, COUNTED_MAX]) {
      const counted = parts
        .filter((part) => part.kind === 'row')
        .map((part) => ({ part, rows: this.countRows(part.test, most) }))
        .filter(({ rows }) => rows < SCAN)
        .sort((a, b) => a.rows - b.rows)
      const [fewest] = counted
      if (!fewest) return undefined
      const pair = this.pairOf(fewest.part, Math.min(fewest.rows, MANY), most, words, limit)
      if (pair || fewest.rows < most) return pair
    }
    return undefined
  }

  /** Both sides as one driver, where that costs less than the ids of one side looked up in the other. */
  private pairOf(
    row: Extract<Node, { kind: 'row' }>,
    rows: number,
    counted: number,
    words: Node,
    limit: number,
  ): Pair | undefined {
    const isInOrder = row.test.kind !== 'size'
    if (rows >= MANY && !isInOrder) return undefined
    const messages = this.estimate(words)
    const all = this.messages()
    const share = Math.min(1, messages / all)
    // how many of each side are met until the page is full
    const postings = Math.min(messages, (limit * all) / Math.min(rows, counted))
    const members = Math.min(rows, limit / share)
    const paired = postings * COST.posting + (isInOrder ? members : rows) * COST.member
    const singly = members * (phrasesIn(words) * COST.phrase + COST.statement)
    if (paired > Math.min(postings * COST.lookup, singly)) return undefined
    const match = matchOf(words) as string
    return { of: [row, words], test: row.test, isInOrder, rows, match, share }
  }

  /** The newest ids that a condition on rows allows and a MATCH expression finds, in one statement for each stretch of time. */
  private paired(pair: Pair, { lo, hi }: Range, limit: number): number[] {
    const { where, values, index } = conditionOf(pair.test)
    const allowed = `FROM message ${index} WHERE ${where} AND id BETWEEN ? AND ?`
    // the plus keeps the set a filter: FTS5 would run the MATCH again for each of its members
    const both = this.statement(
      `SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT id ${allowed})
       ORDER BY rowid DESC LIMIT ?`,
    )
    const found: number[] = []
    let { share } = pair
    for (let top = hi, seen = 0; ;) {
      const rows = Math.ceil(((limit - found.length) * AHEAD) / share)
      const last =
        pair.isInOrder && rows < pair.rows
          ? this.nth(allowed, values, { lo, hi: top }, rows)
          : undefined
      const from = last ?? lo
      const range = [BigInt(from), BigInt(top)]
      found.push(
        ...both.all(pair.match, ...range, ...values, ...range, BigInt(limit - found.length)),
      )
      if (last === undefined || found.length >= limit) return found
      seen += rows
      // nothing found so far: everything is looked at next
      share = found.length / seen
      top = from - 1
    }
  }

  /** The id of a row so far down, newest first. */
  private nth(
    allowed: string,
    values: readonly unknown[],
    { lo, hi }: Range,
    rows: number,
  ): number | undefined {
    return this.statement(`SELECT id ${allowed} ORDER BY id DESC LIMIT 1 OFFSET ?`).get(
      ...values,
      BigInt(lo),
      BigInt(hi),
      BigInt(rows),
    )
  }

  /** Rows of the word table, from its record of averages. */
  private messages(): number {
    const record = this.db.prepare('SELECT block FROM words_data WHERE id = 1').pluck().get()
    let value = 0
    for (const byte of (record as Buffer | undefined) ?? []) {
      value = value * 128 + (byte & 127)
      if (byte < 128) break
    }
    return Math.max(1, value)
  }

  /** Messages a node matches at most, roughly; infinite when it cannot give ids by itself. */
  private estimate(node: Node): number {
    switch (node.kind) {
      case 'words':
        return Math.min(node.leaf.messages, MANY)
      case 'not':
        return Number.POSITIVE_INFINITY
      case 'row':
        return this.countRows(node.test)
      case 'or':
        return node.of.reduce((sum, of) => sum + this.estimate(of), 0)
      case 'and':
        return Math.min(...node.of.map((of) => this.estimate(of)))
    }
  }

  /** Counts through an index, up to a cap, so that looking costs less than it saves. */
  private countRows(test: RowTest, inOrderMax = COUNTED_MAX): number {
    const condition = conditionOf(test)
    if (!condition.index) return SCAN
    const most = test.kind === 'size' ? COUNTED_MAX : inOrderMax
    const rows = this.statement(
      `SELECT count(*) FROM (SELECT 1 FROM message ${condition.index} WHERE ${condition.where} LIMIT ${most})`,
    ).get(...condition.values)
    return (rows ?? 0) < most ? (rows ?? 0) : MANY
  }

  private rows(test: RowTest, range: Range, limit: number): number[] {
    if (test.kind === 'folder' && test.ids.length !== 1) {
      const each = test.ids.map((id): Node => ({
        kind: 'row',
        test: { kind: 'folder', ids: [id] },
      }))
      return this.either(each, range, limit)
    }
    const { lo, hi } = test.kind === 'date' ? this.dated(test, range) : range
    const condition = conditionOf(test)
    // sizes are not in date order: sorting is cheap for few, and where many match the newest are found at once
    const isSorted = test.kind !== 'size' || this.countRows(test) < COUNTED_MAX
    const index = (isSorted && condition.index) || 'NOT INDEXED'
    return this.statement(
      `SELECT id FROM message ${index} WHERE ${condition.where} AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?`,
    ).all(...condition.values, BigInt(lo), BigInt(hi), BigInt(limit))
  }

  private statement(sql: string): Statement<unknown[], number> {
    const known = this.statements.get(sql)
    if (known) return known
    const made = this.db.prepare<unknown[], number>(sql).pluck()
    this.statements.set(sql, made)
    return made
  }
}

/** What FTS5 can answer together as one node, first; then the rest one by one. */
function grouped(kind: 'and' | 'or', nodes: readonly Node[]): Node[] {
  const words: Node[] = []
  const refused: Node[] = []
  const others: Node[] = []
  for (const node of nodes) {
    if (matchOf(node) !== null) words.push(node)
    else if (kind === 'and' && node.kind === 'not' && matchOf(node.of) !== null) refused.push(node)
    else others.push(node)
  }
  // a negation needs something to be taken from
  const together = words.length > 0 ? joined(kind, [...words, ...refused]) : null
  return together ? [together, ...others] : [...refused, ...others]
}

/** Phrases (most frequent first) that are asked first: a rare one opens its cursors in vain where the others fill the page. */
function firstHelping(phrases: readonly Phrase[], limit: number): number {
  let messages = 0
  for (const [i, phrase] of phrases.slice(0, FREQUENT).entries()) {
    if (messages >= 2 * limit && phrase.messages < messages * MINOR) return i
    messages += phrase.messages
  }
  return phrases.length > HEAVY ? FREQUENT : phrases.length
}

/** Phrases of a node, each of which opens a cursor. */
function phrasesIn(node: Node): number {
  switch (node.kind) {
    case 'words':
      return node.leaf.phrases.length
    case 'row':
      return 0
    case 'not':
      return phrasesIn(node.of)
    case 'and':
    case 'or':
      return node.of.reduce((sum, of) => sum + phrasesIn(of), 0)
  }
}
