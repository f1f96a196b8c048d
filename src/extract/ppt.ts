/**
 * PowerPoint 95 to 2003: slides in order, each a page, its shapes from top to bottom and left to right,
 * its notes and comments behind it; footers once, link targets, embedded documents, pictures.
 *
 * The persist directory says which copy of a slide is the last one saved. Of a master what it draws beside its
 * placeholders is read, behind the first slide that shows it; its prompts and handouts are not. A presentation whose
 * directory is lost is read record by record.
 * Format: [MS-PPT], [MS-ODRAW].
 */
import { constants, inflateSync } from 'node:zlib'
import { Cut } from './budget.js'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { writeLink } from './office/package.js'
import { readPictures, shapeTexts } from './office-art.js'
import { isOleFile, OleFile } from '../ole/read.js'
import { openRc4 } from './office-rc4.js'
import { writeOleProperties } from './ole-properties.js'
import { readObjectPool } from './ole-embedded.js'
import { isPowerPoint95, readPowerPoint95 } from './ppt95.js'
import type { TextSink } from './sink.js'

export const ppt: Extractor = {
  name: 'ppt',
  version: 3,
  title: 'PowerPoint 95 to 2003 (ppt, pps, pot)',
  types: ['application/vnd.ms-powerpoint'],
  extensions: ['ppt', 'pps', 'pot'],
  lane: 'text',
  extract: readPpt,
}

/** Record types, [MS-PPT] 2.13.24. */
const TYPE = {
  document: 0x03e8,
  slide: 0x03ee,
  slideAtom: 0x03ef,
  notes: 0x03f0,
  notesAtom: 0x03f1,
  slidePersist: 0x03f3,
  master: 0x03f8,
  links: 0x0409,
  drawing: 0x040c,
  outlineText: 0x0f9e,
  textHeader: 0x0f9f,
  textChars: 0x0fa0,
  textBytes: 0x0fa8,
  placeholder: 0x0bc3,
  string: 0x0fba,
  link: 0x0fd7,
  headersFooters: 0x0fd9,
  slideList: 0x0ff0,
  userEdit: 0x0ff5,
  object: 0x1011,
  persistDirectory: 0x1772,
  session: 0x2f14,
  comment: 0x2ee0,
  group: 0xf003,
  shape: 0xf004,
  textBox: 0xf00d,
  childAnchor: 0xf00f,
  anchor: 0xf010,
  clientData: 0xf011,
} as const

const ENCRYPTED = 0xf3d1c4df
/** A file saved for PowerPoint 95 and 97 keeps the streams of 97 in here. [MS-PPT] 2.1 */
const DUAL = 'PP97_DUALSTORAGE/'
/** Placeholder of a footer on a master; SlideAtom, the flag by which a slide shows its master's objects. */
const FOOTER = 9
const SHOWS_MASTER = 1
/** Containers inside containers; real ones stay under 20. */
const DEPTH_MAX = 60
/** Records looked at in one container. */
const RECORDS_MAX = 100_000
/** Saves of one file followed; the oldest lie behind. */
const EDITS_MAX = 10_000

interface PptRecord {
  type: number
  instance: number
  isContainer: boolean
  at: number
  body: Buffer
}

