/**
 * Messages found, as one mbox file that mail programs open.
 *
 * Format: mboxrd (RFC 4155 with every `From ` line of a message quoted once more), lines ended by LF.
 */
import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { Hit, Mail } from '../api.js'
import { counted, note, plain } from './terminal.js'

/** @param file written anew; what was there is gone */
export async function writeMbox(
  mail: Pick<Mail, 'original'>,
  hits: readonly Hit[],
  file: string,
): Promise<void> {
  const out = createWriteStream(file, { mode: 0o600 })
  await once(out, 'open')
  let written = 0
  for (const hit of hits) {
    const bytes = await mail.original(hit)
    if (!bytes) {
      note(`${plain(hit.path)}: gone or unreadable, not in ${plain(file)}`)
      continue
    }
    if (!out.write(mboxEntry(bytes, hit))) await once(out, 'drain')
    written++
  }
  out.end()
  await finished(out)
  note(`${counted(written, 'message')} written to ${plain(file)}`)
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
    .replace(/\n*$/, '\n\n')
  return Buffer.from(`From ${sender} ${day} ${month} ${dd} ${time} ${year}\n${text}`, 'latin1')
}
