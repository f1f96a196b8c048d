/**
 * Bytes of a mail to a Message: the one way in.
 *
 * Structure comes from plain.ts, or from lenient.ts when anything is unusual; here it is decided what
 * the leaves are (body text or documents), and they are decoded, hashed and bounded. A mail broken in
 * any way gives a Message with what could be read, `problems` and `losses`. Knows no disk.
 */
import { isOleFile } from '../ole/read.js'
import { parseAddresses } from './addresses.js'
import { takeBlocks } from './blocks.js'
import { decodeText } from './charset.js'
import { fromWide, headStart, repair } from './condition.js'
import { parseDate } from './dates.js'
import { unflow } from './flowed.js'
import { all, first, parseStructured, type Head } from './head.js'
import { htmlText } from './html.js'
import { readLenientTree } from './lenient.js'
import { tooManyParts, type Message, type Part, type Person } from './message.js'
import { parseMsg } from './outlook/message.js'
import { partOf, type ParseOptions } from './part-of.js'
import { readPlainTree } from './plain.js'
import { decodeTransfer, encodingOf, measureTransfer } from './transfer.js'
import type { Leaf, Tree } from './tree.js'
import { decodeWords } from './words.js'

/**
 * Parses one mail.
 *
 * @param bytes the whole mail, or its first `messageBytes`; parts are views of it where no decoding
 *   was needed, so it must not be changed while they are used
 * @returns never throws for what the mail holds
 */
export async function parseMessage(bytes: Uint8Array, options: ParseOptions): Promise<Message> {
  const { limits } = options
  const endsAt = performance.now() + limits.parseTimeoutMs * 0.8
  const problems: string[] = []
  const losses: string[] = []
  let mail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (mail.length > limits.messageBytes) {
    mail = mail.subarray(0, limits.messageBytes)
    losses.push(`larger than ${limits.messageBytes} bytes; the rest was not read`)
  }
  if (isOleFile(mail)) {
    const message = parseMsg(mail, options)
    message.losses.unshift(...losses)
    return message
  }
  mail = fromWide(mail)
  mail = mail.subarray(headStart(mail))
  let tree: Tree | undefined = readPlainTree(mail)
  if (!tree || tree.leaves.length > limits.messageParts) {
    const repaired = repair(mail)
    problems.push(...repaired.problems)
    losses.push(...repaired.losses)
    tree = await readLenientTree(repaired.mail, limits, endsAt)
  }
  problems.push(...tree.problems)
  losses.push(...tree.losses)
  return { ...assemble(tree, options, losses, endsAt), problems }
}

/** Characters of body text kept, and bytes of one text leaf decoded for it. */
const BODY_BYTES = 40_000_000

/** @param losses what is lost here is added */
function assemble(
  tree: Tree,
  options: ParseOptions,
  losses: string[],
  endsAt: number,
): Omit<Message, 'problems'> {
  const { head } = tree
  const charset = charsetOf(tree)
  const text = (name: string): string => decodeWords(first(head, name), charset).trim()
  const persons = (name: string): Person[] => {
    const values = all(head, name)
    return values.length === 1
      ? parseAddresses(values[0] as string, charset)
      : values.flatMap((value) => parseAddresses(value, charset))
  }
  const body = new Body(options.limits.messageChars, losses)
  const parts: Part[] = []
  for (const leaf of tree.leaves) {
    if (performance.now() > endsAt) {
      losses.push('reading the parts took too long and was stopped')
      break
    }
    readLeaf(leaf, options, body, parts, losses)
  }
  return {
    messageId: idsIn(first(head, 'message-id'), 1)[0] ?? '',
    inReplyTo: idsIn(first(head, 'in-reply-to'), 100),
    references: idsIn(first(head, 'references'), 1000),
    subject: text('subject'),
    from: persons('from'),
    to: persons('to'),
    cc: persons('cc'),
    bcc: persons('bcc'),
    date: dateOf(head),
    received: receivedOf(head),
    body: body.text(),
    parts,
    labels: labelsOf(head, charset),
    losses,
  }
}

/** Text types that belong to what a reader sees of the mail itself, when they have no name. */
const BODY_TYPES = new Set([
  'text/plain',
  'text/html',
  'text/enriched',
  'text/richtext',
  'text/rfc822-headers',
  'text/x-amp-html',
  'text/watch-html',
  'message/delivery-status',
  'message/disposition-notification',
  'message/feedback-report',
])

