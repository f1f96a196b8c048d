/**
 * Numbers and dates of a worksheet as they are displayed (ECMA-376 part 1, 18.8.30 and 18.8.31), for the
 * locale en-US. Colours, alignment and fill are left out. Not responsible for which cell has which format.
 */

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

type Token =
  | { kind: 'literal'; text: string }
  | { kind: 'digit'; text: '0' | '#' | '?' }
  | { kind: 'point' | 'comma' | 'percent' | 'slash' | 'text' | 'general' }
  | { kind: 'exponent'; text: string }
  | { kind: 'date'; text: string }
  | { kind: 'elapsed'; text: string }
  | { kind: 'noon'; text: string }

interface Section {
  tokens: Token[]
  condition?: { operator: string; value: number }
  isDate: boolean
  /** Shows a year, month or day, not only a time. */
  hasDay: boolean
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
/** The longest format the program accepts has 255 characters. */
const FORMAT_CHARS_MAX = 1_000

/** One format, parsed once and applied to many numbers. */
export class NumberFormat {
  readonly #sections: Section[]
  readonly #isGeneral: boolean

  constructor(format: string) {
    this.#sections = splitSections(format.slice(0, FORMAT_CHARS_MAX)).map(parseSection)
    this.#isGeneral = /^general$/i.test(format.trim()) || this.#sections.length === 0
  }

