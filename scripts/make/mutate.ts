/**
 * Damages documents and mails the way broken programs and hostile people do: inside the structure, so
 * that readers get past the first check. Zip members, XML, PDF objects, MIME boundaries, picture chunks,
 * and plain bytes. The same dice give the same damage.
 */
import JSZip from 'jszip'
import { Budget } from '../../src/extract/budget.js'
import { inflateAll, openZip } from '../../src/extract/zip.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import type { Dice } from './random.js'

const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

const ODD_NUMBERS = ['0', '-1', '1', '65535', '2147483647', '4294967296', '1e999', '99999999999']

/** @returns the damaged bytes; now and then the same ones */
export async function mutate(
  bytes: Uint8Array,
  other: Uint8Array,
  dice: Dice,
): Promise<Uint8Array> {
  let result = bytes
  for (let times = 1 + dice.below(3); times > 0; times--) result = await once(result, other, dice)
  return result
}

async function once(bytes: Uint8Array, other: Uint8Array, dice: Dice): Promise<Uint8Array> {
  if (dice.next() < 0.25) return damageBytes(bytes, other, dice)
  const head = latin(bytes.subarray(0, 8))
  if (head.startsWith('PK\x03\x04')) return damageZip(bytes, other, dice)
  if (head.startsWith('%PDF')) return bytesOf(damagePdf(latin(bytes), dice))
  if (head.startsWith('\x89PNG')) return damagePng(bytes, dice)
  if (head.startsWith('{\\rtf')) return bytesOf(damageRtf(latin(bytes), dice))
  const text = latin(bytes.subarray(0, 2000))
  if (/^[\w-]+:.*\r?\n/.test(text) && /^(content-type|subject|from):/im.test(text))
    return bytesOf(damageMail(latin(bytes), dice))
  if (/^\s*(<\?xml|<!doctype|<html|<svg|<\w)/i.test(text))
    return bytesOf(damageXml(latin(bytes), dice))
  return damageBytes(bytes, other, dice)
}

/** Flips, cuts, repeats, splices, fills. */
function damageBytes(bytes: Uint8Array, other: Uint8Array, dice: Dice): Uint8Array {
  const at = dice.below(bytes.length + 1)
  const length = dice.below(Math.min(4096, bytes.length) + 1)
  switch (dice.below(6)) {
    case 0: {
      const flipped = Uint8Array.from(bytes)
      for (let n = 1 + dice.below(20); n > 0 && flipped.length > 0; n--) {
        const place = dice.below(flipped.length)
        flipped[place] = (flipped[place] as number) ^ (1 << dice.below(8))
      }
      return flipped
    }
    case 1:
      return bytes.slice(0, at)
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        bytes.subarray(Math.min(bytes.length, at + length)),
      ])
    case 3:
      return Buffer.concat([
        bytes.subarray(0, at),
        bytes.subarray(at, at + length),
        bytes.subarray(at),
      ])
    case 4:
      return Buffer.concat([bytes.subarray(0, at), other.subarray(dice.below(other.length + 1))])
    default: {
      const filled = Uint8Array.from(bytes)
      filled.fill(dice.one([0, 0xff, 0x41, 0x20]), at, at + length)
      return filled
    }
  }
}

