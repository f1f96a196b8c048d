/**
 * Writes the fixtures of text, legacy Office, mail and archives under test/fixtures/formats and their manifest.
 * Run: npx tsx scripts/make-format-fixtures.ts, then UPDATE=1 npx vitest run test/fixtures.test.ts and
 * read the difference.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { LEGACY_CONTAINERS } from './fixtures/legacy-containers.js'
import { LEGACY_OFFICE } from './fixtures/legacy-office.js'
import { LEGACY_TEXT } from './fixtures/legacy-text.js'
import { POWERPOINT } from './fixtures/powerpoint.js'

const FOLDER = new URL('../test/fixtures/', import.meta.url)

mkdirSync(new URL('formats/', FOLDER), { recursive: true })
const lines = ['fixture\tlane\texpect\tmade by\twhy it exists']
for (const fixture of [...LEGACY_TEXT, ...LEGACY_OFFICE, ...POWERPOINT, ...LEGACY_CONTAINERS]) {
  const { name, why, make, lane = 'text', expect = 'ok' } = fixture
  writeFileSync(new URL(`formats/${name}`, FOLDER), await make())
  lines.push([`formats/${name}`, lane, expect, 'scripts/make-format-fixtures.ts', why].join('\t'))
}
writeFileSync(new URL('formats.manifest.tsv', FOLDER), lines.join('\n') + '\n')
