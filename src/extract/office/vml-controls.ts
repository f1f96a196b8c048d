/**
 * Captions of the buttons and boxes on a sheet that only its VML drawing holds, as Excel 2007 writes them; later
 * versions repeat them in the sheet's drawing. The frames of comments stand in the same part and have no text.
 *
 * Format: ECMA-376 part 4, 19.1 (VML) and 19.4 (its spreadsheet elements).
 */
import type { TextSink } from '../sink.js'
import type { XmlHandler, XmlScanner } from '../xml.js'

export class VmlControlsHandler implements XmlHandler {
  readonly #sink: TextSink
  #caption = ''
  #isText = false
  #isControl = false

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  open(name: string, xml: XmlScanner): void {
    if (name === 'shapetype' || name === 'shapelayout') xml.skip()
    else if (name === 'shape') {
      this.#caption = ''
      this.#isControl = false
    } else if (name === 'textbox') this.#isText = true
    else if (name === 'ClientData') {
      this.#isControl = xml.attribute('ObjectType') !== 'Note'
      xml.skip()
    } else if (name === 'div' || name === 'br') this.#caption += ' '
  }

  close(name: string): void {
    if (name === 'textbox') this.#isText = false
    else if (name === 'shape') {
      const caption = this.#caption.replace(/\s+/g, ' ').trim()
      if (this.#isControl && caption !== '') this.#sink.line(caption)
    }
  }

  text(text: string): void {
    if (this.#isText) this.#caption += text
  }
}