/** One member damaged, taken out, renamed, doubled, grown; or the directory's numbers forged. */
async function damageZip(bytes: Uint8Array, other: Uint8Array, dice: Dice): Promise<Uint8Array> {
  if (dice.next() < 0.3) return forgeDirectory(bytes, dice)
  const archive = new JSZip()
  try {
    const { entries } = await openZip(bytes, 200)
    const budget = new Budget(DEFAULT_LIMITS, 5000)
    for (const entry of entries) archive.file(entry.name, await inflateAll(entry, budget))
  } catch {
    return damageBytes(bytes, other, dice)
  }
  const names = Object.keys(archive.files).filter((name) => !archive.files[name]?.dir)
  if (names.length === 0) return damageBytes(bytes, other, dice)
  const name = dice.one(names)
  const content = await (archive.file(name) as JSZip.JSZipObject).async('uint8array')
  switch (dice.below(7)) {
    case 0:
      archive.remove(name)
      break
    case 1:
      archive.remove(name)
      archive.file(
        dice.one([`../../${name}`, `/${name}`, name.toUpperCase(), `${name}\u202e`, '']),
        content,
      )
      break
    case 2:
      archive.file(name, other)
      break
    case 3:
      archive.file(
        name,
        Buffer.alloc(dice.below(30_000_000), latin(content.subarray(0, 200)) || 'a'),
      )
      break
    case 4:
      archive.file(`${name}.copy`, content)
      break
    default:
      archive.file(name, bytesOf(damageXml(latin(content), dice)))
  }
  return archive.generateAsync({ type: 'uint8array', compression: 'DEFLATE' })
}

/** Sizes, methods, flags and offsets in local and central headers. */
function forgeDirectory(bytes: Uint8Array, dice: Dice): Uint8Array {
  const forged = Buffer.from(bytes)
  const places: number[] = []
  for (let at = forged.indexOf('PK'); at >= 0; at = forged.indexOf('PK', at + 2)) places.push(at)
  for (let n = 1 + dice.below(3); n > 0; n--) {
    const at = dice.one(places) + 4 + dice.below(40)
    if (at + 4 <= forged.length)
      forged.writeUInt32LE(
        dice.one([0, 1, 0xffff, 0x7fffffff, 0xffffffff, dice.below(2 ** 31)]),
        at,
      )
  }
  return forged
}

function damageXml(text: string, dice: Dice): string {
  const tags = [...text.matchAll(/<[^>]+>/g)]
  const tag = tags.length > 0 ? dice.one(tags) : undefined
  const at = tag?.index ?? dice.below(text.length + 1)
  const [whole = ''] = tag ?? []
  switch (dice.below(9)) {
    case 0:
      return text.slice(0, at) + text.slice(at + whole.length)
    case 1:
      return text.slice(0, at) + whole.repeat(1 + dice.below(3000)) + text.slice(at)
    case 2:
      return text.slice(0, at)
    case 3:
      return `<!DOCTYPE x [<!ENTITY a "${'lol'.repeat(50)}"><!ENTITY b "${'&a;'.repeat(50)}"><!ENTITY c SYSTEM "file:///etc/hostname">]>${text.slice(0, at)}&b;&c;${text.slice(at)}`
    case 4:
      return text.replace(/"\d+"/, `"${dice.one(ODD_NUMBERS)}"`)
    case 5: {
      const numbers = [...text.matchAll(/"\d+"/g)]
      const chosen = numbers.length > 0 ? dice.one(numbers) : undefined
      if (!chosen) return text
      return `${text.slice(0, chosen.index)}"${dice.one(ODD_NUMBERS)}"${text.slice(chosen.index + chosen[0].length)}`
    }
    case 6:
      return (
        text.slice(0, at) +
        dice.one(['&#0;', '&#xD800;', '&#999999999;', ']]>', '<![CDATA[', '<!--', '\0']) +
        text.slice(at)
      )
    case 7:
      return text.slice(0, at) + `<a b="${'x'.repeat(dice.below(200_000))}">` + text.slice(at)
    default:
      return text.replaceAll(/xmlns(:\w+)?="[^"]*"/g, '')
  }
}

