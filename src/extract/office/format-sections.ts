/** The sections of a number format and the tokens they are made of (ECMA-376 part 1, 18.8.31). */

export type Token =
  | { kind: 'literal'; text: string }
  | { kind: 'digit'; text: '0' | '#' | '?' }
  | { kind: 'point' | 'comma' | 'percent' | 'slash' | 'text' | 'general' }
  | { kind: 'exponent'; text: string }
  | { kind: 'date'; text: string }
  | { kind: 'elapsed'; text: string }
  | { kind: 'noon'; text: string }

export interface Section {
  tokens: Token[]
  condition?: { operator: string; value: number }
  isDate: boolean
  /** Shows a year, month or day, not only a time. */
  hasDay: boolean
  /** Milliseconds that a time is rounded to; dates without a time are not rounded to the next day. */
  unitMs: number
  /** BCP 47 name of the language that it asks for (`de`, `zh-TW`); `''` when it names none. */
  language: string
  /** Months are named as behind the number of a day. */
  isGenitive: boolean
}

/** At the semicolons outside of quotes, brackets and escapes. */
export function splitSections(format: string): string[] {
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

export function parseSection(format: string): Section {
  const tokens: Token[] = []
  let condition: Section['condition']
  let language = ''
  let isGenitive = false
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
      const currency = /^\$([^-]*)(?:-(.*))?$/.exec(inside)
      const compared = /^(<=|>=|<>|<|>|=)\s*(-?[\d.]+)$/.exec(inside)
      if (/^(?:h+|m+|s+)$/i.test(inside))
        tokens.push({ kind: 'elapsed', text: inside.toLowerCase() })
      else if (currency) {
        literal(currency[1] ?? '')
        if (currency[2] !== undefined) [language, isGenitive] = languageOf(currency[2])
      } else if (compared)
        condition = { operator: compared[1] as string, value: Number(compared[2]) }
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
  const isTime = tokens.some(
    (token, at) =>
      token.kind === 'elapsed' ||
      token.kind === 'noon' ||
      (token.kind === 'date' && (/^[hs]/.test(token.text) || isMinutes(tokens, at))),
  )
  const point = tokens.findIndex(({ kind }) => kind === 'point')
  const behind = point < 0 ? [] : tokens.slice(point + 1)
  const places = behind.findIndex(({ kind }) => kind !== 'digit')
  const decimals = Math.min(places < 0 ? behind.length : places, 3)
  return {
    tokens,
    isDate,
    hasDay,
    unitMs: isTime ? 1000 / 10 ** decimals : 1,
    language,
    isGenitive,
    ...(condition && { condition }),
  }
}

/** Languages by the number Windows gives them, [MS-LCID] 2.2: the ten bits without their country. */
const LANGUAGES: Record<number, string> = {
  0x01: 'ar',
  0x02: 'bg',
  0x03: 'ca',
  0x04: 'zh',
  0x05: 'cs',
  0x06: 'da',
  0x07: 'de',
  0x08: 'el',
  0x0a: 'es',
  0x0b: 'fi',
  0x0c: 'fr',
  0x0d: 'he',
  0x0e: 'hu',
  0x0f: 'is',
  0x10: 'it',
  0x11: 'ja',
  0x12: 'ko',
  0x13: 'nl',
  0x14: 'nb',
  0x15: 'pl',
  0x16: 'pt',
  0x18: 'ro',
  0x19: 'ru',
  0x1a: 'hr',
  0x1b: 'sk',
  0x1c: 'sq',
  0x1d: 'sv',
  0x1e: 'th',
  0x1f: 'tr',
  0x21: 'id',
  0x22: 'uk',
  0x23: 'be',
  0x24: 'sl',
  0x25: 'et',
  0x26: 'lv',
  0x27: 'lt',
  0x29: 'fa',
  0x2a: 'vi',
  0x2d: 'eu',
  0x36: 'af',
  0x56: 'gl',
}

/** Language and genitive of what stands behind the dash of `[$-FC19]`, `[$€-407]` or `[$-de-DE]`. */
function languageOf(locale: string): [language: string, isGenitive: boolean] {
  const number = /^[0-9a-f]*?([0-9a-f]{1,4})(?:,\d+)?$/i.exec(locale)
  if (!number) return [/^([a-z]{2})-[a-z]{2}/i.exec(locale)?.[1]?.toLowerCase() ?? '', false]
  const id = parseInt(number[1] as string, 16)
  return [id === 0x404 ? 'zh-TW' : (LANGUAGES[id & 0x3ff] ?? ''), (id & 0xfc00) === 0xfc00]
}

/** `m` is minutes right after hours or right before seconds. */
export function isMinutes(tokens: readonly Token[], at: number): boolean {
  const isTime = (token: Token | undefined): token is Token & { text: string } =>
    token?.kind === 'date' || token?.kind === 'elapsed'
  const before = tokens.slice(0, at).findLast(isTime)
  const after = tokens.slice(at + 1).find(isTime)
  return /^h/.test(before?.text ?? '') || /^s/.test(after?.text ?? '')
}
