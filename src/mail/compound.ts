/**
 * Whether an OLE compound file (MS-CFB) can be walked without end: sector chains and the directory
 * tree lead in no circle, and no stream claims more than the file has.
 *
 * For readers that follow whatever the file says (msgreader, cfb: SheetJS/js-cfb issue 8). Reads no
 * stream.
 */

const END = -2
const FREE = -1

/**
 * Checks a compound file.
 *
 * @returns why it must not be read, or undefined; and the places of stream sizes that are lies, which
 *   a reader would allocate
 */
export function checkCompound(bytes: Uint8Array): { fault?: string; lies: number[] } {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const lies: number[] = []
  if (view.length < 1024) return { fault: 'shorter than its header', lies }
  const shift = view.readUInt16LE(30)
  if (shift !== 9 && shift !== 12) return { fault: 'unknown sector size', lies }
  const size = 1 << shift
  const sectors = Math.ceil(view.length / size)
  const offset = (sector: number): number => (sector + 1) * size
  const word = (at: number): number =>
    at >= 0 && at + 4 <= view.length ? view.readInt32LE(at) : END

  // The table of the allocation table's own sectors.
  const fat: number[] = []
  for (let i = 0; i < 109; i++) {
    const sector = word(76 + 4 * i)
    if (sector >= 0) fat.push(sector)
  }
  const seen = new Set<number>()
  for (let sector = word(68); sector >= 0; sector = word(offset(sector) + size - 4)) {
    if (seen.has(sector) || sector > sectors)
      return { fault: 'its allocation table leads in a circle', lies }
    seen.add(sector)
    for (let i = 0; i < size / 4 - 1; i++) {
      const entry = word(offset(sector) + 4 * i)
      if (entry >= 0) fat.push(entry)
    }
  }
  const perSector = size / 4
  const lookUp = (table: readonly number[], index: number): number => {
    const sector = table[Math.floor(index / perSector)]
    return sector === undefined || index < 0 ? END : word(offset(sector) + 4 * (index % perSector))
  }
  /** Sectors of a chain, or undefined when it has no end. */
  const chainOf = (table: readonly number[], start: number, most: number): number[] | undefined => {
    const chain: number[] = []
    for (let sector = start; sector !== END && sector !== FREE; sector = lookUp(table, sector)) {
      if (sector < 0 || chain.length > most) return undefined
      chain.push(sector)
    }
    return chain
  }

  /** Whether a chain has an end; sectors that are known to lead to one are not followed again, for many entries may share them. */
  const endingIn = (table: readonly number[], most: number): ((start: number) => boolean) => {
    const known = new Set<number>()
    return (start) => {
      const passed: number[] = []
      let sector = start
      while (sector !== END && sector !== FREE && !known.has(sector)) {
        if (sector < 0 || passed.length > most) return false
        passed.push(sector)
        sector = lookUp(table, sector)
      }
      for (const one of passed) known.add(one)
      return true
    }
  }

  const directory = chainOf(fat, word(48), sectors)
  if (!directory) return { fault: 'its directory leads in a circle', lies }
  const mini = chainOf(fat, word(60), sectors)
  if (!mini) return { fault: 'its small table leads in a circle', lies }

  const entries = directory.flatMap((sector) =>
    Array.from({ length: size / 128 }, (_, i) => offset(sector) + 128 * i),
  )
  const endsLarge = endingIn(fat, sectors)
  const endsSmall = endingIn(mini, (mini.length * size) / 4)
  const referred = new Uint8Array(entries.length)
  for (const [index, at] of entries.entries()) {
    const type = view[at + 66]
    if (type !== 1 && type !== 2 && type !== 5) continue
    for (const link of [68, 72, 76]) {
      const target = word(at + link)
      if (target === FREE) continue
      if (target < 0 || target >= entries.length) return { fault: 'its directory is damaged', lies }
      // In a tree each entry is named once, and the root never.
      if (target === 0 || (referred[target] as number) > 0)
        return { fault: 'its directory leads in a circle', lies }
      referred[target] = 1
    }
    if (type === 1) continue
    const start = word(at + 116)
    const claimed = view.length >= at + 124 ? view.readUInt32LE(at + 120) : 0
    if (claimed === 0 && index > 0) continue
    if (claimed > view.length) lies.push(at + 120)
    const isSmall = index > 0 && claimed < 4096
    if (!(isSmall ? endsSmall : endsLarge)(start))
      return { fault: 'a sector chain leads in a circle', lies }
  }
  return { lies }
}
