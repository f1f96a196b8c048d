/**
 * The MIME structure of any mail, read by MailParser: boundaries that never close or do not fit,
 * nested wrongly, heads without end. Slower than plain.ts by an order of magnitude, and patient.
 *
 * MailParser finds the parts; it is told that each of them is an attachment in no encoding, so that
 * it hands over all of them as bytes, text too. What the bytes mean is decided in one place for both
 * readers (parse.ts): MailParser would merge an inline text file into the body, guess no charset, and
 * spend minutes on a flowed body of 130,000 lines (nodemailer/mailparser issue 389).
 *
 * Uses `processChunk` of MailParser 3.14, which is no public method: the tests of this file are the
 * guard for an upgrade.
 */
import { Buffer } from 'node:buffer'
import type { MailParser } from 'mailparser'
import type { Limits } from '../part/limits.js'
import { HEAD_BYTES, parseHead, type Head } from './head.js'
import { tooManyParts } from './message.js'
import type { Leaf, Multipart, Tree } from './tree.js'

/** A node of the structure as MailParser's splitter gives it. */
interface Node {
  type: 'node' | 'data' | 'body'
  multipart: string | false
  parentNode: Node | false
  partNr: Array<string | number> | false
  disposition: string | false
  filename: string | false
  encoding: string | false
  flowed: boolean
  headers: { build(): Buffer }
  /** On `data` and `body`: what was read, and the node it belongs to. */
  node: Node
  value?: Buffer
}

interface Inside {
  processChunk(chunk: Node, done: (error?: Error) => void): void
}

interface Attachment {
  type: string
  content: NodeJS.ReadableStream
  release(): void
}

/**
 * Bytes given to MailParser at a time. It splits all of them before it hands anything over, so that
 * the count of parts can be off by what one chunk holds.
 */
const CHUNK = 32 * 1024
/** Of the splitter; ours stand below: a head is cut before (condition.ts), parts are counted here. */
const NO_LIMIT = 1e9
/** Bytes of one part's head. */
const PART_HEAD_BYTES = 64 * HEAD_BYTES

/**
 * @param mail from the head on, with an empty line after the head (condition.ts)
 * @param endsAt `performance.now()` after which the reading stops and keeps what it has
 * @returns never throws; what was wrong is in `problems` and `losses`
 */
