/**
 * Small XML parts (content types, properties, package documents) as a tree, with fast-xml-parser set so
 * that nothing is coerced, reordered or trimmed. Large parts go through xml.ts, and so do relationships:
 * a workbook has one such part a sheet, and building trees of them took a sixth of its time.
 */
import type { XMLParser } from 'fast-xml-parser'

export interface SmallElement {
  /** Local name. */
  name: string
  attributes: Record<string, string>
  children: SmallElement[]
  /** Character data of this element and those below, in order. */
  text: string
}

/** Parts above this size are no small parts. */
export const SMALL_XML_BYTES = 2_000_000

let parser: XMLParser | undefined

/**
 * @param bytes UTF-8 or UTF-16
 * @returns the root element, or undefined when there is none that can be read
 */
export async function parseSmallXml(bytes: Uint8Array): Promise<SmallElement | undefined> {
  if (bytes.length > SMALL_XML_BYTES) return undefined
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isWide = buffer[0] === 0xff || (buffer[0] === 0x3c && buffer[1] === 0)
  const text = buffer.toString(isWide ? 'utf16le' : 'utf8').replace(/^\ufeff/, '')
  if (/<!DOCTYPE/i.test(text)) return undefined
  parser ??= new (await import('fast-xml-parser')).XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    attributesGroupName: false,
    removeNSPrefix: true,
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    htmlEntities: true,
    ignoreDeclaration: true,
    ignorePiTags: true,
  })
  try {
    return element((parser.parse(text) as OrderedNode[]).find((node) => !('#text' in node)))
  } catch {
    return undefined
  }
}

/** One node as fast-xml-parser gives it with preserveOrder: a name with children, and `:@`. */
type OrderedNode = Record<string, unknown>

function element(node: OrderedNode | undefined): SmallElement | undefined {
  if (!node) return undefined
  const name = Object.keys(node).find((key) => key !== ':@')
  if (name === undefined) return undefined
  const children: SmallElement[] = []
  let text = ''
  for (const child of node[name] as OrderedNode[]) {
    if ('#text' in child) text += String(child['#text'])
    else {
      const inner = element(child)
      if (inner) {
        children.push(inner)
        text += inner.text
      }
    }
  }
  return { name, attributes: (node[':@'] ?? {}) as Record<string, string>, children, text }
}
