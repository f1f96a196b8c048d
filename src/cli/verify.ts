/** `paperknife verify`: the index against the vault and the extracts. */
import { openVault } from '../api.js'
import { EXIT } from './exit.js'
import type { Run } from './commands.js'
import { vaultOptions } from './options.js'
import { whenFree } from './sweeping.js'
import { counted, note, plain, print, printJson } from './terminal.js'

export const run: Run = async (given, { signal }) => {
  const mail = await openVault(vaultOptions(given))
  try {
    const report = await whenFree(given, signal, () =>
      mail.verify({ purge: given.has('purge'), signal }),
    )
    if (given.has('json')) await printJson(report)
    else {
      for (const difference of report.differences) await print(plain(difference))
      await print(
        `${counted(report.messages, 'message')}, ${counted(report.contents, 'attachment')}: ${
          report.agrees
            ? 'vault, index and extracts agree'
            : counted(report.differences.length, 'difference')
        }${report.purged ? '; purged' : ''}`,
      )
    }
    if (!report.agrees) note('paperknife index brings the index up to date with the vault')
    return report.agrees ? EXIT.done : EXIT.error
  } finally {
    await mail.close()
  }
}
