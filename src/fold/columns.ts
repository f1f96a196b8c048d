/** The columns of the word table, in the order FTS5 has them. */
export const COLUMNS = [
  'subject',
  'sender',
  'recipients',
  'copies',
  'body',
  'filenames',
  'attachments',
] as const
export type Column = (typeof COLUMNS)[number]

/** Folded words of one message, tokens joined by spaces, ready for the word table. */
export type FoldedColumns = Record<Column, string>
