/**
 * Tokens that no text can produce. fold.ts treats the private-use area as white space, so that a token
 * that holds one of these characters was put there by us.
 */

/** Stands between recipients, attachments and pages, and before each form at a column's end: no phrase reaches across. */
export const SEPARATOR = '\ue000'

/** A single character of a script matched in pairs: `SINGLE + '日'` stands once in a column that holds it anywhere. */
export const SINGLE = '\ue001'

/** In `filenames`: the kind of a document, `TYPE + 'pdf'`, and its file name ending. `type:` */
export const TYPE = '\ue002'

/** In `filenames`: the message has an attachment. `has:attachment` */
export const HAS_ATTACHMENT = '\ue003'

/** In `filenames`: a label, `LABEL` and its folded words without spaces. `in:` */
export const LABEL = '\ue004'

/** Whether a token is ours and no word. */
export function isMark(token: string): boolean {
  const first = token.charCodeAt(0)
  return first >= 0xe000 && first <= 0xf8ff
}
