/**
 * Normalises text for matching: original text in, tokens out. The word table's own tokenizer then only
 * splits at spaces, so that index and query cannot disagree. Raise FOLD_VERSION when any text folds
 * otherwise than before: the index is then built afresh from the kept texts.
 *
 * Not responsible for: what a character becomes (characters.ts), which column a text goes into
 * (columns.ts), what a query makes of the tokens (index/query.ts).
 *
 * Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) and Hangul are runs. A run of n
 * characters c1…cn gives c1 c1c2 c2c3 … c(n-1)cn cn: its pairs, between its first and last characters
 * (one token when n is 1). In a query the outer single characters are left out where the run is at the
 * query word's end, so that a run matches inside a longer one, and `2024年` still matches `2024年度`.
 * A lone character is asked as SINGLE + c, which stands once at the end of each column that holds it.
 *
 * A chunk is a stretch without a separating character; a word broken by a hyphen at a line's end is one
 * chunk, and so are Han and kana broken by a line's end. Most chunks are ASCII and are copied; chunks of
 * other scripts with spaces are looked up in a cache; the rest is folded cluster by cluster.
 */
import {
  ASCII,
  IGNORED,
  PAIRED,
  SEPARATES,
  classAt,
  extendsCluster,
  foldCluster,
  isPairedCharacter,
  widthAt,
} from './characters.js'
import { joinedFormAt, mayJoin } from './joined.js'
import { SEPARATOR, SINGLE } from './marks.js'

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
  run?: Run
}
export type Run = 'first' | 'pair' | 'last' | 'only'

/**
 * Folds for the index.
 * @param text original text, any characters
 * @returns tokens joined by single spaces, then, after a SEPARATOR each, the joined forms of identifiers and
 *   amounts and the halves of words broken at a line's end, then the SINGLE tokens; `''` when nothing is left
 */
export function foldText(text: string): string {
  return foldTexts([text])
}

/** Folds several texts into one column, a SEPARATOR between them, joined forms and SINGLE tokens once at its end. */
export function foldTexts(texts: Iterable<string>): string {
  begin()
  for (const text of texts) {
    if (text === '') continue
    const before = length
    if (length > 0) pushUnits(SEPARATOR)
    const after = length
    scan(text)
    if (length === after) length = before
  }
  for (const form of forms) {
    pushUnits(SEPARATOR)
    pushUnits(form)
  }
  if (singles.length > 0) pushUnits(SEPARATOR)
  for (const single of singles) pushUnits(SINGLE + single)
  return finish()
}

/** The tokens of `foldText`'s running text, with their places, for excerpts and queries. Joined forms and SINGLE tokens are not among them. */
export function tokens(text: string): Token[] {
  begin()
  places = []
  scan(text)
  const found = places
  const running = finish()
  if (running === '') return []
  return running.split(' ').map((token, index) => {
    const run = RUNS[found[index * 3 + 2] as number]
    const place = { start: found[index * 3] as number, end: found[index * 3 + 1] as number }
    return run === undefined ? { text: token, ...place } : { text: token, ...place, run }
  })
}

/**
 * Joined forms of the identifiers and amounts in a text, each one or two tokens:
 * `INV-2023-001` → `inv2023001`, `1,234.50` → `1234 50`. A query for such a word matches the phrase of its tokens OR this form.
 */
export function joinedForms(text: string): string[] {
  begin()
  scan(text)
  const found = [...forms]
  finish()
  return found
}

/** Whether a token belongs to a script that is matched as pairs (and so is not in the vocabulary). */
export function isPaired(token: string): boolean {
  if (token.charCodeAt(0) < 0x0e00) return false
  const kind = classAt(token, 0)
  if (kind === PAIRED || kind === ASCII || kind === SEPARATES) return kind === PAIRED
  return isPairedCharacter(String.fromCodePoint(token.codePointAt(0) as number))
}

const RUNS: ReadonlyArray<Run | undefined> = [undefined, 'first', 'pair', 'last', 'only']
const NO_RUN = 0
const RUN_FIRST = 1
const RUN_PAIR = 2
const RUN_LAST = 3
const RUN_ONLY = 4

/** Joined forms kept of one column; a sheet of figures has tens of thousands. */
const FORMS_MAX = 5_000
/** The output buffer shrinks back to this many units when a larger text is done. */
const BUFFER_UNITS = 1 << 20

// One column is folded at a time and synchronously, so that the buffers are shared.
let out = new Uint16Array(1 << 16)
let length = 0
let isWide = false
/** start, end and run of each token, when somebody asks. */
let places: number[] | null = null
let forms = new Set<string>()
let singles: string[] = []
const seenSingles = new Uint8Array(1 << 16)
let wideSingles = new Set<string>()

