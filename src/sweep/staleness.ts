/**
 * What a recorded result depends on beside the bytes, and whether that still holds.
 *
 * A dependency is stored as text beside the content, only where the result would have been another
 * with another setting: a changed limit then touches the contents it cut, and no others.
 *
 * Not responsible for: finding the rows (index/), extractor versions (compared in SQL).
 */
import { createHash } from 'node:crypto'
import type { Limits } from '../part/limits.js'
import type { ReadResult } from '../part/outcome.js'
import type { ReadSettings } from '../part/settings.js'
import type { CutBy, DeclinedState } from '../part/states.js'

export interface Dependencies {
  /** `ocrPages=50`, several joined by commas; null when no limit shaped the result. */
  limits: string | null
  /** Languages the pages were read in, `eng+deu`; `off` when pages wait for OCR to be switched on. */
  languages: string | null
  /** Fingerprint of the passwords that did not open it. */
  passwords: string | null
}

const LIMITS_OF_CUT: Record<CutBy, readonly (keyof Limits)[]> = {
  'archive-bytes': ['archiveBytes'],
  'archive-entries': ['archiveEntries'],
  nesting: ['nesting'],
  cells: ['cells'],
  'xml-depth': ['xmlDepth'],
  'ocr-pages': ['ocrPages'],
  'ocr-pixels': ['ocrPixels'],
  'ocr-page-time': ['ocrPageTimeoutMs'],
  'text-chars': ['textChars'],
  'text-time': ['textTimeoutMs'],
  'document-time': ['documentTimeoutMs'],
}

const LIMITS_OF_DECLINE: Partial<Record<DeclinedState, readonly (keyof Limits)[]>> = {
  'too-large': ['partBytes', 'archiveBytes', 'ocrPixels'],
  'skipped-tiny': ['imageBytesMin', 'imageShortSideMin'],
}

/** What `result` depended on under `settings`. */
export function dependenciesOf(result: ReadResult, settings: ReadSettings): Dependencies {
  const { outcome } = result
  if (outcome.kind === 'declined') {
    const names = LIMITS_OF_DECLINE[outcome.state]
    return {
      limits: names ? writeLimits(names, settings.limits) : null,
      languages: null,
      passwords: outcome.state === 'locked' ? passwordsOf(settings) : null,
    }
  }
  const sawPixels =
    (outcome.ocrPages ?? 0) > 0 ||
    (outcome.pagesToOcr ?? 0) > 0 ||
    (outcome.empty !== undefined && outcome.empty !== 'no-content')
  return {
    limits: outcome.cutBy ? writeLimits(LIMITS_OF_CUT[outcome.cutBy], settings.limits) : null,
    languages: sawPixels ? languagesOf(settings) : null,
    passwords: outcome.partial?.includes('locked (') ? passwordsOf(settings) : null,
  }
}

/** Whether limits as stored differ from today's. A limit that no longer exists counts as changed. */
export function areLimitsStale(stored: string, limits: Limits): boolean {
  return stored.split(',').some((pair) => {
    const [name = '', value] = pair.split('=')
    return String(limits[name as keyof Limits]) !== value
  })
}

/** Whether pages read in `stored` should be read again. OCR that is off now makes nothing stale: it would only lose text. */
export function areLanguagesStale(stored: string, settings: ReadSettings): boolean {
  return settings.ocr !== false && stored !== languagesOf(settings)
}

/** Whether a locked content should be tried again. An empty list is no reason: it opens nothing that another did not. */
export function arePasswordsStale(stored: string, settings: ReadSettings): boolean {
  return settings.passwords.length > 0 && stored !== passwordsOf(settings)
}

function writeLimits(names: readonly (keyof Limits)[], limits: Limits): string {
  return names.map((name) => `${name}=${limits[name]}`).join(',')
}

/** Languages as they are stored. */
export function languagesOf({ ocr }: ReadSettings): string {
  return ocr === false ? 'off' : ocr.languages.join('+')
}

/** The password list as it is stored, in 32 bits: enough to notice a change, too few to find a password by. */
export function passwordsOf({ passwords }: ReadSettings): string {
  return createHash('sha256').update(JSON.stringify(passwords)).digest('hex').slice(0, 8)
}
