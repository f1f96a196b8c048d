/**
 * From the words somebody typed to the phrases that FTS5 is asked for. Responsible for what a word
 * matches: whole words, prefixes, substrings through the vocabulary, phrases open at both ends,
 * identifiers with and without separators, scripts matched as pairs.
 * Not responsible for reading the vocabulary (terms.ts), for how words are joined (compile.ts) or found (search.ts).
 */
import { COLUMNS, type Column } from '../fold/columns.js'
import { joinedForms, tokens, type Token } from '../fold/fold.js'
import { SINGLE } from '../fold/marks.js'
import type { Field, TextNode } from './query.js'
import type { Similar } from './similar.js'
import { NONE, TERM_LIMITS, type Term, type Terms, type Vocabulary } from './terms.js'

const bit = (...columns: Column[]): number =>
  columns.reduce((mask, column) => mask | (1 << COLUMNS.indexOf(column)), 0)

/** Columns as bits, in the order of COLUMNS. */
export const ALL_COLUMNS = (1 << COLUMNS.length) - 1
export const PEOPLE = bit('sender', 'recipients', 'copies')
const HEAD = PEOPLE | bit('subject')

/** Columns of each field of the query language. */
export const FIELD_COLUMNS: Record<Field, number> = {
  from: bit('sender'),
  to: bit('recipients'),
  cc: bit('copies'),
  people: PEOPLE,
  subject: bit('subject'),
  body: bit('body'),
  attachment: bit('attachments'),
  filename: bit('filenames'),
}

export const LEAF_LIMITS = Object.freeze({
  /** Terms that one word may stand for. */
  terms: 800,
  /** Tokens of a phrase; what follows is left out. */
  phraseTokens: 48,
  /** Phrases that one phrase may stand for, with its ends open or its words misspelled. */
  phrases: 121,
})

/** Tokens in a row, in any of the columns of `mask`. */
export interface Phrase {
  readonly tokens: readonly string[]
  /** Columns that may hold it. */
  readonly mask: number
  /** Messages that may hold it, at most. */
  readonly messages: number
  /** No message with a higher id holds it. */
  readonly newest: number
}

/** How similar words are taken: for words that the index does not hold, or for all. */
export interface Closeness {
  readonly similar: Similar
  /** Words looked up so far, by columns: a query may repeat them. */
  readonly found: Map<string, readonly Term[]>
  readonly isForAll: boolean
}

/** One word or phrase of a query, ready to be asked. A message matches when any phrase does. */
export interface Leaf {
  /** Most frequent first. */
  readonly phrases: readonly Phrase[]
  /** Columns that any phrase may match in. */
  readonly mask: number
  /** Sum of the phrases' messages: matches at most, and what reading all of them costs. */
  readonly messages: number
  /** What was typed, for notices and excerpts. */
  readonly typed: string
  /** What every match contains, folded: a first look at an original text. Empty when there is no such string. */
  readonly needle: string
  /** Terms taken from the vocabulary, most frequent first; empty for a leaf that asks for its own tokens only. */
  readonly terms: readonly string[]
  /** True when more terms match than were taken. */
  readonly isCut: boolean
  /** True when similar words were taken. */
  readonly isClose: boolean
}

/**
 * What a word or phrase asks for.
 * @param similar takes similar words where the index has none that match; quoted words stay as they are
 * @returns `null` when the text folds to nothing and is to be left out; a leaf without phrases matches nothing
 */
export function leafOf(node: TextNode, vocabulary: Vocabulary, similar?: Closeness): Leaf | null {
  const columns = node.field ? FIELD_COLUMNS[node.field] : ALL_COLUMNS
  const all = tokens(node.text)
  if (all.length === 0) return null
  const longest = all.reduce(
    (best, token) => (token.text.length > best.length ? token.text : best),
    '',
  )
  const builder = new LeafBuilder(vocabulary, columns, node.text, longest, similar)
  const only = all.length === 1 ? (all[0] as Token) : undefined
  if (only?.run) builder.paired([SINGLE + only.text])
  else if (only) builder.word(only.text, node)
  else builder.phrase(inner(all), node)
  for (const parts of joinedAlike(node.text, all)) {
    if (parts.length === 1) builder.word(parts[0] as string, node)
    else
      builder.phrase(
        parts.map((text) => ({ text })),
        node,
      )
  }
  return builder.leaf()
}

/** Joined forms that stand for the whole of what was typed, as tokens; a form of one word of a phrase says nothing of the rest. */
export function joinedAlike(typed: string, all: readonly Token[]): string[][] {
  if (all.length < 2) return []
  const whole = all.map((token) => token.text).join('')
  return joinedForms(typed)
    .map((form) => form.split(' '))
    .filter((parts) => parts.join('') === whole)
}

/** The tokens a query asks for: a run at the word's end may go on, so its outer single character is left out. */
function inner(all: readonly Token[]): ReadonlyArray<Pick<Token, 'text' | 'run'>> {
  const from = all[0]?.run === 'first' ? 1 : 0
  const until = all.at(-1)?.run === 'last' ? all.length - 1 : all.length
  return all.slice(from, until)
}

/** What is known of a term or phrase: how many messages hold it at most, and the newest id of them. */
type Bounds = Pick<Phrase, 'messages' | 'newest'>
const UNKNOWN: Bounds = { messages: Number.POSITIVE_INFINITY, newest: Number.POSITIVE_INFINITY }

class LeafBuilder {
  private readonly vocabulary: Vocabulary
  private readonly columns: number
  private readonly typed: string
  private readonly needle: string
  private readonly phrases = new Map<string, Phrase>()
  private readonly terms = new Set<string>()
  private readonly similar: Closeness | undefined
  private isCut = false
  private isClose = false

