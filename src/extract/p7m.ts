/**
 * Signed and compressed S/MIME (Cryptographic Message Syntax, RFC 5652 and 3274): what was signed is read in its
 * place, signatures are not checked. A signature alone has no text; what is encrypted is locked.
 *
 * A small reader of BER (X.690): indefinite lengths and strings in pieces, as signing programs write them.
 */
import { constants, inflateSync } from 'node:zlib'
import { Cut } from './budget.js'
import { Declined, type Context, type Extractor } from './extractor.js'

/** What OpenPGP (RFC 9580) encrypts, in its armour: named as locked. */
export const pgp: Extractor = {
  name: 'pgp',
  version: 1,
  title: 'Encrypted OpenPGP messages (recorded as locked)',
  types: ['application/pgp-encrypted'],
  extensions: [],
  lane: 'text',
  extract: () => Promise.reject(new Declined('locked', 'encrypted for the holder of a key')),
}

export const p7m: Extractor = {
  name: 'p7m',
  version: 1,
  title: 'Signed S/MIME messages (p7m)',
  types: ['application/pkcs7-mime'],
  extensions: ['p7m', 'p7s'],
  lane: 'text',
  async extract({ bytes, name }, _sink, context) {
    const inside = openCms(derOf(bytes), context)
    if (!inside || inside.length === 0) return
    context.budget.takeBytes(inside.length)
    const innerName = name.replace(/\.p7[ms]$/i, '')
    await context.nested(inside, innerName, 'message/rfc822', { transparent: true })
  },
}

const CMS = '2a864886f70d0107'
const OID = {
  signed: `${CMS}02`,
  enveloped: `${CMS}03`,
  signedAndEnveloped: `${CMS}04`,
  encrypted: `${CMS}06`,
  compressed: '2a864886f70d0109100109',
  authEnveloped: '2a864886f70d0109100117',
} as const

/** @returns what is inside, or undefined for a signature or a list of certificates alone */
function openCms(file: Buffer, context: Context): Buffer | undefined {
  const content = parts(read(file, 0))
  const kind = content[0]?.bytes.toString('hex') ?? ''
  const body = content[1] && parts(content[1])[0]
  switch (kind) {
    case OID.signed: {
      // version, digest algorithms, what was signed, …
      const signed = body && parts(body)[2]
      const wrapped = signed && parts(signed)[1]
      const inner = wrapped && parts(wrapped)[0]
      return inner && octets(inner, 0)
    }
    case OID.compressed: {
      const packed = body && parts(body)[2]
      const wrapped = packed && parts(packed)[1]
      const inner = wrapped && parts(wrapped)[0]
      return inner && inflate(octets(inner, 0), context)
    }
    case OID.enveloped:
    case OID.signedAndEnveloped:
    case OID.encrypted:
    case OID.authEnveloped:
      throw new Declined('locked', 'encrypted for the holder of a key')
    default:
      throw new Declined('unsupported', 'application/pkcs7-mime of another kind')
  }
}

function inflate(packed: Buffer, context: Context): Buffer {
  try {
    return inflateSync(packed, {
      maxOutputLength: Math.max(1, context.budget.bytesLeft),
      finishFlush: constants.Z_SYNC_FLUSH,
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new Cut('archive-bytes')
    throw error
  }
}

/** The file itself, or what an armour of base64 holds. */
function derOf(bytes: Uint8Array): Buffer {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file[0] === 0x30) return file
  const text = file.toString('latin1')
  const armoured = /-----BEGIN [A-Z0-9 ]+-----([\s\S]*?)(?:-----END|$)/.exec(text)
  return Buffer.from(armoured?.[1] ?? text, 'base64')
}

interface Ber {
  tag: number
  isConstructed: boolean
  /** Content; of an indefinite length, up to its end mark. */
  bytes: Buffer
  /** Where the next value begins. */
  end: number
}

/** Values inside values. */
const DEPTH_MAX = 60

function read(file: Buffer, at: number, depth = 0): Ber {
  const tag = file[at]
  const first = file[at + 1]
  if (tag === undefined || first === undefined) throw new Error('the signed data ends early')
  const isConstructed = (tag & 0x20) !== 0
  let start = at + 2
  if (first === 0x80) {
    let inner = start
    while (inner < file.length && !(file[inner] === 0 && file[inner + 1] === 0)) {
      if (depth > DEPTH_MAX) throw new Error('the signed data is nested too deep')
      inner = read(file, inner, depth + 1).end
    }
    return { tag, isConstructed, bytes: file.subarray(start, inner), end: inner + 2 }
  }
  let length = first
  if (first & 0x80) {
    const count = first & 0x7f
    if (count > 6 || start + count > file.length) throw new Error('a length is damaged')
    length = file.readUIntBE(start, count)
    start += count
  }
  return {
    tag,
    isConstructed,
    bytes: file.subarray(start, start + length),
    end: start + length,
  }
}

/** Values in a constructed value; few are needed, so the rest is left. */
function parts({ bytes }: Ber): Ber[] {
  const found: Ber[] = []
  for (let at = 0; at < bytes.length && found.length < 8;) {
    const value = read(bytes, at)
    found.push(value)
    at = value.end
  }
  return found
}

/** An octet string, in one or in pieces. */
function octets(value: Ber, depth: number): Buffer {
  if (!value.isConstructed || depth > DEPTH_MAX) return value.bytes
  const pieces: Buffer[] = []
  for (let at = 0; at < value.bytes.length;) {
    const piece = read(value.bytes, at)
    pieces.push(octets(piece, depth + 1))
    at = piece.end
  }
  return Buffer.concat(pieces)
}
