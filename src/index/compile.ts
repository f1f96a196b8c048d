/**
 * From the tree of a query to nodes that can be asked: words with their phrases, filters with ids
 * looked up, and for every part that FTS5 can answer alone one MATCH expression.
 * Not responsible for reading what was typed (query.ts) or for the order of asking (search.ts).
 *
 * FTS5 refuses deep nesting, so AND, OR and NOT are written flat, the deepest operand first: then the
 * parser's stack grows by one a level. `a -b -c` becomes `(a) NOT (b OR c)`.
 */
import type { Database } from 'better-sqlite3'
import { COLUMNS } from '../fold/columns.js'
import { labelToken } from '../fold/kinds.js'
import { TOKEN_LENGTH_MAX } from '../fold/fold.js'
import { HAS_ATTACHMENT, LABEL, TYPE } from '../fold/marks.js'
import { idsByMessageId } from './lookup.js'
import { ALL_COLUMNS, leafOf, type Closeness, type Leaf, type Phrase } from './leaves.js'
import type { QueryNode, TextNode } from './query.js'
import { kindsNamed } from './kinds.js'
import { quote, type Vocabulary } from './terms.js'

/** Conditions on a message's row. */
export type RowTest =
  | { readonly kind: 'date'; readonly from?: number; readonly until?: number }
  | { readonly kind: 'flag'; readonly bit: number; readonly set: boolean }
  | { readonly kind: 'size'; readonly above?: number; readonly below?: number }
  | { readonly kind: 'folder'; readonly ids: readonly number[] }
  | { readonly kind: 'thread'; readonly thread: number }

export type Node =
  /** `isMark`: asks for a token of ours (a type, a label), which is no matched field. */
  | { readonly kind: 'words'; readonly leaf: Leaf; readonly isMark: boolean }
  | { readonly kind: 'row'; readonly test: RowTest }
  | { readonly kind: 'and'; readonly of: readonly Node[] }
  | { readonly kind: 'or'; readonly of: readonly Node[] }
  | { readonly kind: 'not'; readonly of: Node }

/** Words as a node. */
export type Words = Extract<Node, { kind: 'words' }>

export interface Compiled {
  /** `null` asks for every message. */
  readonly node: Node | null
  readonly leaves: readonly Leaf[]
  readonly notices: readonly string[]
}

/** Looks up what a query names (terms, folders, threads) and gives its nodes. */
export class Compiler {
  private readonly db: Database
  private readonly vocabulary: Vocabulary
  private readonly similar: Closeness | undefined
  /** By how they are asked for; `null` for what folds to nothing. */
  private readonly words = new Map<string, Words | null>()
  /** Words that fold to nothing. */
  private readonly unsearchable = new Set<string>()

  /** @param similar takes similar words for those that the index does not hold */
  constructor(db: Database, vocabulary: Vocabulary, similar?: Closeness) {
    this.similar = similar
    this.db = db
    this.vocabulary = vocabulary
  }

  compile(tree: QueryNode | null): Compiled {
    const node = tree && this.node(tree)
    const leaves = [...this.words.values()].flatMap((node) => node?.leaf ?? [])
    const unknown = [...this.unsearchable].map(
      (typed) =>
        `“${shown(typed)}” was left out: no index holds words of more than ${TOKEN_LENGTH_MAX} letters, or encoded data.`,
    )
    return {
      node,
      leaves,
      notices: [...leaves.filter(({ isCut }) => isCut).map(notice), ...unknown],
    }
  }

  private node(tree: QueryNode): Node | null {
    switch (tree.kind) {
      case 'text':
        return this.text(tree)
      case 'not': {
        const of = this.node(tree.of)
        return of && opposite(of)
      }
      case 'and':
      case 'or': {
        const of = tree.of.map((child) => this.node(child)).filter((child) => child !== null)
        return joined(tree.kind, of)
      }
      case 'type':
        return marks(kindsNamed(tree.name).map((kind) => TYPE + kind))
      case 'has-attachment':
        return marks([HAS_ATTACHMENT])
      case 'folder':
        return this.folder(tree.name)
      case 'thread':
        return { kind: 'row', test: { kind: 'thread', thread: this.thread(tree.of) } }
      case 'date':
      case 'flag':
      case 'size':
        return { kind: 'row', test: tree }
    }
  }

