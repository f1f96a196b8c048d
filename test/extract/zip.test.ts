import { deflateRawSync } from 'node:zlib'
import JSZip from 'jszip'
import { describe, expect, test } from 'vitest'
import { Budget } from '../../src/extract/budget.js'
import { inflate, inflateAll, inflateHead, openZip, type Zip } from '../../src/extract/zip.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'

const budget = (archiveBytes = DEFAULT_LIMITS.archiveBytes): Budget =>
  new Budget({ ...DEFAULT_LIMITS, archiveBytes }, 60_000)

async function archive(files: Record<string, string | Uint8Array>): Promise<Buffer> {
  const zip = new JSZip()
  for (const [name, content] of Object.entries(files))
    zip.file(name, content, { createFolders: false })
  return zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' })
}

async function texts(zip: Zip): Promise<Record<string, string>> {
  const read: Record<string, string> = {}
  for (const entry of zip.entries)
    read[entry.name] = (await inflateAll(entry, budget())).toString('utf8')
  return read
}

const TWO = { 'one.txt': 'first '.repeat(200), 'folder/two.txt': 'second '.repeat(200) }

describe('reads the members of', () => {
  test('a sound archive', async () => {
    const zip = await openZip(await archive(TWO), 100)
    expect(zip.problem).toBeUndefined()
    expect(await texts(zip)).toEqual(TWO)
  })

  test('a directory without anything unusual as jszip reads it', async () => {
    const zip = new JSZip()
    zip.file('_rels/.rels', 'first '.repeat(200))
    zip.file('folder/Übersicht für März.txt', 'second')
    zip.folder('empty folder')
    const list = async (comment: string): Promise<unknown> => {
      const bytes = await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE', comment })
      const { entries } = await openZip(bytes, 100)
      return entries.map(({ raw, rawName, ...entry }) => ({
        ...entry,
        raw: Buffer.from(raw ?? []).toString('hex'),
        rawName: rawName && Buffer.from(rawName).toString('hex'),
      }))
    }
    // a comment is unusual
    const usual = await list('')
    expect(usual).toHaveLength(2)
    expect(usual).toEqual(await list('kept by Ada'))
  })

  test('an archive with bytes before it', async () => {
    const bytes = Buffer.concat([Buffer.from('#!/bin/sh self-extracting\n'), await archive(TWO)])
    expect(await texts(await openZip(bytes, 100))).toEqual(TWO)
  })

  test('an archive with bytes behind it', async () => {
    const bytes = Buffer.concat([await archive(TWO), Buffer.alloc(700, 0x20)])
    expect(await texts(await openZip(bytes, 100))).toEqual(TWO)
  })

  test('an archive whose directory was cut off', async () => {
    const whole = await archive(TWO)
    const zip = await openZip(whole.subarray(0, whole.indexOf('PK\x01\x02')), 100)
    expect(zip.problem).toBe('the archive has no readable directory')
    expect(await texts(zip)).toEqual(TWO)
  })

  test('an archive that ends in its second member, as far as it goes', async () => {
    const noise = Array.from({ length: 20_000 }, (_, at) => ((at * 7919) % 9973).toString(36)).join(
      ' ',
    )
    const whole = await archive({ 'one.txt': 'first', 'two.txt': noise })
    const read = await texts(await openZip(whole.subarray(0, whole.length / 2), 100))
    expect(read['one.txt']).toBe('first')
    expect(noise.startsWith(read['two.txt'] as string)).toBe(true)
    expect(read['two.txt']?.length).toBeGreaterThan(10_000)
  })

  // Stuk/jszip#543, #511: what stands in an extra field is padded, or no field at all
  test.each([
    ['a field of padding', Buffer.from([0x35, 0xd9, 6, 0, 4, 0, 0, 0, 0, 0]), undefined],
    ['three bytes that are no field', Buffer.alloc(3), undefined],
    [
      'a field that claims more than there is',
      Buffer.from([0x0a, 0, 0x40, 0, 1, 2]),
      'the archive has no readable directory',
    ],
  ])('an archive whose extra fields hold %s', async (_, extra, problem) => {
    const bytes = await archive(TWO)
    /** Puts the extra field behind the name of each header, and moves the offsets. */
    const heads: Buffer[] = []
    const rows: Buffer[] = []
    let offset = 0
    for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50;) {
      const behind = at + 30 + bytes.readUInt16LE(at + 26)
      const end = behind + bytes.readUInt32LE(at + 18)
      const head = Buffer.from(bytes.subarray(at, behind))
      head.writeUInt16LE(extra.length, 28)
      heads.push(head, extra, bytes.subarray(behind, end))
      at = end
    }
    for (let at = bytes.indexOf('PK\x01\x02'); bytes.readUInt32LE(at) === 0x02014b50;) {
      const end = at + 46 + bytes.readUInt16LE(at + 28)
      const row = Buffer.from(bytes.subarray(at, end))
      row.writeUInt16LE(extra.length, 30)
      row.writeUInt32LE(offset, 42)
      offset += 30 + bytes.readUInt16LE(at + 28) + extra.length + bytes.readUInt32LE(at + 20)
      rows.push(row, extra)
      at = end
    }
    const directory = Buffer.concat(rows)
    const end = Buffer.from(bytes.subarray(bytes.indexOf('PK\x05\x06')))
    end.writeUInt32LE(directory.length, 12)
    end.writeUInt32LE(offset, 16)
    const zip = await openZip(Buffer.concat([...heads, directory, end]), 100)
    expect(await texts(zip)).toEqual(TWO)
    expect(zip.problem).toBe(problem)
  })

  test('an archive whose directory claims a comment that reaches over its end', async () => {
    const bytes = await archive({ 'one.txt': 'first' })
    const central = bytes.indexOf('PK\x01\x02')
    // a stored comment length that reaches over the end: the strict reader gives up, the members are there
    bytes.writeUInt16LE(9_999, central + 32)
    expect(await texts(await openZip(bytes, 100))).toEqual({ 'one.txt': 'first' })
  })
})