function begin(): void {
  length = 0
  isWide = false
  places = null
  forms = new Set()
  for (const single of singles) if (single.length === 1) seenSingles[single.charCodeAt(0)] = 0
  singles = []
  wideSingles = new Set()
}

function finish(): string {
  places = null
  let folded: string
  if (isWide) folded = Buffer.from(out.buffer, 0, length * 2).toString('utf16le')
  else {
    const narrow = Buffer.allocUnsafe(length)
    for (let at = 0; at < length; at++) narrow[at] = out[at] as number
    folded = narrow.toString('latin1')
  }
  if (out.length > BUFFER_UNITS) out = new Uint16Array(1 << 16)
  return folded
}

function grow(units: number): void {
  const larger = new Uint16Array(Math.max(out.length * 2, length + units + 1024))
  larger.set(out)
  out = larger
}

/** Puts a token, or tokens joined by spaces, behind a space. */
function pushUnits(text: string): void {
  if (length + text.length + 1 > out.length) grow(text.length + 1)
  if (length > 0) out[length++] = SPACE
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127) isWide = true
    out[length++] = code
  }
}

function place(start: number, end: number, run: number): void {
  if (places !== null) places.push(start, end, run)
}

function single(character: string): void {
  if (character.length === 1) {
    const code = character.charCodeAt(0)
    if (seenSingles[code] !== 0) return
    seenSingles[code] = 1
  } else {
    if (wideSingles.has(character)) return
    wideSingles.add(character)
  }
  singles.push(character)
}

const SPACE = 32
const HYPHEN = 45
const PLUS = 43
const SLASH = 47

/** Lower case of ASCII letters and digits, 0 for the rest. */
const LOWER = new Uint8Array(128)
for (let code = 0; code < 128; code++)
  if (/[a-z0-9]/i.test(String.fromCharCode(code)))
    LOWER[code] = String.fromCharCode(code).toLowerCase().charCodeAt(0)

function scan(text: string): void {
  const end = text.length
  // Where the stretch of base64's alphabet began that we are in: here, in the output, in the places.
  let stretch = 0
  let stretchOut = length
  let stretchPlaces = 0
  const endStretch = (at: number): void => {
    if (at - stretch >= BASE64_MIN && isBase64(text, stretch, at)) {
      length = stretchOut
      if (places !== null) places.length = stretchPlaces
    }
    stretch = at + 1
    stretchOut = length
    if (places !== null) stretchPlaces = places.length
  }
  let formsFrom = 0
  let at = 0
  while (at < end) {
    let code = text.charCodeAt(at)
    if (code < 128 ? LOWER[code] === 0 : classAt(text, at) === SEPARATES) {
      if (code !== PLUS && code !== SLASH) endStretch(at)
      at++
      continue
    }
    const start = at
    while (code < 128 && LOWER[code] !== 0) code = text.charCodeAt(++at)
    if (at >= end) ascii(text, start, end)
    else if (code < 128 ? code !== HYPHEN || afterBreak(text, at) === 0 : false)
      ascii(text, start, at)
    else at = chunk(text, start)

    if (at < end && start >= formsFrom && mayJoin(text.charCodeAt(at))) {
      const form = joinedFormAt(text, start)
      if (form !== undefined) {
        formsFrom = form.end
        addForm(form.text)
      }
    }
  }
  endStretch(end)
}

/** Adds a joined form, folded, when it is still one or two words. */
function addForm(original: string): void {
  if (forms.size >= FORMS_MAX) return
  const words: string[] = []
  for (const word of original.split(' ')) {
    const folded = foldChunk(word)
    if (folded.singles !== '' || folded.text === '' || folded.text.includes(' ')) return
    words.push(folded.text)
  }
  forms.add(words.join(' '))
}

function ascii(text: string, start: number, end: number): void {
  const size = end - start
  if (size > TOKEN_LENGTH_MAX) return
  if (length + size + 1 > out.length) grow(size + 1)
  if (length > 0) out[length++] = SPACE
  for (let at = start; at < end; at++) out[length++] = LOWER[text.charCodeAt(at)] as number
  if (places !== null) places.push(start, end, NO_RUN)
}

/** Longest chunk that is worth remembering. */
const CACHED_CHARS = 40
/** Chunks are remembered in two generations of at most so many. */
const CACHE_SIZE = 20_000

interface FoldedChunk {
  /** Tokens joined by spaces. */
  text: string
  /** start, end and run of each, from the chunk's start. */
  places: number[]
  /** Its paired characters. */
  singles: string
}
let young = new Map<string, FoldedChunk>()
let old = new Map<string, FoldedChunk>()

