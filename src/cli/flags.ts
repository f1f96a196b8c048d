/**
 * The flags: one row each, with its kind, its default and its help. Parsing, `--help`, the README's
 * table and a test all read this list; a flag that is not here does not exist.
 *
 * Not responsible for: what a command does with a value.
 */
import { DEFAULT_LIMITS, type Limits } from '../part/limits.js'
import { MEMORY_BYTES_LEAST } from '../part/options.js'
import { CONTENT_STATES } from '../part/states.js'
import { UsageError } from './exit.js'

export const COMMAND_NAMES = [
  'index',
  'watch',
  'search',
  'status',
  'explain',
  're-extract',
  'extract',
  'formats',
  'verify',
  'doctor',
] as const
export type CommandName = (typeof COMMAND_NAMES)[number]

/**
 * What a flag takes: nothing (`switch`), any text, one of `choices`, a whole number from 1 (`count`), from
 * 0 (`number`), or bytes, where `25MB` and `64k` are understood.
 */
export type FlagKind = 'switch' | 'text' | 'choice' | 'count' | 'number' | 'bytes'

export interface Flag {
  readonly name: string
  readonly kind: FlagKind
  /** How help writes the value: `DIR`. */
  readonly value?: string
  readonly choices?: readonly string[]
  /** The least value of a number or of bytes, where it is not the kind's own. */
  readonly least?: number
  /** As a person reads it; absent when there is none. */
  readonly default?: string
  readonly help: string
  readonly commands: readonly CommandName[]
  /** The limit that this flag sets. */
  readonly limit?: keyof Limits
}

const ON_OFF = ['on', 'off']
const VAULT_COMMANDS = [
  'index',
  'watch',
  'search',
  'status',
  'explain',
  're-extract',
  'verify',
] as const
const READING = ['index', 'watch', 're-extract', 'extract'] as const

/** Help for each limit; leaving one out does not compile. */
const LIMIT_HELP: Record<keyof Limits, string> = {
  messageBytes: 'bytes read of one message',
  messageParts: 'parts read of one message',
  mimeDepth:
    'depth of nested multiparts in one message; what is deeper is read as if it stood there',
  partBytes: 'bytes of one attachment; a larger one is too-large',
  archiveBytes: 'bytes inflated out of one attachment',
  archiveEntries: 'entries opened in one attachment',
  nesting: 'documents inside documents',
  xmlDepth: 'open XML elements',
  cells: 'cells read of one workbook',
  ocrPages: 'pages recognised of one document',
  ocrPixels: 'pixels of one page given to OCR; larger ones are scaled down',
  imageBytesMin: 'bytes under which a picture is skipped-tiny',
  imageShortSideMin: 'pixels on the short side under which a picture is skipped-tiny',
  textChars: 'characters kept of one attachment',
  messageChars: "characters of attachments' text indexed for one message",
  parseTimeoutMs: 'milliseconds to parse one message',
  textTimeoutMs: 'milliseconds for one attachment without OCR',
  ocrPageTimeoutMs: 'milliseconds to recognise one page',
  documentTimeoutMs: 'milliseconds for one attachment with OCR',
  maxAttempts: 'transient failures before an attachment is given up',
}

/** `ocrPages` is `--ocr-pages`. */
export const kebab = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const LIMIT_FLAGS = (Object.keys(DEFAULT_LIMITS) as Array<keyof Limits>).map((limit): Flag => ({
  name: kebab(limit),
  kind: /bytes/i.test(limit) ? 'bytes' : 'count',
  value: /bytes/i.test(limit) ? 'BYTES' : 'N',
  default: String(DEFAULT_LIMITS[limit]),
  help: LIMIT_HELP[limit],
  commands: READING,
  limit,
}))

