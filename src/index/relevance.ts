/**
 * Order by relevance among the newest matches: bm25 with a weight a field. Words that stand in very many
 * messages tell little, and bm25 would read all their postings to find that out: they count by the fields
 * they stand in alone. Equal messages stay newest first.
 */
import type { Database } from 'better-sqlite3'
import { COLUMNS, type Column } from '../fold/columns.js'
import { HEAVY, matchOfPhrases, type Node } from './compile.js'
import type { Evaluator } from './evaluate.js'
import { ALL_COLUMNS, type Phrase } from './leaves.js'
import { positiveWords } from './matched.js'

/** Matches that are ranked; older ones are left out. */
export const RANKED = 1_000

const WEIGHTS: Record<Column, number> = {
  subject: 8,
  sender: 5,
  recipients: 2,
  copies: 1,
  body: 1,
  filenames: 6,
  attachments: 1,
}

/** Postings that bm25 may read to count messages, about 0.1 µs each. */
const POSTINGS = 80_000

/**
 * @param ids newest first
 * @returns the same ids, best first
 */
export function ranked(
  db: Database,
  evaluator: Evaluator,
  node: Node,
  ids: readonly number[],
): number[] {
  const newest = ids[0]
  const oldest = ids.at(-1)
  const words = positiveWords(node)
  if (newest === undefined || oldest === undefined || words.length === 0) return [...ids]
  const scores = new Map<number, number>(ids.map((id) => [id, 0]))
  const rare: Phrase[] = []
  let left = POSTINGS
  for (const { leaf } of words) {
    const phrases = leaf.phrases.filter((phrase) => phrase.newest >= oldest)
    const postings = phrases.reduce((sum, phrase) => sum + phrase.messages, 0)
    if (postings <= left && phrases.length <= HEAVY) {
      rare.push(...phrases)
      left -= postings
    } else {
      addFields(evaluator, phrases, ids, scores)
    }
  }
  if (rare.length > 0) {
    const rows = db
      .prepare<unknown[], { id: number; score: number }>(
        `SELECT rowid AS id, bm25(words, ${COLUMNS.map((column) => WEIGHTS[column]).join(', ')}) AS score
         FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
         AND +rowid IN (SELECT value FROM json_each(?))`,
      )
      .all(matchOfPhrases(rare), BigInt(oldest), BigInt(newest), JSON.stringify(ids))
    // FTS5 gives lower numbers to better matches
    for (const { id, score } of rows) scores.set(id, (scores.get(id) ?? 0) - score)
  }
  return [...ids].sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || b - a)
}

/** A common word: a little for each field it stands in, by the field's weight. */
function addFields(
  evaluator: Evaluator,
  phrases: readonly Phrase[],
  ids: readonly number[],
  scores: Map<number, number>,
): void {
  for (const [i, column] of COLUMNS.entries()) {
    const bit = 1 << i
    if (!(bit & ALL_COLUMNS) || column === 'body') continue
    for (const id of evaluator.phrasesAmong(phrases, bit, ids)) {
      scores.set(id, (scores.get(id) ?? 0) + WEIGHTS[column] / 8)
    }
  }
}
