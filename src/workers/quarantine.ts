/**
 * One task in a process of its own, for what was in work when an earlier process died. Should it do so
 * again, that process dies and we see it: whoever is killed from outside meanwhile is not mistaken for a
 * document that kills.
 *
 * The other end is quarantined.ts.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Answers, Task } from './messages.js'
import type { Fault, PoolOptions, Threw } from './pool.js'

/** Time for the process to end by itself once it was told to. */
const END_MS = 1_000

export interface ToQuarantine {
  options: PoolOptions
  task: Task
}

export type FromQuarantine =
  | { kind: 'answer'; item: number; answer: Answers[Task['kind']] | Threw }
  | { kind: 'end'; fault: Fault | undefined }

/**
 * @param onStart told the id of the process
 * @returns as WorkerPool.run; `died` when the process ended by itself
 */
export function runQuarantined(
  options: PoolOptions,
  task: Task,
  onAnswer: (item: number, answer: Answers[Task['kind']] | Threw) => void,
  signal: AbortSignal | undefined,
  onStart: (pid: number | undefined) => void,
): Promise<Fault | undefined> {
  return new Promise((resolve, reject) => {
    const notBegun = (error: unknown): void =>
      resolve({
        kind: 'died',
        item: 'preparing',
        detail: `no process could be started to read it alone (${(error as Error).message})`,
      })
    let child: ChildProcess
    try {
      child = fork(childFile(), {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        execArgv: [],
      })
    } catch (error) {
      // No memory for another process.
      notBegun(error)
      return
    }
    onStart(child.pid)
    let answered = 0
    let fault: Fault | undefined
    let isEnded = false
    const stop = (): void => {
      fault = { kind: 'interrupted', item: 'preparing', detail: 'stopped' }
      // It ends what it has started, and then itself.
      if (child.connected) child.disconnect()
      setTimeout(() => child.kill('SIGKILL'), END_MS).unref()
    }
    signal?.addEventListener('abort', stop, { once: true })
    // One that never began (too many processes or open files) never exits either.
    child.on('error', (error) => {
      if (child.pid === undefined) {
        signal?.removeEventListener('abort', stop)
        notBegun(error)
      }
    })
    child.on('message', (message: FromQuarantine) => {
      if (message.kind === 'answer') {
        answered = message.item + 1
        try {
          onAnswer(message.item, message.answer)
        } catch (error) {
          child.kill('SIGKILL')
          reject(error as Error)
        }
        return
      }
      isEnded = true
      fault = message.fault
      child.disconnect()
    })
    child.once('exit', (code, killedBy) => {
      signal?.removeEventListener('abort', stop)
      if (!isEnded)
        fault ??= {
          kind: 'died',
          item: answered,
          detail: `the process that read it alone ended (${killedBy ?? `exit code ${code}`})`,
        }
      resolve(fault)
    })
    const message: ToQuarantine = { options, task }
    child.send(message, () => {})
  })
}

function childFile(): string {
  const beside = fileURLToPath(new URL('./quarantined.js', import.meta.url))
  return existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../dist/workers/quarantined.js', import.meta.url))
}
