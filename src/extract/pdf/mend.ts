/**
 * A damaged PDF written anew from the objects that stand in it: the end of the file cut off, with its table of objects
 * and its list of pages; a table that points elsewhere; a stream without its end. pdf.js looks for objects too, but needs
 * a trailer, and never looks into streams of objects.
 *
 * Format: ISO 32000-2, 7.3.10 (objects), 7.5.5 (trailer), 7.5.7 (object streams), 7.7.3 (page tree).
 */
import { constants, inflateSync } from 'node:zlib'

interface Found {
  generation: string
  body: string
}

/** Bytes inflated from streams of objects: of one, and in all. */
const STREAM_BYTES_MAX = 16_000_000
const STREAMS_BYTES_MAX = 100_000_000
/** Objects looked at, and how deep a tree of pages is followed. */
const OBJECTS_MAX = 500_000
const DEPTH_MAX = 100
/** Catalogs that trailers name, the last ones. */
const ROOTS_MAX = 20

/** @returns undefined when the file holds no page */
export function mended(bytes: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const encrypted = lastOf(text, /\/Encrypt\s+\d+\s+\d+\s+R/g)
  const objects = objectsIn(text)
  if (!encrypted) {
    // Encrypted, and what says how is lost.
    if (/\/Filter\s*\/Standard\b/.test(text)) return undefined
    unpackStreams(objects)
  }
  const catalog = catalogOf(text, objects)
  const pages = pagesOf(objects, catalog)
  if (pages.length === 0) return undefined

  let last = 0
  for (const number of objects.keys()) last = Math.max(last, number)
  const [tree, root] = [last + 1, last + 2]
  objects.set(tree, {
    generation: '0',
    body: `<< /Type /Pages /Count ${pages.length} /Kids [${pages
      .map((page) => `${page} ${objects.get(page)!.generation} R`)
      .join(' ')}] >>`,
  })
  const others = catalog && dictionary(catalog).replace(/\/Pages\s+\d+\s+\d+\s+R/, '')
  objects.set(root, {
    generation: '0',
    body: /^\s*<</.test(others ?? '')
      ? others!.replace('<<', `<< /Pages ${tree} 0 R `)
      : `<< /Type /Catalog /Pages ${tree} 0 R >>`,
  })
  const parts = ['%PDF-1.7\n']
  for (const [number, { generation, body }] of objects)
    parts.push(`${number} ${generation} obj\n${body}\nendobj\n`)
  const id = lastOf(text, /\/ID\s*\[[^\]]{0,200}\]/g) ?? '/ID [<00> <00>]'
  parts.push(`trailer\n<< /Root ${root} 0 R ${encrypted ?? ''} ${id} >>\nstartxref\n0\n%%EOF\n`)
  return new Uint8Array(Buffer.from(parts.join(''), 'latin1')) // pdf.js refuses a Buffer
}

const lastOf = (text: string, pattern: RegExp): string | undefined =>
  [...text.matchAll(pattern)].at(-1)?.[0]

/** All objects by number, the last of each; every stream closed. */
function objectsIn(text: string): Map<number, Found> {
  const objects = new Map<number, Found>()
  const head = /(?<!\d)(\d{1,9})\s{1,9}(\d{1,5})\s{1,9}obj\b/g
  let start = head.exec(text)
  for (let n = 0; start && n < OBJECTS_MAX; n++) {
    const next = head.exec(text)
    const between = text.slice(start.index + start[0].length, next?.index)
    const end = between.lastIndexOf('endobj')
    let body = end === -1 ? between : between.slice(0, end)
    const stream = /\bstream\r?\n/.exec(body)
    if (stream && !body.includes('endstream', stream.index + 6)) body += '\nendstream'
    if (!/\/Type\s*\/XRef\b/.test(dictionary({ body }))) {
      objects.delete(Number(start[1])) // its place is the last one's
      objects.set(Number(start[1]), { generation: start[2]!, body })
    }
    start = next
  }
  return objects
}

/** The part of an object before its stream. */
function dictionary({ body }: { body: string }): string {
  const stream = body.search(/\bstream\r?\n/)
  return stream === -1 ? body : body.slice(0, stream)
}

/** Puts the objects that streams hold beside the others, in the place of the streams. */
function unpackStreams(objects: Map<number, Found>): void {
  let left = STREAMS_BYTES_MAX
  for (const [number, found] of [...objects]) {
    const about = dictionary(found)
    if (!/\/Type\s*\/ObjStm\b/.test(about)) continue
    objects.delete(number)
    const first = Number(/\/First\s+(\d+)/.exec(about)?.[1])
    const data = found.body.slice(about.length).replace(/^stream\r?\n/, '')
    let inside: string
    try {
      inside = inflateSync(Buffer.from(data, 'latin1'), {
        finishFlush: constants.Z_SYNC_FLUSH, // what there is of a stream that was cut
        maxOutputLength: Math.min(left, STREAM_BYTES_MAX),
      }).toString('latin1')
    } catch {
      continue
    }
    left -= inside.length
    if (left <= 0 || Number.isNaN(first)) return
    const places = [...inside.slice(0, first).matchAll(/(?<!\d)(\d{1,9})\s{1,9}(\d{1,9})/g)]
    for (const [i, place] of places.entries()) {
      const end = places[i + 1]
      const body = inside.slice(first + Number(place[2]), end && first + Number(end[2]))
      if (body !== '' && !objects.has(Number(place[1])))
        objects.set(Number(place[1]), { generation: '0', body })
    }
  }
}

/** The catalog that a trailer names, or the last there is. */
function catalogOf(text: string, objects: ReadonlyMap<number, Found>): Found | undefined {
  const roots = [...text.matchAll(/\/Root\s+(\d+)\s+\d+\s+R/g)].map(([, number]) => Number(number))
  const named = [...new Set(roots.reverse())]
    .slice(0, ROOTS_MAX)
    .reverse()
    .map((number) => objects.get(number))
    .findLast((found) => found !== undefined && dictionary(found).includes('/Pages'))
  return (
    named ??
    [...objects.values()].findLast((found) => /\/Type\s*\/Catalog\b/.test(dictionary(found)))
  )
}

/** Pages in the order of the tree; where a part of the tree is missing, then those that it does not name, as they stand. */
function pagesOf(objects: ReadonlyMap<number, Found>, catalog: Found | undefined): number[] {
  const seen = new Set<number>()
  const pages: number[] = []
  let isWhole = true
  const walk = (number: number, depth: number): void => {
    if (seen.has(number) || depth > DEPTH_MAX) return
    seen.add(number)
    const found = objects.get(number)
    const about = found && dictionary(found)
    const kids = about?.indexOf('/Kids') ?? -1
    if (kids !== -1)
      for (const [, kid] of about!
        .slice(kids)
        .split(']', 1)[0]!
        .matchAll(/(\d{1,9})\s{1,9}\d{1,5}\s{1,9}R/g))
        walk(Number(kid), depth + 1)
    else if (about && isPage(about)) pages.push(number)
    else isWhole = false
  }
  walk(Number(catalog && /\/Pages\s+(\d+)\s+\d+\s+R/.exec(dictionary(catalog))?.[1]), 0)
  if (!isWhole)
    for (const [number, found] of objects)
      if (!seen.has(number) && isPage(dictionary(found))) pages.push(number)
  return pages
}

const isPage = (about: string): boolean => /\/Type\s*\/Page\b/.test(about)
