/** The forms of an OpenDocument: what their controls show, to be written where each is drawn. */
import type { XmlScanner } from '../xml.js'

/** Controls whose value is what they show; the values of others are what a program would send. */
const SHOWING_VALUE = new Set([
  'text',
  'textarea',
  'formatted-text',
  'number',
  'date',
  'combobox',
  'file',
])
/** Nothing in these is shown. */
const UNSEEN = new Set(['model', 'properties', 'event-listeners', 'hidden', 'password'])

/** Collects labels, values and the entries of lists by control, while `office:forms` is open. */
export class FormReader {
  readonly #texts = new Map<string, string[]>()
  /** Texts of the control that is open, and how deep inside of it the reading is. */
  #control: string[] | undefined
  #depth = 0

  open(name: string, xml: XmlScanner): void {
    if (UNSEEN.has(name)) return xml.skip()
    if (this.#control) this.#depth++
    else {
      const id = name === 'form' ? undefined : xml.attribute('id')
      if (id === undefined) return
      this.#control = []
      this.#depth = 1
      this.#texts.set(id, this.#control)
    }
    this.#add(xml.attribute('label'))
    if (SHOWING_VALUE.has(name)) this.#add(xml.attribute('current-value') ?? xml.attribute('value'))
  }

  close(): void {
    if (this.#control && --this.#depth === 0) this.#control = undefined
  }

  /** What a control shows. */
  of(id: string | undefined): readonly string[] {
    return (id !== undefined && this.#texts.get(id)) || []
  }

  #add(text: string | undefined): void {
    const shown = text?.trim()
    if (shown) this.#control?.push(shown)
  }
}
