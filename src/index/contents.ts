/**
 * Contents in extracts.db: state, text and the facts of each reading. What a claim and an outcome do to a
 * row is here; which state follows which is decided by sweep/transition.ts.
 *
 * Not responsible for: the words of an attachment in the index (rewrites.ts).
 */
import { kindsOf } from '../fold/kinds.js'
import { unpackOcr, unpackPages, type StoredPage } from '../fold/texts.js'
import type { PageReading, TextPage } from '../part/outcome.js'
import type { Lane, ReadReason, ContentState } from '../part/states.js'
import type { Connection } from './files.js'
import type { Meta } from './meta.js'
import type {
  BacklogWork,
  ClaimedContent,
  ContentFilter,
  ContentOutcome,
  ContentRow,
  Coverage,
  MessageInput,
  Rate,
} from './rows.js'
import { TEXT_BLOCKS } from './schema.js'
import type { ContentStore } from './store.js'

const ROW = `id, lower(hex(hash)) AS hash, size, state, lane, why, newest, attempts, due, revision, recorded,
  declared_type AS declaredType, type, extractor, version, engine, pages, ocr_pages AS ocrPages,
  pages_to_ocr AS pagesToOcr, ms, chars, empty, cut_by AS cutBy, detail, limits, languages, passwords`

/** Farther off than any failure is put off: it was written under a clock that was wrong, and is due now. */
const FAR_SECONDS = 2 * 86_400

/** Key of both databases' meta. */
export const REGISTRATIONS = 'registrations'

const bytes = (hash: string): Buffer => Buffer.from(hash, 'hex')

export class Contents implements ContentStore {
  readonly #db: Connection
  readonly #index: Connection
  readonly #meta: Meta
  readonly #sql

