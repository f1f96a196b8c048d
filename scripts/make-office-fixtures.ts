/**
 * Writes the Office fixtures under test/fixtures/office and their manifest.
 * Run: npx tsx scripts/make-office-fixtures.ts, then UPDATE=1 npx vitest run test/fixtures.test.ts and
 * read the difference.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { DOCX } from './fixtures/docx.js'
import { ENCRYPTED } from './fixtures/encrypted.js'
import { EPUB } from './fixtures/epub.js'
import { OPENDOCUMENT } from './fixtures/opendocument.js'
import { OPENOFFICE_1 } from './fixtures/openoffice-1.js'
import { OTHERS } from './fixtures/others.js'
import { PPTX } from './fixtures/pptx.js'
import { XLSB } from './fixtures/xlsb.js'
import { XLSX } from './fixtures/xlsx.js'

const FOLDER = new URL('../test/fixtures/', import.meta.url)
const ALL = [
  ...DOCX,
  ...XLSX,
  ...XLSB,
  ...PPTX,
  ...OPENDOCUMENT,
  ...OPENOFFICE_1,
  ...EPUB,
  ...ENCRYPTED,
  ...OTHERS,
]

mkdirSync(new URL('office/', FOLDER), { recursive: true })
const lines = ['fixture\tlane\texpect\tmade by\twhy it exists']
for (const {
  name,
  why,
  make,
  lane = 'text',
  expect = 'ok',
  madeBy = 'scripts/make-office-fixtures.ts',
} of ALL) {
  writeFileSync(new URL(`office/${name}`, FOLDER), await make())
  lines.push(['office/' + name, lane, expect, madeBy, why].join('	'))
}
writeFileSync(new URL('office.manifest.tsv', FOLDER), lines.join('\n') + '\n')
