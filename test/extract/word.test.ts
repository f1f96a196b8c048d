import { expect, test } from 'vitest'
import { shownByInstruction } from '../../src/extract/office/field.js'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Outcome } from '../../src/part/outcome.js'
import { oleFile } from './make-ole.js'
import { wordFile, wordStreams, type WordShape } from './make-word.js'

async function read(bytes: Uint8Array, passwords: string[] = []): Promise<Outcome> {
  const { outcome } = await readDocument(
    { bytes },
    { limits: DEFAULT_LIMITS, ocr: false, passwords },
    'text',
  )
  return outcome
}

async function text(shape: WordShape): Promise<string> {
  const outcome = await read(wordFile(shape))
  if (outcome.kind !== 'text') throw new Error(`${outcome.state}: ${outcome.detail}`)
  return outcome.pages.map((page) => page.text).join('\f')
}

const latin = (value: string): Buffer => Buffer.from(value, 'latin1')
const WORD_95 = { ident: 0xa5dc, build: 104 }
const WORD_97 = { ident: 0xa5ec, build: 193 }

test.each([
  ['Word for Windows 1', 0xa59b, 33],
  ['Word for Windows 2', 0xa5db, 45],
])('%s is read, fast-saved too', async (_, ident, build) => {
  const runs = [latin('The ferry\r'), latin('leaves at \xbd eight.\r'), latin('Boats. ')]
  const shape = { ident, build, runs: runs.map((bytes) => ({ bytes })) }
  expect(await text(shape)).toBe('The ferry\nleaves at ½ eight.\nBoats. \n')
  expect(await text({ ...shape, order: [2, 0] })).toBe('Boats. The ferry\n')
  expect(
    await text({ ...shape, language: 0x419, runs: [{ bytes: latin('\xcb\xee\xe4\xea\xe0\r') }] }),
  ).toBe('Лодка\n')
})

test('Word 5 for the Macintosh is read by its pieces, in the code page of the Macintosh', async () => {
  const file = Buffer.alloc(0x400)
  file.writeUInt32BE(0xfe370023, 0)
  file.writeUInt32BE(0x200, 0x14)
  file.write('at eight.\rThe f\x90te begins Header\r', 0x200, 'latin1')
  file.writeUInt32BE(26, 0x24)
  file.writeUInt32BE(7, 0x2c)
  const pieces = Buffer.alloc(3 + 16 + 24)
  pieces[0] = 2
  pieces.writeUInt16BE(40, 1)
  const parts = [
    [0, 0x20a],
    [16, 0x200],
    [26, 0x21a],
    [33, 0],
  ] as const
  parts.forEach(([position, place], i) => {
    pieces.writeUInt32BE(position, 3 + 4 * i)
    if (i < 3) pieces.writeUInt32BE(place, 3 + 16 + 8 * i + 2)
  })
  const outcome = async (clx: Buffer): Promise<Outcome> => {
    clx.copy(file, 0x300)
    file.writeUInt32BE(0x300, 0xac)
    file.writeUInt16BE(clx.length, 0xb0)
    return read(file)
  }
  // modifiers stand before the pieces
  expect(await outcome(Buffer.concat([Buffer.from([1, 0, 2, 9, 9]), pieces]))).toMatchObject({
    pages: [{ text: 'The fête begins at eight.\nHeader\n' }],
  })
})

test('what Word 2 marked as deleted is left out', async () => {
  const runs = [
    { bytes: latin('kept ') },
    { bytes: latin('gone '), properties: [4] },
    { bytes: latin('too\r') },
  ]
  expect(await text({ ident: 0xa5db, build: 45, runs })).toBe('kept too\n')
})