/** Folds the chunk that begins at a place. @returns where it ends: a separator, or the text's end */
function chunk(text: string, start: number): number {
  let at = start
  let kinds = 0
  let isJoined = false
  let isHyphenated = false
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (LOWER[code] === 0 ? SEPARATES : ASCII) : classAt(text, at)
    if (kind === SEPARATES) {
      const next = afterBreak(text, at)
      if (next === 0) break
      isJoined = true
      if (code === HYPHEN || code === 0x2010) isHyphenated = true
      at = next
      continue
    }
    kinds |= 1 << kind
    at += code < 0xd800 || code > 0xdbff ? 1 : widthAt(text, at)
  }
  if (kinds === 1 << ASCII && !isJoined) ascii(text, start, at)
  else if ((kinds & ~((1 << ASCII) | (1 << PAIRED))) === 0 && (kinds & (1 << PAIRED)) !== 0)
    plainRuns(text, start, at)
  else {
    const original = text.slice(start, at)
    putChunk(original.length <= CACHED_CHARS ? remembered(original) : foldChunk(original), start)
    if (isHyphenated && forms.size < FORMS_MAX) addHalves(original)
  }
  return at
}

function remembered(original: string): FoldedChunk {
  let known = young.get(original)
  if (known !== undefined) return known
  known = old.get(original) ?? foldChunk(original)
  if (young.size >= CACHE_SIZE) {
    old = young
    young = new Map()
  }
  // A slice keeps the whole text it was cut from in memory; a copy does not.
  young.set(Buffer.from(original, 'utf16le').toString('utf16le'), known)
  return known
}

function putChunk(folded: FoldedChunk, start: number): void {
  if (folded.text === '') return
  pushUnits(folded.text)
  for (const character of folded.singles) single(character)
  if (places !== null)
    for (let at = 0; at < folded.places.length; at += 3)
      places.push(
        (folded.places[at] as number) + start,
        (folded.places[at + 1] as number) + start,
        folded.places[at + 2] as number,
      )
}

/** The halves of a word broken by a hyphen stand at the column's end, for it may be one of `well-known`. */
function addHalves(original: string): void {
  const halves = original
    .split(/[-\u2010]\s+/)
    .map((half) => foldChunk(half))
    .filter((half) => half.text !== '' && half.singles === '')
  if (halves.length > 1) forms.add(halves.map((half) => half.text).join(' '))
}

/** A chunk of ASCII and of paired characters that folding leaves as they are. */
function plainRuns(text: string, start: number, end: number): void {
  let at = start
  while (at < end) {
    const from = at
    let code = text.charCodeAt(at)
    if (code < 128) {
      while (at < end && (code = text.charCodeAt(at)) < 128 && LOWER[code] !== 0) at++
      if (at > from) ascii(text, from, at)
      else at++
      continue
    }
    // A run: c1 c1c2 … cn. A line's end inside it is no character of it.
    let previous = code
    let previousAt = at
    at++
    let count = 1
    if (length + 8 > out.length) grow(8)
    if (length > 0) out[length++] = SPACE
    out[length++] = code
    isWide = true
    plainSingle(code)
    for (;;) {
      while (at < end && isBreak(text.charCodeAt(at))) at++
      code = at < end ? text.charCodeAt(at) : 0
      if (code < 128) break
      if (count === 1) place(previousAt, previousAt + 1, RUN_FIRST)
      if (length + 8 > out.length) grow(8)
      out[length++] = SPACE
      out[length++] = previous
      out[length++] = code
      place(previousAt, at + 1, RUN_PAIR)
      plainSingle(code)
      count++
      previous = code
      previousAt = at
      at++
    }
    if (count === 1) place(previousAt, previousAt + 1, RUN_ONLY)
    else {
      out[length++] = SPACE
      out[length++] = previous
      place(previousAt, previousAt + 1, RUN_LAST)
    }
  }
}

function plainSingle(code: number): void {
  if (seenSingles[code] !== 0) return
  seenSingles[code] = 1
  singles.push(String.fromCharCode(code))
}

const isBreak = (code: number): boolean => code === 10 || code === 13 || code === 32 || code === 9

