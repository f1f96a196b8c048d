import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import iconv from 'iconv-lite'
import JSZip from 'jszip'
import { expect, test } from 'vitest'
import { lockedZip } from '../../scripts/fixtures/legacy-containers.js'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS, type Limits } from '../../src/part/limits.js'
import type { Outcome, TextOutcome } from '../../src/part/outcome.js'

const FIXTURES = fileURLToPath(new URL('../fixtures/formats/', import.meta.url))

async function read(
  bytes: Uint8Array,
  limits: Partial<Limits> = {},
  passwords: string[] = [],
): Promise<Outcome> {
  const { outcome } = await readDocument(
    { bytes, name: 'nest' },
    { limits: { ...DEFAULT_LIMITS, ...limits }, ocr: false, passwords },
    'text',
  )
  return outcome
}

async function text(
  bytes: Uint8Array,
  limits: Partial<Limits> = {},
  passwords: string[] = [],
): Promise<TextOutcome> {
  const outcome = await read(bytes, limits, passwords)
  if (outcome.kind !== 'text') throw new Error(`${outcome.state}: ${outcome.detail}`)
  return outcome
}

const members = (outcome: TextOutcome): Array<string | undefined> =>
  outcome.pages.map((page) => page.member)

async function zip(files: Record<string, string | Uint8Array>): Promise<Buffer> {
  const archive = new JSZip()
  for (const [name, bytes] of Object.entries(files)) archive.file(name, bytes)
  return archive.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' })
}

test('the text of a nest names its members, outermost first', async () => {
  const mail = 'From: a@b.example\r\nTo: c@d.example\r\nSubject: Plans\r\n\r\nThe body.\r\n'
  const outcome = await text(
    await zip({ '2026/mail.eml': mail, 'in.zip': await zip({ 'a.txt': 'deep' }) }),
  )
  expect(members(outcome)).toEqual(['2026/mail.eml', 'in.zip › a.txt'])
})

/** A zip whose members are stored under names of any bytes, not marked as UTF-8. */
function zipOfBytes(files: ReadonlyArray<readonly [name: Buffer, content: string]>): Buffer {
  const members: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, content] of files) {
    const bytes = Buffer.from(content)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt32LE(crc32(bytes), 10)
    facts.writeUInt32LE(bytes.length, 14)
    facts.writeUInt32LE(bytes.length, 18)
    facts.writeUInt16LE(name.length, 22)
    members.push(Buffer.concat([Buffer.from('PK\x03\x04'), facts, name, bytes]))
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), facts, place, name]))
    at += (members.at(-1) as Buffer).length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...members, list, end])
}

test('two members of one name are both read', async () => {
  const twice = zipOfBytes([
    [Buffer.from('note.txt'), 'the first'],
    [Buffer.from('note.txt'), 'the second'],
  ])
  const outcome = await text(twice)
  expect(members(outcome)).toEqual(['note.txt', 'note.txt'])
  expect(outcome.pages.map((page) => page.text)).toEqual(['the first', 'the second'])
})

test.each([
  ['cp866', ['Договор поставки.txt', 'счёт.txt', 'акт.txt']],
  ['gbk', ['关于付款通知.txt', '报告.txt']],
  ['cp437', ['Übersicht Fähren.txt', 'Größe.txt']],
])('names of a zip in %s are told by all of them together', async (codePage, names) => {
  const archive = zipOfBytes(names.map((name) => [iconv.encode(name, codePage), 'words']))
  expect(members(await text(archive))).toEqual(names)
})

test('names of a tar under xz are in the encoding of the tar', async () => {
  expect(members(await text(readFileSync(`${FIXTURES}harbour.txz`)))).toEqual(['Häfen/Fähre.txt'])
})

test('the last part of a zip in several files says that it is one', async () => {
  const part = zipOfBytes([[Buffer.from('note.txt'), 'words']]).subarray(-22)
  part.writeUInt16LE(2, 4)
  expect(await read(part)).toMatchObject({
    state: 'damaged',
    detail: expect.stringContaining('several files'),
  })
})

/** A RAR 5 archive whose members are stored, as the format's technical note lays it out. */
function rar(files: Record<string, string>): Buffer {
  const number = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...number(value >>> 7)]
  const long = (value: number): Buffer => {
    const four = Buffer.alloc(4)
    four.writeUInt32LE(value)
    return four
  }
  const header = (fields: Array<number[] | Buffer>): Buffer => {
    const body = Buffer.concat(fields.map((field) => Buffer.from(field)))
    const sized = Buffer.concat([Buffer.from(number(body.length)), body])
    return Buffer.concat([long(crc32(sized)), sized])
  }
  const STORED = 0
  const UNIX = 1
  return Buffer.concat([
    Buffer.from('Rar!\x1a\x07\x01\0', 'latin1'),
    header([[1], [0], [0]]),
    ...Object.entries(files).flatMap(([name, content]) => {
      const [bytes, path] = [Buffer.from(content), Buffer.from(name)]
      const size = number(bytes.length)
      const [type, hasData, hasChecksum, mode] = [[2], [2], [4], number(0o100644)]
      return [
        header([
          ...[type, hasData, size, hasChecksum, size, mode, long(crc32(bytes))],
          ...[[STORED], [UNIX], number(path.length), path],
        ]),
        bytes,
      ]
    }),
    header([[5], [0], [0]]),
  ])
}