test('a member with a password is told, the others are read', async () => {
  const bytes = await archive({ 'a.txt': 'open', 'b.txt': 'secret' })
  const second = bytes.lastIndexOf('PK\x01\x02')
  bytes.writeUInt16LE(bytes.readUInt16LE(second + 8) | 1, second + 8)
  const { entries } = await openZip(bytes, 100)
  expect(entries.map(({ name, encrypted }) => [name, encrypted])).toEqual([
    ['a.txt', false],
    ['b.txt', true],
  ])
  expect((await inflateAll(entries[0] as never, budget())).toString()).toBe('open')
  await expect(inflateAll(entries[1] as never, budget())).rejects.toThrow('b.txt is encrypted')
})

test('names that lead out of the archive are only names', async () => {
  const bytes = await archive({ 'xx/xx/etc/passwd': 'a', '/root.txt': 'b' })
  const patched = Buffer.from(bytes.toString('latin1').replaceAll('xx/xx/', '../../'), 'latin1')
  const { entries } = await openZip(patched, 100)
  expect(entries.map(({ name }) => name)).toEqual(['../../etc/passwd', '/root.txt'])
})

test('bytes that are no archive are refused', async () => {
  await expect(openZip(Buffer.from('PK\x05\x06 nothing'), 100)).rejects.toThrow('no zip directory')
})

