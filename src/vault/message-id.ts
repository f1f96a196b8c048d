/** The Message-ID of a file, without reading the message: to tell whether a name still holds the mail it held. */
import { firstBytes } from './disk.js'
import type { VaultEntry } from './vault.js'

/** Bytes that hold the head of any usual mail. */
const HEAD = 65_536

/**
 * @param root absolute path of the vault
 * @returns without brackets; undefined when the head has none or the file cannot be read
 */
export function messageIdAt(root: string, { path }: Pick<VaultEntry, 'path'>): string | undefined {
  let head: string
  try {
    head = firstBytes(root, path, HEAD).toString('latin1')
  } catch {
    return undefined
  }
  const end = /\r?\n\r?\n/.exec(head)?.index
  const field = /(?:^|\n)message-id[ \t]*:([^\n]*(?:\n[ \t][^\n]*)*)/i.exec(head.slice(0, end))
  const value = field?.[1]?.replace(/\s+/g, '')
  return value && (/<([^<>]*)>/.exec(value)?.[1] ?? value)
}