test('members of a RAR archive are read and named', async () => {
  const outcome = await text(rar({ '2023/plan.txt': 'The harbour plan', 'läsmig.txt': 'Cranes' }))
  expect(members(outcome)).toEqual(['2023/plan.txt', 'läsmig.txt'])
  expect(outcome.pages.map((page) => page.text)).toEqual(['The harbour plan', 'Cranes'])
  expect(await read(rar({ 'a.txt': 'x'.repeat(300) }).subarray(0, 120))).not.toMatchObject({
    kind: 'text',
    partial: undefined,
  })
})

test('an attached mbox is parted as that of a vault is, and its quoting undone', async () => {
  const mail = (n: number, body: string): string =>
    `From a@b.example Mon Mar  2 10:0${n}:00 2026\nFrom: a@b.example\nSubject: mail ${n}\n\n${body}\n\n`
  const prose = 'One.\n\nFrom Monday 2 March 2026 on\nit is closed.\n>From here too.'
  const outcome = await text(Buffer.from(mail(1, prose) + mail(2, 'Two.')))
  expect(members(outcome)).toEqual(['message 1.eml', 'message 2.eml'])
  expect(outcome.pages[0]?.text).toContain('it is closed.\nFrom here too.')
})

test('a compressed tar names the members of the tar alone', async () => {
  expect(members(await text(readFileSync(`${FIXTURES}boats.tgz`)))).toEqual(['boats/list.csv'])
})

test('a password opens what it opens, and the rest is named', async () => {
  const archive = readFileSync(`${FIXTURES}part-locked.zip`)
  const shut = await text(archive)
  expect(shut.partial).toBe('closed.txt: locked (password needed)')
  expect(members(shut)).toEqual(['open.txt'])
  const open = await text(archive, {}, ['wrong', 'quay'])
  expect(open.partial).toBeUndefined()
  expect(members(open)).toEqual(['open.txt', 'closed.txt'])
  expect(await read(readFileSync(`${FIXTURES}locked.zip`))).toMatchObject({ state: 'locked' })
})

test('a wrong password that the cipher takes does not keep the right one from being tried', async () => {
  // one in 256 passes the one byte that is checked
  const wrong = Array.from({ length: 2_000 }, (_, i) => `wrong${i}`)
  const archive = readFileSync(`${FIXTURES}part-locked.zip`)
  const open = await text(archive, {}, [...wrong, 'quay'])
  expect(open.partial).toBeUndefined()
  expect(members(open)).toEqual(['open.txt', 'closed.txt'])
  expect((await text(archive, {}, wrong)).partial).toBe('closed.txt: locked (password needed)')
})

test.each(['utf8', 'windows-1252', 'cp850'])(
  'a password with an umlaut in %s opens',
  async (name) => {
    const archive = lockedZip(iconv.encode('Schlüssel', name), [
      ['closed.txt', Buffer.from('Opened.'), true],
    ])
    expect((await text(archive, {}, ['Schlüssel'])).pages[0]?.text).toBe('Opened.')
  },
)

test('a zip with AES opens with its password', async () => {
  const archive = await aesZip('quay', 'sealed.txt', 'Sealed with AES.')
  expect(await read(archive)).toMatchObject({ state: 'locked' })
  expect(await read(archive, {}, ['wrong'])).toMatchObject({ state: 'locked' })
  expect((await text(archive, {}, ['quay'])).pages[0]?.text).toBe('Sealed with AES.')
})

test('one budget of bytes holds over the whole nest, and what came before is kept', async () => {
  const blank = Buffer.alloc(40_000, 0x20)
  const outcome = await text(
    await zip({ 'first.txt': 'kept', 'in.zip': await zip({ 'a.txt': blank }), 'b.txt': blank }),
    { archiveBytes: 60_000 },
  )
  expect(outcome).toMatchObject({ cutBy: 'archive-bytes' })
  expect(outcome.pages[0]?.text).toBe('kept')
})

test('a bomb is stopped while it inflates, whatever size it claims', async () => {
  const packed = deflateRawSync(Buffer.alloc(80_000_000))
  const before = process.memoryUsage().rss
  expect(await read(rawZip('bomb.bin', packed, 100))).toMatchObject({
    kind: 'declined',
    state: 'too-large',
  })
  expect(await read(gzipSync(Buffer.alloc(80_000_000)))).toMatchObject({ state: 'too-large' })
  expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000)
})

test('bombs nested in each other share the budget', async () => {
  let inside = await zip({ 'core.txt': Buffer.alloc(20_000_000, 0x41) })
  for (let level = 0; level < 3; level++)
    inside = await zip({ 'a.zip': inside, 'b.zip': inside, 'c.zip': inside })
  const outcome = await text(inside, { textChars: 1e9 })
  expect(outcome.cutBy).toBe('archive-bytes')
  expect(outcome.pages.reduce((sum, page) => sum + page.text.length, 0)).toBeLessThanOrEqual(
    50_000_000,
  )
})

