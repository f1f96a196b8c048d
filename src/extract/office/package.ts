/**
 * The package around an Office document (ECMA-376 part 2): members by name, relationships, content
 * types, and the parts every kind shares (properties, pictures, embedded documents).
 */
import { posix } from 'node:path'
import { Declined, type Context, type Source } from '../extractor.js'
import { isFileName, isGivenByProgram, isProgramProperty } from '../given-by-program.js'
import type { TextSink } from '../sink.js'
import { inflateAll, openZip, type ZipEntry } from '../zip.js'
import { scanEntry } from '../xml.js'
import { parseSmallXml } from './small-xml.js'

export interface Relationship {
  id: string
  /** Last segment of the type's URI, the same in strict and transitional: `image`, `hyperlink`. */
  type: string
  /** Member name for a part, the target as written for something external. */
  target: string
  isExternal: boolean
}

/** Relationships of one part, in the order of the file. */
export class Relationships {
  readonly all: readonly Relationship[]
  readonly #byId: Map<string, Relationship>

  constructor(all: Relationship[]) {
    this.all = all
    this.#byId = new Map(all.map((relationship) => [relationship.id, relationship]))
  }

  byId(id: string | undefined): Relationship | undefined {
    return id === undefined ? undefined : this.#byId.get(id)
  }

  ofType(...types: string[]): Relationship[] {
    return this.all.filter((relationship) => types.includes(relationship.type))
  }
}

export class OfficePackage {
  readonly #entries = new Map<string, ZipEntry>()
  readonly #relationships = new Map<string, Relationships>()
  readonly #context: Context
  readonly #problems: string[] = []
  readonly entries: readonly ZipEntry[]