  /** @param is1904 the workbook counts days from 1904 */
  display(value: number, is1904: boolean): Displayed {
    const raw = rawNumber(value)
    if (this.#isGeneral) return { shown: general(value), raw }
    const section = this.#sectionFor(value)
    if (!section) return { shown: '', raw }
    if (section.isDate) {
      const moment = momentOf(value, is1904)
      if (!moment) return { shown: raw, raw }
      return {
        shown: showDate(section.tokens, moment),
        raw: section.hasDay || value < 1 ? isoOf(moment, value) : raw,
      }
    }
    // a section that stands for negative numbers shows no minus of its own
    const isSigned = value < 0 && (this.#sections.length === 1 || section === this.#sections[0])
    const shown = showNumber(section.tokens, Math.abs(value))
    return { shown: (isSigned && /[1-9]/.test(shown) ? '-' : '') + shown, raw }
  }

  #sectionFor(value: number): Section | undefined {
    const sections = this.#sections
    if (sections.some((section) => section.condition)) {
      const matching = sections.find(({ condition }) => condition && holds(condition, value))
      return matching ?? sections.find(({ condition }) => !condition)
    }
    const numeric = sections.slice(0, 3)
    if (numeric.length === 1) return numeric[0]
    if (value < 0) return numeric[1]
    return value === 0 && numeric.length === 3 ? numeric[2] : numeric[0]
  }
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

/** At the semicolons outside of quotes, brackets and escapes. */
function splitSections(format: string): string[] {
  const sections: string[] = []
  let from = 0
  for (let i = 0; i < format.length; i++) {
    const character = format[i]
    if (character === '"' || character === '[') {
      const end = format.indexOf(character === '"' ? '"' : ']', i + 1)
      if (end < 0) break
      i = end
    } else if (character === '\\' || character === '_' || character === '*') i++
    else if (character === ';') {
      sections.push(format.slice(from, i))
      from = i + 1
    }
  }
  sections.push(format.slice(from))
  return sections
}

function parseSection(format: string): Section {
  const tokens: Token[] = []
  let condition: Section['condition']
  const literal = (text: string): void => {
    tokens.push({ kind: 'literal', text })
  }
  for (let i = 0; i < format.length;) {
    const character = format[i] as string
    const rest = format.slice(i)
    const noon = /^(?:am\/pm|a\/p|上午\/下午)/i.exec(rest)?.[0]
    const exponent = /^E[+-]/i.exec(rest)?.[0]
    if (/^general/i.test(rest)) {
      tokens.push({ kind: 'general' })
      i += 7
    } else if (noon) {
      tokens.push({ kind: 'noon', text: noon })
      i += noon.length
    } else if (exponent) {
      tokens.push({ kind: 'exponent', text: exponent })
      i += 2
    } else if (character === '"') {
      const end = format.indexOf('"', i + 1)
      literal(format.slice(i + 1, end < 0 ? undefined : end))
      i = end < 0 ? format.length : end + 1
    } else if (character === '\\') {
      literal(format[i + 1] ?? '')
      i += 2
    } else if (character === '_') {
      literal(' ')
      i += 2
    } else if (character === '*') i += 2
    else if (character === '[') {
      const end = format.indexOf(']', i)
      const inside = format.slice(i + 1, end < 0 ? undefined : end)
      i = end < 0 ? format.length : end + 1
      const currency = /^\$([^-]*)/.exec(inside)
      const compared = /^(<=|>=|<>|<|>|=)\s*(-?[\d.]+)$/.exec(inside)
      if (/^(?:h+|m+|s+)$/i.test(inside))
        tokens.push({ kind: 'elapsed', text: inside.toLowerCase() })
      else if (currency) literal(currency[1] ?? '')
      else if (compared) condition = { operator: compared[1] as string, value: Number(compared[2]) }
    } else if (character === '0' || character === '#' || character === '?') {
      tokens.push({ kind: 'digit', text: character })
      i++
    } else if (
      character === '.' ||
      character === ',' ||
      character === '%' ||
      character === '/' ||
      character === '@'
    ) {
      const kinds = {
        '.': 'point',
        ',': 'comma',
        '%': 'percent',
        '/': 'slash',
        '@': 'text',
      } as const
      tokens.push({ kind: kinds[character] })
      i++
    } else if (/[ymdhsgeab]/i.test(character)) {
      const same = new RegExp(`^${character}+`, 'i').exec(rest)?.[0] as string
      tokens.push({ kind: 'date', text: same.toLowerCase() })
      i += same.length
    } else {
      literal(character)
      i++
    }
  }
  const isDate = tokens.some(({ kind }) => kind === 'date' || kind === 'elapsed' || kind === 'noon')
  const hasDay = tokens.some(
    (token, at) =>
      token.kind === 'date' &&
      (/^[ydeab]/.test(token.text) || (token.text[0] === 'm' && !isMinutes(tokens, at))),
  )
  return { tokens, isDate, hasDay, ...(condition && { condition }) }
}

/** The shortest form that gives the same number, without an exponent where that is readable. */
function rawNumber(value: number): string {
  const text = String(value)
  if (!text.includes('e') || Math.abs(value) >= 1e21) return text
  return value.toFixed(20).replace(/\.?0+$/, '')
}

/** As a cell of usual width shows it: eleven characters. */
function general(value: number): string {
  const size = Math.abs(value)
  if (Number.isInteger(value) && size < 1e11) return String(value)
  if (size >= 1e11 || (size < 1e-9 && size > 0)) return exponential(value, 5, 2)
  const digits = Math.max(0, 9 - Math.max(0, Math.floor(Math.log10(size || 1))))
  return rawNumber(Number(value.toFixed(digits)))
}

function exponential(value: number, decimals: number, exponentDigits: number): string {
  const [mantissa, exponent] = value.toExponential(decimals).split('e') as [string, string]
  const trimmed = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa
  return `${trimmed}E${exponent[0]}${exponent.slice(1).padStart(exponentDigits, '0')}`
}

function showNumber(tokens: readonly Token[], size: number): string {
  if (tokens.some(({ kind }) => kind === 'general'))
    return tokens
      .map((token) =>
        token.kind === 'general' ? general(size) : token.kind === 'literal' ? token.text : '',
      )
      .join('')
      .trim()
  if (!tokens.some(({ kind }) => kind === 'digit'))
    return tokens
      .map((token) =>
        token.kind === 'literal'
          ? token.text
          : token.kind === 'text'
            ? rawNumber(size)
            : token.kind === 'percent'
              ? '%'
              : '',
      )
      .join('')
      .trim()
  if (tokens.some(({ kind }) => kind === 'slash')) return showFraction(tokens, size)
  if (tokens.some(({ kind }) => kind === 'exponent')) return showExponent(tokens, size)

  let scaled = size
  for (const { kind } of tokens) if (kind === 'percent') scaled *= 100
  const point = tokens.findIndex(({ kind }) => kind === 'point')
  const lastDigit = tokens.findLastIndex(
    (token, at) => token.kind === 'digit' && (point < 0 || at < point),
  )
  const firstDigit = tokens.findIndex(({ kind }) => kind === 'digit')
  let isGrouped = false
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i]?.kind !== 'comma') continue
    if (i > firstDigit && i < lastDigit) isGrouped = true
    else if (i > lastDigit) scaled /= 1000
  }
  const decimals = point < 0 ? 0 : tokens.slice(point).filter(({ kind }) => kind === 'digit').length
  const [whole, fraction = ''] = fixed(scaled, Math.min(decimals, 30)).split('.') as [
    string,
    string?,
  ]
  return fill(tokens, point, whole === '0' ? '' : whole, fraction, isGrouped)
}