export const FLAGS: readonly Flag[] = [
  {
    name: 'index',
    kind: 'text',
    value: 'DIR',
    default: 'VAULT/.paperknife',
    help: 'where index.db and extracts.db lie',
    commands: VAULT_COMMANDS,
  },
  {
    name: 'network-disk',
    kind: 'choice',
    choices: ['auto', 'yes', 'no'],
    default: 'auto',
    help: 'whether the mail lies on a disk of another machine; auto asks the system',
    commands: VAULT_COMMANDS,
  },
  {
    name: 'workers',
    kind: 'count',
    value: 'N',
    default: 'one less than the processors',
    help: 'threads that read documents',
    commands: READING,
  },
  {
    name: 'memory-bytes-max',
    kind: 'bytes',
    value: 'BYTES',
    least: MEMORY_BYTES_LEAST,
    default: '1GB',
    help: 'memory of the process at which a thread that reads is ended; what it read is tried alone',
    commands: READING,
  },
  {
    name: 'attachments',
    kind: 'choice',
    choices: ON_OFF,
    default: 'on',
    help: 'read attachments; off indexes headers and bodies only',
    commands: ['index', 'watch'],
  },
  {
    name: 'ocr',
    kind: 'choice',
    choices: ON_OFF,
    default: 'on',
    help: 'recognise text in scans and pictures',
    commands: READING,
  },
  {
    name: 'ocr-engine',
    kind: 'choice',
    choices: ['auto', 'wasm', 'native'],
    default: 'auto',
    help: "auto takes the machine's tesseract when it is there, else the one in the package",
    commands: [...READING, 'doctor'],
  },
  {
    name: 'languages',
    kind: 'text',
    value: 'LANGS',
    default: 'eng',
    help: 'OCR languages joined by +, as tesseract names them: eng+deu+jpn',
    commands: [...READING, 'doctor'],
  },
  {
    name: 'language-path',
    kind: 'text',
    value: 'DIR',
    help: 'folder with further <lang>.traineddata files',
    commands: [...READING, 'doctor'],
  },
  {
    name: 'passwords',
    kind: 'text',
    value: 'FILE',
    help: 'one password a line, tried on locked documents',
    commands: READING,
  },
  {
    name: 'keep-texts',
    kind: 'choice',
    choices: ON_OFF,
    default: 'on',
    help: 'keep texts beside the index for snippets; off reads the mail again for them',
    commands: ['index', 'watch'],
  },
  {
    name: 'load-max',
    kind: 'count',
    value: 'N',
    help: 'begin nothing while the load average of one minute is higher',
    commands: ['index', 'watch', 're-extract'],
  },
  {
    name: 'pause-on-battery',
    kind: 'switch',
    help: 'begin nothing while the machine runs on its battery (Linux)',
    commands: ['index', 'watch', 're-extract'],
  },
  {
    name: 'wait',
    kind: 'switch',
    help: 'wait while another process writes the index, instead of ending with 75',
    commands: ['index', 'watch', 're-extract', 'verify'],
  },
  {
    name: 'full',
    kind: 'switch',
    help: 'look at every file, also in folders that seem unchanged',
    commands: ['index'],
  },
  {
    name: 'limit',
    kind: 'count',
    value: 'N',
    default: '20',
    help: 'hits shown',
    commands: ['search'],
  },
  {
    name: 'sort',
    kind: 'choice',
    choices: ['newest', 'relevance'],
    default: 'newest',
    help: 'order of the hits; relevance ranks the newest 1,000',
    commands: ['search'],
  },
  {
    name: 'before-id',
    kind: 'number',
    value: 'ID',
    help: 'the next page: hits that come after the one with this id, newest first',
    commands: ['search'],
  },
  {
    name: 'also',
    kind: 'text',
    value: 'VAULTS',
    help: 'further vaults, joined by commas, searched as one with the first',
    commands: ['search'],
  },
  {
    name: 'by',
    kind: 'choice',
    choices: ['message', 'thread'],
    default: 'message',
    help: 'thread shows one line a conversation',
    commands: ['search'],
  },
  {
    name: 'count-by',
    kind: 'choice',
    choices: ['from', 'year', 'folder', 'type'],
    help: 'count the hits in groups instead of showing them',
    commands: ['search'],
  },
  {
    name: 'mbox',
    kind: 'text',
    value: 'FILE',
    help: 'write all messages found, or --limit of them, into an mbox file outside of the vault',
    commands: ['search'],
  },
  {
    name: 'documents',
    kind: 'switch',
    help: 'one line a document, with the messages that carry it',
    commands: ['search'],
  },
  {
    name: 'excerpts',
    kind: 'switch',
    help: 'snippets with a --limit over 100 too',
    commands: ['search'],
  },
  {
    name: 'state',
    kind: 'choice',
    choices: CONTENT_STATES,
    value: 'S',
    help: 'only contents in this state',
    commands: ['re-extract'],
  },
  {
    name: 'reason',
    kind: 'text',
    value: 'R',
    help: 'only contents with this reason, as status prints it',
    commands: ['re-extract'],
  },
  {
    name: 'type',
    kind: 'text',
    value: 'T',
    help: 'only contents of this media type, extractor or file name ending',
    commands: ['re-extract'],
  },
  {
    name: 'name',
    kind: 'text',
    value: 'GLOB',
    help: 'only contents attached under such a file name',
    commands: ['re-extract'],
  },
  {
    name: 'since',
    kind: 'text',
    value: 'DATE',
    help: 'only contents of messages from this day on: 2024-05-01',
    commands: ['re-extract'],
  },
  {
    name: 'stale',
    kind: 'switch',
    help: 'only contents read by an older extractor or under other limits, languages or passwords',
    commands: ['re-extract'],
  },
  {
    name: 'message',
    kind: 'text',
    value: 'ID',
    help: 'only contents of this message: path or Message-ID',
    commands: ['re-extract'],
  },
  {
    name: 'hash',
    kind: 'text',
    value: 'SHA256',
    help: 'only this content',
    commands: ['re-extract'],
  },
  {
    name: 'dry-run',
    kind: 'switch',
    help: 'print what would be read and how long it would take',
    commands: ['re-extract'],
  },
  {
    name: 'files-from',
    kind: 'text',
    value: 'LIST',
    help: 'a file with one path a line; - reads them from standard input',
    commands: ['extract'],
  },
  {
    name: 'out',
    kind: 'text',
    value: 'DIR',
    help: 'write each text to DIR, the tree mirrored, as FILE.txt',
    commands: ['extract'],
  },
  {
    name: 'purge',
    kind: 'switch',
    help: 'merge, drop dead words and files set aside, and vacuum, so that deleted text is gone',
    commands: ['verify'],
  },
  {
    name: 'json',
    kind: 'switch',
    help: 'one JSON object a line on standard output',
    commands: [...VAULT_COMMANDS, 'extract', 'formats', 'doctor'],
  },
  ...LIMIT_FLAGS,
  {
    name: 'help',
    kind: 'switch',
    help: 'print this',
    commands: COMMAND_NAMES,
  },
]

