/**
 * The tables of the README, made from the lists in the code: formats, commands, flags, limits, states,
 * figures. `npm run readme` writes them between their marks; a test fails when they differ.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { COMMANDS } from '../src/cli/commands.js'
import { FLAGS, valueOf, type Flag } from '../src/cli/flags.js'
import { EXTRACTORS } from '../src/extract/table.js'
import type { ContentState } from '../src/part/states.js'

const README = fileURLToPath(new URL('../README.md', import.meta.url))
const RESULTS = fileURLToPath(new URL('../bench/results/', import.meta.url))

/** What a state means, and when it is tried again. */
const STATES: Record<ContentState, [means: string, again: string]> = {
  pending: ['not tried yet, or stale', 'next sweep'],
  extracting: [
    'being read; left by a process that died, it counts as an attempt',
    'next sweep, alone',
  ],
  ok: ['text recorded; empty with a reason, or cut by a limit that is named', 'when stale'],
  unsupported: ['nothing here reads this type', 'when something does'],
  'too-large': [
    'over `--part-bytes`, or nothing could be read within `--archive-bytes`',
    'when limits change',
  ],
  'skipped-tiny': ['a picture too small to hold text', 'when limits change'],
  locked: ['a password is needed', 'when the passwords change'],
  damaged: ['cannot be read', "when the extractor's version changes"],
  'failed-transient': [
    'a read error, a timeout, a lost worker, no memory',
    'when due, later each time',
  ],
  'gave-up': ['failed `--max-attempts` times', 'only by re-extract'],
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const code = (text: string): string => `\`${text}\``
const flagCode = (flag: Flag): string => code(`--${flag.name} ${valueOf(flag)}`.trim())

/** One bench's figures for the README: `[what, figure]`. */
interface Figures {
  machine: string
  load?: number
  date: string
  readme?: Array<[string, string]>
}

function figures(): string {
  if (!existsSync(RESULTS)) return 'None yet.'
  const reports = readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(RESULTS, name), 'utf8')) as Figures)
  const rows = reports.flatMap(({ readme = [], machine, load = 0, date }) =>
    readme.map(([what, figure]) => [
      what,
      figure,
      // A figure taken among other work is a lower bound, and says so.
      `${date.slice(0, 10)}, ${machine}${load > Number.parseInt(machine) ? `, busy (load ${Math.round(load)})` : ''}`,
    ]),
  )
  return rows.length === 0 ? 'None yet.' : table(['What', 'Measured', 'When and where'], rows)
}

/** Table by the name in its mark. */
export const TABLES: Record<string, () => string> = {
  formats: () =>
    table(
      ['Format', 'Extractor', 'Version', 'File names'],
      EXTRACTORS.map(({ name, version, title, extensions }) => [
        title,
        code(name),
        String(version),
        extensions.map((extension) => `.${extension}`).join(' '),
      ]),
    ),
  commands: () =>
    table(
      ['Command', 'What it does'],
      COMMANDS.map(({ name, usage, summary }) => [
        code(`paperknife ${name} ${usage}`.trim()),
        summary,
      ]),
    ),
  flags: () =>
    table(
      ['Flag', 'Commands', 'What it does', 'Default'],
      FLAGS.filter((flag) => !flag.limit).map((flag) => [
        flagCode(flag),
        flag.name === 'help' ? 'all' : flag.commands.join(', '),
        flag.help,
        flag.default ?? '',
      ]),
    ),
  limits: () =>
    table(
      ['Flag', 'Limit', 'Default'],
      FLAGS.filter((flag) => flag.limit).map((flag) => [
        flagCode(flag),
        flag.help,
        Number(flag.default).toLocaleString('en-US'),
      ]),
    ),
  states: () =>
    table(
      ['State', 'Means', 'Tried again'],
      Object.entries(STATES).map(([state, [means, again]]) => [code(state), means, again]),
    ),
  figures,
}

/** The README with every table made anew. @throws when a mark is missing or a table is unknown */
export function withTables(readme: string): string {
  const lost = Object.keys(TABLES).filter((name) => !readme.includes(`<!-- table ${name} -->`))
  if (lost.length > 0) throw new Error(`README.md has no mark for ${lost.join(', ')}`)
  return readme.replace(
    /<!-- table (\w+) -->\n[\s\S]*?<!-- end -->/g,
    (_, name: string) => `<!-- table ${name} -->\n${TABLES[name]?.()}\n<!-- end -->`,
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(README, withTables(readFileSync(README, 'utf8')))
