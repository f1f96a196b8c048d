/** Cells of OpenDocument sheets and of the tables behind its charts. */
import type { XmlScanner } from '../xml.js'

/** A value that is repeated is written as often as a person sees it, up to here. */
const REPEATED_MAX = 50

/** One cell of a sheet: its displayed text and its value (`office:value-type` and its kin). */
export class Cell {
  text = ''
  readonly repeated: number
  readonly #raw: string
  readonly #isNumber: boolean

  constructor(xml: XmlScanner) {
    const type = xml.attribute('value-type') ?? ''
    this.#isNumber = type === 'float' || type === 'percentage' || type === 'currency'
    this.#raw =
      type === 'date'
        ? (xml.attribute('date-value') ?? '').replace('T', ' ').replace(/ 00:00:00$/, '')
        : type === 'time'
          ? duration(xml.attribute('time-value') ?? '')
          : this.#isNumber
            ? (xml.attribute('value') ?? '')
            : (xml.attribute('string-value') ?? '')
    this.repeated = Math.max(
      1,
      Math.min(Number(xml.attribute('number-columns-repeated')) || 1, REPEATED_MAX),
    )
  }

  /** @param isChart the numbers of a chart's table are drawn, not written */
  displayed(isChart: boolean): string {
    const text = this.text.trim()
    if (isChart && this.#isNumber) return ''
    if (text === '') return this.#raw
    return this.#raw === '' || this.#raw === text ? text : `${text} ${this.#raw}`
  }
}

/** `PT14H30M00S` as `14:30:00`. */
function duration(value: string): string {
  const parts = /^PT(\d+)H(\d+)M(\d+)/.exec(value)
  return parts
    ? parts
        .slice(1)
        .map((part) => part.padStart(2, '0'))
        .join(':')
    : ''
}
