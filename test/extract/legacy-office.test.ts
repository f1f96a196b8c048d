import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { rubyBase } from '../../src/extract/office/field.js'
import { rc4 } from '../../scripts/make/rc4.js'
import { readDocument } from '../../src/extract/read.js'
import { OleFile } from '../../src/ole/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Outcome } from '../../src/part/outcome.js'
import { oleFile } from './make-ole.js'

async function read(bytes: Uint8Array): Promise<Outcome> {
  const { outcome } = await readDocument(
    { bytes },
    { limits: DEFAULT_LIMITS, ocr: false, passwords: [] },
    'text',
  )
  return outcome
}

async function text(bytes: Uint8Array): Promise<string> {
  const outcome = await read(bytes)
  if (outcome.kind !== 'text') throw new Error(`${outcome.state}: ${outcome.detail}`)
  return outcome.pages.map((page) => page.text).join('\f')
}

const record = (id: number, ...body: Array<Buffer | number[]>): Buffer => {
  const bytes = Buffer.concat(body.map((part) => Buffer.from(part)))
  const head = Buffer.alloc(4)
  head.writeUInt16LE(id, 0)
  head.writeUInt16LE(bytes.length, 2)
  return Buffer.concat([head, bytes])
}
const u16 = (value: number): number[] => [value & 255, value >> 8]
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(value >>> 16)]
const latin = (value: string): Buffer => Buffer.from(value, 'latin1')
const bof = (version: number, kind: number): Buffer =>
  record(0x809, u16(version), u16(kind), u32(0))
const eof = record(0x0a)
const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

/** A BIFF 8 workbook of one sheet. */
function book(globals: Buffer[], cells: Buffer[]): Buffer {
  return oleFile({
    Workbook: Buffer.concat([bof(0x600, 5), ...globals, eof, bof(0x600, 0x10), ...cells, eof]),
  })
}

test('strings go on in the next record, there with other flags; runs and phonetic text are skipped', async () => {
  const sst = Buffer.concat([
    record(0xfc, u32(3), u32(3), u16(8), [0], latin('Rope')),
    // the first string goes on in two bytes a character
    record(
      0x3c,
      [1],
      Buffer.from(' 東京!', 'utf16le'),
      u16(4),
      [8],
      u16(1),
      latin('Bold'),
      u16(0),
      u16(1),
    ),
    record(0x3c, u16(2), [5], u32(6), Buffer.from('橋本', 'utf16le'), latin('HASHIM')),
  ])
  const label = (row: number, index: number): Buffer =>
    record(0xfd, u16(row), u16(0), u16(0), u32(index))
  expect((await text(book([sst], [label(0, 0), label(1, 1), label(2, 2)]))).trim()).toBe(
    'Rope 東京!\nBold\n橋本',
  )
})

test('numbers are shown as their format says, and as they are', async () => {
  const format = record(0x41e, u16(164), u16(8), [0], latin('#,##0.00'))
  const berth = record(0x41e, u16(165), u16(9), [0], latin('"Berth "@'))
  const style = (id: number): Buffer => record(0xe0, u16(0), u16(id), Buffer.alloc(16))
  const cells = [
    record(0x203, u16(0), u16(0), u16(0), double(1234.5)),
    record(0x203, u16(0), u16(1), u16(1), double(43529)),
    record(0x27e, u16(1), u16(0), u16(2), u32((7 << 2) | 2)),
    record(0xbd, u16(1), u16(1), u16(2), u32((150 << 2) | 3), u16(2), u32((9 << 2) | 2), u16(2)),
    record(0x06, u16(2), u16(0), u16(2), [0, 0, 0, 0, 0, 0, 255, 255], u16(0), u32(0), u16(0)),
    record(0x207, u16(5), [0], latin('made!')),
    record(0x205, u16(2), u16(1), u16(2), [1, 0]),
    record(0x06, u16(3), u16(0), u16(3), [0, 0, 0, 0, 0, 0, 255, 255], u16(0), u32(0), u16(0)),
    record(0x207, u16(7), [0], latin('North 7')),
    record(0x204, u16(3), u16(1), u16(3), u16(1), [0], latin('8')),
  ]
  expect(
    (await text(book([format, berth, style(164), style(14), style(0), style(165)], cells))).trim(),
  ).toMatch(/^1,234\.50 1234\.5\t.*2019-03-05.*\n7\t1\.5\t9\nmade!\tTRUE\nBerth North 7\tBerth 8$/)
})

