/** `paperknife watch`: the same as index, then changes are followed until Ctrl-C. */
import { openVault } from '../api.js'
import { EXIT } from './exit.js'
import type { Run } from './commands.js'
import { checkOcr, sweepingOptions } from './options.js'
import { drawnProgress } from './sweeping.js'
import { note } from './terminal.js'

export const run: Run = async (given, { signal }) => {
  await checkOcr(given)
  const mail = await openVault(sweepingOptions(given))
  const progress = drawnProgress()
  try {
    note('following changes; Ctrl-C ends it')
    await mail.watch({ signal, onProgress: progress.onProgress })
    return EXIT.done
  } finally {
    progress.end()
    await mail.close()
  }
}