function readLeaf(
  leaf: Leaf,
  options: ParseOptions,
  body: Body,
  parts: Part[],
  losses: string[],
): void {
  const { limits } = options
  const type = parseStructured(first(leaf.head, 'content-type'))
  const disposition = parseStructured(first(leaf.head, 'content-disposition'))
  const encoding = encodingOf(first(leaf.head, 'content-transfer-encoding'))
  const name = nameOf(disposition.params.get('filename') ?? type.params.get('name') ?? '')
  const isAttachment = disposition.value === 'attachment'
  const declaredType = /^[^\s/]+\/[^\s/]+$/.test(type.value) ? type.value : defaultType(leaf, name)
  const charset = (type.params.get('charset') ?? '').slice(0, 64)
  // A mail that is one text is its own body, also when it names that text.
  const isWhole = leaf.within.length === 0 && !isAttachment
  const isBody = BODY_TYPES.has(declaredType) && !isAttachment && (name === '' || isWhole)
  const isDocument = !isBody || name !== ''

  let bytes: Buffer | undefined
  if (isDocument && leaf.raw.length > limits.partBytes * 1.5) {
    const { hash, size } = measureTransfer(leaf.raw, encoding)
    parts.push({
      path: leaf.path,
      name,
      declaredType,
      charset,
      disposition: isAttachment ? 'attachment' : 'inline',
      hash,
      size,
    })
    if (!isBody) return
  } else if (isDocument) {
    bytes = decodeLeaf(leaf.raw, encoding)
    parts.push(
      partOf(
        bytes,
        {
          path: leaf.path,
          name,
          declaredType,
          charset,
          disposition: isAttachment ? 'attachment' : 'inline',
        },
        options,
      ),
    )
    if (!isBody) return
  }
  if (leaf.raw.length > BODY_BYTES)
    note(losses, `a body text larger than ${BODY_BYTES} bytes was cut`)
  bytes ??= decodeTransfer(leaf.raw.subarray(0, BODY_BYTES), encoding)
  const blocks = declaredType === 'text/plain' ? takeBlocks(bytes) : undefined
  if (blocks) {
    bytes = blocks.rest
    blocks.blocks.forEach((block, i) => {
      if (parts.length >= limits.messageParts) {
        note(losses, tooManyParts(limits))
        return
      }
      parts.push(
        partOf(
          block.bytes,
          {
            path: `${leaf.path}.file${i + 1}`,
            name: nameOf(decodeWords(block.name, charset)),
            declaredType: 'application/octet-stream',
            charset: '',
            disposition: 'attachment',
          },
          options,
        ),
      )
    })
  }
  body.add(leaf, declaredType, bytes, charset, type.params)
}

function decodeLeaf(raw: Buffer, encoding: string): Buffer {
  if (/^x?-?uu(?:e|encode)?$/.test(encoding)) {
    const file = takeBlocks(raw)?.blocks[0]
    if (file) return file.bytes
  }
  return decodeTransfer(raw, encoding)
}

/** RFC 2046 section 5.1.5: inside a digest a part without a type is a message. */
function defaultType(leaf: Leaf, name: string): string {
  if (leaf.within.at(-1)?.subtype === 'digest') return 'message/rfc822'
  return name === '' ? 'text/plain' : 'application/octet-stream'
}

function nameOf(name: string): string {
  return name
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 1000)
}

/**
 * The readable text of the mail. Of alternatives one is taken: the plain text, or the HTML when there
 * is no plain text worth the name (some senders put one line in place of the mail).
 */
class Body {
  readonly #pieces: string[] = []
  readonly #losses: string[]
  #left: number
  /** Alternatives met, by position: their place among the pieces and what was found in each form. */
  readonly #alternatives = new Map<string, { at: number; plain: string; html: string[] }>()

  constructor(chars: number, losses: string[]) {
    this.#left = chars
    this.#losses = losses
  }

