/**
 * Writes PDFs object by object, for fixtures that need more than scripts/make/pdf.ts offers: fonts
 * with wrong maps, pictures beside text, form fields, attachments.
 *
 * Format: ISO 32000-2, 7.5 (file structure).
 */

/** One object: its dictionary or value, and its stream. Refer to others as `${number} 0 R`. */
export interface PdfObject {
  body: string
  stream?: Uint8Array
}

export class PdfObjects {
  readonly #objects: PdfObject[] = []

  /** @returns the object's number, from 1 */
  add(body: string, stream?: Uint8Array | string): number {
    const bytes = typeof stream === 'string' ? Buffer.from(stream, 'latin1') : stream
    this.#objects.push(bytes ? { body, stream: bytes } : { body })
    return this.#objects.length
  }

  /** Sets the body of an object that had to be numbered before it could be written. */
  set(number: number, body: string): void {
    this.#objects[number - 1] = { body }
  }

  /** @param trailer entries beside /Size */
  bytes(trailer: string): Uint8Array {
    const parts = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
    let offset = parts[0]!.length
    const rows = this.#objects.map(({ body, stream }, i) => {
      const text = stream ? body.replace(/>>$/, `/Length ${stream.length} >>`) : body
      const object = Buffer.concat([
        Buffer.from(`${i + 1} 0 obj\n${text}\n`, 'latin1'),
        ...(stream ? [Buffer.from('stream\n'), stream, Buffer.from('\nendstream\n')] : []),
        Buffer.from('endobj\n'),
      ])
      const row = `${String(offset).padStart(10, '0')} 00000 n \n`
      parts.push(object)
      offset += object.length
      return row
    })
    parts.push(
      Buffer.from(
        `xref\n0 ${rows.length + 1}\n0000000000 65535 f \n${rows.join('')}trailer\n` +
          `<< /Size ${rows.length + 1} ${trailer} >>\nstartxref\n${offset}\n%%EOF\n`,
      ),
    )
    return new Uint8Array(Buffer.concat(parts))
  }
}

/**
 * Another revision behind a file, as programs write what was changed (ISO 32000-2, 7.5.6).
 *
 * @param objects by number: new ones, and those that take the place of old ones
 * @param trailer entries beside /Size and /Prev
 */
export function revised(
  file: Uint8Array,
  objects: Readonly<Record<number, PdfObject>>,
  trailer: string,
): Uint8Array {
  const before = Buffer.from(file).toString('latin1')
  let all = before
  let table = ''
  for (const [number, { body, stream }] of Object.entries(objects)) {
    table += `${number} 1\n${String(all.length).padStart(10, '0')} 00000 n \n`
    const content = stream && Buffer.from(stream).toString('latin1')
    const dictionary =
      content === undefined ? body : body.replace(/>>$/, `/Length ${content.length} >>`)
    all += `${number} 0 obj\n${dictionary}\n`
    if (content !== undefined) all += `stream\n${content}\nendstream\n`
    all += 'endobj\n'
  }
  const size = Math.max(...Object.keys(objects).map(Number), ...sizes(before)) + 1
  all +=
    `xref\n${table}trailer\n<< /Size ${size} /Prev ${before.lastIndexOf('xref\n', before.lastIndexOf('trailer'))} ${trailer} >>\n` +
    `startxref\n${all.length}\n%%EOF\n`
  return new Uint8Array(Buffer.from(all, 'latin1'))
}

const sizes = (file: string): number[] =>
  [...file.matchAll(/\/Size (\d+)/g)].map(([, size]) => Number(size) - 1)

/** A literal string of the file, Latin-1. */
export const literal = (text: string): string => `(${text.replace(/[\\()]/g, '\\$&')})`

/** A text string outside Latin-1: UTF-16 with its mark, in hexadecimal. */
export const utf16 = (text: string): string =>
  `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`

export interface PageParts {
  /** Content stream. */
  content: string
  /** Names to object numbers. */
  fonts?: Record<string, number>
  images?: Record<string, number>
  annotations?: number[]
  /** Entries of the page's dictionary beside the usual ones. */
  more?: string
}

/** A whole document of A4 pages. `make` may add objects before the pages are written. */
export function document(
  make: (objects: PdfObjects) => {
    pages: PageParts[]
    catalog?: string
    info?: string
    /** Of the trailer; none by default. */
    id?: string
  },
): Uint8Array {
  const objects = new PdfObjects()
  const catalog = objects.add('')
  const tree = objects.add('')
  const { pages, catalog: more = '', info, id } = make(objects)
  const names = (of: Record<string, number> = {}): string =>
    Object.entries(of)
      .map(([name, number]) => `/${name} ${number} 0 R`)
      .join(' ')
  const kids = pages.map(({ content, fonts, images, annotations = [], more: entries = '' }) => {
    const stream = objects.add('<< >>', content)
    return objects.add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 595 842] /Contents ${stream} 0 R ` +
        `/Resources << /Font << ${names(fonts)} >> /XObject << ${names(images)} >> >> ` +
        `/Annots [${annotations.map((number) => `${number} 0 R`).join(' ')}] ${entries} >>`,
    )
  })
  objects.set(catalog, `<< /Type /Catalog /Pages ${tree} 0 R ${more} >>`)
  objects.set(
    tree,
    `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((k) => `${k} 0 R`).join(' ')}] >>`,
  )
  const about = info ? `/Info ${objects.add(info)} 0 R` : ''
  const named = id ? ` /ID [(${id}) (${id})]` : ''
  return objects.bytes(`/Root ${catalog} 0 R ${about}${named}`)
}

/** Helvetica, never embedded. */
export const helvetica = (objects: PdfObjects, toUnicode?: number): number =>
  objects.add(
    `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding ` +
      `${toUnicode ? `/ToUnicode ${toUnicode} 0 R` : ''} >>`,
  )

/** A ToUnicode map of single bytes (ISO 32000-2, 9.10.3). */
export function toUnicode(objects: PdfObjects, map: Record<number, string>): number {
  const rows = Object.entries(map).map(
    ([code, text]) =>
      `<${Number(code).toString(16).padStart(2, '0')}> <${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`,
  )
  const blocks: string[] = []
  for (let at = 0; at < rows.length; at += 100) {
    const block = rows.slice(at, at + 100)
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`)
  }
  return objects.add(
    '<< >>',
    `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Own def /CMapType 2 def\n` +
      `1 begincodespacerange <00> <ff> endcodespacerange\n${blocks.join('\n')}\nendcmap end end`,
  )
}

/** Lines of text from the top left, as one content stream. */
export const lines = (text: readonly string[], font = 'F1', size = 12, y = 780): string =>
  `BT /${font} ${size} Tf ${size * 1.4} TL 56 ${y} Td\n${text.map((line) => `${literal(line)} Tj T*`).join('\n')}\nET\n`

/** A grey JPEG as an image of the page. */
export const greyJpeg = (
  objects: PdfObjects,
  { jpeg, width, height }: { jpeg: Uint8Array; width: number; height: number },
): number =>
  objects.add(
    `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode >>`,
    jpeg,
  )

/** Paints an image into a rectangle, points from the lower left. */
export const paint = (name: string, x: number, y: number, w: number, h: number): string =>
  `q ${w} 0 0 ${h} ${x} ${y} cm /${name} Do Q\n`