test('an old workbook is read in its code page', async () => {
  const cell = record(
    0x204,
    u16(0),
    u16(0),
    u16(0),
    u16(6),
    Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
  )
  const stream = Buffer.concat([
    bof(0x500, 5),
    record(0x42, u16(1251)),
    eof,
    bof(0x500, 0x10),
    cell,
    eof,
  ])
  expect((await text(oleFile({ Book: stream }))).trim()).toBe('Привет')
  expect((await text(stream)).trim()).toBe('Привет')
})

test('the text boxes and the comments of a sheet stand behind its cells', async () => {
  const cells = [
    record(0x1b6, Buffer.alloc(10), u16(6), u16(0), u32(0)),
    record(0x3c, [0], latin('A note')),
    record(0x204, u16(0), u16(0), u16(0), u16(4), [0], latin('cell')),
  ]
  expect((await text(book([], cells))).trim()).toBe('cell\nA note')
})

test('the values of a chart are not read again, and its categories once for all its series', async () => {
  const index = (kind: number): Buffer => record(0x1065, u16(kind))
  const label = (row: number, column: number, text: string): Buffer =>
    record(0x204, u16(row), u16(column), u16(0), u16(text.length), [0], latin(text))
  const number = (row: number, column: number, value: number): Buffer =>
    record(0x203, u16(row), u16(column), u16(0), double(value))
  const chart = [
    bof(0x600, 0x20),
    record(0x100d, u16(0), [7, 0], latin('Tonnage')),
    ...[index(1), number(0, 0, 81), number(1, 0, 82), number(0, 1, 83)],
    ...[index(2), label(0, 0, 'May'), label(0, 1, 'May'), label(1, 0, 'June'), number(2, 0, 2024)],
    eof,
  ]
  const cells = [number(0, 0, 81), ...chart, label(1, 0, 'below the chart')]
  expect((await text(book([], cells))).trim()).toBe('81\nbelow the chart\nTonnage\nMay\nJune\n2024')
})

test('numbers of BIFF 2, 3 and 4 are shown as their format says', async () => {
  const day = latin('yyyy-mm-dd')
  const formats = (id: number, ...before: number[]): Buffer[] => [
    record(id, before, [7], latin('General')),
    record(id, before, [day.length], day),
  ]
  const two = [
    record(0x09, u16(2), u16(0x10)),
    ...formats(0x1e),
    record(0x03, u16(0), u16(0), [0, 1, 0], double(45356)),
    record(0x02, u16(1), u16(0), [0, 0, 0], u16(7)),
    eof,
  ]
  const later = (bofId: number, formatId: number, styleId: number, before: number[]): Buffer[] => [
    record(bofId, u16(0), u16(0x10), u16(0)),
    ...formats(formatId, ...before),
    record(styleId, [0, 0], Buffer.alloc(10)),
    record(styleId, [0, 1], Buffer.alloc(10)),
    record(0x203, u16(0), u16(0), u16(1), double(45356)),
    record(0x203, u16(1), u16(0), u16(0), double(7)),
    eof,
  ]
  for (const stream of [two, later(0x209, 0x1e, 0x243, []), later(0x409, 0x41e, 0x443, [0, 0])])
    expect((await text(Buffer.concat(stream))).trim()).toBe('2024-03-05\n7')
})

test('names of macros, page numbers and places of the disk are no text; even pages have headers of their own', async () => {
  const name = (flags: number, text: string): Buffer =>
    record(0x18, u16(flags), [0, text.length], u16(0), Buffer.alloc(8), [0], latin(text))
  const link = (url: string): Buffer =>
    record(
      0x1b8,
      Buffer.alloc(28),
      Buffer.from('e0c9ea79f9bace118c8200aa004ba90b', 'hex'),
      u32(url.length * 2 + 2),
      Buffer.from(`${url}\0`, 'utf16le'),
    )
  const margin = (text: string): Array<Buffer | number[]> => [u16(text.length), [0], latin(text)]
  const even = 'Ferry board&RPage &P of &N'
  const cells = [
    record(0x14, ...margin('&LHarbour && ferry&C&[TAB]')),
    record(0x15, ...margin('Page &[PAGE]')),
    record(0x89c, Buffer.alloc(30), u16(even.length), u16(0), u16(0), u16(0), ...margin(even)),
    record(0x204, u16(0), u16(0), u16(0), u16(4), [0], latin('cell')),
    link('https://ferry.example/'),
    link('ms-help://PIER.1/page.htm'),
    link('https://ferry.example/'),
  ]
  const globals = [
    name(0, 'Fares'),
    name(0, 'Fares'),
    name(0x0e, 'Button1_Click'),
    name(0, 'Print_Area'),
  ]
  expect((await text(book(globals, cells))).trim()).toBe(
    'Fares\n\fcell\nHarbour & ferry\nFerry board\nhttps://ferry.example/',
  )
})

