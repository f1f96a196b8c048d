/**
 * Reads the vocabulary: the terms that are, begin with, end with or contain what was typed. A substring becomes the
 * terms that contain it, because an OR of explicit terms stops at the newest matches where FTS5's own prefix query
 * first merges every posting. `term.mask` names the columns a term occurs in (a superset), so that a field asks only
 * for terms it can hold.
 *
 * Not responsible for what is asked of it (leaves.ts), nor for writing the vocabulary (vocabulary.ts).
 */
import type { Database, Statement } from 'better-sqlite3'

/** How much of the vocabulary a word may cost. */
export const TERM_LIMITS = Object.freeze({
  /** Terms taken of a word that stands for more: it is cut anyway, and then for speed. */
  termsWhenCut: 200,
  /** Terms looked at to find those, in order of first use, which puts the frequent ones first. */
  candidates: 2_500,
  /** When there are more, the newest of them are looked at too: numbers that occur once. */
  newest: 500,
  /** Of both kinds, looked at for an open end of a phrase, which takes few. */
  candidatesOfEnd: 800,
  newestOfEnd: 200,
  /** They are looked for among this many of the newest terms: reading backwards through all costs 10 ms. */
  newestAmong: 200_000,
  /** Terms looked through for these where all begin alike, in the order of the alphabet: 1 ms. */
  alphabetical: 5_000,
  /** Terms put in at an open end of a phrase. */
  phraseEnd: 10,
  /** Trigrams that two letters may begin. */
  grams: 400,
  /** Terms looked through for one letter. */
  scanned: 20_000,
})

/** A row of `term`. */
export interface Term {
  readonly text: string
  readonly messages: number
  readonly mask: number
  /** No message with a higher id holds it. */
  readonly newest: number
}

/** As statements give it: text, messages, mask, newest. An object for each row by its column names costs 1 µs more. */
type TermRow = readonly [string, number, number, number]

const termOf = ([text, messages, mask, newest]: TermRow): Term => ({ text, messages, mask, newest })

/** Terms, most frequent first. */
export interface Terms {
  readonly terms: readonly Term[]
  readonly isCut: boolean
}

export const NONE: Terms = { terms: [], isCut: false }

/** Reads the vocabulary. Statements are prepared once a connection. */
export class Vocabulary {
  private readonly exactly: Statement<[string], TermRow>
  private readonly between: Statement<[string, string, number, number], TermRow>
  private readonly amongBetween: Statement<[string, string, number, number], TermRow>
  private readonly countBetween: Statement<[string, string], number>
  private readonly some: Statement<[string, number, number, string, number], TermRow>
  private readonly many: Statement<
    [string, number, string, number, number, number, string, number],
    TermRow
  >
  private readonly isMany: Statement<[string], number>
  private readonly gramsOf: Statement<[string, string, number], string>
  private readonly scan: Statement<[string, number, number], TermRow>
  private readonly lastId: Statement<[], number | null>

  constructor(db: Database) {
    // the writer gathers newest ids over many batches; meanwhile it notes the highest of them (index/vocabulary.ts)
    const columns = `SELECT t.text, t.messages, t.mask, max(t.newest,
        coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'unwritten'), 0)) AS newest FROM`
    this.exactly = db.prepare<[string], TermRow>(`${columns} term t WHERE text = ?`).raw()
    const frequentFirst = 'ORDER BY messages DESC, newest DESC LIMIT ?'
    this.between = db
      .prepare<[string, string, number, number], TermRow>(
        `${columns} term t WHERE text >= ? AND text < ? AND mask & ? ${frequentFirst}`,
      )
      .raw()
    this.amongBetween = db
      .prepare<[string, string, number, number], TermRow>(
        `WITH near AS MATERIALIZED (
           SELECT id FROM term WHERE text >= ? AND text < ? LIMIT ${TERM_LIMITS.alphabetical})
         ${columns} (
           SELECT id FROM (SELECT id FROM near ORDER BY id LIMIT ${TERM_LIMITS.newest})
           UNION SELECT id FROM (SELECT id FROM near ORDER BY id DESC LIMIT ${TERM_LIMITS.newest})) found
         CROSS JOIN term t ON t.id = found.id WHERE mask & ? ${frequentFirst}`,
      )
      .raw()
    this.countBetween = db
      .prepare<[string, string], number>(
        `SELECT count(*) FROM (SELECT 1 FROM term WHERE text >= ? AND text < ? LIMIT ${TERM_LIMITS.candidates + 1})`,
      )
      .pluck()
    const matches = `FROM term_gram WHERE term_gram MATCH ?`
    const first = `SELECT rowid AS id ${matches} ORDER BY rowid LIMIT ?`
    const holds = `mask & ? AND instr(' ' || text || ' ', ?) > 0 ${frequentFirst}`
    this.isMany = db
      .prepare<[string], number>(
        `SELECT rowid ${matches} ORDER BY rowid LIMIT 1 OFFSET ${TERM_LIMITS.candidates - 1}`,
      )
      .pluck()
    this.some = db
      .prepare<[string, number, number, string, number], TermRow>(
        `${columns} (${first}) found CROSS JOIN term t ON t.id = found.id WHERE ${holds}`,
      )
      .raw()
    this.many = db
      .prepare<[string, number, string, number, number, number, string, number], TermRow>(
        `${columns} (SELECT id FROM (${first}) UNION SELECT id FROM (SELECT rowid AS id ${matches}
           AND rowid > CAST(? AS INTEGER) ORDER BY rowid DESC LIMIT ?)) found
         CROSS JOIN term t ON t.id = found.id WHERE ${holds}`,
      )
      .raw()
    this.gramsOf = db
      .prepare<[string, string, number], string>(
        'SELECT term FROM gram_count WHERE term >= ? AND term < ? LIMIT ?',
      )
      .pluck()
    this.scan = db
      .prepare<[string, number, number], TermRow>(
        `${columns} term t WHERE id <= ${TERM_LIMITS.scanned} AND instr(text, ?) > 0 AND mask & ? ${frequentFirst}`,
      )
      .raw()
    this.lastId = db.prepare<[], number | null>('SELECT max(id) FROM term').pluck()
  }

