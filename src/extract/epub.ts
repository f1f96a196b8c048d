/**
 * EPUB: the chapters of the spine in order, then title, subjects and description. Chapters are read by the
 * HTML row of the table, pictures by the image row.
 *
 * Format: EPUB 3.3; container: OCF.
 */
import { posix } from 'node:path'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { Inside } from './office/inside.js'
import { OfficePackage } from './office/package.js'
import { parseSmallXml, type SmallElement } from './office/small-xml.js'
import type { TextSink } from './sink.js'

export const epub: Extractor = {
  name: 'epub',
  version: 3,
  title: 'EPUB books',
  types: ['application/epub+zip'],
  extensions: ['epub'],
  lane: 'text',
  extract: readBook,
}

const PROPERTIES = ['title', 'subject', 'description', 'creator']
/** Algorithms that only veil fonts. */
const FONT_ALGORITHMS = /idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC/

async function readBook(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  const encryption = (await pack.bytes('META-INF/encryption.xml'))?.toString('utf8') ?? ''
  for (const [, algorithm = ''] of encryption.matchAll(
    /EncryptionMethod[^>]*Algorithm\s*=\s*["']([^"']*)/g,
  ))
    if (!FONT_ALGORITHMS.test(algorithm))
      throw new Declined('locked', 'protected by rights management')

  const inside = new Inside(pack, context)
  const book = await readPackageDocument(pack)
  const pictures = new Set<string>()
  for (const chapter of book?.chapters ?? looseChapters(pack)) {
    const bytes = await pack.bytes(chapter)
    if (!bytes) {
      pack.note(`${posix.basename(chapter)} is missing`)
      continue
    }
    const shown = rewritten(bytes, (page) =>
      withPicturePaths(chapter === book?.navigation ? withNavigation(page) : page, pictures),
    )
    await context.nested(shown, posix.basename(chapter), 'application/xhtml+xml', {
      transparent: true,
    })
    sink.write('\n')
  }
  const seen = new Set<string>()
  for (const wanted of PROPERTIES)
    for (const { name, text } of book?.metadata ?? []) {
      const value = text
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()
      if (name !== wanted || value === '' || seen.has(value)) continue
      seen.add(value)
      if (wanted === 'creator') sink.aside(value)
      else sink.line(value)
    }
  for (const picture of book?.pictures ?? []) inside.collectPicture(picture)
  await inside.read()
  return {
    empty: inside.emptyReason,
    ...(pack.problem && { partial: pack.problem }),
  }
}

/** A page with its marks changed. They are ASCII, whatever encoding the words between them are in. */
function rewritten(bytes: Buffer, change: (page: string) => string): Buffer {
  const page = bytes.toString('latin1')
  const changed = change(page)
  return changed === page ? bytes : Buffer.from(changed, 'latin1')
}

/** What the navigation document hides in its page a reading system shows in its own list (EPUB 3.3, 7.4.2.5). */
function withNavigation(page: string): string {
  return page.replace(/(<nav\b[^<>]*?)\shidden(?:\s*=\s*(?:"[^"]*"|'[^']*'))?/gi, '$1')
}

/**
 * A picture whose alternative text is but the name of its file is told by its path in the book, which says more
 * (`plans/harbour.png`), once a book. One without an alternative text stays without: its name is a program's.
 */
function withPicturePaths(page: string, told: Set<string>): string {
  return page.replace(/<img\b[^>]{1,4000}>/gi, (tag) => {
    const source = ATTRIBUTE.src.exec(tag)?.[2] ?? ''
    const path = unescaped(source).replace(/^(?:\.{0,2}\/)+/, '')
    const alternative = ATTRIBUTE.alt.exec(tag)?.[2] ?? ''
    if (alternative === '' || unescaped(alternative) !== posix.basename(path)) return tag
    const text = told.has(path) ? '' : path
    told.add(path)
    return tag.replace(ATTRIBUTE.alt, () => ` alt="${text.replaceAll('"', '&quot;')}"`)
  })
}

const ATTRIBUTE = {
  src: /\ssrc\s*=\s*(["'])(.*?)\1/is,
  alt: /\salt\s*=\s*(["'])(.*?)\1/is,
}

/** Percent-encoding undone, where it is one; in bytes, as the page. */
function unescaped(name: string): string {
  return name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

interface Book {
  /** Member names in the order of the spine. */
  chapters: string[]
  navigation: string | undefined
  pictures: string[]
  metadata: readonly SmallElement[]
}

async function readPackageDocument(pack: OfficePackage): Promise<Book | undefined> {
  const container = await parse(pack, 'META-INF/container.xml')
  const path =
    (container && descendant(container, 'rootfile')?.attributes['full-path']) ??
    pack.entries.find(({ name }) => name.toLowerCase().endsWith('.opf'))?.name
  const root = path === undefined ? undefined : await parse(pack, path)
  if (!root || path === undefined) return undefined
  const folder = posix.dirname(path)
  const member = (href = ''): string => {
    let name = href.replace(/#.*$/, '')
    try {
      name = decodeURIComponent(name)
    } catch {
      // not percent-encoded
    }
    return posix.normalize(posix.join(folder, name))
  }
  const section = (name: string): readonly SmallElement[] =>
    root.children.find((child) => child.name === name)?.children ?? []
  const items = section('manifest').map(({ attributes }) => attributes)
  const byId = new Map(items.map((item) => [item.id, item]))
  const chapters = section('spine').flatMap(({ attributes }) => {
    const item = byId.get(attributes.idref)
    return item ? [member(item.href)] : []
  })
  if (chapters.length === 0) return undefined
  const metadata = section('metadata').flatMap((child) =>
    child.name === 'dc-metadata' ? child.children : [child],
  )
  const pictures = items
    .filter((item) => /^image\/(?!svg)/i.test(item['media-type'] ?? ''))
    .map((item) => member(item.href))
  const navigation = items.find((item) => /(?:^|\s)nav(?:\s|$)/.test(item.properties ?? ''))
  return {
    chapters: [...new Set(chapters)],
    navigation: navigation && member(navigation.href),
    pictures,
    metadata,
  }
}

async function parse(pack: OfficePackage, name: string): Promise<SmallElement | undefined> {
  const bytes = await pack.bytes(name)
  return bytes && parseSmallXml(bytes)
}

function descendant(element: SmallElement, name: string): SmallElement | undefined {
  for (const child of element.children) {
    const found = child.name === name ? child : descendant(child, name)
    if (found) return found
  }
  return undefined
}

/** Chapters of a book whose package document cannot be read, by name. */
function looseChapters(pack: OfficePackage): string[] {
  return pack.entries
    .map(({ name }) => name)
    .filter((name) => /\.x?html?$/i.test(name))
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
}
