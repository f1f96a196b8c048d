/**
 * `paperknife search`: hits with where they matched, and a last line that says how many there are, how
 * long it took, and how much of the vault could be searched.
 */
import { open } from 'node:fs/promises'
import {
  MATCH_BEGIN,
  MATCH_END,
  openVault,
  type Excerpt,
  type Hit,
  type SearchOptions,
  type SearchResult,
} from '../api.js'
import { EXIT, UsageError } from './exit.js'
import type { Run } from './commands.js'
import { refuseInside, writeMbox } from './mbox.js'
import { vaultsOptions } from './options.js'
import {
  bold,
  counted,
  countText,
  dateText,
  dim,
  durationText,
  marked,
  note,
  plain,
  plainPiece,
  print,
  printJson,
} from './terminal.js'

/** Above this many hits, texts are inflated for excerpts only when asked for. */
const EXCERPTS_FREE = 100
const SHOWN = 20
/** Hits read at a time where all are exported. */
const PAGE = 500

export const run: Run = async (given, { signal }) => {
  const query = given.positional.slice(1).join(' ')
  const limit = given.number('limit') ?? SHOWN
  const sort = given.text('sort') as SearchOptions['sort']
  const by = given.text('by') as SearchOptions['by']
  const countBy = given.text('count-by') as SearchOptions['countBy']
  const before = given.text('before-id')
  if (before !== undefined && sort === 'relevance')
    throw new UsageError('--before-id pages by date: it cannot stand with --sort relevance')
  if (given.has('documents') && by === 'thread')
    throw new UsageError('--documents and --by thread each say what a line stands for: give one')
  if (countBy && (given.has('documents') || by === 'thread'))
    throw new UsageError(
      '--count-by counts messages: it cannot stand with --documents or --by thread',
    )
  const options = vaultsOptions(given)
  const mbox = given.text('mbox')
  if (mbox !== undefined) refuseInside(options.vaults ?? [options.vault as string], mbox)
  const mail = await openVault(options)
  try {
    const page = (size: number, after: string | undefined): Promise<SearchResult> =>
      mail.search(query, {
        limit: size,
        signal,
        ...(sort && { sort }),
        ...(by && { by }),
        ...(given.has('documents') && { documents: true }),
        ...(after !== undefined && { after }),
        ...(countBy && after === before && { countBy }),
      })
    const result = await page(limit, before)
    const { hits } = result
    // Written anew, and a place that cannot be written is told before anything is shown.
    const file = mbox === undefined ? undefined : await open(mbox, 'w', 0o600)
    if (countBy) await printCounts(given.has('json'), result)
    else {
      const shown =
        limit <= EXCERPTS_FREE || given.has('excerpts') ? await mail.excerpts(hits) : undefined
      for (const [i, hit] of hits.entries()) {
        const excerpt = shown?.[i]
        const vault = options.vaults?.[hit.vault]
        if (given.has('json')) await printJson(hitLine(hit, excerpt, vault))
        else for (const line of hitText(hit, excerpt, vault)) await print(line)
      }
    }
    if (file) {
      const isAll = given.number('limit') === undefined
      const found = isAll ? everyHit(result, (after) => page(PAGE, after)) : hits
      await writeMbox(mail, found, file, mbox as string)
    }
    if (given.has('json')) await printJson({ summary: summaryOf(result) })
    else {
      const line = given.has('documents') ? 'document' : by === 'thread' ? 'conversation' : 'hit'
      for (const text of summaryText(result, line)) note(text)
    }
    return hits.length > 0 ? EXIT.done : EXIT.nothingFound
  } finally {
    await mail.close()
  }
}

/** The hits of a page and of all that follow it. */
async function* everyHit(
  first: SearchResult,
  next: (after: string) => Promise<SearchResult>,
): AsyncGenerator<Hit> {
  for (let page = first; ;) {
    yield* page.hits
    if (page.next === undefined) return
    page = await next(page.next)
  }
}

async function printCounts(asJson: boolean, { counts = [] }: SearchResult): Promise<void> {
  for (const { value, messages } of counts)
    if (asJson) await printJson({ value, messages })
    else await print(`${countText(messages).padStart(10)}  ${plain(value)}`)
}

/**
 * A hit of `search --json`, a stable contract.
 * @param vault which one, where several are searched
 */
