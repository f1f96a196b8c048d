/**
 * Writes OLE2 compound files ([MS-CFB]): a storage of a larger one as a file of its own, so that it can be
 * read like any other document. Version 3 with sectors of 512 bytes; a larger file has version 4 and sectors of
 * 4,096, so that its allocation table is always listed in the header: to 450 MB.
 */

const END = 0xfffffffe
const NONE = 0xffffffff
/** Bytes that sectors of 512 can hold: 109 sectors of the table, 128 sectors each, less what the table and half-filled sectors take. */
const SMALL_MAX = 6_000_000

interface Node {
  name: string
  bytes?: Buffer
  children: Node[]
}

/** @param streams path (`/` between storages) and bytes · @param clsid of the root, 32 hex digits */
export function writeOleFile(
  streams: Iterable<readonly [path: string, bytes: Uint8Array]>,
  clsid = '',
): Buffer {
  const root: Node = { name: 'Root Entry', children: [] }
  for (const [path, bytes] of streams) {
    const names = path.split('/')
    const last = names.pop() as string
    let at = root
    for (const name of names) {
      let next = at.children.find((one) => one.name === name)
      if (!next) at.children.push((next = { name, children: [] }))
      at = next
    }
    at.children.push({ name: last, bytes: Buffer.from(bytes), children: [] })
  }

  const nodes: Node[] = []
  const links: Array<{ right: number; child: number }> = []
  const number = (node: Node): number => {
    const id = nodes.push(node) - 1
    links[id] = { right: NONE, child: NONE }
    const ids = node.children.map(number)
    ids.forEach((one, i) => ((links[one] as { right: number }).right = ids[i + 1] ?? NONE))
    ;(links[id] as { child: number }).child = ids[0] ?? NONE
    return id
  }
  number(root)

  // 64 bytes for each small stream, 128 for each entry of the directory
  const total = nodes.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0) + 192, 0)
  const shift = total > SMALL_MAX ? 12 : 9
  const sectorBytes = 1 << shift
  const sectors: Buffer[] = []
  const fat: number[] = []
  const put = (bytes: Buffer): number => {
    const count = Math.max(1, Math.ceil(bytes.length / sectorBytes))
    const first = sectors.length
    for (let i = 0; i < count; i++) {
      const sector = Buffer.alloc(sectorBytes)
      bytes.copy(sector, 0, i * sectorBytes, Math.min(bytes.length, (i + 1) * sectorBytes))
      sectors.push(sector)
      fat.push(i === count - 1 ? END : first + i + 1)
    }
    return first
  }
  // small streams live in the mini stream, in blocks of 64 bytes
  const mini: Buffer[] = []
  const miniFat: number[] = []
  const putMini = (bytes: Buffer): number => {
    const count = Math.max(1, Math.ceil(bytes.length / 64))
    const first = mini.length
    for (let i = 0; i < count; i++) {
      const block = Buffer.alloc(64)
      bytes.copy(block, 0, i * 64, Math.min(bytes.length, (i + 1) * 64))
      mini.push(block)
      miniFat.push(i === count - 1 ? END : first + i + 1)
    }
    return first
  }
  const starts = nodes.map((node) =>
    node.bytes ? (node.bytes.length >= 4096 ? put(node.bytes) : putMini(node.bytes)) : 0,
  )
  const miniStart = mini.length > 0 ? put(Buffer.concat(mini)) : END
  const miniFatStart = mini.length > 0 ? put(uint32(miniFat, sectorBytes)) : END

  const perSector = sectorBytes / 128
  const directory = Buffer.alloc(Math.ceil(nodes.length / perSector) * sectorBytes)
  nodes.forEach((node, id) => {
    const at = id * 128
    directory.write(node.name, at, 'utf16le')
    directory.writeUInt16LE(node.name.length * 2 + 2, at + 64)
    directory[at + 66] = id === 0 ? 5 : node.bytes ? 2 : 1
    directory[at + 67] = 1
    directory.writeUInt32LE(NONE, at + 68)
    directory.writeUInt32LE((links[id] as { right: number }).right, at + 72)
    directory.writeUInt32LE((links[id] as { child: number }).child, at + 76)
    if (id === 0 && clsid) directory.write(clsid, at + 80, 'hex')
    directory.writeUInt32LE(id === 0 ? miniStart : (starts[id] as number), at + 116)
    directory.writeUInt32LE(id === 0 ? mini.length * 64 : (node.bytes?.length ?? 0), at + 120)
  })
  const directoryStart = put(directory)

  let fatCount = 1
  while (fatCount * (sectorBytes / 4) < sectors.length + fatCount) fatCount++
  const fatStart = sectors.length
  for (let i = 0; i < fatCount; i++) fat.push(0xfffffffd)
  const table = uint32(fat, fatCount * sectorBytes)
  for (let i = 0; i < fatCount; i++)
    sectors.push(table.subarray(i * sectorBytes, (i + 1) * sectorBytes))

  const header = Buffer.alloc(sectorBytes)
  header.write('d0cf11e0a1b11ae1', 'hex')
  header.writeUInt16LE(0x3e, 24)
  header.writeUInt16LE(shift === 9 ? 3 : 4, 26)
  header.writeUInt16LE(0xfffe, 28)
  header.writeUInt16LE(shift, 30)
  header.writeUInt16LE(6, 32)
  if (shift !== 9) header.writeUInt32LE(directory.length / sectorBytes, 40)
  header.writeUInt32LE(fatCount, 44)
  header.writeUInt32LE(directoryStart, 48)
  header.writeUInt32LE(4096, 56)
  header.writeUInt32LE(miniFatStart, 60)
  header.writeUInt32LE(Math.ceil(miniFat.length / (sectorBytes / 4)), 64)
  header.writeUInt32LE(END, 68)
  for (let i = 0; i < 109; i++) header.writeUInt32LE(i < fatCount ? fatStart + i : NONE, 76 + 4 * i)
  return Buffer.concat([header, ...sectors])
}

function uint32(values: number[], multiple: number): Buffer {
  const bytes = Buffer.alloc(
    Math.max(1, Math.ceil((values.length * 4) / multiple)) * multiple,
    0xff,
  )
  values.forEach((value, i) => bytes.writeUInt32LE(value, i * 4))
  return bytes
}
