/** Headers and footers of a workbook's printed pages: one line of codes and text in three parts (ECMA-376 part 1, 18.3.1.46). */

/** Codes that are no page numbers: fonts, sizes, colours, styles, fields of the file (18.3.1.46), and names in brackets that some programs write. */
const MARGIN_CODES = /&(?:"[^"]*"|\[[^\]]*\]|K[0-9A-Fa-f+-]{6}|[0-9]{1,3}|[A-MOQ-Z])/gi
/** Words that programs put beside the number of a page; another word is a person's. */
const PAGE_WORD =
  /^(?:pages?|p|pp|pagina|página|pág|pag|seiten?|s|blad|sida|sidan|side|sivu|strona|strany?|stránka|str|oldal|sayfa|halaman|hal|trang|страница|стр|лист|сторінка|σελίδα|ページ|페이지|쪽|[第页頁共]+|of|von|de|di|van|av|sur|z|из)$/iu

/** Whether nothing stands beside the numbers of pages in a header or footer but their words: `Page of`, `第 页`. */
export function isPageNumberAlone(text: string): boolean {
  return !/\p{N}/u.test(text) && (text.match(/[\p{L}\p{M}]+/gu) ?? []).every(isPageWord)
}

function isPageWord(word: string): boolean {
  return PAGE_WORD.test(word)
}

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
    .map((part) => {
      const shown = part.replace(/&[PN]/gi, ' ')
      return shown !== part && isPageNumberAlone(shown) ? '' : shown
    })
    .join(' ')
    .replaceAll('\0', '&')
    .replace(/\s+/g, ' ')
    .trim()
}
