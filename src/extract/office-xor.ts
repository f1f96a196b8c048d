/**
 * XOR obfuscation of Word and Excel of before 2000 ([MS-OFFCRYPTO] 2.3.7): a mask of 16 bytes made of the
 * password, whose key and check sum the document names. Only passwords that somebody gave are tried, and Excel's own.
 */
import { DEFAULT_PASSWORD } from './office-rc4.js'

/** A password and the key made of it. */
export interface XorKey {
  password: Buffer
  key: number
}

/** Longer passwords are cut. */
const PASSWORD_BYTES = 15

/**
 * @param key of 16 bits, and `sum` the password's check sum, as the document names them
 * @returns what the first password that fits gives
 */
export function openXor(
  key: number,
  sum: number,
  passwords: readonly string[],
): XorKey | undefined {
  for (const text of [...passwords, DEFAULT_PASSWORD]) {
    const password = Buffer.from(text, 'latin1').subarray(0, PASSWORD_BYTES)
    if (password.length > 0 && checkSum(password) === sum && keyOf(password) === key)
      return { password, key }
  }
  return undefined
}

/** A copy of a stream of Word with the mask taken off, 2.3.7.6; zeros, and bytes like the mask's, were left alone. */
export function unmaskWord(stream: Buffer, opened: XorKey): Buffer {
  const mask = maskOf(opened, WORD_TURN)
  return Buffer.from(
    stream.map((byte, at) => {
      const plain = byte ^ (mask[at & 15] as number)
      return byte === 0 || plain === 0 ? byte : plain
    }),
  )
}

/** Takes the mask off a record's content in place, 2.3.7.3. @param end place in the stream behind the record */
export function unmaskRecord(content: Buffer, end: number, opened: XorKey): void {
  const mask = maskOf(opened, EXCEL_TURN)
  for (let i = 0; i < content.length; i++)
    content[i] = turnByte(content[i] as number, 3) ^ (mask[(end + i) & 15] as number)
}

/** Places by which the bytes of the mask are turned left. */
const WORD_TURN = 7
const EXCEL_TURN = 2

/** Fills the password up to the mask's 16 bytes. */
const PAD = Buffer.from('bbffffbaffffb98000be0f00bf0f00', 'hex')

function maskOf({ password, key }: XorKey, turn: number): Buffer {
  const mask = Buffer.concat([password, PAD]).subarray(0, 16)
  return Buffer.from(mask.map((byte, i) => turnByte(byte ^ (i & 1 ? key >> 8 : key & 255), turn)))
}

function turnByte(byte: number, places: number): number {
  return ((byte << places) | (byte >> (8 - places))) & 255
}

function turnWord(word: number, places: number, bits: number): number {
  return ((word << places) | (word >> (bits - places))) & ((1 << bits) - 1)
}

/** 2.3.7.2: bits of the password pick among steps of a shift register. */
function keyOf(password: Buffer): number {
  const step = (register: number): number => {
    const turned = turnWord(register, 1, 16)
    return turned & 1 ? turned ^ 0x1020 : turned
  }
  let key = 0
  let picked = 0x8000
  let last = 0xffff
  for (const byte of Buffer.from(password).reverse())
    for (let bit = 0; bit < 8; bit++) {
      picked = step(picked)
      last = step(last)
      if (bit < 7 && (byte >> bit) & 1) key ^= picked
    }
  return key ^ last
}

/** 2.3.7.1 */
function checkSum(password: Buffer): number {
  let sum = password.length ^ 0xce4b
  password.forEach((byte, i) => {
    sum ^= turnWord(byte, (i + 1) % 15, 15)
  })
  return sum
}
