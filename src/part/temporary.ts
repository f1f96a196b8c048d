/**
 * Private folders for temporary files. Their names tell which process made them, so that what one that was killed left behind is
 * removed by the next that needs such a folder.
 */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

const OURS = /^paperknife-of-(\d+)-\w{6}$/
/** A younger one may belong to a process that this one cannot see, in another container. */
const STALE_MS = 600_000

let isCleared = false

/** @returns the path of an empty folder that its owner alone can read; whoever asked removes it */
export function temporaryFolder(): string {
  if (!isCleared) {
    isCleared = true
    clearStale(tmpdir())
  }
  return mkdtempSync(join(tmpdir(), `paperknife-of-${process.pid}-`))
}

/** Removes folders of ours whose process is gone. @param at the folder for temporary files */
export function clearStale(at: string, now = Date.now()): void {
  for (const name of attempt(() => readdirSync(at)) ?? []) {
    const pid = OURS.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    attempt(() => {
      const folder = join(at, name)
      const { mtimeMs, uid } = lstatSync(folder)
      const isOwn = process.platform === 'win32' || uid === userInfo().uid
      if (isOwn && now - mtimeMs > STALE_MS) rmSync(folder, { recursive: true, force: true })
    })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
