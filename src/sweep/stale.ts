/** Finds the contents whose recorded result no longer stands, and makes them pending. */
import { EXTRACTORS } from '../extract/table.js'
import type { ContentRow } from '../index/rows.js'
import type { ContentStore } from '../index/store.js'
import type { ReadSettings } from '../part/settings.js'
import { LANES, type Lane, type ReadReason } from '../part/states.js'
import {
  areLanguagesStale,
  areLimitsStale,
  arePasswordsStale,
  languagesOf,
  passwordsOf,
} from './staleness.js'

export interface Stale {
  row: ContentRow
  why: ReadReason
  /** The lane it was read in: a text lane would put the text layer in the place of what OCR read. */
  lane: Lane
}

/** Every settled content that would be read otherwise today, once each. */
export function findStale(contents: ContentStore, settings: ReadSettings): Stale[] {
  const found = new Map<number, Stale>()
  const add = (rows: readonly ContentRow[], why: ReadReason, lane?: Lane): void => {
    for (const row of rows)
      if (isSettled(row) && !found.has(row.id))
        found.set(row.id, { row, why, lane: lane ?? row.lane })
  }
  add(
    contents.staleByExtractor(
      new Map(EXTRACTORS.map(({ name, version }) => [name, version])),
      EXTRACTORS.flatMap(({ types }) => types),
    ),
    'extractor-changed',
  )
  add(
    contents
      .staleBy('limits', '')
      .filter(({ limits }) => limits !== null && areLimitsStale(limits, settings.limits)),
    'limits-changed',
  )
  if (settings.ocr !== false)
    add(
      contents
        .staleBy('languages', languagesOf(settings))
        .filter(({ languages }) => languages !== null && areLanguagesStale(languages, settings)),
      'languages-changed',
      'ocr',
    )
  if (settings.passwords.length > 0)
    add(
      contents
        .staleBy('passwords', passwordsOf(settings))
        .filter(({ passwords }) => passwords !== null && arePasswordsStale(passwords, settings)),
      'passwords-changed',
    )
  return [...found.values()]
}

export function requeueStale(contents: ContentStore, settings: ReadSettings): void {
  const stale = findStale(contents, settings)
  for (const why of new Set(stale.map((one) => one.why)))
    for (const lane of LANES) {
      const ids = stale
        .filter((one) => one.why === why && one.lane === lane)
        .map(({ row }) => row.id)
      if (ids.length > 0) contents.requeue(ids, why, lane)
    }
}

/** What waits or failed is read under today's settings anyway; requeued it would never come to its last attempt. */
function isSettled({ state }: ContentRow): boolean {
  return !['pending', 'extracting', 'failed-transient', 'gave-up'].includes(state)
}

/** With OCR off nothing is read in its lane: what waits there is read as far as it goes without. */
export function leaveOcrLane(contents: ContentStore): void {
  for (;;) {
    const rows = contents.candidates('ocr', 1_000, 0)
    if (rows.length === 0) return
    for (const why of new Set(rows.map((row) => row.why)))
      contents.requeue(
        rows.filter((row) => row.why === why).map(({ id }) => id),
        why,
        'text',
      )
  }
}
