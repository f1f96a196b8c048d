/**
 * The one public entry: opens a vault, and everything a host or the command line does with it.
 *
 * Not responsible for: printing, reading argv or the environment (cli/).
 */
import { existsSync } from 'node:fs'
import { isAbsolute, sep } from 'node:path'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import type { Extractor } from './extract/extractor.js'
import { EXTRACTORS } from './extract/table.js'
import type { Excerpt } from './index/excerpts.js'
import { openFrozen } from './index/frozen.js'
import type { Hit, SearchResult } from './index/hits.js'
import { mergedResults } from './index/merged.js'
import type { Reader } from './index/reader.js'
import type { Coverage } from './index/rows.js'
import type { SearchOptions as IndexSearchOptions } from './index/search.js'
import { PipelineError } from './part/errors.js'
import {
  settle,
  settleReading,
  type OcrOptions,
  type OpenOptions,
  type ReadingOptions,
  type Settings,
} from './part/options.js'
import type { ContentState } from './part/states.js'
import { VaultReader } from './sweep/asking.js'
import { estimateBacklog, type Estimate } from './sweep/estimate.js'
import { explain, type Explanation } from './sweep/explain.js'
import { placeOf, vaultMissing, type Place } from './sweep/place.js'
import { SweepProcess } from './sweep/process.js'
import type { ReExtractOptions, ReExtractReport } from './sweep/re-extract.js'
import { Sweeper, type SweepOptions, type SweepReport } from './sweep/sweep.js'
import type { Call, Sweeping } from './sweep/sweeping.js'
import { verify, type VerifyReport } from './sweep/verify.js'
import { watchVault } from './sweep/watch.js'
import { readMessage } from './vault/read.js'
import { readDocuments, type DocumentReading } from './workers/documents.js'

export type { Limits } from './part/limits.js'
export { DEFAULT_LIMITS } from './part/limits.js'
export { PipelineError, type ErrorCode } from './part/errors.js'
export { CONTENT_STATES, type ContentState, type Lane, type ReadReason } from './part/states.js'
export type {
  Outcome,
  ReadResult,
  TextPage,
  OcrPage,
  PageChoice,
  PageReading,
} from './part/outcome.js'
export type { DocumentReading } from './workers/documents.js'
export type { Excerpt, ExcerptAttachment } from './index/excerpts.js'
export { MATCH_BEGIN, MATCH_END } from './index/marks.js'
export type { Hit, MatchedField, SearchResult } from './index/hits.js'
export type { Coverage } from './index/rows.js'
export type { Estimate } from './sweep/estimate.js'
export type { ExplainedPart, Explanation } from './sweep/explain.js'
export type { ReExtractOptions, ReExtractReport } from './sweep/re-extract.js'
export type { Place } from './sweep/place.js'
export type { Progress, SweepOptions, SweepReport } from './sweep/sweep.js'
export type { VerifyReport } from './sweep/verify.js'
export type { OpenOptions, OcrOptions, ThrottleOptions, ReadingOptions } from './part/options.js'

export interface SearchOptions extends IndexSearchOptions {
  signal?: AbortSignal
}

export interface Status {
  messages: number
  /** Messages in the index by name only: their files could not be read, and each sweep tries again. */
  messagesUnreadable: number
  /** Messages of which something was not read, by a limit or for damage: `explain` says what. */
  messagesCut: number
  /** Contents by state. */
  contents: Partial<Record<ContentState, number>>
  /** Contents by what was declined, cut or empty: `unsupported: application/zip`. */
  reasons: Record<string, number>
  /** Contents still to be read, waiting ones and those that failed included. */
  pending: number
  coverage: Coverage
  indexBytes: number
  extractsBytes: number
  /** What is left to do, with hours by this machine's own rates when they are known. */
  backlog: Estimate
  /** Whether this host is sweeping now. */
  sweeping: boolean
}

export interface WatchOptions extends SweepOptions {
  signal: AbortSignal
  onReport?: (report: SweepReport) => void
  /** The vault cannot be read: told once, with what the system says; it is waited for. */
  onAway?: (error: Error) => void
  /** It can be read again. */
  onBack?: () => void
}