async function readPpt({ bytes }: Source, sink: TextSink, context: Context): Promise<Facts> {
  const ole = new OleFile(bytes)
  const folder = ole.find(`${DUAL}PowerPoint Document`) ? DUAL : ''
  const stored = ole.readPath(`${folder}PowerPoint Document`)
  if (!stored) throw new Error('no PowerPoint Document stream')
  const user = ole.readPath(`${folder}Current User`)
  const isLocked = user && user.length >= 20 && user.readUInt32LE(12) === ENCRYPTED
  const stream = isLocked
    ? unlocked(stored, user.readUInt32LE(16), context.settings.passwords)
    : stored
  writeOleProperties(ole, sink)
  if (isPowerPoint95(stream)) {
    const pageCount = readPowerPoint95(stream, sink)
    await readObjectPool(ole, '', context)
    return { pageCount }
  }

  const lastEdit = user && user.length >= 20 ? user.readUInt32LE(16) : undefined
  const persist = persistDirectory(stream, lastEdit ?? lastUserEdit(stream))
  const document = persist && recordAt(stream, persist.at(persist.documentId))
  const facts: Facts = {}
  if (persist && document?.type === TYPE.document)
    facts.pageCount = readDocument(stream, document, persist, sink)
  else {
    if (!readLoose(stream, sink)) throw new Error('no slides and no text records')
    facts.partial = 'the directory of slides is missing or damaged; the text was read as it stands'
  }

  for (const object of children(stream))
    if (object.type === TYPE.object) await readEmbedded(object, context)
  const pictures = ole.readPath(`${folder}Pictures`) ?? ole.readPath('Pictures')
  if (pictures && (await readPictures(pictures, context)) > 0) facts.empty = 'only-images'
  return facts
}

/**
 * The stream with its persist objects in the clear; each has a key of its own, made of its number ([MS-PPT] 2.3.7).
 *
 * @throws {Declined} `locked` when no password opens it
 */
function unlocked(stored: Buffer, lastEdit: number, passwords: readonly string[]): Buffer {
  const persist = persistDirectory(stored, lastEdit)
  const session = persist && recordAt(stored, persist.at(persist.sessionId))
  const key = session?.type === TYPE.session ? openRc4(session.body, passwords) : undefined
  if (!persist || !key) throw new Declined('locked', 'password needed')
  const plain = Buffer.from(stored)
  // objects do not overlap; those of older saves lie beside
  let left = 2 * stored.length
  for (const [id, at] of persist.places) {
    if (id === persist.sessionId || at + 8 > stored.length || left <= 0) continue
    const head = xor(stored.subarray(at, at + 8), key(id, 8))
    const length = Math.min(8 + head.readUInt32LE(4), stored.length - at)
    xor(stored.subarray(at, at + length), key(id, length)).copy(plain, at)
    left -= length
  }
  return plain
}

function xor(bytes: Buffer, mask: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, i) => byte ^ (mask[i] as number)))
}

interface Persist {
  documentId: number
  /** Of the object that says how the others are encrypted; 0 for none. */
  sessionId: number
  places: ReadonlyMap<number, number>
  /** Place of a persist object, or -1. */
  at(id: number): number
}

/** Follows the saves from the last to the first; the newest place of each object counts. [MS-PPT] 2.1.2 */
function persistDirectory(stream: Buffer, lastEdit: number | undefined): Persist | undefined {
  if (lastEdit === undefined) return undefined
  const places = new Map<number, number>()
  let documentId = -1
  let sessionId = 0
  const seen = new Set<number>()
  for (let at = lastEdit; !seen.has(at) && seen.size < EDITS_MAX;) {
    seen.add(at)
    const edit = recordAt(stream, at)
    if (edit?.type !== TYPE.userEdit || edit.body.length < 20) break
    if (documentId < 0) {
      documentId = edit.body.readUInt32LE(16)
      if (edit.body.length >= 32) sessionId = edit.body.readUInt32LE(28)
    }
    const directory = recordAt(stream, edit.body.readUInt32LE(12))
    if (directory?.type === TYPE.persistDirectory) readPlaces(directory.body, places)
    at = edit.body.readUInt32LE(8)
    if (at === 0) break
  }
  if (documentId < 0) return undefined
  return { documentId, sessionId, places, at: (id) => places.get(id) ?? -1 }
}

function readPlaces(body: Buffer, places: Map<number, number>): void {
  let at = 0
  while (at + 4 <= body.length) {
    const head = body.readUInt32LE(at)
    const first = head & 0xfffff
    const count = head >>> 20
    at += 4
    for (let i = 0; i < count && at + 4 <= body.length; i++, at += 4)
      if (!places.has(first + i)) places.set(first + i, body.readUInt32LE(at))
  }
}

/** The last save in the stream, when the Current User stream is missing. */
function lastUserEdit(stream: Buffer): number | undefined {
  let last: number | undefined
  for (const { type, at } of children(stream)) if (type === TYPE.userEdit) last = at
  return last
}

