/**
 * Messages found, as one mbox file that mail programs open.
 *
 * Format: mboxrd (RFC 4155 with every `From ` line of a message quoted once more), lines ended by LF.
 */
import { realpathSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Hit, Mail } from '../api.js'
import { UsageError } from './exit.js'
import { counted, note, plain } from './terminal.js'

/**
 * A vault is never written to: its own file would be lost, and a new one in its tree would be mail.
 *
 * @throws {UsageError} naming the file
 */
export function refuseInside(vaults: readonly string[], file: string): void {
  const place = join(real(dirname(resolve(file))), basename(file))
  for (const vault of vaults)
    if (`${place}${sep}`.startsWith(`${real(resolve(vault))}${sep}`))
      throw new UsageError(`--mbox: ${file} lies in the vault; name a file outside of ${vault}`)
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * @param file open for writing; closed when this resolves
 * @param name how messages name it
 */
export async function writeMbox(
  mail: Pick<Mail, 'original'>,
  hits: Iterable<Hit> | AsyncIterable<Hit>,
  file: FileHandle,
  name: string,
): Promise<void> {
  let written = 0
  let last = ''
  async function* entries(): AsyncGenerator<Buffer> {
    for await (const hit of hits) {
      // a message found by several documents is one message
      const message = `${hit.vault} ${hit.id}`
      if (message === last) continue
      last = message
      const bytes = await mail.original(hit)
      if (bytes) {
        yield mboxEntry(bytes, hit)
        written++
      } else note(`${plain(hit.path)}: gone or unreadable, not in ${plain(name)}`)
    }
  }
  await pipeline(Readable.from(entries()), file.createWriteStream())
  note(`${counted(written, 'message')} written to ${plain(name)}`)
}

/** One message between its `From ` line and the empty line that ends it. */
export function mboxEntry(bytes: Uint8Array, { from, date }: Pick<Hit, 'from' | 'date'>): Buffer {
  const sender = /<([^<>\s]+)>/.exec(from)?.[1] ?? 'MAILER-DAEMON'
  const [, day, dd, month, year, time] =
    /^(\w+), (\d+) (\w+) (\d+) ([\d:]+)/.exec(new Date(date * 1000).toUTCString()) ?? []
  const text = Buffer.from(bytes)
    .toString('latin1')
    .replace(/\r\n/g, '\n')
    .replace(/^(>*From )/gm, '>$1')
  let end = text.length
  while (text[end - 1] === '\n') end--
  return Buffer.from(
    `From ${sender} ${day} ${month} ${dd} ${time} ${year}\n${text.slice(0, end)}\n\n`,
    'latin1',
  )
}
