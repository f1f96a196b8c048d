import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { oleFile } from '../extract/make-ole.js'
import { checkCompound } from '../../src/mail/compound.js'
import { decompressRtf } from '../../src/mail/compressed-rtf.js'
import { parseMsg } from '../../src/mail/msg.js'
import { parseMessage } from '../../src/mail/parse.js'
import { DEFAULT_LIMITS as limits } from '../../src/part/limits.js'
import { CORPUS, corpusRows } from '../corpus.js'

const hasCorpus = existsSync(CORPUS)

test('RTF is decompressed as the specification gives it', () => {
  // MS-OXRTFCP section 4.1.1 and the repeating text of 4.2.1
  const simple = Buffer.from(
    '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af320' +
      '68656c090020627705b06c647d0a800fa0',
    'hex',
  )
  expect(decompressRtf(simple)?.toString('latin1')).toBe(
    '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n',
  )
  expect(decompressRtf(Buffer.from('no such value at all'))).toBeUndefined()
  // A claim of two gigabytes is believed as far as the bytes can reach.
  const liar = Buffer.from(simple)
  liar.writeUInt32LE(0x7fffffff, 4)
  expect(decompressRtf(liar)?.length).toBeLessThan(1000)
})

test('a file that is no Outlook message inside gives an empty message and says so', async () => {
  const bytes = Buffer.alloc(4096)
  bytes.writeUInt32BE(0xd0cf11e0)
  const message = await parseMessage(bytes, { limits })
  expect(message.problems).toHaveLength(1)
  expect(message).toMatchObject({ subject: '', body: '', parts: [] })
})

// Each entry's chain was followed to its end, however many share it: minutes.
test('fifty thousand entries that share one long stream are checked once', () => {
  const bytes = oleFile({
    big: Buffer.alloc(20_000_000),
    ...Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`s${n}`, Buffer.alloc(0)])),
  })
  const at = (bytes.readUInt32LE(48) + 1) << bytes.readUInt16LE(30)
  const start = bytes.readUInt32LE(at + 128 + 116)
  for (let entry = at + 128; entry < at + 50_001 * 128; entry += 128) {
    bytes.writeUInt32LE(start, entry + 116)
    bytes.writeUInt32LE(20_000_000, entry + 120)
  }
  expect(checkCompound(bytes)).toEqual({ lies: [] })
})

test.skipIf(!hasCorpus)('every Outlook file of the corpus is read whole', async () => {
  const rows = corpusRows().filter(({ family }) => family === 'msg')
  expect(rows.length).toBeGreaterThan(40)
  for (const { path } of rows) {
    const bytes = readFileSync(`${CORPUS}/${path}`)
    expect(checkCompound(bytes), path).toEqual({ lies: [] })
    const message = await parseMessage(bytes, { limits, want: 'all' })
    expect(message.problems, path).toEqual([])
    expect(message.subject + message.body + message.parts.length, path).not.toBe('0')
  }
})

test.skipIf(!hasCorpus)(
  'a damaged Outlook file never throws and never hangs',
  { timeout: 60_000 },
  () => {
    const files = corpusRows()
      .filter(({ family, bytes }) => family === 'msg' && bytes < 40_000)
      .map(({ path }) => readFileSync(`${CORPUS}/${path}`))
    const damage = fc.array(
      fc.record({
        at: fc.nat(),
        word: fc.oneof(fc.nat(100), fc.constantFrom(-1, -2, -3, 0x7fffffff)),
      }),
      { minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(fc.nat(files.length - 1), damage, (index, damages) => {
        const bytes = Buffer.from(files[index] as Buffer)
        for (const { at, word } of damages) bytes.writeInt32LE(word, (at % (bytes.length - 4)) & ~3)
        const began = performance.now()
        parseMsg(bytes, { limits })
        expect(performance.now() - began).toBeLessThan(2000)
      }),
      { numRuns: 300, seed: 11 },
    )
  },
)
