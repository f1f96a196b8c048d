/** What goes into which column of the word table. Runs in the workers and where rewrites are made. */
import { foldText, foldTexts } from './fold.js'
import { kindsOf, labelToken } from './kinds.js'
import { HAS_ATTACHMENT, SEPARATOR, TYPE } from './marks.js'

/**
 * The columns of the word table, in the order FTS5 has them. The body is first: a posting in any later
 * column takes two bytes more, which for the body was a quarter of the table.
 */
export const COLUMNS = [
  'body',
  'subject',
  'sender',
  'recipients',
  'copies',
  'filenames',
  'attachments',
] as const
export type Column = (typeof COLUMNS)[number]

/** Folded words of one message, tokens joined by spaces, ready for the word table. */
export type FoldedColumns = Record<Column, string>

/** Name and address. The same shape as mail/message.ts Person, which this room may not import. */
export interface FoldPerson {
  name: string
  address: string
}

/** A document as `filenames` shows it. */
export interface FoldFile {
  name: string
  /** Media type by the bytes when it is known, else as declared. */
  type: string
}

/** Originals of one message. */
export interface FoldInput {
  subject: string
  from: readonly FoldPerson[]
  to: readonly FoldPerson[]
  /** Cc and Bcc. */
  cc: readonly FoldPerson[]
  body: string
  files: readonly FoldFile[]
  labels: readonly string[]
  /** Text of each attachment, page by page; empty while it has not been read. */
  attachments: readonly (readonly { text: string }[])[]
}

/**
 * Folds a message.
 * @param messageChars characters folded at most, of the body and of all attachments each (limits.messageChars)
 */
export function foldColumns(input: FoldInput, messageChars: number): FoldedColumns {
  return {
    subject: foldText(input.subject),
    sender: foldPeople(input.from),
    recipients: foldPeople(input.to),
    copies: foldPeople(input.cc),
    body: withTerms(foldText(input.body.slice(0, messageChars)), TERMS_MOST),
    filenames: foldFiles(input.files, input.labels),
    attachments: foldAttachments(input.attachments, messageChars),
  }
}

/** `Ann Lee <ann@example.org>` on one line; the address alone when there is no name. */
export function personLine(person: FoldPerson): string {
  const name = person.name.replace(/[\r\n]+/g, ' ').trim()
  const address = person.address.replace(/[\r\n]+/g, ' ').trim()
  return name === '' ? address : address === '' ? name : `${name} <${address}>`
}

/** Names and addresses, a separator between people. */
export function foldPeople(people: readonly FoldPerson[]): string {
  return foldTexts(people.map(personLine))
}

/** File names, a separator between them, and the tokens of `type:`, `has:attachment` and `in:`. */
export function foldFiles(files: readonly FoldFile[], labels: readonly string[]): string {
  const marks = new Set<string>()
  if (files.length > 0) marks.add(HAS_ATTACHMENT)
  for (const file of files) for (const kind of kindsOf(file)) marks.add(TYPE + kind)
  for (const label of labels) marks.add(labelToken(label))
  const names = foldTexts(files.map((file) => file.name))
  return [...(names === '' ? [] : [names, SEPARATOR]), ...marks].join(' ')
}

/** Texts of attachments, a separator between pages and between attachments. */
export function foldAttachments(
  attachments: readonly (readonly { text: string }[])[],
  messageChars: number,
): string {
  return withTerms(foldTexts(capped(attachments, messageChars)), TERMS_MOST)
}

/**
 * Distinct words that one column of a message may bring into the index: a book has 20,000, a dump of random numbers a
 * million, each with a row in the vocabulary (80 MB of index for one mail of 10 million characters).
 */
const TERMS_MOST = 400_000

/**
 * What of a message the index leaves out for having too many distinct words, one sentence a column.
 * @param most default TERMS_MOST
 */
export function wordsLost(columns: FoldedColumns, most = TERMS_MOST): string[] {
  const isFull = (tokens: string): boolean =>
    tokens.length >= 2 * most && new Set(tokens.split(' ')).size >= most
  return (['body', 'attachments'] as const)
    .filter((column) => isFull(columns[column]))
    .map(
      (column) =>
        `${most.toLocaleString('en')} distinct words of its ${column} are indexed; others that come later are not`,
    )
}

/**
 * @param most distinct tokens
 * @returns the tokens without those that first occur when there are so many already
 */
export function withTerms(tokens: string, most: number): string {
  // Each takes a character and a space.
  if (tokens.length < 2 * most) return tokens
  const terms = new Set<string>()
  let isOver = false
  const kept: string[] = []
  for (const token of tokens.split(' '))
    if (terms.has(token)) kept.push(token)
    else if (terms.size < most) {
      terms.add(token)
      kept.push(token)
    } else isOver = true
  return isOver ? kept.join(' ') : tokens
}

function* capped(
  attachments: readonly (readonly { text: string }[])[],
  messageChars: number,
): Generator<string> {
  let left = messageChars
  for (const pages of attachments)
    for (const { text } of pages) {
      if (left <= 0) return
      yield text.length > left ? text.slice(0, left) : text
      left -= text.length
    }
}
