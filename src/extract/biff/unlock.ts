/**
 * Workbooks of Excel 5 to 2003 under a password ([MS-XLS] 2.2.10 and 2.4.117): their stream in the clear. The ciphers
 * are those of all Office files of before 2007: office-rc4.ts and office-xor.ts.
 */
import { Declined } from '../extractor.js'
import { decryptStream, openRc4 } from '../office-rc4.js'
import { openXor, unmaskRecord } from '../office-xor.js'
import { records } from './records.js'

const FILE_PASS = 0x2f
const BOUND_SHEET = 0x85
/** Records that stay in the clear in an encrypted stream, [MS-XLS] 2.2.10; of sheets the first four bytes. */
const IN_THE_CLEAR = new Set([0x809, FILE_PASS, 0xe1, 0x194, 0x195, 0x196, 0x138])

/** The stream in the clear. @throws {Declined} `locked` when no password opens it */
export function unlocked(stream: Buffer, passwords: readonly string[]): Buffer {
  let header: Buffer | undefined
  let looked = 0
  for (const { id, parts } of records(stream)) {
    if (id === FILE_PASS) header = parts[0]
    // it stands among the first
    if (header || ++looked > 20) break
  }
  if (!header) return stream
  const plain =
    header.length <= XOR_BYTES
      ? unmasked(stream, header, passwords)
      : decrypted(stream, header, passwords)
  if (!plain) throw new Declined('locked', 'password needed')
  for (let at = 0; at + 4 <= stream.length;) {
    const id = stream.readUInt16LE(at)
    const end = at + 4 + stream.readUInt16LE(at + 2)
    const clear = IN_THE_CLEAR.has(id) ? end : id === BOUND_SHEET ? at + 8 : at + 4
    stream.copy(plain, at, at, Math.min(clear, stream.length))
    at = end
  }
  return plain
}

/** Bytes of the record that names the XOR method: a first word of 0 from BIFF 8 on, the key, the check sum. */
const XOR_BYTES = 6

function unmasked(
  stream: Buffer,
  header: Buffer,
  passwords: readonly string[],
): Buffer | undefined {
  if (header.length < 4) return undefined
  const opened = openXor(
    header.readUInt16LE(header.length - 4),
    header.readUInt16LE(header.length - 2),
    passwords,
  )
  if (!opened) return undefined
  const plain = Buffer.from(stream)
  for (let at = 0; at + 4 <= stream.length;) {
    const end = at + 4 + stream.readUInt16LE(at + 2)
    unmaskRecord(plain.subarray(at + 4, end), end, opened)
    at = end
  }
  return plain
}

function decrypted(
  stream: Buffer,
  header: Buffer,
  passwords: readonly string[],
): Buffer | undefined {
  const key = header.readUInt16LE(0) === 1 ? openRc4(header.subarray(2), passwords) : undefined
  return key && decryptStream(stream, key, 1_024)
}
