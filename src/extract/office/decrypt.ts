/**
 * Decrypts Office packages with a known password: agile and standard encryption ([MS-OFFCRYPTO] 2.3.4).
 * Not responsible for which passwords are tried. The binary formats' own encryption is not read here.
 */
import { createDecipheriv, createHash } from 'node:crypto'
import { decodeEntities } from '../xml.js'

/** Rounds of hashing a file may ask for; programs write 100,000. The format allows ten million. */
const SPIN_MAX = 1_000_000
/** Rounds between two looks at the clock. */
const SPIN_STEP = 10_000
const SEGMENT = 4_096

const HASHES: Record<string, string> = {
  SHA1: 'sha1',
  'SHA-1': 'sha1',
  SHA256: 'sha256',
  SHA384: 'sha384',
  SHA512: 'sha512',
  MD5: 'md5',
}

/** Tries one password: the package's bytes, or undefined when it is another one. */
export type Unlock = (password: string) => Buffer | undefined

/**
 * Reads how a package is encrypted.
 *
 * @param info the stream EncryptionInfo
 * @param encrypted the stream EncryptedPackage
 * @param checkTime called now and then; throws when the time is over
 * @returns undefined for a kind of encryption that is not read
 */
export function unlocker(
  info: Buffer,
  encrypted: Buffer,
  checkTime: () => void,
): Unlock | undefined {
  if (info.length < 8 || encrypted.length < 8) return undefined
  const [major, minor] = [info.readUInt16LE(0), info.readUInt16LE(2)]
  if (major === 4 && minor === 4) return agile(info.toString('utf8', 8), encrypted, checkTime)
  if (minor === 2 && major >= 2 && major <= 4) return standard(info, encrypted, checkTime)
  return undefined
}

/** Bytes as stored: a length, then whole blocks. */
function cutToLength(encrypted: Buffer, plain: Buffer): Buffer {
  return plain.subarray(0, Math.min(plain.length, Number(encrypted.readBigUInt64LE(0))))
}

interface AgileKey {
  salt: Buffer
  blockSize: number
  keyBytes: number
  hash: string
  attributes: Record<string, string>
}

/** Blocks that a derived key is made for ([MS-OFFCRYPTO] 2.3.4.13). */
const FOR_VERIFIER_INPUT = Buffer.from('fea7d2763b4b9e79', 'hex')
const FOR_VERIFIER_VALUE = Buffer.from('d7aa0f6d3061344e', 'hex')
const FOR_KEY = Buffer.from('146e0be7abacd0d6', 'hex')

function agile(xml: string, encrypted: Buffer, checkTime: () => void): Unlock | undefined {
  const data = agileKey(xml, 'keyData')
  const own = agileKey(xml, 'encryptedKey')
  if (!data || !own) return undefined
  const spin = Number(own.attributes.spinCount)
  if (!(spin >= 0 && spin <= SPIN_MAX)) return undefined
  const value = (name: string): Buffer => Buffer.from(own.attributes[name] ?? '', 'base64')

  return (password) => {
    const spun = spinHash(own.hash, own.salt, password, spin, checkTime)
    const open = (block: Buffer, content: Buffer): Buffer =>
      decipher(
        sized(digest(own.hash, spun, block), own.keyBytes, 0x36),
        sized(own.salt, own.blockSize, 0x36),
        content,
      )
    const input = open(FOR_VERIFIER_INPUT, value('encryptedVerifierHashInput'))
    const expected = open(FOR_VERIFIER_VALUE, value('encryptedVerifierHashValue'))
    const given = digest(own.hash, input.subarray(0, own.salt.length))
    if (given.length === 0 || !expected.subarray(0, given.length).equals(given)) return undefined

    const key = open(FOR_KEY, value('encryptedKeyValue')).subarray(0, data.keyBytes)
    const pieces: Buffer[] = []
    for (let at = 8, segment = 0; at < encrypted.length; at += SEGMENT, segment++) {
      const counter = Buffer.alloc(4)
      counter.writeUInt32LE(segment)
      const iv = sized(digest(data.hash, data.salt, counter), data.blockSize, 0x36)
      pieces.push(decipher(key, iv, encrypted.subarray(at, at + SEGMENT)))
    }
    return cutToLength(encrypted, Buffer.concat(pieces))
  }
}

