/** Office packages as other writers make them: strict, streamed, in another order, with parts missing. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import JSZip from 'jszip'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Outcome } from '../../src/part/outcome.js'

const FOLDER = fileURLToPath(new URL('../fixtures/office/', import.meta.url))
const OPEN_XML = /\.(?:doc[xm]|dotx|xls[xm]|ppsx|pptx)$/

async function read(bytes: Uint8Array, name = ''): Promise<Outcome> {
  const settings = { limits: DEFAULT_LIMITS, ocr: false as const, passwords: [] }
  return (await readDocument({ bytes, name }, settings, 'text')).outcome
}

/** As in test/fixtures.test.ts. */
const textOf = (outcome: Outcome): string =>
  outcome.kind === 'text'
    ? outcome.pages.map((page) => page.text).join('\f')
    : `${outcome.state}: ${outcome.detail}`

const expected = (name: string): string => readFileSync(`${FOLDER}${name}.txt`, 'utf8')
const parts = (name: string): Promise<JSZip> => JSZip.loadAsync(readFileSync(FOLDER + name))
const packed = (zip: JSZip, streamFiles = false): Promise<Buffer> =>
  zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE', streamFiles })

/** Fixtures that are sound zips of Office XML. */
const WHOLE = readdirSync(FOLDER)
  .filter((name) => OPEN_XML.test(name))
  .filter((name) => !['cut-short.docx', 'locked.docx'].includes(name))

/** Namespaces of the strict form (ISO/IEC 29500-1) for those of the transitional one. */
function strict(xml: string): string {
  const old = 'http://schemas.openxmlformats.org'
  return xml
    .replaceAll(`${old}/officeDocument/2006/`, 'http://purl.oclc.org/ooxml/officeDocument/')
    .replace(
      /http:\/\/schemas\.openxmlformats\.org\/(\w+)\/2006\/(main|chart|diagram|\w+Drawing|math)\b/g,
      'http://purl.oclc.org/ooxml/$1/$2',
    )
}

// Krzysztof318/MailFathom#1681, pandoc#7691, docling#1692
test.each(WHOLE)('%s says the same in the strict form', async (name) => {
  const zip = await parts(name)
  let changed = 0
  for (const part of Object.values(zip.files)) {
    if (!/\.(?:xml|rels)$/.test(part.name) || part.name === '[Content_Types].xml') continue
    const xml = await part.async('string')
    if (strict(xml) !== xml) changed++
    zip.file(part.name, strict(xml))
  }
  expect(changed).toBeGreaterThan(0)
  expect(textOf(await read(await packed(zip)))).toBe(expected(name))
})

// morungos/node-word-extractor#41
test.each(WHOLE)('%s says the same with its members the other way round', async (name) => {
  const zip = await parts(name)
  const turned = new JSZip()
  for (const part of Object.values(zip.files).reverse())
    turned.file(part.name, await part.async('nodebuffer'), { createFolders: false })
  expect(textOf(await read(await packed(turned)))).toBe(expected(name))
})

// sindresorhus/file-type#799: sizes stand behind the members, and the first look sees a zip
test.each(WHOLE)('%s says the same when it was written as a stream', async (name) => {
  const bytes = await packed(await parts(name), true)
  expect(bytes.readUInt16LE(6) & 8).toBe(8)
  expect(textOf(await read(bytes, 'attachment.zip'))).toBe(expected(name))
  const cut = await read(bytes.subarray(0, bytes.indexOf('PK\x01\x02')))
  expect(textOf(cut)).toBe(expected(name))
  expect(cut).toMatchObject({ partial: expect.stringContaining('no readable directory') as string })
})

describe('a package without', () => {
  const without = async (name: string, ...missing: string[]): Promise<Outcome> => {
    const zip = await parts(name)
    for (const part of missing) {
      expect(zip.file(part), part).not.toBeNull()
      zip.remove(part)
    }
    return read(await packed(zip), name)
  }

  // harshankur/officeParser#107
  test.each([
    ['budget.docx', ['word/document.xml'], 'damaged: no main document part'],
    [
      'expenses.xlsx',
      ['xl/workbook.xml', 'xl/worksheets/sheet1.xml', 'xl/worksheets/sheet2.xml'],
      'damaged: no sheet',
    ],
    ['minutes.odt', ['content.xml', 'styles.xml'], 'damaged: no content part'],
  ])('%s: %j is never an empty success', async (name, missing, said) => {
    expect(textOf(await without(name, ...missing))).toBe(said)
  })

  test('its presentation has its slides read, without any it is damaged', async () => {
    expect(textOf(await without('harbour.pptx', 'ppt/presentation.xml'))).toBe(
      expected('harbour.pptx'),
    )
    const none = ['presentation', 'slides/slide1', 'slides/slide2'].map((part) => `ppt/${part}.xml`)
    expect(textOf(await without('harbour.pptx', ...none))).toBe('damaged: no slide')
  })

  test('the content of an OpenDocument gives its properties, and says what is missing', async () => {
    expect(await without('minutes.odt', 'content.xml')).toMatchObject({
      kind: 'text',
      partial: 'content.xml is missing',
    })
  })

  test('its strings has its numbers read', async () => {
    const outcome = await without('expenses.xlsx', 'xl/sharedStrings.xml')
    expect(textOf(outcome)).toContain('126\ttotal\tTRUE\t#N/A')
  })
})