  /** The same words are one node wherever they stand: they are looked up, and asked for, once. */
  private text(tree: TextNode): Words | null {
    const { text, field, quoted, prefix } = tree
    const key = JSON.stringify([field, quoted, prefix, text])
    const known = this.words.get(key)
    if (known !== undefined) return known
    const leaf = leafOf(tree, this.vocabulary, this.similar)
    const made: Words | null = leaf && { kind: 'words', leaf, isMark: false }
    this.words.set(key, made)
    if (!leaf && /[\p{L}\p{N}]/u.test(text)) this.unsearchable.add(text)
    return made
  }

  /** A folder by its whole name, or by parts of it in a row (`in:2014` finds Archive/2014), with those inside it; and labels. */
  private folder(name: string): Node {
    const rows = this.db
      .prepare<[], { id: number; name: string }>('SELECT id, name FROM folder')
      .all()
    const wanted = segments(name)
    const paths = rows.map(({ id, name }) => ({ id, path: segments(name) }))
    const whole = paths.filter(({ path }) => startsAt(path, wanted, 0))
    const taken = whole.some(({ path }) => path.length === wanted.length)
      ? whole
      : paths.filter(({ path }) => path.some((_, at) => startsAt(path, wanted, at)))
    const test: Node = { kind: 'row', test: { kind: 'folder', ids: taken.map(({ id }) => id) } }
    const label = labelToken(name)
    if (label === LABEL) return test
    const labelled = marks([label])
    return this.exists(labelled) ? (joined('or', [test, labelled]) as Node) : test
  }

  private exists(node: Node): boolean {
    const match = matchOf(node)
    return (
      match !== null &&
      this.db.prepare('SELECT rowid FROM words WHERE words MATCH ? LIMIT 1').get(match) !==
        undefined
    )
  }

  /** The number of the thread that a Message-ID, key or id belongs to; 0 belongs to none. */
  private thread(of: string): number {
    // a key ends with the Message-ID in brackets
    const [byMessageId] = idsByMessageId(this.db, / <(.+)$/.exec(of)?.[1] ?? of)
    if (byMessageId === undefined && !/^\d{1,15}$/.test(of)) return 0
    const byId = this.db
      .prepare<[number], { thread: number }>('SELECT thread FROM message WHERE id = ?')
      .get(byMessageId ?? Number(of))
    return byId?.thread ?? 0
  }
}

/** How a word was cut, and how to widen it. */
function notice({ typed, phrases: { length } }: Leaf): string {
  const taken =
    length === 0
      ? 'those that were looked at match nothing'
      : `the ${length} most frequent were searched`
  return `“${shown(typed)}” stands in more words than one search takes; ${taken}. A longer word, or one in quotes, finds the rest.`
}

/** Characters of what was typed that a notice repeats. */
const SHOWN = 60
const shown = (typed: string): string =>
  typed.length > SHOWN ? `${[...typed].slice(0, SHOWN).join('')}…` : typed

function marks(texts: readonly string[]): Node {
  const mask = 1 << COLUMNS.indexOf('filenames')
  const messages = Number.POSITIVE_INFINITY
  return {
    kind: 'words',
    isMark: true,
    leaf: {
      phrases: texts.map((text) => ({ tokens: [text], mask, messages, newest: messages })),
      mask,
      messages,
      typed: '',
      needle: '',
      terms: [],
      isCut: false,
      isClose: false,
    },
  }
}

const segments = (name: string): string[] =>
  name.normalize('NFKC').toLowerCase().split('/').filter(Boolean)

const startsAt = (path: readonly string[], wanted: readonly string[], at: number): boolean =>
  wanted.every((segment, i) => path[at + i] === segment)

