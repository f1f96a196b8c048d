/**
 * Encrypted zip members: the traditional cipher (APPNOTE 6.1) and AES (WinZip AE-1 and AE-2, APPNOTE 7.2 by its
 * vendor's description), opened with a password that somebody gave. Nothing is guessed.
 */
import { createCipheriv, pbkdf2Sync, timingSafeEqual } from 'node:crypto'
import { crc32, inflateRawSync } from 'node:zlib'
import type { ZipEntry } from './zip.js'

const AES = 99

/**
 * @param bytesMax bytes inflated to be sure of a password
 * @returns the entry with its compressed bytes in the clear, or undefined when the password is not the one
 */
export function decryptEntry(
  entry: ZipEntry,
  password: Uint8Array,
  bytesMax: number,
): ZipEntry | undefined {
  if (!entry.raw) return undefined
  if (entry.method === AES) return decryptAes(entry, password)
  const plain = decryptTraditional(entry, password)
  return plain && isSound(plain, bytesMax) ? plain : undefined
}

/** The traditional cipher takes one wrong password in 256: the checksum of what it seals tells. */
function isSound({ raw, method, crc, declaredSize }: ZipEntry, bytesMax: number): boolean {
  if (!raw || crc === undefined) return true
  if (method === 0) return crc32(raw) === crc
  if (method !== 8 || declaredSize > bytesMax) return true
  try {
    return crc32(inflateRawSync(raw, { maxOutputLength: Math.max(1, bytesMax) })) === crc
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
  }
}

const CRC = new Uint32Array(256).map((_, n) => {
  let value = n
  for (let k = 0; k < 8; k++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

function decryptTraditional(entry: ZipEntry, password: Uint8Array): ZipEntry | undefined {
  const raw = entry.raw as Uint8Array
  if (raw.length < 12) return undefined
  let [a, b, c] = [0x12345678, 0x23456789, 0x34567890]
  const update = (byte: number): void => {
    a = (CRC[(a ^ byte) & 255] as number) ^ (a >>> 8)
    b = (Math.imul(b + (a & 255), 134_775_813) + 1) | 0
    c = (CRC[(c ^ (b >>> 24)) & 255] as number) ^ (c >>> 8)
  }
  for (const byte of password) update(byte)
  const plain = Buffer.allocUnsafe(raw.length)
  for (let i = 0; i < raw.length; i++) {
    const key = (c & 0xffff) | 2
    const byte = (raw[i] as number) ^ ((Math.imul(key, key ^ 1) >>> 8) & 255)
    plain[i] = byte
    update(byte)
    if (i === 11 && entry.check !== undefined && byte !== entry.check) return undefined
  }
  return { ...entry, encrypted: false, raw: plain.subarray(12) }
}

function decryptAes(entry: ZipEntry, password: Uint8Array): ZipEntry | undefined {
  const raw = entry.raw as Uint8Array
  const { strength, method } = entry.aes ?? { strength: 3, method: 8 }
  const saltBytes = 4 + 4 * strength
  const keyBytes = 8 + 8 * strength
  if (raw.length < saltBytes + 12) return undefined
  const keys = pbkdf2Sync(password, raw.subarray(0, saltBytes), 1_000, 2 * keyBytes + 2, 'sha1')
  const verifier = raw.subarray(saltBytes, saltBytes + 2)
  if (!timingSafeEqual(keys.subarray(2 * keyBytes), verifier)) return undefined
  const sealed = raw.subarray(saltBytes + 2, raw.length - 10)
  return {
    ...entry,
    method,
    encrypted: false,
    raw: littleEndianCounter(keys.subarray(0, keyBytes), sealed),
  }
}

const BLOCK = 16
const BATCH = 4_096

/** AES in counter mode with the counter's low byte first, from 1, which node's own mode does not have. */
function littleEndianCounter(key: Uint8Array, sealed: Uint8Array): Buffer {
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null).setAutoPadding(false)
  const plain = Buffer.allocUnsafe(sealed.length)
  const counters = Buffer.alloc(BLOCK * BATCH)
  let number = 1
  for (let at = 0; at < sealed.length; at += counters.length) {
    for (let i = 0; i < BATCH; i++) counters.writeUInt32LE(number++, i * BLOCK)
    const stream = cipher.update(counters)
    const end = Math.min(sealed.length, at + counters.length)
    for (let i = at; i < end; i++) plain[i] = (sealed[i] as number) ^ (stream[i - at] as number)
  }
  return plain
}