const BY_NAME = new Map(FLAGS.map((flag) => [flag.name, flag]))

/** The arguments of one call, checked. Asking for a flag that the table lacks is our own mistake and throws. */
export class Arguments {
  readonly positional: readonly string[]
  readonly #values: ReadonlyMap<string, string | number | true>

  constructor(positional: readonly string[], values: ReadonlyMap<string, string | number | true>) {
    this.positional = positional
    this.#values = values
  }

  /** Whether a switch was given. */
  has(name: string): boolean {
    return this.#of(name) !== undefined
  }

  text(name: string): string | undefined {
    const value = this.#of(name)
    return value === undefined ? undefined : String(value)
  }

  number(name: string): number | undefined {
    const value = this.#of(name)
    return typeof value === 'number' ? value : undefined
  }

  /** `on` and `off` as a boolean; undefined when the flag was not given. */
  isOn(name: string): boolean | undefined {
    const value = this.#of(name)
    return value === undefined ? undefined : value === 'on'
  }

  /** The limits that were given. */
  limits(): Partial<Limits> {
    const given: Partial<Record<keyof Limits, number>> = {}
    for (const { name, limit } of FLAGS) {
      const value = this.#values.get(name)
      if (limit && typeof value === 'number') given[limit] = value
    }
    return given
  }

  #of(name: string): string | number | true | undefined {
    if (!BY_NAME.has(name)) throw new Error(`no flag --${name} in the table`)
    return this.#values.get(name)
  }
}

/** Flags of one command, in the order of the table. */
export const flagsOf = (command: CommandName): Flag[] =>
  FLAGS.filter(({ commands }) => commands.includes(command))

/**
 * Reads the words after the command.
 *
 * @param command decides which flags are known. In `search`, a word with one dash in front is part of
 *   the query (`-without`).
 * @throws {UsageError} naming the argument and what it may be
 */
