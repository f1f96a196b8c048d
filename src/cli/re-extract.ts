/** `paperknife re-extract`: contents chosen by the operator are read again; priced first with --dry-run. */
import { CONTENT_STATES, openVault, type ContentState, type ReExtractOptions } from '../api.js'
import { EXIT, UsageError } from './exit.js'
import type { Arguments } from './flags.js'
import type { Run } from './commands.js'
import { checkOcr, sweepingOptions } from './options.js'
import { drawnProgress, exitCodeOf, tellReport, whenFree } from './sweeping.js'
import { estimateText, TINY } from './status.js'
import { note, print, printJson } from './terminal.js'

export const run: Run = async (given, { signal }) => {
  await checkOcr(given)
  const options = chosen(given)
  const mail = await openVault(sweepingOptions(given))
  try {
    const report = await whenFree(given, signal, () => mail.reExtract(options))
    if (given.has('json')) await printJson(report)
    else {
      await print(`${report.dryRun ? 'would read' : 'reading'} again: ${estimateText(report)}`)
      for (const [state, count] of Object.entries(report.byState))
        await print(`${String(count).padStart(10)}  ${state}`)
    }
    if (report.dryRun || report.contents === 0) return EXIT.done
    const progress = drawnProgress()
    const swept = await mail
      .sweep({ signal, onProgress: progress.onProgress })
      .finally(() => progress.end())
    if (given.has('json')) await printJson({ vault: given.positional[0], ...swept })
    tellReport(swept)
    return exitCodeOf(swept)
  } finally {
    await mail.close()
  }
}

function chosen(given: Arguments): ReExtractOptions {
  const { state, reason } = asPrinted(given.text('state'), given.text('reason'))
  const type = given.text('type')
  const name = given.text('name')
  const since = given.text('since')
  const of = given.text('message') ?? given.text('hash')
  if (given.text('message') !== undefined && given.text('hash') !== undefined)
    throw new UsageError('--message and --hash each name what is meant: give one')
  const options: ReExtractOptions = {
    ...(state && { states: [state] }),
    ...(reason !== undefined && { reason }),
    ...(type !== undefined && { type }),
    ...(name !== undefined && { name }),
    ...(since !== undefined && { since: localDay(since) }),
    ...(given.has('stale') && { stale: true }),
    ...(of !== undefined && { of }),
    ...(given.has('dry-run') && { dryRun: true }),
  }
  if (Object.keys(options).every((key) => key === 'dryRun'))
    note('no choice was given: every attachment of the vault is meant')
  return options
}

/** A reason as `status` prints it begins with its state: `locked: password needed`. */
function asPrinted(
  state: string | undefined,
  reason: string | undefined,
): { state: ContentState | undefined; reason: string | undefined } {
  const [, before, after] = /^([a-z-]+)(?:: (.*))?$/s.exec(reason ?? '') ?? []
  const printed = CONTENT_STATES.find((name) => name === before)
  const asked = CONTENT_STATES.find((name) => name === state)
  if (printed === undefined) return { state: asked, reason }
  if (asked !== undefined && asked !== printed)
    throw new UsageError(`--state ${asked} and --reason "${reason}" exclude each other`)
  // What status prints in place of each picture's own size.
  return { state: printed, reason: after === TINY ? undefined : after }
}

/** Seconds since 1970 of the beginning of a local day. */
function localDay(text: string): number {
  const [, year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? []
  const date = new Date(Number(year), Number(month) - 1, Number(day))
  if (year === undefined || date.getMonth() !== Number(month) - 1)
    throw new UsageError(`--since must be a day as 2024-05-01, not "${text}"`)
  return date.getTime() / 1000
}
