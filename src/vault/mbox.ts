/**
 * Mbox files of any size: where each message lies, its flags, and a name for it. RFC 4155, with the
 * quoting families mboxo, mboxrd, mboxcl and mboxcl2.
 *
 * A message begins at a separator (mail/mbox.ts); a Content-Length that leads to one (or to the end) is
 * believed, which also skips the body unread. Files are streamed; a file that only grew costs its tail.
 *
 * Not responsible for: undoing the quoting (read.ts), what the messages say.
 */
import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { isSeparator } from '../mail/mbox.js'
import { FLAGS } from '../part/reference.js'
import { systemPath } from './names.js'
import type { TakeEntry, VaultEntry } from './vault.js'

const CHUNK = 4 << 20
/** Bytes of a message's head looked at for its flags and its Message-ID. */
const HEAD = 64 * 1024
/** Bytes that hold the fields Thunderbird writes on top of a message. */
const TOP = 2048

/**
 * Lists the messages of an mbox file.
 *
 * @param known entries of the last listing. When the file still has them where they were, only what
 *   follows the last of them or lies between two is read; flags that Thunderbird writes into the file are read again.
 * @param fileSize size of the file when it was looked at; what is appended meanwhile is for the next time
 * @param take is given each message in its place of the list, which stays empty: a file of gigabytes holds a million
 */
export async function listMbox(
  root: string,
  path: string,
  fileSize: number,
  known: readonly VaultEntry[] = [],
  take?: TakeEntry,
): Promise<VaultEntry[]> {
  const file = await open(systemPath(root, path), 'r')
  try {
    const kept = await stillThere(file, path, fileSize, known)
    // The last one may have grown.
    const last = kept.pop()
    const found: VaultEntry[] = []
    const give: TakeEntry = take ?? ((entry) => void found.push(entry))
    let end = 0
    /** What an earlier sweep that was interrupted had not read yet, or what was expunged. */
    const bridge = (to: number): Promise<void> | void =>
      to > end ? scan(file, path, end, to, give) : undefined
    for (const entry of kept) {
      await bridge(entry.offset ?? 0)
      await give(entry)
      end = (entry.offset ?? 0) + (entry.bytes ?? 0)
    }
    const tail = last?.offset ?? 0
    await bridge(tail)
    await scan(file, path, tail, fileSize, give)
    return found
  } finally {
    await file.close()
  }
}

/** The known entries, with their flags of today, or none when the file is not what it was. */
async function stillThere(
  file: FileHandle,
  path: string,
  fileSize: number,
  known: readonly VaultEntry[],
): Promise<VaultEntry[]> {
  const entries = [...known].sort((a, b) => (a.offset ?? 0) - (b.offset ?? 0))
  const last = entries.at(-1)
  if (!last || (last.offset ?? 0) + (last.bytes ?? 0) > fileSize) return []
  const step = Math.max(1, Math.floor(entries.length / 16))
  let isThunderbird = false
  for (
    let i = 0;
    i < entries.length;
    i = i === entries.length - 1 ? i + 1 : Math.min(i + step, entries.length - 1)
  ) {
    const head = await headAt(file, path, entries[i] as VaultEntry, HEAD)
    if (head?.entry.unique !== entries[i]?.unique) return []
    if (head?.isThunderbird) isThunderbird = true
  }
  if (!isThunderbird) return entries
  const today: VaultEntry[] = []
  for (const entry of entries) {
    const head = await headAt(file, path, entry, TOP)
    if (!head) return []
    if (!head.isExpunged) today.push({ ...entry, flags: head.entry.flags })
  }
  return today
}

async function headAt(
  file: FileHandle,
  path: string,
  entry: VaultEntry,
  bytes: number,
): Promise<MboxHead | undefined> {
  const buffer = Buffer.alloc(Math.min(bytes, entry.bytes ?? bytes))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, entry.offset ?? 0)
  const head = buffer.subarray(0, bytesRead)
  return isSeparator(head, 0) ? readHead(head, path, entry.offset ?? 0) : undefined
}

