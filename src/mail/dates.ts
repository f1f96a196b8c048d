/**
 * Dates as mail writes them: RFC 5322 with its obsolete forms, ISO 8601, asctime.
 *
 * Never uses the machine's time zone: a missing zone is UTC, so that the same mail has the same date
 * everywhere. What cannot be read is null, never a guess of `Date.parse`.
 */

import { withoutComments } from './comments.js'

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** Hours from UTC; RFC 5322 section 4.3 and the names seen in mail. Military letters say nothing (RFC 5322). */
const ZONES: Record<string, number> = {
  ut: 0, utc: 0, gmt: 0, z: 0, wet: 0, west: 1, bst: 1, ist: 5.5, cet: 1, cest: 2, met: 1, mest: 2,
  mez: 1, mesz: 2, eet: 2, eest: 3, msk: 3, msd: 4, sast: 2, hkt: 8, sgt: 8, jst: 9, kst: 9,
  aest: 10, aedt: 11, acst: 9.5, awst: 8, nzst: 12, nzdt: 13, brt: -3, art: -3, nst: -3.5, ndt: -2.5,
  ast: -4, adt: -3, est: -5, edt: -4, cst: -6, cdt: -5, mst: -7, mdt: -6, pst: -8, pdt: -7,
  akst: -9, akdt: -8, hst: -10,
} // prettier-ignore

const DAY_FIRST =
  /(?:^|[\s,])(\d{1,2})[\s.-]{1,4}([a-z]{3})[a-z]{0,6}\.?[\s,.-]{1,4}(\d{2,4})(?:[\s,T]{1,4}(?:at\s)?(\d{1,2})[:.](\d{1,2})(?:[:.](\d{1,2}))?(?:[.,]\d{1,9})?\s{0,4}([ap]m)?\s{0,4}([+-]\s?\d{1,2}:?\d{0,2}|[a-z]{1,5})?([+-]\d{2}:?\d{2})?)?/i
const MONTH_FIRST =
  /(?:^|[\s,])([a-z]{3})[a-z]{0,6}\.?\s{1,4}(\d{1,2})(?:st|nd|rd|th)?,?\s{1,4}(?:(\d{4}),?\s{1,4})?(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s{0,4}([ap]m))?(?:\s{0,4}([+-]\d{2}:?\d{2}|[a-z]{1,5}))?(?:\s{1,4}(\d{4}))?/i
const ISO =
  /(?:^|\s)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T\s]{1,4}(\d{1,2}):(\d{2})(?::(\d{2}))?(?:[.,]\d{1,9})?\s{0,4}([+-]\d{2}:?\d{0,2}|[a-z]{1,5})?)?/i

/**
 * @param value a Date header, or what follows the last `;` of a Received header
 * @returns seconds since 1970, or null when it is no date
 */
export function parseDate(value: string): number | null {
  const text = withoutComments(value.slice(0, 400))
    .replace(/[\s\0"]+/g, ' ')
    .trim()
  let m = DAY_FIRST.exec(text)
  if (m) return seconds(year(m[3]), month(m[2]), m[1], m[4], m[5], m[6], m[7], offset(m[8], m[9]))
  m = MONTH_FIRST.exec(text)
  if (m && (m[3] ?? m[9]))
    return seconds(year(m[3] ?? m[9]), month(m[1]), m[2], m[4], m[5], m[6], m[7], offset(m[8]))
  m = ISO.exec(text)
  if (m)
    return seconds(Number(m[1]), Number(m[2]) - 1, m[3], m[4], m[5], m[6], undefined, offset(m[7]))
  return null
}

function year(digits: string | undefined): number {
  const value = Number(digits)
  if (digits?.length === 2) return value < 50 ? 2000 + value : 1900 + value
  return digits?.length === 3 ? 1900 + value : value
}

function month(name: string | undefined): number {
  return MONTHS.indexOf((name ?? '').toLowerCase())
}

/** Minutes east of UTC. An impossible offset counts as none. */
function offset(zone: string | undefined, after?: string): number {
  if (zone === undefined) return 0
  const numeric = /^([+-])\s?(\d{1,2}):?(\d{0,2})$/.exec(zone)
  if (numeric) {
    const minutes = Number(numeric[2]) * 60 + Number(numeric[3] || 0)
    if (minutes > 15 * 60) return 0
    return numeric[1] === '-' ? -minutes : minutes
  }
  // `GMT+0200`
  if (after && /^(gmt|utc?|z)$/i.test(zone)) return offset(after)
  const name = zone.toLowerCase()
  return Object.hasOwn(ZONES, name) ? (ZONES[name] as number) * 60 : 0
}

function seconds(
  y: number,
  mo: number,
  d: string | undefined,
  h = '0',
  mi = '0',
  s = '0',
  half: string | undefined,
  minutesEast: number,
): number | null {
  const day = Number(d)
  let hour = Number(h)
  if (half) hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const minute = Number(mi)
  const second = Number(s)
  if (mo < 0 || mo > 11 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 61)
    return null
  if (y < 1900 || y > 9999) return null
  const at = Date.UTC(y, mo, day, hour, minute, Math.min(second, 59))
  return Math.floor(at / 1000) - minutesEast * 60
}
