import type { Extractor } from './extractor.js'
import { gzip, tar, zip } from './archive.js'
import { calendar } from './calendar.js'
import { csv } from './csv.js'
import { doc } from './doc.js'
import { excelXml } from './excel-xml.js'
import { docx } from './docx.js'
import { epub } from './epub.js'
import { html } from './html.js'
import { hwpx } from './hwpx.js'
import { image } from './image.js'
import { libarchive } from './libarchive.js'
import { mail, mbox } from './mail.js'
import { msg } from './msg.js'
import { officeXml } from './office-xml.js'
import { officeEncrypted } from './office-encrypted.js'
import { oleObject } from './ole-embedded.js'
import { opendocument } from './opendocument.js'
import { p7m, pgp } from './p7m.js'
import { pdf } from './pdf.js'
import { plain } from './plain.js'
import { ppt } from './ppt.js'
import { pptx } from './pptx.js'
import { rtf } from './rtf.js'
import { tnef } from './tnef.js'
import { write } from './write.js'
import { xls } from './xls.js'
import { vsdx } from './vsdx.js'
import { xlsx } from './xlsx.js'
import { xml } from './xml-document.js'

/**
 * Every extractor there is. The first row whose `types` hold the sniffed type reads the content.
 * A row loads its parser inside `extract()`, so that reading names and versions costs nothing.
 * A new format is one file, one row here, one fixture.
 */
export const EXTRACTORS: readonly Extractor[] = [
  docx,
  xlsx,
  pptx,
  opendocument,
  epub,
  vsdx,
  hwpx,
  officeEncrypted,
  pdf,
  image,
  doc,
  xls,
  ppt,
  msg,
  tnef,
  p7m,
  pgp,
  mail,
  mbox,
  zip,
  gzip,
  tar,
  libarchive,
  oleObject,
  write,
  rtf,
  html,
  csv,
  calendar,
  excelXml,
  officeXml,
  xml,
  plain,
]

const BY_TYPE = new Map<string, Extractor>()
for (const extractor of EXTRACTORS)
  for (const type of extractor.types) if (!BY_TYPE.has(type)) BY_TYPE.set(type, extractor)

/** The row that reads a sniffed media type, or undefined: `unsupported`. */
export function extractorFor(type: string): Extractor | undefined {
  return BY_TYPE.get(type)
}
