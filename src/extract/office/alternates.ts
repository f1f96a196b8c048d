/** Markup compatibility (ECMA-376 part 3): of the branches of an AlternateContent exactly one is read. */
import type { XmlScanner } from '../xml.js'

/** Namespaces whose content is read; a Choice that requires another one gives way to the next branch. */
const UNDERSTOOD =
  /^https?:\/\/(?:schemas\.microsoft\.com\/office\/|schemas\.openxmlformats\.org\/|purl\.oclc\.org\/ooxml\/)/

export class Alternates {
  /** One for each open AlternateContent: a branch was taken. */
  readonly #taken: boolean[] = []

  /** @returns true when the element was dealt with here (and skipped when it is a branch not taken) */
  open(name: string, xml: XmlScanner): boolean {
    if (name === 'AlternateContent') {
      this.#taken.push(false)
      return true
    }
    const depth = this.#taken.length - 1
    if (depth < 0 || (name !== 'Choice' && name !== 'Fallback')) return false
    if (this.#taken[depth] || (name === 'Choice' && !understands(xml))) xml.skip()
    else this.#taken[depth] = true
    return true
  }

  close(name: string): void {
    if (name === 'AlternateContent') this.#taken.pop()
  }
}

function understands(xml: XmlScanner): boolean {
  const prefixes = (xml.attribute('Requires') ?? '').split(/\s+/).filter(Boolean)
  return prefixes.every((prefix) => UNDERSTOOD.test(xml.namespaceOf(prefix) ?? ''))
}
