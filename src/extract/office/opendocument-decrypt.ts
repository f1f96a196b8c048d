/**
 * Decrypts the members of an OpenDocument package with a known password (OpenDocument 1.3, part 2, 4.8):
 * AES in CBC with a key by PBKDF2. Blowfish and Argon2id are not in Node and stay locked.
 */
import { createDecipheriv, createHash, pbkdf2Sync } from 'node:crypto'
import type { ZipEntry } from '../zip.js'
import type { XmlHandler, XmlScanner } from '../xml.js'

interface Encryption {
  size: number
  checksumType: string
  checksum: Buffer
  algorithm: string
  vector: Buffer
  salt: Buffer
  iterations: number
  keyBytes: number
  startHash: string
}

/** Rounds that a file may ask for; programs write 100,000. */
const ITERATIONS_MAX = 2_000_000

/** Collects how each member is encrypted, from META-INF/manifest.xml. */
export class ManifestHandler implements XmlHandler {
  readonly encrypted = new Map<string, Encryption>()
  /** The key of the document lies there encrypted to OpenPGP keys: no password opens it. */
  needsOpenPgp = false
  #path = ''
  #size = 0

  open(name: string, xml: XmlScanner): void {
    const bytes = (attribute: string): Buffer =>
      Buffer.from(xml.attribute(attribute) ?? '', 'base64')
    const last = this.encrypted.get(this.#path)
    switch (name) {
      case 'file-entry':
        this.#path = xml.attribute('full-path') ?? ''
        this.#size = Number(xml.attribute('size')) || 0
        return
      case 'encryption-data':
        this.encrypted.set(this.#path, {
          size: this.#size,
          checksumType: xml.attribute('checksum-type') ?? '',
          checksum: bytes('checksum'),
          algorithm: '',
          vector: Buffer.alloc(0),
          salt: Buffer.alloc(0),
          iterations: 0,
          keyBytes: 16,
          startHash: 'sha1',
        })
        return
      case 'algorithm':
        if (!last) return
        last.algorithm = xml.attribute('algorithm-name') ?? ''
        last.vector = bytes('initialisation-vector')
        return
      case 'key-derivation':
        if (!last) return
        if (!/PBKDF2/i.test(xml.attribute('key-derivation-name') ?? '')) last.algorithm = ''
        last.salt = bytes('salt')
        last.iterations = Number(xml.attribute('iteration-count')) || 0
        last.keyBytes = Number(xml.attribute('key-size')) || 16
        return
      case 'start-key-generation':
        if (last && /sha256/i.test(xml.attribute('start-key-generation-name') ?? ''))
          last.startHash = 'sha256'
        return
      case 'PGPData':
        this.needsOpenPgp = true
        return
      default:
    }
  }

  close(): void {}
  text(): void {}
}

/** The member's compressed bytes, or undefined when the password is another one or the way is not read. */
function decryptMember(
  encryption: Encryption,
  content: Uint8Array,
  password: string,
): Buffer | undefined {
  const { algorithm, vector, salt, iterations, keyBytes, startHash, checksumType, checksum } =
    encryption
  const bits = /#aes(128|192|256)-cbc$/.exec(algorithm)?.[1]
  if (bits === undefined || keyBytes * 8 !== Number(bits) || vector.length !== 16) return undefined
  if (
    iterations < 1 ||
    iterations > ITERATIONS_MAX ||
    content.length === 0 ||
    content.length % 16 > 0
  )
    return undefined
  const start = createHash(startHash).update(password, 'utf8').digest()
  const key = pbkdf2Sync(start, salt, iterations, keyBytes, 'sha1')
  const cipher = createDecipheriv(`aes-${bits}-cbc`, key, vector).setAutoPadding(false)
  const padded = Buffer.concat([cipher.update(content), cipher.final()])
  const padding = padded[padded.length - 1] as number
  if (padding < 1 || padding > 16) return undefined
  const plain = padded.subarray(0, padded.length - padding)
  const hash = /sha256/i.test(checksumType) ? 'sha256' : 'sha1'
  const given = createHash(hash)
    .update(/1k$/i.test(checksumType) ? plain.subarray(0, 1024) : plain)
    .digest()
  return given.equals(checksum) ? plain : undefined
}

/**
 * Decrypts the members that hold text or pictures, in place.
 *
 * @param checkTime called between members; throws when the time is over
 * @returns whether one of the passwords opened the document
 */
export function decryptMembers(
  { encrypted }: ManifestHandler,
  member: (name: string) => ZipEntry | undefined,
  passwords: readonly string[],
  checkTime: () => void,
): boolean {
  let password: string | undefined
  const names = [...encrypted.keys()].filter((name) =>
    /(?:^|\/)(?:content|styles|meta)\.xml$|^Pictures\/|^Object/.test(name),
  )
  names.sort((one, other) => Number(other === 'content.xml') - Number(one === 'content.xml'))
  for (const name of names) {
    const entry = member(name)
    const encryption = encrypted.get(name)
    if (!entry?.raw || !encryption) continue
    let plain: Buffer | undefined
    for (const candidate of password === undefined ? passwords : [password]) {
      checkTime()
      plain = decryptMember(encryption, entry.raw, candidate)
      if (!plain) continue
      password = candidate
      break
    }
    if (!plain && password === undefined) return false
    entry.raw = plain
    entry.method = 8
    entry.declaredSize = encryption.size
  }
  return password !== undefined
}
