/**
 * What a person typed, as a tree of our own. Responsible for the query language (DESIGN.md, Query
 * language): words, phrases, fields, filters, OR, NOT, parentheses, dates in local time, sizes.
 * Not responsible for what words mean: folding, substrings and FTS5 belong to compile.ts.
 *
 * No text is an error. What makes no sense as an operator is read as words or dropped, and what is
 * dropped in a way that a person could wonder about leaves a notice.
 */
import { FLAGS } from '../part/reference.js'
import { parseDay, parseAge, parseBytes } from './values.js'

/** Where a word may be asked for. `people` is sender, recipients and copies together. */
export const FIELDS = [
  'from',
  'to',
  'cc',
  'people',
  'subject',
  'body',
  'attachment',
  'filename',
] as const
export type Field = (typeof FIELDS)[number]

/** Words to look for. What they fold to is not known here: it may be several tokens, or none. */
export interface TextNode {
  readonly kind: 'text'
  readonly text: string
  /** In quotes: whole words, in this order. */
  readonly quoted: boolean
  /** A trailing `*` (or a quote still open at the end): the last word may go on. */
  readonly prefix: boolean
  /** `null` searches every column. */
  readonly field: Field | null
}

/** A condition that is no word of the text. */
export type FilterNode =
  /** Seconds since 1970: `from` included, `until` excluded; a missing side is open. */
  | { readonly kind: 'date'; readonly from?: number; readonly until?: number }
  /** A FLAGS bit that is set or not. */
  | { readonly kind: 'flag'; readonly bit: number; readonly set: boolean }
  /** Bytes of the message, both bounds excluded. */
  | { readonly kind: 'size'; readonly above?: number; readonly below?: number }
  | { readonly kind: 'folder'; readonly name: string }
  /** A Message-ID, key or id of any message of the thread. */
  | { readonly kind: 'thread'; readonly of: string }
  /** A document type as typed: `pdf`, `word`, `image`. */
  | { readonly kind: 'type'; readonly name: string }
  | { readonly kind: 'has-attachment' }

export type QueryNode =
  | TextNode
  | FilterNode
  | { readonly kind: 'and'; readonly of: readonly QueryNode[] }
  | { readonly kind: 'or'; readonly of: readonly QueryNode[] }
  | { readonly kind: 'not'; readonly of: QueryNode }

export interface Query {
  /** `null` asks for every message. */
  readonly tree: QueryNode | null
  /** What was cut or not understood, a sentence each, for the person who typed it. */
  readonly notices: readonly string[]
}

/** Caps on what is read of a query; what lies beyond is left out with a notice. */
export const QUERY_LIMITS = Object.freeze({ chars: 4_000, terms: 200, depth: 24 })

const TEXT_FIELDS: Record<string, Field> = {
  from: 'from',
  sender: 'from',
  to: 'to',
  cc: 'cc',
  people: 'people',
  participant: 'people',
  with: 'people',
  subject: 'subject',
  body: 'body',
  attachment: 'attachment',
  attachments: 'attachment',
  filename: 'filename',
  file: 'filename',
}

const FLAG_NAMES: Record<string, readonly [bit: number, set: boolean]> = {
  unread: [FLAGS.seen, false],
  unseen: [FLAGS.seen, false],
  new: [FLAGS.seen, false],
  read: [FLAGS.seen, true],
  seen: [FLAGS.seen, true],
  flagged: [FLAGS.flagged, true],
  starred: [FLAGS.flagged, true],
  unflagged: [FLAGS.flagged, false],
  unstarred: [FLAGS.flagged, false],
  answered: [FLAGS.answered, true],
  replied: [FLAGS.answered, true],
  unanswered: [FLAGS.answered, false],
  unreplied: [FLAGS.answered, false],
  draft: [FLAGS.draft, true],
  trashed: [FLAGS.trashed, true],
  deleted: [FLAGS.trashed, true],
  passed: [FLAGS.passed, true],
  forwarded: [FLAGS.passed, true],
}

const HAS_ATTACHMENT = new Set(['attachment', 'attachments', 'document', 'documents', 'file'])

/** Makes the node of a filter, `null` for one that asks for nothing, or `undefined` when the value makes no sense. */
type FilterReader = (value: string, now: Date) => QueryNode | null | undefined

