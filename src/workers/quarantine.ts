/**
 * One task in a process of its own, for what was in work when an earlier process died. Should it do so
 * again, that process dies and we see it: whoever is killed from outside meanwhile is not mistaken for a
 * document that kills.
 *
 * The other end is quarantined.ts.
 */
import { forked } from './forked.js'
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
    const child = forked('workers/quarantined.js', (error) => {
      signal?.removeEventListener('abort', stop)
      resolve({
        kind: 'died',
        item: 'preparing',
        detail: `no process could be started to read it alone (${error.message})`,
      })
    })
    if (!child) return
    onStart(child.pid)
    let answered = 0
    let fault: Fault | undefined
    let isEnded = false
    function stop(): void {
      fault = { kind: 'interrupted', item: 'preparing', detail: 'stopped' }
      // It ends what it has started, and then itself.
      if (child?.connected) child.disconnect()
      setTimeout(() => child?.kill('SIGKILL'), END_MS).unref()
    }
    signal?.addEventListener('abort', stop, { once: true })
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
