/**
 * Numbers, dates and texts of a worksheet as they are displayed (ECMA-376 part 1, 18.8.30 and 18.8.31): in the
 * locale that the format names, else en-US. Colours, alignment and fill are left out. Not responsible for which
 * cell has which format.
 */

import { parseSection, splitSections, type Section, type Token } from './format-sections.js'
import { isoOf, momentOf, showDate } from './shown-date.js'
import { fifteenDigits, general, rawNumber, showNumber } from './shown-number.js'

/** A number as displayed, and in the one form that never depends on a format. */
export interface Displayed {
  /** As the format shows it; empty when the format hides it. */
  shown: string
  /** `1234.5`; for dates `2024-03-05`, `2024-03-05 14:30:00`, `14:30:00`. */
  raw: string
}

/** Formats that files name by number only. Ids 27 to 36 and 50 to 58 are dates of East Asian locales. */
const BUILT_IN: Record<number, string> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);("$"#,##0)',
  6: '"$"#,##0_);("$"#,##0)',
  7: '"$"#,##0.00_);("$"#,##0.00)',
  8: '"$"#,##0.00_);("$"#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'm/d/yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yyyy h:mm',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);(#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);(#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
}
const EAST_ASIAN_DATES = 'm/d/yyyy'

/** The format string behind an id that has none of its own. */
export function builtInFormat(id: number): string {
  return (
    BUILT_IN[id] ??
    ((id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? EAST_ASIAN_DATES : 'General')
  )
}

/** The longest format the program accepts has 255 characters. */
const FORMAT_CHARS_MAX = 1_000

/** One format, parsed once and applied to many values. */
export class NumberFormat {
  readonly #sections: readonly Section[]
  readonly #isGeneral: boolean
  /** The section for texts, when it shows more than the text. */
  readonly #forText: Section | undefined

  constructor(format: string) {
    this.#sections = splitSections(format.slice(0, FORMAT_CHARS_MAX)).map(parseSection)
    this.#isGeneral = /^general$/i.test(format.trim()) || this.#sections.length === 0
    const last = this.#sections[this.#sections.length - 1]
    const isForText =
      this.#sections.length === 4 || last?.tokens.some(({ kind }) => kind === 'text')
    this.#forText = isForText && last?.tokens.some(isWord) ? last : undefined
  }

  /**
   * @param is1904 the workbook counts days from 1904
   * @param rawDigits significant digits of `raw`: all that the number has (17), or those the program shows (15)
   */
  display(given: number, is1904: boolean, rawDigits: 15 | 17 = 17): Displayed {
    const value = fifteenDigits(given)
    const raw = rawNumber(rawDigits === 15 ? value : given)
    if (this.#isGeneral) return { shown: general(value), raw }
    const section = this.#sectionFor(value)
    if (!section) return { shown: '', raw }
    if (section.isDate) {
      const moment = momentOf(value, is1904, section.unitMs)
      if (!moment) return { shown: raw, raw }
      return {
        shown: showDate(section, moment),
        raw: section.hasDay || value < 1 ? isoOf(moment, value) : raw,
      }
    }
    const shown = showNumber(section.tokens, Math.abs(value))
    return {
      shown: (this.#isSigned(section, value) && /[1-9]/.test(shown) ? '-' : '') + shown,
      raw,
    }
  }

  /**
   * As displayed and, where that differs, as it is, in one string.
   *
   * @param rawDigits as for `display`
   */
  both(value: number, is1904: boolean, rawDigits?: 15 | 17): string {
    const { shown, raw } = this.display(value, is1904, rawDigits)
    return besides(shown, raw)
  }

  /** A text as a cell of this format shows it; one that the format hides is given all the same. */
  displayText(text: string): string {
    if (!this.#forText || text === '') return text
    const { tokens } = this.#forText
    const shown = tokens
      .map((token) => (token.kind === 'literal' ? token.text : token.kind === 'text' ? text : ''))
      .join('')
      .trim()
    return tokens.some(({ kind }) => kind === 'text') ? shown : `${shown} ${text}`
  }

  #sectionFor(value: number): Section | undefined {
    const sections = this.#sections
    if (sections.some((section) => section.condition)) {
      const matching = sections.find(({ condition }) => condition && holds(condition, value))
      if (matching) return matching
      // behind one condition the second of three sections is still the one for negative numbers
      const [, second, third] = sections
      return second && third && !second.condition && !third.condition
        ? value < 0
          ? second
          : third
        : sections.find(({ condition }) => !condition)
    }
    const numeric = sections.slice(0, 3)
    if (numeric.length === 1) return numeric[0]
    if (value < 0) return numeric[1]
    return value === 0 && numeric.length === 3 ? numeric[2] : numeric[0]
  }

  /** A section that stands for negative numbers alone shows no minus of its own. */
  #isSigned(section: Section, value: number): boolean {
    if (value >= 0) return false
    const { condition } = section
    return condition
      ? !(condition.operator.startsWith('<') && condition.value <= 0)
      : this.#sections.length === 1 || section !== this.#sections[1]
  }
}

/** What is displayed and, where that differs, the value. */
export function besides(shown: string, raw: string): string {
  return shown === raw || shown === '' ? raw : `${shown} ${raw}`
}

function isWord(token: Token): boolean {
  return token.kind === 'literal' && token.text.trim() !== ''
}

function holds({ operator, value }: { operator: string; value: number }, given: number): boolean {
  switch (operator) {
    case '<':
      return given < value
    case '<=':
      return given <= value
    case '>':
      return given > value
    case '>=':
      return given >= value
    case '<>':
      return given !== value
    default:
      return given === value
  }
}