/** Puts digits into their places: the integer part from the right, the fraction from the left. */
function fill(
  tokens: readonly Token[],
  point: number,
  whole: string,
  fraction: string,
  isGrouped: boolean,
): string {
  const before = point < 0 ? tokens : tokens.slice(0, point)
  const places = before.filter(({ kind }) => kind === 'digit').length
  let left = ''
  let used = 0
  let count = 0
  const put = (digit: string): void => {
    if (isGrouped && count > 0 && count % 3 === 0) left = ',' + left
    left = digit + left
    count++
  }
  for (let i = before.length - 1, place = places; i >= 0; i--) {
    const token = before[i] as Token
    if (token.kind === 'literal') left = token.text + left
    else if (token.kind === 'percent') left = '%' + left
    else if (token.kind === 'digit') {
      place--
      if (used < whole.length) put(whole[whole.length - 1 - used++] as string)
      else if (token.text === '0') put('0')
      if (place === 0) while (used < whole.length) put(whole[whole.length - 1 - used++] as string)
    }
  }
  if (point < 0) return left.trim()
  let right = ''
  let at = 0
  const significant = fraction.replace(/0+$/, '').length
  for (const token of tokens.slice(point + 1)) {
    if (token.kind === 'literal') right += token.text
    else if (token.kind === 'percent') right += '%'
    else if (token.kind === 'digit') {
      const digit = fraction[at++] ?? '0'
      if (token.text === '0' || at <= significant) right += digit
    }
  }
  return `${left}.${right}`
    .replace(
      /\.(?=\D|$)/,
      fraction.length === 0 || significant === 0 ? (/\.\d/.test(`.${right}`) ? '.' : '') : '.',
    )
    .trim()
}

/** Rounded half away from zero on fifteen digits, as the program does. */
function fixed(value: number, decimals: number): string {
  if (value >= 1e15 || value < 1e-15)
    return value >= 1e21 ? BigInt(Math.round(value)).toString() : value.toFixed(decimals)
  const precise = Number(value.toPrecision(15))
  const shifted = Number(`${expanded(precise)}e${decimals}`)
  return Number.isFinite(shifted) && shifted < 1e15
    ? (Math.round(shifted) / 10 ** decimals).toFixed(decimals)
    : precise.toFixed(decimals)
}

function expanded(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(20) : text
}

function showExponent(tokens: readonly Token[], size: number): string {
  const mark = tokens.findIndex(({ kind }) => kind === 'exponent')
  const mantissa = tokens.slice(0, mark)
  const point = mantissa.findIndex(({ kind }) => kind === 'point')
  const decimals =
    point < 0 ? 0 : mantissa.slice(point).filter(({ kind }) => kind === 'digit').length
  const wholes = (point < 0 ? mantissa : mantissa.slice(0, point)).filter(
    ({ kind }) => kind === 'digit',
  ).length
  const width = tokens.slice(mark).filter(({ kind }) => kind === 'digit').length
  let exponent = size === 0 ? 0 : Math.floor(Math.log10(size))
  if (wholes > 1) exponent = Math.floor(exponent / wholes) * wholes
  let shown = fixed(size / 10 ** exponent, Math.min(decimals, 30))
  if (Number(shown) >= 10 ** Math.max(1, wholes)) {
    exponent += Math.max(1, wholes)
    shown = fixed(size / 10 ** exponent, Math.min(decimals, 30))
  }
  const sign = exponent < 0 ? '-' : (tokens[mark] as { text: string }).text[1] === '+' ? '+' : ''
  return `${shown}E${sign}${String(Math.abs(exponent)).padStart(width, '0')}`
}