describe('the byte limit', () => {
  const large = { 'big.txt': 'a'.repeat(9_000_000) }

  test('cuts while inflating, after handing on what it allows', async () => {
    const { entries } = await openZip(await archive(large), 100)
    let got = 0
    await expect(
      inflate(entries[0] as never, budget(1_000_000), (chunk) => void (got += chunk.length)),
    ).rejects.toMatchObject({ by: 'archive-bytes' })
    expect(got).toBe(1_000_000)
  })

  test('does not believe a forged size', async () => {
    const bytes = await archive(large)
    for (const mark of ['PK\x03\x04', 'PK\x01\x02'] as const) {
      const at = bytes.indexOf(mark)
      bytes.writeUInt32LE(1_000, at + (mark === 'PK\x03\x04' ? 22 : 24))
    }
    const { entries } = await openZip(bytes, 100)
    await expect(
      inflate(entries[0] as never, budget(1_000_000), () => undefined),
    ).rejects.toMatchObject({ by: 'archive-bytes' })
    const shared = budget()
    expect((await inflateAll(entries[0] as never, shared)).length).toBe(9_000_000)
    expect(shared.bytesLeft).toBe(DEFAULT_LIMITS.archiveBytes - 9_000_000)
  })

  test('counts overlapping members each time they are read', async () => {
    const { entries } = await openZip(await archive({ 'one.txt': 'x'.repeat(400_000) }), 100)
    const shared = budget(1_000_000)
    const entry = entries[0] as never
    await inflateAll(entry, shared)
    await inflateAll(entry, shared)
    await expect(inflateAll(entry, shared)).rejects.toMatchObject({ by: 'archive-bytes' })
  })
})

// python/cpython PR#110016: refusing them lost sound archives
test('two members that share their bytes are both read', async () => {
  const bytes = await archive({ 'one.txt': 'shared' })
  const [central, end] = [bytes.indexOf('PK\x01\x02'), bytes.indexOf('PK\x05\x06')]
  const row = bytes.subarray(central, end)
  const other = Buffer.from(row)
  other.write('two.txt', 46)
  const tail = Buffer.from(bytes.subarray(end))
  tail.writeUInt16LE(2, 8)
  tail.writeUInt16LE(2, 10)
  tail.writeUInt32LE(row.length * 2, 12)
  const zip = await openZip(Buffer.concat([bytes.subarray(0, end), other, tail]), 100)
  expect(await texts(zip)).toEqual({ 'one.txt': 'shared', 'two.txt': 'shared' })
})

test('fifty thousand members are listed up to the limit', async () => {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50)
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  const COUNT = 50_000
  for (let i = 0, at = 0; i < COUNT; i++) {
    const name = Buffer.from(`${i}`.padStart(6, '0'))
    const local = Buffer.from(header)
    local.writeUInt16LE(6, 26)
    locals.push(local, name)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50)
    central.writeUInt16LE(6, 28)
    central.writeUInt32LE(at, 42)
    centrals.push(central, name)
    at += 36
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt16LE(COUNT, 8)
  end.writeUInt16LE(COUNT, 10)
  end.writeUInt32LE(COUNT * 52, 12)
  end.writeUInt32LE(COUNT * 36, 16)
  const zip = await openZip(Buffer.concat([...locals, ...centrals, end]), 10_000)
  expect(zip.entries).toHaveLength(10_000)
  expect(zip.problem).toBe('only the first 10000 entries are listed')
})

test('damaged bytes give what came before the damage, and a problem', async () => {
  const noise = Array.from({ length: 30_000 }, (_, at) => ((at * 7919) % 9973).toString(36)).join(
    ' ',
  )
  const raw = deflateRawSync(noise)
  const middle = raw.length >> 1
  raw.fill(0xff, middle, middle + 200)
  const chunks: Uint8Array[] = []
  const entry = { name: 'x', raw, method: 8, declaredSize: noise.length, encrypted: false }
  const problem = await inflate(entry, budget(), (chunk) => void chunks.push(chunk))
  expect(problem).toMatch(/x (?:is damaged|ends early)/)
  const kept = Buffer.concat(chunks).toString('latin1')
  expect(kept.length).toBeGreaterThan(noise.length / 3)
  expect(noise.startsWith(kept.slice(0, noise.length / 3))).toBe(true)
})

test('the head of a member is inflated without the rest', async () => {
  const { entries } = await openZip(await archive(TWO), 100)
  expect(Buffer.from(inflateHead(entries[0] as never, 64)).toString('latin1')).toMatch(
    /^first first/,
  )
})
