/**
 * RTF as Outlook and TNEF store it: LZFu compression (MS-OXRTFCP), bounded by what is asked for.
 */

/** What every window begins with, MS-OXRTFCP section 2.2.2.1. */
const PREFIX =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript ' +
  '\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par ' +
  '\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'
const COMPRESSED = 0x75465a4c
const UNCOMPRESSED = 0x414c454d

/**
 * Decompresses a PidTagRtfCompressed value. A damaged stream gives what was read up to the damage.
 *
 * @param most bytes of RTF at most
 * @returns undefined when the bytes are no such value
 */
export function decompressRtf(bytes: Uint8Array, most = 25_000_000): Buffer | undefined {
  const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (input.length < 16) return undefined
  const rawSize = Math.min(input.readUInt32LE(4), most)
  const kind = input.readUInt32LE(8)
  if (kind === UNCOMPRESSED) return input.subarray(16, 16 + rawSize)
  if (kind !== COMPRESSED) return undefined
  const window = Buffer.alloc(4096)
  let write = window.write(PREFIX, 'latin1')
  // A back reference is two bytes and gives 17 at most.
  const out = Buffer.alloc(Math.min(rawSize, (input.length - 16) * 9))
  let length = 0
  const put = (byte: number): void => {
    out[length++] = byte
    window[write] = byte
    write = (write + 1) & 4095
  }
  let at = 16
  while (at < input.length && length < out.length) {
    const control = input[at++] as number
    for (let bit = 0; bit < 8 && at < input.length && length < out.length; bit++) {
      if (((control >> bit) & 1) === 0) {
        put(input[at++] as number)
        continue
      }
      const pair = ((input[at] as number) << 8) | (input[at + 1] ?? 0)
      at += 2
      let from = pair >> 4
      if (from === write) return out.subarray(0, length)
      for (let left = (pair & 15) + 2; left > 0 && length < out.length; left--) {
        put(window[from] as number)
        from = (from + 1) & 4095
      }
    }
  }
  return out.subarray(0, length)
}
