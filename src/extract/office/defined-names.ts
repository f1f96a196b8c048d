/** Names that cells and ranges of a workbook carry. */
import type { TextSink } from '../sink.js'

/** Programs that name every column fill workbooks with names; a person gives a few. */
const GIVEN_BY_HAND = 20
/** Names listed at all. */
export const NAMES_MAX = 10_000
/** Print areas, filters, views and lists that programs name. */
const GIVEN_BY_PROGRAM =
  /^_|^Z_[0-9A-F]{8}_|[0-9A-F]{8}[-_][0-9A-F]{4}[-_][0-9A-F]{4}[-_]|\.wvu\.|^(?:Excel_BuiltIn|Google_Sheet_Link)_|^Print_(?:Area|Titles)(?:_\d+)?$/i

/** Whether a name was given by a program for its own use. */
export function isGivenName(name: string): boolean {
  return name === '' || GIVEN_BY_PROGRAM.test(name)
}

/** Writes the names a person gave, a line each; many are an aside. */
export function writeNames(names: readonly string[], sink: TextSink): void {
  if (names.length <= GIVEN_BY_HAND) for (const name of names) sink.line(name)
  else sink.aside(names.join('\n'))
}
