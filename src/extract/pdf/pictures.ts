/**
 * Whether a PDF holds pictures worth looking at, told from its bytes without decoding any.
 *
 * A picture is a stream of its own, so its dictionary always stands in the file as plain text, encrypted
 * files included (ISO 32000-2, 7.5.7 and 7.6.2). Inline images alone are not seen here.
 */

/** Smallest picture that may hold text worth reading, and pixels of strips that may be one page together. */
const SHORT_SIDE_MIN = 128
const AREA_MIN = 60_000
const STRIPS_AREA_MIN = 500_000
/** How far around its name the size of a picture is looked for. */
const NEAR = 800

export function holdsPictures(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let strips = 0
  for (let at = file.indexOf('/Image'); at !== -1; at = file.indexOf('/Image', at + 6)) {
    if (/[A-Za-z]/.test(String.fromCharCode(file[at + 6] ?? 32))) continue // /ImageMask, /ImageB
    const around = file.toString('latin1', Math.max(0, at - NEAR), at + NEAR)
    const before = around.lastIndexOf('endobj', NEAR)
    const dictionary = around.slice(before + 1).split(/\bstream\b/, 1)[0]!
    const width = Number(/\/Width\s+(\d+)(?!\s+\d+\s+R)/.exec(dictionary)?.[1])
    const height = Number(/\/Height\s+(\d+)(?!\s+\d+\s+R)/.exec(dictionary)?.[1])
    if (!/\/Width/.test(dictionary)) continue // the procedure set [/PDF /Text /Image], a resource's name
    if (Number.isNaN(width) || Number.isNaN(height)) return true
    if (Math.min(width, height) >= SHORT_SIDE_MIN && width * height >= AREA_MIN) return true
    strips += width * height
    if (strips >= STRIPS_AREA_MIN) return true
  }
  return false
}
