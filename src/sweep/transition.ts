/**
 * The life of a content, as one table. Every change of state in extracts.db is one row of it.
 *
 * pending           Never tried, or stale, or forced, or read as text with its pages of pixels still
 *                   waiting for the OCR lane. Ended by a claim; or declined before one, when its size
 *                   alone says that it will not be read.
 * extracting        Claimed: an attempt is spent. Ended by what the reading gave. `interrupted` (a clean
 *                   stop, or never begun when its thread or process died) gives the attempt back. In work
 *                   when the process died (workers/journal.ts): the attempt counts (`died`), and it is
 *                   next read in a process of its own, whose death is proof.
 * ok                Read, with or without text. Ended when what it depends on changes, or by force.
 * unsupported, too-large, skipped-tiny, locked, damaged
 *                   Declined for good, until what the refusal depended on changes.
 * failed-transient  We failed, not the content, as far as is known: an I/O error, a deadline, a lost
 *                   thread, memory. Claimed again when due (schedule.ts).
 * gave-up           As often as `maxAttempts` something died of it: a poison file. Ended by force only.
 *                   Not reading the file at all never leads here: no content can be blamed for a disk.
 */
import type { ContentState, DeclinedState } from '../part/states.js'

export type ContentEvent =
  | { kind: 'claimed' }
  /** `leavesPages`: pages of pixels that only OCR can read are left, and OCR is on. */
  | { kind: 'extracted'; leavesPages?: boolean }
  | { kind: 'declined'; state: DeclinedState }
  /** `isLast`: `maxAttempts` is reached. */
  | { kind: 'faulted'; isLast: boolean }
  | { kind: 'died'; isLast: boolean }
  | { kind: 'interrupted' }
  | { kind: 'stale' }
  | { kind: 'forced' }

type Row = {
  readonly [K in ContentEvent['kind']]?: (event: Extract<ContentEvent, { kind: K }>) => ContentState
}

const toPending = (): ContentState => 'pending'
const afterFailure = (event: { isLast: boolean }): ContentState =>
  event.isLast ? 'gave-up' : 'failed-transient'
const settled: Row = { stale: toPending, forced: toPending }

const TRANSITIONS: Record<ContentState, Row> = {
  pending: {
    claimed: () => 'extracting',
    declined: (event) => event.state,
    stale: toPending,
    forced: toPending,
  },
  extracting: {
    extracted: (event) => (event.leavesPages ? 'pending' : 'ok'),
    declined: (event) => event.state,
    faulted: afterFailure,
    died: afterFailure,
    interrupted: toPending,
  },
  ok: settled,
  unsupported: settled,
  'too-large': settled,
  'skipped-tiny': settled,
  locked: settled,
  damaged: settled,
  'failed-transient': { claimed: () => 'extracting', stale: toPending, forced: toPending },
  'gave-up': { forced: toPending },
}

/**
 * @returns the state after `event`
 * @throws when the table has no such row: a bug in the caller, never a fault of a content
 */
export function transition(from: ContentState, event: ContentEvent): ContentState {
  const to = TRANSITIONS[from][event.kind] as ((event: ContentEvent) => ContentState) | undefined
  if (!to) throw new Error(`no transition from ${from} on ${event.kind}`)
  return to(event)
}

/** Whether the table has a row for this event. */
export function hasTransition(from: ContentState, kind: ContentEvent['kind']): boolean {
  return TRANSITIONS[from][kind] !== undefined
}