test('the alternative texts of shapes that a person wrote are read', async () => {
  const art = (start: number, type: number, ...body: Buffer[]): Buffer => {
    const content = Buffer.concat(body)
    return Buffer.concat([
      Buffer.from([...u16(start), ...u16(type), ...u32(content.length)]),
      content,
    ])
  }
  const wide = (value: string): Buffer => Buffer.from(`${value}\0`, 'utf16le')
  const shape = (name: string, description: string): Buffer => {
    const [first, second] = [wide(name), wide(description)]
    const entries = [
      [...u16(0x007f), ...u32(1)],
      [...u16(0xc380), ...u32(first.length)],
      [...u16(0xc381), ...u32(second.length)],
    ]
    // the names of shapes stand before their descriptions
    return art(0x0f, 0xf004, art(0x33, 0xf00b, Buffer.from(entries.flat()), first, second))
  }
  const drawing = art(0x0f, 0xf002, shape('Oval 1', 'Lighthouse at dusk'), shape('x', 'Picture 7'))
  const cells = [
    record(0xec, drawing.subarray(0, 100)),
    record(0x3c, drawing.subarray(100)),
    record(0x204, u16(0), u16(0), u16(0), u16(4), [0], latin('cell')),
  ]
  expect((await text(book([], cells))).trim()).toBe('cell\nLighthouse at dusk')
})

test('a workbook, a letter and slides under a password are locked', async () => {
  expect(await read(book([record(0x2f, u16(1))], []))).toMatchObject({ state: 'locked' })
  const word = Buffer.alloc(0x200)
  word.writeUInt16LE(0xa5ec, 0)
  word.writeUInt16LE(193, 2)
  word.writeUInt16LE(0x100, 10)
  expect(await read(oleFile({ WordDocument: word }))).toMatchObject({ state: 'locked' })
  const user = Buffer.alloc(20)
  user.writeUInt32LE(0xf3d1c4df, 12)
  expect(
    await read(oleFile({ 'PowerPoint Document': Buffer.alloc(100), 'Current User': user })),
  ).toMatchObject({ state: 'locked' })
})

test('a Word file without its table gives its text and says what is missing', async () => {
  const word = Buffer.alloc(0x400)
  word.writeUInt16LE(0xa5ec, 0)
  word.writeUInt16LE(193, 2)
  word.writeUInt32LE(0x200, 0x18)
  word.writeUInt32LE(12, 0x4c)
  word.write('Still there\r', 0x200, 'latin1')
  const outcome = await read(oleFile({ WordDocument: word }))
  expect(outcome).toMatchObject({ kind: 'text', partial: 'the piece table is missing or damaged' })
  expect(outcome.kind === 'text' && outcome.pages[0]?.text).toBe('Still there\n')
})

test('cyclic, shared and lying chains end', () => {
  const file = oleFile({ 'a/b': Buffer.alloc(9_000, 1), c: Buffer.alloc(100, 2) })
  const fatAt = 512 * (file.readUInt32LE(76) + 1)
  for (let sector = 0; sector < 100; sector++) {
    const bent = Buffer.from(file)
    bent.writeUInt32LE(sector, fatAt + 4 * (sector % 30))
    bent.writeUInt32LE(0xffffff00, 44)
    bent.writeUInt32LE(sector % 25, 68)
    try {
      const ole = new OleFile(bent)
      for (const entry of ole.entries)
        expect(ole.read(entry).length).toBeLessThanOrEqual(bent.length)
    } catch (error) {
      expect(String(error)).toMatch(/OLE2/)
    }
  }
})

