/**
 * Identifiers and amounts that are written with or without separators: INV-2023-001 and INV2023001,
 * 1,234.50 and 1234.50. Finds them in original text; folding is the caller's.
 */

/** Whether a separator can stand inside an identifier or amount: `- _ / . , '`, no-break spaces, the right quotation mark. */
export function mayJoin(code: number): boolean {
  switch (code) {
    case 0x2d:
    case 0x5f:
    case 0x2f:
    case 0x2e:
    case 0x2c:
    case 0x27:
    case 0xa0:
    case 0x202f:
    case 0x2019:
      return true
    default:
      return false
  }
}

/** Parts and units of the longest joined identifier; longer ones are paths. */
const PARTS_MAX = 8
const LENGTH_MAX = 40
// The patterns look no further than what can still be joined: they are tried at every word of a chain.
const AMOUNT =
  /(\d{1,3})([.,'\u2019\u00a0\u202f])(\d{3}(?:\2\d{3}){0,30})(?:[.,](\d{1,2}))?(?![\p{L}\p{N}]|[.,]\d)/uy
const IDENTIFIER = /[\p{L}\p{N}]{1,41}(?:[-_/][\p{L}\p{N}]{1,41}|(?<=\d)\.(?=\d)\p{N}{1,41}){1,8}/uy
/** 1.2.3 is a version, 01.02.2023 a date worth finding as 01022023. */
const DOTTED_DIGITS_MIN = 6

/**
 * The identifier or amount that begins at a place where a word begins.
 * @returns its joined form, not folded (`INV2023001`; `1234 50` for an amount with a fraction), and where it ends
 */
export function joinedFormAt(
  text: string,
  start: number,
): { text: string; end: number } | undefined {
  AMOUNT.lastIndex = start
  const amount = AMOUNT.exec(text)
  if (amount) {
    const [, head, separator, tail, fraction] = amount as unknown as [
      string,
      string,
      string,
      string,
      string?,
    ]
    const whole = head + tail.replaceAll(separator, '')
    return { text: fraction ? `${whole} ${fraction}` : whole, end: AMOUNT.lastIndex }
  }
  IDENTIFIER.lastIndex = start
  const identifier = IDENTIFIER.exec(text)?.[0]
  if (identifier === undefined) return undefined
  const end = start + identifier.length
  const joined = identifier.replace(/[-_/.]/g, '')
  if (joined.length > LENGTH_MAX || !/\d/.test(joined)) return undefined
  const separators = identifier.length - joined.length
  if (separators >= PARTS_MAX || text.charAt(start - 1) === '/') return undefined
  if (/^[\d.]+$/.test(identifier) && (separators < 2 || joined.length < DOTTED_DIGITS_MIN))
    return undefined
  return { text: joined, end }
}
