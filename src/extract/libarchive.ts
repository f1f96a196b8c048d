/**
 * Archives that libarchive knows (7z, RAR 4 and 5, cab, lha, iso, cpio), files under bzip2 or xz, and members of a zip
 * under methods that zlib does not know, in WebAssembly.
 *
 * Each archive gets an instance of its own, which bounds what a damaged one can leave behind; members are read in
 * pieces of 64 kB that are counted as they come. Encryption of 7z and RAR is not supported there: locked.
 */
import type { libarchiveWasm } from 'libarchive-wasm'
import { nameWithout, readInflated } from './archive.js'
import { Cut, type Budget } from './budget.js'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import type { ZipEntry } from './zip.js'

export const libarchive: Extractor = {
  name: 'libarchive',
  version: 2,
  title: 'Other archives and compressed files (7z, rar, cab, lha, iso, bz2, xz, tar under them)',
  types: [
    'application/x-7z-compressed',
    'application/vnd.rar',
    'application/vnd.ms-cab-compressed',
    'application/x-lzh-compressed',
    'application/x-iso9660-image',
    'application/x-cpio',
    'application/x-bzip2',
    'application/x-xz',
  ],
  extensions: ['7z', 'rar', 'cab', 'lzh', 'iso', 'cpio', 'bz2', 'xz'],
  lane: 'text',
  extract: readArchive,
}

type Library = Awaited<ReturnType<typeof libarchiveWasm>>

const CHUNK = 65_536
/** An archive of nothing is not larger. */
const EMPTY_BYTES = 100
/** Kind of a member that is a file, in the bits of its mode. */
const REGULAR_FILE = 0o100000

async function readArchive(
  { bytes, name, type }: Source,
  _sink: unknown,
  context: Context,
): Promise<Facts> {
  const around = AROUND[type]
  if (around) {
    const [before, behind] = around.map((text) => Buffer.from(text, 'base64'))
    return readCompressed([before as Buffer, bytes, behind as Buffer], name, context)
  }
  const { library, archive, buffer } = await open([bytes])
  if (archive === 0) throw new Declined('unsupported', `${type}, no archive inside`)
  let members = 0
  try {
    for (;;) {
      const entry = library.read_next_entry(archive)
      if (entry === 0) break
      members++
      await readMember(library, archive, entry, buffer, context)
    }
  } catch (error) {
    if (error instanceof Cut || error instanceof Declined) throw error
    return broken(library, archive, members)
  }
  if (library.error_string(archive) || (members === 0 && bytes.length > EMPTY_BYTES))
    return broken(library, archive, members)
  return {}
}

interface Opened {
  library: Library
  /** 0 when there is no archive in the bytes. */
  archive: number
  /** Place of `CHUNK` bytes for what is read. */
  buffer: number
}

async function open(parts: readonly Uint8Array[]): Promise<Opened> {
  const { libarchiveWasm: load } = await import('libarchive-wasm')
  const library = await load()
  const { module } = library
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  const place = module._malloc(size)
  let at = place
  for (const part of parts) {
    module.HEAPU8.set(part, at)
    at += part.length
  }
  const buffer = module._malloc(CHUNK)
  try {
    return { library, archive: library.read_new_memory(place, size), buffer }
  } catch {
    return { library, archive: 0, buffer }
  }
}

/**
 * What stands before and behind a compressed file, by type: the header of a tar with one member of 8 GB, and an end of
 * its own, both compressed. The library has no reader for a compressed file that is no archive, but it reads on through
 * streams that follow each other: so the file is the beginning of that member, up to the end. The end is as long as a
 * step, because of the last step, in which the member ends early, the library gives nothing.
 */
const AROUND: Record<string, readonly [before: string, behind: string]> = {
  'application/x-bzip2': [
    'QlpoOTFBWSZTWUDD54kAACBbgMiAQABVgAAA4AAeQAgAIABUU0yMTExBJNUPKMmj1F8DFOuZolymYh9NDgDLB1mMPbelC98u6vnxdyRThQkEDD54kA==',
    'QlpoOTFBWSZTWTLLhAAAABpZgMACQAAAECdt1AAACCAAQJSm9U9NINo0KaZGJiYlAEWZgF0wFiL4Wpn8f59SqMXp/aia7QgDgu5IpwoSBllwgAA=',
  ],
  'application/x-xz': [
    '/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AH/ACxdADwAM1AYaImDAdzibg2iwv43NRoT05FSIBxwru4FJ0u8BZIIBHXPKAeZFOkAAIdiuz8AAUSABAAAAGK7GGk+MA2LAgAAAAABWVo=',
    '/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4BAgADhdAAAdDK3ZKSkms6xA6fty4dIEiMjdtqs8Xay3AnrnwjmUxRijA9ktpnekL4F+Xi5AUk63ygCj7doAAG3/Qu8AAVChIAAAADLFriI+MA2LAgAAAAABWVo=',
  ],
}
const END = Buffer.from('\0paperknife: the end of the file\0')
/** Small, because damage costs the step it lies in. */
const STEP = 4_096