  private constructor(entries: readonly ZipEntry[], context: Context) {
    this.entries = entries
    this.#context = context
    for (const entry of entries) {
      const key = memberKey(entry.name)
      if (!this.#entries.has(key)) this.#entries.set(key, entry)
    }
  }

  /** @throws {Declined} `damaged` when the bytes hold no zip member */
  static async open(source: Source, context: Context): Promise<OfficePackage> {
    let zip
    try {
      zip = await openZip(source.bytes, context.budget.limits.archiveEntries)
    } catch (error) {
      throw new Declined('damaged', error instanceof Error ? error.message : 'no zip archive')
    }
    const opened = new OfficePackage(zip.entries, context)
    if (zip.problem) opened.note(zip.problem)
    return opened
  }

  /** Remembers what could not be read. */
  note(problem: string | undefined): void {
    if (problem && this.#problems.length < 20)
      this.#problems.push(problem.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(-200))
  }

  /** What could not be read, one sentence; undefined when all could. */
  get problem(): string | undefined {
    return this.#problems.length > 0 ? this.#problems.join('; ') : undefined
  }

  /** A member by its name in any case, with or without a leading slash. */
  member(name: string): ZipEntry | undefined {
    return this.#entries.get(memberKey(name))
  }

  /** The whole of a small member; undefined when it is missing or cannot be inflated. */
  async bytes(name: string): Promise<Buffer | undefined> {
    const entry = this.member(name)
    if (!entry) return undefined
    try {
      return await inflateAll(entry, this.#context.budget)
    } catch (error) {
      if (error instanceof Error && error.name === 'Cut') throw error
      this.note(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  /** Elements below the root of a small part, each with its text. */
  async texts(part: string): Promise<Array<[name: string, text: string]>> {
    const texts: Array<[string, string]> = []
    const entry = this.member(part)
    let depth = 0
    if (entry)
      this.note(
        await scanEntry(entry, this.#context.budget, {
          open: (name) => {
            if (++depth === 2) texts.push([name, ''])
          },
          close: () => void depth--,
          text: (text) => {
            const last = texts[texts.length - 1]
            if (depth >= 2 && last) last[1] += text
          },
        }),
      )
    return texts
  }

  /** Relationships of a part, or of the package for `''`. None when the file is missing. */
  async relationships(part: string): Promise<Relationships> {
    const known = this.#relationships.get(part)
    if (known) return known
    const folder = posix.dirname(part)
    const name = `${folder === '.' ? '' : folder + '/'}_rels/${posix.basename(part)}.rels`
    const entry = this.member(name)
    const all: Relationship[] = []
    if (entry)
      this.note(
        await scanEntry(entry, this.#context.budget, {
          open: (element, xml) => {
            if (element !== 'Relationship') return
            const target = xml.attribute('Target') ?? ''
            const isExternal = xml.attribute('TargetMode')?.toLowerCase() === 'external'
            all.push({
              id: xml.attribute('Id') ?? '',
              type: (xml.attribute('Type') ?? '').split('/').pop() as string,
              target: isExternal ? target : resolveTarget(part, target),
              isExternal,
            })
          },
          close: () => undefined,
          text: () => undefined,
        }),
      )
    const relationships = new Relationships(all)
    this.#relationships.set(part, relationships)
    return relationships
  }

  /**
   * For a part in which nothing was found to read: whether its first element is what it should be.
   *
   * @throws {Declined} `unsupported` when the part begins with another element (zerx-lab/wordZero#97)
   */
  async checkRoot(part: string, expected: string): Promise<void> {
    const entry = this.member(part)
    let root = expected
    if (entry)
      await scanEntry(entry, this.#context.budget, {
        open: (name, xml) => {
          root = name
          xml.finish()
        },
        close: () => undefined,
        text: () => undefined,
      })
    if (root !== expected)
      throw new Declined(
        'unsupported',
        `the main part is no ${expected} but ${/^[\w.-]{1,40}$/.test(root) ? root : 'something else'}`,
      )
  }

  /**
   * The main part: by the package's relationships, by its content type, by its usual name.
   *
   * @param contentType fragment of the main part's content type: `wordprocessingml`
   * @param usual usual name, lower case: `word/document.xml`
   */
  async mainPart(contentType: string, usual: string): Promise<string | undefined> {
    const root = await this.relationships('')
    for (const { target } of root.ofType('officeDocument', 'document'))
      if (this.member(target)) return target
    const types = await this.bytes('[Content_Types].xml')
    for (const { attributes } of (types && (await parseSmallXml(types)))?.children ?? []) {
      const type = (attributes.ContentType ?? '').toLowerCase()
      if (attributes.PartName && type.includes(contentType) && /main(?:\+xml)?$/.test(type)) {
        const name = attributes.PartName.replace(/^\//, '')
        if (this.member(name)) return name
      }
    }
    if (this.member(usual)) return usual
    const folder = posix.dirname(usual)
    return this.entries.find(
      ({ name }) =>
        memberKey(name).startsWith(folder + '/') && memberKey(name).endsWith(posix.basename(usual)),
    )?.name
  }
}

function memberKey(name: string): string {
  return name
    .replaceAll('\\', '/')
    .replace(/^\.?\/+/, '')
    .toLowerCase()
}

/** A relationship's target as a member name. Targets are relative to their part, or absolute. ECMA-376 part 2, 6.5. */
function resolveTarget(part: string, target: string): string {
  let path = target.includes('\\') ? target.replaceAll('\\', '/') : target
  if (path.includes('%'))
    try {
      path = decodeURIComponent(path)
    } catch {
      // not percent-encoded
    }
  if (path.startsWith('/')) return path.slice(1)
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  if (!path.startsWith('.') && !path.includes('/.')) return folder + path
  return posix.normalize(folder + path).replace(/^(\.\.\/)+/, '')
}

/** Core properties that a person fills in, in the order they are written. */
const CORE_PROPERTIES = ['title', 'subject', 'keywords', 'description', 'category', 'creator']
/** Kinds of values of custom properties that are text ([ISO 29500-1] 22.4). */
const TEXT_VALUES = new Set(['lpwstr', 'lpstr', 'bstr'])
/** Custom properties longer than this are data of a program, not what a person typed. */
const CUSTOM_CHARS_MAX = 2_000

/** A property in one line. `_x000d_` stands for a line break, as in a cell. */
function propertyText(text: string): string {
  return text
    .replace(/_x000[ad]_/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The texts of custom properties that a person filled in, in the order of the part (ECMA-376 part 1, 22.3). */
async function customTexts(
  pack: OfficePackage,
  root: Relationships,
  context: Context,
): Promise<string[]> {
  const part = root.ofType('custom-properties')[0]?.target ?? 'docProps/custom.xml'
  const entry = pack.member(part)
  if (!entry) return []
  const values: string[] = []
  let property = ''
  let value: string | undefined
  pack.note(
    await scanEntry(entry, context.budget, {
      open(name, xml) {
        if (name === 'property') property = xml.attribute('name') ?? ''
        else if (TEXT_VALUES.has(name)) value = ''
      },
      close(name) {
        if (!TEXT_VALUES.has(name) || value === undefined) return
        const text = propertyText(value)
        value = undefined
        if (text !== '' && text.length <= CUSTOM_CHARS_MAX && !isProgramProperty(property, text))
          values.push(text)
      },
      text(text) {
        if (value !== undefined) value += text
      },
    }),
  )
  return values
}

/**
 * Writes title, subject, author, keywords, description, category and the custom properties that are text,
 * a line each; the author, and what is a file's name, as asides. Template and program names stay out.
 */
export async function writeProperties(
  pack: OfficePackage,
  sink: TextSink,
  context: Context,
): Promise<void> {
  const root = await pack.relationships('')
  const part = root.ofType('core-properties')[0]?.target ?? 'docProps/core.xml'
  const values = await pack.texts(part)
  const seen = new Set<string>()
  for (const wanted of CORE_PROPERTIES)
    for (const [name, text] of values) {
      const value = propertyText(text)
      if (name !== wanted || value === '' || seen.has(value) || isGivenByProgram(value)) continue
      seen.add(value)
      if (wanted === 'creator' || isFileName(value)) sink.aside(value)
      else sink.line(value)
    }
  for (const value of await customTexts(pack, root, context))
    if (!seen.has(value)) {
      seen.add(value)
      if (isFileName(value)) sink.aside(value)
      else sink.line(value)
    }
}

/** Writes the external targets of hyperlinks, a line each, each once in the document. */
export function writeLinks(relationships: Relationships, seen: Set<string>, sink: TextSink): void {
  for (const { target, isExternal } of relationships.ofType('hyperlink'))
    if (isExternal) writeLink(target, seen, sink)
}

/** Targets a person could have typed; paths of the author's disk and places in the document are none. */
const PUBLIC_TARGET = /^(?:(?:https?|ftps?|mailto|tel|sip|callto|news|webcal):|www\.)/i

/** A service in between (protected links of a mail system, a search engine) that gives the target as a parameter. */
const FORWARDED = /^https?:[^?]*\?(?:[^#]*&)?(?:u|q|url)=(https?(?::|%3a)[^&#]+)/i
/** Longer queries are what programs tell each other, but for what a person searched in them: words with spaces. */
const QUERY_CHARS_MAX = 60
const WORDS = /^[^=]*=.*\p{L}{2}[+\s]+\p{L}{2}/su

/** What a person would read of a target in a browser; of a service in between also the target it gives. */
function readableTargets(target: string): string[] {
  const forwarded = FORWARDED.exec(target)?.[1]
  return forwarded === undefined
    ? [readable(target.replace(/^mailto:/i, '').replace(/\?subject=.*/i, ''))]
    : [readable(forwarded), readable(target.slice(0, target.indexOf('?')))]
}

/** An address with the letters that it spells with %, without what is no word in a long query. */
function readable(address: string): string {
  let shown = address
  if (shown.includes('%'))
    try {
      shown = decodeURIComponent(shown)
    } catch {
      // not UTF-8
    }
  const query = shown.indexOf('?') + 1
  if (query > 0 && shown.length - query >= QUERY_CHARS_MAX) {
    const searched = shown
      .slice(query)
      .split('&')
      .filter((parameter) => WORDS.test(parameter))
    shown = shown.slice(0, searched.length > 0 ? query : query - 1) + searched.join('&')
  }
  return shown.replace(/\s+/g, ' ').trim()
}

/** Writes one hyperlink target unless it stood before. */
export function writeLink(target: string, seen: Set<string>, sink: TextSink): void {
  if (!PUBLIC_TARGET.test(target)) return
  for (const shown of readableTargets(target)) {
    if (shown === '' || seen.has(shown)) continue
    seen.add(shown)
    sink.line(shown)
  }
}
