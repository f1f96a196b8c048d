/**
 * Archives and compressed files: each member is read as the document it is, under its name. Bytes are
 * counted as they are inflated; what came before a limit is read. Encrypted members are named as locked, the others
 * are read. Names never touch the disk.
 *
 * Zip's directory and inflation are zip.ts, its encryption zip-crypt.ts, its rare methods libarchive.ts.
 */
import { isUtf8 } from 'node:buffer'
import { createGunzip, constants } from 'node:zlib'
import { Cut } from './budget.js'
import type { Context, Extractor, Facts } from './extractor.js'
import type { ZipEntry } from './zip.js'

export const zip: Extractor = {
  name: 'zip',
  version: 2,
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
  version: 2,
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
  const names = await readableNames(archive.entries)
  for (const [nth, entry] of archive.entries.entries()) {
    if (LITTER.test(entry.name)) continue
    const name = names[nth] as string
    if (entry.encrypted) await readEncrypted(entry, name, context)
    else await readMember(entry, name, context)
  }
  return archive.problem ? { partial: archive.problem } : {}
}

async function readMember(entry: ZipEntry, name: string, context: Context): Promise<void> {
  const { inflate } = await import('./zip.js')
  const { unpacks, unpackZipped } = await import('./libarchive.js')
  const chunks: Uint8Array[] = []
  let cut: Cut | undefined
  let problem: string | undefined
  try {
    problem = unpacks(entry)
      ? await unpackZipped(entry, context.budget, chunks)
      : await inflate(entry, context.budget, (chunk) => void chunks.push(chunk))
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
  for (const password of context.settings.passwords)
    for (const bytes of await bytesOf(password)) {
      const plain = decryptEntry(entry, bytes, context.budget.bytesLeft)
      if (plain) return readMember(plain, name, context)
    }
  context.declined(name, 'locked', 'password needed')
}

/** A password in UTF-8, and where that differs in the code pages that programs write it in. */
async function bytesOf(password: string): Promise<Uint8Array[]> {
  const utf8 = Buffer.from(password)
  if (utf8.length === password.length) return [utf8]
  const { default: iconv } = await import('iconv-lite')
  return [utf8, iconv.encode(password, 'windows-1252'), iconv.encode(password, 'cp850')]
}

/**
 * Names without the UTF-8 mark are in the code page of the machine that wrote them. All of an archive together tell
 * which: one alone is too short.
 */
async function readableNames(entries: readonly ZipEntry[]): Promise<string[]> {
  const isOdd = ({ rawName }: ZipEntry): boolean => rawName !== undefined && !isUtf8(rawName)
  const odd = entries.filter(isOdd).flatMap(({ rawName }) => [rawName as Uint8Array, LINE_END])
  if (odd.length === 0) return entries.map(({ name }) => name)
  const { decodeText } = await import('../mail/charset.js')
  const { charset } = decodeText(Buffer.concat(odd))
  return entries.map((entry) => {
    if (!isOdd(entry) || !CODE_PAGES.test(charset)) return entry.name
    const { text } = decodeText(entry.rawName as Uint8Array, { declared: charset })
    return text.includes('\ufffd') ? entry.name : text.replaceAll('\\', '/')
  })
}

const LINE_END = Buffer.from('\n')
const CODE_PAGES = /^(shift_jis|gbk|gb18030|big5|euc-|ibm866|windows-1251|koi8-r)/

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
  if (chunks.length > 0)
    await readInflated(Buffer.concat(chunks), gzipName(bytes) ?? nameWithout(name), context)
  if (cut) throw cut
  return partial ? { partial } : {}
}

/** Reads what one file was compressed to. */
export async function readInflated(inside: Buffer, name: string, context: Context): Promise<void> {
  const { sniff } = await import('./sniff.js')
  // a tar needs no name of its own between its members and the file
  const transparent = sniff(inside) === 'application/x-tar'
  await context.nested(inside, name, '', { transparent })
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

/** The name of what is inside a compressed file. */
export function nameWithout(name: string): string {
  return name.replace(/\.t(gz|bz2?|xz)$/i, '.tar').replace(/\.(gz|bz2|xz)$/i, '') || 'content'
}

async function readTar(bytes: Uint8Array, context: Context): Promise<Facts> {
  const { extract } = await import('tar-stream')
  const { decodeText } = await import('../mail/charset.js')
  // names in any encoding, and headers of UNIX V7 and of volume labels
  const options: object = { filenameEncoding: 'latin1', allowUnknownFormat: true }
  const archive = extract(options)
  archive.on('error', () => {}) // comes again where the entries are read
  archive.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  let read = 0
  try {
    for await (const entry of archive) {
      const { type, pax } = entry.header
      const { path } = (pax ?? {}) as { path?: string }
      const name = path ?? decodeText(Buffer.from(entry.header.name, 'latin1')).text
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