async function readCompressed(
  parts: readonly Uint8Array[],
  name: string,
  context: Context,
): Promise<Facts> {
  const opened = await openMember(parts)
  if (!opened) throw new Error('no compressed data')
  const chunks: Uint8Array[] = []
  const { cut } = unpack(opened, context.budget, chunks, STEP)
  let inside = Buffer.concat(chunks)
  const end = inside.lastIndexOf(END)
  if (end >= 0) inside = inside.subarray(0, end)
  else if (!cut) {
    // what is left of the last step, byte by byte
    const again = (await openMember(parts)) as Opened
    const { library, archive, buffer } = again
    for (const { length } of chunks) library.read_data(archive, buffer, length)
    unpack(again, context.budget, chunks, 1)
    inside = Buffer.concat(chunks)
  }
  if (inside.length === 0) throw new Error('no compressed data')
  await readInflated(inside, nameWithout(name), context)
  if (cut) throw cut
  return end < 0 ? { partial: 'the compressed data is damaged; what stands before is read' } : {}
}

/** The bytes as an archive, at its first member; undefined when there is none. */
async function openMember(parts: readonly Uint8Array[]): Promise<Opened | undefined> {
  const opened = await open(parts)
  const { library, archive } = opened
  return archive === 0 || library.read_next_entry(archive) === 0 ? undefined : opened
}

/** Compression methods of zip that this reader adds: bzip2, LZMA, xz and PPMd (APPNOTE 4.4.5). */
const ZIP_METHODS = new Set([12, 14, 95, 98])

/** True for a member that `unpackZipped` inflates. */
export function unpacks({ method, crc, encrypted }: ZipEntry): boolean {
  return !encrypted && crc !== undefined && ZIP_METHODS.has(method)
}

/**
 * Inflates one member of a zip, given to the library as an archive of its own.
 *
 * @param chunks gets what is inflated
 * @returns what was wrong with the bytes, or undefined
 * @throws {Cut} as `inflate` of zip.ts does
 */
export async function unpackZipped(
  { raw, method, crc = 0, declaredSize }: ZipEntry,
  budget: Budget,
  chunks: Uint8Array[],
): Promise<string | undefined> {
  if (!raw) return 'lies outside of the archive'
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(63, 0)
  facts.writeUInt16LE(method, 4)
  facts.writeUInt32LE(crc, 10)
  facts.writeUInt32LE(raw.length, 14)
  facts.writeUInt32LE(Math.min(declaredSize, 0xffffffff), 18)
  facts.writeUInt16LE(1, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from('x')])
  const opened = await openMember([local, raw])
  if (!opened) return 'is damaged'
  const { cut, isBroken } = unpack(opened, budget, chunks)
  if (cut) throw cut
  return isBroken ? 'is damaged' : undefined
}

/** Takes the bytes of the member that is next, counting them. */
function unpack(
  { library, archive, buffer }: Opened,
  budget: Budget,
  chunks: Uint8Array[],
  step = CHUNK,
): { cut?: Cut; isBroken: boolean } {
  try {
    for (;;) {
      const size = library.read_data(archive, buffer, step)
      if (size <= 0) return { isBroken: false }
      const left = Math.max(0, Math.min(size, budget.bytesLeft))
      chunks.push(Buffer.from(library.module.HEAPU8.subarray(buffer, buffer + left)))
      budget.takeBytes(size)
      budget.checkTime()
    }
  } catch (error) {
    if (error instanceof Cut) return { cut: error, isBroken: false }
    return { isBroken: true }
  }
}

async function readMember(
  library: Library,
  archive: number,
  entry: number,
  buffer: number,
  context: Context,
): Promise<void> {
  const name = library.entry_pathname(entry) || 'unnamed'
  if (library.entry_filetype(entry) !== REGULAR_FILE) return
  if (library.entry_is_encrypted(entry)) return context.declined(name, 'locked', 'password needed')
  const chunks: Buffer[] = []
  const { cut, isBroken } = unpack({ library, archive, buffer }, context.budget, chunks)
  if (isBroken && chunks.length === 0) context.declined(name, 'damaged', 'cannot be unpacked')
  else {
    if (isBroken) context.note(`${name}: ends early`)
    await context.nested(Buffer.concat(chunks), name)
  }
  if (cut) throw cut
}

/** What is said of an archive that libarchive gave up on. */
function broken(library: Library, archive: number, members: number): Facts {
  let isLocked = false
  try {
    isLocked = library.read_has_encrypted_entries(archive) === 1
  } catch {
    // the instance has trapped
  }
  if (isLocked && members === 0) throw new Declined('locked', 'password needed')
  if (members > 0) return { partial: 'the archive is damaged or ends early' }
  throw new Error('no member can be read')
}