function hitLine(
  hit: Hit,
  excerpt: Excerpt | undefined,
  vault: string | undefined,
): Record<string, unknown> {
  const { id, key, date, subject, from, folder, flags, size, path, messageId } = hit
  return {
    ...(hit.document && { document: hit.document }),
    ...(hit.messages !== undefined && { messages: hit.messages }),
    ...(vault !== undefined && { vault }),
    ...{ id, key, date, subject, from, folder, flags, size, path, messageId },
    matched: hit.matched,
    attachmentOnly: hit.attachmentOnly,
    attachments:
      excerpt === undefined
        ? hit.attachments.map((name) => ({ name }))
        : [...excerpt.attachments].sort(
            (a, b) => Number(a.snippet === '') - Number(b.snippet === ''),
          ),
    snippet: excerpt?.snippet ?? '',
  }
}

function summaryOf(result: SearchResult): Record<string, unknown> {
  const { count, more, ms, tier, terms, cut, coverage } = result
  return { hits: count ?? result.hits.length, more, ms, tier, terms, cut, coverage }
}

function hitText(hit: Hit, excerpt: Excerpt | undefined, vault: string | undefined): string[] {
  const folder = vault === undefined ? hit.folder : `${vault}: ${hit.folder}`
  const lines = [
    `${dateText(hit.date)}  ${plain(hit.from)}  ${dim(`[${plain(folder)}]`)}`,
    `  ${bold(plain(hit.subject) || '(no subject)')}${(hit.messages ?? 1) > 1 ? ` (${counted(hit.messages ?? 1, 'message')} of the conversation)` : ''}`,
  ]
  if (hit.document)
    lines.unshift(
      `${bold(plain(hit.document.name) || '(no name)')}, in ${counted(hit.document.messages, 'message')}, the newest:`,
    )
  const isBody = hit.matched.includes('body')
  if (excerpt?.snippet)
    lines.push(`    ${isBody ? snippetText(excerpt.snippet) : dim(snippetText(excerpt.snippet))}`)
  for (const { name, member, page, snippet } of excerpt?.attachments ?? [])
    if (snippet !== '')
      lines.push(
        `    ${plain(name) || 'attachment'}${member === undefined ? '' : ` › ${plain(member)}`}${page === undefined ? '' : `, page ${page}`}: ${snippetText(snippet)}`,
      )
  const fields = hit.matched.filter((field) => field !== 'body' && field !== 'attachments')
  if (fields.length > 0) lines.push(dim(`    matched in ${fields.join(', ')}`))
  return [...lines, '']
}

/** Nothing of a mail can hold the marks. */
const MATCH = new RegExp(`${MATCH_BEGIN}([^${MATCH_END}]*)${MATCH_END}`)

function snippetText(snippet: string): string {
  return snippet
    .split(MATCH)
    .map((piece, i) => (i % 2 === 1 ? marked(plain(piece)) : plainPiece(piece)))
    .join('')
}

/** @param line what one line of the answer stands for */
function summaryText(result: SearchResult, line: 'hit' | 'conversation' | 'document'): string[] {
  const { hits, tier, terms, cut, coverage } = result
  const unseen = [
    coverage.pending > 0 && `${countText(coverage.pending)} not read yet`,
    coverage.unreadable > 0 && `${countText(coverage.unreadable)} could not be read`,
  ].filter(Boolean)
  return [
    ...(tier === 'close' && hits.length > 0
      ? [`no exact match; close words taken: ${terms.map(plain).join(', ')}`]
      : []),
    ...cut.map(plain),
    `${numberText(result, line)} in ${durationText(result.ms)}; ${countText(coverage.readable)} of ${counted(coverage.contents, 'attachment')} searched${unseen.length > 0 ? ` (${unseen.join(', ')}; paperknife status says why)` : ''}`,
  ]
}

function numberText({ hits, count, counts, next }: SearchResult, line: string): string {
  const shown = hits.length
  const more = next === undefined ? '' : ' (there are more)'
  if (line !== 'hit') {
    const messages = count === undefined ? '' : ` of ${counted(count, 'matching message')}`
    return `${counted(shown, line)}${more}${messages}`
  }
  if (count === undefined) return `the first ${countText(shown)} hits${more}`
  return `${counted(count, 'hit')}${counts || shown === count ? '' : `, ${countText(shown)} shown`}`
}
