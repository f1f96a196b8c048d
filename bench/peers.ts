/**
 * Other readers beside ours, in the same run: officeparser for Office documents and unpdf for PDF, from a folder
 * where they were installed (`npm install officeparser@7 unpdf`). They are no dependency of this project.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PEERS = ['officeparser', 'unpdf'] as const
export type PeerName = (typeof PEERS)[number]

/** What each is asked to read, by the name of our extractor. */
const READS: Readonly<Record<string, PeerName>> = {
  docx: 'officeparser',
  xlsx: 'officeparser',
  pptx: 'officeparser',
  opendocument: 'officeparser',
  pdf: 'unpdf',
}

export const peerOf = (format: string): PeerName | undefined => READS[format]

const PROCESS = fileURLToPath(new URL('./peer-process.mjs', import.meta.url))

/** Longer than this is no answer. */
const PATIENCE_MS = 30_000

/** As many processes of one peer as we use threads; apart from ours, so that its memory is not taken for ours. */
export class Peer {
  readonly folder: string
  readonly name: PeerName
  readonly version: string
  #processes: Array<ChildProcess | undefined>

  constructor(folder: string, name: PeerName, count: number) {
    this.folder = resolve(folder)
    this.name = name
    const about = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')
    this.version = (JSON.parse(about) as { version: string }).version
    this.#processes = Array.from({ length: count }, () => undefined)
  }

  /** Reads all files once. @param told milliseconds of each that gave text */
  async pass(files: readonly string[], told: (file: string, ms: number) => void): Promise<void> {
    const waiting = [...files]
    await Promise.all(
      this.#processes.map(async (_, at) => {
        for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
          const ms = await this.#read(at, file)
          if (ms !== undefined) told(file, ms)
        }
      }),
    )
  }

  async #read(at: number, file: string): Promise<number | undefined> {
    const reader = (this.#processes[at] ??= await this.#begin())
    reader.send(file)
    const answer = await answerOf(reader)
    if (answer) return answer.characters === undefined ? undefined : answer.ms
    reader.kill('SIGKILL')
    this.#processes[at] = undefined
    return undefined
  }

  async #begin(): Promise<ChildProcess> {
    const reader = fork(PROCESS, [this.folder, this.name], {
      // Without our loader of TypeScript; and what peers print about a document is not ours to show.
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    await answerOf(reader)
    return reader
  }

  close(): void {
    for (const reader of this.#processes) reader?.kill('SIGKILL')
  }
}

interface Answer {
  ms: number
  characters?: number
}

/** @returns undefined when the process is late or has died */
function answerOf(reader: ChildProcess): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const end = (answer?: Answer): void => {
      clearTimeout(clock)
      reader.off('message', end)
      reader.off('error', died)
      reader.off('exit', died)
      resolve(answer)
    }
    const died = (): void => end()
    const clock = setTimeout(end, PATIENCE_MS)
    reader.on('message', end)
    reader.on('error', died)
    reader.on('exit', died)
  })
}
