/** `paperknife index`: reconcile, then read attachments until nothing is due. */
import { openVault, PipelineError } from '../api.js'
import { EXIT, UsageError } from './exit.js'
import type { Run } from './commands.js'
import { checkOcr, sweepingOptions } from './options.js'
import { drawnProgress, exitCodeOf, tellPlaces, tellReport, whenFree } from './sweeping.js'
import { note, plain, printJson } from './terminal.js'

/** Nobody waits for this process but the person who started it. */
const ALONE_MS = 1_000

export const run: Run = async (given, { signal }) => {
  const { vault: _first, index, ...options } = sweepingOptions(given)
  await checkOcr(given)
  const vaults = given.positional
  if (vaults.length > 1 && index !== undefined)
    throw new UsageError('--index is the place of one index: give one VAULT with it')
  let code: number = EXIT.done
  let hasFailed = false
  for (const vault of vaults) {
    if (signal.aborted) break
    if (vaults.length > 1) note(`${plain(vault)}:`)
    try {
      code = Math.max(code, await indexOne(vault))
    } catch (error) {
      // A vault that is not there keeps nobody from the others.
      const isGone = error instanceof PipelineError && error.code === 'E_VAULT_UNREADABLE'
      if (vaults.length === 1 || !isGone) throw error
      note(`paperknife: ${plain(error.message)}`)
      hasFailed = true
    }
  }
  return hasFailed ? EXIT.error : code

  async function indexOne(vault: string): Promise<number> {
    const mail = await openVault({ vault, ...(index !== undefined && { index }), ...options })
    try {
      const progress = drawnProgress()
      tellPlaces(mail)
      const report = await whenFree(given, signal, () =>
        mail.sweep({
          signal,
          onProgress: progress.onProgress,
          full: given.has('full'),
          yieldMs: ALONE_MS,
        }),
      ).finally(() => progress.end())
      if (given.has('json')) await printJson({ vault, ...report })
      tellReport(report)
      if (report.messages.total === 0 && !report.stopped)
        note(
          `no mail was found in ${plain(vault)}: Maildirs, .eml and .msg files, mbox files, .emlx and MH folders are read`,
        )
      return exitCodeOf(report)
    } finally {
      await mail.close()
    }
  }
}