function damagePdf(text: string, dice: Dice): string {
  const replaceOne = (pattern: RegExp, by: (found: string) => string): string => {
    const all = [...text.matchAll(pattern)]
    if (all.length === 0) return text
    const found = dice.one(all)
    return text.slice(0, found.index) + by(found[0]) + text.slice(found.index + found[0].length)
  }
  switch (dice.below(8)) {
    case 0:
      return replaceOne(/\d+ 0 R/g, () => `${dice.below(30)} 0 R`)
    case 1:
      return replaceOne(/\/Length \d+/g, () => `/Length ${dice.one(ODD_NUMBERS)}`)
    case 2:
      return replaceOne(/endobj|endstream|stream|xref|trailer|obj/g, () => '')
    case 3:
      return replaceOne(/\b\d+\b/g, () => dice.one(ODD_NUMBERS))
    case 4:
      return replaceOne(/\/(Kids|Parent|Contents|Count|MediaBox|Filter|W|Index|Prev)\b/g, () =>
        dice.one(['/Kids', '/Parent', '/Prev', '/Nothing']),
      )
    case 5:
      return replaceOne(/\/MediaBox ?\[[^\]]*\]/g, () => '/MediaBox [0 0 1e9 1e9]')
    case 6:
      return text.slice(0, dice.below(text.length))
    default:
      return replaceOne(/<<|>>|\[|\]|\(|\)/g, (found) => found.repeat(dice.below(2000)))
  }
}

function damageMail(text: string, dice: Dice): string {
  const lines = text.split('\n')
  const at = dice.below(lines.length)
  const boundary = /boundary="?([^"\s;]+)/i.exec(text)?.[1] ?? 'none'
  switch (dice.below(9)) {
    case 0:
      lines.splice(at, 1)
      break
    case 1:
      lines.splice(at, 0, `--${boundary}${dice.one(['', '--', '-'])}`)
      break
    case 2:
      return text.replaceAll(`--${boundary}--`, '')
    case 3:
      lines.splice(
        at,
        0,
        ...Array.from(
          { length: dice.below(400) },
          (_, i) =>
            `--${boundary}\r\nContent-Type: multipart/mixed; boundary="${boundary}${i}"\r\n\r`,
        ),
      )
      break
    case 4:
      return text.replace(
        /Content-Transfer-Encoding: \w+/i,
        `Content-Transfer-Encoding: ${dice.one(['quoted-printable', 'x-uuencode', 'binary', '7bit', 'nonsense'])}`,
      )
    case 5:
      return text.replace(
        /charset=[^\s;]+/i,
        `charset=${dice.one(['utf-7', 'utf-16', 'iso-2022-jp', 'nonsense', 'shift_jis', '""'])}`,
      )
    case 6:
      lines.splice(
        dice.below(10),
        0,
        `${dice.one(['Subject', 'Date', 'From', 'References', 'Content-Type'])}: ${dice.one(['=?utf-8?B?//8=?=', 'x'.repeat(dice.below(300_000)), '(((((', '"', '<'.repeat(5000), '\0', 'multipart/mixed; boundary=""'])}`,
      )
      break
    case 7:
      return text.slice(0, dice.below(text.length))
    default:
      lines.splice(at, 0, '\u0000\u001b]0;title\u0007\u009b31m')
  }
  return lines.join('\n')
}

function damageRtf(text: string, dice: Dice): string {
  const at = dice.below(text.length)
  const piece = dice.one([
    '{'.repeat(dice.below(5000)),
    '}'.repeat(20),
    '\\bin99999999 ',
    "\\'",
    '\\u-1?',
    '\\uc999999 ',
    '{\\*\\objdata ',
    `\\fs${dice.one(ODD_NUMBERS)} `,
  ])
  return text.slice(0, at) + piece + text.slice(at)
}

/** Length, name or contents of a chunk; width and height among them. */
function damagePng(bytes: Uint8Array, dice: Dice): Uint8Array {
  const damaged = Buffer.from(bytes)
  if (damaged.length < 33) return damaged
  if (dice.next() < 0.5) {
    damaged.writeUInt32BE(dice.one([0, 1, 65_535, 100_000, 0x7fffffff]), 16 + 4 * dice.below(2))
    return damaged
  }
  const chunks: number[] = []
  for (let at = 8; at + 12 <= damaged.length; at += 12 + damaged.readUInt32BE(at)) chunks.push(at)
  damaged.writeUInt32BE(
    dice.one([0, 0xffffffff, 12, 0x41414141]),
    dice.one(chunks) + 4 * dice.below(2),
  )
  return damaged
}
