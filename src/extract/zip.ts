/**
 * Zip archives: the directory, and members inflated in chunks under a byte cap that is counted as the
 * bytes come. Declared sizes are never believed, names are never used as paths, nothing is written.
 *
 * A directory without anything unusual is read here: jszip's objects, promises and copies for each member
 * took a sixth of the time of a small workbook (Node 20.20, two cores, 2026-11-30). Every other one is
 * jszip's, which tolerates bytes before the archive; where it refuses (encryption, padding in extra fields,
 * thousands of entries) yauzl does; where the directory is gone, the local headers are followed, so that a truncated
 * archive gives what it still holds. jszip itself never inflates: it cannot be capped (a 194 kB file took 469 MB before
 * the size mismatch was noticed).
 */
import { Readable } from 'node:stream'
import { constants, createInflateRaw, inflateRawSync } from 'node:zlib'
import type { Entry } from 'yauzl'
import { Cut, type Budget } from './budget.js'

export interface ZipEntry {
  /** As the archive gives it, `/` between folders. Untrusted: may be absolute, hold `..` or repeat. */
  name: string
  /** The name's bytes where it is not marked as UTF-8 and could be in another encoding. */
  rawName?: Uint8Array
  /** Compressed bytes, a view into the archive; undefined when they lie outside of it. */
  raw: Uint8Array | undefined
  /** Compression method of APPNOTE 4.4.5: 0 stored, 8 deflated. */
  method: number
  /** Inflated bytes as claimed. */
  declaredSize: number
  encrypted: boolean
  /** For an encrypted entry: the byte that tells a wrong password (APPNOTE 6.1.6). */
  check?: number
  /** Of what is inflated, for methods that another reader inflates and checks. */
  crc?: number
  /** For AES: 1 to 3 for 128 to 256 bits, and the method of what is sealed. */
  aes?: { strength: number; method: number }
}

export interface Zip {
  /** Files only, in the directory's order. */
  entries: ZipEntry[]
  /** What was wrong with the archive itself, one sentence. */
  problem?: string
}

/** Read the directory with yauzl, entry by entry, above this many entries: jszip builds an object for each. */
const JSZIP_ENTRIES = 5_000

/**
 * Reads the directory.
 *
 * @param entriesMax entries listed; the rest is left out and told in `problem`
 * @throws Error when there is neither a directory nor a local header
 */
export async function openZip(bytes: Uint8Array, entriesMax: number): Promise<Zip> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const plain = listPlain(buffer)
  if (plain) return { entries: plain }
  if (claimedEntries(buffer) <= JSZIP_ENTRIES) {
    try {
      return { entries: await listWithJszip(buffer) }
    } catch {
      // encrypted, padded or damaged: the next reader knows more
    }
  }
  try {
    return await listWithYauzl(buffer, entriesMax)
  } catch {
    const entries = listLocalHeaders(buffer, entriesMax)
    if (entries.length === 0)
      throw new Error(
        isLastOfSeveral(buffer)
          ? 'the last of several files of one archive; the others are missing'
          : 'no zip directory and no local header',
      )
    return { entries, problem: 'the archive has no readable directory' }
  }
}

/** Number of entries that the end record claims, 0 when there is none. APPNOTE 4.3.16. */
function claimedEntries(buffer: Buffer): number {
  const end = buffer.lastIndexOf('PK\x05\x06', buffer.length, 'latin1')
  return end >= 0 && end + 12 <= buffer.length ? buffer.readUInt16LE(end + 10) : 0
}

/** The directory lies in the last of the files into which an archive was split. APPNOTE 4.3.16 and 8. */
function isLastOfSeveral(buffer: Buffer): boolean {
  const end = buffer.lastIndexOf('PK\x05\x06', buffer.length, 'latin1')
  if (end < 0 || end + 22 > buffer.length) return false
  const disk = buffer.readUInt16LE(end + 4)
  return disk > 0 && disk < 1_000 && buffer.readUInt16LE(end + 10) > 0
}

/** Names that readers clean, each in its own way. */
const UNUSUAL_NAME = /^(?:[/.]|[a-z]:)|\\|\/\.\.?(?:\/|$)|\/\/|^$|^\d+$/i

/**
 * The files of an archive as most programs write it: one disk, no zip64, nothing before, between or
 * behind, nothing encrypted, only stored and deflated members, each name once. Undefined for another one.
 * APPNOTE 4.3.12 and 4.3.16.
 */
