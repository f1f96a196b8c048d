/**
 * Follows a vault: a sweep first, then one whenever the file system tells of a change, and from time to
 * time without being told, which is all there is on a network file system.
 *
 * A mail that arrives while a sweep is at work is delivered past it, so that an old backlog never keeps
 * a new mail waiting. Not responsible for: what a sweep or a delivery does.
 */
import { statSync, watch, type FSWatcher } from 'node:fs'
import { basename, join } from 'node:path'
import type { Progress, SweepOptions, SweepReport } from './sweep.js'
import type { Call, Delivery } from './sweeping.js'

const WATCH = {
  /** Changes that come together are one sweep. */
  joinMs: 100,
  /** Without any change: a comparison of unchanged folders costs their times alone. */
  pollMs: 2_000,
  /** At most this share of the time is spent on looking for changes. */
  costShare: 0.05,
  /** Deliveries at one time; what comes in larger bursts is cheaper for a sweep. */
  deliveries: 50,
  /** Directories watched; the system allows some thousands to a user, and polling finds the rest. */
  directories: 4_000,
} as const

export interface WatchOptions extends SweepOptions {
  signal: AbortSignal
  /** What each pass did. */
  onReport?: (report: SweepReport) => void
  /** The vault cannot be read: told once, and what the system says; it is waited for. */
  onAway?: (error: Error) => void
  /** It can be read again. */
  onBack?: () => void
  sweep(
    call: Extract<Call, { name: 'sweep' }>,
    onProgress: (progress: Progress) => void,
  ): Promise<SweepReport>
  /** One message that arrived, past the sweep at work or before the next one. */
  deliver(path: string): Promise<Delivery>
  /** Vault-relative paths of the folders that hold mail, as the index knows them after a sweep. */
  folders: () => Promise<readonly string[]>
  /** On a network disk: the system tells of no changes there, and is not asked to. */
  polls: boolean
}

/** Resolves when `signal` fires. @throws what a sweep throws, except while the vault cannot be read: then it waits */
export async function watchVault(
  root: string,
  { signal, folders, polls, sweep, deliver, ...options }: WatchOptions,
): Promise<void> {
  const watchers = new Map<string, { watcher: FSWatcher; inode: number }>()
  const deliveries = new Set<Promise<unknown>>()
  /** Told with the next pass, which finds these messages in the index. */
  let delivered = { added: 0, changed: 0 }
  let isSweeping = false
  let isChanged = false
  let isAway = false
  let wake = (): void => {}

  function onEvent(directory: string, name: string | null): void {
    // Our own files, when the index lies in the vault.
    if (directory === '' && name?.startsWith('.paperknife')) return
    isChanged = true
    wake()
    // Past the sweep at work, and past the comparison of a large folder that the next one begins with. What comes
    // into cur/ of a vault at rest has mostly been in new/ before.
    const isNew = /(^|\/)new$/.test(directory) || name?.toLowerCase().endsWith('.eml')
    const isArrival = isNew || (isSweeping && /(^|\/)cur$/.test(directory))
    if (!isArrival || name === null || deliveries.size >= WATCH.deliveries) return
    const path = directory === '' ? name : `${directory}/${name}`
    if (!isFile(join(root, path))) return
    const delivery: Promise<unknown> = deliver(path)
      .then(({ counts }) => {
        delivered.added += counts.added
        delivered.changed += counts.changed
      })
      // Gone again, or not a mail after all: the next sweep sees what is there.
      .catch(() => {})
      .finally(() => deliveries.delete(delivery))
    deliveries.add(delivery)
  }

  async function follow(): Promise<void> {
    if (polls) return
    // Without an index yet there are none.
    const known = await folders().catch(() => [])
    if (signal.aborted) return
    for (const [directory, { watcher, inode }] of watchers)
      if (inodeOf(join(root, directory)) !== inode) {
        // Deleted, or another was made in its place: nothing is told of that one any more.
        watcher.close()
        watchers.delete(directory)
      }
    for (const folder of known)
      for (const sub of ['', 'cur', 'new']) {
        const directory = [folder, sub].filter((part) => part !== '').join('/')
        if (watchers.has(directory) || watchers.size >= WATCH.directories) continue
        const inode = inodeOf(join(root, directory))
        if (inode === undefined) continue
        try {
          const watcher = watch(join(root, directory), { persistent: false }, (event, name) => {
            // Its own name: it was deleted itself, and the next of this name may get its inode.
            if (event === 'rename' && name === basename(directory)) drop()
            onEvent(directory, name)
          })
          const drop = (): void => {
            watcher.close()
            if (watchers.get(directory)?.watcher === watcher) watchers.delete(directory)
          }
          watcher.on('error', drop)
          watchers.set(directory, { watcher, inode })
        } catch {
          return
        }
      }
  }

  /** What a pass that finds nothing takes, as far as is known. */
  let costMs = 0
  try {
    while (!signal.aborted) {
      isChanged = false
      isSweeping = true
      const began = performance.now()
      let phase: Progress['phase'] | undefined
      try {
        const report = await sweep({ name: 'sweep', full: options.full ?? false }, (progress) => {
          // Folders are known now, and what follows may take hours.
          if (progress.phase !== phase) void follow()
          phase = progress.phase
          options.onProgress?.(progress)
        })
        if (isAway) options.onBack?.()
        isAway = false
        const { messages } = report
        options.onReport?.({
          ...report,
          messages: {
            ...messages,
            added: messages.added + delivered.added,
            changed: messages.changed + delivered.changed,
          },
        })
        delivered = { added: 0, changed: 0 }
        if (Object.keys(report.contents).length === 0 && report.messages.added === 0)
          costMs = performance.now() - began
      } catch (error) {
        // A disk that is away comes back; everything else is for the caller.
        if ((error as { code?: unknown }).code !== 'E_VAULT_UNREADABLE') throw error
        if (!isAway) options.onAway?.(error as Error)
        isAway = true
      } finally {
        isSweeping = false
      }
      await follow()
      if (signal.aborted) break
      const waitMs = isChanged ? WATCH.joinMs : Math.max(WATCH.pollMs, costMs / WATCH.costShare)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs)
        wake = () => {
          clearTimeout(timer)
          setTimeout(resolve, WATCH.joinMs)
        }
        signal.addEventListener('abort', wake, { once: true })
      })
      signal.removeEventListener('abort', wake)
      wake = () => {}
    }
    await Promise.all(deliveries)
  } finally {
    for (const { watcher } of watchers.values()) watcher.close()
  }
}

function inodeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino
  } catch {
    return undefined
  }
}

/** What cannot be looked at (permissions, names too long) is for the next sweep to say. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}
