/**
 * Johab (code page 1361), the Korean encoding that writes each syllable by its three letters in five bits each
 * (KS X 1001:1992, annex 3). Signs and Chinese characters stand in the order of KS X 1001, as EUC-KR has them.
 */
const EUC_KR = new TextDecoder('euc-kr')

/** Of the 32 values of five bits: which letter it is, -1 for none, 0 for the first. */
const INITIALS = letters([[2, 20]])
const MEDIALS = letters([
  [3, 7],
  [10, 15],
  [18, 23],
  [26, 29],
])
const FINALS = letters([
  [1, 17],
  [19, 29],
])

function letters(ranges: ReadonlyArray<readonly [from: number, to: number]>): number[] {
  const all = new Array<number>(32).fill(-1)
  let next = 0
  for (const [from, to] of ranges) for (let code = from; code <= to; code++) all[code] = next++
  return all
}

/** Decodes bytes in Johab; what it has no character for is U+FFFD. Single letters (jamo) are too. */
export function decodeJohab(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] as number
    if (lead < 0x80) text += String.fromCharCode(lead)
    else if (at + 1 === bytes.length) text += '\ufffd'
    else text += character(lead, bytes[++at] as number)
  }
  return text
}

function character(lead: number, trail: number): string {
  if (lead <= 0xd3) {
    const code = (lead << 8) | trail
    const initial = INITIALS[(code >> 10) & 31] as number
    const medial = MEDIALS[(code >> 5) & 31] as number
    const final = FINALS[code & 31] as number
    if (initial < 0 || medial < 0 || final < 0) return '\ufffd'
    return String.fromCharCode(0xac00 + (initial * 21 + medial) * 28 + final)
  }
  // two rows of 94 under each lead byte
  const first = lead >= 0xe0 ? 2 * (lead - 0xe0) + 0x4a : 2 * (lead - 0xd9) + 0x21
  const column = trail < 0x91 ? trail - 0x31 : trail - 0x43
  const row = first + (column < 94 ? 0 : 1)
  if (column < 0 || column > 187 || row < 0x21 || row > 0x7d) return '\ufffd'
  return EUC_KR.decode(Uint8Array.of(row | 0x80, ((column % 94) + 0x21) | 0x80))
}