test('members nested deeper than the limit are named and the others read', async () => {
  const outcome = await text(readFileSync(`${FIXTURES}deep.zip`))
  expect(outcome.cutBy).toBe('nesting')
  expect(outcome.partial).toMatch(/level 6\.zip: nested too deep|level 7\.zip: nested too deep/)
  expect(outcome.pages.map((page) => page.text.trim())).toContain('Beside level 2.')
})

test('more members than the limit are cut', async () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.txt`, `text ${i}`]))
  const outcome = await text(await zip(files), { archiveEntries: 10 })
  expect(outcome.cutBy).toBe('archive-entries')
  expect(outcome.pages).toHaveLength(10)
})

test('a container whose members are all unreadable says so and names them', async () => {
  expect(
    await read(await zip({ 'song.mp3': Buffer.from('ID3\x03\0\0\0\0\0!', 'latin1') })),
  ).toEqual({
    kind: 'declined',
    state: 'unsupported',
    detail: 'song.mp3: unsupported (audio/mpeg)',
  })
  const broken = await zip({ 'a.xls': Buffer.from('d0cf11e0a1b11ae1'.padEnd(2_000, '0'), 'hex') })
  expect(await read(broken)).toMatchObject({ state: 'damaged' })
})

test('names of members reach no message with control characters in them', async () => {
  const outcome = await text(
    await zip({ 'a.txt': 'x', 'evil\x1b[31m\n.mp3': Buffer.from('ID3\x03\0\0\0\0\0!', 'latin1') }),
  )
  expect(outcome.partial).not.toMatch(/[\x00-\x1f]/)
})

test('an error of a library never quotes the document', async () => {
  const outcome = await read(
    await zip({
      'a.docx': await zip({
        '[Content_Types].xml':
          '<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        'word/document.xml': '<secretword',
      }),
    }),
  )
  expect(JSON.stringify(outcome)).not.toContain('secretword')
})

/** A zip of one deflated member that claims a size. */
function rawZip(
  name: string,
  packed: Buffer,
  claimed: number,
  method = 8,
  extra = Buffer.alloc(0),
  flags = 0,
): Buffer {
  const about = Buffer.alloc(26)
  about.writeUInt16LE(20, 0)
  about.writeUInt16LE(flags, 2)
  about.writeUInt16LE(method, 4)
  about.writeUInt32LE(packed.length, 14)
  about.writeUInt32LE(claimed, 18)
  about.writeUInt16LE(name.length, 22)
  about.writeUInt16LE(extra.length, 24)
  const local = Buffer.concat([
    Buffer.from('PK\x03\x04', 'latin1'),
    about,
    Buffer.from(name),
    extra,
    packed,
  ])
  const directory = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\0', 'latin1'),
    about,
    Buffer.alloc(14),
    Buffer.from(name),
    extra,
  ])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, directory, end])
}

/** One member under AES-256 as WinZip writes it. */
async function aesZip(password: string, name: string, content: string): Promise<Buffer> {
  const { createCipheriv, createHmac, pbkdf2Sync } = await import('node:crypto')
  const salt = Buffer.alloc(16, 9)
  const keys = pbkdf2Sync(password, salt, 1_000, 66, 'sha1')
  const plain = deflateRawSync(content)
  const counter = Buffer.alloc(16)
  const stream = createCipheriv('aes-256-ecb', keys.subarray(0, 32), null).setAutoPadding(false)
  const sealed = Buffer.alloc(plain.length)
  for (let at = 0, number = 1; at < plain.length; at += 16, number++) {
    counter.writeUInt32LE(number)
    const block = stream.update(counter)
    for (let i = at; i < Math.min(at + 16, plain.length); i++)
      sealed[i] = (plain[i] as number) ^ (block[i - at] as number)
  }
  const mac = createHmac('sha1', keys.subarray(32, 64)).update(sealed).digest().subarray(0, 10)
  const extra = Buffer.from([0x01, 0x99, 7, 0, 2, 0, 0x41, 0x45, 3, 8, 0])
  return rawZip(
    name,
    Buffer.concat([salt, keys.subarray(64), sealed, mac]),
    content.length,
    99,
    extra,
    1,
  )
}

test('what of a mail inside could not be read is said under its name', async () => {
  const deep = Array.from(
    { length: 5_000 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  ).join('')
  const zip = new JSZip()
    .file('deep.eml', `From: anna@example.org\r\nSubject: deep plan\r\n${deep}\r\ninner\r\n`)
    .file('plain.txt', 'read all the same')
  const outcome = await read(await zip.generateAsync({ type: 'uint8array' }))
  expect(outcome).toMatchObject({
    kind: 'text',
    partial: expect.stringMatching(/^deep\.eml: .*not read/) as string,
  })
})
