import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { oleFile } from '../extract/make-ole.js'

import { decompressRtf } from '../../src/mail/outlook/compressed-rtf.js'
import { parseMsg } from '../../src/mail/outlook/message.js'
import { parseMessage } from '../../src/mail/parse.js'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS as limits, type Limits } from '../../src/part/limits.js'
import type { Outcome } from '../../src/part/outcome.js'
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
  expect(message.losses).toHaveLength(1)
  expect(message).toMatchObject({ subject: '', body: '', parts: [] })
})

const wide = (text: string): Buffer => Buffer.from(text, 'utf16le')
const mail = {
  '__properties_version1.0': Buffer.alloc(32),
  '__substg1.0_0037001F': wide('Harbour plan'),
  '__substg1.0_1000001F': wide('The cranes stand still on Monday.'),
}
const attachment = (bytes: Buffer): Record<string, Buffer> => ({
  '__attach_version1.0_#00000000/__properties_version1.0': Buffer.alloc(8),
  '__attach_version1.0_#00000000/__substg1.0_3707001F': wide('survey.bin'),
  '__attach_version1.0_#00000000/__substg1.0_37010102': bytes,
})

/** Where the directory entry of this name begins. */
function entryAt(file: Buffer, name: string): number {
  const directory = (file.readUInt32LE(48) + 1) << file.readUInt16LE(30)
  const at = file.indexOf(wide(`${name}\0`), directory)
  if (at < 0) throw new Error(`no ${name}`)
  return at
}

/** Puts into the allocation table what follows a sector. */
function follow(file: Buffer, sector: number, next: number): void {
  const sectorBytes = 1 << file.readUInt16LE(30)
  const table = file.readUInt32LE(76 + 4 * Math.floor(sector / (sectorBytes / 4)))
  file.writeUInt32LE(next, (table + 1) * sectorBytes + 4 * (sector % (sectorBytes / 4)))
}

async function asAttachment(bytes: Uint8Array, more: Partial<Limits> = {}): Promise<Outcome> {
  const settings = { limits: { ...limits, ...more }, ocr: false as const, passwords: [] }
  return (await readDocument({ bytes, name: 'a.msg' }, settings, 'text')).outcome
}

/** A property that is a time, as it stands behind the header. */
function time(tag: number, iso: string): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt16LE(0x40, 0)
  bytes.writeUInt16LE(tag, 2)
  bytes.writeBigUInt64LE(BigInt(Date.parse(iso) + 11_644_473_600_000) * 10_000n, 8)
  return bytes
}

test('a message and one inside it keep their dates, and attachments their order', async () => {
  const inside = (nth: number, minute: number): Record<string, Buffer> => ({
    [`__attach_version1.0_#0000000${nth}/__substg1.0_3001001F`]: wide(`inner ${nth}`),
    [`__attach_version1.0_#0000000${nth}/__substg1.0_3701000D/__substg1.0_0037001F`]: wide('Inner'),
    [`__attach_version1.0_#0000000${nth}/__substg1.0_3701000D/__properties_version1.0`]:
      Buffer.concat([Buffer.alloc(24), time(0x39, `2026-03-05T14:0${minute}:00Z`)]),
  })
  const bytes = oleFile({
    ...mail,
    ...inside(1, 2),
    ...inside(0, 1),
    // four bytes behind the last property, as some writers leave them
    '__properties_version1.0': Buffer.concat([
      Buffer.alloc(32),
      time(0x3007, '2026-03-05T15:00:00Z'),
      Buffer.alloc(4),
    ]),
  })
  const message = await parseMessage(bytes, { limits, want: 'all' })
  expect(message.date).toBe(Date.parse('2026-03-05T15:00:00Z') / 1000)
  expect(message.parts.map(({ path, name }) => `${path} ${name}`)).toEqual([
    '1 inner 0.msg',
    '2 inner 1.msg',
  ])
  const second = await parseMessage(message.parts[1]?.bytes as Uint8Array, { limits })
  expect(second).toMatchObject({
    subject: 'Inner',
    date: Date.parse('2026-03-05T14:02:00Z') / 1000,
    losses: [],
  })
})

