/** Dates and times as the tokens of a format show them. */
import { isMinutes, type Section, type Token } from './format-sections.js'

export interface Moment {
  year: number
  /** 1 to 12. */
  month: number
  /** 0 for the day before the first of 1900, which spreadsheets count. */
  day: number
  /** 0 to 6, from Sunday. */
  weekday: number
  hours: number
  minutes: number
  /** With its fraction. */
  seconds: number
  /** All seconds since the epoch. */
  totalSeconds: number
}

const DAY_MS = 86_400_000

/**
 * Days since the epoch to a date; undefined before it and after 9999. 1900 was no leap year, but counts as one.
 *
 * @param unitMs milliseconds that the time is rounded to
 */
export function momentOf(value: number, is1904: boolean, unitMs: number): Moment | undefined {
  if (!(value >= 0 && value < 2_958_466)) return undefined
  const total = Math.round((value * DAY_MS) / unitMs) * unitMs
  const day = Math.floor(total / DAY_MS) + (is1904 ? 1462 : 0)
  const inDay = total % DAY_MS
  const time = {
    hours: Math.floor(inDay / 3_600_000),
    minutes: Math.floor((inDay % 3_600_000) / 60_000),
    seconds: (inDay % 60_000) / 1000,
    totalSeconds: total / 1000,
  }
  const weekday = (day + 6) % 7
  if (day === 60 && !is1904) return { year: 1900, month: 2, day: 29, weekday, ...time }
  if (day === 0) return { year: 1900, month: 1, day: 0, weekday, ...time }
  const date = new Date(Date.UTC(1899, 11, day > 60 || is1904 ? 30 : 31) + day * DAY_MS)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday,
    ...time,
  }
}

/** `2024-03-05`, `2024-03-05 14:30:00`, and `14:30:00` below one day. */
export function isoOf(moment: Moment, value: number): string {
  const two = (number: number): string => pad(Math.floor(number), 2)
  const date = `${pad(moment.year, 4)}-${two(moment.month)}-${two(moment.day)}`
  const time = `${two(moment.hours)}:${two(moment.minutes)}:${two(moment.seconds)}`
  if (value < 1) return time
  return time === '00:00:00' ? date : `${date} ${time}`
}

function pad(number: number, width: number): string {
  return String(number).padStart(width, '0')
}

/** An ISO date as days since the 1900 epoch; NaN for another text. */
export function serialOf(value: string): number {
  const milliseconds = Date.parse(
    /[Zz]|[+-]\d\d:\d\d$/.test(value) ? value : value + (value.includes('T') ? 'Z' : ''),
  )
  return milliseconds / 86_400_000 + 25_569
}