const before: FilterReader = (value, now) => {
  const day = parseDay(value, now)
  return day && { kind: 'date', until: day.from }
}
const after: FilterReader = (value, now) => {
  const day = parseDay(value, now)
  return day && { kind: 'date', from: day.from }
}
const on: FilterReader = (value, now) => {
  const [first, last, ...rest] = value.split('..')
  if (rest.length > 0) return undefined
  const from = first ? parseDay(first, now) : null
  const until = last === undefined ? from : last ? parseDay(last, now) : null
  if (from === undefined || until === undefined || (from === null && until === null)) {
    return undefined
  }
  return { kind: 'date', ...(from && { from: from.from }), ...(until && { until: until.until }) }
}
const newer: FilterReader = (value, now) => {
  const at = parseAge(value, now) ?? parseDay(value, now)?.from
  return at === undefined ? undefined : { kind: 'date', from: at }
}
const older: FilterReader = (value, now) => {
  const at = parseAge(value, now) ?? parseDay(value, now)?.from
  return at === undefined ? undefined : { kind: 'date', until: at }
}
const larger: FilterReader = (value) => {
  const bytes = parseBytes(value)
  return bytes === undefined ? undefined : { kind: 'size', above: bytes }
}
const smaller: FilterReader = (value) => {
  const bytes = parseBytes(value)
  return bytes === undefined ? undefined : { kind: 'size', below: bytes }
}
const inFolder: FilterReader = (value) => {
  const name = value.trim()
  if (name === '') return undefined
  return /^(anywhere|all|any|\*)$/i.test(name) ? null : { kind: 'folder', name }
}
const type: FilterReader = (value) => {
  const name = value.trim().replace(/^\./, '').toLowerCase()
  return name === '' ? undefined : { kind: 'type', name }
}

const FILTERS: Record<string, FilterReader> = {
  before,
  after,
  since: after,
  on,
  date: on,
  newer,
  newer_than: newer,
  older,
  older_than: older,
  larger,
  smaller,
  in: inFolder,
  folder: inFolder,
  type,
  is: (value) => {
    const name = value.trim().toLowerCase()
    const flag = Object.hasOwn(FLAG_NAMES, name) ? FLAG_NAMES[name] : undefined
    return flag && { kind: 'flag', bit: flag[0], set: flag[1] }
  },
  has: (value, now) =>
    HAS_ATTACHMENT.has(value.trim().toLowerCase()) ? { kind: 'has-attachment' } : type(value, now),
  thread: (value) => {
    const of = value.trim().replace(/^<|>$/g, '')
    return of === '' ? undefined : { kind: 'thread', of }
  },
}

type Token =
  | { kind: 'open' | 'close' | 'or' | 'and' | 'not' }
  /** A field name and its colon; the value is the next token. `typed` is how it was written. */
  | { kind: 'field'; name: string; typed: string }
  | { kind: 'word'; text: string }
  | { kind: 'phrase'; text: string; prefix: boolean }

/** Each opening quote with those that may close it. Typographic quotes differ by country and keyboard. */
const STRAIGHT = '"“”„‟＂〝〞〟'
const CLOSERS: Record<string, string> = { '«': '»', '»': '«', '「': '」', '『': '』', '｢': '｣' }
for (const quote of STRAIGHT) CLOSERS[quote] = STRAIGHT

const OPEN = '(（'
const CLOSE = ')）'
const MINUS = '-－−'
const isSpace = (char: string): boolean => /\s/u.test(char)
const endsWord = (char: string): boolean =>
  isSpace(char) || OPEN.includes(char) || CLOSE.includes(char) || char in CLOSERS

/** Splits a query into tokens. Works on UTF-16 units: every character that means something is one unit. */
function tokens(text: string): Token[] {
  const found: Token[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at] as string
    if (isSpace(char)) {
      at += 1
    } else if (OPEN.includes(char)) {
      found.push({ kind: 'open' })
      at += 1
    } else if (CLOSE.includes(char)) {
      found.push({ kind: 'close' })
      at += 1
    } else if (char in CLOSERS) {
      at = phrase(text, at, found)
    } else if (isNegation(text, at)) {
      found.push({ kind: 'not' })
      at += 1
    } else {
      at = word(text, at, found)
    }
  }
  return found
}

/** A minus right before an operand and right after a space or parenthesis. `--x` is a word, not a double no. */
function isNegation(text: string, at: number): boolean {
  if (!MINUS.includes(text[at] as string)) return false
  const previous = text[at - 1]
  const next = text[at + 1]
  if (next === undefined || isSpace(next) || MINUS.includes(next) || CLOSE.includes(next)) {
    return false
  }
  return previous === undefined || isSpace(previous) || OPEN.includes(previous)
}

