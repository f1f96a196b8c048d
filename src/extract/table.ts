import type { Extractor } from './extractor.js'
import { docx } from './docx.js'
import { image } from './image.js'
import { pdf } from './pdf.js'

/**
 * Every extractor there is. The first row whose `types` hold the sniffed type reads the content.
 * A row loads its parser inside `extract()`, so that reading names and versions costs nothing.
 * A new format is one file, one row here, one fixture.
 */
export const EXTRACTORS: readonly Extractor[] = [docx, pdf, image]

const BY_TYPE = new Map<string, Extractor>()
for (const extractor of EXTRACTORS)
  for (const type of extractor.types) if (!BY_TYPE.has(type)) BY_TYPE.set(type, extractor)

/** The row that reads a sniffed media type, or undefined: `unsupported`. */
export function extractorFor(type: string): Extractor | undefined {
  return BY_TYPE.get(type)
}
