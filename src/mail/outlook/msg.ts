/**
 * Outlook's message files ([MS-OXMSG]) as bags of properties.
 *
 * A reader of our own over ole/: what a file claims is believed only as far as its sectors reach, and an
 * attachment is copied once.
 */
import { OleFile, readBelow, readCounted, type ByteBudget, type OleEntry } from '../../ole/read.js'
import { writeOleFile } from '../../ole/write.js'
import {
  codePageOf,
  KIND,
  numberOf,
  TAG,
  textOf,
  type Attachment,
  type Item,
  type Properties,
} from './properties.js'

const RECIPIENTS_MAX = 10_000
const STREAM = /^__substg1\.0_([0-9A-F]{4})([0-9A-F]{4})$/i
const NAMES = '__nameid_version1.0/'
const PROPERTIES = '__properties_version1.0'
/** Bytes before the properties of a file's own message, and of one inside another. [MS-OXMSG] 2.4.1 */
const HEADER = 32
const HEADER_INSIDE = 24
const FIXED = new Set<number>([KIND.integer, KIND.boolean, KIND.time])

/**
 * Opens a .msg file.
 *
 * @param budget what is copied out of the file is counted there: many entries may name the same sectors
 * @throws Error when it is no compound file or holds no message, and what the budget throws
 */
export function readMsg(bytes: Uint8Array, budget: ByteBudget): Item {
  const file = new MsgFile(bytes, budget)
  const properties = file.properties('')
  if (properties.size === 0) throw new Error('no properties in the message')
  const codePage = codePageOf(properties)
  const recipients = file
    .storages('__recip_version1.0_')
    .slice(0, RECIPIENTS_MAX)
    .map(({ path }) => file.properties(`${path}/`))
  const attachments = file.attachments(codePage)
  return { properties, recipients, attachments, codePage, losses: file.losses }
}

class MsgFile {
  readonly losses: string[] = []
  readonly #ole: OleFile
  readonly #budget: ByteBudget
  /** Entries by the storage they stand in, so that thousands of storages are not searched again and again. */
  readonly #below = new Map<string, OleEntry[]>()
  readonly #names: ReadonlyMap<number, { set: string; id: number }>

  constructor(bytes: Uint8Array, budget: ByteBudget) {
    this.#ole = new OleFile(bytes)
    this.#budget = budget
    for (const entry of this.#ole.entries) {
      const above = entry.path.slice(0, entry.path.length - entry.name.length)
      const list = this.#below.get(above)
      if (list) list.push(entry)
      else this.#below.set(above, [entry])
    }
    this.#names = this.#readNames()
  }

  /** Storages at the top whose names begin so, in the order of their numbers, which their tree has not. */
  storages(beginning: string): OleEntry[] {
    return (this.#below.get('') ?? [])
      .filter(({ name }) => name.toLowerCase().startsWith(beginning))
      .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
  }

  /** @param above path of a storage with its `/`, empty for the top */
  properties(above: string): Properties {
    const properties: Properties = new Map()
    for (const entry of this.#below.get(above) ?? []) {
      const match = STREAM.exec(entry.name)
      if (!match || entry.kind !== 'stream') continue
      const tag = parseInt(match[1] as string, 16)
      if (tag === TAG.attachmentData) continue
      const named = this.#names.get(tag)
      properties.set(tag, {
        kind: parseInt(match[2] as string, 16),
        value: this.#read(entry),
        ...(named && { named }),
      })
    }
    // values of a fixed size stand in one stream, behind a header; some writers leave a few bytes at its end
    const entry = this.#ole.find(above + PROPERTIES)
    if (entry?.kind !== 'stream') return properties
    const fixed = this.#read(entry)
    for (let at = above === '' ? HEADER : 8; at + 16 <= fixed.length; at += 16) {
      const kind = fixed.readUInt16LE(at)
      const tag = fixed.readUInt16LE(at + 2)
      if (properties.has(tag) || !FIXED.has(kind)) continue
      const named = this.#names.get(tag)
      properties.set(tag, { kind, value: fixed.subarray(at + 8, at + 16), ...(named && { named }) })
    }
    return properties
  }

  *attachments(codePage: number): Generator<Attachment> {
    for (const { path } of this.storages('__attach_version1.0_')) {
      const above = `${path}/`
      const properties = this.properties(above)
      const text = (tag: number): string => textOf(properties.get(tag), codePage).trim()
      const data = this.#below
        .get(above)
        ?.find(({ name }) => /^__substg1\.0_3701(0102|000D)$/i.test(name))
      const isMessage =
        data?.kind === 'storage' && this.#ole.find(`${data.path}/${PROPERTIES}`) !== undefined
      const name =
        text(TAG.attachmentName) || text(TAG.attachmentShortName) || text(TAG.displayName)
      yield {
        name: isMessage && !/\.msg$/i.test(name) ? `${name || 'message'}.msg` : name,
        declaredType: isMessage
          ? 'application/vnd.ms-outlook'
          : text(TAG.attachmentType).toLowerCase(),
        isHidden: numberOf(properties.get(TAG.attachmentHidden)) > 0,
        bytes: data && (data.kind === 'stream' ? this.#read(data) : this.#asFile(`${data.path}/`)),
      }
    }
  }

  /** Properties from 0x8000 have names of their own, listed once for all messages in the file. [MS-OXMSG] 2.2.3 */
  #readNames(): Map<number, { set: string; id: number }> {
    const names = new Map<number, { set: string; id: number }>()
    const sets = this.#ole.readPath(`${NAMES}__substg1.0_00020102`)
    const entries = this.#ole.readPath(`${NAMES}__substg1.0_00030102`)
    if (!entries) return names
    for (let at = 0; at + 8 <= entries.length; at += 8) {
      const about = entries.readUInt16LE(at + 4)
      const set = (about >> 1) - 3
      if (about & 1 || set < 0 || !sets || 16 * set + 16 > sets.length) continue
      names.set(0x8000 + entries.readUInt16LE(at + 6), {
        set: sets.toString('hex', 16 * set, 16 * set + 16),
        id: entries.readUInt32LE(at),
      })
    }
    return names
  }

  #read(entry: OleEntry): Buffer {
    const bytes = readCounted(this.#ole, entry, this.#budget)
    if (bytes.length < entry.size && this.losses.length === 0)
      this.losses.push(
        'streams of the Outlook file claim more than it holds; the rest was not read',
      )
    return bytes
  }

  /** A storage as a compound file of its own; a message gets the header of a file's and takes the list of names along. */
  #asFile(above: string): Buffer {
    const below = readBelow(this.#ole, above, this.#budget).map(([path, bytes]) =>
      path === PROPERTIES
        ? ([
            path,
            Buffer.concat([
              bytes.subarray(0, HEADER_INSIDE),
              Buffer.alloc(HEADER - HEADER_INSIDE),
              bytes.subarray(HEADER_INSIDE),
            ]),
          ] as const)
        : ([path, bytes] as const),
    )
    for (const [path, bytes] of readBelow(this.#ole, NAMES, this.#budget))
      below.push([NAMES + path, bytes])
    return writeOleFile(below)
  }
}
