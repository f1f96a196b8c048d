/** What the commands that sweep share: progress drawn, the report told. */
import type { Mail, Progress as SweepProgress, SweepReport } from '../api.js'
import { EXIT } from './exit.js'
import type { Arguments } from './flags.js'
import { Progress, counted, countText, dateText, durationText, note, plain } from './terminal.js'

const PHASES: Record<SweepProgress['phase'], string> = {
  list: 'comparing with the vault',
  messages: 'reading messages',
  text: 'reading attachments',
  ocr: 'recognising scans',
  write: 'writing the index',
}

/** @returns `onProgress` for a sweep, and `end` for when it is over */
export function drawnProgress(): { onProgress(progress: SweepProgress): void; end(): void } {
  const progress = new Progress()
  let began: { ms: number; done: number; ocrPages: number } | undefined
  return {
    onProgress: ({ phase, done, total, ocrPages = 0 }) => {
      let rate = ''
      if (phase === 'ocr') {
        const now = performance.now()
        began ??= { ms: now, done, ocrPages }
        rate = ocrRate(now - began.ms, done - began.done, total - done, ocrPages - began.ocrPages)
      }
      progress.show(PHASES[phase], done, total, rate)
    },
    end: () => progress.end(),
  }
}

/**
 * `42 pages a minute, 3 min left`, once there is something to go by.
 *
 * @param done documents in `ms` milliseconds, with `ocrPages` recognised pages @param left documents still waiting
 */
export function ocrRate(ms: number, done: number, left: number, ocrPages: number): string {
  if (ms < RATE_FROM_MS || done === 0) return ''
  const pages = Math.round((ocrPages * 60_000) / ms)
  return `${countText(pages)} pages a minute, ${durationText((left * ms) / done)} left`
}
const RATE_FROM_MS = 5_000

/** How often a busy index is asked for again. */
const WAIT_MS = 1_000

/**
 * Runs what writes the index; with --wait, as soon as no other process does.
 *
 * @throws what `run` threw, `E_INDEX_BUSY` only without --wait
 */
export async function whenFree<T>(
  given: Arguments,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  for (let isTold = false; ;)
    try {
      return await run()
    } catch (error) {
      const isBusy = (error as { code?: unknown }).code === 'E_INDEX_BUSY'
      if (!isBusy || !given.has('wait') || signal.aborted) throw error
      if (!isTold) note('another process is writing the index: waiting for it')
      isTold = true
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
    }
}

/** Says where the index lies when that is not beside the mail, and how it is shared there. */
export function tellPlaces({ places }: Pick<Mail, 'places'>): void {
  for (const { root, directory, networkDisk, isElsewhere, isExclusive } of places) {
    if (networkDisk === undefined && !isExclusive) continue
    const disk = networkDisk === undefined ? '' : ` (${networkDisk})`
    if (isElsewhere)
      note(
        `${plain(root)} lies on a network disk${disk}: its index is kept on this machine, in ${plain(directory)}; --index chooses another folder`,
      )
    else if (isExclusive)
      note(
        `the index in ${plain(directory)} lies on a network disk${disk}: while this runs, searches on this machine are answered by it, and other machines wait`,
      )
  }
}

/** Places shown of those that could not be looked at. */
const UNREADABLE_MOST = 10

/** The report in a few lines. */
export function tellReport(report: SweepReport): void {
  const { messages, contents } = report
  for (const file of report.setAside)
    note(`an index file was damaged or newer; it was set aside as ${plain(file)} and made anew`)
  if (report.salvaged)
    note(
      `${counted(report.salvaged.saved, 'attachment')} with their texts were saved from it${report.salvaged.lost > 0 ? `, ${countText(report.salvaged.lost)} could not be read and are extracted again` : ''}`,
    )
  for (const { path, detail } of report.unreadable.slice(0, UNREADABLE_MOST))
    note(
      `${plain(path || '.')} cannot be read (${plain(detail)}): what is known of it is kept, and the next run tries it again`,
    )
  if (report.unreadable.length > UNREADABLE_MOST)
    note(
      `and ${countText(report.unreadable.length - UNREADABLE_MOST)} more; paperknife verify names them`,
    )
  const changes = (['added', 'changed', 'moved', 'removed', 'unreadable'] as const)
    .filter((kind) => messages[kind] > 0)
    .map((kind) => `${messages[kind]} ${kind}`)
  // What a reading of text left for OCR is counted under what OCR made of it.
  const read = Object.entries(contents).filter(([state, count]) => count > 0 && state !== 'pending')
  note(
    [
      `${counted(messages.total, 'message')}${changes.length > 0 ? ` (${changes.join(', ')})` : ', nothing new'}`,
      ...(read.length > 0
        ? [`attachments read: ${read.map(([state, count]) => `${count} ${state}`).join(', ')}`]
        : []),
      `${durationText(report.ms)}${report.stopped ? ', stopped before the end' : ''}`,
    ].join('; '),
  )
  if (report.retries > 0)
    note(
      `${counted(report.retries, 'attachment')} could not be read now and will be tried again${report.nextDue === undefined ? '' : `, the first after ${dateText(report.nextDue)}`}`,
    )
}

export function exitCodeOf(report: SweepReport): number {
  return report.retries > 0 ||
    report.messages.unreadable > 0 ||
    report.unreadable.length > 0 ||
    report.stopped
    ? EXIT.retryLater
    : EXIT.done
}
