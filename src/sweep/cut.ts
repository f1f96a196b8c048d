/**
 * Reads again the messages that `messageBytes` cut, once it is larger. Which of them it cut is not recorded with
 * each: those of which something was lost, and that are larger than it was, are read.
 */
import type { Store } from '../index/store.js'
import { DEFAULT_LIMITS, type Limits } from '../part/limits.js'
import { entryOf, type Found } from './reconcile.js'

/** No message of fewer bytes was cut. */
const READ_WHOLE = 'message-bytes'

const readWhole = (store: Store): number =>
  Number(store.get(READ_WHOLE) ?? DEFAULT_LIMITS.messageBytes)

/** Before any message is read under a limit. */
export function noteMessageBytes(store: Store, { messageBytes }: Limits): void {
  if (messageBytes < readWhole(store)) store.set(READ_WHOLE, String(messageBytes))
}

/**
 * To be called when the rows agree with the vault.
 *
 * @param read reads one message into the index; resolves when another may follow
 * @param settle resolves when all of them are in the index. @returns whether each of them could be read
 */
export async function readCutAgain(
  store: Store,
  { messageBytes }: Limits,
  read: (found: Found) => Promise<void>,
  settle: () => Promise<boolean>,
): Promise<void> {
  const least = readWhole(store)
  if (messageBytes <= least) return
  for (const id of store.messages.lossy(least)) {
    const row = store.messages.byId(id)
    if (row) await read({ entry: entryOf(row), folder: row.folder, replaces: id })
  }
  if (await settle()) store.set(READ_WHOLE, String(messageBytes))
}