/** A text of a slide as the outline keeps it. */
interface Outline {
  id: number
  slideId: number
  texts: string[]
}

/** @returns the number of slides */
function readDocument(
  stream: Buffer,
  document: PptRecord,
  persist: Persist,
  sink: TextSink,
): number {
  const lists = children(document.body).filter(({ type }) => type === TYPE.slideList)
  const slides = lists
    .filter(({ instance }) => instance === 0)
    .flatMap(({ body }) => outlines(body))
  const notes = lists.filter(({ instance }) => instance === 2).flatMap(({ body }) => outlines(body))
  const masters = new Map(
    lists
      .filter(({ instance }) => instance === 1)
      .flatMap(({ body }) => outlines(body))
      .map(({ id, slideId }) => [slideId, id]),
  )

  const notesOfSlide = new Map<number, PptRecord>()
  // Thousands of entries may name one place: each is read once.
  const read = new Set<number>()
  const recordOf = (id: number): PptRecord | undefined => {
    const at = persist.at(id)
    if (read.has(at)) return undefined
    read.add(at)
    return recordAt(stream, at)
  }
  for (const { id } of notes) {
    const record = recordOf(id)
    const atom = record?.type === TYPE.notes ? firstOf(record.body, TYPE.notesAtom) : undefined
    if (record && atom && atom.body.length >= 4) notesOfSlide.set(atom.body.readUInt32LE(0), record)
  }

  const drawn = new Set<string>()
  /** What the masters of a slide draw: a title master stands before the main one. */
  const writeMasters = (slide: PptRecord): void => {
    let atom = firstOf(slide.body, TYPE.slideAtom)?.body
    for (let depth = 0; depth < 2 && atom && atom.length >= 22; depth++) {
      if ((atom.readUInt16LE(20) & SHOWS_MASTER) === 0) return
      const id = masters.get(atom.readUInt32LE(12))
      const master = id === undefined ? undefined : recordOf(id)
      if (!master || (master.type !== TYPE.master && master.type !== TYPE.slide)) return
      for (const { text } of shapesOf(master.body, [], new Set(), isDrawnByMaster))
        for (const one of text.split(/[\r\v\n]+/))
          if (/[\p{L}\p{N}]/u.test(one) && !drawn.has(one)) {
            drawn.add(one)
            line(sink, one)
          }
      atom = firstOf(master.body, TYPE.slideAtom)?.body
    }
  }
  const footers = new Set<string>()
  collectFooters(document.body, footers)
  slides.forEach((slide, nth) => {
    sink.page(nth + 1)
    const record = recordOf(slide.id)
    if (record?.type === TYPE.slide) {
      writeShapes(record.body, slide.texts, sink)
      collectFooters(record.body, footers)
      for (const comment of all(record.body, TYPE.comment))
        for (const { type, instance, body } of children(comment.body))
          if (type === TYPE.string && instance === 1) line(sink, body.toString('utf16le'))
    } else for (const text of slide.texts) line(sink, text)
    if (record?.type === TYPE.slide) writeMasters(record)
    const own = notesOfSlide.get(slide.slideId)
    if (own) writeShapes(own.body, [], sink)
  })
  for (const footer of footers) line(sink, footer)
  const written = new Set<string>()
  for (const links of children(document.body).filter(({ type }) => type === TYPE.links))
    for (const link of children(links.body))
      if (link.type === TYPE.link)
        for (const { type, instance, body } of children(link.body))
          if (type === TYPE.string && instance === 1)
            writeLink(body.toString('utf16le').replace(/\0+$/, ''), written, sink)
  return slides.length
}

/** Slides of a list with the texts that their shapes refer to. */
function outlines(list: Buffer): Outline[] {
  const found: Outline[] = []
  for (const { type, body } of children(list)) {
    if (type === TYPE.slidePersist && body.length >= 16)
      found.push({ id: body.readUInt32LE(0), slideId: body.readUInt32LE(12), texts: [] })
    else if (type === TYPE.textHeader) found.at(-1)?.texts.push('')
    else {
      const text = textOf(type, body)
      const slide = found.at(-1)
      if (text !== undefined && slide) {
        if (slide.texts.length === 0) slide.texts.push('')
        slide.texts[slide.texts.length - 1] += text
      }
    }
  }
  return found
}

