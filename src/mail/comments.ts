/** A structured field's value without its comments in parentheses, which may be nested (RFC 5322 section 3.2.2). */
export function withoutComments(text: string): string {
  if (!text.includes('(')) return text
  let depth = 0
  let out = ''
  for (const c of text) {
    if (c === '(') depth++
    else if (c === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) out += c
  }
  return out
}