export interface Mail {
  /** Where each vault's index lies, and how it is shared there. */
  readonly places: readonly Place[]
  sweep(options?: SweepOptions): Promise<SweepReport>
  /** One message that has just arrived, by its path; searchable by body when this resolves. */
  deliver(path: string, options?: { signal?: AbortSignal }): Promise<{ id: number }>
  /** Sweeps, then follows changes until `signal` fires. `onReport` is told what each pass did, also when that was nothing. */
  watch(options: WatchOptions): Promise<void>
  search(query: string, options?: SearchOptions): Promise<SearchResult>
  /** What to show for hits on screen, in their order; texts are inflated for these only. */
  excerpts(hits: readonly Hit[], options?: { signal?: AbortSignal }): Promise<Excerpt[]>
  /** The bytes of the message that a hit stands for, at most `limits.messageBytes`; undefined when it is gone or cannot be read. */
  original(hit: Pick<Hit, 'vault' | 'path' | 'offset' | 'bytes'>): Promise<Uint8Array | undefined>
  status(): Promise<Status>
  /** A message by path or Message-ID, a content by hash, or a file name. */
  explain(what: string): Promise<Explanation[]>
  reExtract(options: ReExtractOptions & { signal?: AbortSignal }): Promise<ReExtractReport>
  verify(options?: { purge?: boolean; signal?: AbortSignal }): Promise<VerifyReport>
  /** Stops beginning work until `resume()`. */
  pause(): void
  resume(): void
  /**
   * Switches the reading of attachments while it is open. Off: what is in work is given back at once, bodies go on
   * being indexed, and texts that were read stay searchable; on: the next sweep reads all that waits.
   */
  setAttachments(value: 'on' | 'off'): void
  close(): Promise<void>
}

/**
 * Opens one vault, or several that are searched as one. Nothing is read yet.
 *
 * @throws {TypeError | RangeError} naming the option and its rule
 */
export async function openVault(options: OpenOptions): Promise<Mail> {
  return new OpenedMail(settle(options))
}

/** A vault with its index, its reader and the one who writes it. */
interface Opened {
  root: string
  place: Place
  reader: Reader
  sweeping: Sweeping | undefined
}

/** Hits whose texts are inflated before the event loop has its turn. */
const EXCERPTS_AT_ONCE = 20

class OpenedMail implements Mail {
  readonly #settings: Settings
  readonly #vaults: readonly Opened[]
  readonly places: readonly Place[]
  /** Sweeps asked for and not yet over. */
  #sweeps = 0
  #isPaused = false
  #attachments: 'on' | 'off'
  #isClosed = false

