/**
 * Address lists: From, To, Cc, Bcc. RFC 5322 section 3.4 with what mail really holds: encoded words
 * in quotes, commas in unquoted names, groups, comments as names, names without address.
 */
import { withoutComments } from './comments.js'
import type { Person } from './message.js'
import { decodeWords } from './words.js'

/** Persons read of one field. */
const PERSONS = 20_000

/**
 * @param value one character a byte, unfolded
 * @param charset of the mail, for raw bytes that are no UTF-8
 */
export function parseAddresses(value: string, charset = ''): Person[] {
  if (value === '') return []
  // Nearly every field holds one person; the pattern is for short ones (it may go back and forth).
  const simple = value.length < 400 ? SIMPLE.exec(value) : null
  if (simple)
    return [
      {
        name: decodeWords(simple[1] ?? '', charset).trim(),
        address: decodeWords(simple[2] as string, charset),
      },
    ]
  const persons: Person[] = []
  let name = ''
  let address = ''
  let comment = ''
  let isQuotedName = false
  const end = (): void => {
    const person = personOf(name, address, comment, isQuotedName, charset)
    if (person && persons.length < PERSONS) persons.push(person)
    name = address = comment = ''
    isQuotedName = false
  }
  for (let i = 0; i < value.length; i++) {
    const c = value[i] as string
    if (c === '"') {
      let quoted = ''
      for (i++; i < value.length && value[i] !== '"'; i++) {
        if (value[i] === '\\') i++
        quoted += value[i] ?? ''
      }
      // "local part"@domain
      if (value[i + 1] === '@') name += `"${quoted}"`
      else {
        name += name === '' || name.endsWith(' ') ? quoted : ` ${quoted}`
        isQuotedName = true
      }
    } else if (c === '(') {
      let depth = 1
      const from = i + 1
      for (i++; i < value.length && depth > 0; i++) {
        if (value[i] === '\\') i++
        else if (value[i] === '(') depth++
        else if (value[i] === ')') depth--
      }
      comment += (comment === '' ? '' : ' ') + value.slice(from, i - (depth === 0 ? 1 : 0))
      i--
    } else if (c === '<') {
      const close = value.indexOf('>', i)
      const inner = value.slice(i + 1, close < 0 ? undefined : close)
      // `a < b@c`: a stray bracket; the last one holds the address
      address = inner.slice(inner.lastIndexOf('<') + 1).trim()
      i = close < 0 ? value.length : close
    } else if (c === ',' || c === ';') {
      // An unquoted `Last, First <address>` is one person: no address before the comma.
      if (c === ',' && address === '' && !name.includes('@') && nextIsBracket(value, i + 1))
        name += c
      else end()
    } else if (c === ':' && address === '' && !name.includes('@') && !isQuotedName) {
      // The name of a group; its members follow.
      name = ''
    } else name += c
  }
  end()
  return persons
}

const SIMPLE = /^(?:"?([^"'<>(),;:@\\]*?)"?\s*<)?([^\s"'<>(),;:\\@]+@[^\s"<>(),;:\\@]+)>?$/

/** Whether the name that begins here ends in `<…>` before the next comma. */
function nextIsBracket(value: string, from: number): boolean {
  for (let i = from; i < Math.min(value.length, from + 200); i++) {
    const c = value[i]
    if (c === '<') return i > from
    if (c === ',' || c === ';' || c === '@' || c === '"' || c === ':') return false
  }
  return false
}

function personOf(
  rawName: string,
  rawAddress: string,
  comment: string,
  isQuotedName: boolean,
  charset: string,
): Person | undefined {
  let name = rawName.trim()
  let address = rawAddress
  if (address === '' && name.includes('@') && !isQuotedName) {
    // A quoted local part may hold blanks.
    const words = name.match(/"[^"]*"@\S*|\S+/g) ?? []
    const found = words.findIndex((word) => word.includes('@'))
    address = words[found] ?? ''
    name = words.filter((_, i) => i !== found).join(' ')
  }
  address = withoutComments(address)
  // `<@relay.example:person@example.org>`: an obsolete route
  if (address.startsWith('@')) address = address.replace(/^@[^:]*:/, '')
  address = decodeWords(address, charset)
    .replace(/^mailto:/i, '')
    .trim()
    .slice(0, 998)
  let shown = decodeWords(name, charset).trim()
  if (shown === '' && comment !== '') shown = decodeWords(comment, charset).trim()
  // 'Name' in single quotes, as some mailers write it
  const single = /^'(.*)'$/.exec(shown)
  if (single) shown = (single[1] as string).trim()
  if (address === '' && shown === '') return undefined
  return { name: shown, address }
}
