#!/usr/bin/env node
/**
 * The program: finds the command, checks its arguments, runs it, and turns what happened into a message
 * and an exit code.
 *
 * The first Ctrl-C asks the command to stop, which gives its claims back; the second ends at once.
 */
import { readFileSync } from 'node:fs'
import { PipelineError } from '../part/errors.js'
import { COMMANDS, type Command } from './commands.js'
import { EXIT, UsageError } from './exit.js'
import { nearest, parseArguments } from './flags.js'
import { commandHelp, overview } from './help.js'
import { note, plain, print, watchPipe } from './terminal.js'

const SIGNALS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: 129 } as const

async function main(words: readonly string[]): Promise<number> {
  const [name, ...rest] = words
  if (name === undefined) {
    note(overview())
    return EXIT.error
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    await print(rest[0] === undefined ? overview() : commandHelp(commandNamed(rest[0])))
    return EXIT.done
  }
  if (name === '--version' || name === '-V') {
    await print(version())
    return EXIT.done
  }
  const command = commandNamed(name)
  const given = parseArguments(command.name, rest)
  if (given.has('help')) {
    await print(commandHelp(command))
    return EXIT.done
  }
  const [least, most] = command.words
  const count = given.positional.length
  if (count < least || count > most)
    throw new UsageError(
      `${command.name} takes ${command.usage || 'no further words'}; paperknife ${command.name} --help explains it`,
    )

  const stop = new AbortController()
  let stoppedBy: number | undefined
  for (const [signal, code] of Object.entries(SIGNALS))
    process.on(signal, () => {
      if (stoppedBy !== undefined) process.exit(code)
      stoppedBy = code
      note('stopping: work in hand is given back; once more ends at once')
      stop.abort()
    })
  watchPipe(() => stop.abort())

  try {
    const code = await (await command.load()).run(given, { signal: stop.signal })
    return stoppedBy ?? code
  } catch (error) {
    // What a stopped command threw is the stopping itself.
    if (stop.signal.aborted) return stoppedBy ?? EXIT.done
    throw error
  }
}

/** @throws {UsageError} with the command that may have been meant */
function commandNamed(name: string): Command {
  const command = COMMANDS.find((row) => row.name === name)
  if (command) return command
  const near = nearest(
    name,
    COMMANDS.map((row) => row.name),
  )
  throw new UsageError(
    `there is no command ${name}${near ? `; did you mean ${near}?` : '; paperknife --help lists them'}`,
  )
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** What to do about a path that the system refused. */
const ADVICE: Record<string, string> = {
  EACCES: 'run as its owner, or change its permissions',
  EPERM: 'run as its owner, or change its permissions',
  ENOENT: 'check the path, or make its folder',
  ENOTDIR: 'choose a path whose folders are no files',
  EISDIR: 'name a file',
  EROFS: 'choose a place that can be written',
}

/** The message for an error that nobody below could answer. */
function explain(error: unknown): string {
  if (error instanceof UsageError || error instanceof PipelineError) return error.message
  if (error instanceof TypeError || error instanceof RangeError) {
    // Options checked at the door of the API: the message names the option and the rule.
    if (process.env.PAPERKNIFE_DEBUG) return error.stack ?? error.message
    return error.message
  }
  const { code, path, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return `no space left on the disk${path ? ` for ${path}` : ''}`
  if (process.env.PAPERKNIFE_DEBUG && error instanceof Error) return error.stack ?? message
  const advice = path !== undefined && code !== undefined ? ADVICE[code] : undefined
  if (advice !== undefined) return `${message}: ${advice}`
  return message ?? String(error)
}

/** Full disks and busy indexes pass: the caller may try again. */
function exitCodeOf(error: unknown): number {
  const code = (error as { code?: unknown }).code
  return code === 'E_DISK_FULL' || code === 'ENOSPC' || code === 'E_INDEX_BUSY'
    ? EXIT.retryLater
    : EXIT.error
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  note(`paperknife: ${plain(explain(error))}`)
  process.exitCode = exitCodeOf(error)
}
// Threads that are still at it, or a pipe nobody reads, must not hold the process.
await new Promise((resolve) => process.stdout.write('', resolve))
process.exit()
