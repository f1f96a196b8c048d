/**
 * Finds a query's words in an original text and cuts a snippet around them, with each match marked at
 * the right characters. Responsible for one text; not for where texts are kept (excerpts.ts).
 *
 * Folding a whole text to show one line of it is waste: the lower-cased original is looked through
 * first, and only the surroundings of a find are folded. What that misses (accents, ligatures, full
 * width, soft hyphens) is found by folding everything.
 */
import { joinedForms, tokens, type Token } from '../fold/fold.js'
import { SINGLE } from '../fold/marks.js'
import type { Leaf } from './leaves.js'

/** Stand around each match of a snippet; control characters of the text itself become spaces. */
export const MATCH_BEGIN = '\u0002'
export const MATCH_END = '\u0003'

/** Characters of a snippet, roughly: it is cut at whole words. */
export const SNIPPET_CHARS = 160
/** Folded on each side of a find. */
const AROUND = 320
/** Finds of one word that are looked at more closely in one text. */
const FINDS = 24

interface Match {
  readonly start: number
  readonly end: number
  /** Which leaf of the query. */
  readonly leaf: number
}

export interface Found {
  readonly snippet: string
  /** How many of the query's words the snippet shows. */
  readonly leaves: number
}

/** The words of a query, ready to be found in texts. */
export class Marker {
  /** A needle for each leaf: what its matches contain, lower case, when that is one string. */
  private readonly needles: readonly string[]
  private readonly words = new Map<string, number>()
  private readonly singles = new Map<string, number>()
  private readonly sequences = new Map<string, Array<{ tokens: readonly string[]; leaf: number }>>()
  private readonly hasDigits: boolean

  constructor(leaves: readonly Leaf[]) {
    this.needles = leaves.map((leaf) => leaf.needle)
    this.hasDigits = leaves.some((leaf) => /\d/.test(leaf.typed))
    for (const [leaf, { phrases }] of leaves.entries()) {
      for (const { tokens: texts } of phrases) {
        const first = texts[0] as string
        if (texts.length > 1) {
          const known = this.sequences.get(first)
          if (known) known.push({ tokens: texts, leaf })
          else this.sequences.set(first, [{ tokens: texts, leaf }])
        } else if (first.startsWith(SINGLE)) {
          this.singles.set(first.slice(SINGLE.length), leaf)
        } else {
          this.words.set(first, leaf)
        }
      }
    }
  }

  /** How many words the query has. */
  get leaves(): number {
    return this.needles.length
  }

  /** Whether there is anything to find. */
  get isEmpty(): boolean {
    return this.words.size + this.singles.size + this.sequences.size === 0
  }

  /** The best snippet that a look at the original finds, or `undefined`. Cheap; may miss what `search` finds. */
  glance(text: string): Found | undefined {
    const lower = text.toLowerCase()
    if (lower.length !== text.length) return undefined
    const finds: Match[] = []
    for (const [leaf, needle] of this.needles.entries()) {
      if (needle === '') continue
      let at = lower.indexOf(needle)
      for (let count = 0; at >= 0 && count < FINDS; count += 1) {
        finds.push({ start: at, end: at + needle.length, leaf })
        at = lower.indexOf(needle, at + needle.length)
      }
    }
    finds.sort((a, b) => a.start - b.start)
    let left = FINDS
    while (finds.length > 0 && left > 0) {
      const best = densest(finds)
      const from = cutBefore(text, best.start - AROUND)
      const until = cutAfter(text, best.start + SNIPPET_CHARS + AROUND)
      const found = this.snippet(text, this.matches(text.slice(from, until), from))
      if (found) return found
      // the word stood inside another one here: look elsewhere
      finds.splice(best.at, 1)
      left -= 1
    }
    return undefined
  }

  /** The best snippet of a text, found by folding all of it. */
  search(text: string): Found | undefined {
    return this.snippet(text, this.matches(text, 0))
  }

  private snippet(text: string, matches: readonly Match[]): Found | undefined {
    if (matches.length === 0) return undefined
    const { start, leaves } = densest(matches)
    return { snippet: cut(text, start, matches), leaves }
  }

  private matches(text: string, offset: number): Match[] {
    const found: Match[] = []
    const all = tokens(text)
    for (const [i, token] of all.entries()) {
      const word = this.words.get(token.text)
      if (word !== undefined) found.push({ start: token.start, end: token.end, leaf: word })
      if (token.run) this.single(text, token, found)
      for (const sequence of this.sequences.get(token.text) ?? []) {
        const last = all[i + sequence.tokens.length - 1]
        if (last && sequence.tokens.every((part, k) => all[i + k]?.text === part)) {
          found.push({ start: token.start, end: last.end, leaf: sequence.leaf })
        }
      }
    }
    if (this.hasDigits) this.joined(text, found)
    return found
      .map(({ start, end, leaf }) => ({ start: start + offset, end: end + offset, leaf }))
      .sort((a, b) => a.start - b.start || b.end - a.end)
  }

