/**
 * Days, ages and sizes as people type them in filters. Days are local time (TZ), as a person reads
 * them in a list of mail. Not responsible for what a filter does with them.
 */

/** A stretch of time in seconds since 1970: `from` included, `until` excluded. */
export interface Span {
  readonly from: number
  readonly until: number
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** Local midnight. Years below 100 stay what they are (the Date constructor would add 1900). */
function midnight(year: number, month: number, day: number): Date {
  const date = new Date(2000, 0, 1)
  date.setFullYear(year, month, day)
  date.setHours(0, 0, 0, 0)
  return date
}

function dayOf(year: number, month: number, day: number): Span | undefined {
  const last = new Date(Date.UTC(2000, month, 0))
  last.setUTCFullYear(year, month, 0)
  if (month < 1 || month > 12 || day < 1 || day > last.getUTCDate()) return undefined
  return {
    from: seconds(midnight(year, month - 1, day)),
    until: seconds(midnight(year, month - 1, day + 1)),
  }
}

/**
 * A year, month or day in local time: `2014`, `2014-03`, `2014-03-05` (also with `/`, `.` or none:
 * `20140305`), `5.3.2014` (day first), `3/5/2014` (month first, as Gmail reads it, unless that
 * cannot be), `today`, `yesterday`, and ages (`7d`: the day seven days ago).
 *
 * @returns `undefined` for anything else, days that no calendar has included
 */
export function parseDay(typed: string, now: Date): Span | undefined {
  const text = typed.trim().normalize('NFKC').toLowerCase()
  const numbers = (pattern: RegExp): number[] | undefined =>
    pattern.exec(text)?.slice(1).map(Number)

  const year = numbers(/^(\d{4})$/)
  if (year) {
    const [y] = year as [number]
    return { from: seconds(midnight(y, 0, 1)), until: seconds(midnight(y + 1, 0, 1)) }
  }
  const month = numbers(/^(\d{4})[-/.](\d{1,2})$/)
  if (month) {
    const [y, m] = month as [number, number]
    if (m < 1 || m > 12) return undefined
    return { from: seconds(midnight(y, m - 1, 1)), until: seconds(midnight(y, m, 1)) }
  }
  const day = numbers(/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/) ?? numbers(/^(\d{4})(\d{2})(\d{2})$/)
  if (day) return dayOf(...(day as [number, number, number]))
  const dayFirst = numbers(/^(\d{1,2})[-.](\d{1,2})[-.](\d{4})$/)
  if (dayFirst) {
    const [d, m, y] = dayFirst as [number, number, number]
    return dayOf(y, m, d)
  }
  const monthFirst = numbers(/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/)
  if (monthFirst) {
    const [a, b, y] = monthFirst as [number, number, number]
    return a > 12 ? dayOf(y, b, a) : dayOf(y, a, b)
  }
  if (text === 'today' || text === 'yesterday') {
    const back = text === 'today' ? 0 : 1
    return dayBack(now, back)
  }
  const age = parseAge(text, now)
  return age === undefined ? undefined : dayBack(new Date(age * 1000), 0)
}

function dayBack(now: Date, back: number): Span {
  const at = (shift: number): number =>
    seconds(midnight(now.getFullYear(), now.getMonth(), now.getDate() + shift))
  return { from: at(-back), until: at(1 - back) }
}

/**
 * The moment that lies an age before `now`, in seconds since 1970: `12h`, `7d`, `2w`, `3m` (months),
 * `1y`; months and years by the calendar.
 */
export function parseAge(typed: string, now: Date): number | undefined {
  const match = /^(\d{1,4})\s*(h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)$/.exec(
    typed.trim().normalize('NFKC').toLowerCase(),
  )
  if (!match) return undefined
  const count = Number(match[1])
  const at = new Date(now)
  const unit = (match[2] as string)[0]
  if (unit === 'h') return seconds(now) - count * 3_600
  if (unit === 'd') at.setDate(at.getDate() - count)
  else if (unit === 'w') at.setDate(at.getDate() - count * 7)
  else if (unit === 'm') back(at, 0, count)
  else back(at, count, 0)
  return seconds(at)
}

/** Moves back by years and months, to the month's last day where the day does not exist there. */
function back(at: Date, years: number, months: number): void {
  const day = at.getDate()
  at.setDate(1)
  at.setFullYear(at.getFullYear() - years, at.getMonth() - months)
  const last = new Date(at.getFullYear(), at.getMonth() + 1, 0).getDate()
  at.setDate(Math.min(day, last))
}

const UNITS: Record<string, number> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  ki: 1024,
  mi: 1024 ** 2,
  gi: 1024 ** 3,
}

/** Bytes: `500`, `500k`, `5M`, `1.5 MB`, `2GiB`. Decimal units unless written with an i. */
export function parseBytes(typed: string): number | undefined {
  const match = /^(\d{1,12}(?:[.,]\d{1,6})?)\s*([kmg]i?|)(?:b|bytes)?$/.exec(
    typed.trim().normalize('NFKC').toLowerCase(),
  )
  if (!match) return undefined
  const bytes =
    Number((match[1] as string).replace(',', '.')) * (UNITS[match[2] as string] as number)
  return Math.round(bytes)
}
