/**
 * Outlook messages ([MS-OXMSG]): mail, appointments, tasks, contacts, with attachments and messages inside.
 *
 * An own reader over ole.ts: @kenjiuno/msgreader 1.28.0 follows cyclic sectors and copies each
 * attachment through arrays of numbers. What is written is mapi/message.ts.
 */
import type { Context, Extractor } from './extractor.js'
import {
  codePageOf,
  KIND,
  TAG,
  textOf,
  writeMessage,
  type Attachment,
  type Properties,
} from './mapi/message.js'
import { OleFile, type OleEntry } from './ole.js'
import { readBelow, readCounted } from './ole-embedded.js'
import { writeOleFile } from './ole-write.js'

export const msg: Extractor = {
  name: 'msg',
  version: 1,
  title: 'Outlook messages, appointments and contacts (msg)',
  types: ['application/vnd.ms-outlook'],
  extensions: ['msg'],
  lane: 'text',
  async extract({ bytes }, sink, context) {
    const ole = new OleFile(bytes)
    const tree = new Storages(ole)
    const names = readNames(ole)
    const properties = readProperties(ole, tree, '', names, context)
    if (properties.size === 0) throw new Error('no properties in the message')
    const codePage = codePageOf(properties)
    const recipients = tree
      .below('')
      .filter(({ name }) => /^__recip_version1\.0_/i.test(name))
      .slice(0, RECIPIENTS_MAX)
      .map(({ path }) => readProperties(ole, tree, `${path}/`, names, context))
    await writeMessage(
      properties,
      recipients,
      attachments(ole, tree, codePage, context),
      sink,
      context,
      codePage,
    )
  },
}

const RECIPIENTS_MAX = 10_000
const STREAM = /^__substg1\.0_([0-9A-F]{4})([0-9A-F]{4})$/i
const NAMES = '__nameid_version1.0/'
const PROPERTIES = '__properties_version1.0'

/** Entries by the storage they stand in, so that thousands of storages are not searched again and again. */
class Storages {
  readonly #below = new Map<string, OleEntry[]>()

  constructor(ole: OleFile) {
    for (const entry of ole.entries) {
      const above = entry.path.slice(0, entry.path.length - entry.name.length)
      const list = this.#below.get(above)
      if (list) list.push(entry)
      else this.#below.set(above, [entry])
    }
  }

  /** @param above path of a storage with its `/`, empty for the top */
  below(above: string): readonly OleEntry[] {
    return this.#below.get(above) ?? []
  }
}

type Names = Map<number, { set: string; id: number }>

/** Properties from 0x8000 have names of their own, listed once for all messages in the file. [MS-OXMSG] 2.2.3 */
function readNames(ole: OleFile): Names {
  const names: Names = new Map()
  const sets = ole.readPath(`${NAMES}__substg1.0_00020102`)
  const entries = ole.readPath(`${NAMES}__substg1.0_00030102`)
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

function readProperties(
  ole: OleFile,
  tree: Storages,
  above: string,
  names: Names,
  context: Context,
): Properties {
  const properties: Properties = new Map()
  for (const entry of tree.below(above)) {
    const match = STREAM.exec(entry.name)
    if (!match || entry.kind !== 'stream') continue
    const tag = parseInt(match[1] as string, 16)
    const kind = parseInt(match[2] as string, 16)
    if (tag === TAG.attachmentData) continue
    const named = names.get(tag)
    properties.set(tag, {
      kind,
      value: readCounted(ole, entry, context),
      ...(named && { named }),
    })
  }
  // values of a fixed size stand in one stream, behind a header of 32, 24 or 8 bytes
  const fixed = ole.readPath(above + PROPERTIES)
  if (!fixed) return properties
  const start = fixed.length % 16 === 0 ? 32 : above === '' ? 24 : 8
  for (let at = start; at + 16 <= fixed.length; at += 16) {
    const kind = fixed.readUInt16LE(at)
    const tag = fixed.readUInt16LE(at + 2)
    if (properties.has(tag) || (kind !== KIND.integer && kind !== KIND.time)) continue
    const named = names.get(tag)
    properties.set(tag, { kind, value: fixed.subarray(at + 8, at + 16), ...(named && { named }) })
  }
  return properties
}

function* attachments(
  ole: OleFile,
  tree: Storages,
  codePage: number,
  context: Context,
): Generator<Attachment> {
  for (const { name, path } of tree.below('')) {
    if (!/^__attach_version1\.0_/i.test(name)) continue
    const above = `${path}/`
    const properties = readProperties(ole, tree, above, new Map(), context)
    const text = (tag: number): string => textOf(properties.get(tag), codePage).trim()
    const data = tree
      .below(above)
      .find((entry) => /^__substg1\.0_3701(0102|000D)$/i.test(entry.name))
    const isMessage = data?.kind === 'storage' && ole.find(`${data.path}/${PROPERTIES}`)
    const given = text(TAG.attachmentName) || text(TAG.attachmentShortName) || text(TAG.displayName)
    yield {
      name: isMessage && given !== '' && !/\.msg$/i.test(given) ? `${given}.msg` : given,
      declaredType: text(TAG.attachmentType),
      bytes:
        data &&
        (data.kind === 'stream'
          ? readCounted(ole, data, context)
          : asFile(ole, `${data.path}/`, context)),
    }
  }
}

/** A storage as a compound file of its own; a message takes the list of names along. */
function asFile(ole: OleFile, above: string, context: Context): Buffer {
  const names = readBelow(ole, NAMES, context).map(
    ([path, bytes]) => [NAMES + path, bytes] as const,
  )
  return writeOleFile([...readBelow(ole, above, context), ...names])
}