export function parseArguments(command: CommandName, words: readonly string[]): Arguments {
  const known = flagsOf(command)
  const positional: string[] = []
  const values = new Map<string, string | number | true>()
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    if (word === '--') {
      positional.push(...words.slice(i + 1))
      break
    }
    if (word === '-h' && command !== 'search') {
      values.set('help', true)
      continue
    }
    if (word.startsWith('-') && !word.startsWith('--') && word !== '-' && command !== 'search')
      throw new UsageError(`${word} is no flag of ${command}: flags begin with two dashes`)
    if (!word.startsWith('--')) {
      positional.push(word)
      continue
    }
    const equals = word.indexOf('=')
    const name = word.slice(2, equals < 0 ? undefined : equals)
    const flag = known.find((f) => f.name === name)
    // --no-ocr says what --ocr off says.
    const denied = !flag && equals < 0 && name.startsWith('no-') && name.slice(3)
    if (denied && known.some((f) => f.name === denied && f.choices === ON_OFF)) {
      if (values.has(denied)) throw new UsageError(`--${denied} is given twice`)
      values.set(denied, 'off')
      continue
    }
    if (!flag) throw new UsageError(unknownFlag(command, name))
    if (values.has(name)) throw new UsageError(`--${name} is given twice`)
    if (flag.kind === 'switch') {
      if (equals >= 0) throw new UsageError(`--${name} takes no value`)
      values.set(name, true)
      continue
    }
    const given = equals >= 0 ? word.slice(equals + 1) : words[++i]
    if (given === undefined || given === '')
      throw new UsageError(`--${name} needs a value: --${name} ${valueOf(flag)}`)
    values.set(name, checked(flag, given))
  }
  return new Arguments(positional, values)
}

/** How help and messages write what a flag takes. */
export function valueOf(flag: Flag): string {
  return flag.value ?? flag.choices?.join('|') ?? ''
}

const UNITS: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

function checked(flag: Flag, given: string): string | number {
  const must = (rule: string): UsageError =>
    new UsageError(`--${flag.name} must be ${rule}, not "${given}"`)
  switch (flag.kind) {
    case 'switch':
    case 'text':
      return given
    case 'choice':
      if (!flag.choices?.includes(given)) throw must(`one of ${flag.choices?.join(', ')}`)
      return given
    case 'count':
    case 'number': {
      const least = flag.least ?? (flag.kind === 'count' ? 1 : 0)
      const value = /^\d{1,15}$/.test(given) ? Number(given) : -1
      if (value < least) throw must(`a whole number from ${least}`)
      return value
    }
    case 'bytes': {
      const [, digits, unit = ''] = /^(\d{1,12})\s*([kmg]?)b?$/i.exec(given) ?? []
      const value = Number(digits ?? 0) * (UNITS[unit.toLowerCase()] ?? 1)
      if (value < 1) throw must('bytes, as 25000000 or 25MB')
      if (flag.least !== undefined && value < flag.least) throw must(`at least ${flag.least} bytes`)
      return value
    }
  }
}

function unknownFlag(command: CommandName, name: string): string {
  const elsewhere = BY_NAME.get(name)
  if (elsewhere) return `--${name} belongs to ${elsewhere.commands.join(', ')}, not to ${command}`
  const near = nearest(
    name,
    flagsOf(command).map((flag) => flag.name),
  )
  const query = command === 'search' ? ' (a query that begins with two dashes stands after --)' : ''
  return `--${name} is no flag of ${command}${near ? `; did you mean --${near}?` : query}`
}

/** The name that a slip of the finger meant: one or two letters off, or begun alike. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const begun = names.filter((other) => name.length > 2 && other.startsWith(name))
  if (begun.length === 1) return begun[0]
  return names
    .map((other) => ({ other, edits: distance(name, other) }))
    .filter(({ edits }) => edits <= Math.min(2, Math.floor(name.length / 2)))
    .sort((a, b) => a.edits - b.edits)[0]?.other
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (next[j - 1] as number) + 1,
        (row[j] as number) + 1,
        (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1),
      )
    row = next
  }
  return row[b.length] as number
}
