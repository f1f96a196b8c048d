/**
 * Writes small PDFs for the sample vault and the fixtures: text in Helvetica, pictures that fill a page,
 * and the old 128-bit encryption with a password.
 *
 * Format: ISO 32000-2; encryption revision 3, 7.6.4 (algorithms 2, 3 and 5).
 */
import { createHash } from 'node:crypto'
import { rc4 } from './rc4.js'

/** Lines of text (WinAnsi characters only), or a JPEG that fills the page. */
export type PdfPage = string[] | { jpeg: Uint8Array; width: number; height: number; grey?: boolean }

export interface PdfOptions {
  title?: string
  /** Encrypts the document; a reader needs this to open it. */
  password?: string
}

const md5 = (...pieces: Uint8Array[]): Buffer => {
  const hash = createHash('md5')
  for (const piece of pieces) hash.update(piece)
  return hash.digest()
}

const PADDING = Buffer.from(
  '28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a',
  'hex',
)
const padded = (password: string): Buffer =>
  Buffer.concat([Buffer.from(password, 'latin1'), PADDING]).subarray(0, 32)

const NUMBERS = Array.from({ length: 20 }, (_, i) => i)

function encryption(password: string, id: Buffer): { key: Buffer; dictionary: string } {
  let ownerKey = md5(padded(password))
  for (let i = 0; i < 50; i++) ownerKey = md5(ownerKey)
  const twenty = (key: Buffer, start: Buffer): Buffer =>
    NUMBERS.reduce((bytes, i) => rc4(Buffer.from(key.map((byte) => byte ^ i)), bytes), start)
  const owner = twenty(ownerKey, padded(password))
  const permissions = Buffer.from([0xfc, 0xff, 0xff, 0xff])
  let key = md5(padded(password), owner, permissions, id)
  for (let i = 0; i < 50; i++) key = md5(key)
  const user = Buffer.concat([twenty(key, md5(PADDING, id)), Buffer.alloc(16)])
  return {
    key,
    dictionary: `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${owner.toString('hex')}> /U <${user.toString('hex')}> >>`,
  }
}

const literal = (text: string): string => `(${text.replace(/[\\()]/g, '\\$&')})`

/** @returns the bytes of the document; the same arguments give the same bytes */
export function pdf(pages: PdfPage[], options: PdfOptions = {}): Uint8Array {
  const id = md5(
    Buffer.from(JSON.stringify([pages.length, options.title ?? '', options.password ?? ''])),
  )
  const secret = options.password === undefined ? undefined : encryption(options.password, id)
  const objects: Uint8Array[] = []
  const add = (body: string, stream?: Uint8Array): number => {
    const number = objects.length + 1
    let bytes: Uint8Array | undefined = stream
    if (bytes && secret) {
      const salt = Buffer.from([number & 255, number >> 8, 0, 0, 0])
      bytes = rc4(md5(secret.key, salt).subarray(0, 16), bytes)
    }
    const text = bytes ? body.replace('>>', `/Length ${bytes.length} >>`) : body
    objects.push(
      Buffer.concat([
        Buffer.from(`${number} 0 obj\n${text}\n`, 'latin1'),
        ...(bytes ? [Buffer.from('stream\n'), bytes, Buffer.from('\nendstream\n')] : []),
        Buffer.from('endobj\n'),
      ]),
    )
    return number
  }

  add('<< /Type /Catalog /Pages 2 0 R >>')
  const pagesAt = objects.push(Buffer.alloc(0)) - 1
  const font = add(
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  )
  const kids = pages.map((page) => {
    if (Array.isArray(page)) {
      const shown = page.map((line) => `${literal(line)} Tj T*`).join('\n')
      const content = add(
        '<< >>',
        Buffer.from(`BT /F1 11 Tf 16 TL 56 780 Td\n${shown}\nET`, 'latin1'),
      )
      return add(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 ${font} 0 R >> >> /Contents ${content} 0 R >>`,
      )
    }
    const { jpeg, width, height, grey = true } = page
    const image = add(
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /Device${grey ? 'Gray' : 'RGB'} /BitsPerComponent 8 /Filter /DCTDecode >>`,
      jpeg,
    )
    const [w, h] = [595, Math.round((595 * height) / width)]
    const content = add('<< >>', Buffer.from(`q ${w} 0 0 ${h} 0 0 cm /Im1 Do Q`, 'latin1'))
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${w} ${h}] /Resources << /XObject << /Im1 ${image} 0 R >> >> /Contents ${content} 0 R >>`,
    )
  })
  objects[pagesAt] = Buffer.from(
    `2 0 obj\n<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((k) => `${k} 0 R`).join(' ')}] >>\nendobj\n`,
  )
  const info = options.title && !secret ? add(`<< /Title ${literal(options.title)} >>`) : 0
  const guard = secret ? add(secret.dictionary) : 0

  const parts: Uint8Array[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  let offset = (parts[0] as Uint8Array).length
  const offsets = objects.map((object) => {
    const at = offset
    parts.push(object)
    offset += object.length
    return at
  })
  const rows = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const hex = id.toString('hex')
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /ID [<${hex}> <${hex}>]${info ? ` /Info ${info} 0 R` : ''}${guard ? ` /Encrypt ${guard} 0 R` : ''} >>\nstartxref\n${offset}\n%%EOF\n`,
    ),
  )
  return new Uint8Array(Buffer.concat(parts))
}