export async function readLenientTree(
  mail: Buffer,
  limits: Limits,
  endsAt: number,
  isRescue = false,
): Promise<Tree> {
  const problems: string[] = []
  const losses: string[] = []
  const leaves: Leaf[] = []
  const heads = new Map<Node, Head>()
  const headless = new Map<Node, Buffer>()
  const leafOf = new Map<Node, Leaf>()
  /** What stands in a multipart outside its parts, kept as long as it has no part. */
  const outside = new Map<Node, Buffer[]>()
  let current: Node | undefined
  let nodes = 0
  /** Takes over what has come of the leaf that is being read. */
  let settle: () => void = () => {}
  let stop: (loss: string) => void = () => {}

  // A third of a thread's start-up, and most mail never needs it.
  const { MailParser } = await import('mailparser')
  const parser = new MailParser({
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipImageLinks: true,
    skipTextLinks: true,
    checksumAlgo: false,
    // Of the splitter: nested messages stay whole.
    ...{ ignoreEmbedded: true, maxHeadSize: PART_HEAD_BYTES, maxChildNodes: NO_LIMIT },
  })
  const inside = parser as unknown as Inside
  const process = inside.processChunk.bind(parser)
  inside.processChunk = (chunk, done) => {
    if (chunk.type === 'node') {
      if (++nodes > 4 * limits.messageParts) {
        stop('more parts than are read; the rest was not read')
        return
      }
      const built = chunk.headers.build()
      const lines = built.toString('latin1')
      const head = parseHead(lines)
      heads.set(chunk, head)
      // words where a part's head should be are its text; a delimiter there is not
      const isText = head.fields.length === 0 && /^\s*(?!--)\S/.test(lines)
      if (isText && chunk.parentNode && !chunk.multipart) headless.set(chunk, built)
      if (chunk.parentNode) {
        outside.delete(chunk.parentNode)
        // What is called text and has parts is no leaf.
        const above = leafOf.get(chunk.parentNode)
        if (above && above.raw.length === 0) leaves.splice(leaves.indexOf(above), 1)
      }
      if (chunk.multipart) outside.set(chunk, [])
      else {
        current = chunk
        chunk.disposition = 'attachment'
        chunk.encoding = 'binary'
        chunk.filename = false
        chunk.flowed = false
      }
    } else if (chunk.type === 'data' && chunk.value) outside.get(chunk.node)?.push(chunk.value)
    process(chunk, done)
  }

  /** What lies deeper than the limit is read as if it stood there. */
  const placed = (node: Node): { path: string; within: Multipart[] } => {
    const { path, within } = placeOf(node)
    if (within.length > limits.mimeDepth)
      note(problems, `what is deeper than ${limits.mimeDepth} levels was read as if it stood there`)
    return { path, within: within.slice(0, limits.mimeDepth) }
  }

  await new Promise<void>((resolve) => {
    let isDone = false
    const finish = (loss?: string): void => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      settle()
      if (loss) losses.push(loss)
      resolve()
      parser.destroy()
    }
    stop = finish
    const timer = setTimeout(
      () => finish('reading the structure took too long and was stopped'),
      Math.max(1, endsAt - performance.now()),
    )
    parser.on('error', (error: Error) => finish(lossBy(error)))
    parser.on('end', () => finish())
    parser.on('close', () => finish())
    parser.on('data', (attachment: Attachment) => {
      if (attachment.type !== 'attachment') return
      const node = current as Node
      const lines = headless.get(node)
      const pieces: Buffer[] = lines ? [lines] : []
      if (leaves.length >= limits.messageParts) {
        finish(tooManyParts(limits))
        return
      }
      const leaf: Leaf = { ...placed(node), head: heads.get(node) as Head, raw: EMPTY }
      leaves.push(leaf)
      leafOf.set(node, leaf)
      settle = () => {
        leaf.raw = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
        settle = () => {}
      }
      const close = (): void => {
        settle()
        attachment.release()
      }
      attachment.content.on('data', (piece: Buffer) => {
        pieces.push(piece)
      })
      attachment.content.on('end', close)
      attachment.content.on('error', close)
    })
    void feed(parser, mail, () => isDone)
  })

  for (const [node, pieces] of outside) {
    const raw = Buffer.concat(pieces)
    if (raw.length === 0) continue
    if (leaves.length >= limits.messageParts) {
      note(losses, tooManyParts(limits))
      continue
    }
    const { path, within } = placed(node)
    const head = heads.get(node) as Head
    const boundary = isRescue ? undefined : boundaryIn(raw)
    if (boundary) {
      note(problems, 'the boundary of a multipart is not the one it names')
      const tree = await readLenientTree(rejoin(raw, boundary), limits, endsAt, true)
      for (const loss of tree.losses) note(losses, loss)
      for (const leaf of tree.leaves) {
        if (leaves.length >= limits.messageParts) {
          note(losses, tooManyParts(limits))
          break
        }
        leaves.push({
          ...leaf,
          path: path === '' ? leaf.path : `${path}.${leaf.path}`,
          within: [...within, ...leaf.within],
        })
      }
      continue
    }
    note(problems, 'a multipart has no parts; it was read as text')
    leaves.push({ path: path || '1', head: withoutType(head), within, raw })
  }
  return { head: rootHead(mail), leaves, problems, losses }
}

const EMPTY = Buffer.alloc(0)

