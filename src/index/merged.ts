/**
 * Several vaults searched as one: their results become one result, in one order, with one cursor.
 * Not responsible for the search of each (search.ts).
 */
import { inOrder, type CountBy, type Counted } from './groups.js'
import type { Hit, SearchResult } from './hits.js'
import { RANKED } from './relevance.js'
import type { Coverage } from './rows.js'
import type { SearchOptions } from './search.js'

/**
 * One result of several: by date, or by rank where relevance was asked for (scores of two indexes do not
 * compare). Similar words count only where no vault holds the words themselves.
 *
 * @param cursors of the page, one a vault; empty for the first page
 */
export function mergedResults(
  results: readonly SearchResult[],
  { limit = 20, sort = 'newest', countBy }: SearchOptions,
  cursors: readonly string[],
): SearchResult {
  const isRanked = sort === 'relevance'
  const isExact = results.some(({ tier, hits }) => tier === 'exact' && hits.length > 0)
  const counting = results.filter(({ tier }) => !isExact || tier === 'exact')
  const taken = results.map(() => 0)
  const heads = (): Hit[] =>
    results.flatMap((result, vault) => {
      const head = counting.includes(result) && result.hits[taken[vault] as number]
      return head ? [Object.assign(head, { vault })] : []
    })
  const isBefore = (hit: Hit, other: Hit): boolean =>
    isRanked ? (taken[hit.vault] as number) < (taken[other.vault] as number) : hit.date > other.date
  const hits: Hit[] = []
  for (;;) {
    const last = hits.at(-1)
    const [first, ...others] = heads()
    if (!first) break
    // A message with several documents is not split between two pages.
    const same = [first, ...others].find((hit) => hit.vault === last?.vault && hit.id === last.id)
    if (!same && hits.length >= limit) break
    const next = same ?? others.reduce((best, hit) => (isBefore(hit, best) ? hit : best), first)
    hits.push(next)
    taken[next.vault] = (taken[next.vault] as number) + 1
  }
  const next = results.map((result, vault) => {
    // A cursor behind everything: nothing more comes of this vault.
    if (!counting.includes(result)) return isRanked ? String(RANKED) : '0'
    if (isRanked) return String(Number(cursors[vault] ?? 0) + (taken[vault] as number))
    const last = hits.findLast((hit) => hit.vault === vault)
    return last ? String(last.id) : (cursors[vault] ?? '')
  })
  const hasMore = counting.some((result) => result.next !== undefined) || heads().length > 0
  const counts = counting.map((result) => result.count)
  const isCounted = counts.every((count) => count !== undefined)
  return {
    hits,
    count: isCounted ? counts.reduce((sum, count) => sum + count, 0) : undefined,
    more: counting.some((result) => result.more),
    ms: results.reduce((sum, result) => sum + result.ms, 0),
    tier: counting.every((result) => result.tier === 'close') ? 'close' : 'exact',
    terms: [...new Set(counting.flatMap((result) => result.terms))],
    cut: [...new Set(counting.flatMap((result) => result.cut))],
    coverage: results.map((result) => result.coverage).reduce(addedCoverage),
    ...(hasMore && { next: next.join('.') }),
    ...(countBy && { counts: addedCounts(counting, countBy) }),
  }
}

function addedCounts(results: readonly SearchResult[], by: CountBy): Counted[] {
  const sums = new Map<string, number>()
  for (const { counts = [] } of results)
    for (const { value, messages } of counts) sums.set(value, (sums.get(value) ?? 0) + messages)
  return inOrder(sums, by)
}

function addedCoverage(sum: Coverage, one: Coverage): Coverage {
  return {
    contents: sum.contents + one.contents,
    readable: sum.readable + one.readable,
    pending: sum.pending + one.pending,
    unreadable: sum.unreadable + one.unreadable,
  }
}
