/**
 * A strict and fast reader of the MIME structure for mail that is as the RFCs want it: well-formed
 * heads, multiparts with a boundary that opens and closes, known transfer encodings.
 *
 * Gives up at the first thing out of the ordinary, so that lenient.ts decides all doubtful cases.
 * Measured (Node 20, 2 cores, 2026-11-30): a plain mail of 2 kB takes about a twentieth of the time
 * that the stream of MailParser takes.
 */
import { first, HEAD_BYTES, parseHead, parseStructured, type Head } from './head.js'
import { encodingOf, PLAIN_ENCODINGS } from './transfer.js'
import type { Multipart, Tree } from './tree.js'

const DEPTH = 20
const LEAVES = 300

/** @returns undefined when anything about the structure is unusual */
export function readPlainTree(mail: Buffer): Tree | undefined {
  const head = headAt(mail)
  if (!head) return undefined
  const tree: Tree = { head: head.head, leaves: [], problems: [], losses: [] }
  return walk(tree, head.head, mail.subarray(head.body), '', [], []) ? tree : undefined
}

function walk(
  tree: Tree,
  head: Head,
  body: Buffer,
  path: string,
  within: Multipart[],
  boundaries: string[],
): boolean {
  if (count(head, 'content-type') > 1 || count(head, 'content-transfer-encoding') > 1) return false
  const field = first(head, 'content-type')
  const type = parseStructured(field)
  if (field !== '' && !/^[\w.+-]+\/[\w.+-]+$/.test(type.value)) return false
  const encoding = encodingOf(first(head, 'content-transfer-encoding'))
  if (!type.value.startsWith('multipart/')) {
    if (!PLAIN_ENCODINGS.has(encoding) && encoding !== 'base64' && encoding !== 'quoted-printable')
      return false
    // Some senders call a multipart text.
    if (type.params.has('boundary') || tree.leaves.length >= LEAVES) return false
    tree.leaves.push({ path: path || '1', head, within, raw: body })
    return true
  }
  const boundary = type.params.get('boundary') ?? ''
  if (!/^[\x20-\x7e]{1,8000}$/.test(boundary)) return false
  if (!PLAIN_ENCODINGS.has(encoding) || boundaries.includes(boundary) || boundaries.length >= DEPTH)
    return false
  const parts = cut(body, boundary)
  if (!parts) return false
  const inside = [...within, { path, subtype: type.value.slice('multipart/'.length) }]
  const known = [...boundaries, boundary]
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as Buffer
    const inner = headAt(part)
    if (!inner) return false
    const number = path === '' ? String(i + 1) : `${path}.${i + 1}`
    if (!walk(tree, inner.head, part.subarray(inner.body), number, inside, known)) return false
  }
  return true
}

/** The parts between the delimiter lines, or undefined unless they open, close and hold something. */
function cut(body: Buffer, boundary: string): Buffer[] | undefined {
  const delimiter = `--${boundary}`
  const parts: Buffer[] = []
  let from = -1
  let at = body.indexOf(delimiter, 0, 'latin1')
  while (at >= 0) {
    let i = at + delimiter.length
    const isStart = at === 0 || body[at - 1] === 0x0a
    const isClose = body[i] === 0x2d && body[i + 1] === 0x2d
    if (isClose) i += 2
    while (body[i] === 0x20 || body[i] === 0x09) i++
    if (body[i] === 0x0d) i++
    const isEnd = body[i] === 0x0a || (isClose && i >= body.length)
    if (isStart && isEnd) {
      if (from >= 0) {
        let stop = at - 1
        if (stop > from && body[stop - 1] === 0x0d) stop--
        if (stop < from) return undefined
        parts.push(body.subarray(from, stop))
      }
      if (isClose) return parts.length > 0 ? parts : undefined
      from = i + 1
    } else if (isStart && !isClose && i >= body.length) return undefined
    at = body.indexOf(delimiter, i, 'latin1')
  }
  return undefined
}

/** The head that `bytes` begin with and where its body begins, or undefined when it is not well-formed. */
function headAt(bytes: Buffer): { head: Head; body: number } | undefined {
  let at = 0
  for (;;) {
    const end = bytes.indexOf(0x0a, at)
    if (end < 0 || end > HEAD_BYTES) return undefined
    if (end === at || (end === at + 1 && bytes[at] === 0x0d)) {
      const text = bytes.toString('latin1', 0, at)
      // Carriage returns inside lines: whose line ends they are is not for this reader.
      if (/\r(?![\r\n])/.test(text)) return undefined
      const head = parseHead(text)
      return head.isWellFormed ? { head, body: end + 1 } : undefined
    }
    at = end + 1
  }
}

function count(head: Head, name: string): number {
  let n = 0
  for (const field of head.fields) if (field.name === name) n++
  return n
}