function listPlain(buffer: Buffer): ZipEntry[] | undefined {
  const end = buffer.length - 22
  if (end < 0 || buffer.readUInt32LE(end) !== END_RECORD || buffer.readUInt32LE(end + 4) !== 0)
    return undefined
  const count = buffer.readUInt16LE(end + 10)
  let at = buffer.readUInt32LE(end + 16)
  if (count === 0 || count > JSZIP_ENTRIES || buffer.readUInt16LE(end + 8) !== count)
    return undefined
  if (at + buffer.readUInt32LE(end + 12) !== end) return undefined
  const entries: ZipEntry[] = []
  const names = new Set<string>()
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || buffer.readUInt32LE(at) !== DIRECTORY_HEADER) return undefined
    const flags = buffer.readUInt16LE(at + 8)
    const method = buffer.readUInt16LE(at + 10)
    const size = buffer.readUInt32LE(at + 20)
    const declaredSize = buffer.readUInt32LE(at + 24)
    const nameEnd = at + 46 + buffer.readUInt16LE(at + 28)
    const extraSize = buffer.readUInt16LE(at + 30)
    const next = nameEnd + extraSize + buffer.readUInt16LE(at + 32)
    const header = buffer.readUInt32LE(at + 42)
    const isPlain =
      (flags & 0x2041) === 0 &&
      (method === 0 || method === 8) &&
      size !== 0xffffffff &&
      declaredSize < 0x80000000 &&
      isUsualExtra(buffer, nameEnd, nameEnd + extraSize) &&
      buffer.readUInt16LE(at + 34) === 0
    if (!isPlain || next > end || header + 30 > at) return undefined
    const rawName = buffer.subarray(at + 46, nameEnd)
    const name = flags & 0x800 ? rawName.toString('utf8') : decodeName(rawName)
    const raw = localContent(buffer, header, size)
    if (!raw || raw.length < size || UNUSUAL_NAME.test(name) || names.has(name)) return undefined
    names.add(name)
    const isFolder = name.endsWith('/')
    // marked as a folder, called as a file
    if (!isFolder && (buffer.readUInt32LE(at + 38) & 0x10) !== 0) return undefined
    if (!isFolder)
      entries.push({
        name,
        ...(!(flags & 0x800) && { rawName }),
        raw,
        method,
        declaredSize,
        encrypted: false,
      })
    at = next
  }
  return at === end ? entries : undefined
}

/** Extra fields are whole, and none of them tells sizes, the name or encryption (APPNOTE 4.5). */
function isUsualExtra(buffer: Buffer, from: number, end: number): boolean {
  let at = from
  while (at + 4 <= end && end <= buffer.length) {
    const id = buffer.readUInt16LE(at)
    if (id === 0x0001 || id === 0x7075 || id === 0x9901) return false
    at += 4 + buffer.readUInt16LE(at + 2)
  }
  return at === end
}

/** The fields of a loaded jszip object that hold the compressed bytes; jszip does not publish them. */
interface JszipMember {
  dir: boolean
  unsafeOriginalName?: string
  _data: {
    uncompressedSize: number
    compressedContent: Uint8Array
    compression: { magic: string }
  }
}

async function listWithJszip(buffer: Buffer): Promise<ZipEntry[]> {
  const { default: JSZip } = await import('jszip')
  const rawNames = new Map<string, Uint8Array>()
  const archive = await JSZip.loadAsync(buffer, {
    decodeFileName: (name) => {
      const raw = name as Uint8Array
      const decoded = decodeName(raw)
      rawNames.set(decoded, raw)
      return decoded
    },
  })
  // two members of one name are one to jszip
  if (Object.keys(archive.files).length < claimedEntries(buffer)) throw new Error('repeated names')
  const entries: ZipEntry[] = []
  for (const [key, file] of Object.entries(archive.files)) {
    const member = file as unknown as JszipMember
    if (member.dir) continue
    const { compressedContent, compression, uncompressedSize } = member._data
    const name = (member.unsafeOriginalName ?? key).replaceAll('\\', '/')
    const rawName = rawNames.get(member.unsafeOriginalName ?? key)
    entries.push({
      name,
      ...(rawName && { rawName }),
      raw: compressedContent,
      method: compression.magic.charCodeAt(0) | (compression.magic.charCodeAt(1) << 8),
      declaredSize: uncompressedSize,
      encrypted: false,
    })
  }
  return entries
}