/** Folds any chunk, cluster by cluster. Separators in it are line breaks that were joined over. */
function foldChunk(original: string): FoldedChunk {
  const characters: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let at = 0
  while (at < original.length) {
    const start = at
    let width = widthAt(original, at)
    let last = original.slice(at, at + width)
    const kind = classAt(original, at)
    at += width
    if (kind === SEPARATES || kind === IGNORED) continue
    let cluster = last
    let end = at
    while (at < original.length) {
      width = widthAt(original, at)
      const next = original.slice(at, at + width)
      const kind = classAt(original, at)
      const isIgnored = kind === IGNORED || kind === SEPARATES
      if (!isIgnored && (kind === PAIRED || !extendsCluster(next, last))) break
      at += width
      if (isIgnored) continue
      cluster += next
      last = next
      end = at
    }
    if (kind === ASCII && cluster.length === 1) {
      characters.push(cluster.toLowerCase())
      starts.push(start)
      ends.push(end)
    } else {
      const folded = foldCluster(cluster)
      // One Arabic ligature stands for eighteen letters; a megabyte of them is no language.
      if (folded.length > 4 && characters.length > 100 + 2 * original.length) continue
      for (const character of folded) {
        if (classAt(character, 0) === IGNORED) continue
        characters.push(character)
        starts.push(start)
        ends.push(end)
      }
    }
  }
  return cutTokens(characters, starts, ends)
}

/** Cuts folded characters into words and runs. */
function cutTokens(characters: string[], starts: number[], ends: number[]): FoldedChunk {
  const cut: string[] = []
  const where: number[] = []
  let paired = ''
  const put = (from: number, to: number, run: number): void => {
    cut.push(characters.slice(from, to).join(''))
    where.push(starts[from] as number, ends[to - 1] as number, run)
  }
  let at = 0
  while (at < characters.length) {
    const from = at
    const kind = kindOf(characters[at] as string, SEPARATES)
    at++
    while (at < characters.length && kindOf(characters[at] as string, kind) === kind) at++
    if (kind === PAIRED) {
      if (at - from === 1) put(from, at, RUN_ONLY)
      else {
        put(from, from + 1, RUN_FIRST)
        for (let pair = from; pair < at - 1; pair++) put(pair, pair + 2, RUN_PAIR)
        put(at - 1, at, RUN_LAST)
      }
      paired += characters.slice(from, at).join('')
    } else if (kind !== SEPARATES) {
      let size = 0
      for (let each = from; each < at && size <= TOKEN_LENGTH_MAX; each++)
        size += (characters[each] as string).length
      if (size <= TOKEN_LENGTH_MAX) put(from, at, NO_RUN)
    }
  }
  return { text: cut.join(' '), places: where, singles: paired }
}

/** PAIRED, WORD (as ASCII) or SEPARATES; a mark of no script of its own is what stands before it. */
function kindOf(character: string, before: number): number {
  const kind = classAt(character, 0)
  if (kind === ASCII || kind === PAIRED || kind === SEPARATES) return kind
  if (kind === IGNORED) return before
  if (isPairedCharacter(character)) return PAIRED
  return before === PAIRED && extendsCluster(character, '') ? PAIRED : ASCII
}

/**
 * Where a word goes on that is broken at a separator: a hyphen at a line's end between a letter and a
 * small letter, a line's end after a soft hyphen, or between Han or kana. 0 when it does not.
 */
function afterBreak(text: string, at: number): number {
  const code = text.charCodeAt(at)
  let next = at
  if (code === HYPHEN || code === 0x2010) next++
  else if (code !== 10 && code !== 13) return 0
  const before = text.charCodeAt(at - 1)
  const limit = Math.min(text.length, at + 40)
  let lines = 0
  for (; next < limit; next++) {
    const each = text.charCodeAt(next)
    if (each === 10) lines++
    else if (each !== 13 && each !== 32 && each !== 9) break
  }
  if (lines !== 1 || next >= limit) return 0
  if (code === HYPHEN || code === 0x2010)
    return isLetter(text, at - 1) && isSmallLetter(text, next) ? next : 0
  if (before === SOFT_HYPHEN) return classAt(text, next) !== SEPARATES ? next : 0
  return isHanOrKana(before) && isHanOrKana(text.charCodeAt(next)) ? next : 0
}
const SOFT_HYPHEN = 0xad

const isLetter = (text: string, at: number): boolean => /\p{L}/u.test(text.charAt(at))
const isSmallLetter = (text: string, at: number): boolean => /\p{Ll}/u.test(text.charAt(at))

const isHanOrKana = (code: number): boolean =>
  (code >= 0x3041 && code <= 0x30ff) ||
  (code >= 0x3400 && code <= 0x9fff) ||
  (code >= 0x3005 && code <= 0x3007) ||
  (code >= 0xf900 && code <= 0xfaff)

/** A shorter stretch is never taken for base64: its lines are 60 or 76 long. */
const BASE64_MIN = 60

/** Whether a stretch of letters, digits, + and / changes between small, large and digit as random bytes do: 0.6 of the time; prose and paths do in a tenth. */
function isBase64(text: string, start: number, end: number): boolean {
  let changes = 0
  let before = -1
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code > 127) return false
    const kind = code >= 97 ? 0 : code >= 65 ? 1 : 2
    if (kind !== before) changes++
    before = kind
  }
  return changes > (end - start) * 0.35
}