interface Shape {
  text: string
  isTitle: boolean
  top: number
  left: number
}

/** Writes the shapes of a slide: titles, then from top to bottom; those without a place keep their order. */
function writeShapes(slide: Buffer, outline: readonly string[], sink: TextSink): void {
  const used = new Set<number>()
  for (const { text } of shapesOf(slide, outline, used, () => true)) line(sink, text)
  // texts that no shape refers to are still what the outline shows
  outline.forEach((text, nth) => {
    if (!used.has(nth)) line(sink, text)
  })
}

/** Shapes with a text, in the order they are written; `used` gets the texts of the outline they refer to. */
function shapesOf(
  slide: Buffer,
  outline: readonly string[],
  used: Set<number>,
  isWanted: (shape: Buffer) => boolean,
): Shape[] {
  const shapes: Shape[] = []
  const walk = (body: Buffer, place: [number, number] | undefined, depth: number): void => {
    if (depth > DEPTH_MAX) return
    for (const record of children(body)) {
      if (record.type === TYPE.group) {
        // the first shape of a group is the group itself: its place is that of all inside
        const first = firstOf(record.body, TYPE.shape)
        walk(record.body, place ?? (first && placeOf(first.body)), depth + 1)
      } else if (record.type === TYPE.shape) {
        if (!isWanted(record.body)) continue
        const box = firstOf(record.body, TYPE.textBox)
        const written = box && boxText(box.body, outline, used)
        const texts = [written?.text ?? '', ...shapeTexts(record.body)]
        const text = [...new Set(texts.filter((one) => one.trim() !== ''))].join('\n')
        const [top, left] = place ?? placeOf(record.body) ?? [Infinity, Infinity]
        if (text !== '') shapes.push({ text, isTitle: written?.isTitle ?? false, top, left })
      } else if (record.isContainer) walk(record.body, place, depth + 1)
    }
  }
  for (const drawing of children(slide))
    if (drawing.type === TYPE.drawing) {
      // the patriarch group is the slide, not a group on it
      const root = firstOf(drawing.body, 0xf002)
      for (const { type, body } of children(root?.body ?? drawing.body))
        if (type === TYPE.group) walk(body, undefined, 0)
        else if (type === TYPE.shape) walk(body, undefined, 0)
    }
  return shapes.sort(
    (a, b) =>
      Number(b.isTitle) - Number(a.isTitle) || compare(a.top, b.top) || compare(a.left, b.left),
  )
}

/** Whether slides show this shape of their master: no placeholder, or the text of a footer. */
function isDrawnByMaster(shape: Buffer): boolean {
  const own = firstOf(shape, TYPE.clientData)
  const placeholder = own && firstOf(own.body, TYPE.placeholder)
  return !placeholder || placeholder.body[4] === FOOTER
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b
}

/** Top and left of a shape, in master units. [MS-PPT] 2.9.5 */
function placeOf(shape: Buffer): [number, number] | undefined {
  const anchor = firstOf(shape, TYPE.anchor)?.body
  if (anchor && anchor.length >= 16) return [anchor.readInt32LE(0), anchor.readInt32LE(4)]
  if (anchor && anchor.length >= 8) return [anchor.readInt16LE(0), anchor.readInt16LE(2)]
  return undefined
}

/** Kinds of text, TextHeaderAtom: title and centred title. */
const TITLES = new Set([0, 6])

function boxText(
  box: Buffer,
  outline: readonly string[],
  used: Set<number>,
): { text: string; isTitle: boolean } {
  let text = ''
  let isTitle = false
  for (const { type, body } of children(box)) {
    if (type === TYPE.textHeader && body.length >= 4) isTitle = TITLES.has(body.readUInt32LE(0))
    else if (type === TYPE.outlineText && body.length >= 4) {
      const index = body.readUInt32LE(0)
      if (used.has(index)) continue
      used.add(index)
      text += outline[index] ?? ''
    } else text += textOf(type, body) ?? ''
  }
  return { text, isTitle }
}