async function listWithYauzl(buffer: Buffer, entriesMax: number): Promise<Zip> {
  const { default: yauzl } = await import('yauzl')
  return new Promise((resolve, reject) => {
    yauzl.fromBuffer(
      buffer,
      { lazyEntries: true, decodeStrings: false, validateEntrySizes: false },
      (error, archive) => {
        if (error) return reject(error)
        const entries: ZipEntry[] = []
        archive.on('error', reject)
        archive.on('end', () => resolve({ entries }))
        archive.on('entry', (entry) => {
          const rawName = entry.fileName as unknown as Buffer
          const name = (
            entry.generalPurposeBitFlag & 0x800 ? rawName.toString('utf8') : decodeName(rawName)
          ).replaceAll('\\', '/')
          if (!name.endsWith('/'))
            entries.push({
              name,
              ...(!(entry.generalPurposeBitFlag & 0x800) && { rawName }),
              raw: localContent(buffer, entry.relativeOffsetOfLocalHeader, entry.compressedSize),
              method: entry.compressionMethod,
              declaredSize: entry.uncompressedSize,
              crc: entry.crc32,
              ...encryptionOf(entry),
            })
          if (entries.length >= entriesMax)
            resolve({ entries, problem: `only the first ${entriesMax} entries are listed` })
          else archive.readEntry()
        })
        archive.readEntry()
      },
    )
  })
}

/** How an entry is encrypted: flags 4.4.4, check byte 6.1.6, AES in extra field 0x9901. */
function encryptionOf(entry: Entry): Pick<ZipEntry, 'encrypted' | 'check' | 'aes'> {
  const flags = entry.generalPurposeBitFlag
  if ((flags & 1) === 0) return { encrypted: false }
  const aes = entry.extraFields?.find(({ id, data }) => id === 0x9901 && data.length >= 7)?.data
  return {
    encrypted: true,
    check: flags & 8 ? (entry.lastModFileTime >>> 8) & 255 : entry.crc32 >>> 24,
    ...(aes && { aes: { strength: aes[4] ?? 3, method: aes.readUInt16LE(5) } }),
  }
}

/** Compressed bytes behind the local header at `at`; undefined when there is no such header. */
function localContent(buffer: Buffer, at: number, size: number): Buffer | undefined {
  if (at + 30 > buffer.length || buffer.readUInt32LE(at) !== LOCAL_HEADER) return undefined
  const start = at + 30 + buffer.readUInt16LE(at + 26) + buffer.readUInt16LE(at + 28)
  return buffer.subarray(start, start + size)
}

const LOCAL_HEADER = 0x04034b50
const DIRECTORY_HEADER = 0x02014b50
const END_RECORD = 0x06054b50

