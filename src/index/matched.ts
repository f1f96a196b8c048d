/**
 * Which fields of each hit a query's words stand in. Each field is asked once for the whole page of hits,
 * never hit by hit from SQL, and only when the answer is not known already.
 */
import { COLUMNS, type Column } from '../fold/columns.js'
import { foldTexts } from '../fold/fold.js'
import { isMark } from '../fold/marks.js'
import type { Node, Words } from './compile.js'
import type { Evaluator } from './evaluate.js'
import { MATCHED_FIELDS, type Head, type HeadOf, type Hit, type MatchedField } from './hits.js'
import { ALL_COLUMNS, PEOPLE, type Phrase } from './leaves.js'

/**
 * Fields that stand in the row are asked of the word table for this many phrases at most, and where about so many messages
 * between the oldest and the newest hit hold them; else they are looked up in the rows.
 */
const IN_WORDS = 2
const READ_IN_WORDS = 2_000

export const FIELD_MASKS: Record<MatchedField, number> = {
  subject: 1 << COLUMNS.indexOf('subject'),
  people: PEOPLE,
  body: 1 << COLUMNS.indexOf('body'),
  filenames: 1 << COLUMNS.indexOf('filenames'),
  attachments: 1 << COLUMNS.indexOf('attachments'),
}

/** Columns that a message without attachments can match in. */
const UNATTACHED = ALL_COLUMNS & ~FIELD_MASKS.filenames & ~FIELD_MASKS.attachments

/** Words that are wanted, not refused, in a tree. */
export function positiveWords(node: Node | null): Words[] {
  if (!node) return []
  if (node.kind === 'words') return node.isMark ? [] : [node]
  return node.kind === 'and' || node.kind === 'or' ? node.of.flatMap(positiveWords) : []
}

/**
 * Fills in `matched` and `attachmentOnly`. A word that every hit must hold and that only one field can hold
 * settles that field; a message without attachments cannot match in them; where a word stands for very many
 * terms, subject, people and file names are folded from the rows, which costs less than opening every term again;
 * and a hit in which a word that it must hold stands in no other field has it in the one that is left.
 *
 * @param hits newest first
 * @param headOf subject, people and file names of a hit, one text a line
 */
export function setMatched(
  evaluator: Evaluator,
  node: Node,
  hits: readonly Hit[],
  headOf: HeadOf,
): void {
  const oldest = hits.at(-1)?.id
  if (oldest === undefined) return
  const wanted = positiveWords(node)
  const parts = new Set<Node>(node.kind === 'and' ? node.of : [node])
  const needed = wanted.filter((word) => parts.has(word))
  // columns, as bits: of fields that matched, by hit; that a hit can match in; of fields not known yet
  const matched = new Int32Array(hits.length)
  const possible = hits.map(({ attachments }) =>
    attachments.length > 0 ? ALL_COLUMNS : UNATTACHED,
  )
  let unknown = ALL_COLUMNS
  /** A needed word stands in no other field of the hit. */
  const isLeft = (i: number, columns: number): boolean =>
    needed.some(({ leaf }) => {
      const others = leaf.mask & (possible[i] as number) & ~columns
      return (others & (unknown | (matched[i] as number))) === 0
    })
  const asked: Asked[] = []
  for (const field of MATCHED_FIELDS) {
    const columns = FIELD_MASKS[field]
    const words = wanted.filter((word) => word.leaf.mask & columns)
    const isSettled = needed.some(({ leaf }) => leaf.mask & columns && !(leaf.mask & ~columns))
    if (words.length === 0 || isSettled) {
      if (isSettled) for (const i of hits.keys()) matched[i]! |= columns & (possible[i] as number)
      unknown &= ~columns
      continue
    }
    const places = [...hits.keys()].filter((i) => (possible[i] as number) & columns)
    const phrases = words
      .flatMap((word) => word.leaf.phrases)
      .filter((phrase) => phrase.mask & columns && phrase.newest >= oldest)
    if (words.length > 1) phrases.sort((a, b) => b.messages - a.messages)
    const isInRow = field !== 'body' && field !== 'attachments'
    const ids = places.map((i) => (hits[i] as Hit).id)
    const isMuch = phrases.length > IN_WORDS || evaluator.expected(phrases, ids) > READ_IN_WORDS
    if (isInRow && isMuch && phrases.every(({ tokens: [first] }) => first && !isMark(first))) {
      const index = new PhraseIndex(
        phrases,
        words.map((word) => word.leaf.needle),
      )
      for (const i of places) {
        const head = headOf(hits[i] as Hit)
        if (head && index.standsIn(head, columns)) matched[i]! |= columns
      }
      unknown &= ~columns
    } else asked.push({ columns, phrases, places })
  }
  for (const { columns, phrases, places } of withoutVain(evaluator, asked, hits)) {
    const left = new Set(places.filter((i) => isLeft(i, columns)))
    const ids = places.filter((i) => !left.has(i)).map((i) => (hits[i] as Hit).id)
    const found = evaluator.phrasesAmong(phrases, columns, ids)
    for (const i of places)
      if (left.has(i) || found.has((hits[i] as Hit).id)) matched[i]! |= columns
    unknown &= ~columns
  }
  for (const [i, hit] of hits.entries()) {
    hit.matched = MATCHED_FIELDS.filter((field) => (matched[i] as number) & FIELD_MASKS[field])
    hit.attachmentOnly = hit.matched.length === 1 && hit.matched[0] === 'attachments'
  }
}

