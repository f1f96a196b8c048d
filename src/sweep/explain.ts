/** Why the parts of a message are as they are, and what comes next, for people. */
import type { DescribedMessage, DescribedPart } from '../index/answers.js'
import type { ContentRow } from '../index/rows.js'
import type { PageReading } from '../part/outcome.js'
import type { Settings } from '../part/options.js'
import type { ContentState, Lane, ReadReason } from '../part/states.js'

export interface ExplainedPart {
  /** Place in the MIME tree. */
  path: string
  name: string
  declaredType: string
  /** Decoded bytes. */
  size: number
  hash: string
  state: ContentState
  lane: Lane
  /** Why it was last, or will be, read. */
  why: ReadReason
  /** By the bytes; absent until it was read. */
  type?: string
  extractor?: string
  version?: number
  engine?: string
  /** Why there is no text. */
  reason?: string
  detail?: string
  cutBy?: string
  pages?: number
  ocrPages?: number
  chars?: number
  ms?: number
  /** How each page came by its text, where OCR had a part in it: which won, why, and both scores. */
  choices?: PageReading[]
  attempts: number
  /** What would be tried next, and when: a sentence. */
  next: string
}

export interface Explanation extends Omit<DescribedMessage, 'parts'> {
  parts: ExplainedPart[]
}

export function explain(message: DescribedMessage, settings: Settings): Explanation {
  return { ...message, parts: message.parts.map((part) => explainPart(part, settings)) }
}

function explainPart({ content, ...part }: DescribedPart, settings: Settings): ExplainedPart {
  if (!content)
    return {
      ...part,
      state: 'pending',
      lane: 'text',
      why: 'never-seen',
      attempts: 0,
      next: 'read at the next sweep',
    }
  const { state, lane, why, attempts } = content
  return {
    ...part,
    state,
    lane,
    why,
    attempts,
    ...present('type', content.type),
    ...present('extractor', content.extractor),
    ...present('version', content.version),
    ...present('engine', content.engine),
    ...present('reason', content.empty),
    ...present('detail', content.detail),
    ...present('cutBy', content.cutBy),
    ...present('pages', content.pages),
    ...present('ocrPages', content.ocrPages),
    ...present('chars', content.chars),
    ...present('ms', content.ms),
    next: nextOf(content, settings),
  }
}

const AT_NEW_VERSION = "tried again when its extractor's version changes"

function nextOf(
  { state, lane, due, empty, pagesToOcr, extractor }: ContentRow,
  settings: Settings,
): string {
  switch (state) {
    case 'pending':
      if (settings.attachments === 'off') return 'read when attachments are switched on'
      return lane === 'ocr'
        ? 'its pages are recognised at the next sweep, after all text'
        : 'read at the next sweep'
    case 'extracting':
      return 'being read now'
    case 'ok':
      return settings.ocr === false && ((pagesToOcr ?? 0) > 0 || empty === 'ocr-off')
        ? 'its pages are recognised when OCR is switched on'
        : 'read again when its extractor or the settings it depended on change'
    case 'unsupported':
      if (extractor === null) return 'read when an extractor for its type appears'
      return AT_NEW_VERSION
    case 'too-large':
    case 'skipped-tiny':
      return 'read again when the limits change'
    case 'locked':
      return 'tried again when the list of passwords changes'
    case 'damaged':
      return AT_NEW_VERSION
    case 'failed-transient':
      return `tried again at the first sweep after ${new Date(due * 1000).toISOString()}`
    case 'gave-up':
      return 'tried again only when forced: paperknife re-extract --state gave-up'
  }
}

function present<K extends string, V>(key: K, value: V | null): { [P in K]?: V } {
  return (value === null ? {} : { [key]: value }) as { [P in K]?: V }
}