  /** A lone character of a script matched in pairs: the beginning of every token of a run, once each. */
  private single(text: string, token: Token, found: Match[]): void {
    if (this.singles.size === 0 || token.run === 'first') return
    const first = String.fromCodePoint(token.text.codePointAt(0) as number)
    const leaf = this.singles.get(first)
    if (leaf === undefined) return
    const width = (text.codePointAt(token.start) as number) > 0xffff ? 2 : 1
    const end = token.run === 'pair' ? token.start + width : token.end
    found.push({ start: token.start, end, leaf })
  }

  /** Identifiers and amounts whose joined form is asked for: INV-2023-001 for INV2023001. */
  private joined(text: string, found: Match[]): void {
    for (const { 0: chunk, index } of text.matchAll(/[^\s]*\d[^\s]*/gu)) {
      if (chunk.length > 200) continue
      for (const form of joinedForms(chunk)) {
        const parts = form.split(' ')
        const leaf =
          parts.length === 1
            ? this.words.get(form)
            : this.sequences
                .get(parts[0] as string)
                ?.find((sequence) => sequence.tokens.join(' ') === form)?.leaf
        if (leaf === undefined) continue
        const inside = tokens(chunk)
        found.push({
          start: index + (inside[0]?.start ?? 0),
          end: index + (inside.at(-1)?.end ?? chunk.length),
          leaf,
        })
      }
    }
  }
}

/** Where a window of a snippet's width holds the most different words, then the most matches; the first of the best. */
function densest(matches: readonly Match[]): { start: number; at: number; leaves: number } {
  let best = { start: 0, at: 0, leaves: 0 }
  let most = -1
  for (let i = 0; i < matches.length; i += 1) {
    const { start } = matches[i] as Match
    const leaves = new Set<number>()
    let count = 0
    for (let k = i; k < matches.length; k += 1) {
      const match = matches[k] as Match
      if (match.end > start + SNIPPET_CHARS && k > i) break
      leaves.add(match.leaf)
      count += 1
    }
    const worth = leaves.size * 1_000 + Math.min(count, 5)
    if (worth > most) {
      most = worth
      best = { start, at: i, leaves: leaves.size }
    }
  }
  return best
}

const isBoundary = (text: string, at: number): boolean =>
  at <= 0 ||
  at >= text.length ||
  /\s/u.test(text[at - 1] as string) ||
  /\s/u.test(text[at] as string)

/** A place at or before `at` where a word begins, within 40 characters; text without spaces is cut where it is. */
function cutBefore(text: string, at: number): number {
  if (at <= 0) return 0
  for (let back = 0; back <= 40 && at - back > 0; back += 1) {
    if (isBoundary(text, at - back)) return at - back
  }
  return whole(text, at)
}

function cutAfter(text: string, at: number): number {
  if (at >= text.length) return text.length
  for (let on = 0; on <= 40 && at + on < text.length; on += 1) {
    if (isBoundary(text, at + on)) return at + on
  }
  return whole(text, at)
}

/** Never between the halves of a surrogate pair. */
const whole = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}

/** Text as a snippet shows it: runs of spaces, line breaks and control characters are one space. */
const flat = (text: string): string =>
  text.replace(/[\s\u0000-\u001f\u007f-\u009f\ue000-\uf8ff]+/gu, ' ')

function cut(text: string, first: number, matches: readonly Match[]): string {
  const from = cutBefore(text, first - 50)
  const longest = matches.find((match) => match.start === first)?.end ?? first
  const until = cutAfter(text, Math.max(from + SNIPPET_CHARS, Math.min(longest, first + 400)))
  let snippet = ''
  let at = from
  for (const { start, end } of matches) {
    if (end <= at || start < from || start >= until) continue
    const begin = Math.max(start, at)
    // overlapping matches (pairs of a run) are one mark
    if (begin === at && snippet.endsWith(MATCH_END)) snippet = snippet.slice(0, -1)
    else snippet += flat(text.slice(at, begin)) + MATCH_BEGIN
    snippet += flat(text.slice(begin, Math.min(end, until))) + MATCH_END
    at = Math.min(end, until)
  }
  snippet += flat(text.slice(at, until))
  return `${from > 0 ? '…' : ''}${snippet.trim()}${until < text.length ? '…' : ''}`
}

/** The beginning of a text, for hits that no word of it matched. */
export function opening(text: string): string {
  const until = cutAfter(text, SNIPPET_CHARS)
  return `${flat(text.slice(0, until)).trim()}${until < text.length ? '…' : ''}`
}