/** A field that is asked of the word table, for some of the hits. */
interface Asked {
  readonly columns: number
  readonly phrases: readonly Phrase[]
  readonly places: readonly number[]
}

/**
 * Of pairs of characters no vocabulary says where they stand, and asking for them in a field that holds none reads
 * every message that has them: one token of each is asked of all fields but the body together, and only what that
 * finds is asked field by field.
 */
function withoutVain(
  evaluator: Evaluator,
  asked: readonly Asked[],
  hits: readonly Hit[],
): readonly Asked[] {
  const isVain = ({ columns, phrases }: Asked): boolean =>
    columns !== FIELD_MASKS.body && phrases.every(({ messages }) => messages === Infinity)
  const some = asked.filter(isVain)
  const phrases = [...new Set(some.flatMap((one) => one.phrases))]
  if (some.length < 2 && phrases.every(({ tokens }) => tokens.length === 1)) return asked
  const places = new Set(some.flatMap((one) => one.places))
  const found = evaluator.phrasesAmong(
    phrases.map((phrase) => ({
      ...phrase,
      tokens: [phrase.tokens[phrase.tokens.length >> 1] as string],
    })),
    some.reduce((columns, one) => columns | one.columns, 0),
    [...hits.keys()].filter((i) => places.has(i)).map((i) => (hits[i] as Hit).id),
  )
  return asked.map((one) =>
    isVain(one)
      ? { ...one, places: one.places.filter((i) => found.has((hits[i] as Hit).id)) }
      : one,
  )
}

const HEAD_COLUMNS = [
  'subject',
  'sender',
  'recipients',
  'copies',
  'filenames',
] as const satisfies readonly Column[]

/** Many phrases, ready to be looked up in folded text. */
class PhraseIndex {
  private readonly byFirst = new Map<string, Phrase[]>()
  /** Every phrase contains one of them; letters and digits only. */
  private readonly needles: readonly string[]

  constructor(phrases: readonly Phrase[], needles: readonly string[]) {
    this.needles = needles.map((needle) => needle.replace(SIGNS, ''))
    for (const phrase of phrases) {
      const first = phrase.tokens[0] as string
      const known = this.byFirst.get(first)
      if (known) known.push(phrase)
      else this.byFirst.set(first, [phrase])
    }
  }

  standsIn(head: Head, columns: number): boolean {
    return HEAD_COLUMNS.some((column) => {
      const bit = 1 << COLUMNS.indexOf(column)
      const lines = head[column]
      if (!(columns & bit) || !this.isPossible(lines)) return false
      if (!isPlain(lines)) return this.isAmong(foldTexts(lines.split('\n')).split(' '), bit)
      // folded, it has these tokens in this order, and joined forms where signs stand among digits
      if (this.isAmong(lines.toLowerCase().replaceAll('\n', ' \ue000 ').split(BETWEEN), bit))
        return true
      return mayBeJoined(lines) && this.isAmong(foldTexts(lines.split('\n')).split(' '), bit)
    })
  }

  private isAmong(all: readonly string[], bit: number): boolean {
    return all.some((token, at) =>
      this.byFirst
        .get(token)
        ?.some(({ tokens, mask }) => mask & bit && tokens.every((part, i) => all[at + i] === part)),
    )
  }

  /** Folding ASCII changes case and drops signs, or joins what they part (INV-2023-001): no needle, no phrase. */
  private isPossible(lines: string): boolean {
    if (lines === '') return false
    if (!isPlain(lines)) return true
    const lower = lines.toLowerCase()
    if (this.needles.some((needle) => lower.includes(needle))) return true
    const joined = lower.replace(SIGNS, '')
    return this.needles.some((needle) => joined.includes(needle))
  }
}

const SIGNS = /[\0-\x2f\x3a-\x60\x7b-\x7f]+/g
const BETWEEN = /[^a-z0-9\ue000]+/

/** Long stretches without a space may be encoded data, which folding leaves out. */
const isPlain = (lines: string): boolean =>
  /^[\0-\x7f]*$/.test(lines) && !/(?:^|\s)\S{60}/.test(lines)

/** A digit, and signs between letters or digits. */
const mayBeJoined = (lines: string): boolean =>
  /\d/.test(lines) && /[A-Za-z0-9][^A-Za-z0-9\s]+[A-Za-z0-9]/.test(lines)
