/** `paperknife index`: reconcile, then read attachments until nothing is due. */
import { openVault } from '../api.js'
import { EXIT, UsageError } from './exit.js'
import type { Run } from './commands.js'
import { checkOcr, sweepingOptions } from './options.js'
import { drawnProgress, exitCodeOf, tellPlaces, tellReport, whenFree } from './sweeping.js'
import { note, plain, printJson } from './terminal.js'

export const run: Run = async (given, { signal }) => {
  const { vault: _first, index, ...options } = sweepingOptions(given)
  await checkOcr(given)
  const vaults = given.positional
  if (vaults.length > 1 && index !== undefined)
    throw new UsageError('--index is the place of one index: give one VAULT with it')
  let code: number = EXIT.done
  for (const vault of vaults) {
    if (signal.aborted) break
    if (vaults.length > 1) note(`${plain(vault)}:`)
    const mail = await openVault({ vault, ...(index !== undefined && { index }), ...options })
    try {
      const progress = drawnProgress()
      tellPlaces(mail)
      const report = await whenFree(given, signal, () =>
        mail.sweep({ signal, onProgress: progress.onProgress, full: given.has('full') }),
      ).finally(() => progress.end())
      if (given.has('json')) await printJson({ vault, ...report })
      tellReport(report)
      code = Math.max(code, exitCodeOf(report))
    } finally {
      await mail.close()
    }
  }
  return code
}