function textOf(type: number, body: Buffer): string | undefined {
  if (type === TYPE.textChars) return body.toString('utf16le')
  if (type === TYPE.textBytes) return body.toString('latin1')
  return undefined
}

function collectFooters(body: Buffer, footers: Set<string>): void {
  for (const { body: container } of children(body).filter(
    ({ type }) => type === TYPE.headersFooters,
  ))
    for (const { type, body: text } of children(container))
      if (type === TYPE.string) footers.add(text.toString('utf16le').trim())
}

/** Every text in the stream in its order, masters left out. @returns whether there was any */
function readLoose(stream: Buffer, sink: TextSink): boolean {
  let found = false
  const walk = (body: Buffer, depth: number): void => {
    for (const record of children(body)) {
      const text = textOf(record.type, record.body)
      if (text !== undefined) {
        line(sink, text)
        found = true
      } else if (record.isContainer && record.type !== TYPE.master && depth < DEPTH_MAX)
        walk(record.body, depth + 1)
    }
  }
  walk(stream, 0)
  return found
}

/** An embedded document, compressed or not. [MS-PPT] 2.10.34 */
async function readEmbedded({ instance, body }: PptRecord, context: Context): Promise<void> {
  let bytes = body
  if (instance === 1) {
    const left = context.budget.bytesLeft
    try {
      bytes = inflateSync(body.subarray(4), {
        maxOutputLength: Math.max(1, left),
        finishFlush: constants.Z_SYNC_FLUSH,
      })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw new Cut('archive-bytes')
      return
    }
  }
  context.budget.takeBytes(bytes.length)
  if (holdsNoDocument(bytes)) return
  await context.nested(bytes, 'embedded object')
}

/** Macros are kept like embedded documents ([MS-PPT] 2.10.41), and so is a storage that was emptied. */
function holdsNoDocument(bytes: Buffer): boolean {
  if (!isOleFile(bytes)) return false
  try {
    const ole = new OleFile(bytes)
    return ole.entries.length === 0 || ole.find('VBA/dir') !== undefined
  } catch {
    return false
  }
}

function line(sink: TextSink, text: string): void {
  if (text.trim() !== '') sink.line(text.replace(/[\r\v]/g, '\n').trimEnd())
}

/** The record at a place; its body ends where the stream ends at the latest. */
function recordAt(stream: Buffer, at: number): PptRecord | undefined {
  if (at < 0 || at + 8 > stream.length) return undefined
  const head = stream.readUInt16LE(at)
  return {
    type: stream.readUInt16LE(at + 2),
    instance: head >> 4,
    isContainer: (head & 15) === 15,
    at,
    body: stream.subarray(at + 8, at + 8 + stream.readUInt32LE(at + 4)),
  }
}

function children(body: Buffer): PptRecord[] {
  const found: PptRecord[] = []
  for (let at = 0; at + 8 <= body.length && found.length < RECORDS_MAX;) {
    const record = recordAt(body, at) as PptRecord
    found.push(record)
    at += 8 + body.readUInt32LE(at + 4)
  }
  return found
}

function firstOf(body: Buffer, wanted: number): PptRecord | undefined {
  for (let at = 0, seen = 0; at + 8 <= body.length && seen < RECORDS_MAX; seen++) {
    const record = recordAt(body, at) as PptRecord
    if (record.type === wanted) return record
    at += 8 + body.readUInt32LE(at + 4)
  }
  return undefined
}

/** Records of a type at any depth. */
function all(body: Buffer, wanted: number, depth = 0): PptRecord[] {
  if (depth > DEPTH_MAX) return []
  return children(body).flatMap((record) => {
    if (record.type === wanted) return [record]
    // tags of programs hold containers without being marked as such
    return record.isContainer || record.type === 0x138b ? all(record.body, wanted, depth + 1) : []
  })
}
