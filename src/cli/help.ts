/** Help texts, made from the tables of commands and flags. */
import { EXIT } from './exit.js'
import { COMMANDS, type Command } from './commands.js'
import { flagsOf, valueOf, type Flag } from './flags.js'

/** `paperknife --help`. */
export function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name, usage }) => `${name} ${usage}`.length))
  return [
    'paperknife: full-text search over a mail archive and everything attached to it',
    '',
    'Usage: paperknife COMMAND …',
    '',
    ...COMMANDS.map(
      ({ name, usage, summary }) => `  ${`${name} ${usage}`.padEnd(width)}   ${summary}`,
    ),
    '',
    '  paperknife COMMAND --help   the flags of one command',
    '  paperknife --version        the version',
    '',
    `Exit: ${EXIT.done} done, ${EXIT.nothingFound} nothing found (search), ${EXIT.error} error or bad usage, ${EXIT.retryLater} work left to retry, ${EXIT.interrupted} interrupted.`,
  ].join('\n')
}

/** `paperknife COMMAND --help`. */
export function commandHelp({ name, usage, summary }: Command): string {
  const flags = flagsOf(name)
  const left = (flag: Flag): string => `--${flag.name} ${valueOf(flag)}`.trim()
  const width = Math.max(...flags.map((flag) => left(flag).length))
  const row = (flag: Flag): string =>
    `  ${left(flag).padEnd(width)}   ${flag.help}${flag.default ? ` (${flag.default})` : ''}`
  const limits = flags.filter((flag) => flag.limit)
  return [
    `Usage: paperknife ${name} ${usage}`.trimEnd(),
    '',
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    '',
    ...flags.filter((flag) => !flag.limit).map(row),
    ...(limits.length > 0 ? ['', 'Limits:', ...limits.map(row)] : []),
  ].join('\n')
}