function opposite(node: Node): Node {
  if (node.kind === 'not') return node.of
  if (node.kind === 'row' && node.test.kind === 'flag') {
    return { kind: 'row', test: { ...node.test, set: !node.test.set } }
  }
  return { kind: 'not', of: node }
}

/** Several nodes as one, flat; dropped operands may have put an AND inside an AND. */
export function joined(kind: 'and' | 'or', nodes: readonly Node[]): Node | null {
  const of = [...new Set(nodes.flatMap((node) => (node.kind === kind ? node.of : [node])))]
  return of.length === 0 ? null : of.length === 1 ? (of[0] as Node) : { kind, of }
}

/** A leaf of more phrases is not put into a larger expression: each phrase opens a cursor in each segment. */
export const HEAVY = 40

/**
 * The MATCH expression of a node, or `null` when FTS5 alone cannot answer it, or should not: a condition
 * on rows, nothing but negations, or a word that stands for very many terms.
 */
export function matchOf(node: Node): string | null {
  return expression(node)?.text ?? null
}

/** The MATCH expression of phrases, any of them, in some columns. */
export function matchOfPhrases(phrases: readonly Phrase[], columns = ALL_COLUMNS): string {
  return words(phrases, columns)
}

/** Levels of one expression: FTS5's parser has a stack of a hundred, and a level may take four places of it. Deeper trees are asked part by part. */
const DEPTH = 12

interface Expression {
  readonly text: string
  readonly depth: number
}

function expression(node: Node): Expression | null {
  const found = shallow(node)
  return found && found.depth <= DEPTH ? found : null
}

function shallow(node: Node): Expression | null {
  switch (node.kind) {
    case 'words':
      return node.leaf.phrases.length > HEAVY
        ? null
        : { text: words(node.leaf.phrases, ALL_COLUMNS), depth: 1 }
    case 'row':
    case 'not':
      return null
    case 'or':
      return together(
        'OR',
        node.of.map((of) => expression(of)),
      )
    case 'and': {
      const positive = together(
        'AND',
        node.of.filter((of) => of.kind !== 'not').map((of) => expression(of)),
      )
      const refused = node.of.filter((of) => of.kind === 'not').map((of) => of.of)
      if (!positive || refused.length === 0) return positive
      const negative = together(
        'OR',
        refused.map((of) => expression(of)),
      )
      return (
        negative && {
          text: `(${positive.text}) NOT (${negative.text})`,
          depth: Math.max(positive.depth, negative.depth) + 1,
        }
      )
    }
  }
}

function together(
  operator: 'AND' | 'OR',
  parts: ReadonlyArray<Expression | null>,
): Expression | null {
  const known = parts.filter((part) => part !== null)
  if (known.length === 0 || known.length < parts.length) return null
  known.sort((a, b) => b.depth - a.depth)
  return {
    text: known.map((part) => `(${part.text})`).join(` ${operator} `),
    depth: Math.max(...known.map((part) => part.depth)) + 1,
  }
}

/** A token that no text folds to: asks for nothing and finds nothing. */
const NOTHING = quote('\ue0ff')

/** Phrases grouped by the columns that can hold them. */
function words(phrases: readonly Phrase[], columns: number): string {
  const groups = new Map<number, string[]>()
  for (const phrase of phrases) {
    const mask = phrase.mask & columns
    if (mask === 0) continue
    const group = groups.get(mask)
    const text = quote(phrase.tokens.join(' '))
    if (group) group.push(text)
    else groups.set(mask, [text])
  }
  if (groups.size === 0) return NOTHING
  return [...groups]
    .map(([mask, texts]) =>
      mask === ALL_COLUMNS
        ? texts.join(' OR ')
        : `{${columnNames(mask)}} : (${texts.join(' OR ')})`,
    )
    .join(' OR ')
}

const columnNames = (mask: number): string => COLUMNS.filter((_, i) => mask & (1 << i)).join(' ')
