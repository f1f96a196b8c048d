/** Headers and footers of a workbook's printed pages: one line of codes and text in three parts (ECMA-376 part 1, 18.3.1.46). */

/** Codes that are no page numbers: fonts, sizes, colours, styles, fields of the file (18.3.1.46), and names in brackets that some programs write. */
const MARGIN_CODES = /&(?:"[^"]*"|\[[^\]]*\]|K[0-9A-Fa-f+-]{6}|[0-9]{1,3}|[A-MOQ-Z])/gi
/** A page number with its words, as programs put them there: `Page &P of &N`, `第 &P 页`. */
const PAGE_NUMBER =
  /^[^\p{L}\p{N}&]*(?:\p{scx=Han}{0,2}|(?!\p{scx=Han})\p{L}{0,10})[^\p{L}\p{N}&]*&P(?:[^\p{N}&]{0,8}&N)?[^\p{L}\p{N}&]*\p{L}?[^\p{L}\p{N}&]*$/iu

/** The program takes 255 characters. */
const CODES_MAX = 1_000

/** The text of a page header or footer without its codes (18.3.1.46). */
export function marginText(codes: string): string {
  return codes
    .slice(0, CODES_MAX)
    .split(/(?<=(?:^|[^&])(?:&&)*)&[LCR]/i)
    .map((part) =>
      part
        .replaceAll('&&', '\0')
        .replace(/&\[page(s?)\]/gi, (_, all) => (all === '' ? '&P' : '&N'))
        .replace(MARGIN_CODES, ' '),
    )
    .map((part) => (PAGE_NUMBER.test(part) ? '' : part.replace(/&[PN]/gi, ' ')))
    .join(' ')
    .replaceAll('\0', '&')
    .replace(/\s+/g, ' ')
    .trim()
}
