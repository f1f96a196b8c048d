import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { rc4 } from '../../scripts/make/rc4.js'
import { readDocument } from '../../src/extract/read.js'
import { OleFile } from '../../src/ole/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Outcome } from '../../src/part/outcome.js'
import { oleFile } from './make-ole.js'

const SLIDES = readFileSync(new URL('../fixtures/formats/slides.ppt', import.meta.url))

async function read(bytes: Uint8Array, passwords: string[]): Promise<Outcome> {
  return (await readDocument({ bytes }, { limits: DEFAULT_LIMITS, ocr: false, passwords }, 'text'))
    .outcome
}

const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, i) => bytes.writeUInt32LE(value >>> 0, 4 * i))
  return bytes
}
const sha1 = (...parts: Buffer[]): Buffer =>
  createHash('sha1').update(Buffer.concat(parts)).digest()
const record = (head: number, type: number, body: Buffer): Buffer =>
  Buffer.concat([u32((head | (type << 16)) >>> 0, body.length), body])

/** RC4 of the CryptoAPI ([MS-OFFCRYPTO] 2.3.5.2) with 128 bits for one block. */
function sealed(bytes: Buffer, password: string, salt: Buffer, block: number): Buffer {
  const base = sha1(salt, Buffer.from(password, 'utf16le'))
  return rc4(sha1(base, u32(block)).subarray(0, 16), bytes)
}

/** The slides of the fixture under a password: each object sealed by its number, and one more save that says so. */
function lockedSlides(password: string): Buffer {
  const ole = new OleFile(SLIDES)
  const stream = ole.readPath('PowerPoint Document')!
  const user = ole.readPath('Current User')!
  const lastEdit = user.readUInt32LE(16)
  const directory = stream.readUInt32LE(lastEdit + 20)
  const end = directory + 8 + stream.readUInt32LE(directory + 4)
  const salt = Buffer.alloc(16, 7)
  let unused = 1
  for (let at = directory + 8; at < end;) {
    const head = stream.readUInt32LE(at)
    for (let n = 0; n < head >>> 20; n++) {
      const id = (head & 0xfffff) + n
      const place = stream.readUInt32LE(at + 4 + 4 * n)
      const length = 8 + stream.readUInt32LE(place + 4)
      sealed(stream.subarray(place, place + length), password, salt, id).copy(stream, place)
      unused = Math.max(unused, id + 1)
    }
    at += 4 + 4 * (head >>> 20)
  }
  const verifier = Buffer.alloc(16, 9)
  const proof = sealed(Buffer.concat([verifier, sha1(verifier)]), password, salt, 0)
  const header = u32(4, 0, 0x6801, 0x8004, 128, 1, 0, 0, 0)
  const session = record(
    15,
    0x2f14,
    Buffer.concat([
      ...[u32(0x00020002, 4, header.length), header, u32(16), salt, proof.subarray(0, 16)],
      ...[u32(20), proof.subarray(16)],
    ]),
  )
  const places = record(0, 0x1772, u32((1 << 20) | unused, stream.length))
  const edit = record(
    0,
    0x0ff5,
    u32(
      0,
      0,
      lastEdit,
      stream.length + session.length,
      stream.readUInt32LE(lastEdit + 24),
      0,
      0,
      unused,
    ),
  )
  u32(0xf3d1c4df, stream.length + session.length + places.length).copy(user, 12)
  return oleFile({
    'PowerPoint Document': Buffer.concat([stream, session, places, edit]),
    'Current User': user,
  })
}

test('slides under a password are read with it', async () => {
  const plain = await read(SLIDES, [])
  const file = lockedSlides('quay')
  expect(await read(file, [])).toMatchObject({ state: 'locked' })
  expect(await read(file, ['wrong'])).toMatchObject({ state: 'locked' })
  const outcome = await read(file, ['wrong', 'quay'])
  expect(outcome.kind === 'text' && outcome.pages).toEqual(plain.kind === 'text' && plain.pages)
})