  add(leaf: Leaf, type: string, bytes: Buffer, charset: string, params: Map<string, string>): void {
    if (type === 'text/x-amp-html' || type === 'text/watch-html') return
    const isHtml = type === 'text/html'
    const isMarkup = isHtml || type === 'text/enriched' || type === 'text/richtext'
    let text = decodeText(bytes, { declared: charset, markup: isHtml }).text
    if (!isMarkup) text = plain(text, params)
    const alternative = leaf.within.find(({ subtype }) => subtype === 'alternative')
    if (!alternative) {
      this.#pieces.push(this.#cut(isMarkup ? this.#seen(text) : text))
      return
    }
    let forms = this.#alternatives.get(alternative.path)
    if (!forms) {
      forms = { at: this.#pieces.length, plain: '', html: [] }
      this.#alternatives.set(alternative.path, forms)
      this.#pieces.push('')
    }
    if (isMarkup) forms.html.push(text)
    else forms.plain += (forms.plain === '' ? '' : '\n') + this.#cut(text)
  }

  text(): string {
    for (const { at, plain: text, html } of this.#alternatives.values()) {
      this.#pieces[at] = text
      const size = html.reduce((sum, one) => sum + one.length, 0)
      const words = text.trim().length
      if (words > 0 && (words >= 300 || size < 20 * words)) continue
      const seen = html.map((one) => this.#seen(one)).join('\n')
      if (seen.trim().length > 3 * words)
        this.#pieces[at] = this.#cut(words > 0 ? `${text}\n${seen}` : seen)
    }
    const text = this.#pieces
      .filter((piece) => piece !== '')
      .join('\n')
      .trim()
    return text.includes('\0') ? text.replaceAll('\0', '') : text
  }

  /** One character more than is kept, so that the cut shows. */
  #seen(html: string): string {
    return htmlText(html, this.#left + 1)
  }

  #cut(text: string): string {
    if (text.length <= this.#left) {
      this.#left -= text.length
      return text
    }
    note(this.#losses, 'the body text was cut')
    const kept = text.slice(0, Math.max(0, this.#left))
    this.#left = 0
    return kept
  }
}

/** Line ends and flow of plain text. */
function plain(text: string, params: Map<string, string>): string {
  let lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  if (lines.includes('\0')) lines = lines.replaceAll('\0', '')
  if (params.get('format')?.toLowerCase().trim() === 'flowed')
    lines = unflow(lines, params.get('delsp')?.toLowerCase().trim() === 'yes')
  return lines
}

/** The charset of the mail's first text, for raw bytes in its headers. */
function charsetOf(tree: Tree): string {
  const own = parseStructured(first(tree.head, 'content-type')).params.get('charset')
  if (own) return own
  for (const leaf of tree.leaves.slice(0, 5)) {
    const charset = parseStructured(first(leaf.head, 'content-type')).params.get('charset')
    if (charset) return charset
  }
  return ''
}

/** Message-IDs of a field, without their brackets. */
function idsIn(field: string, most: number): string[] {
  if (field === '') return []
  const ids: string[] = []
  for (const match of field.slice(0, 100_000).matchAll(/<([^<>]+)>/g)) {
    ids.push(id(match[1] as string))
    if (ids.length >= most) break
  }
  if (ids.length === 0) {
    const bare = field.replace(/[<>]/g, ' ').trim().split(/\s+/)[0]
    if (bare) ids.push(id(bare))
  }
  return ids
}

function id(raw: string): string {
  return decodeWords(raw).replace(/\s+/g, '').slice(0, 998)
}

function dateOf(head: Head): number | null {
  for (const value of all(head, 'date')) {
    const date = parseDate(value)
    if (date !== null) return date
  }
  return null
}

/** The topmost Received header that holds a date: each host puts its own on top. */
function receivedOf(head: Head): number | null {
  let tries = 0
  for (const field of head.fields) {
    if (field.name !== 'received') continue
    if (++tries > 20) break
    const date = parseDate(field.value.slice(field.value.lastIndexOf(';') + 1))
    if (date !== null) return date
  }
  return null
}

/** X-Gmail-Labels (commas, encoded words), else the X-Keywords that Dovecot and mutt write into mbox files. */
function labelsOf(head: Head, charset: string): string[] {
  const gmail = first(head, 'x-gmail-labels')
  const field = gmail || first(head, 'x-keywords')
  if (field === '') return []
  const labels = decodeWords(field, charset)
    .split(gmail || field.includes(',') ? ',' : /\s+/)
    .map((label) => label.trim().replace(/^"|"$/g, '').trim())
    .filter((label) => label !== '')
  return [...new Set(labels)].slice(0, 100)
}

function note(losses: string[], loss: string): void {
  if (!losses.includes(loss)) losses.push(loss)
}