/** Reads a phrase from its opening quote; one that never closes runs to the end and its last word stays open. */
function phrase(text: string, at: number, found: Token[]): number {
  const closers = CLOSERS[text[at] as string] as string
  let end = at + 1
  while (end < text.length && !closers.includes(text[end] as string)) end += 1
  const isClosed = end < text.length
  const previous = text[at - 1]
  // 5" or 24“ : a sign for inches, not an opening quote
  if (!isClosed && previous !== undefined && /[\p{L}\p{N}]/u.test(previous)) return at + 1
  const inside = text.slice(at + 1, end)
  const star = isClosed && text[end + 1] === '*'
  found.push({
    kind: 'phrase',
    text: inside,
    prefix: star || /\*\s*$/u.test(inside) || (!isClosed && !/\s$/u.test(inside)),
  })
  return end + (star ? 2 : 1)
}

function word(text: string, at: number, found: Token[]): number {
  let end = at
  while (end < text.length && !endsWord(text[end] as string)) {
    const char = text[end] as string
    end += 1
    if (char !== ':' && char !== '：') continue
    const name = text.slice(at, end - 1).toLowerCase()
    if (Object.hasOwn(TEXT_FIELDS, name) || Object.hasOwn(FILTERS, name)) {
      found.push({ kind: 'field', name, typed: text.slice(at, end) })
      // the value follows at once, or is whatever operand comes next
      if (end < text.length && !endsWord(text[end] as string)) return value(text, end, found)
      return end
    }
  }
  const typed = text.slice(at, end)
  if (typed === 'OR') found.push({ kind: 'or' })
  else if (typed === 'AND') found.push({ kind: 'and' })
  else if (typed === 'NOT') found.push({ kind: 'not' })
  else found.push({ kind: 'word', text: typed })
  return end
}

/** The value that touches its colon: never an operator, never another field. */
function value(text: string, at: number, found: Token[]): number {
  let end = at
  while (end < text.length && !endsWord(text[end] as string)) end += 1
  found.push({ kind: 'word', text: text.slice(at, end) })
  return end
}

class Parser {
  private readonly tokens: readonly Token[]
  private readonly now: Date
  private readonly notices: Set<string>
  private at = 0
  private terms = 0

  constructor(tokens: readonly Token[], now: Date, notices: Set<string>) {
    this.tokens = tokens
    this.now = now
    this.notices = notices
  }

  parse(): QueryNode | null {
    const parts: QueryNode[] = []
    while (this.at < this.tokens.length) {
      const part = this.either(null, 0)
      if (part) parts.push(part)
      // a closing parenthesis that nothing opened
      if (this.tokens[this.at]?.kind === 'close') this.at += 1
    }
    return join('and', parts)
  }

  /** OR binds loosest: `a b OR c` is (a and b) or c, as in most mail programs with a query language. */
  private either(field: Field | null, depth: number): QueryNode | null {
    const sides: QueryNode[] = []
    for (;;) {
      const side = this.all(field, depth)
      if (side) sides.push(side)
      if (this.tokens[this.at]?.kind !== 'or') return join('or', sides)
      this.at += 1
    }
  }

  private all(field: Field | null, depth: number): QueryNode | null {
    const parts: QueryNode[] = []
    for (;;) {
      const token = this.tokens[this.at]
      if (!token || token.kind === 'close' || token.kind === 'or') return join('and', parts)
      if (token.kind === 'and') {
        this.at += 1
        continue
      }
      const part = this.operand(field, depth)
      if (part) parts.push(part)
    }
  }

  private operand(field: Field | null, depth: number): QueryNode | null {
    let isNegated = false
    while (this.tokens[this.at]?.kind === 'not') {
      isNegated = !isNegated
      this.at += 1
    }
    const node = this.positive(field, depth)
    return node && isNegated ? negate(node) : node
  }

  private positive(field: Field | null, depth: number): QueryNode | null {
    const token = this.tokens[this.at]
    if (!token || token.kind === 'close' || token.kind === 'or' || token.kind === 'and') return null
    this.at += 1
    if (token.kind === 'word') return this.text(token.text, false, false, field)
    if (token.kind === 'phrase') return this.text(token.text, true, token.prefix, field)
    if (token.kind === 'open') return this.group(field, depth)
    if (token.kind === 'field') return this.field(token, field, depth)
    return null
  }

