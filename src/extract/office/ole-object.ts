/**
 * OLE objects (oleObject1.bin): the document inside the compound file. A wrapped file of any kind
 * (Ole10Native, [MS-OLEDS] 2.3.6), an Office package, or the compound file itself (doc, xls, ppt).
 */

export interface Unwrapped {
  name: string
  content: Uint8Array
}

const COMPOUND_FILE = 0xe011cfd0

/**
 * @param bytes whole embedding
 * @param name member name, used when the object does not name its file
 * @returns the documents inside; the bytes themselves when they are no wrapper
 */
export async function unwrapOleObject(bytes: Uint8Array, name: string): Promise<Unwrapped[]> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length < 512 || buffer.readUInt32LE(0) !== COMPOUND_FILE)
    return [{ name, content: bytes }]
  const { default: CFB } = await import('cfb')
  let file
  try {
    file = CFB.read(buffer, { type: 'buffer' })
  } catch {
    return [{ name, content: bytes }]
  }
  for (const stream of file.FileIndex) {
    if (stream.type !== 2) continue
    const content = Buffer.from(stream.content as unknown as Uint8Array)
    const streamName = stream.name.toLowerCase()
    if (streamName === '\u0001ole10native') return ole10Native(content, name)
    if (streamName === 'package' || streamName === 'embeddedodf') return [{ name, content }]
    if (streamName === 'contents' && content.toString('latin1', 0, 5) === '%PDF-')
      return [{ name, content }]
  }
  return [{ name, content: bytes }]
}

function ole10Native(stream: Buffer, name: string): Unwrapped[] {
  let at = 6
  const text = (): string => {
    const end = stream.indexOf(0, at)
    const read = end < 0 ? '' : stream.toString('latin1', at, end)
    at = end < 0 ? stream.length : end + 1
    return read
  }
  try {
    const label = text()
    text()
    at += 4
    at += 4 + stream.readUInt32LE(at)
    const size = stream.readUInt32LE(at)
    const content = stream.subarray(at + 4, at + 4 + size)
    if (content.length === 0) return []
    return [{ name: label.split(/[\\/]/).pop() || name, content }]
  } catch {
    const size = stream.length >= 4 ? stream.readUInt32LE(0) : 0
    return size > 0 ? [{ name, content: stream.subarray(4, 4 + size) }] : []
  }
}