/** Read apart from the structure, so that a mail whose structure is not read still has its headers. */
function rootHead(mail: Buffer): Head {
  const lf = mail.indexOf('\n\n', 0, 'latin1')
  const crlf = mail.indexOf('\n\r\n', 0, 'latin1')
  const ends = [lf, crlf, mail.indexOf('\n') === 0 ? 0 : -1, mail.indexOf('\r\n') === 0 ? 0 : -1]
  const end = Math.min(...ends.filter((at) => at >= 0), mail.length, HEAD_BYTES)
  return parseHead(mail.toString('latin1', 0, end))
}

/**
 * The boundary that a body without its declared one seems to use: a line of two dashes and more that
 * a field or an empty line follows.
 */
function boundaryIn(raw: Buffer): string | undefined {
  const text = raw.toString('latin1', 0, 64 * 1024)
  const line =
    /(?:^|\n)--([^\s-][^\r\n]{0,200}?|-[^\r\n]{1,200}?)[ \t]*\r?\n(?=[\w-]{1,60}[ \t]*:|\r?\n)/.exec(
      text,
    )
  if (!line) return undefined
  // `--boundary and more words`: the words are no part of it.
  const boundary = line[1] as string
  const word = boundary.split(' ')[0] as string
  return text.split(`\n--${word}`).length > text.split(`\n--${boundary}`).length ? word : boundary
}

/** The body as a multipart whose delimiter lines are in order. */
function rejoin(raw: Buffer, boundary: string): Buffer {
  const text = raw.toString('latin1')
  const pieces: string[] = []
  let from = 0
  let at = text.startsWith(`--${boundary}`) ? 0 : text.indexOf(`\n--${boundary}`) + 1
  while (at > 0 || (at === 0 && pieces.length === 0 && text.startsWith('--'))) {
    pieces.push(text.slice(from, at), `--${BOUNDARY}\n`)
    const end = text.indexOf('\n', at)
    if (end < 0) {
      from = text.length
      break
    }
    from = end + 1
    at = text.startsWith(`--${boundary}`, from) ? from : text.indexOf(`\n--${boundary}`, from) + 1
  }
  const rest = text.slice(from)
  // After the last delimiter line nothing but blanks: it was the closing one.
  if (rest.trim() === '') pieces[pieces.length - 1] = `--${BOUNDARY}--\n`
  const head = `Content-Type: multipart/mixed; boundary="${BOUNDARY}"\n\n`
  return Buffer.from(head + pieces.join('') + rest, 'latin1')
}

const BOUNDARY = '=_paperknife_='

async function feed(parser: MailParser, mail: Buffer, isDone: () => boolean): Promise<void> {
  let wake: (() => void) | undefined
  parser.on('drain', () => wake?.())
  parser.on('close', () => wake?.())
  for (let at = 0; at < mail.length && !isDone(); at += CHUNK) {
    if (!parser.write(mail.subarray(at, at + CHUNK)))
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  if (!isDone()) parser.end()
}

function placeOf(node: Node): { path: string; within: Multipart[] } {
  const within: Multipart[] = []
  for (let above = node.parentNode; above; above = above.parentNode)
    within.unshift({ path: pathOf(above), subtype: (above.multipart || 'mixed').toLowerCase() })
  return { path: pathOf(node) || '1', within }
}

function pathOf(node: Node): string {
  return (node.partNr || []).filter((step) => step !== 'TEXT').join('.')
}

/** A multipart that has no parts is text, whatever it says; its transfer encoding still counts. */
function withoutType(head: Head): Head {
  return {
    fields: head.fields.filter(
      ({ name }) => name !== 'content-type' && name !== 'content-disposition',
    ),
    isWellFormed: head.isWellFormed,
  }
}

function lossBy(error: Error & { code?: string }): string {
  if (error.code === 'EMAXLEN')
    return 'the mail has too many parts or too long a head; the rest was not read'
  return `the structure could not be read to its end (${error.message.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 100)})`
}

function note(found: string[], one: string): void {
  if (!found.includes(one)) found.push(one)
}
