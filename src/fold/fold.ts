/**
 * Normalises text for matching: original text in, tokens out. The word table's own tokenizer then only
 * splits at spaces, so that index and query cannot disagree. Raise FOLD_VERSION when any text folds
 * otherwise than before: the index is then built afresh from the kept texts.
 *
 * Not responsible for: which column a text goes into (columns.ts), what a query makes of the tokens
 * (index/query.ts).
 *
 * Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) and Hangul are runs. A run of n
 * characters c1…cn gives c1 c1c2 c2c3 … c(n-1)cn cn: its pairs, between its first and last characters
 * (one token when n is 1). In a query the outer single characters are left out where the run is at the
 * query word's end, so that a run matches inside a longer one, and `2024年` still matches `2024年度`.
 * A lone character is asked as SINGLE + c, which stands once at the end of each column that holds it.
 */

/** Stored with the index. */
export const FOLD_VERSION = 1

/** Longest token kept, in UTF-16 units. */
export const TOKEN_LENGTH_MAX = 64

export interface Token {
  /** Folded; no spaces, never empty. */
  text: string
  /** UTF-16 offsets in the original text, end exclusive. A pair covers both characters; marks and soft hyphens inside a word are covered. */
  start: number
  end: number
  /** Set for tokens of runs matched as pairs: which part of the run. */
  run?: 'first' | 'pair' | 'last' | 'only'
}

/**
 * Folds for the index.
 * @param text original text, any characters
 * @returns tokens joined by single spaces, then, after a SEPARATOR each, the joined forms of identifiers and
 *   amounts and the SINGLE tokens; `''` when nothing is left
 */
export function foldText(_text: string): string {
  throw new Error('not yet')
}

/** The tokens of `foldText`'s running text, with their places, for excerpts and queries. Joined forms and SINGLE tokens are not among them. */
export function tokens(_text: string): Token[] {
  throw new Error('not yet')
}

/**
 * Joined forms of the identifiers and amounts in a text, each one or two tokens:
 * `INV-2023-001` → `inv2023001`, `1,234.50` → `1234 50`. A query for such a word matches the phrase of its tokens OR this form.
 */
export function joinedForms(_text: string): string[] {
  throw new Error('not yet')
}

/** Whether a token belongs to a script that is matched as pairs (and so is not in the vocabulary). */
export function isPaired(_token: string): boolean {
  throw new Error('not yet')
}
