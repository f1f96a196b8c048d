/** `paperknife status`: what a search can see, what is left to do, and what could not be read and why. */
import { openVault, type Estimate } from '../api.js'
import { EXIT } from './exit.js'
import type { Run } from './commands.js'
import { vaultOptions } from './options.js'
import { bytesText, countText, counted, plain, print, printJson } from './terminal.js'

export const run: Run = async (given) => {
  const mail = await openVault(vaultOptions(given))
  try {
    const status = await mail.status()
    if (given.has('json')) {
      await printJson(status)
      return EXIT.done
    }
    const { coverage } = status
    await print(
      `${counted(status.messages, 'message')}, ${counted(coverage.contents, 'attachment')}: ${countText(coverage.readable)} searchable, ${countText(coverage.pending)} to be read, ${countText(coverage.unreadable)} could not be read`,
    )
    if (status.messagesUnreadable > 0)
      await print(
        `${counted(status.messagesUnreadable, 'message')} could not be read: check the permissions of the files; the next index tries again`,
      )
    if (status.messagesCut > 0)
      await print(
        `${counted(status.messagesCut, 'message')} read in part: explain says of each what was not read`,
      )
    await print(
      `index ${bytesText(status.indexBytes)}, extracts ${bytesText(status.extractsBytes)}${status.sweeping ? '; being swept now' : ''}`,
    )
    const states = Object.entries(status.contents).filter(([, count]) => count > 0)
    await table('By state', states)
    const why: Record<string, number> = {}
    for (const [reason, count] of Object.entries(status.reasons)) {
      if (!reason.includes(': ')) continue
      // Each picture's own size would fill the table.
      const name = reason.replace(/^skipped-tiny: .*/, `skipped-tiny: ${TINY}`)
      why[name] = (why[name] ?? 0) + count
    }
    await table('Why', Object.entries(why))
    if (status.backlog.contents > 0) await print(`\nLeft to do: ${estimateText(status.backlog)}`)
    return EXIT.done
  } finally {
    await mail.close()
  }
}

/** Printed for all pictures of this state. */
export const TINY = 'a picture too small to hold text'

/** Rows of a table on screen. */
const ROWS = 20

async function table(title: string, rows: Array<[string, number]>): Promise<void> {
  if (rows.length === 0) return
  await print(`\n${title}:`)
  const sorted = rows.sort((a, b) => b[1] - a[1])
  for (const [name, count] of sorted.slice(0, ROWS))
    await print(`${countText(count).padStart(10)}  ${plain(name)}`)
  if (sorted.length > ROWS)
    await print(`            and ${countText(sorted.length - ROWS)} others; --json lists them all`)
}

/** `12 attachments, 40 pages to recognise, about 0.1 h`. */
export function estimateText({ contents, pagesToOcr, hours }: Estimate): string {
  if (contents === 0) return 'nothing'
  return [
    counted(contents, 'attachment'),
    ...(pagesToOcr > 0 ? [`${counted(pagesToOcr, 'page')} to recognise`] : []),
    ...(hours === undefined
      ? ['no rate of this machine is known yet']
      : [hours < 0.1 ? 'some minutes' : `about ${hours.toFixed(1)} h`]),
  ].join(', ')
}