async function scan(
  file: FileHandle,
  path: string,
  start: number,
  size: number,
  give: TakeEntry,
): Promise<void> {
  let base = start
  let buffer: Buffer = Buffer.alloc(0)
  const isAtEnd = (): boolean => base + buffer.length >= size
  /** Drops what lies before `from` and reads on. */
  const fill = async (from: number): Promise<void> => {
    const next = Buffer.allocUnsafe(Math.min(CHUNK, size - base - buffer.length))
    const { bytesRead } = await file.read(next, 0, next.length, base + buffer.length)
    buffer = Buffer.concat([buffer.subarray(from), next.subarray(0, bytesRead)])
    base += from
    // A file that was cut meanwhile ends here.
    if (bytesRead === 0) size = base + buffer.length
  }
  let current: MboxHead | undefined
  const close = (end: number): Promise<void> | void => {
    if (!current || current.isExpunged) return
    const { entry } = current
    return give({ ...entry, bytes: end - (entry.offset ?? 0), size: end - (entry.offset ?? 0) })
  }

  /** Begins the message whose separator stands at `index`; returns where to look for the next one. */
  const take = async (index: number): Promise<number> => {
    await close(base + index)
    current = readHead(buffer.subarray(index, index + HEAD), path, base + index)
    const { bodyStart, contentLength } = current
    const target = base + index + bodyStart + contentLength
    if (contentLength < 0 || target > size || !(await leadsToEnd(file, target, size)))
      return index + 1
    // On the line end before the next separator.
    const near = Math.max(target - 2, base + index + 1)
    if (near - base <= buffer.length) return near - base
    base = near
    buffer = Buffer.alloc(0)
    await fill(0)
    return 0
  }

  await fill(0)
  let from = 0
  while (buffer[from] === 0x0a || buffer[from] === 0x0d) from++
  if (isSeparator(buffer, from)) from = await take(from)
  for (;;) {
    const found = buffer.indexOf('\nFrom ', from, 'latin1')
    if (found < 0) {
      if (isAtEnd()) break
      await fill(Math.max(0, buffer.length - 5))
      from = 0
    } else if (buffer.length - found < HEAD && !isAtEnd()) {
      await fill(found)
      from = 0
    } else from = isSeparator(buffer, found + 1) ? await take(found + 1) : found + 1
  }
  await close(size)
}

/** Whether a separator or the end of the file stands where a Content-Length leads. */
async function leadsToEnd(file: FileHandle, target: number, size: number): Promise<boolean> {
  if (size - target <= 4) return true
  const buffer = Buffer.alloc(Math.min(600, size - target))
  await file.read(buffer, 0, buffer.length, target)
  let at = 0
  while (at < 4 && (buffer[at] === 0x0a || buffer[at] === 0x0d)) at++
  return at > 0 && isSeparator(buffer, at)
}

interface MboxHead {
  entry: VaultEntry
  /** Bytes from the separator to the body. */
  bodyStart: number
  /** -1 when there is none. */
  contentLength: number
  isThunderbird: boolean
  isExpunged: boolean
}

