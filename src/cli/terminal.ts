/**
 * What reaches the terminal: results on standard output, progress and messages on standard error.
 *
 * Mail is written by strangers, so nothing of it is printed before control characters, escapes and marks
 * that turn the writing direction have been taken out. A reader that closes the pipe ends the output
 * quietly.
 */
import { once } from 'node:events'

/** C0 and C1 controls, DEL, line separators, marks and overrides of direction, and the byte order mark. */
const HOSTILE =
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g

/** A piece of a line: as `plain`, but spaces at its edges stay. */
export function plainPiece(text: string): string {
  return text.replace(HOSTILE, ' ').replace(/\s+/gu, ' ')
}

/** Text of a document: in full for a file or another program, without what a terminal would obey for a terminal. */
export function shownText(text: string): string {
  if (process.stdout.isTTY !== true) return text
  return text.replace(HOSTILE, (found) => found.replace(/[^\n\t\f]/g, '').replaceAll('\f', '\n'))
}

/** Text of a mail as one line that a terminal shows and never obeys. */
export function plain(text: string): string {
  return text.replace(HOSTILE, ' ').replace(/ {2,}/g, ' ').trim()
}

/** JSON in which no control character stands unescaped, C1 and direction marks included. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const hasColour = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'

const style =
  (code: string, end: string) =>
  (text: string): string =>
    hasColour(process.stdout) ? `\u001b[${code}m${text}\u001b[${end}m` : text
export const bold = style('1', '22')
export const dim = style('2', '22')
/** A match: bright on a terminal, between marks elsewhere. */
export const marked = (text: string): string =>
  hasColour(process.stdout) ? `\u001b[1;33m${text}\u001b[0m` : `«${text}»`

/** Set once the reader of standard output is gone: nothing more is written. */
let closed = false
let whenClosed: () => void = () => {}

/** @param onClosed called once when the reader of standard output closes it */
export function watchPipe(onClosed: () => void): void {
  whenClosed = onClosed
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    if (closed) return
    closed = true
    whenClosed()
  })
  process.stderr.on('error', () => {})
}

/** Writes a line of results, and waits when the reader is slow. */
export async function print(line = ''): Promise<void> {
  if (closed) return
  if (!process.stdout.write(`${line}\n`) && !closed)
    await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]).catch(
      () => {},
    )
}

export const printJson = (value: unknown): Promise<void> => print(jsonLine(value))

/** A message for the person, never a result. */
export function note(message: string): void {
  progressLine.clear()
  process.stderr.write(`${message}\n`)
}

/** The line at the foot of the terminal that progress draws on. */
export const progressLine = {
  isShown: false,
  clear(): void {
    if (this.isShown) process.stderr.write('\r\u001b[K')
    this.isShown = false
  },
  draw(text: string): void {
    const columns = process.stderr.columns || 80
    process.stderr.write(`\r\u001b[K${cutToColumns(text, columns - 1)}`)
    this.isShown = true
  },
}

/** Columns that a terminal gives a character: two for East Asian wide ones and emoji, none for marks. */
export function columnsOf(text: string): number {
  let columns = 0
  for (const character of text) {
    if (/\p{Mn}|\p{Me}|\u200d/u.test(character)) continue
    const code = character.codePointAt(0) as number
    const isWide =
      (code >= 0x1100 && code <= 0x115f) ||
      (code >= 0x2e80 && code <= 0xa4cf) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) ||
      (code >= 0x1f300 && code <= 0x1faff) ||
      code >= 0x20000
    columns += isWide ? 2 : 1
  }
  return columns
}

export function cutToColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let kept = ''
  for (const character of text) {
    if (columnsOf(kept + character) > columns - 1) break
    kept += character
  }
  return `${kept}…`
}

/** `1.4 MB`; a thousand is a thousand. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let unit = 0
  while (bytes >= 999.5 && unit < units.length - 1) {
    bytes /= 1000
    unit++
  }
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`
}

/** `12,345`, with a comma in every locale, so that scripts and people read the same. */
export const countText = (count: number): string => count.toLocaleString('en-US')

/** `1 message`, `2 messages`. */
export const counted = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? '' : 's'}`

/** `850 ms`, `12 s`, `3 min 20 s`, `5.2 h`. */
export function durationText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(1)} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 100) return `${seconds} s`
  if (seconds < 5400) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${(seconds / 3600).toFixed(1)} h`
}

/** A date as a list shows it, in local time: `2024-03-05 09:12`. @param seconds since 1970 */
export function dateText(seconds: number): string {
  const date = new Date(seconds * 1000)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Draws how far a long run is: a bar on a terminal, a plain line now and then elsewhere. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  readonly #everyMs = this.#isTerminal ? 100 : 10_000
  #nextAt = this.#isTerminal ? 0 : performance.now() + this.#everyMs
  #last = ''
  #label = ''

  /** @param label `reading messages` @param total 0 when it is not known */
  show(label: string, done: number, total: number, detail = ''): void {
    const now = performance.now()
    // What was begun is told to its end.
    const isEnd = label === this.#label && total > 0 && done >= total
    if (now < this.#nextAt && !isEnd) return
    this.#label = label
    this.#nextAt = now + this.#everyMs
    const share = total > 0 ? Math.min(1, done / total) : 0
    const figures = total > 0 ? `${countText(done)} of ${countText(total)}` : countText(done)
    const bar =
      this.#isTerminal && total > 0 ? `[${'#'.repeat(Math.floor(share * 20)).padEnd(20)}] ` : ''
    const text = `${bar}${label} ${figures}${detail ? `, ${detail}` : ''}`
    if (this.#isTerminal) progressLine.draw(text)
    else if (text !== this.#last) process.stderr.write(`${text}\n`)
    this.#last = text
  }

  end(): void {
    progressLine.clear()
  }
}
