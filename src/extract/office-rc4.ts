/**
 * Passwords of Word, Excel and PowerPoint 97 to 2003 ([MS-OFFCRYPTO] 2.3.5 and 2.3.6): RC4 with a key of MD5, and
 * RC4 of the CryptoAPI. Only passwords that somebody gave are tried, and the one that Excel itself uses for
 * workbooks that are write-protected and open without asking.
 */
import { createHash } from 'node:crypto'

/**
 * Documents that are only protected against changes are encrypted with this, and programs open them without a
 * question ([MS-OFFCRYPTO] 2.4.2.3).
 */
export const DEFAULT_PASSWORD = 'VelvetSweatshop'

/** Gives the key stream of a block of the document. */
export type BlockKey = (block: number, length: number) => Buffer

/**
 * @param header the encryption header, from its version
 * @returns the key of the first password that opens it, or undefined
 */
export function openRc4(header: Buffer, passwords: readonly string[]): BlockKey | undefined {
  if (header.length < 4) return undefined
  for (const password of [...passwords, DEFAULT_PASSWORD]) {
    const key =
      header.readUInt16LE(2) === 1 ? openPlain(header, password) : openCrypto(header, password)
    if (key) return key
  }
  return undefined
}

/**
 * A copy of a stream with its key stream taken off, block by block.
 *
 * @param blockBytes after so many bytes the key is another: 512 in Word, 1,024 in Excel
 */
export function decryptStream(stream: Buffer, key: BlockKey, blockBytes: number): Buffer {
  const plain = Buffer.allocUnsafe(stream.length)
  for (let at = 0; at < stream.length; at += blockBytes) {
    const end = Math.min(stream.length, at + blockBytes)
    const mask = key(at / blockBytes, end - at)
    for (let i = at; i < end; i++) plain[i] = (stream[i] as number) ^ (mask[i - at] as number)
  }
  return plain
}

function digest(kind: 'md5' | 'sha1', ...parts: Buffer[]): Buffer {
  const hash = createHash(kind)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** 2.3.6.2: forty bits, spread by MD5. */
function openPlain(header: Buffer, password: string): BlockKey | undefined {
  if (header.length < 52) return undefined
  const salt = header.subarray(4, 20)
  const short = digest('md5', Buffer.from(password, 'utf16le')).subarray(0, 5)
  const spread = digest('md5', ...Array.from({ length: 16 }, () => Buffer.concat([short, salt])))
  const base = spread.subarray(0, 5)
  const key: BlockKey = (block, length) => keyStream(digest('md5', base, uint32(block)), length)
  return opens(key, header.subarray(20, 36), header.subarray(36, 52), 'md5') ? key : undefined
}

/** 2.3.5.2: forty to 128 bits, SHA-1. */
function openCrypto(header: Buffer, password: string): BlockKey | undefined {
  if (header.length < 12) return undefined
  const verifier = 12 + header.readUInt32LE(8)
  if (verifier + 60 > header.length || verifier < 32) return undefined
  const keyBits = header.readUInt32LE(12 + 16) || 40
  const salt = header.subarray(verifier + 4, verifier + 20)
  const base = digest('sha1', salt, Buffer.from(password, 'utf16le'))
  const key: BlockKey = (block, length) => {
    const full = digest('sha1', base, uint32(block))
    const bytes = Math.min(16, Math.max(5, keyBits >> 3))
    // forty bits are padded with zeros to 128
    const short = bytes === 5 ? Buffer.concat([full.subarray(0, 5), Buffer.alloc(11)]) : full
    return keyStream(short.subarray(0, bytes === 5 ? 16 : bytes), length)
  }
  const sealed = header.subarray(verifier + 20, verifier + 36)
  const sum = header.subarray(verifier + 40, verifier + 60)
  return opens(key, sealed, sum, 'sha1') ? key : undefined
}

/** Whether the verifier in the header fits its hash under a key. */
function opens(key: BlockKey, verifier: Buffer, sum: Buffer, kind: 'md5' | 'sha1'): boolean {
  const mask = key(0, verifier.length + sum.length)
  const plain = Buffer.concat([verifier, sum]).map((byte, i) => byte ^ (mask[i] as number))
  const hash = digest(kind, Buffer.from(plain.subarray(0, verifier.length)))
  return hash.equals(Buffer.from(plain.subarray(verifier.length)))
}

/** RC4, which OpenSSL 3 no longer has. */
function keyStream(key: Uint8Array, length: number): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i)
  const swap = (a: number, b: number): void => {
    const kept = state[a] as number
    state[a] = state[b] as number
    state[b] = kept
  }
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + (state[i] as number) + (key[i % key.length] as number)) & 255
    swap(i, j)
  }
  const out = Buffer.allocUnsafe(length)
  for (let n = 0, i = 0, j = 0; n < length; n++) {
    i = (i + 1) & 255
    j = (j + (state[i] as number)) & 255
    swap(i, j)
    out[n] = state[((state[i] as number) + (state[j] as number)) & 255] as number
  }
  return out
}
