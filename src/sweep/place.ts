/**
 * Where the index of a vault lies, and how it can be shared there.
 *
 * Beside the mail, so that both move together. On a network disk SQLite cannot share memory between
 * processes: the index of a vault there is kept on this machine, unless one lies beside the mail already or a
 * folder was named; and where index.db itself lies on such a disk, its writer holds it alone.
 */
import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { PipelineError } from '../part/errors.js'
import type { Settings } from '../part/options.js'
import { networkDiskOf } from '../vault/network.js'

/** A vault as it was opened. */
export interface Place {
  /** Absolute path of the vault. */
  root: string
  /** Folder of index.db and extracts.db. */
  directory: string
  /** What kind of network disk the vault lies on: `nfs`, `cifs`, `fuse.sshfs` …; absent for a disk of this machine. */
  networkDisk?: string
  /** The index lies on this machine only because the vault lies on a network disk. */
  isElsewhere: boolean
  /** The writer locks the index for itself, and answers the searches of others. */
  isExclusive: boolean
}

const OWN_FOLDER = '.paperknife'

export function placeOf(
  vault: string,
  settings: Pick<Settings, 'vaults' | 'index' | 'networkDisk'>,
): Place {
  const root = resolve(vault)
  const diskOf = (path: string): string | undefined =>
    settings.networkDisk === 'no' ? undefined : networkDiskOf(path)
  const isAssumed = settings.networkDisk === 'yes'
  const networkDisk = diskOf(root) ?? (isAssumed ? 'as told' : undefined)
  const beside = besideOf(root)
  const named = settings.index === undefined ? undefined : namedOf(root, settings.index, settings)
  const isElsewhere =
    named === undefined && networkDisk !== undefined && !existsSync(join(beside, 'index.db'))
  const directory = named ?? (isElsewhere ? elsewhereOf(root) : beside)
  return {
    root,
    directory,
    ...(networkDisk !== undefined && { networkDisk }),
    isElsewhere,
    isExclusive: diskOf(directory) !== undefined || (isAssumed && !isElsewhere),
  }
}

export const vaultMissing = (root: string): PipelineError =>
  new PipelineError(
    'E_VAULT_UNREADABLE',
    `there is no vault at ${root}: check the path, or mount it`,
  )

/** For a vault of one file, under its name. */
function besideOf(root: string): string {
  const isFile = statSync(root, { throwIfNoEntry: false })?.isFile() ?? false
  return isFile ? join(dirname(root), OWN_FOLDER, basename(root)) : join(root, OWN_FOLDER)
}

function namedOf(root: string, index: string, { vaults }: Pick<Settings, 'vaults'>): string {
  return vaults.length > 1 ? join(resolve(index), ownName(root)) : resolve(index)
}

/** Where programs keep what they make for a user (XDG Base Directory; its likes elsewhere). */
function elsewhereOf(root: string): string {
  const { XDG_DATA_HOME, LOCALAPPDATA } = process.env
  const home =
    process.platform === 'win32'
      ? (LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'))
      : process.platform === 'darwin'
        ? join(homedir(), 'Library', 'Application Support')
        : XDG_DATA_HOME || join(homedir(), '.local', 'share')
  return join(home, 'paperknife', ownName(root))
}

function ownName(root: string): string {
  return `${basename(root)}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`
}