  /** @param index index.db, read only for file names */
  constructor(db: Connection, meta: Meta, index: Connection) {
    this.#db = db
    this.#index = index
    this.#meta = meta
    const select = (where: string) => db.prepare(`SELECT ${ROW} FROM content WHERE ${where}`)
    this.#sql = {
      register: db.prepare(
        `INSERT INTO content (hash, size, state, lane, why, newest, declared_type)
         VALUES (?, ?, 'pending', ?, 'never-seen', ?, ?)
         ON CONFLICT (hash) DO UPDATE SET newest = excluded.newest WHERE excluded.newest > newest`,
      ),
      revision: db.prepare('SELECT revision FROM content WHERE hash = ?').pluck(),
      byHash: select('hash = ?'),
      byId: select('id = ?'),
      pending: select(`state = 'pending' AND lane = ? ORDER BY newest DESC LIMIT ?`),
      retries: select(
        `state = 'failed-transient' AND lane = ? AND (due <= ? OR due > ?) ORDER BY due LIMIT ?`,
      ),
      interrupted: select(`state = 'extracting' ORDER BY id LIMIT ?`),
      claim: db.prepare(
        `UPDATE content SET state = 'extracting', attempts = attempts + 1, claim = ? WHERE id = ?`,
      ),
      held: db.prepare(
        'SELECT claim, type, declared_type AS declaredType, chars FROM content WHERE id = ?',
      ),
      settle: db.prepare(
        `UPDATE content SET state = @state, lane = @lane, why = @why, attempts = @attempts, due = @due, claim = 0,
           detail = coalesce(@detail, detail) WHERE id = @id`,
      ),
      record: db.prepare(
        `UPDATE content SET state = @state, lane = @lane, why = @why, attempts = @attempts, due = @due, claim = 0,
           revision = coalesce(@revision, revision), recorded = @recorded, type = @type, extractor = @extractor,
           version = @version, engine = @engine, pages = @pages, ocr_pages = @ocrPages, pages_to_ocr = @pagesToOcr,
           ms = @ms, chars = @chars, empty = @empty, cut_by = @cutBy, detail = @detail, limits = @limits,
           languages = @languages, passwords = @passwords WHERE id = @id`,
      ),
      requeue: db.prepare(
        `UPDATE content SET state = 'pending', why = ?, lane = ?, attempts = 0, due = 0, claim = 0 WHERE id = ?`,
      ),
      insertText: db.prepare('INSERT INTO content_text VALUES (?, ?, ?)'),
      removeText: db.prepare('DELETE FROM content_text WHERE id BETWEEN ? AND ?'),
      text: db
        .prepare('SELECT text FROM content_text WHERE id BETWEEN ? AND ? ORDER BY id')
        .pluck(),
      textAndOcr: db.prepare(
        'SELECT text, ocr FROM content_text WHERE id BETWEEN ? AND ? ORDER BY id',
      ),
      forget: db.prepare('DELETE FROM content WHERE hash = ? RETURNING id').pluck(),
      nextDue: db.prepare(`SELECT min(due) FROM content WHERE state = 'failed-transient'`).pluck(),
      tally: db.prepare('SELECT state, contents FROM tally WHERE contents > 0'),
      backlog: db
        .prepare(
          `SELECT count(*) FROM (SELECT 1 FROM content WHERE state = 'pending' AND lane = ? LIMIT ?)`,
        )
        .pluck(),
      recordedSince: db.prepare(
        'SELECT hash, revision FROM content WHERE revision > ? AND revision > 0 ORDER BY revision LIMIT ?',
      ),
      reasons: db.prepare(
        `SELECT state, coalesce(cut_by, empty, detail, '') AS reason, count(*) AS contents
         FROM content WHERE state <> 'ok' OR cut_by IS NOT NULL OR empty IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC`,
      ),
      backlogWork: db.prepare(
        `SELECT lane, declared_type AS type, count(*) AS contents, sum(size) AS bytes,
           sum(coalesce(pages_to_ocr, 0)) AS pages, sum(pages_to_ocr IS NULL) AS unseen,
           sum(pages_to_ocr IS NULL AND size >= 10000) AS unseenLarge
         FROM content WHERE state = 'pending' GROUP BY 1, 2`,
      ),
      rates: db.prepare(
        `SELECT declared_type AS type, coalesce(ocr_pages, 0) > 0 AS isRecognised, count(*) AS contents,
           sum(ms) AS ms, sum(size) AS bytes, sum(size * 1.0 * size) AS bytesSquared,
           sum(size * 1.0 * ms) AS bytesMs, sum(coalesce(ocr_pages, 0)) AS ocrPages,
           sum(CASE WHEN coalesce(ocr_pages, 0) = 0 THEN coalesce(pages_to_ocr, 0) ELSE 0 END) AS pagesWaiting
         FROM content WHERE ms IS NOT NULL GROUP BY 1, 2`,
      ),
    }
  }

  /**
   * Makes sure that each content of a batch has a row, pending when it is new.
   * @returns revision of each content, 0 for those never read
   */
  register(batch: readonly MessageInput[]): Map<string, number> {
    const known = new Map<string, number>()
    const parts = batch.flatMap((message) =>
      message.parts.map((part) => ({ ...part, date: message.date })),
    )
    if (parts.length === 0) return known
    this.#db
      .transaction(() => {
        this.#meta.set(REGISTRATIONS, this.registrations() + 1)
        for (const { hash, size, lane, date, declaredType } of parts) {
          this.#sql.register.run(bytes(hash), size, lane, date, declaredType)
          known.set(hash, this.#sql.revision.get(bytes(hash)) as number)
        }
      })
      .immediate()
    return known
  }

  /** How often contents were registered: index.db notes the number with the messages that carry them. */
  registrations(): number {
    return this.#meta.number(REGISTRATIONS)
  }

  byHash(hash: string): ContentRow | undefined {
    return this.#sql.byHash.get(bytes(hash)) as ContentRow | undefined
  }

  byId(id: number): ContentRow | undefined {
    return this.#sql.byId.get(id) as ContentRow | undefined
  }

  candidates(lane: Lane, limit: number, now: number): ContentRow[] {
    const pending = this.#sql.pending.all(lane, limit) as ContentRow[]
    if (pending.length >= limit) return pending
    const retries = this.#sql.retries.all(
      lane,
      now,
      now + FAR_SECONDS,
      limit - pending.length,
    ) as ContentRow[]
    return [...pending, ...retries]
  }

  interrupted(limit: number): ContentRow[] {
    return this.#sql.interrupted.all(limit) as ContentRow[]
  }

  claim(ids: readonly number[]): ClaimedContent[] {
    return this.#db
      .transaction(() => {
        const claim = this.#meta.number('claim') + 1
        this.#meta.set('claim', claim)
        const claimed: ClaimedContent[] = []
        for (const id of ids) {
          this.#sql.claim.run(claim, id)
          const row = this.byId(id)
          if (row) claimed.push({ ...row, claim })
        }
        return claimed
      })
      .immediate()
  }

  record(outcomes: readonly ContentOutcome[]): Array<'recorded' | 'lost'> {
    return this.#db
      .transaction(() => outcomes.map((outcome) => this.#recordOne(outcome)))
      .immediate()
  }

  #recordOne(given: ContentOutcome): 'recorded' | 'lost' {
    const held = this.#sql.held.get(given.id) as
      { claim: number; type: string | null; declaredType: string; chars: number | null } | undefined
    if (held === undefined || held.claim !== given.claim || held.claim === 0) return 'lost'
    const { id, state, lane, why, attempts } = given
    const due = given.due ?? 0
    if (given.result === undefined) {
      this.#sql.settle.run({ id, state, lane, why, attempts, due, detail: given.detail ?? null })
      return 'recorded'
    }
    const { outcome, type, extractor, version, ms } = given.result
    const text = given.text ?? []
    const chars = given.chars ?? 0
    // Only what changes words is a new revision: the text, or the kind that type: finds.
    const isChanged =
      chars > 0 ||
      (held.chars ?? 0) > 0 ||
      kindsOf({ name: '', type: held.type ?? held.declaredType }).join() !==
        kindsOf({ name: '', type }).join()
    let revision: number | null = null
    if (isChanged) {
      revision = this.#meta.number('revision') + 1
      this.#meta.set('revision', revision)
    }
    const found = outcome.kind === 'text' ? outcome : undefined
    this.#sql.record.run({
      id,
      state,
      lane,
      why,
      attempts,
      due,
      revision,
      recorded: Math.floor(Date.now() / 1000),
      type,
      extractor: extractor ?? null,
      version: version ?? null,
      engine: found?.engine ?? null,
      pages: found?.pageCount ?? null,
      ocrPages: found?.ocrPages ?? null,
      pagesToOcr: found?.pagesToOcr ?? null,
      ms: Math.round(ms),
      chars,
      empty: found?.empty ?? null,
      cutBy: found?.cutBy ?? null,
      detail: given.detail ?? (outcome.kind === 'text' ? outcome.partial : outcome.detail) ?? null,
      limits: given.limits ?? null,
      languages: given.languages ?? null,
      passwords: given.passwords ?? null,
    })
    this.#removeText(id)
    text.slice(0, TEXT_BLOCKS).forEach((block, number) => {
      this.#sql.insertText.run(id * TEXT_BLOCKS + number, block.text, block.ocr ?? null)
    })
    return 'recorded'
  }

  #removeText(id: number): void {
    this.#sql.removeText.run(id * TEXT_BLOCKS, id * TEXT_BLOCKS + TEXT_BLOCKS - 1)
  }

  requeue(ids: readonly number[], why: ReadReason, lane: Lane): number {
    return this.#db
      .transaction(() => {
        let changed = 0
        for (const id of ids) changed += this.#sql.requeue.run(why, lane, id).changes
        return changed
      })
      .immediate()
  }

  staleByExtractor(
    versions: ReadonlyMap<string, number>,
    readableTypes: readonly string[],
  ): ContentRow[] {
    const other = this.#db.prepare(
      `SELECT ${ROW} FROM content WHERE extractor = ? AND (version < ? OR version > ?)`,
    )
    const readable = this.#db.prepare(
      `SELECT ${ROW} FROM content WHERE state = 'unsupported' AND type = ? AND extractor IS NULL`,
    )
    return [
      ...[...versions].flatMap(([name, version]) => other.all(name, version, version)),
      ...readableTypes.flatMap((type) => readable.all(type)),
    ] as ContentRow[]
  }

  staleBy(what: 'limits' | 'languages' | 'passwords', fingerprint: string): ContentRow[] {
    return this.#db
      .prepare(
        `SELECT ${ROW} FROM content WHERE ${what} IS NOT NULL AND (${what} < ? OR ${what} > ?)`,
      )
      .all(fingerprint, fingerprint) as ContentRow[]
  }

  list(filter: ContentFilter, limit = 10_000, afterId = 0): ContentRow[] {
    const conditions = ['id > @afterId']
    const values: Record<string, unknown> = { afterId, limit }
    if (filter.states !== undefined) {
      conditions.push('state IN (SELECT value FROM json_each(@states))')
      values['states'] = JSON.stringify(filter.states)
    }
    if (filter.reason !== undefined) {
      conditions.push(
        '(empty = @reason OR cut_by = @reason OR instr(lower(detail), lower(@reason)) > 0)',
      )
      values['reason'] = filter.reason
    }
    if (filter.type !== undefined) {
      const ending = /^\.?([^/*?]+)$/.exec(filter.type)?.[1]
      conditions.push(
        `(lower(coalesce(type, declared_type)) GLOB @type OR extractor = lower(@type)
          OR hash IN (SELECT unhex(value) FROM json_each(@ended)))`,
      )
      values['type'] = pattern(filter.type)
      values['ended'] = JSON.stringify(ending === undefined ? [] : this.#hashesNamed(`*.${ending}`))
    }
    if (filter.since !== undefined) {
      conditions.push('newest >= @since')
      values['since'] = filter.since
    }
    const hashes = this.#hashesOf(filter)
    if (hashes !== undefined) {
      conditions.push('hash IN (SELECT unhex(value) FROM json_each(@hashes))')
      values['hashes'] = JSON.stringify(hashes)
    }
    return this.#db
      .prepare(
        `SELECT ${ROW} FROM content WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT @limit`,
      )
      .all(values) as ContentRow[]
  }

  #hashesOf(filter: ContentFilter): readonly string[] | undefined {
    if (filter.name === undefined) return filter.hashes
    const named = this.#hashesNamed(filter.name)
    if (filter.hashes === undefined) return named
    const wanted = new Set(filter.hashes)
    return named.filter((hash) => wanted.has(hash))
  }

  /** Contents that some message carries under such a file name. */
  #hashesNamed(name: string): string[] {
    return this.#index
      .prepare('SELECT DISTINCT lower(hex(hash)) FROM part WHERE lower(name) GLOB ?')
      .pluck()
      .all(pattern(name)) as string[]
  }

  nextDue(): number | undefined {
    return (this.#sql.nextDue.get() as number | null) ?? undefined
  }

  coverage(): Coverage {
    const tally = this.#db.prepare('SELECT state, contents FROM tally').all()
    return coverageOf(tally as Array<{ state: ContentState; contents: number }>)
  }

  states(): Record<string, number> {
    const rows = this.#sql.tally.all() as Array<{ state: string; contents: number }>
    return Object.fromEntries(rows.map((row) => [row.state, row.contents]))
  }

  backlog(lane: Lane, limit = 1_000_000_000): number {
    return this.#sql.backlog.get(lane, limit) as number
  }

  reasons(): Array<{ state: string; reason: string; contents: number }> {
    return this.#sql.reasons.all() as Array<{ state: string; reason: string; contents: number }>
  }

  backlogWork(): BacklogWork[] {
    return this.#sql.backlogWork.all() as BacklogWork[]
  }

  rates(): Rate[] {
    return this.#sql.rates.all() as Rate[]
  }

  /** Pages of a content's kept text, inflated block by block as they are taken. */
  *pages(id: number): Generator<StoredPage> {
    for (const block of this.#sql.text.all(
      id * TEXT_BLOCKS,
      id * TEXT_BLOCKS + TEXT_BLOCKS - 1,
    ) as Buffer[])
      yield* unpackPages(block)
  }

  /** Pages of a content's kept text that OCR read, whole and with what it saw. */
  recognised(id: number): TextPage[] {
    const pages: TextPage[] = []
    const blocks = this.#sql.textAndOcr.all(
      id * TEXT_BLOCKS,
      id * TEXT_BLOCKS + TEXT_BLOCKS - 1,
    ) as Array<{ text: Buffer; ocr: Buffer | null }>
    for (const { text, ocr } of blocks) {
      const seen = ocr ? unpackOcr(ocr) : []
      for (const [i, { isContinued, ...page }] of unpackPages(text).entries()) {
        const last = pages.at(-1)
        if (isContinued && last) last.text += page.text
        else pages.push({ ...page, ...seen[i] })
      }
    }
    return pages.filter((page) => page.ocr !== undefined)
  }

  /** How the pages of a content came by their text; none where OCR had no part in it. */
  choices(id: number): PageReading[] {
    const blocks = this.#sql.textAndOcr.all(
      id * TEXT_BLOCKS,
      id * TEXT_BLOCKS + TEXT_BLOCKS - 1,
    ) as Array<{ text: Buffer; ocr: Buffer | null }>
    if (blocks.every(({ ocr }) => ocr === null)) return []
    const readings: PageReading[] = []
    for (const { text, ocr } of blocks) {
      const seen = ocr ? unpackOcr(ocr) : []
      for (const [i, { isContinued, page, member }] of unpackPages(text).entries()) {
        if (isContinued) continue
        const { ocr: words, choice } = seen[i] ?? {}
        readings.push({
          ...(page !== undefined && { page }),
          ...(member !== undefined && { member }),
          took: words ? 'ocr' : 'text-layer',
          ...choice,
          ...(words && { confidence: words.confidence, turned: words.turned }),
        })
      }
    }
    // Of a nest, only the documents that OCR had a part in.
    const told = new Set(
      readings.filter((it) => it.took !== 'text-layer' || it.why).map((it) => it.member),
    )
    return readings.filter(
      (it) => told.has(it.member) && (it.page !== undefined || it.took === 'ocr'),
    )
  }

  /** Contents recorded after a revision, oldest first. */
  recordedSince(revision: number, limit: number): Array<{ hash: Buffer; revision: number }> {
    return this.#sql.recordedSince.all(revision, limit) as Array<{ hash: Buffer; revision: number }>
  }

  /** Deletes contents that no message carries any more. */
  forget(hashes: readonly Buffer[]): void {
    if (hashes.length === 0) return
    this.#db
      .transaction(() => {
        for (const hash of hashes) {
          const id = this.#sql.forget.get(hash) as number | undefined
          if (id !== undefined) this.#removeText(id)
        }
      })
      .immediate()
  }
}

/** Contents by what a search could see of them, from kept counts. @param tally rows of that table */
export function coverageOf(
  tally: ReadonlyArray<{ state: ContentState; contents: number }>,
): Coverage {
  const coverage = { contents: 0, readable: 0, pending: 0, unreadable: 0 }
  for (const { state, contents } of tally) {
    coverage.contents += contents
    if (state === 'ok') coverage.readable += contents
    else if (state === 'pending' || state === 'extracting' || state === 'failed-transient')
      coverage.pending += contents
    else coverage.unreadable += contents
  }
  return coverage
}

/** A pattern with * and ? as GLOB reads it, case ignored. */
function pattern(given: string): string {
  return given.toLowerCase().replaceAll('[', '[[]')
}
