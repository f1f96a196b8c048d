/**
 * Answers searches for others while this process holds the index alone (line.ts). What is asked for reads
 * over the writer's own connections, between two of its steps.
 */
import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Answers } from '../index/answers.js'
import { explanationOf } from '../index/files.js'
import type { Hit } from '../index/hits.js'
import { PipelineError } from '../part/errors.js'
import { lineReader, makeRuntimeFolder, socketPaths, type Ask, type Reply } from './line.js'

const MOST = {
  connections: 64,
  /** Characters of one question. */
  line: 1_000_000,
  /** Searches of one connection whose hits can still be asked about. */
  searches: 20,
} as const

export interface Answering {
  /** Path of the socket; undefined when none could be made: searches then wait for the end of the writing. */
  readonly path: string | undefined
  close(): void
}

/**
 * @param directory folder of the index, whose writer this process is: a socket that lies there is an old one
 * @param answers asked anew for each question
 */
export function answer(directory: string, answers: () => Answers): Answering {
  const server = createServer((socket) => serve(socket, directory, answers))
  server.maxConnections = MOST.connections
  // Nobody is kept alive by it.
  server.unref()
  const answering = { path: undefined as string | undefined, close: () => {} }
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  listen(server, directory, socketPaths(directory), (path) => (answering.path = path))
  answering.close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    if (answering.path !== undefined && process.platform !== 'win32')
      rmSync(answering.path, { force: true })
    answering.path = undefined
  }
  return answering
}

/** Listens at the first path that can be listened at. */
function listen(
  server: Server,
  directory: string,
  [path, ...others]: readonly string[],
  onListening: (path: string) => void,
): void {
  if (path === undefined) return
  const next = (): void => listen(server, directory, others, onListening)
  try {
    if (process.platform !== 'win32') {
      if (dirname(path) !== directory) makeRuntimeFolder(dirname(path))
      rmSync(path, { force: true })
    }
  } catch {
    return next()
  }
  server.once('error', next)
  // The name is made during this call: nobody else may reach it from its first moment on.
  const mask = process.platform === 'win32' ? 0 : process.umask(0o177)
  try {
    server.listen(path, () => {
      server.off('error', next)
      server.on('error', () => {})
      onListening(path)
    })
  } finally {
    if (process.platform !== 'win32') process.umask(mask)
  }
}

function serve(socket: Socket, directory: string, answers: () => Answers): void {
  const found = new Map<number, readonly Hit[]>()
  socket.setEncoding('utf8')
  socket.unref()
  socket.on('error', () => socket.destroy())
  const read = lineReader(MOST.line, (line) => {
    void replyTo(line, directory, answers, found).then((reply) => {
      if (!reply) socket.destroy()
      else if (!socket.destroyed) socket.write(`${JSON.stringify(reply)}\n`)
    })
  })
  socket.on('data', (chunk: string) => {
    if (!read(chunk)) socket.destroy()
  })
}

async function replyTo(
  line: string,
  directory: string,
  answers: () => Answers,
  found: Map<number, readonly Hit[]>,
): Promise<Reply | undefined> {
  let ask: Ask
  try {
    ask = JSON.parse(line) as Ask
  } catch {
    return undefined
  }
  try {
    return { id: ask.id, answer: await answerTo(ask, answers(), found) }
  } catch (thrown) {
    const error = explanationOf(directory, thrown)
    const { name, message } = error as Error
    const code = error instanceof PipelineError ? error.code : undefined
    return { id: ask.id, error: { name, message, ...(code && { code }) } }
  }
}

async function answerTo(
  ask: Ask,
  answers: Answers,
  found: Map<number, readonly Hit[]>,
): Promise<unknown> {
  switch (ask.ask) {
    case 'search': {
      const { now, ...options } = ask.options
      const result = await answers.search(ask.words, {
        ...options,
        ...(now !== undefined && { now: new Date(now) }),
      })
      found.set(ask.id, result.hits)
      for (const old of [...found.keys()].slice(0, -MOST.searches)) found.delete(old)
      return result
    }
    case 'excerpts': {
      const hits = ask.hits.map(([search, at]) => found.get(search)?.[at])
      return answers.excerpts(hits.filter((hit) => hit !== undefined))
    }
    case 'describe':
      return answers.describe(ask.what)
    case 'summary':
      return answers.summary()
    case 'folders':
      return answers.folders()
  }
}