  private group(field: Field | null, depth: number): QueryNode | null {
    if (depth >= QUERY_LIMITS.depth) {
      this.notices.add(
        `Parentheses are read to a depth of ${QUERY_LIMITS.depth}; deeper ones were ignored.`,
      )
      return null
    }
    const inside = this.either(field, depth + 1)
    if (this.tokens[this.at]?.kind === 'close') this.at += 1
    return inside
  }

  private field(
    token: Extract<Token, { kind: 'field' }>,
    outer: Field | null,
    depth: number,
  ): QueryNode | null {
    const next = this.tokens[this.at]
    const name = TEXT_FIELDS[token.name]
    if (name) {
      if (next?.kind === 'open') {
        this.at += 1
        return this.group(name, depth)
      }
      if (next?.kind === 'word' || next?.kind === 'phrase') return this.positive(name, depth)
      return null // a field somebody is still typing
    }
    if (next?.kind === 'open') {
      this.at += 1
      return this.filterGroup(token, depth)
    }
    if (next?.kind !== 'word' && next?.kind !== 'phrase') return null
    this.at += 1
    return this.filter(token, next.text, outer)
  }

  /** `type:(pdf OR word)`: the filter for every value inside. */
  private filterGroup(token: Extract<Token, { kind: 'field' }>, depth: number): QueryNode | null {
    const inside = this.group(null, depth)
    const apply = (node: QueryNode): QueryNode | null => {
      if (node.kind === 'text') return this.filter(token, node.text, null)
      if (node.kind === 'not') {
        const of = apply(node.of)
        return of && negate(of)
      }
      if (node.kind !== 'and' && node.kind !== 'or') return node
      return join(
        node.kind,
        node.of.map(apply).filter((of) => of !== null),
      )
    }
    return inside && apply(inside)
  }

  private filter(
    token: Extract<Token, { kind: 'field' }>,
    value: string,
    outer: Field | null,
  ): QueryNode | null {
    if (!this.isWithinTerms()) return null
    const read = FILTERS[token.name] as FilterReader
    const node = read(value, this.now)
    if (node !== undefined) return node
    this.notices.add(
      `“${token.typed}${value}” was searched as words: the value was not understood.`,
    )
    return this.text(`${token.typed}${value}`, false, false, outer)
  }

  private text(
    typed: string,
    quoted: boolean,
    open: boolean,
    field: Field | null,
  ): QueryNode | null {
    const text = typed.replace(/\*+\s*$/u, '')
    if (text.trim() === '' || !this.isWithinTerms()) return null
    const prefix = open || text.length < typed.length
    return { kind: 'text', text, quoted, prefix, field }
  }

  private isWithinTerms(): boolean {
    this.terms += 1
    if (this.terms <= QUERY_LIMITS.terms) return true
    this.notices.add(`The first ${QUERY_LIMITS.terms} terms were searched; the rest was left out.`)
    return false
  }
}

/** Several nodes as one, flat: an AND inside an AND is the same AND. */
export function join(kind: 'and' | 'or', nodes: readonly QueryNode[]): QueryNode | null {
  const of = nodes.flatMap((node) => (node.kind === kind ? node.of : [node]))
  return of.length === 0 ? null : of.length === 1 ? (of[0] as QueryNode) : { kind, of }
}

/** The opposite of a node; two negations are none. */
export function negate(node: QueryNode): QueryNode {
  return node.kind === 'not' ? node.of : { kind: 'not', of: node }
}

/**
 * Reads a query as a person typed it. Never throws, whatever the text.
 *
 * @param typed any string; NULs, control characters and lone surrogates count as spaces
 * @param now the moment that `newer:7d` and `on:today` count from. Default: the current time
 */
export function parseQuery(typed: string, now: Date = new Date()): Query {
  const notices = new Set<string>()
  let text = typed
  if (text.length > QUERY_LIMITS.chars) {
    text = text.slice(0, QUERY_LIMITS.chars)
    notices.add(`The first ${QUERY_LIMITS.chars} characters were searched; the rest was left out.`)
  }
  text = text.replace(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|\p{Cs}/gu, ' ')
  const tree = new Parser(tokens(text), now, notices).parse()
  return { tree, notices: [...notices] }
}
