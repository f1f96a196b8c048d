/**
 * Which pictures a PDF holds, told from its bytes without decoding any.
 *
 * A picture is a stream of its own, so its dictionary always stands in the file as plain text, encrypted
 * files included (ISO 32000-2, 7.5.7 and 7.6.2). Inline images alone are not seen here.
 */

/** Smallest picture that may hold text worth reading, and pixels of strips that may be one page together. */
const SHORT_SIDE_MIN = 128
const AREA_MIN = 60_000
const STRIPS_AREA_MIN = 500_000
/** Pictures looked at; a file with more of them is said to hold some. */
const LOOKED = 20_000
/** How far around its name the size of a picture is looked for. */
const NEAR = 800

export interface PicturesHeld {
  /** Whether any is worth looking at. */
  any: boolean
  /** Pixels of the largest. */
  pixelsMax: number
}

export function picturesHeld(bytes: Uint8Array): PicturesHeld {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const held: PicturesHeld = { any: false, pixelsMax: 0 }
  let strips = 0
  let looked = 0
  for (let at = file.indexOf('/Image'); at !== -1; at = file.indexOf('/Image', at + 6)) {
    if (/[A-Za-z]/.test(String.fromCharCode(file[at + 6] ?? 32))) continue // /ImageMask, /ImageB
    if (++looked > LOOKED) {
      held.any = true
      break
    }
    const around = file.toString('latin1', Math.max(0, at - NEAR), at + NEAR)
    const before = around.lastIndexOf('endobj', Math.min(at, NEAR))
    const dictionary = around.slice(before + 1).split(/\bstream\b/, 1)[0]!
    if (!/\/Width/.test(dictionary)) continue // the procedure set [/PDF /Text /Image], a resource's name
    const side = (name: string): number =>
      Number(new RegExp(`/${name}\\s+(\\d+)(?!\\s+\\d+\\s+R)`).exec(dictionary)?.[1])
    const [width, height] = [side('Width'), side('Height')]
    if (Number.isNaN(width) || Number.isNaN(height)) {
      held.any = true // stated elsewhere
      continue
    }
    held.pixelsMax = Math.max(held.pixelsMax, width * height)
    strips += width * height
    if (Math.min(width, height) >= SHORT_SIDE_MIN && width * height >= AREA_MIN) held.any = true
  }
  if (strips >= STRIPS_AREA_MIN) held.any = true
  return held
}
