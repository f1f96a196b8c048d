/**
 * Documents inside OLE2 files: wrapped files (Ole10Native, [MS-OLEDS] 2.3.6), packages, and whole
 * documents that lie in a storage of their own.
 */
import { OleFile, readBelow, readCounted } from '../ole/read.js'
import { writeOleFile } from '../ole/write.js'
import { sniff } from './sniff.js'
import { Declined, type Context, type Extractor } from './extractor.js'

/** Streams that are a file by themselves. */
const WHOLE = new Set(['package', 'package_stream', 'embeddedodf', 'contents'])
/** Streams by which a storage is a document that has an extractor. */
const DOCUMENT = new Set([
  'worddocument',
  'workbook',
  'book',
  'powerpoint document',
  'visiodocument',
])
/** Objects read of one document. */
const OBJECTS_MAX = 200

/** A compound file that is no document itself: what an embedding or a scrap holds. */
export const oleObject: Extractor = {
  name: 'ole-object',
  version: 1,
  title: 'Files wrapped in OLE objects',
  types: ['application/x-ole-storage'],
  extensions: ['ole'],
  lane: 'text',
  async extract({ bytes, name }, _sink, context) {
    const ole = new OleFile(bytes)
    if (ole.entries.length === 0) throw new Error('a compound file without a readable directory')
    if (await readObject(ole, '', name, context)) return
    if (!(await readObjectPool(ole, '', context)))
      throw new Declined('unsupported', 'application/x-ole-storage')
  },
}

/**
 * Reads each object in the storages below a path (`ObjectPool/`, or the root for any).
 *
 * @returns whether any was read
 */
export async function readObjectPool(
  ole: OleFile,
  above: string,
  context: Context,
): Promise<boolean> {
  const lower = above.toLowerCase()
  const storages = ole.entries.filter(
    ({ kind, path }) =>
      kind === 'storage' &&
      path.toLowerCase().startsWith(lower) &&
      !path.slice(above.length).includes('/'),
  )
  let found = 0
  for (const storage of storages.slice(0, OBJECTS_MAX))
    if (await readObject(ole, `${storage.path}/`, `embedded object ${found + 1}`, context)) found++
  return found > 0
}

/** Reads what a storage holds as a member. @returns false when it is no wrapper and no document */
async function readObject(
  ole: OleFile,
  above: string,
  name: string,
  context: Context,
): Promise<boolean> {
  const lower = above.toLowerCase()
  const streams = ole.entries.filter(
    ({ kind, path }) =>
      kind === 'stream' &&
      path.toLowerCase().startsWith(lower) &&
      !path.slice(above.length).includes('/'),
  )
  for (const stream of streams) {
    const streamName = stream.name.toLowerCase()
    if (streamName === '\x01ole10native') {
      const file = ole10Native(readCounted(ole, stream, context.budget))
      if (!file) return false
      await context.nested(file.bytes, file.name || name)
      return true
    }
    if (WHOLE.has(streamName)) {
      const bytes = readCounted(ole, stream, context.budget)
      if (bytes.length < 4) continue
      // programs keep whatever they like under this name
      if (streamName === 'contents' && sniff(bytes).startsWith('text/')) continue
      await context.nested(bytes, name)
      return true
    }
    if (DOCUMENT.has(streamName) && above !== '') {
      const bytes = writeOleFile(readBelow(ole, above, context.budget))
      await context.nested(bytes, name)
      return true
    }
  }
  return false
}

/** Ole10Native: a file with its name. Some writers leave the names out and give bytes only. */
function ole10Native(stream: Buffer): { name: string; bytes: Buffer } | undefined {
  let at = 6
  const text = (): string | undefined => {
    const end = stream.indexOf(0, at)
    if (end < 0 || end - at > 1_000) return undefined
    const read = stream.toString('latin1', at, end)
    at = end + 1
    return read
  }
  const label = text()
  if (label !== undefined && text() !== undefined && at + 8 <= stream.length) {
    at += 4
    const pathLength = stream.readUInt32LE(at)
    at += 4 + pathLength
    if (at + 4 <= stream.length) {
      const size = stream.readUInt32LE(at)
      if (size > 0 && size <= stream.length - at - 4)
        return {
          name: label.split(/[\\/]/).pop() ?? '',
          bytes: stream.subarray(at + 4, at + 4 + size),
        }
    }
  }
  return stream.length > 8 ? { name: '', bytes: stream.subarray(4) } : undefined
}