export function showDate({ tokens, language, isGenitive }: Section, moment: Moment): string {
  const names = namesIn(language)
  const hasNoon = tokens.some(({ kind }) => kind === 'noon')
  const hasEra = tokens.some((token) => token.kind === 'date' && token.text[0] === 'g')
  const era = hasEra || language === 'ja' ? eraOf(moment) : undefined
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
        out += token.text.split('/')[moment.hours < 12 ? 0 : 1]
        break
      case 'point': {
        let places = 0
        while (tokens[i + 1 + places]?.kind === 'digit') places++
        out += places > 0 ? (moment.seconds % 1).toFixed(Math.min(places, 3)).slice(1) : '.'
        i += places
        break
      }
      case 'elapsed': {
        const seconds = { h: 3600, m: 60, s: 1 }[token.text[0] as 'h' | 'm' | 's']
        out += pad(Math.floor(moment.totalSeconds / seconds), token.text.length)
        break
      }
      case 'date':
        out += part(token.text, isMinutes(tokens, i))
        break
      case 'digit':
      case 'exponent':
      case 'general':
      case 'text':
        break
    }
  }
  return out.trim()

  function part(text: string, isMinute: boolean): string {
    const { length } = text
    switch (text.charAt(0)) {
      case 'y':
        return length <= 2 ? pad(moment.year % 100, 2) : pad(moment.year, 4)
      case 'g':
        return era ? (era.name[Math.min(length, 3) - 1] as string) : ''
      case 'e':
        if (era) return pad(moment.year - era.from + 1, length)
        return String(language === 'zh-TW' ? moment.year - 1911 : moment.year)
      case 'b':
        return length <= 2 ? pad((moment.year + 543) % 100, 2) : String(moment.year + 543)
      case 'm':
        if (isMinute) return pad(moment.minutes, Math.min(length, 2))
        if (length < 3) return pad(moment.month, length)
        return length === 3
          ? names.month(moment, 'short', isGenitive)
          : length === 5
            ? names.month(moment, 'long', isGenitive).slice(0, 1)
            : names.month(moment, 'long', isGenitive)
      case 'd':
        if (length < 3) return pad(moment.day, length)
        return names.weekday(moment, length === 3 ? 'short' : 'long')
      case 'a':
        return names.weekday(moment, length > 3 ? 'long' : names.isEastAsian ? 'narrow' : 'short')
      case 'h':
        return pad(hasNoon ? moment.hours % 12 || 12 : moment.hours, Math.min(length, 2))
      case 's':
        return pad(Math.floor(moment.seconds), Math.min(length, 2))
      default:
        return ''
    }
  }
}

type Width = 'long' | 'short' | 'narrow'

/** Names of months and weekdays in one language. */
class Names {
  readonly isEastAsian: boolean
  readonly #language: string
  readonly #formats = new Map<string, Intl.DateTimeFormat>()

  constructor(language: string) {
    this.#language = language || 'en'
    this.isEastAsian = /^(?:ja|ko|zh)/.test(language)
  }

  /** @param isGenitive as behind the number of a day, in languages where that makes a difference */
  month({ month }: Moment, width: Width, isGenitive: boolean): string {
    return this.#name('month', width, Date.UTC(2023, month - 1, 1), isGenitive)
  }

  weekday({ weekday }: Moment, width: Width): string {
    // the first of January 2023 was a Sunday
    return this.#name('weekday', width, Date.UTC(2023, 0, 1 + weekday), false)
  }

  #name(what: 'month' | 'weekday', width: Width, at: number, isGenitive: boolean): string {
    const key = `${what} ${width} ${isGenitive}`
    let format = this.#formats.get(key)
    if (!format) {
      format = new Intl.DateTimeFormat(this.#language, {
        [what]: width,
        ...(isGenitive && { day: 'numeric' }),
        calendar: 'gregory',
        timeZone: 'UTC',
      })
      this.#formats.set(key, format)
    }
    if (!isGenitive) return format.format(at).replace(/\.$/, '')
    const part = format.formatToParts(at).find(({ type }) => type === what)
    return (part?.value ?? '').replace(/\.$/, '')
  }
}

const NAMES = new Map<string, Names>()

function namesIn(language: string): Names {
  let names = NAMES.get(language)
  if (!names) NAMES.set(language, (names = new Names(language)))
  return names
}

interface Era {
  /** First day as year, month and day in one number. */
  since: number
  /** Its first year. */
  from: number
  /** Named in one letter, one character and in full. */
  name: readonly [string, string, string]
}

const ERAS: readonly Era[] = [
  { since: 20190501, from: 2019, name: ['R', '令', '令和'] },
  { since: 19890108, from: 1989, name: ['H', '平', '平成'] },
  { since: 19261225, from: 1926, name: ['S', '昭', '昭和'] },
  { since: 19120730, from: 1912, name: ['T', '大', '大正'] },
  { since: 18680125, from: 1868, name: ['M', '明', '明治'] },
]

/** The Japanese era of a day. */
function eraOf({ year, month, day }: Moment): Era | undefined {
  const date = year * 10_000 + month * 100 + day
  return ERAS.find(({ since }) => date >= since)
}