  /** The term itself, when a message holds it in one of the columns. */
  term(text: string, mask: number): Term | undefined {
    const row = this.exactly.get(text)
    return row && row[2] & mask ? termOf(row) : undefined
  }

  starting(beginning: string, mask: number, limit: number): Terms {
    const { length } = beginning
    // trigrams give the frequent terms first, and of a longer beginning each is a list of all terms of its kind
    if (length > 1 && length < ALIKE) return this.matching(` ${beginning}`, mask, limit)
    return this.alphabetically(beginning, mask, limit, this.beginMany(beginning))
  }

  private alphabetically(beginning: string, mask: number, limit: number, isMany: boolean): Terms {
    const terms = isMany ? this.amongBetween : this.between
    return cutAt(limit, isMany, (most) => terms.all(beginning, beginning + LAST, mask, most))
  }

  /** More terms begin so than are looked at. */
  private beginMany(beginning: string): boolean {
    const terms = this.countBetween.get(beginning, beginning + LAST) ?? 0
    return terms > TERM_LIMITS.candidates
  }

  /** Terms that contain a text. */
  containing(part: string, mask: number, limit: number): Terms {
    const chars = [...part].length
    if (chars >= ALIKE && this.beginMany(part)) return this.alphabetically(part, mask, limit, true)
    if (chars >= 3) return this.matching(part, mask, limit)
    if (chars === 1) {
      const isCut = (this.lastId.get() ?? 0) > TERM_LIMITS.scanned
      return cutAt(limit, isCut, (most) => this.scan.all(part, mask, most))
    }
    // every place of two letters in a term begins a trigram, for a space stands at its end
    const grams = this.gramsOf.all(part, part + LAST, TERM_LIMITS.grams + 1)
    const isCut = grams.length > TERM_LIMITS.grams
    const some = grams.slice(0, TERM_LIMITS.grams)
    if (some.length === 0) return NONE
    return this.candidates(some.map(quote).join(' OR '), part, mask, limit, isCut)
  }

  ending(end: string, mask: number, limit: number): Terms {
    return this.matching(`${end} `, mask, limit)
  }

  /** @param part of a term with a space at each end */
  private matching(part: string, mask: number, limit: number): Terms {
    const chars = [...part]
    if (chars.length < 3) return NONE
    const grams: string[] = []
    for (let i = 0; i + 3 <= chars.length; i += 1) grams.push(chars.slice(i, i + 3).join(''))
    const all = [...new Set(grams)].map(quote).join(' AND ')
    // what ends alike is rarer than what begins alike (REF-2016-0093): two lists are read instead of all
    const few =
      grams.length > 3
        ? [grams.at(-4), grams.at(-1)].map((gram) => quote(gram ?? '')).join(' AND ')
        : all
    const isFew = this.isMany.get(few) === undefined
    const isMany = !isFew && (few === all || this.isMany.get(all) !== undefined)
    return this.candidates(isFew ? few : all, part, mask, limit, false, isMany)
  }

  /**
   * @param isPart the expression does not find all there are
   * @param isMany it finds more than are looked at
   */
  private candidates(
    expression: string,
    part: string,
    mask: number,
    limit: number,
    isPart = false,
    isMany = this.isMany.get(expression) !== undefined,
  ): Terms {
    if (!isMany) {
      return cutAt(limit, isPart, (most) =>
        this.some.all(expression, TERM_LIMITS.candidates, mask, part, most),
      )
    }
    const after = (this.lastId.get() ?? 0) - TERM_LIMITS.newestAmong
    const [looked, newest] =
      limit <= TERM_LIMITS.phraseEnd
        ? [TERM_LIMITS.candidatesOfEnd, TERM_LIMITS.newestOfEnd]
        : [TERM_LIMITS.candidates, TERM_LIMITS.newest]
    return cutAt(limit, true, (most) =>
      this.many.all(expression, looked, expression, after, newest, mask, part, most),
    )
  }
}

/** From this length on, what begins alike are identifiers of one kind rather than words. */
const ALIKE = 5

/** Sorts after every text that begins alike. */
const LAST = '\u{10ffff}'

/**
 * @param isCut more terms are there than were looked at: the number of a cut word is taken then
 * @param read gives terms, most frequent first, at most so many
 */
function cutAt(limit: number, isCut: boolean, read: (most: number) => readonly TermRow[]): Terms {
  const fewer = Math.min(limit, TERM_LIMITS.termsWhenCut)
  const rows = read(isCut ? fewer : limit + 1)
  if (!isCut && rows.length <= limit) return { terms: rows.map(termOf), isCut: false }
  return { terms: rows.slice(0, fewer).map(termOf), isCut: true }
}

/** A string as FTS5 reads it. */
export const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`
