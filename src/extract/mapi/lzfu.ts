/**
 * Compressed RTF of Outlook ([MS-OXRTFCP]): a dictionary of 4 kB that begins with usual RTF.
 *
 * The declared size bounds nothing: output stops at `bytesMax`, and compressed data that ends early gives what it holds.
 */

const BEGINNING =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'
const COMPRESSED = 0x75465a4c
const UNCOMPRESSED = 0x414c454d
const WINDOW = 4_096

/** @returns the RTF, or undefined when the header is not one of compressed RTF */
export function decompressRtf(bytes: Buffer, bytesMax: number): Buffer | undefined {
  if (bytes.length < 16) return undefined
  const kind = bytes.readUInt32LE(8)
  if (kind === UNCOMPRESSED) return bytes.subarray(16, 16 + bytesMax)
  if (kind !== COMPRESSED) return undefined
  const size = Math.min(bytes.readUInt32LE(4), bytesMax, bytes.length * 10)
  const window = Buffer.alloc(WINDOW, 0x20)
  window.write(BEGINNING, 'latin1')
  let write = BEGINNING.length
  const out = Buffer.alloc(size)
  let length = 0
  const put = (byte: number): void => {
    window[write] = byte
    write = (write + 1) % WINDOW
    if (length < size) out[length++] = byte
  }
  let at = 16
  while (at < bytes.length && length < size) {
    const control = bytes[at++] as number
    for (let bit = 0; bit < 8 && at < bytes.length && length < size; bit++) {
      if ((control >> bit) & 1) {
        if (at + 2 > bytes.length) return out.subarray(0, length)
        const reference = bytes.readUInt16BE(at)
        at += 2
        const from = reference >> 4
        if (from === write) return out.subarray(0, length)
        for (let i = 0; i < (reference & 15) + 2; i++) put(window[(from + i) % WINDOW] as number)
      } else put(bytes[at++] as number)
    }
  }
  return out.subarray(0, length)
}
