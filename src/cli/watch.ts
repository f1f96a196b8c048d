/**
 * `paperknife watch`: the same as index, then changes are followed until Ctrl-C.
 *
 * A pass that found something is told in a line (with --json, an object); a pass that found nothing is not.
 */
import { openVault, type SweepReport } from '../api.js'
import { EXIT } from './exit.js'
import type { Run } from './commands.js'
import { checkOcr, sweepingOptions } from './options.js'
import { drawnProgress, tellPlaces, tellReport, whenFree } from './sweeping.js'
import { note, plain, printJson } from './terminal.js'

export const run: Run = async (given, { signal }) => {
  await checkOcr(given)
  const vault = given.positional[0] as string
  const mail = await openVault(sweepingOptions(given))
  const progress = drawnProgress()
  let isFirst = true
  let printing: Promise<void> = Promise.resolve()
  try {
    note(`following changes of ${plain(vault)}; Ctrl-C ends it`)
    tellPlaces(mail)
    await whenFree(given, signal, () =>
      mail.watch({
        signal,
        onProgress: progress.onProgress,
        onAway: (error) => {
          progress.end()
          note(`${plain(error.message)}; waiting for it`)
        },
        onBack: () => note(`${plain(vault)} can be read again`),
        onReport: (report) => {
          if (!isFirst && !didSomething(report)) return
          isFirst = false
          progress.end()
          tellReport(report)
          if (given.has('json')) printing = printing.then(() => printJson({ vault, ...report }))
        },
      }),
    )
    return EXIT.done
  } finally {
    progress.end()
    await printing
    await mail.close()
  }
}

function didSomething({ messages, contents }: SweepReport): boolean {
  const { added, changed, moved, removed } = messages
  return added + changed + moved + removed > 0 || Object.keys(contents).length > 0
}