/** @param head from the separator on */
function readHead(head: Buffer, path: string, offset: number): MboxHead {
  const lf = head.indexOf('\n\n', 0, 'latin1')
  const crlf = head.indexOf('\n\r\n', 0, 'latin1')
  const end = lf >= 0 && (crlf < 0 || lf < crlf) ? lf + 2 : crlf >= 0 ? crlf + 3 : head.length
  const text = head.toString('latin1', 0, end)
  const line = text.slice(0, text.indexOf('\n'))
  const field = (name: string): string | undefined =>
    new RegExp(`\\n${name}[ \\t]*:[ \\t]*([^\\r\\n]*(?:\\r?\\n[ \\t][^\\r\\n]*)*)`, 'i')
      .exec(text)?.[1]
      ?.trim()
  const mozilla = field('X-Mozilla-Status')
  const status = parseInt(mozilla ?? '', 16)
  const length = field('Content-Length')
  return {
    entry: {
      path,
      offset,
      bytes: 0,
      unique: uniqueOf(text, field('Message-ID')),
      flags: Number.isNaN(status)
        ? flagsOf(field)
        : mozillaFlags(status, field('X-Mozilla-Status2')),
      size: 0,
      mtimeMs: dateOf(line),
      ctimeMs: 0,
      inode: 0,
    },
    bodyStart: end,
    contentLength: length && /^\d{1,15}$/.test(length) ? Number(length) : -1,
    isThunderbird: mozilla !== undefined,
    isExpunged: !Number.isNaN(status) && (status & 0x8) !== 0,
  }
}

/** The Message-ID, else a hash of the head; fields that programs rewrite in place left out. */
function uniqueOf(text: string, messageId: string | undefined): string {
  // Copied: a piece of the head would keep the whole head in memory, once a message.
  if (messageId)
    return Buffer.from(messageId.replace(/\s+/g, '').slice(0, 300), 'latin1').toString('latin1')
  const stable = text
    .slice(text.indexOf('\n') + 1)
    .replace(/^(?:X-Mozilla-[\w-]+|Status|X-Status|X-Keywords|X-UID|Content-Length):.*\r?\n/gim, '')
  return `sha1:${createHash('sha1').update(stable, 'latin1').digest('hex')}`
}

/** Thunderbird's bits (nsMsgMessageFlags). */
function mozillaFlags(status: number, status2: string | undefined): number {
  let flags = 0
  if (status & 0x1) flags |= FLAGS.seen
  if (status & 0x2) flags |= FLAGS.answered
  if (status & 0x4) flags |= FLAGS.flagged
  if (status & 0x1000) flags |= FLAGS.passed
  if (parseInt(status2 ?? '', 16) & 0x200000) flags |= FLAGS.trashed
  return flags
}

/** Status and X-Status (mutt, Dovecot), Gmail's labels; a file without them holds mail that was read. */
function flagsOf(field: (name: string) => string | undefined): number {
  const status = field('Status')
  const more = field('X-Status')
  if (status !== undefined || more !== undefined) {
    let flags = 0
    if (status?.includes('R')) flags |= FLAGS.seen
    if (more?.includes('A')) flags |= FLAGS.answered
    if (more?.includes('F')) flags |= FLAGS.flagged
    if (more?.includes('T')) flags |= FLAGS.draft
    if (more?.includes('D')) flags |= FLAGS.trashed
    return flags
  }
  const labels = field('X-Gmail-Labels')
  if (labels === undefined) return FLAGS.seen
  let flags = /(?:^|[,\s])Unread(?:$|,)/i.test(labels) ? 0 : (FLAGS.seen as number)
  if (/(?:^|[,\s])Starred(?:$|,)/i.test(labels)) flags |= FLAGS.flagged
  if (/(?:^|[,\s])Drafts?(?:$|,)/i.test(labels)) flags |= FLAGS.draft
  if (/(?:^|[,\s])(?:Trash|Bin)(?:$|,)/i.test(labels)) flags |= FLAGS.trashed
  return flags
}

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** Milliseconds of the separator's date, taken as UTC; 0 when there is none. */
function dateOf(line: string): number {
  const match =
    /([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d{2}):(\d{2})(?::(\d{2}))?.*?(\d{4})(?:\D|$)/.exec(line)
  if (!match) return 0
  const month = MONTHS.indexOf(match[1] as string) / 3
  if (month < 0 || !Number.isInteger(month)) return 0
  const [day, hour, minute, second] = [2, 3, 4, 5].map((i) => Number(match[i] ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return Date.UTC(Number(match[6]), month, day, hour, minute, second)
}
