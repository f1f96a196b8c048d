/**
 * Reads OLE2 compound files ([MS-CFB]): the shell of doc, xls, ppt, msg, Visio and embedded objects.
 *
 * Every chain is bounded by the number of sectors that the file can hold, so that cyclic, shared and lying
 * chains end; a chain that leaves the file gives what lies inside it. Not responsible for what the streams mean.
 */

const FREE = 0xfffffffa // this and above are marks, no sectors
/** In place of what a part of the table said that lies behind the end of a cut file. */
const LOST = 0xfffffff9
const HEADER_DIFAT = 109
const ENTRY_BYTES = 128
/** More entries than this are no document; the rest is not listed. */
const ENTRIES_MAX = 100_000

export interface OleEntry {
  /** Name as stored; control characters such as \x05 are part of it. */
  name: string
  /** Names from below the root, joined by `/`. */
  path: string
  kind: 'storage' | 'stream'
  /** Bytes as declared. */
  size: number
  /** Class id of a storage, 32 lower hex digits. */
  clsid: string
  start: number
}

/** Whether bytes begin as a compound file does. */
export function isOleFile(bytes: Uint8Array): boolean {
  return bytes[0] === 0xd0 && bytes[1] === 0xcf && bytes[2] === 0x11 && bytes[3] === 0xe0
}

export class OleFile {
  readonly entries: readonly OleEntry[]
  /** Class id of the root, 32 lower hex digits. */
  readonly clsid: string
  readonly #bytes: Buffer
  readonly #sectorBytes: number
  readonly #miniBytes: number
  readonly #cutoff: number
  readonly #fat: Uint32Array
  readonly #miniFat: Uint32Array
  readonly #mini: Buffer
  readonly #byPath = new Map<string, OleEntry>()

