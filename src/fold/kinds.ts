/**
 * Words of `type:` and `in:` as tokens of the `filenames` column. The query side asks for the same
 * tokens: `TYPE + kind` with a kind from here or any file name ending, and `labelToken`.
 */
import { foldText } from './fold.js'
import { LABEL } from './marks.js'

/** Kinds by media type; the first row whose pattern matches. */
const KINDS: ReadonlyArray<readonly [RegExp, readonly string[]]> = [
  [/^application\/pdf$/, ['pdf', 'document']],
  [
    /wordprocessingml|msword|ms-word|opendocument\.text|sun\.xml\.writer|\/rtf$|wordperfect/,
    ['word', 'document'],
  ],
  [
    /spreadsheetml|ms-excel|opendocument\.spreadsheet|sun\.xml\.calc|\/csv$|tab-separated/,
    ['sheet', 'document'],
  ],
  [
    /presentationml|ms-powerpoint|opendocument\.presentation|sun\.xml\.impress/,
    ['slides', 'document'],
  ],
  [/epub/, ['book', 'document']],
  [/^image\//, ['image']],
  [/^audio\//, ['audio']],
  [/^video\//, ['video']],
  [/^message\/|ms-outlook|ms-tnef/, ['mail']],
  [/^text\/(calendar|x-vcalendar)/, ['calendar']],
  [/vcard/, ['contact']],
  [/^text\/html|xhtml/, ['html', 'document']],
  [/zip|x-tar|gzip|7z|rar|bzip|compressed/, ['archive']],
  [/^text\//, ['text', 'document']],
]

/**
 * Kinds of a document: by its media type, and the ending of its name.
 * @returns lower case ASCII words, `['sheet', 'document', 'xlsx']`
 */
export function kindsOf(file: { name: string; type: string }): string[] {
  const type = file.type.toLowerCase()
  const kinds = [...(KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? [])]
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(file.name.trim())?.[1]?.toLowerCase()
  if (ending !== undefined && !kinds.includes(ending)) kinds.push(ending)
  return kinds
}

/** A label as one token. Two labels that differ in punctuation or case alone are one. */
export function labelToken(label: string): string {
  return LABEL + foldText(label).replace(/[ \ue000-\uf8ff]+/g, '')
}
