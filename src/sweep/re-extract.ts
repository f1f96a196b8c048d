/** An operator's choice to read contents again: which, how many, how long it would take, and the doing. */
import type { ContentFilter, ContentRow } from '../index/rows.js'
import type { Store } from '../index/store.js'
import { PipelineError } from '../part/errors.js'
import type { Settings } from '../part/options.js'
import { LANES, type ContentState } from '../part/states.js'
import { estimate, type Estimate } from './estimate.js'
import { findStale } from './stale.js'
import { hasTransition } from './transition.js'

export interface ReExtractOptions {
  states?: readonly ContentState[]
  /** An empty reason or cut, or words of the detail. */
  reason?: string
  /** Media type (`image/*`), extractor (`pdf`) or file name ending (`docx`). */
  type?: string
  /** File name with `*` and `?`. */
  name?: string
  /** Seconds since 1970: carried by a message at least this new. */
  since?: number
  /** Only contents whose extractor, limits, languages or passwords have changed. */
  stale?: boolean
  /** A message by path or Message-ID, or a content by hash. */
  of?: string
  /** Count and estimate only. */
  dryRun?: boolean
}

export interface ReExtractReport extends Estimate {
  byState: Partial<Record<ContentState, number>>
  dryRun: boolean
}

/** Contents listed at one time. */
const PAGE = 20_000

/**
 * Makes the chosen contents pending; a sweep then reads them.
 *
 * @throws {PipelineError} `E_NOT_FOUND` when `of` names nothing in the index
 */
export function reExtract(
  store: Store,
  settings: Settings,
  { dryRun = false, stale = false, of, ...filter }: ReExtractOptions,
): ReExtractReport {
  const hashes = of === undefined ? undefined : hashesOf(store, of)
  const asked: ContentFilter = { ...filter, ...(hashes && { hashes }) }
  const staleIds = stale
    ? new Set(findStale(store.contents, settings).map(({ row }) => row.id))
    : undefined
  const rows: ContentRow[] = []
  for (let afterId: number | undefined = 0; afterId !== undefined;) {
    const page = store.contents.list(asked, PAGE, afterId)
    for (const row of page)
      if (hasTransition(row.state, 'forced') && (staleIds?.has(row.id) ?? true)) rows.push(row)
    afterId = page.at(-1)?.id
  }
  if (!dryRun)
    for (const lane of LANES) {
      const ids = rows.filter((row) => laneOf(row, settings) === lane).map(({ id }) => id)
      if (ids.length > 0) store.contents.requeue(ids, 'forced', lane)
    }
  const byState: Partial<Record<ContentState, number>> = {}
  for (const { state } of rows) byState[state] = (byState[state] ?? 0) + 1
  return { ...estimate(store.contents.rates(), settings, rows), byState, dryRun }
}

/** What OCR read is read by OCR again, unless it is off: its text would be lost otherwise. */
function laneOf(row: ContentRow, settings: Settings): ContentRow['lane'] {
  return settings.ocr !== false && (row.ocrPages ?? 0) > 0 ? 'ocr' : 'text'
}

/** Contents of the messages that a path or Message-ID names, or the hash itself. */
function hashesOf(
  { messages, contents }: Pick<Store, 'messages' | 'contents'>,
  of: string,
): string[] {
  const hash = of.toLowerCase()
  if (/^[0-9a-f]{64}$/.test(hash) && contents.byHash(hash)) return [hash]
  const byPath = messages.byPath(of)
  const found = byPath ? [byPath] : messages.byMessageId(of.replace(/^<|>$/g, ''))
  if (found.length === 0)
    throw new PipelineError(
      'E_NOT_FOUND',
      `nothing in the index is called ${of}: give the path of a message in the vault, its Message-ID, or the whole SHA-256 of an attachment`,
    )
  return found.flatMap(({ id }) => messages.hashes(id))
}
