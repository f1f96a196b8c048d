/**
 * The text of a form that is dynamic XML (XFA 3.3), where pages exist only after a layout. pdf.js lays it out as a
 * tree of HTML-like nodes; its own text of it leaves out what was filled in.
 */
interface XfaNode {
  name: string
  value?: string
  attributes?: {
    value?: unknown
    textContent?: unknown
    /** Of an input: text, radio, checkbox … */
    type?: string
    /** Of a choice whose lines all show. */
    multiple?: boolean
    selected?: boolean
    /** Of the chosen line when none is. */
    hidden?: boolean
    style?: { visibility?: string }
  }
  children?: Array<XfaNode | null>
}

const BLOCKS = new Set([
  'div',
  'p',
  'li',
  'br',
  'tr',
  'td',
  'textarea',
  'input',
  'select',
  'option',
])

export function xfaText(root: unknown): string {
  const texts: string[] = []
  // Not asked of the whole text, which would be joined anew for each line.
  let isAtLineEnd = false
  const write = (text: string): void => {
    if (text === '') return
    texts.push(text)
    isAtLineEnd = text.endsWith('\n')
  }
  const walk = (node: XfaNode | null, depth: number): void => {
    if (!node || depth > 200 || node.attributes?.style?.visibility === 'hidden') return
    write(node.name === '#text' ? (node.value ?? '') : ownText(node))
    for (const child of node.name === 'select' ? chosen(node) : (node.children ?? []))
      walk(child, depth + 1)
    if (BLOCKS.has(node.name) && !isAtLineEnd) write('\n')
  }
  walk(root as XfaNode | null, 0)
  return texts.join('')
}

/** What is written in a node, or filled in. The values of boxes and choices are names for programs: N, 01, 024. */
function ownText({ name, value, attributes = {}, children = [] }: XfaNode): string {
  const isTyped = name === 'input' && !/^(?:radio|checkbox)$/.test(attributes.type ?? '')
  const isOwn = name === 'select' && !children.some(isChosen)
  const texts = [value, isTyped || isOwn ? attributes.value : undefined, attributes.textContent]
  return (texts.find((text) => typeof text === 'string' && text !== '') as string) ?? ''
}

/** Of a list that folds out the chosen line, of others all. */
function chosen({ attributes, children = [] }: XfaNode): Array<XfaNode | null> {
  return attributes?.multiple ? children : children.filter(isChosen)
}

const isChosen = (line: XfaNode | null): boolean =>
  line?.attributes?.selected === true && !line.attributes.hidden
