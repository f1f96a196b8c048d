/**
 * The bytes of one message, from a reference. What the workers use: knows no listing.
 */
import { open, readdir } from 'node:fs/promises'
import type { Limits } from '../part/limits.js'
import type { MessageReference } from '../part/reference.js'
import { maildirName, nameText, systemPath } from './names.js'

export type ReadMessage =
  | {
      kind: 'read'
      /** The mail, at most `messageBytes` of it. */
      bytes: Buffer
      /** Where it lay: another path than asked for when it was renamed for a flag meanwhile. */
      path: string
    }
  | {
      /** `gone`: no such file any more; `unreadable`: it is there and the system refuses or fails. */
      kind: 'gone' | 'unreadable'
      /** The system's code and words: `EACCES: permission denied`. */
      detail: string
    }

/**
 * Reads one message.
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
    const file = await open(systemPath(root, reference.path), 'r')
    try {
      const size = (await file.stat()).size
      const offset = reference.offset ?? 0
      const length = Math.max(0, Math.min(reference.bytes ?? Infinity, size - offset, most))
      const buffer = Buffer.allocUnsafeSlow(length)
      let filled = 0
      while (filled < length) {
        const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return { kind: 'read', bytes: buffer.subarray(0, filled), path: reference.path }
    } finally {
      await file.close()
    }
  } catch (error) {
    return { kind: isGone(error) ? 'gone' : 'unreadable', detail: failureOf(error) }
  }
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
