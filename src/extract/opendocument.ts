/**
 * OpenDocument text, spreadsheets, presentations and drawings, their templates, and the flat forms of one
 * XML file. Pages are sheets and slides. Deleted text, phonetic guides and the prompts of masters stay out;
 * notes and comments follow their paragraph.
 *
 * Format: OASIS OpenDocument 1.3, parts 2 (packages) and 3 (schema); its forerunner, the XML format of
 * OpenOffice.org 1, whose elements are nearly the same.
 */
import { posix } from 'node:path'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { Flow } from './office/flow.js'
import { Inside, readPicturesInText } from './office/inside.js'
import { ContentHandler, type OpenDocumentKind } from './office/opendocument-content.js'
import { decryptMembers, ManifestHandler } from './office/opendocument-decrypt.js'
import { mastersOf, MetaHandler, StylesHandler } from './office/opendocument-parts.js'
import { OfficePackage, writeLink } from './office/package.js'
import type { TextSink } from './sink.js'
import { scanBytes, scanEntry, type XmlHandler } from './xml.js'

const PREFIX = 'application/vnd.oasis.opendocument.'
const KINDS = ['text', 'spreadsheet', 'presentation', 'graphics'] as const
const FORERUNNER = 'application/vnd.sun.xml.'
const FORERUNNERS: Record<string, OpenDocumentKind> = {
  writer: 'text',
  calc: 'spreadsheet',
  impress: 'presentation',
  draw: 'graphics',
  math: 'text',
}

export const opendocument: Extractor = {
  name: 'opendocument',
  version: 7,
  title: 'OpenDocument (odt, ods, odp, odg, their templates and flat forms), OpenOffice.org 1',
  types: [
    ...KINDS.flatMap((kind) => [
      PREFIX + kind,
      `${PREFIX}${kind}-template`,
      `${PREFIX}${kind}-flat-xml`,
    ]),
    `${PREFIX}text-master`,
    `${PREFIX}text-master-template`,
    `${PREFIX}text-web`,
    `${PREFIX}chart`,
    `${PREFIX}chart-template`,
    `${PREFIX}formula`,
    `${PREFIX}formula-template`,
    ...Object.keys(FORERUNNERS).flatMap((kind) => [
      FORERUNNER + kind,
      `${FORERUNNER}${kind}.template`,
    ]),
    `${FORERUNNER}writer.global`,
  ],
  extensions: [
    'odt',
    'ods',
    'odp',
    'odg',
    'ott',
    'ots',
    'otp',
    'otg',
    'odm',
    'odf',
    'fodt',
    'fods',
    'fodp',
    'fodg',
    'sxw',
    'sxc',
    'sxi',
    'sxd',
    'stw',
    'stc',
    'sti',
    'std',
  ],
  lane: 'text',
  extract: (source, sink, context) =>
    source.type.endsWith('-flat-xml')
      ? readFlat(source, sink, context)
      : readPackage(source, sink, context),
}

function kindOf(type: string): OpenDocumentKind {
  if (type.startsWith(FORERUNNER))
    return FORERUNNERS[type.slice(FORERUNNER.length).replace(/\..*/, '')] ?? 'text'
  return KINDS.find((kind) => type.startsWith(PREFIX + kind)) ?? 'text'
}

async function readPackage(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  await unlock(pack, context)
  // a template of styles has no content
  if (!pack.member('content.xml')) {
    if (!pack.member('styles.xml')) throw new Declined('damaged', 'no content part')
    if (!source.type.endsWith('-template')) pack.note('content.xml is missing')
  }
  const kind = kindOf(source.type)
  const inside = new Inside(pack, context)
  const scan = async (
    part: string,
    handler: XmlHandler,
    onPause?: () => Promise<void>,
  ): Promise<void> => {
    const entry = pack.member(part)
    if (entry) pack.note(await scanEntry(entry, context.budget, handler, onPause))
  }

  const meta = new MetaHandler()
  await scan('meta.xml', meta)
  const styles = new StylesHandler(kind)
  const stylesBytes = await pack.bytes('styles.xml')
  if (stylesBytes) {
    const fault = scanBytes(mastersOf(stylesBytes), context.budget.limits.xmlDepth, styles)
    pack.note(fault && `styles.xml: ${fault}`)
  } else await scan('styles.xml', styles)
  if (kind !== 'text') meta.write(sink)
  for (const header of styles.headers) sink.line(header)

  const links = new Set<string>()
  const read = async (folder: string, flow: Flow, depth: number): Promise<void> => {
    const content =
      depth === 0
        ? new ContentHandler(kind, flow, sink, context, styles.masters)
        : new ContentHandler('embedded', flow, sink, context)
    try {
      await scan(folder + 'content.xml', content, async () => {
        for (const { href } of content.takeObjects()) {
          const object = posix.join(folder, href).replace(/\/+$/, '')
          if (pack.member(`${object}/content.xml`)) {
            if (depth < 3) await read(`${object}/`, flow, depth + 1)
          } else if (pack.member(object)) inside.collectDocument(object)
        }
      })
    } finally {
      content.end()
    }
    for (const picture of content.pictures) inside.collectPicture(posix.join(folder, picture))
    for (const link of content.links) links.add(link)
  }
  await read('', new Flow(sink), 0)

  for (const footer of styles.footers) sink.line(footer)
  const written = new Set<string>()
  for (const link of links) writeLink(link, written, sink)
  if (kind === 'text') meta.write(sink)
  await inside.read()
  return {
    ...(kind !== 'text' && { pageCount: sink.pageNumber }),
    empty: inside.emptyReason,
    ...(pack.problem && { partial: pack.problem }),
  }
}

/** Opens an encrypted document with the passwords there are. @throws {Declined} `locked` */
async function unlock(pack: OfficePackage, context: Context): Promise<void> {
  const manifest = new ManifestHandler()
  const entry = pack.member('META-INF/manifest.xml')
  if (entry) await scanEntry(entry, context.budget, manifest)
  if (manifest.encrypted.size === 0) return
  if (manifest.needsOpenPgp) throw new Declined('locked', 'an OpenPGP key is needed')
  const isOpen = decryptMembers(
    manifest,
    (name) => pack.member(name),
    context.settings.passwords,
    () => context.budget.checkTime(),
  )
  if (!isOpen) throw new Declined('locked', 'password needed')
}

async function readFlat(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const kind = kindOf(source.type)
  const depthMax = context.budget.limits.xmlDepth
  const meta = new MetaHandler()
  scanBytes(source.bytes, depthMax, meta)
  const styles = new StylesHandler(kind)
  scanBytes(
    mastersOf(Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.byteLength)),
    depthMax,
    styles,
  )
  if (kind !== 'text') meta.write(sink)
  for (const header of styles.headers) sink.line(header)
  const content = new ContentHandler(kind, new Flow(sink), sink, context, styles.masters)
  let fault: string | undefined
  try {
    fault = scanBytes(source.bytes, depthMax, content)
  } finally {
    content.end()
  }
  for (const footer of styles.footers) sink.line(footer)
  const written = new Set<string>()
  for (const link of content.links) writeLink(link, written, sink)
  if (kind === 'text') meta.write(sink)
  const empty = await readPicturesInText(content.picturesInText, context)
  return {
    ...(kind !== 'text' && { pageCount: sink.pageNumber }),
    empty,
    ...(fault && { partial: fault }),
  }
}
