import { writeOleFile } from '../../src/ole/write.js'

/** A compound file of these streams, by path. */
export function oleFile(streams: Record<string, Uint8Array>, clsid = ''): Buffer {
  return writeOleFile(Object.entries(streams), clsid)
}
