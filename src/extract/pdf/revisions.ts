/**
 * What is put right in the bytes of a PDF before pdf.js reads them. A file that was changed holds all its revisions, each
 * with a table of its objects behind them. When a table is broken pdf.js looks for the objects itself, and then takes the
 * catalog of the first trailer that has an ID, which is that of the oldest revision (mozilla/pdf.js#11402): what was
 * changed since would be lost without a word.
 *
 * Format: ISO 32000-2, 7.5.4 to 7.5.8 (tables, trailers, updates).
 */

interface Trailer {
  at: number
  text: string
}

/** A trailer's dictionary is small; what stands behind it is none of it. */
const TRAILER_BYTES_MAX = 4_000
/** The last so many are looked at, and of these so many for the object they name: more than anybody makes. */
const TRAILERS_MAX = 1_000
const ROOTS_MAX = 20

/**
 * The last revision is made the one that is taken when the table is broken.
 *
 * @param copy is written into: trailers of older revisions lose their ID, which nothing but encryption needs
 * @returns `copy`, or longer bytes that say at their end where to begin
 */
export function lastRevision(copy: Uint8Array): Uint8Array {
  const file = Buffer.from(copy.buffer, copy.byteOffset, copy.byteLength)
  const found = trailersOf(file)
  if (found.length < 2 && isSound(file)) return copy // before anything is looked for in all of a large file
  const isEncrypted = file.includes('/Encrypt')
  const trailers = isEncrypted ? [] : found
  const last = trailers.length > 1 ? lastWithRoot(file, trailers) : trailers[0]
  for (const trailer of trailers) if (trailer !== last) takeId(file, trailer)
  if (isSound(file)) return copy
  const catalog = isEncrypted ? undefined : lastCatalog(file)
  const isUnnamed = catalog !== undefined && catalog.at > (last?.at ?? -1)
  if (isUnnamed && last) takeId(file, last)
  return ended(copy, isUnnamed ? catalog.reference : undefined, tableStream(file))
}

/** The same file without its table: pdf.js then looks for the objects itself. */
export function withoutTable(bytes: Uint8Array): Uint8Array {
  return ended(bytes, undefined, 0)
}

/** A copy with this at its end: a trailer that names its catalog, and where the table stands (0: nowhere). */
function ended(bytes: Uint8Array, root: string | undefined, table: number): Uint8Array {
  const trailer = root ? `trailer\n<< /Root ${root} >>\n` : ''
  const end = Buffer.from(`\n${trailer}startxref\n${table}\n%%EOF\n`)
  const whole = new Uint8Array(bytes.length + end.length) // no Buffer, which pdf.js refuses
  whole.set(bytes)
  whole.set(end, bytes.length)
  return whole
}

function trailersOf(file: Buffer): Trailer[] {
  const found: Trailer[] = []
  for (let at = file.length, n = 0; n < TRAILERS_MAX && at > 0; n++) {
    at = file.lastIndexOf('trailer', at - 1)
    if (at === -1) break
    const text = file.toString('latin1', at, at + TRAILER_BYTES_MAX)
    if (/^trailer\s*<</.test(text))
      found.unshift({ at, text: text.split(/startxref|\d\s+obj\b/, 1)[0]! })
  }
  return found
}

/** The last trailer whose catalog is in the file. */
function lastWithRoot(file: Buffer, trailers: readonly Trailer[]): Trailer | undefined {
  const all = file.toString('latin1')
  return trailers.slice(-ROOTS_MAX).findLast(({ text }) => {
    const [, number, generation] = /\/Root\s+(\d+)\s+(\d+)\s+R/.exec(text) ?? []
    return number && new RegExp(`(?<!\\d)${number}\\s+${generation}\\s+obj\\b`).test(all)
  })
}

/** Renames the key, so that nothing moves. */
function takeId(file: Buffer, { at, text }: Trailer): void {
  const id = text.search(/\/ID\s*[[\d]/)
  if (id !== -1) file.write('/Id', at + id, 'latin1')
}

/** Whether the last `startxref` names a table, and no object was written behind it. */
function isSound(file: Buffer): boolean {
  const at = file.lastIndexOf('startxref')
  if (at === -1) return false
  const header = headerAt(file)
  // Written for fast viewing: its tables stand in another order, and the first is the one to begin with.
  if (/\/Linearized\b/.test(file.toString('latin1', header, header + 1_024))) return true
  const [, offset] = /^startxref\s+(\d+)/.exec(file.toString('latin1', at, at + 40)) ?? []
  if (offset === undefined) return false
  const table = Number(offset) + header
  if (!/^\s*(?:xref\b|\d+\s+\d+\s+obj\b)/.test(file.toString('latin1', table, table + 40)))
    return false
  return !/\d\s+obj\b/.test(file.toString('latin1', at))
}

/**
 * Where the last of several streams stands that are tables; 0 when there is one or none, and the objects are looked for. pdf.js
 * takes such streams from the first on, and what is packed into others with them.
 */
function tableStream(file: Buffer): number {
  const last = file.lastIndexOf('/XRef')
  if (file.indexOf('/XRef') === last) return 0
  return Math.max(0, (objectAround(file, last)?.at ?? 0) - headerAt(file))
}

/** Offsets count from the header, before which anything may stand. */
const headerAt = (file: Buffer): number => Math.max(0, file.subarray(0, 1_024).indexOf('%PDF-'))

/** The last catalog of the file that is an object of its own. */
function lastCatalog(file: Buffer): { at: number; reference: string } | undefined {
  return objectAround(file, file.lastIndexOf('/Catalog'))
}

/** The object whose head stands nearest before `at`. */
function objectAround(file: Buffer, at: number): { at: number; reference: string } | undefined {
  if (at === -1) return undefined
  const from = Math.max(0, at - 2_000)
  const head = [...file.toString('latin1', from, at).matchAll(/(\d+)\s+(\d+)\s+obj\b/g)].at(-1)
  return head && { at: from + head.index, reference: `${head[1]} ${head[2]} R` }
}
