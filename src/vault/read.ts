/**
 * The bytes of one message, from a reference. What the workers use: knows no listing.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { unquoted } from '../mail/mbox.js'
import type { Limits } from '../part/limits.js'
import type { MessageReference } from '../part/reference.js'
import { mailOfEmlx, withAttachments } from './emlx.js'
import { maildirName, nameText, systemPath } from './names.js'

export type ReadMessage =
  | {
      kind: 'read'
      /** The mail, at most `messageBytes` of it. */
      bytes: Buffer
      /** Where it lay: another path than asked for when it was renamed for a flag meanwhile. */
      path: string
      /** It is longer than `messageBytes`. */
      isCut: boolean
    }
  | {
      /** `gone`: no such file any more; `unreadable`: it is there and the system refuses or fails. */
      kind: 'gone' | 'unreadable'
      /** The system's code and words: `EACCES: permission denied`. */
      detail: string
    }

/**
 * Reads one message. Synchronous where it counts: a thread has nothing else to do meanwhile, and the
 * asynchronous calls cost 0.1 ms a file and up to 0.5 ms of waiting on a busy machine.
 *
 * @param root absolute path of the vault
 * @returns never throws for what the disk does
 */
export async function readMessage(
  root: string,
  reference: MessageReference,
  limits: Pick<Limits, 'messageBytes'>,
): Promise<ReadMessage> {
  const first = await readAt(root, reference, limits.messageBytes)
  if (first.kind !== 'gone' || reference.offset !== undefined) return first
  const renamed = await findRenamed(root, reference.path)
  return renamed ? readAt(root, { ...reference, path: renamed }, limits.messageBytes) : first
}

async function readAt(
  root: string,
  reference: MessageReference,
  most: number,
): Promise<ReadMessage> {
  try {
    const file = openSync(systemPath(root, reference.path), 'r')
    try {
      const size = fstatSync(file).size
      const offset = reference.offset ?? 0
      const whole = Math.max(0, Math.min(reference.bytes ?? Infinity, size - offset))
      const length = Math.min(whole, most)
      const isCut = whole > most
      const buffer = Buffer.allocUnsafeSlow(length)
      let filled = 0
      while (filled < length) {
        const bytesRead = readSync(file, buffer, filled, length - filled, offset + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      const bytes = buffer.subarray(0, filled)
      if (reference.offset !== undefined) {
        if (bytes.toString('latin1', 0, 5) !== 'From ')
          return { kind: 'gone', detail: 'the mbox file was rewritten' }
        return { kind: 'read', bytes: unquoted(bytes), path: reference.path, isCut }
      }
      if (/\.emlx$/i.test(reference.path))
        return {
          kind: 'read',
          bytes: await wholeEmlx(root, reference.path, bytes),
          path: reference.path,
          isCut,
        }
      return { kind: 'read', bytes, path: reference.path, isCut }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return { kind: isGone(error) ? 'gone' : 'unreadable', detail: failureOf(error) }
  }
}

/** Files read of what lies beside a partial emlx, and their bytes together; what does not fit is left. */
const ATTACHMENTS = 200
const ATTACHMENT_BYTES = 100_000_000

async function wholeEmlx(root: string, path: string, bytes: Buffer): Promise<Buffer> {
  const mail = mailOfEmlx(bytes)
  const partial = /^(.*?)([^/]*\/)?([^/]+)\.partial\.emlx$/i.exec(path)
  if (!partial) return mail
  const beside = `${partial[1] ?? ''}Attachments/${partial[3]}`
  const files: Array<{ name: string; bytes: Buffer }> = []
  let left = ATTACHMENT_BYTES
  try {
    for (const part of (await readdir(systemPath(root, beside))).sort()) {
      for (const name of await readdir(systemPath(root, `${beside}/${part}`))) {
        if (name.startsWith('.') || files.length >= ATTACHMENTS) continue
        const place = systemPath(root, `${beside}/${part}/${name}`)
        const about = await stat(place)
        if (!about.isFile() || about.size > left) continue
        left -= about.size
        files.push({ name, bytes: await readFile(place) })
      }
    }
  } catch (error) {
    if (!isGone(error)) throw error
  }
  return withAttachments(mail, files)
}

/** A Maildir file under another name: flags changed, or moved from new/ to cur/. */
async function findRenamed(root: string, path: string): Promise<string | undefined> {
  const match = /^(.*\/|)(cur|new)\/([^/]+)$/.exec(path)
  if (!match) return undefined
  const { unique } = maildirName(match[3] as string)
  for (const folder of ['cur', 'new']) {
    const directory = `${match[1]}${folder}`
    let names: Buffer[]
    try {
      names = await readdir(systemPath(root, directory), { encoding: 'buffer' })
    } catch {
      continue
    }
    for (const bytes of names) {
      const name = nameText(bytes)
      if (name.startsWith(unique) && maildirName(name).unique === unique)
        return `${directory}/${name}`
    }
  }
  return undefined
}

export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** What the system said, without the path: `EACCES: permission denied`. */
export function failureOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return (
    (message ?? String(error)).replace(/, \w+ '.*$/s, '').replace(/, \w+$/, '') || code || 'unknown'
  )
}