  constructor(
    vocabulary: Vocabulary,
    columns: number,
    typed: string,
    needle: string,
    similar: Closeness | undefined,
  ) {
    this.similar = similar
    this.vocabulary = vocabulary
    this.columns = columns
    this.typed = typed
    this.needle = needle
  }

  /** One token of a script with spaces. */
  word(text: string, { quoted, prefix }: TextNode): void {
    const length = [...text].length
    if (quoted && !prefix) {
      const term = this.vocabulary.term(text, this.columns)
      if (term) this.add([text], term.mask & this.columns, term)
      return
    }
    if (prefix) this.take(this.vocabulary.starting(text, this.columns, LEAF_LIMITS.terms))
    else if (length >= 3)
      this.take(this.vocabulary.containing(text, this.columns, LEAF_LIMITS.terms))
    else this.short(text)
    if (quoted || prefix) return
    if (this.phrases.size === 0 || this.similar?.isForAll) this.take(this.near(text))
  }

  /** Similar words, when they are asked for. */
  private near(text: string): Terms {
    if (!this.similar) return NONE
    const { similar, found } = this.similar
    const key = `${this.columns} ${text}`
    const terms = found.get(key) ?? similar.to(text, this.columns)
    found.set(key, terms)
    this.isClose ||= terms.length > 0
    return { terms, isCut: false }
  }

  /** One or two letters: anywhere inside the words of subject and people, as a whole word elsewhere. */
  private short(text: string): void {
    const head = this.columns & HEAD
    if (head) this.take(this.vocabulary.containing(text, head, LEAF_LIMITS.terms), head)
    const rest = this.columns & ~HEAD
    const term = rest ? this.vocabulary.term(text, rest) : undefined
    if (term) this.add([text], term.mask & this.columns, term)
  }

  private take(found: Terms, columns = this.columns): void {
    for (const term of found.terms) {
      this.terms.add(term.text)
      this.add([term.text], term.mask & columns, term)
    }
    this.isCut ||= found.isCut
  }

  /** Tokens of scripts matched as pairs: they are not in the vocabulary, so nothing is known of them. */
  paired(texts: readonly string[]): void {
    this.add(texts, this.columns, UNKNOWN)
  }

  /** Several tokens in a row; unquoted, its first word may begin and its last word may go on. */
  phrase(typed: ReadonlyArray<Pick<Token, 'text' | 'run'>>, node: TextNode): void {
    const parts = typed.slice(0, LEAF_LIMITS.phraseTokens)
    this.isCut ||= parts.length < typed.length
    const last = typed.length - 1
    let combined: Phrase[] = [{ tokens: [], mask: this.columns, ...UNKNOWN }]
    for (const [i, part] of parts.entries()) {
      const found = part.run
        ? [{ text: part.text, mask: this.columns, ...UNKNOWN }]
        : this.choices(part.text, {
            isFirst: i === 0 && !node.quoted && last > 0,
            isLast: i === last && (node.prefix || !node.quoted) && last > 0,
            isQuoted: node.quoted,
          })
      combined = combined.flatMap((head) =>
        found
          .map((term) => ({
            tokens: [...head.tokens, term.text],
            mask: head.mask & term.mask,
            messages: Math.min(head.messages, term.messages),
            newest: Math.min(head.newest, term.newest),
          }))
          .filter(({ mask }) => mask !== 0),
      )
      if (combined.length > LEAF_LIMITS.phrases) {
        combined.sort((a, b) => b.messages - a.messages)
        combined.length = LEAF_LIMITS.phrases
        this.isCut = true
      }
    }
    for (const { tokens: texts, mask, ...bounds } of combined) this.add(texts, mask, bounds)
  }

  private choices(
    text: string,
    { isFirst, isLast, isQuoted }: { isFirst: boolean; isLast: boolean; isQuoted: boolean },
  ): readonly Term[] {
    const itself = this.vocabulary.term(text, this.columns)
    if (!isFirst && !isLast) return itself ? [itself] : isQuoted ? [] : this.nearInPhrase(text)
    const found = isFirst
      ? this.vocabulary.ending(text, this.columns, TERM_LIMITS.phraseEnd)
      : this.vocabulary.starting(text, this.columns, TERM_LIMITS.phraseEnd)
    this.isCut ||= found.isCut
    const others = found.terms.filter((term) => term.text !== text)
    if (!itself && others.length === 0 && !isQuoted) return this.nearInPhrase(text)
    return itself ? [itself, ...others] : others
  }

  private nearInPhrase(text: string): readonly Term[] {
    const { terms } = this.near(text)
    const some = terms.slice(0, TERM_LIMITS.phraseEnd)
    for (const term of some) this.terms.add(term.text)
    return some
  }

  private add(texts: readonly string[], mask: number, { messages, newest }: Bounds): void {
    if (mask === 0) return
    const key = texts.join(' ')
    const known = this.phrases.get(key)
    this.phrases.set(key, {
      tokens: texts,
      mask: mask | (known?.mask ?? 0),
      messages: Math.max(messages, known?.messages ?? 0),
      newest: Math.max(newest, known?.newest ?? newest),
    })
  }

  leaf(): Leaf {
    const phrases = [...this.phrases.values()].sort((a, b) => b.messages - a.messages)
    return {
      phrases,
      mask: phrases.reduce((mask, phrase) => mask | phrase.mask, 0),
      messages: phrases.reduce((sum, phrase) => sum + phrase.messages, 0),
      typed: this.typed,
      needle: this.isClose ? '' : this.needle,
      terms: [...this.terms],
      isCut: this.isCut,
      isClose: this.isClose,
    }
  }
}
