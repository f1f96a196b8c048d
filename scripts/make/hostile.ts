/**
 * Documents made to harm whoever reads them: bombs, loops, floods, lies about sizes, names that climb. Small on
 * disk, each for one known way to stop, fill or crash a reader. Texts hold words of ours, so that what can be read is seen.
 */
import { crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { eml } from './mail.js'
import { contentTypes, docx, relationships, zip } from './office.js'
import type { PdfObjects } from './pdf-objects.js'
import { document, helvetica, lines } from './pdf-objects.js'
import { pdf } from './pdf.js'
import { writeOleFile } from '../../src/ole/write.js'

const text = (words: string): Buffer => Buffer.from(words)
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

const wordOf = (body: string, before = ''): Promise<Uint8Array> =>
  zip({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': 'wordprocessingml.document.main' }),
    '_rels/.rels': relationships([['officeDocument', 'word/document.xml']]),
    'word/document.xml': `${before}<w:document ${W}><w:body><w:p><w:r><w:t>words above</w:t></w:r></w:p>${body}</w:body></w:document>`,
  })

const sheetOf = (sheet: string, strings = '', styles = ''): Promise<Uint8Array> =>
  zip({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
      'xl/sharedStrings.xml': 'spreadsheetml.sharedStrings',
      'xl/styles.xml': 'spreadsheetml.styles',
    }),
    '_rels/.rels': relationships([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook ${S} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships([
      ['worksheet', 'worksheets/sheet1.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ]),
    'xl/sharedStrings.xml': `<sst ${S}>${strings}</sst>`,
    'xl/styles.xml': `<styleSheet ${S}>${styles}</styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet ${S}>${sheet}</worksheet>`,
  })

/** A zip whose entries all share one compressed member: what is stored once inflates many times. */
function overlapping(entries: number, bytes: number): Buffer {
  const plain = Buffer.alloc(bytes, 'overlap ')
  const packed = deflateRawSync(plain)
  const sum = crc32(plain)
  const head = (signature: number, fixed: number): Buffer => {
    const header = Buffer.alloc(fixed)
    header.writeUInt32LE(signature, 0)
    const at = signature === 0x04034b50 ? 4 : 6
    header.writeUInt16LE(20, at)
    header.writeUInt16LE(8, at + 4)
    header.writeUInt32LE(sum, at + 10)
    header.writeUInt32LE(packed.length, at + 14)
    header.writeUInt32LE(plain.length, at + 18)
    return header
  }
  const name = text('a.txt')
  const local = head(0x04034b50, 30)
  local.writeUInt16LE(name.length, 26)
  const body = Buffer.concat([local, name, packed])
  const rows = Array.from({ length: entries }, (_, i) => {
    const own = text(`${i}.txt`)
    const row = head(0x02014b50, 46)
    row.writeUInt16LE(own.length, 28)
    return Buffer.concat([row, own])
  })
  const directory = Buffer.concat(rows)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries, 8)
  end.writeUInt16LE(entries, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(body.length, 16)
  return Buffer.concat([body, directory, end])
}

/** Zips in zips, each level ten times the next: 10^levels copies of the innermost. */
async function zipsInZips(
  levels: number,
  innermost: Uint8Array,
  name: string,
): Promise<Uint8Array> {
  let bytes = innermost
  let inner = name
  for (let level = levels; level > 0; level--) {
    const members: Record<string, string | Uint8Array> = { 'words.txt': `words of level ${level}` }
    for (let copy = 0; copy < 10; copy++) members[`${copy}-${inner}`] = bytes
    bytes = await zip(members)
    inner = 'in.zip'
  }
  return bytes
}

function tarEntry(name: string, content: Uint8Array | string, type = '0', link = ''): Buffer {
  const body = Buffer.from(content)
  const head = Buffer.alloc(512)
  head.write(name.slice(0, 99), 0, 'latin1')
  head.write('0000644\0' + '0000000\0' + '0000000\0', 100, 'latin1')
  head.write(body.length.toString(8).padStart(11, '0'), 124, 'latin1')
  head.write('00000000000\0', 136, 'latin1')
  head.write('        ' + type, 148, 'latin1')
  head.write(link.slice(0, 99), 157, 'latin1')
  head.write('ustar\0' + '00', 257, 'latin1')
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(sum.toString(8).padStart(6, '0') + '\0 ', 148, 'latin1')
  return Buffer.concat([head, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
}

const CLIMBING = [
  '../../../../../../../../tmp/paperknife-climbed.txt',
  '/tmp/paperknife-climbed.txt',
  '..\\..\\paperknife-climbed.txt',
  'C:\\paperknife-climbed.txt',
  '~/paperknife-climbed.txt',
  'CON',
  '.',
  '..',
  'a\u0000b.txt',
  '\u001b]0;climbed\u0007.txt',
  'txt.\u202egnp.exe',
  '$(touch paperknife-climbed).txt',
  '`touch paperknife-climbed`.txt',
  '; touch paperknife-climbed',
  `${'long'.repeat(5_000)}.txt`,
  "'); DROP TABLE message; --",
]

/** A compound file with one of its tables made to lead in a circle. */
function cyclicOle(streams: Record<string, Uint8Array>, harm: (file: Buffer) => void): Buffer {
  const file = writeOleFile(Object.entries(streams))
  harm(file)
  return file
}
const sectorAt = (sector: number): number => 512 + sector * 512
/** Sector of the first FAT block, of the directory, of the mini FAT, from the header. */
const firstFat = (file: Buffer): number => sectorAt(file.readUInt32LE(76))
const directory = (file: Buffer): number => sectorAt(file.readUInt32LE(48))

function png(width: number, height: number, raw: Uint8Array, chunks: Buffer[] = []): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', deflateSync(raw)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const chunk = Buffer.alloc(8 + body.length)
  chunk.writeUInt32BE(content.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), 4 + body.length)
  return chunk
}

/** A TIFF of one grey strip; each directory leads to `next(i)`. */
function tiff(
  width: number,
  height: number,
  pages: number,
  next?: (page: number) => number,
): Buffer {
  const one = 2 + 8 * 12 + 4
  const file = Buffer.alloc(8 + pages * one + 12_000)
  file.write('II*\0', 0, 'latin1')
  file.writeUInt32LE(8, 4)
  for (let page = 0; page < pages; page++) {
    let at = 8 + page * one
    file.writeUInt16LE(8, at)
    at += 2
    for (const [tag, type, value] of [
      [256, 4, width],
      [257, 4, height],
      [258, 3, 8],
      [259, 3, 1],
      [262, 3, 1],
      [273, 4, 8 + pages * one],
      [278, 4, height],
      [279, 4, 16],
    ] as const) {
      file.writeUInt16LE(tag, at)
      file.writeUInt16LE(type, at + 2)
      file.writeUInt32LE(1, at + 4)
      file.writeUInt32LE(value, at + 8)
      at += 12
    }
    const to = next ? next(page) : page + 1
    file.writeUInt32LE(to < pages ? 8 + to * one : 0, at)
  }
  return file
}

function bmp(width: number, height: number): Buffer {
  const file = Buffer.alloc(20_000)
  file.write('BM', 0, 'latin1')
  file.writeUInt32LE(54, 10)
  file.writeUInt32LE(40, 14)
  file.writeInt32LE(width, 18)
  file.writeInt32LE(height, 22)
  file.writeUInt16LE(1, 26)
  file.writeUInt16LE(24, 28)
  return file
}

function gif(width: number, height: number, frames: number): Buffer {
  const head = Buffer.from('GIF89a....\x80\0\0\0\0\0\xff\xff\xff', 'latin1')
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  const frame = Buffer.from(
    ',....\0\0\0\0\0\x02\x02\x44\x01\0'.replace('....', '\0\0\0\0'),
    'latin1',
  )
  frame.writeUInt16LE(width, 5)
  frame.writeUInt16LE(height, 7)
  return Buffer.concat([head, ...Array<Buffer>(frames).fill(frame), Buffer.from(';')])
}

const jpegHead = (width: number, height: number): Buffer => {
  const head = Buffer.from('ffd8ffc000110800000000030122000211010311013f00', 'hex')
  head.writeUInt16BE(height, 7)
  head.writeUInt16BE(width, 9)
  return Buffer.concat([head, Buffer.alloc(20_000, 0x55), Buffer.from('ffd9', 'hex')])
}

/** A PDF of one page whose content is this stream. */
const pdfOf = (
  content: Uint8Array | string,
  entries = '<< >>',
  more: (objects: PdfObjects) => string = () => '',
): Uint8Array =>
  document((objects) => {
    const stream = objects.add(entries, content)
    const font = helvetica(objects)
    return {
      pages: [
        { content: lines(['words above']), fonts: { F1: font } },
        { content: '', more: `/Contents ${stream} 0 R ${more(objects)}` },
      ],
    }
  })

/** Forms that each draw the next one twice, thirty deep. @param innermost what is drawn 2^30 times, beside a line */
const doublingForms = (innermost: string): Uint8Array =>
  document((objects) => {
    const font = helvetica(objects)
    const form = (resources: string, content: string): number =>
      objects.add(
        `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${resources} >> >>`,
        content,
      )
    let inner = form(`/Font << /F1 ${font} 0 R >>`, `0 0 m 9 9 l S ${innermost}`)
    for (let level = 0; level < 30; level++)
      inner = form(`/XObject << /P ${inner} 0 R >>`, '/P Do /P Do')
    return {
      pages: [
        { content: `${lines(['words'])} /P Do`, images: { P: inner }, fonts: { F1: font } },
        { content: lines(['words of the next page']), fonts: { F1: font } },
      ],
    }
  })

const inPdf = (change: (file: string) => string): Buffer =>
  Buffer.from(
    change(Buffer.from(pdf([['words of a page'], ['words of the next']])).toString('latin1')),
    'latin1',
  )

const entities = (name: string): string =>
  `<!DOCTYPE ${name} [<!ENTITY a "${'lol'.repeat(100)}">${[...'bcdefghijk'].map((n, i) => `<!ENTITY ${n} "${`&${'abcdefghij'[i]};`.repeat(50)}">`).join('')}]>`

function mailIn(depth: number, innermost: { name: string; bytes: Uint8Array }): Uint8Array {
  let inner = innermost
  for (let level = depth; level > 0; level--)
    inner = {
      name: 'forwarded.eml',
      bytes: eml({
        from: 'A <a@example.org>',
        to: 'B <b@example.org>',
        subject: `words of level ${level}`,
        date: '2026-03-01T10:00:00+01:00',
        id: `level-${level}@example.org`,
        text: `words of level ${level}`,
        attachments: [{ ...inner, type: 'application/octet-stream' }],
      }),
    }
  return inner.bytes
}

const tnef = (length: number): Buffer => {
  const file = Buffer.alloc(64)
  file.writeUInt32LE(0x223e9f78, 0)
  file.writeUInt8(1, 6)
  file.writeUInt32LE(0x0006_9003, 7)
  file.writeUInt32LE(length, 11)
  return file
}

/** Name and maker; made one by one, because some take memory to make. */
export const HOSTILE: Readonly<Record<string, () => Uint8Array | Promise<Uint8Array>>> = {
  // Bombs.
  'five-deep.zip': async () =>
    zipsInZips(5, await zip({ 'zeros.txt': Buffer.alloc(20_000_000, 'zero ') }), 'zeros.zip'),
  'five-deep-gzip.gz': () => {
    let bytes: Uint8Array = Buffer.alloc(60_000_000, 'zero ')
    for (let level = 0; level < 5; level++) bytes = gzipSync(bytes)
    return bytes
  },
  'five-kinds.zip': async () => {
    const bomb = await wordOf('<w:p/>'.repeat(5_000_000))
    const packed = gzipSync(Buffer.concat([tarEntry('bomb.docx', bomb), Buffer.alloc(1024)]))
    return zip({ 'a.eml': mailIn(2, { name: 'a.tar.gz', bytes: packed }) })
  },
  'overlapping.zip': () => overlapping(2_000, 5_000_000),
  'overlapping.docx': () => overlapping(60_000, 1_000),
  'many-members.zip': () => overlapping(65_000, 10),
  'blank.docx': () => wordOf('<w:p/>'.repeat(12_000_000)),
  'one-tag.docx': () => wordOf(`<w:p w:a="${'x'.repeat(40_000_000)}"/>`),
  'one-text.docx': () => wordOf(`<w:p><w:r><w:t>${'x'.repeat(30_000_000)}</w:t></w:r></w:p>`),
  'many-relations.docx': async () =>
    zip({
      '[Content_Types].xml': contentTypes({
        'word/document.xml': 'wordprocessingml.document.main',
      }),
      '_rels/.rels': relationships(
        Array.from({ length: 100_000 }, (_, i) => ['officeDocument', `word/${i}.xml`]),
      ),
      'word/document.xml': `<w:document ${W}/>`,
    }),
  // Entities and depth.
  'laughs.docx': () => wordOf('<w:p><w:r><w:t>&k;</w:t></w:r></w:p>', entities('w:document')),
  'laughs.svg': () =>
    text(
      `${entities('svg')}<svg xmlns="http://www.w3.org/2000/svg" width="500" height="500"><text>&k;</text></svg>`,
    ),
  'laughs.xml': () => text(`<?xml version="1.0"?>${entities('r')}<r>&k;</r>`),
  'deep.docx': () => wordOf('<w:sdt><w:sdtContent>'.repeat(200_000)),
  'deep-tables.docx': () => wordOf('<w:tbl><w:tr><w:tc>'.repeat(60_000)),
  'deep.html': () => text(`<p>words${'<div><span>'.repeat(500_000)}`),
  'deep-quotes.html': () => text(`<p>words${'<blockquote><table><tr><td>'.repeat(100_000)}deep`),
  'attributes.html': () =>
    text(`<p>words <a ${Array.from({ length: 300_000 }, (_, i) => `a${i}=b`).join(' ')}>x</a>`),
  'unclosed.html': () => text(`<p>words ${'<!--'.repeat(500_000)}${'<a b="'.repeat(500_000)}`),
  'deep.json': () => text('['.repeat(3_000_000)),
  'deep.rtf': () => text(`{\\rtf1 words ${'{'.repeat(3_000_000)}`),
  'bin.rtf': () => text(`{\\rtf1 words \\bin2147483647 ${'x'.repeat(1000)}`),
  'objects.rtf': () =>
    text(`{\\rtf1 words ${'{\\object\\objemb{\\*\\objdata d0cf11e0a1b11ae1}}'.repeat(60_000)}}`),
  'uses.svg': () =>
    text(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="1e9" height="1e9"><text>words</text><g id="a0"><rect width="9" height="9"/></g>${Array.from({ length: 60 }, (_, i) => `<g id="a${i + 1}">${`<use xlink:href="#a${i}"/>`.repeat(20)}</g>`).join('')}</svg>`,
    ),
  // Workbooks.
  'shared.xlsx': () =>
    sheetOf(
      `<sheetData>${Array.from({ length: 12_000 }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}" t="s"><v>0</v></c></row>`).join('')}</sheetData>`,
      `<si><t>${'shared words '.repeat(80_000)}</t></si>`,
    ),
  'validation.xlsx': () =>
    sheetOf(
      '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>words</t></is></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells><dataValidations><dataValidation sqref="A1:XFD1048576"/></dataValidations>',
    ),
  'numbers.xlsx': () =>
    sheetOf(
      `<sheetData><row r="999999999999"><c r="ZZZZZZZZZZ99999999999" s="1"><v>1e308</v></c><c r="A-1" s="1"><v>-1e999</v></c><c r="B1" s="4294967296"><v>NaN</v></c></row></sheetData>`,
      '',
      `<numFmts><numFmt numFmtId="200" formatCode="${'[h]:mm:ss.000 '.repeat(4_000)}"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="200"/></cellXfs>`,
    ),
  'formats.xlsx': () =>
    sheetOf(
      `<sheetData>${Array.from({ length: 20_000 }, (_, i) => `<row><c s="1"><v>${i}.5</v></c></row>`).join('')}</sheetData>`,
      '',
      `<numFmts><numFmt numFmtId="200" formatCode="${'#,##0.00_);[Red]\\(#,##0.00\\);??/?? '.repeat(1_000)}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="200"/></cellXfs>`,
    ),
  // Names that climb.
  'climbing.zip': () => zip(Object.fromEntries(CLIMBING.map((name) => [name, 'words that climb']))),
  'climbing.tar': () =>
    Buffer.concat([
      ...CLIMBING.map((name) => tarEntry(name, 'words that climb')),
      tarEntry('link', '', '2', '/tmp'),
      tarEntry('link/paperknife-climbed.txt', 'words through a link'),
      tarEntry('hard', '', '1', '/etc/passwd'),
      tarEntry('device', '', '3'),
      tarEntry('pipe', '', '6'),
      Buffer.alloc(1024),
    ]),
  'long-size.tar': () => {
    const entry = tarEntry('a.txt', 'words')
    entry.write('77777777777', 124, 'latin1')
    return entry
  },
  // Compound files in circles.
  'sectors.doc': () =>
    cyclicOle({ WordDocument: Buffer.alloc(60_000, 1), '1Table': Buffer.alloc(9_000) }, (file) => {
      for (let at = firstFat(file); at < firstFat(file) + 512; at += 4) file.writeUInt32LE(1, at)
    }),
  'directory.xls': () =>
    cyclicOle({ Workbook: Buffer.alloc(60_000, 9) }, (file) => {
      const own = directory(file)
      for (const field of [68, 72, 76]) file.writeUInt32LE(0, own + field)
      for (const field of [68, 72, 76]) file.writeUInt32LE(1, own + 128 + field)
    }),
  'difat.ppt': () =>
    cyclicOle({ 'PowerPoint Document': Buffer.alloc(60_000, 15) }, (file) => {
      file.writeUInt32LE(0, 68)
      file.writeUInt32LE(0xffffffff, 72)
    }),
  'mini.msg': () =>
    cyclicOle(
      {
        '__properties_version1.0': Buffer.alloc(64),
        '__substg1.0_0037001F': Buffer.from('words', 'utf16le'),
      },
      (file) => {
        const mini = sectorAt(file.readUInt32LE(60))
        if (mini + 512 <= file.length)
          for (let at = mini; at < mini + 512; at += 4) file.writeUInt32LE(0, at)
        for (let at = directory(file); at + 128 <= file.length; at += 128)
          file.writeUInt32LE(0xfffffff0, at + 120)
      },
    ),
  // PDFs.
  'kids.pdf': () => inPdf((file) => file.replace(/\/Kids \[[^\]]*\]/, '/Kids [2 0 R 2 0 R 1 0 R]')),
  'parents.pdf': () =>
    inPdf((file) =>
      file
        .replaceAll(/\/Parent \d+ 0 R/g, '/Parent 4 0 R')
        .replaceAll(/\/MediaBox ?\[[^\]]*\]/g, ''),
    ),
  'count.pdf': () => inPdf((file) => file.replace(/\/Count \d+/, '/Count 2000000000')),
  'previous.pdf': () =>
    inPdf((file) =>
      file.replace(
        'trailer\n<<',
        `trailer\n<< /Prev ${file.lastIndexOf('xref\n0')} /XRefStm ${file.lastIndexOf('xref\n0')}`,
      ),
    ),
  'box.pdf': () =>
    inPdf((file) => file.replaceAll(/\/MediaBox ?\[[^\]]*\]/g, '/MediaBox [0 0 1e9 1e9]')),
  'split-array.pdf': () =>
    document((objects) => {
      const first = objects.add('<< >>', 'BT /F1 12 Tf [(words')
      const second = objects.add('<< >>', ' split) 20 (over')
      return {
        pages: [{ content: '', more: `/Contents [${`${first} 0 R ${second} 0 R `.repeat(200)}]` }],
      }
    }),
  'brackets.pdf': () => pdfOf(`BT ${'['.repeat(2_000_000)}`),
  'dictionaries.pdf': () => pdfOf(`BT ${'<< /A '.repeat(1_000_000)}`),
  'inflate.pdf': () =>
    pdfOf(deflateSync(Buffer.alloc(200_000_000, ' ')), '<< /Filter /FlateDecode >>'),
  'operators.pdf': () =>
    pdfOf(deflateSync(Buffer.alloc(40_000_000, 'q 0 0 m S Q ')), '<< /Filter /FlateDecode >>'),
  'filters.pdf': () => pdfOf('x', `<< /Filter [${'/FlateDecode '.repeat(5_000)}] >>`),
  'filter-bomb.pdf': () => {
    let bytes: Uint8Array = Buffer.alloc(100_000_000, ' ')
    for (let level = 0; level < 4; level++) bytes = deflateSync(bytes)
    return pdfOf(bytes, '<< /Filter [/FlateDecode /FlateDecode /FlateDecode /FlateDecode] >>')
  },
  'forms.pdf': () =>
    document((objects) => {
      const form = objects.add('<< >>')
      objects.set(
        form,
        `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /P ${form} 0 R >> >> >>`,
      )
      const loop = objects.add(
        `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /P ${form + 1} 0 R >> >> >>`,
        '/P Do '.repeat(1_000),
      )
      return {
        pages: [
          {
            content: `${lines(['words'])} /P Do /Q Do`,
            images: { P: form, Q: loop },
            fonts: { F1: helvetica(objects) },
          },
        ],
      }
    }),
  'doubling-forms.pdf': () => doublingForms(''),
  'doubling-words.pdf': () => doublingForms('BT /F1 9 Tf (deep) Tj ET'),
  'picture.pdf': () =>
    document((objects) => {
      const image = objects.add(
        '<< /Type /XObject /Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /FlateDecode >>',
        deflateSync(Buffer.alloc(30_000_000)),
      )
      return { pages: [{ content: 'q 500 0 0 500 0 0 cm /P Do Q', images: { P: image } }] }
    }),
  'many-pictures.pdf': () =>
    document((objects) => {
      const image = objects.add(
        '<< /Type /XObject /Subtype /Image /Width 3000 /Height 3000 /BitsPerComponent 8 /ColorSpace /DeviceGray /Filter /FlateDecode >>',
        deflateSync(Buffer.alloc(9_000_000, 0x80)),
      )
      return {
        pages: Array.from({ length: 20 }, () => ({
          content: 'q 500 0 0 500 0 0 cm /P Do Q '.repeat(50),
          images: { P: image },
        })),
      }
    }),
  'cmap.pdf': () =>
    document((objects) => {
      const map = objects.add(
        '<< >>',
        'begincmap 1 begincodespacerange <0000> <FFFFFFFF> endcodespacerange 1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange 1 begincidrange <00000000> <FFFFFFFF> 0 endcidrange endcmap',
      )
      const font = helvetica(objects, map)
      return { pages: [{ content: lines(['words']), fonts: { F1: font } }] }
    }),
  'pages.pdf': () => pdf(Array.from({ length: 3_000 }, (_, i) => [`words of page ${i}`])),
  'blank-pages.pdf': () =>
    document(() => ({ pages: Array.from({ length: 5_000 }, () => ({ content: '' })) })),
  // Pictures.
  'claims.png': () => png(60_000, 60_000, Buffer.alloc(20_000_000)),
  'tall.png': () => png(200, 1_000_000, Buffer.alloc(200_200_000)),
  'chunks.png': () =>
    png(
      600,
      600,
      Buffer.alloc(601 * 600, 0x80),
      Array.from({ length: 40 }, () =>
        pngChunk('zTXt', Buffer.concat([text('a\0\0'), deflateSync(Buffer.alloc(20_000_000))])),
      ),
    ),
  'claims.gif': () => gif(65_535, 65_535, 1_000),
  'frames.gif': () => gif(2_000, 2_000, 5_000),
  'claims.bmp': () => bmp(0x7fffffff, -0x7fffffff),
  'claims.jpg': () => jpegHead(65_500, 65_500),
  'claims.tif': () => tiff(1_000_000, 1_000_000, 1),
  'circle.tif': () => tiff(1_000, 1_000, 3, (page) => (page + 1) % 3),
  'pages.tif': () => tiff(4_000, 4_000, 8_000),
  // Text.
  'marks.txt': () => text(`words ${'a\u0301\u0302\u0303'.repeat(600_000)}`),
  'one-token.txt': () => text(`words ${'token'.repeat(2_000_000)}`),
  'distinct.txt': () =>
    text(`words ${Array.from({ length: 600_000 }, (_, i) => (i * 7_919).toString(36)).join(' ')}`),
  'expanding.txt': () => text(`words ${'\ufdfa'.repeat(1_600_000)}`),
  'identifiers.txt': () => text(`words ${'a-1.2/3_4:5-'.repeat(700_000)}`),
  'controls.txt': () =>
    text(`words ${'\u001b]0;title\u0007\u001b[31m\u202e\u0085\u2028'.repeat(100_000)}`),
  'lines.csv': () => text(`a,"${'""'.repeat(4_000_000)}`),
  'columns.csv': () => text(`words${','.repeat(8_000_000)}`),
  'rules.ics': () =>
    text(
      `BEGIN:VCALENDAR\r\n${'BEGIN:VEVENT\r\nSUMMARY:words\r\nRRULE:FREQ=SECONDLY\r\n'.repeat(100_000)}`,
    ),
  'folded.vcf': () => text(`BEGIN:VCARD\r\nFN:words${'\r\n x'.repeat(1_500_000)}\r\nEND:VCARD\r\n`),
  // Mail.
  'forwarded.eml': async () =>
    mailIn(8, { name: 'zeros.zip', bytes: await zip({ 'zeros.txt': Buffer.alloc(20_000_000) }) }),
  'messages.eml': () =>
    text(`Subject: words\r\n${'Content-Type: message/rfc822\r\n\r\n'.repeat(20_000)}`),
  'from-lines.mbox': () => text(`${'From a@b Mon Mar  1 10:00:00 2026\n\n'.repeat(300_000)}`),
  'length.tnef': () => tnef(0x7fffffff),
  'uuencoded.eml': () => text(`Subject: words\r\n\r\n${'begin 644 a.txt\r\n'.repeat(200_000)}`),
  'nested.p7m': () => {
    let bytes: Uint8Array = text('words')
    for (let level = 0; level < 200; level++) {
      const long = Buffer.alloc(6)
      long.set([0x30, 0x84], 0)
      long.writeUInt32BE(bytes.length, 2)
      bytes = Buffer.concat([long, bytes])
    }
    return bytes
  },
  'truncated.docx': async () => (await docx(['words of a letter'])).slice(0, 700),
}
