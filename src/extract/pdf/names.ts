/**
 * Whether a key stands anywhere in a PDF, told from its bytes: pdf.js is not asked for what is not there, each question being
 * a hundredth of a small document's time. In a large file looking costs more than asking.
 *
 * Dictionaries are plain text, in encrypted files too, but where objects are packed into streams (ISO 32000-2, 7.5.7). Keys
 * spelled with numbers (/Annot#73) are not seen; nothing writes them.
 */
export function namesHeld(bytes: Uint8Array): (name: string) => boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isAsked =
    file.length > LOOKED_BYTES_MAX || file.includes('/ObjStm') || file.includes('/XRef')
  return (name) => isAsked || file.includes(name)
}
const LOOKED_BYTES_MAX = 200_000
