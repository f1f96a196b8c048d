/**
 * Whether a path lies on a disk of another machine, where no memory can be shared between processes, locks are
 * slow or missing, and the system tells of no changes.
 */
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** File-system types as Linux tells them (statfs(2)). */
const TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xfe534d42, 'smb'],
  [0xff534d42, 'cifs'],
  [0x564c, 'ncp'],
  [0x5346414f, 'afs'],
  [0x73757245, 'coda'],
  [0x00c36400, 'ceph'],
  [0x0bd00bd0, 'lustre'],
  // Windows drives in WSL, folders shared with a virtual machine.
  [0x01021997, '9p'],
  [0x786f4256, 'vboxsf'],
])
const FUSE = 0x65735546
/** What FUSE shows of disks of this machine. */
const LOCAL_FUSE =
  /^(?:fuseblk|fuse\.(?:ntfs-3g|exfat|mergerfs|bindfs|gocryptfs|encfs|ext4|lxcfs|portal|snapfuse|squashfuse))$/

/**
 * @param path that need not exist yet
 * @returns `nfs`, `cifs`, `fuse.sshfs` …; undefined for a disk of this machine, and where the system does not tell (macOS)
 */
export function networkDiskOf(path: string): string | undefined {
  let place = resolve(path)
  if (process.platform === 'win32') return /^[\\/]{2}[^\\/?.]/.test(place) ? 'smb' : undefined
  if (process.platform !== 'linux') return undefined
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place)
  try {
    // The kernel's number has 32 bits, and some Node versions give it a sign.
    const type = statfsSync(place).type >>> 0
    if (type !== FUSE) return TYPES.get(type)
    const mount = mountOf(place, readFileSync('/proc/self/mountinfo', 'utf8'))
    return mount !== undefined && LOCAL_FUSE.test(mount) ? undefined : (mount ?? 'fuse')
  } catch {
    return undefined
  }
}

/**
 * The file-system type that a path is mounted with.
 *
 * @param mounts text of /proc/self/mountinfo (proc_pid_mountinfo(5))
 */
export function mountOf(path: string, mounts: string): string | undefined {
  let best = -1
  let type: string | undefined
  for (const line of mounts.split('\n')) {
    const [facts = '', rest = ''] = line.split(' - ')
    const point = facts
      .split(' ')[4]
      ?.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)))
    if (point === undefined) continue
    const isAbove = path === point || path.startsWith(point === '/' ? '/' : `${point}/`)
    // Of two mounts at one place the later one is seen.
    if (!isAbove || point.length < best) continue
    best = point.length
    type = rest.split(' ')[0]
  }
  return type
}
