/**
 * winmail.dat: the Transport Neutral Encapsulation Format of Outlook ([MS-OXTNEF]), with its body, attachments
 * and messages inside. What is written is mail/outlook/message.ts.
 *
 * Checksums are not looked at, and an attribute cut short ends the reading with what stands before.
 */
import { decodeCodePage } from '../mail/codepage.js'
import {
  codePageOf,
  KIND,
  numberOf,
  TAG,
  textOf,
  type Attachment,
  type Item,
  type Properties,
} from '../mail/outlook/properties.js'
import type { Extractor } from './extractor.js'
import { writeItem } from './msg.js'

export const tnef: Extractor = {
  name: 'tnef',
  version: 2,
  title: 'Outlook transport files (winmail.dat)',
  types: ['application/vnd.ms-tnef'],
  extensions: ['tnef'],
  lane: 'text',
  extract: ({ bytes }, sink, context) =>
    writeItem(
      readTnef(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
      sink,
      context,
    ),
}

const SIGNATURE = 0x223e9f78
/** Attributes by number, [MS-OXTNEF] 2.1.3.3. */
const ATTRIBUTE = {
  from: 0x8000,
  subject: 0x8004,
  body: 0x800c,
  attachmentData: 0x800f,
  attachmentTitle: 0x8010,
  attachmentBegins: 0x9002,
  properties: 0x9003,
  recipients: 0x9004,
  attachmentProperties: 0x9005,
  codePage: 0x9007,
} as const

function readTnef(file: Buffer): Item {
  if (file.length < 6 || file.readUInt32LE(0) !== SIGNATURE) throw new Error('no TNEF signature')
  const properties: Properties = new Map()
  const recipients: Properties[] = []
  const attachments: Attachment[] = []
  let codePage = 1252
  let isCut = false
  let open: { title: Buffer; data: Buffer | undefined; properties: Properties } | undefined
  const close = (): void => {
    if (!open) return
    const { title, data, properties: own } = open
    const text = (tag: number): string => textOf(own.get(tag), codePage).trim()
    const inside = own.get(TAG.attachmentData)
    attachments.push({
      name:
        text(TAG.attachmentName) ||
        decodeCodePage(title, codePage).replace(/\0[\s\S]*$/, '') ||
        text(TAG.displayName),
      declaredType: text(TAG.attachmentType).toLowerCase(),
      isHidden: numberOf(own.get(TAG.attachmentHidden)) > 0,
      // an object begins with the id of its interface: a message, or a storage
      bytes: inside?.kind === KIND.object ? inside.value.subarray(16) : (data ?? inside?.value),
    })
    open = undefined
  }

  let at = 6
  while (at + 9 <= file.length) {
    const level = file[at] as number
    const attribute = file.readUInt16LE(at + 1)
    const size = file.readUInt32LE(at + 5)
    if (level !== 1 && level !== 2) break
    const value = file.subarray(at + 9, at + 9 + size)
    if (value.length < size) isCut = true
    at += 9 + size + 2
    switch (attribute) {
      case ATTRIBUTE.codePage:
        if (value.length >= 4) codePage = value.readUInt32LE(0) || 1252
        break
      case ATTRIBUTE.subject:
        setText(properties, TAG.subject, value)
        break
      case ATTRIBUTE.body:
        setText(properties, TAG.body, value)
        break
      case ATTRIBUTE.from:
        setText(properties, TAG.senderName, fromName(value))
        break
      case ATTRIBUTE.properties:
        for (const [tag, property] of readProperties(value).properties)
          properties.set(tag, property)
        break
      case ATTRIBUTE.recipients:
        recipients.push(...readRecipients(value))
        break
      case ATTRIBUTE.attachmentBegins:
        close()
        open = { title: Buffer.alloc(0), data: undefined, properties: new Map() }
        break
      case ATTRIBUTE.attachmentTitle:
        if (open) open.title = value
        break
      case ATTRIBUTE.attachmentData:
        if (open) open.data = value
        break
      case ATTRIBUTE.attachmentProperties:
        if (open)
          for (const [tag, property] of readProperties(value).properties)
            open.properties.set(tag, property)
    }
  }
  close()
  return {
    properties,
    recipients,
    attachments,
    codePage: codePageOf(properties, codePage),
    losses: isCut ? ['the file ends early; the rest was not read'] : [],
  }
}

function setText(properties: Properties, tag: number, value: Buffer): void {
  if (!properties.has(tag)) properties.set(tag, { kind: KIND.string8, value })
}

/** Name of the sender in a TRP structure, 2.1.3.3.1. */
function fromName(value: Buffer): Buffer {
  return value.length > 8 ? value.subarray(8, 8 + value.readUInt16LE(4)) : Buffer.alloc(0)
}

const RECIPIENTS_MAX = 10_000

function readRecipients(value: Buffer): Properties[] {
  if (value.length < 4) return []
  const count = Math.min(value.readUInt32LE(0), RECIPIENTS_MAX)
  const rows: Properties[] = []
  let at = 4
  while (rows.length < count && at + 4 <= value.length) {
    const { properties, end } = readProperties(value, at)
    rows.push(properties)
    at = end
  }
  return rows
}

/** Bytes of values of a fixed size, padded to four. */
const FIXED: Record<number, number> = {
  0x02: 4,
  0x03: 4,
  0x04: 4,
  0x05: 8,
  0x06: 8,
  0x07: 8,
  0x0a: 4,
  0x0b: 4,
  0x14: 8,
  0x40: 8,
  0x48: 16,
}
const SEVERAL = 0x1000

/** A list of properties, 2.1.3.4; ends where a kind is unknown or the bytes end. */
function readProperties(value: Buffer, from = 0): { properties: Properties; end: number } {
  const properties: Properties = new Map()
  let at = from
  const uint32 = (): number => {
    const number = value.readUInt32LE(at)
    at += 4
    return number
  }
  try {
    const count = uint32()
    for (let i = 0; i < count; i++) {
      const kind = value.readUInt16LE(at)
      const tag = value.readUInt16LE(at + 2)
      at += 4
      let named: { set: string; id: number } | undefined
      if (tag >= 0x8000) {
        const set = value.toString('hex', at, at + 16)
        at += 16
        if (uint32() === 0) named = { set, id: uint32() }
        else at += padded(uint32())
      }
      const single = kind & ~SEVERAL
      const fixed = FIXED[single]
      const values = kind & SEVERAL || fixed === undefined ? uint32() : 1
      for (let nth = 0; nth < values; nth++) {
        const size = fixed ?? uint32()
        if (size > value.length - at) return { properties, end: value.length }
        if (nth === 0)
          properties.set(tag, {
            kind: single,
            value: value.subarray(at, at + size),
            ...(named && { named }),
          })
        at += padded(size)
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    at = value.length
  }
  return { properties, end: at }
}

function padded(size: number): number {
  return (size + 3) & ~3
}
