/**
 * Text in format=flowed made whole again (RFC 3676): lines that end in a space go on in the next.
 * One pass, so that a body of 130,000 lines costs what its length costs.
 */

/** @param delSp the space at a line's end is no part of the text */
export function unflow(text: string, delSp: boolean): string {
  const out: string[] = []
  let paragraph: string[] = []
  let depth = 0
  const end = (): void => {
    if (paragraph.length === 0) return
    out.push((depth > 0 ? `${'>'.repeat(Math.min(depth, 20))} ` : '') + paragraph.join(''))
    paragraph = []
  }
  for (const line of text.split('\n')) {
    let quotes = 0
    while (line.charCodeAt(quotes) === 0x3e) quotes++
    const from = line.charCodeAt(quotes) === 32 ? quotes + 1 : quotes
    const content = line.slice(from)
    if (quotes !== depth) end()
    depth = quotes
    const isFlowed = content.endsWith(' ') && content !== '-- '
    if (content === '-- ') end()
    paragraph.push(isFlowed && delSp ? content.slice(0, -1) : content)
    if (!isFlowed) end()
  }
  end()
  return out.join('\n')
}
