/**
 * Archives and compressed files: each member is read as the document it is, under its name. Bytes are
 * counted as they are inflated; what came before a limit is read. Encrypted members are named as locked, the others
 * are read. Names never touch the disk.
 *
 * Zip's directory and inflation are zip.ts, its encryption zip-crypt.ts.
 */
import { createGunzip, constants } from 'node:zlib'
import { Cut } from './budget.js'
import type { Context, Extractor, Facts } from './extractor.js'
import type { ZipEntry } from './zip.js'

export const zip: Extractor = {
  name: 'zip',
  version: 1,
  title: 'Zip archives',
  types: ['application/zip', 'application/java-archive', 'application/vnd.google-earth.kmz'],
  extensions: ['zip'],
  lane: 'text',
  extract: ({ bytes }, _sink, context) => readZip(bytes, context),
}

export const gzip: Extractor = {
  name: 'gzip',
  version: 1,
  title: 'Gzip files, also of archives (gz, tgz)',
  types: ['application/gzip'],
  extensions: ['gz', 'tgz'],
  lane: 'text',
  extract: ({ bytes, name }, _sink, context) => readGzip(bytes, name, context),
}

export const tar: Extractor = {
  name: 'tar',
  version: 1,
  title: 'Tar archives',
  types: ['application/x-tar'],
  extensions: ['tar'],
  lane: 'text',
  extract: ({ bytes }, _sink, context) => readTar(bytes, context),
}

/** What systems leave in archives for themselves. */
const LITTER = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i

async function readZip(bytes: Uint8Array, context: Context): Promise<Facts> {
  const { openZip } = await import('./zip.js')
  const archive = await openZip(bytes, context.budget.limits.archiveEntries + 1)
  for (const entry of archive.entries) {
    if (LITTER.test(entry.name)) continue
    const name = await readableName(entry)
    if (entry.encrypted) await readEncrypted(entry, name, context)
    else await readMember(entry, name, context)
  }
  return archive.problem ? { partial: archive.problem } : {}
}

async function readMember(entry: ZipEntry, name: string, context: Context): Promise<void> {
  const { inflate } = await import('./zip.js')
  const chunks: Uint8Array[] = []
  let cut: Cut | undefined
  let problem: string | undefined
  try {
    problem = await inflate(entry, context.budget, (chunk) => void chunks.push(chunk))
  } catch (error) {
    if (!(error instanceof Cut)) throw error
    cut = error
  }
  const says = problem?.replace(`${entry.name} `, '')
  if (chunks.length > 0) {
    if (says) context.note(`${name}: ${says}`)
    await context.nested(Buffer.concat(chunks), name)
  } else if (says)
    context.declined(name, says.startsWith('is compressed') ? 'unsupported' : 'damaged', says)
  if (cut) throw cut
}

async function readEncrypted(entry: ZipEntry, name: string, context: Context): Promise<void> {
  const { decryptEntry } = await import('./zip-crypt.js')
  for (const password of context.settings.passwords) {
    const plain = decryptEntry(entry, password)
    if (plain) return readMember(plain, name, context)
  }
  context.declined(name, 'locked', 'password needed')
}

/** A name without the UTF-8 mark is in the code page of the machine that wrote it. */
async function readableName(entry: ZipEntry): Promise<string> {
  if (!entry.rawName) return entry.name
  const { decodeText } = await import('../mail/charset.js')
  const { text, charset } = decodeText(entry.rawName)
  return /^(utf-8|shift_jis|gbk|gb18030|big5|euc-)/.test(charset)
    ? text.replaceAll('\\', '/')
    : entry.name
}

async function readGzip(bytes: Uint8Array, name: string, context: Context): Promise<Facts> {
  const chunks: Uint8Array[] = []
  let cut: Cut | undefined
  let partial: string | undefined
  const stream = createGunzip({ chunkSize: 65_536, finishFlush: constants.Z_SYNC_FLUSH })
  stream.end(bytes)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const { bytesLeft } = context.budget
      chunks.push(chunk.length > bytesLeft ? chunk.subarray(0, bytesLeft) : chunk)
      context.budget.takeBytes(chunk.length)
      context.budget.checkTime()
    }
  } catch (error) {
    if (error instanceof Cut) cut = error
    else if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error
    else if (chunks.length === 0) throw new Error('no gzip data', { cause: error })
    else partial = 'the compressed data is damaged; what stands before is read'
  } finally {
    stream.destroy()
  }
  if (chunks.length > 0) {
    const inside = Buffer.concat(chunks)
    const { sniff } = await import('./sniff.js')
    // a tar needs no name of its own between its members and the file
    const transparent = sniff(inside) === 'application/x-tar'
    await context.nested(inside, gzipName(bytes) ?? nameWithout(name), '', { transparent })
  }
  if (cut) throw cut
  return partial ? { partial } : {}
}

/** The original name in the header, RFC 1952 2.3.1. */
function gzipName(bytes: Uint8Array): string | undefined {
  const flags = bytes[3] ?? 0
  if (!(flags & 8)) return undefined
  let at = 10
  if (flags & 4) at += 2 + (bytes[10] ?? 0) + 256 * (bytes[11] ?? 0)
  const end = bytes.indexOf(0, at)
  if (end <= at || end - at > 1_000) return undefined
  return Buffer.from(bytes.subarray(at, end)).toString('utf8').split(/[\\/]/).pop()
}

function nameWithout(name: string): string {
  return name.replace(/\.tgz$/i, '.tar').replace(/\.gz$/i, '') || 'content'
}

async function readTar(bytes: Uint8Array, context: Context): Promise<Facts> {
  const { extract } = await import('tar-stream')
  const archive = extract()
  archive.on('error', () => {}) // comes again where the entries are read
  archive.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  let read = 0
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header
      const chunks: Buffer[] = []
      for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk)
      if ((type !== 'file' && type !== 'contiguous-file') || LITTER.test(name)) continue
      const content = Buffer.concat(chunks)
      await context.nested(content, name)
      read++
    }
  } catch (error) {
    if (error instanceof Cut || read === 0) throw error
    return { partial: 'the archive is damaged or ends early' }
  } finally {
    archive.destroy()
  }
  return {}
}
