/** RC4, apart from the reader's own, and Node has none; it seals as it opens. */
export function rc4(key: Uint8Array, bytes: Uint8Array): Buffer {
  const s = Uint8Array.from({ length: 256 }, (_, i) => i)
  const at = (i: number): number => s[i] as number
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + at(i) + (key[i % key.length] as number)) & 255
    ;[s[i], s[j]] = [at(j), at(i)]
  }
  let i = 0
  let j = 0
  return Buffer.from(
    bytes.map((byte) => {
      i = (i + 1) & 255
      j = (j + at(i)) & 255
      ;[s[i], s[j]] = [at(j), at(i)]
      return byte ^ at((at(i) + at(j)) & 255)
    }),
  )
}
