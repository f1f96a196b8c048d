/**
 * `paperknife extract`: the text of documents on disk, without an index.
 *
 * One file alone prints its text. Several files, a folder, a list, `--out` or `--json` print one JSON line
 * a file, in the order they are done, and `--out` writes each text into a mirrored tree.
 */
import { createReadStream, statSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { extractDocuments, type DocumentReading, type TextPage } from '../api.js'
import { EXIT, UsageError } from './exit.js'
import type { Arguments } from './flags.js'
import type { Run } from './commands.js'
import { checkOcr, isFolder, readingOptions } from './options.js'
import {
  Progress,
  counted,
  durationText,
  note,
  plain,
  print,
  printJson,
  shownText,
} from './terminal.js'

/** A file to read: where it lies, and where its text goes below `--out`. */
interface Found {
  file: string
  mirrored: string
}

/** What was named and could not be looked at. */
interface Unseen {
  file: string
  /** `unreadable` is tried again by a later run; what is `missing` was a slip. */
  reason: 'missing' | 'unreadable'
  detail: string
}

export const run: Run = async (given, { signal }) => {
  const began = performance.now()
  const out = given.text('out')
  const list = given.text('files-from')
  if (given.positional.length === 0 && list === undefined)
    throw new UsageError('extract needs a FILE or DIR, or --files-from LIST')
  await checkOcr(given)
  const unseen: Unseen[] = []
  const mirror = new Map<string, string>()
  const one = given.positional.length === 1 && list === undefined ? given.positional[0] : undefined
  const printsText = !given.has('json') && out === undefined && one !== undefined && !isFolder(one)

  async function* files(): AsyncGenerator<string> {
    for await (const { file, mirrored } of found(given, unseen, signal)) {
      if (signal.aborted) return
      if (out !== undefined) {
        if (isInside(out, file)) continue
        mirror.set(file, mirrored)
      }
      yield file
    }
  }

  const progress = new Progress()
  const states: Record<string, number> = {}
  let done = 0
  for await (const reading of extractDocuments(files(), { ...readingOptions(given), signal })) {
    const outcome = reading.result?.outcome
    if (outcome?.kind === 'text') {
      if (printsText) await print(shownText(documentText(outcome.pages)))
      const mirrored = mirror.get(reading.file)
      if (out !== undefined && mirrored !== undefined)
        await writeText(join(out, `${mirrored}.txt`), documentText(outcome.pages))
    }
    mirror.delete(reading.file)
    const line = lineOf(reading)
    if (!printsText) await printJson(line)
    else if (line.state !== 'ok' || line.reason || line.cutBy)
      note(
        plain(
          [reading.file, line.state, line.reason, line.cutBy && `cut by ${line.cutBy}`, line.detail]
            .filter(Boolean)
            .join(': '),
        ),
      )
    states[reading.state] = (states[reading.state] ?? 0) + 1
    progress.show('documents read:', ++done, 0)
  }
  progress.end()

  for (const { file, reason, detail } of unseen) {
    if (!printsText) await printJson({ file, state: 'failed-transient', reason, detail, ms: 0 })
    note(`${plain(file)}: ${plain(detail)}`)
  }
  if (!printsText)
    note(
      `${counted(done, 'document')} in ${durationText(performance.now() - began)}: ${
        Object.entries(states)
          .map(([state, count]) => `${count} ${state}`)
          .join(', ') || 'nothing read'
      }`,
    )
  if (unseen.some(({ reason }) => reason === 'missing')) return EXIT.error
  return unseen.length > 0 || states['failed-transient'] ? EXIT.retryLater : EXIT.done
}

/** The line of `extract --json`, a stable contract. */
function lineOf({ file, state, reason, detail, result }: DocumentReading): Record<
  string,
  unknown
> & {
  state: string
  reason?: string
  cutBy?: string
  detail?: string
} {
  const outcome = result?.outcome
  const text = outcome?.kind === 'text' ? outcome : undefined
  const because = reason ?? text?.empty
  const more = detail ?? text?.partial
  return {
    file,
    state,
    ...(because !== undefined && { reason: because }),
    ...(more !== undefined && { detail: more }),
    ...(result && { type: result.type }),
    ...(result?.extractor !== undefined && {
      extractor: result.extractor,
      version: result.version,
    }),
    ...(text && {
      ...(text.engine !== undefined && { engine: text.engine }),
      pages: text.pageCount ?? text.pages.length,
      ocrPages: text.ocrPages ?? 0,
      chars: text.pages.reduce((chars, page) => chars + page.text.length, 0),
      ...(text.cutBy !== undefined && { cutBy: text.cutBy }),
    }),
    ms: Math.round(result?.ms ?? 0),
  }
}

/** Pages joined by form feeds, without what stands about the document; each member of a nest begins with its name between brackets. */
function documentText(pages: readonly TextPage[]): string {
  let member: string | undefined
  return pages
    .filter((page) => !page.aside)
    .map((page) => {
      const heading =
        page.member !== undefined && page.member !== member ? `[${page.member}]\n` : ''
      member = page.member
      return heading + page.text
    })
    .join('\f')
}

async function writeText(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** Files named, listed and found in folders, in that order. What is no file, and folders that cannot be listed, go into `unseen`. */
async function* found(
  given: Arguments,
  unseen: Unseen[],
  signal: AbortSignal,
): AsyncGenerator<Found> {
  const folders = given.positional.filter(isFolder).length
  for (const word of given.positional) {
    if (!isFolder(word)) {
      if (await isFile(word)) yield { file: word, mirrored: mirrored(word) }
      else unseen.push(missing(word))
      continue
    }
    for await (const file of walk(word, unseen)) {
      const below = relative(word, file)
      yield { file, mirrored: folders > 1 ? join(basename(resolve(word)), below) : below }
    }
  }
  const list = given.text('files-from')
  if (list === undefined) return
  for await (const file of lines(list, signal)) {
    if (file === '') continue
    if (await isFile(file)) yield { file, mirrored: mirrored(file) }
    else unseen.push(missing(file))
  }
}

const missing = (file: string): Unseen => ({
  file,
  reason: 'missing',
  detail: 'no such file, or no file that can be read',
})

async function* lines(list: string, signal: AbortSignal): AsyncGenerator<string> {
  if (list === '-') {
    yield* createInterface({ input: process.stdin, crlfDelay: Infinity, signal })
    return
  }
  try {
    statSync(list)
  } catch (error) {
    throw new UsageError(`--files-from: cannot read ${list} (${(error as Error).message})`)
  }
  yield* createInterface({ input: createReadStream(list), crlfDelay: Infinity, signal })
}

/** Every regular file below a folder, sorted in each folder; links to folders are not followed. */
async function* walk(folder: string, unseen: Unseen[]): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    unseen.push({
      file: folder,
      reason: 'unreadable',
      detail: `cannot be listed (${error.message})`,
    })
    return []
  })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== '.paperknife') yield* walk(path, unseen)
    } else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(path)))) yield path
  }
}

/** A path below `--out` for a file that was named: as it was named, or below the root when it lies elsewhere. */
function mirrored(file: string): string {
  const here = relative('.', file)
  const outside = here === '' || here.startsWith(`..${sep}`) || isAbsolute(here)
  return outside
    ? resolve(file)
        .replace(/^([A-Za-z]):/, '$1')
        .replace(/^[\\/]+/, '')
    : here
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  )

function isInside(folder: string, file: string): boolean {
  return resolve(file).startsWith(resolve(folder) + sep)
}