test('text of Word 95 is read in the code page of its font, of the style Normal, of its language', async () => {
  const fonts = [
    [0, 'Arial'],
    [204, 'Arial Cyr'],
    [238, 'Arial CE'],
    [2, 'Symbol'],
  ] as const
  const runs = [
    { bytes: latin('\xec\xee\xf0\xe5 '), properties: [85, 1, 99, 24, 0, 93, 1, 0] },
    { bytes: latin('\xf8eka '), properties: [93, 2, 0] },
    { bytes: latin('caf\xe9 ') },
    { bytes: latin('ab '), properties: [93, 3, 0] },
    { bytes: latin('gone '), properties: [85, 1, 65, 1] },
    { bytes: latin('(\r'), properties: [74, 3, 3, 0, 0x6d] },
  ]
  const shape = { ...WORD_95, fonts: [...fonts], runs }
  expect(await text(shape)).toBe('море řeka café αβ μ\n')
  expect(await text({ ...shape, runs: [runs[0]!, runs[2]!], normal: [85, 0, 93, 2, 0] })).toBe(
    'море café \n',
  )
  const plain = { ...WORD_95, runs: [{ bytes: latin('Stra\xa7e \x8e\r') }], characterSet: 0x100 }
  expect(await text(plain)).toBe('Straße é\n')
  expect(
    await text({ ...WORD_95, language: 0x408, runs: [{ bytes: latin('\xed\xe7\xf3\xdf') }] }),
  ).toBe('νησί\n')
})

test.each([
  ['Japanese', 0xa697, 128, '83438393 0d00', 'イン\n'],
  ['Korean', 0xa698, 129, 'b9e80d00', '배\n'],
  ['Chinese of the mainland', 0xa699, 134, '1093b4ac10940d00', '“船”\n'],
  ['Chinese of Taiwan', 0xa699, 136, 'b2ee0d00', '船\n'],
])(
  'Word 6 in %s has the two bytes of a character in one number',
  async (_, ident, set, codes, expected) => {
    // lead byte first in the code, so second in the file
    const bytes = Buffer.from(codes.replace(' ', ''), 'hex')
    const swapped = Buffer.from(bytes.subarray(0, -2)).swap16()
    const runs = [{ bytes: Buffer.concat([swapped, bytes.subarray(-2)]) }]
    expect(
      await text({
        ident,
        build: 101,
        flags: 0x1000,
        fonts: [
          [0, 'Arial'],
          [set, 'Local'],
        ],
        runs,
      }),
    ).toBe(expected)
  },
)

test('symbols of Word 97 are shown where a placeholder stands, and at the places of their font', async () => {
  const fonts = [
    [0, 'Arial'],
    [2, 'Symbol'],
  ] as const
  const runs = [
    { bytes: latin('wide 5 ') },
    { bytes: latin('('), properties: [0x55, 0x08, 1, 0x09, 0x6a, 1, 0, 0x6d, 0xf0] },
    { bytes: latin('m (gone') },
    { bytes: latin(' or not)'), properties: [0x00, 0x08, 1] },
    { bytes: latin(')\r') },
  ]
  expect(await text({ ...WORD_97, fonts: [...fonts], runs })).toBe('wide 5 μm (gone)\n')
})

test('the words of WordArt and alternative texts of Word 97 stand behind the text, each once', async () => {
  const drawn = [
    [0x00c0, 'DRAFT 7'],
    [0x0381, 'Picture 1'],
    [0x0381, 'A red buoy'],
    [0x0380, 'A name'],
    [0x0381, 'A red buoy'],
  ] as const
  expect(await text({ ...WORD_97, runs: [{ bytes: latin('Text.\r') }], drawn: [...drawn] })).toBe(
    'Text.\nDRAFT 7\nA red buoy\n',
  )
})

test('a file whose directory is lost gives the text that is left, and says so', async () => {
  const wide = Buffer.from('Die Fähre fährt um acht.\r', 'utf16le')
  const alone = { bytes: latin('The ferry leaves at eight.\r') }
  for (const [run, expected] of [
    [alone, 'The ferry leaves at eight.\n'],
    [{ bytes: wide }, 'Die Fähre fährt um acht.\n'],
  ] as const) {
    const file = wordFile({ ...WORD_97, runs: [run] })
    file.writeUInt32LE(expected.length, 512 * (1 + mainSector(file)) + 0x4c)
    file.writeUInt32LE(0xffffff, 48)
    expect(await read(file)).toMatchObject({
      partial: 'the directory of the file is lost',
      pages: [{ text: expected }],
    })
  }
  const locked = wordFile({ ...WORD_97, runs: [alone], flags: 0x100 })
  locked.writeUInt32LE(0xffffff, 48)
  expect(await read(locked)).toMatchObject({ state: 'damaged' })
})

/** The sector that begins with a main stream. */
function mainSector(file: Buffer): number {
  let sector = 0
  while (file.readUInt16LE(512 * (sector + 1)) !== 0xa5ec) sector++
  return sector
}