function agileKey(xml: string, element: string): AgileKey | undefined {
  const tag = new RegExp(`<(?:\\w+:)?${element}\\b([^>]*)>`).exec(xml)?.[1]
  if (tag === undefined) return undefined
  const attributes: Record<string, string> = {}
  for (const [, name = '', text = ''] of tag.matchAll(/([\w:]+)\s*=\s*"([^"]*)"/g))
    attributes[name] = decodeEntities(text)
  const named = attributes.hashAlgorithm ?? ''
  const hash = Object.hasOwn(HASHES, named) ? HASHES[named] : undefined
  const keyBits = Number(attributes.keyBits)
  if (
    !hash ||
    attributes.cipherAlgorithm !== 'AES' ||
    attributes.cipherChaining !== 'ChainingModeCBC'
  )
    return undefined
  if (![128, 192, 256].includes(keyBits) || attributes.blockSize !== '16') return undefined
  return {
    salt: Buffer.from(attributes.saltValue ?? '', 'base64'),
    blockSize: 16,
    keyBytes: keyBits / 8,
    hash,
    attributes,
  }
}

/** AES in ECB with a key made by SHA-1 in 50,000 rounds ([MS-OFFCRYPTO] 2.3.4.7). */
function standard(info: Buffer, encrypted: Buffer, checkTime: () => void): Unlock | undefined {
  const headerBytes = info.readUInt32LE(8)
  const verifier = 12 + headerBytes
  if (headerBytes < 32 || verifier + 40 > info.length) return undefined
  const algorithm = info.readUInt32LE(12 + 8)
  const keyBits = info.readUInt32LE(12 + 16)
  if (algorithm < 0x660e || algorithm > 0x6610 || ![128, 192, 256].includes(keyBits))
    return undefined
  const salt = info.subarray(verifier + 4, verifier + 20)
  const input = info.subarray(verifier + 20, verifier + 36)
  const value = info.subarray(verifier + 40)

  return (password) => {
    const spun = spinHash('sha1', salt, password, 50_000, checkTime)
    const last = digest('sha1', spun, Buffer.alloc(4))
    const half = (pad: number): Buffer => {
      const block = Buffer.alloc(64, pad)
      for (let i = 0; i < last.length; i++) block[i] = (block[i] as number) ^ (last[i] as number)
      return digest('sha1', block)
    }
    const key = Buffer.concat([half(0x36), half(0x5c)]).subarray(0, keyBits / 8)
    const given = digest('sha1', decipher(key, undefined, input))
    if (!decipher(key, undefined, value).subarray(0, 20).equals(given)) return undefined
    return cutToLength(encrypted, decipher(key, undefined, encrypted.subarray(8)))
  }
}

function spinHash(
  hash: string,
  salt: Buffer,
  password: string,
  spin: number,
  checkTime: () => void,
): Buffer {
  let spun = digest(hash, salt, Buffer.from(password, 'utf16le'))
  const counter = Buffer.alloc(4)
  for (let i = 0; i < spin; i++) {
    if (i % SPIN_STEP === 0) checkTime()
    counter.writeUInt32LE(i)
    spun = createHash(hash).update(counter).update(spun).digest()
  }
  return spun
}

function digest(hash: string, ...parts: Buffer[]): Buffer {
  const sum = createHash(hash)
  for (const part of parts) sum.update(part)
  return sum.digest()
}

/** Cut or filled up to a length. */
function sized(bytes: Buffer, length: number, fill: number): Buffer {
  return bytes.length >= length
    ? bytes.subarray(0, length)
    : Buffer.concat([bytes, Buffer.alloc(length - bytes.length, fill)])
}

/** AES without padding over the whole blocks there are; CBC with an iv, ECB without. */
function decipher(key: Buffer, iv: Buffer | undefined, content: Buffer): Buffer {
  const whole = content.subarray(0, content.length - (content.length % 16))
  const cipher = createDecipheriv(
    `aes-${key.length * 8}-${iv ? 'cbc' : 'ecb'}`,
    key,
    iv ?? null,
  ).setAutoPadding(false)
  return Buffer.concat([cipher.update(whole), cipher.final()])
}
