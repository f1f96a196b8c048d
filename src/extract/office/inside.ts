/**
 * Documents and pictures inside an Office document: handed to the table again, under the one budget of
 * the nest. Without OCR a picture is only counted.
 */
import { posix } from 'node:path'
import type { Limits } from '../../part/limits.js'
import type { EmptyReason } from '../../part/states.js'
import type { Context } from '../extractor.js'
import { inflateHead } from '../zip.js'
import type { OfficePackage, Relationships } from './package.js'
import { pictureSize } from './picture-size.js'

/** Bytes looked at for a picture's header; JPEG may carry metadata before it. */
const HEAD_BYTES = 64 * 1024
/** LibreOffice and Office for the Mac put pages of PDF where pictures stand; their text is text. */
const PAGES = /\.pdf$/i
const READABLE_PICTURES = /\.(?:png|jpe?g|jfif|gif|bmp|dib|webp|tiff?)$/i

/** Collects what parts refer to, each member once, and reads it when the document's own text is done. */
export class Inside {
  readonly #pack: OfficePackage
  readonly #context: Context
  readonly #seen = new Set<string>()
  #pictures: string[] = []
  #documents: string[] = []
  /** Pictures that only OCR can read were met. */
  hasPictures = false

  constructor(pack: OfficePackage, context: Context) {
    this.#pack = pack
    this.#context = context
  }

  /** Why the document has no text, should it have none. */
  get emptyReason(): EmptyReason {
    if (!this.hasPictures) return 'no-content'
    return this.#context.lane === 'ocr' ? 'no-text-found' : 'only-images'
  }

  /** Notes the pictures and embedded documents a part refers to. */
  collect(relationships: Relationships): void {
    for (const { type, target, isExternal } of relationships.all) {
      if (isExternal) continue
      if (type === 'image') this.collectPicture(target)
      else if (type === 'package' || type === 'oleObject') this.collectDocument(target)
    }
  }

  /** Notes a picture by its member name. */
  collectPicture(member: string): void {
    if (PAGES.test(member)) return this.collectDocument(member)
    if (this.#seen.has(member)) return
    this.#seen.add(member)
    this.#pictures.push(member)
  }

  /** Notes an embedded document by its member name. */
  collectDocument(member: string): void {
    if (this.#seen.has(member)) return
    this.#seen.add(member)
    this.#documents.push(member)
  }

  /** Reads what was collected since the last call: documents, then pictures. @throws {Cut} */
  async read(): Promise<void> {
    const documents = this.#documents
    const pictures = this.#pictures
    this.#documents = []
    this.#pictures = []
    for (const member of documents) {
      const bytes = await this.#pack.bytes(member)
      if (bytes) await this.#context.nested(bytes, posix.basename(member))
    }
    for (const member of pictures) await this.#picture(member)
  }

  async #picture(member: string): Promise<void> {
    const entry = this.#pack.member(member)
    if (!entry || !READABLE_PICTURES.test(member)) return
    const head = inflateHead(entry, HEAD_BYTES)
    if (!isWorthReading(head, entry.declaredSize, this.#context.budget.limits)) return
    this.hasPictures = true
    if (this.#context.lane === 'text') return this.#context.budget.leaveForOcr()
    const bytes = await this.#pack.bytes(member)
    if (bytes) await this.#context.nested(bytes, posix.basename(member))
  }
}

/** Base64 that surely holds HEAD_BYTES, line ends included. */
const HEAD_CHARS = HEAD_BYTES * 2

/**
 * Reads pictures that stand in the text of their document as base64, the same one once.
 *
 * @returns why the document has no text, should it have none
 * @throws {Cut}
 */
export async function readPicturesInText(
  pictures: readonly string[],
  context: Context,
): Promise<EmptyReason> {
  const { budget, lane } = context
  let count = 0
  for (const picture of new Set(pictures)) {
    const head = Buffer.from(picture.slice(0, HEAD_CHARS), 'base64')
    if (!isWorthReading(head, Math.floor(picture.length * 0.75), budget.limits)) continue
    count++
    if (lane === 'text') {
      budget.leaveForOcr()
      continue
    }
    const bytes = Buffer.from(picture, 'base64')
    budget.takeBytes(bytes.length)
    await context.nested(bytes, `picture ${count}`)
  }
  if (count === 0) return 'no-content'
  return lane === 'ocr' ? 'no-text-found' : 'only-images'
}

/** The rules of `skipped-tiny`, on the claimed size in bytes and the header. */
function isWorthReading(head: Uint8Array, byteSize: number, limits: Limits): boolean {
  const size = pictureSize(head)
  if (!size) return false
  if (size.isBilevel && size.width * size.height >= 1_000_000) return true
  return (
    byteSize >= limits.imageBytesMin &&
    Math.min(size.width, size.height) >= limits.imageShortSideMin
  )
}
