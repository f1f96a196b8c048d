/** Vault against index against extracts: every disagreement, one sentence each. Changes nothing. */
import type { Comparable } from '../index/store.js'
import { openMailStore } from '../vault/open.js'
import { failureOf } from '../vault/read.js'
import type { EntryList } from '../vault/vault.js'
import { isSameMessage } from './reconcile.js'

export interface VerifyReport {
  agrees: boolean
  /** One sentence each; at most 1,000, then how many more. */
  differences: string[]
  messages: number
  contents: number
  /** Whether no byte of deleted text is left in the files, for it was asked. */
  purged: boolean
}

const MOST = 1000

/**
 * @param root the vault
 * @throws {PipelineError} `E_VAULT_UNREADABLE`; `E_INDEX_DAMAGED` for a file of the index that cannot be read whole
 */
export async function verify(
  store: Comparable,
  root: string,
  signal?: AbortSignal,
): Promise<Omit<VerifyReport, 'purged'>> {
  const differences: string[] = []
  let more = 0
  const differ = (sentence: string): void => {
    if (differences.length < MOST) differences.push(sentence)
    else more++
  }

  const vault = await openMailStore(root)
  store.check()
  // Until a sweep has told of them.
  for (const file of store.opened.setAside)
    differ(`an index file was damaged or newer; it was set aside as ${file} and made anew`)
  const { folders, unreadable } = await vault.folders()
  for (const { path, detail } of unreadable) differ(`${path || '.'} cannot be read (${detail})`)
  const known = new Map(store.folders.all().map((row) => [row.path, row]))
  const hashes = new Set<string>()
  let messages = 0
  for (const folder of folders) {
    signal?.throwIfAborted()
    const row = known.get(folder.path)
    known.delete(folder.path)
    const rows = new Map(
      (row ? store.messages.entries(row.id) : []).map((entry) => [placeOf(entry), entry]),
    )
    messages += rows.size
    for (const { id } of rows.values())
      for (const hash of store.messages.hashes(id)) hashes.add(hash)
    let list: EntryList
    try {
      list = await vault.entries(folder)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'E_VAULT_UNREADABLE') throw error
      differ(
        `${folder.path || '.'} cannot be listed (${failureOf((error as Error).cause ?? error)})`,
      )
      continue
    }
    for (const { path, detail } of list.unreadable) differ(`${path} cannot be read (${detail})`)
    for (const entry of list.entries) {
      const found = rows.get(placeOf(entry))
      rows.delete(placeOf(entry))
      if (!found) differ(`${entry.path} is not in the index`)
      else if (!isSameMessage(vault.root, found, entry, folder.kind))
        differ(`${entry.path} changed after it was indexed, or could not be read`)
      else if (found.flags !== entry.flags) differ(`${entry.path} has other flags in the index`)
    }
    for (const gone of rows.values()) differ(`${gone.path} is in the index and not in the vault`)
  }
  const isHidden = (path: string): boolean =>
    unreadable.some((one) => path === one.path || path.startsWith(`${one.path}/`))
  for (const row of known.values())
    for (const gone of store.messages.entries(row.id)) {
      for (const hash of store.messages.hashes(gone.id)) hashes.add(hash)
      if (!isHidden(row.path)) differ(`${gone.path} is in the index and not in the vault`)
    }

  let contents = 0
  for (let afterId = 0; ;) {
    signal?.throwIfAborted()
    const rows = store.contents.list({}, 1000, afterId)
    if (rows.length === 0) break
    for (const row of rows) {
      contents++
      if (!hashes.delete(row.hash)) differ(`content ${row.hash} is carried by no message`)
      if (row.state === 'extracting') differ(`content ${row.hash} is claimed by nobody that lives`)
    }
    afterId = rows.at(-1)?.id ?? Infinity
  }
  for (const hash of hashes) differ(`content ${hash} of a message is not in the extracts`)
  const behind = store.rewrites.behind()
  if (behind > 0) differ(`${behind} messages lack text of their attachments in the index`)
  if (more > 0) differences.push(`and ${more} more`)
  return { agrees: differences.length === 0, differences, messages, contents }
}

function placeOf(at: { path: string; offset?: number | null | undefined }): string {
  return at.offset == null ? at.path : `${at.path}\0${at.offset}`
}