  constructor(settings: Settings) {
    this.#settings = settings
    this.#attachments = settings.attachments
    this.places = settings.vaults.map((vault) => placeOf(vault, settings))
    this.#vaults = this.places.map((place) => ({
      ...place,
      place,
      reader: new VaultReader(place),
      sweeping: undefined,
    }))
  }

  async sweep({
    signal,
    onProgress,
    full = false,
    yieldMs,
  }: SweepOptions = {}): Promise<SweepReport> {
    const reports: SweepReport[] = []
    for (const vault of this.#vaults) {
      if (signal?.aborted && reports.length > 0) break
      const call = { name: 'sweep', full, ...(yieldMs && { yieldMs }) } as const
      reports.push(await this.#sweepMending(vault, call, signal, onProgress))
    }
    return reports.reduce(together)
  }

  /** A sweep that meets damage is made again: whoever opens the index next sets the damaged file aside and makes it anew. */
  async #sweepMending(
    vault: Opened,
    call: Extract<Call, { name: 'sweep' }>,
    signal: AbortSignal | undefined,
    onProgress: SweepOptions['onProgress'],
  ): Promise<SweepReport> {
    this.#sweeps++
    try {
      const perform = async () => this.#sweeping(vault).perform(call, signal, onProgress)
      return await perform().catch(async (error: unknown) => {
        const isDamage = error instanceof PipelineError && error.code === 'E_INDEX_DAMAGED'
        if (!isDamage || this.#sweeps > 1 || signal?.aborted) throw error
        await vault.sweeping?.close().catch(() => {})
        vault.sweeping = undefined
        return perform()
      })
    } finally {
      this.#sweeps--
    }
  }

  async deliver(path: string, { signal }: { signal?: AbortSignal } = {}): Promise<{ id: number }> {
    signal?.throwIfAborted()
    const vault = this.#holding(path)
    const { id } = await this.#sweeping(vault).perform({ name: 'deliver', path }, signal)
    return { id }
  }

  async watch(options: WatchOptions): Promise<void> {
    await Promise.all(
      this.#vaults.map((vault) => {
        // A vault that is not there from the beginning is an error, and not waited for.
        this.#sweeping(vault)
        return watchVault(vault.root, {
          ...options,
          sweep: (call, onProgress) => this.#sweepMending(vault, call, options.signal, onProgress),
          deliver: async (path) => this.#sweeping(vault).perform({ name: 'deliver', path }),
          folders: () => vault.reader.folders(),
          polls: vault.place.networkDisk !== undefined,
        })
      }),
    )
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchResult> {
    const { signal, after, ...rest } = options
    signal?.throwIfAborted()
    const [first, ...others] = this.#vaults as [Opened, ...Opened[]]
    if (others.length === 0)
      return first.reader.search(query, { ...rest, ...(after !== undefined && { after }) })
    const cursors = after?.split('.') ?? []
    if (after !== undefined && cursors.length !== this.#vaults.length)
      throw new RangeError('after must be the `next` of an earlier result of these vaults')
    const results: SearchResult[] = []
    for (const [at, { reader }] of this.#vaults.entries()) {
      signal?.throwIfAborted()
      const cursor = cursors[at]
      results.push(await reader.search(query, { ...rest, ...(cursor && { after: cursor }) }))
    }
    return mergedResults(results, rest, cursors)
  }

  async excerpts(
    hits: readonly Hit[],
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<Excerpt[]> {
    const shown = new Map<Hit, Excerpt>()
    for (const [at, { reader }] of this.#vaults.entries()) {
      const own = hits.filter((hit) => hit.vault === at)
      for (let from = 0; from < own.length; from += EXCERPTS_AT_ONCE) {
        signal?.throwIfAborted()
        const some = own.slice(from, from + EXCERPTS_AT_ONCE)
        const excerpts = await reader.excerpts(some)
        some.forEach((hit, i) => shown.set(hit, { ...(excerpts[i] as Excerpt), vault: at }))
        if (from + EXCERPTS_AT_ONCE < own.length) await yieldToLoop()
      }
    }
    return hits.map((hit) => shown.get(hit)).filter((excerpt) => excerpt !== undefined)
  }

  async original({
    vault,
    ...reference
  }: Pick<Hit, 'vault' | 'path' | 'offset' | 'bytes'>): Promise<Uint8Array | undefined> {
    const root = this.#vaults[vault]?.root
    if (root === undefined) throw new RangeError(`there is no vault ${vault}`)
    const read = await readMessage(root, reference, this.#settings.limits)
    return read.kind === 'read' ? read.bytes : undefined
  }

  async status(): Promise<Status> {
    const all = await Promise.all(this.#vaults.map(({ reader }) => this.#statusOf(reader)))
    return all.reduce((sum, one) => ({
      messages: sum.messages + one.messages,
      messagesUnreadable: sum.messagesUnreadable + one.messagesUnreadable,
      messagesCut: sum.messagesCut + one.messagesCut,
      contents: added(sum.contents, one.contents),
      reasons: added(sum.reasons, one.reasons),
      pending: sum.pending + one.pending,
      coverage: added(sum.coverage, one.coverage),
      indexBytes: sum.indexBytes + one.indexBytes,
      extractsBytes: sum.extractsBytes + one.extractsBytes,
      backlog: added(sum.backlog, one.backlog),
      sweeping: sum.sweeping || one.sweeping,
    }))
  }

  async explain(what: string): Promise<Explanation[]> {
    const described = await Promise.all(
      this.#vaults.map(({ root, reader }) => reader.describe(vaultRelative(root, what))),
    )
    const settings = { ...this.#settings, attachments: this.#attachments }
    return described.flat().map((message) => explain(message, settings))
  }

  async reExtract({
    signal,
    ...options
  }: ReExtractOptions & { signal?: AbortSignal }): Promise<ReExtractReport> {
    const reports: ReExtractReport[] = []
    for (const vault of this.#vaults) {
      signal?.throwIfAborted()
      reports.push(await this.#sweeping(vault).perform({ name: 're-extract', options }, signal))
    }
    return reports.reduce((sum, one) => ({
      ...added(sum, one),
      byState: added(sum.byState, one.byState),
      dryRun: one.dryRun,
    }))
  }

  async verify({
    purge = false,
    signal,
  }: { purge?: boolean; signal?: AbortSignal } = {}): Promise<VerifyReport> {
    const reports: VerifyReport[] = []
    for (const vault of this.#vaults) reports.push(await this.#verify(vault, purge, signal))
    return reports.reduce((sum, one) => ({
      agrees: sum.agrees && one.agrees,
      differences: [...sum.differences, ...one.differences],
      messages: sum.messages + one.messages,
      contents: sum.contents + one.contents,
      purged: one.purged,
    }))
  }

  /** An index that nobody can write here (a snapshot, a backup) is compared as it lies. */
  async #verify(
    vault: Opened,
    purge: boolean,
    signal: AbortSignal | undefined,
  ): Promise<VerifyReport> {
    try {
      return await this.#sweeping(vault).perform({ name: 'verify', purge }, signal)
    } catch (error) {
      const isReadOnly = error instanceof PipelineError && error.code === 'E_INDEX_READONLY'
      if (!isReadOnly || purge) throw error
      const frozen = openFrozen(vault.place.directory, vault.place.isExclusive)
      try {
        return { ...(await verify(frozen, vault.root, signal)), purged: false }
      } finally {
        frozen.close()
      }
    }
  }

  pause(): void {
    this.#isPaused = true
    for (const { sweeping } of this.#vaults) sweeping?.pause()
  }

  resume(): void {
    this.#isPaused = false
    for (const { sweeping } of this.#vaults) sweeping?.resume()
  }

  setAttachments(value: 'on' | 'off'): void {
    if (value !== 'on' && value !== 'off') throw new TypeError("attachments must be 'on' or 'off'")
    this.#attachments = value
    for (const { sweeping } of this.#vaults) sweeping?.setAttachments(value)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // All of them, also when one fails.
    const closed = await Promise.allSettled(
      this.#vaults.map(async (vault) => {
        vault.reader.close()
        await vault.sweeping?.close()
        vault.sweeping = undefined
      }),
    )
    for (const one of closed) if (one.status === 'rejected') throw one.reason
  }

  #sweeping(vault: Opened): Sweeping {
    if (this.#isClosed) throw new Error('the vault is closed')
    if (!vault.sweeping) {
      // Before the index is made inside it: a slip in the path must not become an empty vault.
      if (!existsSync(vault.root)) throw vaultMissing(vault.root)
      const Kind = this.#settings.sweeper === 'process' ? SweepProcess : Sweeper
      vault.sweeping = new Kind(vault.place, this.#settings)
      if (this.#isPaused) vault.sweeping.pause()
      vault.sweeping.setAttachments(this.#attachments)
    }
    return vault.sweeping
  }

  /** The vault that a path lies in; the only one for a relative path, or one that leads there through a link. */
  #holding(path: string): Opened {
    const [first, ...others] = this.#vaults as [Opened, ...Opened[]]
    const holding =
      others.length === 0
        ? first
        : this.#vaults.find(({ root }) => isAbsolute(path) && path.startsWith(root + sep))
    if (!holding)
      throw new PipelineError('E_NOT_FOUND', `${path} lies in none of the opened vaults`)
    return holding
  }

  async #statusOf(reader: Reader): Promise<Status> {
    const {
      states,
      coverage,
      messages,
      messagesUnreadable,
      messagesCut,
      indexBytes,
      extractsBytes,
      ...rest
    } = await reader.summary()
    const reasons: Record<string, number> = {}
    for (const { state, reason, contents: count } of rest.reasons) {
      const name = reason ? `${state}: ${reason}` : state
      reasons[name] = (reasons[name] ?? 0) + count
    }
    return {
      messages,
      messagesUnreadable,
      messagesCut,
      contents: states,
      reasons,
      pending: coverage.pending,
      coverage,
      indexBytes,
      extractsBytes,
      backlog: estimateBacklog(rest, this.#settings),
      sweeping: this.#sweeps > 0,
    }
  }
}

function vaultRelative(root: string, what: string): string {
  return what.startsWith(root + sep)
    ? what
        .slice(root.length + 1)
        .split(sep)
        .join('/')
    : what
}

function together(sum: SweepReport, one: SweepReport): SweepReport {
  const due = [sum.nextDue, one.nextDue].filter((time) => time !== undefined)
  return {
    messages: added(sum.messages, one.messages),
    contents: added(sum.contents, one.contents),
    retries: sum.retries + one.retries,
    ...(due.length > 0 && { nextDue: Math.min(...due) }),
    unreadable: [...sum.unreadable, ...one.unreadable],
    setAside: [...sum.setAside, ...one.setAside],
    ...((sum.salvaged ?? one.salvaged) && {
      salvaged: added(
        { saved: 0, lost: 0, ...sum.salvaged },
        { saved: 0, lost: 0, ...one.salvaged },
      ),
    }),
    stopped: sum.stopped || one.stopped,
    ms: sum.ms + one.ms,
  }
}

/** Numbers of equal names, added; what is no number is taken from the first. */
function added<T extends object>(sum: T, one: T): T {
  const out = { ...sum } as Record<string, unknown>
  for (const [name, value] of Object.entries(one))
    if (typeof value === 'number') out[name] = ((out[name] as number | undefined) ?? 0) + value
  return out as T
}

/**
 * Reads documents that lie in no vault, on several threads; gives each as it is done, in no order.
 *
 * @throws {TypeError | RangeError} for its options, never for what a file holds
 */
export async function* extractDocuments(
  files: Iterable<string> | AsyncIterable<string>,
  options: ReadingOptions = {},
): AsyncGenerator<DocumentReading> {
  yield* readDocuments(files, settleReading(options), options.signal)
}

/** What OCR could use on this machine. */
export interface OcrReport {
  engines: Array<{
    name: 'tesseract.js' | 'tesseract'
    version: string
    /** Languages it has data for, sorted; those in the packages for tesseract.js. */
    languages: string[]
  }>
  /** Engine that the settings would take; undefined when none has all the languages. */
  engine: string | undefined
  /** Why there is none. */
  problem?: string
}

/** Engines and languages found. Loads no engine and fetches nothing. */
export async function inspectOcr(options: OcrOptions = {}): Promise<OcrReport> {
  const { installedLanguages } = await import('./extract/ocr/languages.js')
  const { nativeTesseract } = await import('./extract/ocr/native.js')
  const { WASM_VERSION } = await import('./extract/ocr/wasm.js')
  const { ocr } = settleReading({ ocr: options })
  if (ocr === false) throw new TypeError('ocr must be an object')
  const native = await nativeTesseract(ocr.languagePath)
  const engines: OcrReport['engines'] = [
    {
      name: 'tesseract.js',
      version: WASM_VERSION,
      languages: installedLanguages(ocr.languagePath),
    },
  ]
  if (native)
    engines.unshift({
      name: 'tesseract',
      version: native.version,
      // osd tells orientation; it is no language
      languages: [...native.languages]
        .filter((name) => /^\w+$/.test(name) && name !== 'osd')
        .sort(),
    })
  const wanted = engines.filter(
    ({ name }) => ocr.engine === 'auto' || (ocr.engine === 'native') === (name === 'tesseract'),
  )
  const lacking = (languages: readonly string[]): string[] =>
    ocr.languages.filter((language) => !languages.includes(language))
  const able = wanted.find(({ languages }) => lacking(languages).length === 0)
  if (able) return { engines, engine: `${able.name} ${able.version}` }
  const known = wanted.flatMap(({ languages }) => languages)
  return {
    engines,
    engine: undefined,
    problem:
      wanted.length === 0
        ? 'there is no tesseract on this machine'
        : `no data for ${lacking(known).join(', ') || `${ocr.languages.join('+')} in one engine`}`,
  }
}

/** A row of the table of extractors, for people and for `formats`. */
export type Format = Pick<Extractor, 'name' | 'version' | 'title' | 'types' | 'extensions' | 'lane'>

/** Every format that is read, by which extractor, at which version. */
export function formats(): Format[] {
  return EXTRACTORS.map(({ name, version, title, types, extensions, lane }) => ({
    name,
    version,
    title,
    types,
    extensions,
    lane,
  }))
}
