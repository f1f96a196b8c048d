/** Modules of ours that run in a thread or a process of their own, and how such a process is started. */
import { fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @returns path of the built module, also when this one runs from its source. @param name `workers/task.js` */
export function builtFile(name: string): string {
  const beside = fileURLToPath(new URL(`../${name}`, import.meta.url))
  return existsSync(beside) ? beside : fileURLToPath(new URL(`../../dist/${name}`, import.meta.url))
}

/**
 * Starts a module in a process of its own, with a channel for any plain data.
 *
 * @param name as for builtFile
 * @param onNotBegun told why there is no process (memory, too many processes or open files), at once or soon;
 *   nothing else is told of it then, no exit either
 * @returns undefined when it was told at once
 */
export function forked(name: string, onNotBegun: (error: Error) => void): ChildProcess | undefined {
  let child: ChildProcess
  try {
    child = fork(builtFile(name), {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
    })
  } catch (error) {
    // No memory for another process.
    onNotBegun(error as Error)
    return undefined
  }
  child.on('error', (error) => {
    if (child.pid === undefined) onNotBegun(error)
  })
  return child
}
