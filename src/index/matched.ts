/**
 * Which fields of each hit a query's words stand in. Each field is asked once for the whole page of hits,
 * never hit by hit from SQL, and only when the answer is not known already.
 */
import { COLUMNS } from '../fold/columns.js'
import type { Node } from './compile.js'
import type { Evaluator } from './evaluate.js'
import { MATCHED_FIELDS, type Hit, type MatchedField } from './hits.js'
import { PEOPLE } from './leaves.js'

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
 * settles that field; a message without attachments cannot match in them.
 *
 * @param hits newest first
 */
export function setMatched(evaluator: Evaluator, node: Node, hits: readonly Hit[]): void {
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
