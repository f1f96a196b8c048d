/**
 * Which fields of each hit a query's words stand in. Each field is asked once for the whole page of hits,
 * never hit by hit from SQL, and only when the answer is not known already.
 */
import { COLUMNS, type Column } from '../fold/columns.js'
import { foldTexts } from '../fold/fold.js'
import { isMark } from '../fold/marks.js'
import type { Node } from './compile.js'
import type { Evaluator } from './evaluate.js'
import { MATCHED_FIELDS, type Head, type Hit, type MatchedField } from './hits.js'
import { PEOPLE, type Phrase } from './leaves.js'

/** Fields that stand in the row are asked of the word table for this many phrases at most; more are looked up in the rows. */
const IN_WORDS = 2
const READ_IN_WORDS = 2_000

export const FIELD_MASKS: Record<MatchedField, number> = {
  subject: 1 << COLUMNS.indexOf('subject'),
  people: PEOPLE,
  body: 1 << COLUMNS.indexOf('body'),
  filenames: 1 << COLUMNS.indexOf('filenames'),
  attachments: 1 << COLUMNS.indexOf('attachments'),
}

type Words = Extract<Node, { kind: 'words' }>

/** Words that are wanted, not refused, in a tree. */
export function positiveWords(node: Node | null): Words[] {
  if (!node) return []
  if (node.kind === 'words') return node.isMark ? [] : [node]
  return node.kind === 'and' || node.kind === 'or' ? node.of.flatMap(positiveWords) : []
}

/**
 * Fills in `matched` and `attachmentOnly`. A word that every hit must hold and that only one field can hold
 * settles that field; a message without attachments cannot match in them; and where a word stands for very many
 * terms, subject, people and file names are folded from the rows, which costs less than opening every term again.
 *
 * @param hits newest first
 * @param heads subject, people and file names of hits, one text a line
 */
export function setMatched(
  evaluator: Evaluator,
  node: Node,
  hits: readonly Hit[],
  heads: (ids: readonly number[]) => ReadonlyMap<number, Head>,
): void {
  const oldest = hits.at(-1)?.id
  if (oldest === undefined) return
  const wanted = positiveWords(node)
  const needed = new Set<Node>(node.kind === 'and' ? node.of : [node])
  let read: ReadonlyMap<number, Head> | undefined
  for (const field of MATCHED_FIELDS) {
    const columns = FIELD_MASKS[field]
    const words = wanted.filter((word) => word.leaf.mask & columns)
    if (words.length === 0) continue
    const isSettled = words.some((word) => needed.has(word) && !(word.leaf.mask & ~columns))
    const isOfFiles = field === 'attachments' || field === 'filenames'
    const asked = isOfFiles ? hits.filter((hit) => hit.attachments.length > 0) : hits
    if (isSettled) {
      for (const hit of asked) hit.matched.push(field)
      continue
    }
    const phrases = words
      .flatMap((word) => word.leaf.phrases)
      .filter((phrase) => phrase.mask & columns && phrase.newest >= oldest)
    const isInRow = field !== 'body' && field !== 'attachments'
    const ids = asked.map((hit) => hit.id)
    const isMuch = phrases.length > IN_WORDS || evaluator.expected(phrases, ids) > READ_IN_WORDS
    if (isInRow && isMuch && phrases.every(({ tokens: [first] }) => first && !isMark(first))) {
      read ??= heads(hits.map((hit) => hit.id))
      const known = new PhraseIndex(
        phrases,
        words.map((word) => word.leaf.needle),
      )
      for (const hit of asked) {
        const head = read.get(hit.id)
        if (head && known.standsIn(head, columns)) hit.matched.push(field)
      }
      continue
    }
    if (words.length > 1) phrases.sort((a, b) => b.messages - a.messages)
    const found = evaluator.phrasesAmong(phrases, columns, ids)
    for (const hit of asked) if (found.has(hit.id)) hit.matched.push(field)
  }
  for (const hit of hits) {
    hit.attachmentOnly = hit.matched.length === 1 && hit.matched[0] === 'attachments'
  }
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
  private readonly needles: readonly string[]

  constructor(phrases: readonly Phrase[], needles: readonly string[]) {
    this.needles = needles
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
      if (!(columns & bit) || head[column] === '') return false
      const all = this.tokensOf(head[column])
      return all.some((token, at) =>
        this.byFirst
          .get(token)
          ?.some(
            ({ tokens, mask }) => mask & bit && tokens.every((part, i) => all[at + i] === part),
          ),
      )
    })
  }

  /** Folded tokens of lines. Most are plain: letters and signs that only separate, where folding is lower case. */
  private tokensOf(lines: string): readonly string[] {
    if (!PLAIN.test(lines)) return foldTexts(lines.split('\n')).split(' ')
    const lower = lines.toLowerCase()
    const isPossible = this.needles.some((needle) => lower.includes(needle))
    return isPossible ? lower.replaceAll('\n', ' \ue000 ').split(BETWEEN) : []
  }
}

const PLAIN = /^[A-Za-z \n<>@.,:;()!?"]*$/
const BETWEEN = /[ <>@.,:;()!?"]+/