/** Follows local headers (APPNOTE 4.3.7) for an archive whose directory is gone. */
function listLocalHeaders(buffer: Buffer, entriesMax: number): ZipEntry[] {
  const entries: ZipEntry[] = []
  let at = buffer.indexOf('PK\x03\x04', 0, 'latin1')
  while (at >= 0 && at + 30 <= buffer.length && entries.length < entriesMax) {
    const flags = buffer.readUInt16LE(at + 6)
    const method = buffer.readUInt16LE(at + 8)
    const compressedSize = buffer.readUInt32LE(at + 18)
    const nameLength = buffer.readUInt16LE(at + 26)
    const start = at + 30 + nameLength + buffer.readUInt16LE(at + 28)
    const rawName = buffer.subarray(at + 30, at + 30 + nameLength)
    // Bit 3: the sizes stand behind the bytes. Deflate ends by itself, so the next header is a safe end.
    const known = (flags & 8) === 0 && compressedSize > 0
    const next = buffer.indexOf('PK\x03\x04', known ? start + compressedSize : start, 'latin1')
    const end = known ? start + compressedSize : next >= 0 ? next : buffer.length
    const name = (flags & 0x800 ? rawName.toString('utf8') : decodeName(rawName)).replaceAll(
      '\\',
      '/',
    )
    if (!name.endsWith('/') && name !== '')
      entries.push({
        name,
        raw: buffer.subarray(start, end),
        method,
        declaredSize: buffer.readUInt32LE(at + 22),
        encrypted: (flags & 1) === 1,
      })
    at = next
  }
  return entries
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Upper half of code page 437, which the format falls back to. APPNOTE appendix D. */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

/** A name without the UTF-8 mark: most are UTF-8 all the same. */
function decodeName(raw: Uint8Array): string {
  // almost all are ASCII, and the strict decoder takes longer than the rest of an entry
  if (raw.every((byte) => byte < 0x80))
    return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1')
  try {
    return utf8.decode(raw)
  } catch {
    return Array.from(raw, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : CP437[byte - 0x80],
    ).join('')
  }
}

/** Inflated in one step up to here; larger members come in chunks. */
const ONE_STEP_COMPRESSED = 512 * 1024
const ONE_STEP_INFLATED = 4 * 1024 * 1024
const CHUNK = 64 * 1024

/**
 * Inflates a member in chunks and counts each before handing it on.
 *
 * @param take gets the chunks in order; a promise is waited for before the next
 * @returns what was wrong with the bytes (they may end early), or undefined
 * @throws {Cut} `archive-bytes` after the chunk that met the limit was handed on as far as it goes, and
 *   what the clock says between chunks. When `take` says that the text is full (`text-chars`, `cells`),
 *   the rest is still inflated and counted: that a member is larger than `archiveBytes` is the graver
 *   finding, and the one recorded
 */
export async function inflate(
  entry: ZipEntry,
  budget: Budget,
  take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<string | undefined> {
  let full: Cut | undefined
  const note = (error: unknown): void => {
    if (!(error instanceof Cut) || (error.by !== 'text-chars' && error.by !== 'cells')) throw error
    full = error
  }
  const problem = await inflateCounted(entry, budget, (chunk) => {
    if (full) return undefined
    try {
      return take(chunk)?.catch(note)
    } catch (error) {
      return note(error)
    }
  })
  if (full) throw full
  return problem
}

async function inflateCounted(
  entry: ZipEntry,
  budget: Budget,
  take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<string | undefined> {
  const counted = (chunk: Uint8Array): void | Promise<void> => {
    budget.checkTime()
    const left = budget.bytesLeft
    if (chunk.length > left) {
      const waiting = left > 0 ? take(chunk.subarray(0, left)) : undefined
      if (waiting) return waiting.then(() => budget.takeBytes(chunk.length))
    }
    budget.takeBytes(chunk.length)
    return take(chunk)
  }

  const { raw } = entry
  if (entry.encrypted) return `${entry.name} is encrypted`
  if (!raw) return `${entry.name} lies outside of the archive`
  if (entry.method === 0) {
    for (let at = 0; at < raw.length; at += CHUNK) await counted(raw.subarray(at, at + CHUNK))
    return undefined
  }
  if (entry.method !== 8) return `${entry.name} is compressed by method ${entry.method}`

  if (raw.length <= ONE_STEP_COMPRESSED) {
    const whole = inflateWhole(
      raw,
      entry.declaredSize,
      Math.min(ONE_STEP_INFLATED, budget.bytesLeft),
    )
    if (whole) {
      if (whole.length > 0) await counted(whole)
      return whole.length < entry.declaredSize ? `${entry.name} ends early` : undefined
    }
  }

  const stream = createInflateRaw({
    chunkSize: CHUNK,
    flush: constants.Z_SYNC_FLUSH,
    finishFlush: constants.Z_SYNC_FLUSH,
  })
  // what a write has inflated before it meets damage is lost, so small members go in by small pieces
  const piece = raw.length <= ONE_STEP_COMPRESSED ? 256 : 16_384
  Readable.from(pieces(raw, piece)).pipe(stream)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) await counted(chunk)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) return `${entry.name} is damaged`
    throw error
  } finally {
    stream.destroy()
  }
  return undefined
}

function* pieces(raw: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < raw.length; at += size) yield raw.subarray(at, at + size)
}

/** All at once; undefined when that is more than `max` bytes or the data is damaged. */
function inflateWhole(raw: Uint8Array, declared: number, max: number): Buffer | undefined {
  if (max <= 0) return undefined
  try {
    return inflateRawSync(raw, {
      maxOutputLength: max,
      chunkSize: Math.max(1024, Math.min(declared + 16, max)),
      finishFlush: constants.Z_SYNC_FLUSH,
    })
  } catch {
    return undefined
  }
}

/** A member's bytes as one array. @throws {Cut} `archive-bytes` @throws Error when they cannot be inflated at all */
export async function inflateAll(entry: ZipEntry, budget: Budget): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const problem = await inflate(entry, budget, (chunk) => void chunks.push(chunk))
  if (chunks.length === 0 && problem) throw new Error(problem)
  return chunks.length === 1 && Buffer.isBuffer(chunks[0]) ? chunks[0] : Buffer.concat(chunks)
}

/** The first inflated bytes of a member, for a look at its header; not counted. Empty when it cannot be read. */
export function inflateHead(entry: ZipEntry, bytes: number): Uint8Array {
  const raw = entry.encrypted ? undefined : entry.raw
  if (!raw) return new Uint8Array(0)
  if (entry.method === 0) return raw.subarray(0, bytes)
  return (
    inflateWhole(raw.subarray(0, Math.min(raw.length, bytes)), bytes, 1032 * bytes) ??
    new Uint8Array(0)
  )
}