  /** @throws Error when there is no compound file or no directory in it */
  constructor(bytes: Uint8Array) {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#bytes = file
    if (file.length < 512 || !isOleFile(file)) throw new Error('not an OLE2 compound file')
    const shift = file.readUInt16LE(30)
    this.#sectorBytes = shift >= 7 && shift <= 16 ? 1 << shift : 512
    const miniShift = file.readUInt16LE(32)
    this.#miniBytes = miniShift >= 2 && miniShift < 12 ? 1 << miniShift : 64
    this.#cutoff = file.readUInt32LE(56) || 4096
    this.#fat = this.#readFat()

    const directory = this.#chain(file.readUInt32LE(48), this.#fat, Infinity)
    const { entries, root } = readDirectory(directory)
    if (!root) throw new Error('OLE2 compound file without a directory')
    this.entries = entries
    this.clsid = root.clsid
    for (const entry of entries) {
      const key = entry.path.toLowerCase()
      if (!this.#byPath.has(key)) this.#byPath.set(key, entry)
    }
    this.#mini = this.#chain(root.start, this.#fat, root.size)
    const miniFat = this.#chain(file.readUInt32LE(60), this.#fat, Infinity)
    this.#miniFat = words(miniFat)
  }

  /** The entry at a path below the root, compared without case; `/` between its names. */
  find(path: string): OleEntry | undefined {
    return this.#byPath.get(path.toLowerCase())
  }

  /** Bytes of a stream, fewer than declared when its chain breaks off. `bytesMax` bounds what is copied. */
  read(entry: OleEntry, bytesMax = Infinity): Buffer {
    if (entry.kind !== 'stream') return Buffer.alloc(0)
    const size = Math.min(entry.size, bytesMax)
    if (entry.size >= this.#cutoff) return this.#chain(entry.start, this.#fat, size)
    const small = gather(
      entry.start,
      this.#miniFat,
      size,
      this.#mini.length,
      this.#miniBytes,
      (sector) => sector * this.#miniBytes,
      this.#mini,
    )
    return small
  }

  /** Bytes of the stream at a path, or undefined when there is none. */
  readPath(path: string, bytesMax = Infinity): Buffer | undefined {
    const entry = this.find(path)
    return entry?.kind === 'stream' ? this.read(entry, bytesMax) : undefined
  }

  #at = (sector: number): number => (sector + 1) * this.#sectorBytes

  #chain(start: number, fat: Uint32Array, size: number): Buffer {
    return gather(start, fat, size, this.#bytes.length, this.#sectorBytes, this.#at, this.#bytes)
  }

  #readFat(): Uint32Array {
    const file = this.#bytes
    const perSector = this.#sectorBytes / 4
    const sectorsMax = Math.ceil(file.length / this.#sectorBytes) + 1
    const fatSectors: number[] = []
    const take = (sector: number): void => {
      if (sector < FREE && fatSectors.length < sectorsMax) fatSectors.push(sector)
    }
    for (let i = 0; i < HEADER_DIFAT; i++) take(file.readUInt32LE(76 + 4 * i))
    const seen = new Set<number>()
    let next = file.readUInt32LE(68)
    while (next < FREE && !seen.has(next)) {
      seen.add(next)
      const at = this.#at(next)
      if (at + this.#sectorBytes > file.length) break
      for (let i = 0; i < perSector - 1; i++) take(file.readUInt32LE(at + 4 * i))
      next = file.readUInt32LE(at + 4 * (perSector - 1))
    }
    const fat = new Uint32Array(fatSectors.length * perSector).fill(0xffffffff)
    fatSectors.forEach((sector, nth) => {
      const at = this.#at(sector)
      const whole = words(file.subarray(at, Math.min(at + this.#sectorBytes, file.length)))
      fat.fill(LOST, nth * perSector, (nth + 1) * perSector).set(whole, nth * perSector)
    })
    return fat
  }
}

function words(bytes: Buffer): Uint32Array {
  const all = new Uint32Array(bytes.length >> 2)
  for (let i = 0; i < all.length; i++) all[i] = bytes.readUInt32LE(4 * i)
  return all
}

/**
 * Follows a chain and joins its sectors; ends at a mark, at a sector seen before, outside the file or at `size`.
 * Where the table is lost, the next sector follows.
 */
function gather(
  start: number,
  fat: Uint32Array,
  size: number,
  length: number,
  sectorBytes: number,
  at: (sector: number) => number,
  from: Buffer,
): Buffer {
  const pieces: Buffer[] = []
  const seen = new Set<number>()
  let taken = 0
  let sector = start
  while (sector < FREE && taken < size && !seen.has(sector)) {
    seen.add(sector)
    const offset = at(sector)
    if (offset >= length) break
    const piece = from.subarray(
      offset,
      Math.min(offset + Math.min(sectorBytes, size - taken), length),
    )
    pieces.push(piece)
    taken += piece.length
    const next = fat[sector]
    if (next === undefined) break
    // most streams stand in one piece; one whose length nobody knows ends here
    if (next !== LOST) sector = next
    else if (size < Infinity) sector++
    else break
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}

interface Raw {
  name: string
  type: number
  left: number
  right: number
  child: number
  entry: OleEntry
}

function readDirectory(bytes: Buffer): { entries: OleEntry[]; root: OleEntry | undefined } {
  const raw: Raw[] = []
  const count = Math.min(Math.floor(bytes.length / ENTRY_BYTES), ENTRIES_MAX)
  for (let i = 0; i < count; i++) {
    const at = i * ENTRY_BYTES
    const nameBytes = Math.min(Math.max(bytes.readUInt16LE(at + 64) - 2, 0), 62)
    const name = bytes.toString('utf16le', at, at + (nameBytes & ~1))
    const type = bytes[at + 66] as number
    raw.push({
      name,
      type,
      left: bytes.readUInt32LE(at + 68),
      right: bytes.readUInt32LE(at + 72),
      child: bytes.readUInt32LE(at + 76),
      entry: {
        name,
        path: name,
        kind: type === 2 ? 'stream' : 'storage',
        size: bytes.readUInt32LE(at + 120),
        clsid: bytes.toString('hex', at + 80, at + 96),
        start: bytes.readUInt32LE(at + 116),
      },
    })
  }
  const root = raw.find((one) => one.type === 5) ?? raw[0]
  const entries: OleEntry[] = []
  const seen = new Set<Raw>()
  const walk = (first: number, above: string): void => {
    const open = [first]
    while (open.length > 0) {
      const one = raw[open.pop() as number]
      if (!one || seen.has(one)) continue
      seen.add(one)
      open.push(one.right, one.left)
      if (one.type !== 1 && one.type !== 2) continue
      one.entry.path = above + one.name
      entries.push(one.entry)
      if (one.type === 1 && above.length < 4_000) walk(one.child, `${one.entry.path}/`)
    }
  }
  if (root) {
    seen.add(root)
    walk(root.child, '')
  }
  // a broken tree still has its entries: those that no link reached stand at the top
  for (const one of raw)
    if (!seen.has(one) && (one.type === 1 || one.type === 2) && one.name !== '')
      entries.push(one.entry)
  return { entries, root: root?.entry }
}

/** What may still be copied out of files; extract/budget.ts is one for a whole nest. */
export interface ByteBudget {
  readonly bytesLeft: number
  /** @throws when no bytes are left */
  takeBytes(bytes: number): void
}

/** A stream's bytes, counted: many entries may name the same sectors. @throws what the budget throws */
export function readCounted(ole: OleFile, entry: OleEntry, budget: ByteBudget): Buffer {
  const bytes = ole.read(entry, budget.bytesLeft + 1)
  budget.takeBytes(bytes.length)
  return bytes
}

/** Paths and bytes of all streams below a storage, the paths from there. @throws what the budget throws */
export function readBelow(
  ole: OleFile,
  above: string,
  budget: ByteBudget,
): Array<readonly [path: string, bytes: Buffer]> {
  const lower = above.toLowerCase()
  return ole.entries
    .filter(({ kind, path }) => kind === 'stream' && path.toLowerCase().startsWith(lower))
    .map((entry) => [entry.path.slice(above.length), readCounted(ole, entry, budget)] as const)
}
