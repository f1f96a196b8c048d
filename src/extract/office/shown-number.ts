/** Numbers as the tokens of a format show them: places, fractions, exponents, and without a format. */
import type { Token } from './format-sections.js'

/** The program calculates and shows with 15 significant digits; what stands behind them is noise. */
export function fifteenDigits(value: number): number {
  return Number.isSafeInteger(value) ? value : Number(value.toPrecision(15))
}

/** Longest decimal form that is written out; a longer one of a small number has an exponent. */
const PLAIN_CHARS = 20

/** The shortest form that gives the same number: `0.00001`, `2.33211678880739E-05`, `1234567890123`. */
export function rawNumber(value: number): string {
  const text = String(value)
  const size = Math.abs(value)
  if (size >= 1e16) return withExponent(value.toExponential())
  if (size >= 1e-4 || size === 0) return text
  const plain = text.includes('e') ? value.toFixed(20).replace(/0+$/, '') : text
  return plain.length <= PLAIN_CHARS && Number(plain) === value
    ? plain
    : withExponent(value.toExponential())
}

/** As a cell of usual width shows it: eleven characters. */
export function general(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (Number.isInteger(value) && size < 1e11) return String(value)
  if (size >= 1e11) return withExponent(trimmed(value.toExponential(5)))
  if (size >= 1e-4) return String(Number(value.toPrecision(size < 1 ? 9 - zerosOf(size) : 10)))
  const plain = trimmed(size.toFixed(9))
  return Number(plain) === Number(size.toPrecision(10))
    ? (value < 0 ? '-' : '') + plain
    : withExponent(trimmed(value.toExponential(5)))
}

/** Zeros between the point and the first digit of a number below 1 and from 0.0001. */
function zerosOf(size: number): number {
  return size >= 0.1 ? 0 : size >= 0.01 ? 1 : size >= 0.001 ? 2 : 3
}

/** Without zeros at the end of the decimals. */
function trimmed(text: string): string {
  return text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '')
}

/** `1.5e-8` as the program writes it: `1.5E-08`. */
function withExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2').replace('e', 'E')
}

export function showNumber(tokens: readonly Token[], size: number): string {
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
  for (const { kind } of tokens) if (kind === 'percent') scaled = fifteenDigits(scaled * 100)
  const point = tokens.findIndex(({ kind }) => kind === 'point')
  const lastDigit = tokens.findLastIndex(
    (token, at) => token.kind === 'digit' && (point < 0 || at < point),
  )
  const firstDigit = tokens.findIndex(({ kind }) => kind === 'digit')
  let isGrouped = false
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i]?.kind !== 'comma') continue
    if (i > firstDigit && i < lastDigit) isGrouped = true
    else if (i > lastDigit) scaled = fifteenDigits(scaled / 1000)
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
  // `.00` has no place before the point, and shows what stands there all the same
  if (places === 0) left = whole
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

/** A number of fifteen digits rounded half away from zero, as the program does; behind them stand zeros. */
function fixed(value: number, decimals: number): string {
  if (value >= 1e21) return BigInt(Math.round(value)).toString()
  if (value < 1e-15) return (0).toFixed(decimals)
  const precise = String(value)
  const shifted = precise.includes('e') ? value * 10 ** decimals : Number(`${precise}e${decimals}`)
  if (shifted < 1e15) return (Math.round(shifted) / 10 ** decimals).toFixed(decimals)
  const [mantissa = '', order = '0'] = value.toExponential(14).split('e')
  const places = Number(order) + 1
  const digits = mantissa.replace('.', '').padEnd(places, '0')
  // fifteen digits end before the last decimal, so there is nothing to round
  return places > 0
    ? withPoint(digits.slice(0, places), digits.slice(places), decimals)
    : withPoint('0', '0'.repeat(-places) + digits, decimals)
}

function withPoint(whole: string, fraction: string, decimals: number): string {
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0').slice(0, decimals)}`
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
  let shown = fixed(fifteenDigits(size / 10 ** exponent), Math.min(decimals, 30))
  if (Number(shown) >= 10 ** Math.max(1, wholes)) {
    exponent += Math.max(1, wholes)
    shown = fixed(fifteenDigits(size / 10 ** exponent), Math.min(decimals, 30))
  }
  const sign = exponent < 0 ? '-' : (tokens[mark] as { text: string }).text[1] === '+' ? '+' : ''
  return `${shown}E${sign}${String(Math.abs(exponent)).padStart(width, '0')}`
}

/** Continued fraction up to the denominator that the places allow, or over a fixed one. */
function showFraction(tokens: readonly Token[], size: number): string {
  const slash = tokens.findIndex(({ kind }) => kind === 'slash')
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
  const first = tokens.findIndex(({ kind }) => kind === 'digit')
  const prefix = wordsOf(tokens.slice(0, first))
  const suffix = wordsOf(tokens.slice(first))
  const shown =
    hasWhole && numerator === 0
      ? String(whole)
      : hasWhole && numerator === denominator
        ? String(whole + 1)
        : `${whole > 0 ? `${whole} ` : ''}${numerator}/${denominator}`
  return prefix + shown + suffix
}

/** Literals that are neither spaces nor digits of a denominator. */
function wordsOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.kind === 'literal' && !/^[\d ]*$/.test(token.text) ? token.text : ''))
    .join('')
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