/** Continued fraction up to the denominator that the places allow, or over a fixed one. */
function showFraction(tokens: readonly Token[], size: number): string {
  const slash = tokens.findIndex(({ kind }) => kind === 'slash')
  const literals = tokens.filter(({ kind }) => kind === 'literal') as Array<{ text: string }>
  let denominatorPlaces = 0
  let digits = ''
  for (const token of tokens.slice(slash + 1)) {
    if (token.kind === 'digit') {
      denominatorPlaces++
      digits += token.text === '0' ? '0' : ''
    } else if (token.kind === 'literal' && /^\d+$/.test(token.text)) digits += token.text
  }
  const hasWhole = /[0#?].*[ ].*[0#?]/.test(
    tokens
      .slice(0, slash)
      .map((token) => (token.kind === 'digit' || token.kind === 'literal' ? token.text : ''))
      .join(''),
  )
  const whole = hasWhole ? Math.floor(size) : 0
  const part = size - whole
  const given = Number(digits)
  let numerator: number
  let denominator: number
  if (given > 0) {
    denominator = given
    numerator = Math.round(part * given)
  } else [numerator, denominator] = nearestFraction(part, 10 ** Math.min(denominatorPlaces, 7) - 1)
  const suffix = literals
    .filter(({ text }) => !/^[\d ]*$/.test(text))
    .map(({ text }) => text)
    .join('')
  if (numerator === 0 && hasWhole) return `${whole}${suffix}`
  if (hasWhole && numerator === denominator) return `${whole + 1}${suffix}`
  return `${whole > 0 ? `${whole} ` : ''}${numerator}/${denominator}${suffix}`
}

function nearestFraction(value: number, denominatorMax: number): [number, number] {
  let [p0, q0, p1, q1] = [0, 1, 1, 0]
  let rest = value
  for (let i = 0; i < 40; i++) {
    const whole = Math.floor(rest)
    const [p2, q2] = [whole * p1 + p0, whole * q1 + q0]
    if (q2 > denominatorMax) break
    ;[p0, q0, p1, q1] = [p1, q1, p2, q2]
    if (rest - whole < 1e-10) break
    rest = 1 / (rest - whole)
  }
  return q1 === 0 ? [Math.round(value), 1] : [p1, q1]
}

interface Moment {
  year: number
  month: number
  day: number
  weekday: number
  hours: number
  minutes: number
  /** With its fraction. */
  seconds: number
  /** The number itself, in days. */
  days: number
}

/** Days since the epoch to a date; undefined before it and after 9999. 1900 was no leap year, but counts as one. */
function momentOf(value: number, is1904: boolean): Moment | undefined {
  if (!(value >= 0 && value < 2_958_466)) return undefined
  const milliseconds = Math.round((value - Math.floor(value)) * 86_400_000)
  let day = Math.floor(value) + (is1904 ? 1462 : 0)
  const inDay = milliseconds === 86_400_000 ? 0 : milliseconds
  if (milliseconds === 86_400_000) day++
  const hours = Math.floor(inDay / 3_600_000)
  const minutes = Math.floor((inDay % 3_600_000) / 60_000)
  const rest = { hours, minutes, seconds: (inDay % 60_000) / 1000, days: value }
  if (day === 60 && !is1904) return { year: 1900, month: 2, day: 29, weekday: 3, ...rest }
  const date = new Date(Date.UTC(1899, 11, day > 60 || is1904 ? 30 : 31) + day * 86_400_000)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    ...rest,
  }
}

