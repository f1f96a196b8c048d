/**
 * The text of a form that is dynamic XML (XFA 3.3), where pages exist only after a layout. pdf.js lays it out as a
 * tree of HTML-like nodes; its own text of it leaves out what was filled in.
 */
interface XfaNode {
  name: string
  value?: string
  attributes?: { value?: unknown; textContent?: unknown }
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
  let text = ''
  const walk = (node: XfaNode | null, depth: number): void => {
    if (!node || depth > 200) return
    if (node.name === '#text') text += node.value ?? ''
    else {
      const { value, textContent } = node.attributes ?? {}
      for (const own of [node.value, value, textContent])
        if (typeof own === 'string' && own !== '') {
          text += own
          break
        }
    }
    for (const child of node.children ?? []) walk(child, depth + 1)
    if (BLOCKS.has(node.name) && !/\n$/.test(text)) text += '\n'
  }
  walk(root as XfaNode | null, 0)
  return text
}