test('a stream whose part of the sector table is lost is read on as it stands', async () => {
  const runs = Array.from({ length: 40 }, (_, n) => ({
    bytes: latin(`Line ${n} ${'x'.repeat(200)}.\r`),
  }))
  const file = wordFile({ ...WORD_97, runs })
  const whole = await read(file)
  expect(whole).toMatchObject({
    pages: [{ text: expect.stringMatching(/^Line 0 [^]*Line 39 x+\.\n$/) }],
  })
  file.writeUInt32LE(0xffff, 76)
  const outcome = await read(file)
  expect(outcome.kind === 'text' && outcome.pages).toEqual(whole.kind === 'text' && whole.pages)
})

test('a symbol that only a field names is shown', () => {
  expect(shownByInstruction(' SYMBOL 109 \\f "Symbol" \\s 12 ')).toBe('μ')
  expect(shownByInstruction(' SYMBOL 74 \\f Wingdings ')).toBe(' ')
  expect(shownByInstruction(' SYMBOL 0x41 ')).toBe('A')
  expect(shownByInstruction(' PAGE ')).toBe(undefined)
  expect(shownByInstruction(' MACROBUTTON \\* MERGEFORMAT')).toBe(undefined)
})

/** A password, and the key and check sum that Excel makes of it ([MS-OFFCRYPTO] 2.3.7.1 and 2.3.7.2). */
const XOR = { password: 'abc', key: 0x514a, sum: 0xcc1a }

function maskOf(turn: number): number[] {
  const pad = [0xbb, 0xff, 0xff, 0xba, 0xff, 0xff, 0xb9, 0x80, 0x00, 0xbe, 0x0f, 0x00, 0xbf]
  return [...latin(XOR.password), ...pad].map((byte, i) => {
    const mixed = byte ^ (i % 2 ? XOR.key >> 8 : XOR.key & 255)
    return ((mixed << turn) | (mixed >> (8 - turn))) & 255
  })
}

test.each([
  ['95', WORD_95, 52, 0x100],
  ['97', WORD_97, 68, 0x8100],
])('Word %s under the XOR method opens with its password', async (_, version, clear, flags) => {
  const runs = [{ bytes: latin('A secret harbour.\r') }]
  const { main, table } = wordStreams({ ...version, runs, flags })
  const seal = (stream: Buffer, from: number): Buffer =>
    Buffer.from(
      stream.map((byte, at) => {
        const sealed = byte ^ (maskOf(7)[at % 16] as number)
        return at < from || byte === 0 || sealed === 0 ? byte : sealed
      }),
    )
  main.writeUInt16LE(XOR.key, 14)
  main.writeUInt16LE(XOR.sum, 16)
  const file = oleFile({
    WordDocument: seal(main, clear),
    ...(table.length > 0 && { '0Table': seal(table, 0) }),
  })
  expect(await read(file, ['wrong'])).toMatchObject({ state: 'locked' })
  expect(await read(file, ['wrong', XOR.password])).toMatchObject({
    pages: [{ text: 'A secret harbour.\n' }],
  })
})

test('a workbook under the XOR method opens with its password', async () => {
  const u16 = (value: number): number[] => [value & 255, value >> 8]
  const record = (id: number, ...body: number[][]): Buffer =>
    Buffer.from([...u16(id), ...u16(body.flat().length), ...body.flat()])
  const bof = (kind: number): Buffer => record(0x809, u16(0x600), u16(kind), [0, 0, 0, 0])
  const stream = Buffer.concat([
    bof(5),
    record(0x2f, u16(0), u16(XOR.key), u16(XOR.sum)),
    record(0x0a),
    bof(0x10),
    record(0x204, u16(0), u16(0), u16(0), u16(6), [0], [...latin('secret')]),
    record(0x0a),
  ])
  for (let at = 0; at < stream.length;) {
    const end = at + 4 + stream.readUInt16LE(at + 2)
    if (![0x809, 0x2f].includes(stream.readUInt16LE(at)))
      for (let i = at + 4; i < end; i++) {
        const byte = (stream[i] as number) ^ (maskOf(2)[(end + i - at - 4) % 16] as number)
        stream[i] = ((byte << 5) | (byte >> 3)) & 255
      }
    at = end
  }
  const file = oleFile({ Workbook: stream })
  expect(await read(file)).toMatchObject({ state: 'locked' })
  expect(await read(file, [XOR.password])).toMatchObject({ pages: [{ text: 'secret\n' }] })
})