function isoOf(moment: Moment, value: number): string {
  const two = (number: number): string => String(Math.floor(number)).padStart(2, '0')
  const date = `${String(moment.year).padStart(4, '0')}-${two(moment.month)}-${two(moment.day)}`
  const time = `${two(moment.hours)}:${two(moment.minutes)}:${two(moment.seconds)}`
  if (value < 1) return time
  return time === '00:00:00' ? date : `${date} ${time}`
}

function showDate(tokens: readonly Token[], moment: Moment): string {
  const hasNoon = tokens.some(({ kind }) => kind === 'noon')
  const hasFraction = tokens.some(
    (token, at) => token.kind === 'point' && tokens[at + 1]?.kind === 'digit',
  )
  // seconds are rounded where their fraction is not shown
  const totalSeconds = hasFraction ? moment.days * 86_400 : Math.round(moment.days * 86_400)
  const seconds = hasFraction ? moment.seconds : Math.floor(moment.seconds + 0.5)
  let out = ''
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token
    switch (token.kind) {
      case 'literal':
        out += token.text
        break
      case 'slash':
        out += '/'
        break
      case 'comma':
        out += ','
        break
      case 'percent':
        out += '%'
        break
      case 'noon':
        out += moment.hours < 12 ? token.text.split('/')[0] : token.text.split('/')[1]
        break
      case 'point': {
        let places = 0
        while (tokens[i + 1 + places]?.kind === 'digit') places++
        if (places > 0)
          out += (moment.seconds % 1).toFixed(Math.min(places, 3)).slice(1).replace(/^$/, '.0')
        else out += '.'
        i += places
        break
      }
      case 'digit':
        break
      case 'elapsed': {
        const unit = token.text[0]
        const total =
          unit === 'h' ? totalSeconds / 3600 : unit === 'm' ? totalSeconds / 60 : totalSeconds
        out += String(Math.floor(total + 1e-9)).padStart(token.text.length, '0')
        break
      }
      case 'date':
        out += datePart(token.text, moment, hasNoon, seconds, isMinutes(tokens, i))
        break
      case 'exponent':
      case 'general':
      case 'text':
        break
    }
  }
  return out.trim()
}

/** `m` is minutes right after hours or right before seconds. */
function isMinutes(tokens: readonly Token[], at: number): boolean {
  const isTime = (token: Token | undefined): token is Token & { text: string } =>
    token?.kind === 'date' || token?.kind === 'elapsed'
  const before = tokens.slice(0, at).findLast(isTime)
  const after = tokens.slice(at + 1).find(isTime)
  return /^h/.test(before?.text ?? '') || /^s/.test(after?.text ?? '')
}

function datePart(
  part: string,
  moment: Moment,
  hasNoon: boolean,
  seconds: number,
  minutes: boolean,
): string {
  const pad = (number: number, width: number): string => String(number).padStart(width, '0')
  const length = part.length
  switch (part.charAt(0)) {
    case 'y':
      return length <= 2 ? pad(moment.year % 100, 2) : pad(moment.year, 4)
    case 'e':
      return String(moment.year)
    case 'b':
      return length <= 2 ? pad((moment.year + 543) % 100, 2) : String(moment.year + 543)
    case 'm':
      if (minutes) return pad(moment.minutes, Math.min(length, 2))
      if (length === 3) return (MONTHS[moment.month - 1] as string).slice(0, 3)
      if (length === 5) return (MONTHS[moment.month - 1] as string).slice(0, 1)
      return length >= 4 ? (MONTHS[moment.month - 1] as string) : pad(moment.month, length)
    case 'd':
      if (length === 3) return (DAYS[moment.weekday] as string).slice(0, 3)
      return length >= 4 ? (DAYS[moment.weekday] as string) : pad(moment.day, length)
    case 'a':
      return length === 3
        ? (DAYS[moment.weekday] as string).slice(0, 3)
        : (DAYS[moment.weekday] as string)
    case 'h':
      return pad(hasNoon ? moment.hours % 12 || 12 : moment.hours, Math.min(length, 2))
    case 's':
      return pad(Math.floor(seconds), Math.min(length, 2))
    default:
      return ''
  }
}
