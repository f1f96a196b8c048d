/**
 * Archives that libarchive knows (7z, RAR 4 and 5, cab, lha, iso, cpio, tar under bzip2 or xz), in WebAssembly.
 *
 * Each archive gets an instance of its own, which bounds what a damaged one can leave behind; members are read in
 * pieces of 64 kB that are counted as they come. Encryption of 7z and RAR is not supported there: locked.
 */
import type { libarchiveWasm } from 'libarchive-wasm'
import { Cut } from './budget.js'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'

export const libarchive: Extractor = {
  name: 'libarchive',
  version: 1,
  title: 'Other archives (7z, rar, cab, lha, iso, tar.bz2, tar.xz)',
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
  { bytes, type }: Source,
  _sink: unknown,
  context: Context,
): Promise<Facts> {
  const { libarchiveWasm: load } = await import('libarchive-wasm')
  const library = await load()
  const { module } = library
  const place = module._malloc(bytes.length)
  module.HEAPU8.set(bytes, place)
  const buffer = module._malloc(CHUNK)
  let archive: number
  try {
    archive = library.read_new_memory(place, bytes.length)
  } catch {
    throw new Declined('unsupported', `${type}, no archive inside`)
  }
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
    return broken(library, archive, members, type)
  }
  if (library.error_string(archive) || (members === 0 && bytes.length > EMPTY_BYTES))
    return broken(library, archive, members, type)
  return {}
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
  let cut: Cut | undefined
  let isBroken = false
  try {
    for (;;) {
      const size = library.read_data(archive, buffer, CHUNK)
      if (size <= 0) break
      const left = Math.max(0, Math.min(size, context.budget.bytesLeft))
      chunks.push(Buffer.from(library.module.HEAPU8.subarray(buffer, buffer + left)))
      context.budget.takeBytes(size)
      context.budget.checkTime()
    }
  } catch (error) {
    if (error instanceof Cut) cut = error
    else isBroken = true
  }
  if (isBroken && chunks.length === 0) context.declined(name, 'damaged', 'cannot be unpacked')
  else {
    if (isBroken) context.note(`${name}: ends early`)
    await context.nested(Buffer.concat(chunks), name)
  }
  if (cut) throw cut
}

/** What is said of an archive that libarchive gave up on. */
function broken(library: Library, archive: number, members: number, type: string): Facts {
  let isLocked = false
  try {
    isLocked = library.read_has_encrypted_entries(archive) === 1
  } catch {
    // the instance has trapped
  }
  if (isLocked && members === 0) throw new Declined('locked', 'password needed')
  if (members > 0) return { partial: 'the archive is damaged or ends early' }
  if (type === 'application/x-bzip2' || type === 'application/x-xz')
    throw new Declined('unsupported', `${type}, no archive inside`)
  throw new Error('no member can be read')
}