// xberg issue 372: a copy as hexadecimal text never returned.
test('a message with an attachment of 40 MB is read, whole and in one copy', async () => {
  const large = Buffer.alloc(40_000_000, 'survey ')
  const bytes = oleFile({ ...mail, ...attachment(large) })
  const before = process.memoryUsage().arrayBuffers
  const message = await parseMessage(bytes, { limits })
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3 * large.length)
  expect(message).toMatchObject({ subject: 'Harbour plan', losses: [] })
  expect(message.parts).toHaveLength(1)
  expect(message.parts[0]).toMatchObject({
    name: 'survey.bin',
    size: large.length,
    hash: createHash('sha256').update(large).digest('hex'),
  })
  expect(await asAttachment(bytes)).toMatchObject({ state: 'too-large' })
  const outcome = await asAttachment(bytes, { partBytes: 1e8, archiveBytes: 1e8, textChars: 1000 })
  expect(JSON.stringify(outcome)).toContain('cranes')
})

test('sectors that lead in a circle end, and what stands beside them is read', async () => {
  const bytes = oleFile({ ...mail, ...attachment(Buffer.alloc(20_000, 'survey ')) })
  const entry = entryAt(bytes, '__substg1.0_37010102')
  const start = bytes.readUInt32LE(entry + 116)
  follow(bytes, start + 3, start)
  bytes.writeUInt32LE(0x7fffffff, entry + 120)
  const message = await parseMessage(bytes, { limits })
  expect(message.body).toBe('The cranes stand still on Monday.')
  expect(message.parts).toMatchObject([{ name: 'survey.bin', size: 4 * 512 }])
  expect(message.losses).toEqual([expect.stringMatching(/claim more than it holds/)])
  expect(await asAttachment(bytes)).toMatchObject({
    kind: 'text',
    partial: expect.stringMatching(/claim more than it holds/) as string,
  })

  // a storage that holds itself, and a table of sectors that is its own next one
  const storage = entryAt(bytes, '__attach_version1.0_#00000000')
  const directory = (bytes.readUInt32LE(48) + 1) << bytes.readUInt16LE(30)
  bytes.writeUInt32LE((storage - directory) / 128, storage + 76)
  bytes.writeUInt32LE(bytes.readUInt32LE(48), 68)
  expect(await parseMessage(bytes, { limits })).toMatchObject({ subject: 'Harbour plan' })
})

// rtf-stream-parser copies its state at each brace: minutes.
test('a body of RTF with a hundred thousand groups inside groups is a document beside the mail', async () => {
  const rtf = `{\\rtf1\\ansi\\fromhtml1 Quay ${'{'.repeat(100_000)}`
  const header = Buffer.alloc(16)
  header.writeUInt32LE(rtf.length + 12, 0)
  header.writeUInt32LE(rtf.length, 4)
  header.write('MELA', 8)
  const { '__substg1.0_1000001F': _, ...rest } = mail
  const bytes = oleFile({
    ...rest,
    '__substg1.0_10090102': Buffer.concat([header, Buffer.from(rtf)]),
  })
  const message = await parseMessage(bytes, { limits })
  expect(message.parts).toMatchObject([{ path: 'body', name: 'body.rtf' }])
  expect(JSON.stringify(await asAttachment(bytes))).toContain('Quay')
})

test('fifty thousand entries that share one long stream are read as far as the limit', async () => {
  const bytes = oleFile({
    ...mail,
    '__substg1.0_10000102': Buffer.alloc(20_000_000),
    ...Object.fromEntries(
      Array.from({ length: 50_000 }, (_, n) => [
        `__substg1.0_${(n + 0x2000).toString(16).padStart(4, '0')}0102`,
        Buffer.alloc(0),
      ]),
    ),
  })
  const from = entryAt(bytes, '__substg1.0_10000102')
  const start = bytes.readUInt32LE(from + 116)
  for (let entry = from; entry <= from + 50_000 * 128; entry += 128) {
    bytes.writeUInt32LE(start, entry + 116)
    bytes.writeUInt32LE(20_000_000, entry + 120)
  }
  const message = await parseMessage(bytes, { limits })
  expect(message.losses).toEqual([expect.stringMatching(/more than 300000000 bytes/)])
  expect(await asAttachment(bytes, { partBytes: 1e8 })).toMatchObject({ state: 'too-large' })
})

test.skipIf(!hasCorpus)('every Outlook file of the corpus is read whole', async () => {
  const rows = corpusRows().filter(({ family }) => family === 'msg')
  expect(rows.length).toBeGreaterThan(40)
  for (const { path } of rows) {
    const bytes = readFileSync(`${CORPUS}/${path}`)
    const message = await parseMessage(bytes, { limits, want: 'all' })
    expect(message.losses, path).toEqual([])
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