test('a directory whose entries name each other ends', () => {
  const file = oleFile({ one: Buffer.alloc(10), two: Buffer.alloc(10), three: Buffer.alloc(10) })
  const at = 512 * (file.readUInt32LE(48) + 1)
  for (let entry = 1; entry < 4; entry++) {
    file.writeUInt32LE(1, at + 128 * entry + 68)
    file.writeUInt32LE(2, at + 128 * entry + 72)
    file.writeUInt32LE(3, at + 128 * entry + 76)
  }
  expect(new OleFile(file).entries.length).toBeLessThanOrEqual(3)
})

/** RC4 with the key of [MS-OFFCRYPTO] 2.3.6.2 for one block. */
function blockStream(password: string, salt: Buffer, block: number, length: number): Buffer {
  const md5 = (...parts: Buffer[]): Buffer =>
    createHash('md5').update(Buffer.concat(parts)).digest()
  const short = md5(Buffer.from(password, 'utf16le')).subarray(0, 5)
  const base = md5(...Array.from({ length: 16 }, () => Buffer.concat([short, salt]))).subarray(0, 5)
  return rc4(md5(base, Buffer.from(u32(block))), Buffer.alloc(length))
}

function lockedBook(password: string): Buffer {
  const salt = Buffer.alloc(16, 3)
  const verifier = Buffer.alloc(16, 5)
  const mask = blockStream(password, salt, 0, 32)
  const sealed = Buffer.concat([verifier, createHash('md5').update(verifier).digest()]).map(
    (byte, i) => byte ^ mask[i]!,
  )
  const head = Buffer.concat([
    bof(0x600, 5),
    record(0x2f, u16(1), u16(1), u16(1), salt, [...sealed]),
  ])
  const rest = Buffer.concat([
    eof,
    bof(0x600, 0x10),
    record(0x204, u16(0), u16(0), u16(0), u16(6), [0], latin('secret')),
    eof,
  ])
  const stream = Buffer.concat([head, rest])
  const keys = blockStream(password, salt, 0, stream.length)
  for (let at = head.length; at < stream.length;) {
    const end = at + 4 + stream.readUInt16LE(at + 2)
    if (stream.readUInt16LE(at) !== 0x809)
      for (let i = at + 4; i < end; i++) stream[i] = stream[i]! ^ keys[i]!
    at = end
  }
  return oleFile({ Workbook: stream })
}

test('an encrypted workbook opens with its password, and without one when Excel asks for none', async () => {
  const attempt = async (bytes: Uint8Array, passwords: string[]): Promise<Outcome> =>
    (await readDocument({ bytes }, { limits: DEFAULT_LIMITS, ocr: false, passwords }, 'text'))
      .outcome
  expect(await attempt(lockedBook('quay'), ['wrong'])).toMatchObject({ state: 'locked' })
  expect(await attempt(lockedBook('quay'), ['wrong', 'quay'])).toMatchObject({
    pages: [{ text: 'secret\n' }],
  })
  expect(await attempt(lockedBook('VelvetSweatshop'), [])).toMatchObject({
    pages: [{ text: 'secret\n' }],
  })
})

// Its allocation table did not fit into the header: everything behind the first 7 MB was lost.
test.each([100, 6_000_000, 12_000_000])('a storage of %i bytes is written whole', (bytes) => {
  const streams = {
    'inner/large': Buffer.alloc(bytes, 7),
    ...Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`inner/s${n}`, Buffer.alloc(4_097, n & 255)]),
    ),
    last: Buffer.alloc(50, 1),
  }
  const ole = new OleFile(oleFile(streams))
  for (const [path, content] of Object.entries(streams))
    expect(ole.readPath(path)?.equals(content), path).toBe(true)
})

test.each([
  [' EQ \\* jc2 \\* "Font:MS Mincho" \\* hps10 \\o\\ad(\\s\\up 9(みなと),港) ', '港'],
  ['EQ \\o(\\s\\up 11(reading),base)', 'base'],
  [' EQ \\f(1,2) ', undefined],
  [' SEQ Figure \\* ARABIC ', undefined],
])('the text under a phonetic guide that a field draws is read: %s', (instruction, base) => {
  expect(rubyBase(instruction)).toBe(base)
})
