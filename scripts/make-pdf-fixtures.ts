/**
 * Makes the PDFs and pictures of test/fixtures/pdf and test/fixtures/image from text written here. Run it with
 * `node --import tsx scripts/make-pdf-fixtures.ts`; the made files are committed, since fonts differ from
 * machine to machine. The expected texts beside them are rewritten by `UPDATE=1` and reviewed by eye.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'
import { createCanvas } from '@napi-rs/canvas'
import sharp from 'sharp'
import { pdf } from './make/pdf.js'
import {
  document,
  greyJpeg,
  helvetica,
  lines,
  literal,
  paint,
  revised,
  toUnicode,
  utf16,
} from './make/pdf-objects.js'
import { logoPng, photographJpeg, scanJpeg, scanPng } from './make/picture.js'

const FIXTURES = fileURLToPath(new URL('../test/fixtures/', import.meta.url))
for (const folder of ['pdf', 'image']) mkdirSync(`${FIXTURES}${folder}`, { recursive: true })
const put = (name: string, bytes: Uint8Array): void => writeFileSync(FIXTURES + name, bytes)

const LETTER = [
  'Minutes of the harbour committee',
  'The crane on the east quay was repaired in March and passed its inspection.',
  'Mrs Okafor asked that the mooring fees be published before the summer season.',
  'The next meeting takes place on the second Tuesday of October.',
]
const SECOND = [
  'Annex: list of berths',
  'Berth 14 is reserved for the pilot boat Kittiwake.',
  'Berth 15 stays empty until the dredging has ended.',
]

// --- text layers ---------------------------------------------------------------------------------

put('pdf/letter.pdf', pdf([LETTER, SECOND], { title: 'Harbour committee' }))
put('pdf/locked.pdf', pdf([LETTER], { password: 'kittiwake' }))
put('pdf/empty-password.pdf', pdf([SECOND], { password: '' }))

const whole = pdf([LETTER, SECOND])
const text = Buffer.from(whole).toString('latin1')
put('pdf/no-xref.pdf', Buffer.from(text.slice(0, text.lastIndexOf('xref\n0 ')), 'latin1'))
put('pdf/junk-before.pdf', Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${text}`, 'latin1'))
put(
  'pdf/no-document.pdf',
  Buffer.from('%PDF-1.4\nnothing follows here but these words\n', 'latin1'),
)

/** An agreement that was changed: other pages, named by another catalog. Both revisions have an ID, as programs write it. */
{
  const first = document((objects) => ({
    pages: [
      {
        content: lines(['Agreement on berth 14', 'The fee is one hundred guilders.']),
        fonts: { F1: helvetica(objects) },
      },
    ],
    id: 'first',
  }))
  const [catalog, tree, page, content] = [20, 21, 22, 23]
  const second = revised(
    first,
    {
      [catalog]: { body: `<< /Type /Catalog /Pages ${tree} 0 R >>` },
      [tree]: { body: `<< /Type /Pages /Count 1 /Kids [${page} 0 R] >>` },
      [page]: {
        body: `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 595 842] /Contents ${content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      },
      [content]: {
        body: '<< >>',
        stream: Buffer.from(lines(['Agreement on berth 14', 'The fee is two hundred guilders.'])),
      },
    },
    `/Root ${catalog} 0 R /ID [(first) (second)]`,
  )
  const file = Buffer.from(second).toString('latin1')
  const broken = file.replace(/startxref\n\d+\n%%EOF\n$/, 'startxref\n7\n%%EOF\n')
  put('pdf/changed.pdf', Buffer.from(broken, 'latin1'))
  put('pdf/changed-cut.pdf', Buffer.from(file.slice(0, file.lastIndexOf('\nxref\n') + 9), 'latin1'))
}
/** One row of its table leads astray: that of the second page's content. */
{
  const row = text.lastIndexOf(' 00000 n \n', text.lastIndexOf(' 00000 n \n') - 1) - 10
  const astray = `${text.slice(0, row)}${'123'.padStart(10, '0')}${text.slice(row + 10)}`
  put('pdf/wrong-row.pdf', Buffer.from(astray, 'latin1'))
}

/** Everything that hangs beside the pages. */
put(
  'pdf/beside.pdf',
  document((objects) => {
    const font = helvetica(objects)
    const field = objects.add(
      `<< /Type /Annot /Subtype /Widget /FT /Tx /T (owner) /V ${literal('Ingrid Halvorsen')} /Rect [56 600 300 620] >>`,
    )
    const choice = objects.add(
      `<< /Type /Annot /Subtype /Widget /FT /Ch /T (rig) /V ${literal('gaff cutter')} /Opt [${literal('gaff cutter')} ${literal('lugger')}] /Rect [56 570 300 590] >>`,
    )
    const secret = objects.add(
      `<< /Type /Annot /Subtype /Widget /FT /Tx /Ff 8192 /T (pin) /V ${literal('neverindexed')} /Rect [56 540 300 560] >>`,
    )
    const note = objects.add(
      `<< /Type /Annot /Subtype /Text /Contents ${utf16('Please check the draught: 1,8 m or 2,1 m?')} /Rect [400 700 420 720] >>`,
    )
    const file = objects.add(
      '<< /Type /EmbeddedFile >>',
      'berth;boat;length\n14;Kittiwake;11.4\n15;;\n',
    )
    const spec = objects.add(
      `<< /Type /Filespec /F (berths.csv) /UF ${utf16('berths.csv')} /Desc ${literal('list of berths')} /EF << /F ${file} 0 R >> >>`,
    )
    const outline = objects.add('')
    const first = objects.add(
      `<< /Title ${utf16('Übersicht der Liegeplätze')} /Parent ${outline} 0 R >>`,
    )
    objects.set(outline, `<< /Type /Outlines /Count 1 /First ${first} 0 R /Last ${first} 0 R >>`)
    return {
      pages: [
        {
          content: lines(['Registration of a vessel', 'Owner and rig are filled in below.']),
          fonts: { F1: font },
          annotations: [field, choice, secret, note],
        },
      ],
      catalog:
        `/Outlines ${outline} 0 R /AcroForm << /Fields [${field} 0 R ${choice} 0 R ${secret} 0 R] >> ` +
        `/Names << /EmbeddedFiles << /Names [(berths.csv) ${spec} 0 R] >> >>`,
      info: `<< /Title ${literal('Vessel form')} /Keywords ${literal('registration, berths')} /Producer ${literal('must not be found')} >>`,
    }
  }),
)

/** Words as pages really set them: no space characters, letters apart, drawn twice, broken at the line's end. */
put(
  'pdf/setting.pdf',
  document((objects) => {
    const ligatures = toUnicode(objects, { 0x7b: 'fi', 0x7c: 'ffl' })
    const font = helvetica(objects)
    const withLigatures = objects.add(
      `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode ${ligatures} 0 R >>`,
    )
    const twice = (line: string, x: number, y: number): string =>
      `BT /F1 12 Tf 1 0 0 1 ${x} ${y} Tm ${literal(line)} Tj ET\n` +
      `BT /F1 12 Tf 1 0 0 1 ${x + 0.4} ${y} Tm ${literal(line)} Tj ET\n`
    const apart = (line: string, y: number, gap: number, space: number): string =>
      `BT /F1 12 Tf 56 ${y} Td [${[...line]
        .map((c) => (c === ' ' ? `${-space}` : `${literal(c)} ${-gap}`))
        .join(' ')}] TJ ET\n`
    return {
      pages: [
        {
          content:
            `BT /F1 12 Tf 56 780 Td [${literal('Words')} -300 ${literal('without')} -300 ${literal('space')} -300 ${literal('characters')}] TJ ET\n` +
            apart('LETTERS SET WIDE APART', 750, 350, 1100) +
            apart('a quiet headline in the same manner', 730, 300, 900) +
            twice('Boldly printed twice', 56, 700) +
            lines(
              [
                'The lighthouse keeper noted every ves-',
                'sel that passed, and the well-',
                'known ones by name.',
              ],
              'F1',
              12,
              670,
            ) +
            `BT /F2 12 Tf 56 600 Td ${literal('The o|ce {nds a |uent {gure.')} Tj ET\n` +
            `BT /F1 12 Tf 1 0 0 1 56 570 Tm ${literal('Left column')} Tj 1 0 0 1 320 570 Tm ${literal('right column')} Tj ET\n`,
          fonts: { F1: font, F2: withLigatures },
        },
      ],
    }
  }),
)

/** Japanese in a font that is not embedded, coded in Shift_JIS: lost without character maps. */
put(
  'pdf/shift-jis.pdf',
  document((objects) => {
    const described = objects.add(
      '<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
    )
    const cid = objects.add(
      `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor ${described} 0 R >>`,
    )
    const font = objects.add(
      `<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3-90ms-RKSJ-H /Encoding /90ms-RKSJ-H /DescendantFonts [${cid} 0 R] >>`,
    )
    // 灯台の記録 and 港の朝は早い。 in Shift_JIS.
    return {
      pages: [
        {
          content:
            'BT /F1 14 Tf 56 760 Td <9394 91e4 82cc 8b4c 985e> Tj 0 -24 Td <8d60 82cc 92a9 82cd 9181 82a2 8142> Tj ET',
          fonts: { F1: font },
        },
      ],
    }
  }),
)

/** A form of dynamic XML only: its page says nothing but "please wait". */
put(
  'pdf/xfa.pdf',
  document((objects) => {
    const font = helvetica(objects)
    const template = objects.add(
      '<< >>',
      '<?xml version="1.0"?><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/">' +
        '<subform name="form" layout="tb"><pageSet><pageArea name="one"><contentArea w="180mm" h="260mm"/><medium short="210mm" long="297mm"/></pageArea></pageSet>' +
        '<subform layout="tb"><draw><value><text>Application for a winter berth</text></value></draw>' +
        '<field name="boat" w="60mm" h="8mm"><caption><value><text>Name of the boat</text></value></caption><ui><textEdit/></ui><value><text>Stormy Petrel</text></value></field></subform></subform></template></xdp:xdp>',
    )
    return {
      pages: [{ content: lines(['Please wait...']), fonts: { F1: font } }],
      catalog: `/AcroForm << /Fields [] /XFA ${template} 0 R /DR << /Font << /F1 ${font} 0 R >> >> >> /NeedsRendering true`,
    }
  }),
)

/** The same filled in: names of values for programs, and fields that nobody sees. */
put(
  'pdf/xfa-filled.pdf',
  document((objects) => {
    const font = helvetica(objects)
    const caption = (words: string): string =>
      `<caption><value><text>${words}</text></value></caption>`
    const field = (name: string, ui: string, value: string, more = ''): string =>
      `<field name="${name}" w="80mm" h="8mm" ${more}>${ui}${caption(name)}<value><text>${value}</text></value>`
    const items = (words: string[], save = ''): string =>
      `<items ${save}>${words.map((word) => `<text>${word}</text>`).join('')}</items>`
    const template = objects.add(
      '<< >>',
      '<?xml version="1.0"?><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/">' +
        '<subform name="form" layout="tb"><pageSet><pageArea name="one"><contentArea w="180mm" h="260mm"/><medium short="210mm" long="297mm"/></pageArea></pageSet><subform layout="tb">' +
        `${field('Owner', '<ui><textEdit/></ui>', 'Solveig Dahl')}</field>` +
        `${field('Rig', '<ui><choiceList/></ui>', '0417')}${items(['gaff cutter', 'lugger'])}${items(['0416', '0417'], 'save="1" presence="hidden"')}</field>` +
        `${field('Berths wanted', '<ui><choiceList open="multiSelect"/></ui>', 'north')}${items(['north', 'south'])}</field>` +
        `${field('Engine', '<ui><checkButton/></ui>', 'Y')}${items(['Y', 'N'])}</field>` +
        `${field('Checksum', '<ui><textEdit/></ui>', 'ab12neverseen', 'presence="invisible"')}</field>` +
        '</subform></subform></template></xdp:xdp>',
    )
    return {
      pages: [{ content: lines(['Please wait...']), fonts: { F1: font } }],
      catalog: `/AcroForm << /Fields [] /XFA ${template} 0 R /DR << /Font << /F1 ${font} 0 R >> >> >> /NeedsRendering true`,
    }
  }),
)

/** A form of dynamic XML without a word in it: the page behind it is read. */
put(
  'pdf/xfa-empty.pdf',
  document((objects) => {
    const font = helvetica(objects)
    const template = objects.add(
      '<< >>',
      '<?xml version="1.0"?><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/">' +
        '<subform name="form" layout="tb"><pageSet><pageArea name="one"><contentArea w="180mm" h="260mm"/><medium short="210mm" long="297mm"/></pageArea></pageSet><subform layout="tb"/></subform></template></xdp:xdp>',
    )
    return {
      pages: [{ content: lines(['This form needs another program.']), fonts: { F1: font } }],
      catalog: `/AcroForm << /Fields [] /XFA ${template} 0 R /DR << /Font << /F1 ${font} 0 R >> >> >> /NeedsRendering true`,
    }
  }),
)

/** Text that annotations draw themselves, beside their values; what is hidden; a file pinned to the page. */
put(
  'pdf/drawn.pdf',
  document((objects) => {
    const font = helvetica(objects)
    const form = (content: string, resources = '', more = ''): number =>
      objects.add(
        `<< /Type /XObject /Subtype /Form /BBox [0 0 240 60] /Resources << /Font << /F1 ${font} 0 R >> ${resources} >> ${more} >>`,
        content,
      )
    let top = 760
    const annotation = (about: string, drawn?: number, flags = 4): number => {
      top -= 70
      const appearance = drawn === undefined ? '' : `/AP << /N ${drawn} 0 R >>`
      return objects.add(
        `<< /Type /Annot ${about} /F ${flags} /Rect [56 ${top} 296 ${top + 60}] ${appearance} >>`,
      )
    }
    const field = (about: string, drawn?: string, flags?: number): number =>
      annotation(`/Subtype /Widget ${about}`, drawn === undefined ? undefined : form(drawn), flags)
    // As signing programs nest them, with words moved one by one and set apart by numbers.
    const seal = form(
      'q 1 0 0 1 2 2 cm /Ink Do Q',
      `/XObject << /Ink ${form(
        `BT /F1 10 Tf 0 40 Td ${literal('Signed by')} Tj 48 0 Td [${literal('Ing')} 20 ${literal('rid')} -400 ${literal('Halvorsen')}] TJ ` +
          `-48 -14 Td ${literal('on 4 November 2019')} Tj 12 TL T* ${literal('at Vardø').replace('ø', '\\370')} Tj ET`,
      )} 0 R >>`,
    )
    const upwards = form(
      `BT /F1 10 Tf 0 1 -1 0 20 0 Tm ${literal('PAID IN')} Tj 40 0 Td ${literal('FULL')} Tj ET`,
    )
    const tick = form('BT /F1 10 Tf (4) Tj ET')
    const file = objects.add('<< /Type /EmbeddedFile >>', 'depth;7.5\n')
    return {
      info: `<< /Title ${literal('untitled')} >>`,
      pages: [
        {
          content: lines(['Receipt of the harbour office']),
          fonts: { F1: font },
          annotations: [
            annotation('/Subtype /Stamp /Contents (PAID)', upwards),
            annotation(
              `/Subtype /FreeText /DA (/F1 10 Tf) /Contents ${literal('Kept until the dredging ends.')}`,
              form(
                `BT /F1 10 Tf 0 40 Td ${literal('Kept until the')} Tj 0 -14 Td ${literal('dredging ends.')} Tj ET`,
              ),
            ),
            annotation(
              `/Subtype /FileAttachment /Contents ${literal('soundings of May')} /FS << /Type /Filespec /F (soundings.csv) /EF << /F ${file} 0 R >> >>`,
            ),
            annotation('/Subtype /Widget /FT /Sig /T (seal)', seal),
            field(
              '/FT /Btn /Ff 65536 /T (send)',
              `BT /F1 10 Tf ${literal('Send to the office')} Tj ET`,
            ),
            objects.add(
              `<< /Type /Annot /Subtype /Widget /FT /Btn /T (box) /F 4 /V /Yes /AS /Yes /Rect [400 700 420 720] /AP << /N << /Yes ${tick} 0 R >> >> >>`,
            ),
            field('/FT /Tx /T (fee) /V (1250)', `BT /F1 10 Tf ${literal('1,250.00 NOK')} Tj ET`),
            field(
              `/FT /Tx /Ff 4096 /T (remarks) /V ${literal('The mooring lines are to be doubled before the autumn gales.')}`,
              `BT /F1 10 Tf 0 40 Td ${literal('The mooring lines are to be')} Tj 0 -14 Td ${literal('doubled before the')} Tj ET`,
            ),
            field('/FT /Tx /T (state) /V (neverseen)', `BT /F1 10 Tf (neverseen) Tj ET`, 2),
          ],
        },
      ],
      catalog: '/AcroForm << /Fields [] >>',
    }
  }),
)

// --- what is damaged -----------------------------------------------------------------------------

put('pdf/no-header.pdf', Buffer.from(text.slice(text.indexOf('\n') + 1), 'latin1'))

/** The end is cut off, and with it the catalog, the tree, the table, and part of the second page. */
{
  const [number, tree] = [20, 21]
  const packed = (objects: Record<number, string>): Buffer => {
    const bodies = Object.entries(objects)
    let at = 0
    const places = bodies.map(([name, body]) => {
      const place = `${name} ${at}`
      at += body.length + 1
      return place
    })
    const first = `${places.join(' ')}\n`
    const data = deflateSync(Buffer.from(first + bodies.map(([, body]) => `${body}\n`).join('')))
    return Buffer.concat([
      Buffer.from(
        `${number} 0 obj\n<< /Type /ObjStm /N ${bodies.length} /First ${first.length} /Filter /FlateDecode /Length ${data.length} >>\nstream\n`,
      ),
      data,
      Buffer.from('\nendstream\nendobj\n'),
    ])
  }
  const page = (content: number): string =>
    `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 595 842] /Contents ${content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`
  const content = (of: number, text: string): Buffer =>
    Buffer.from(`${of} 0 obj\n<< /Length ${text.length} >>\nstream\n${text}\nendstream\nendobj\n`)
  const whole = Buffer.concat([
    Buffer.from('%PDF-1.5\n'),
    packed({
      1: page(4),
      2: page(5),
      3: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    }),
    content(4, lines(LETTER)),
    content(5, lines(SECOND)),
  ])
  put('pdf/cut.pdf', whole.subarray(0, whole.lastIndexOf('Berth 15')))
}

// --- pages of pixels -----------------------------------------------------------------------------

const SCAN = {
  width: 1240,
  height: 620,
  lines: [
    'Received by the harbour office',
    'The lantern of the northern pier was found',
    'broken on the morning of 4 November 2014.',
    'A replacement lens costs 318 guilders and',
    'arrives with the mail boat on Thursday.',
  ],
}
const BAD_LAYER = {
  ...SCAN,
  lines: [
    'Bill of lading',
    'Forty barrels of salted herring,',
    'twelve coils of tarred rope and',
    'one crate of instruments.',
  ],
}

const scan = await scanJpeg(SCAN)
const bill = await scanJpeg(BAD_LAYER)
const photograph = await photographJpeg()
put(
  'pdf/mixed.pdf',
  document((objects) => {
    const font = helvetica(objects)
    const shifted = helvetica(
      objects,
      toUnicode(
        objects,
        // Each letter says the one three places on: what a broken writer of subset fonts leaves behind.
        Object.fromEntries(
          [...'abcdefghijklmnopqrstuvwxyz'].flatMap((letter, i, all) => [
            [letter.charCodeAt(0), all[(i + 7) % 26]!],
            [letter.toUpperCase().charCodeAt(0), all[(i + 7) % 26]!.toUpperCase()],
          ]),
        ) as Record<number, string>,
      ),
    )
    const scanned = greyJpeg(objects, scan)
    const lading = greyJpeg(objects, bill)
    const hills = objects.add(
      '<< /Type /XObject /Subtype /Image /Width 640 /Height 420 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode >>',
      photograph,
    )
    const size = '/MediaBox [0 0 595 298]'
    const apart = (line: string): string => [...line].map((c) => literal(c)).join(' -500 ')
    return {
      pages: [
        { content: lines(LETTER), fonts: { F1: font } },
        { content: paint('S', 0, 0, 595, 298), images: { S: scanned }, more: size },
        {
          content: paint('S', 0, 0, 595, 298) + lines(['Archive copy 0042'], 'F1', 10, 12),
          images: { S: scanned },
          fonts: { F1: font },
          more: size,
        },
        {
          content: `BT /F1 11 Tf 22 TL 40 250 Td\n${[
            'the harbour office closes at noon',
            'on the last friday of the month',
            'and opens again on monday at seven',
          ]
            .map((line) => `[${apart(line)}] TJ T*`)
            .join('\n')}\nET`,
          fonts: { F1: font },
          more: size,
        },
        {
          content: lines(
            [
              'The ferry to the outer islands leaves every morning at half past six',
              'and returns before the evening tide, unless the wind stands in the north.',
              'Passengers with bicycles should wait behind the yellow line on the quay.',
            ],
            'F2',
            14,
            250,
          ),
          fonts: { F2: shifted },
          more: size,
        },
        {
          content:
            paint('B', 0, 0, 595, 298) +
            `3 Tr ${lines(
              [
                'Bi1l 0f |ad!ng f0rfy b@rre1s 0f sa|tcd hcrr1ng tw3|ve c0i|s',
                'xq vvkz jjw rtp0 zzx qqk bcdf ghjk lmnp qrst vwxz bcd fgh',
                'jkl mnp qrs tvw xzb cdf ghj klm npq rst vwx zbc dfg hjk lmn',
              ],
              'F1',
              10,
              250,
            )}`,
          images: { B: lading },
          fonts: { F1: font },
          more: size,
        },
        { content: '1 g 0 0 595 298 re f', more: size },
        { content: paint('H', 20, 20, 400, 262), images: { H: hills }, more: size },
      ],
    }
  }),
)

// --- pictures ------------------------------------------------------------------------------------

const png = await scanPng(SCAN)
put('image/scan.png', png)
put('image/logo.png', await logoPng())
put('image/photograph.jpg', await sharp(photograph).resize(1000).jpeg({ quality: 75 }).toBuffer())
for (const turn of [90, 180, 270])
  put(
    `image/turned-${turn}.png`,
    await sharp(png).rotate(turn).png({ palette: true, colours: 16 }).toBuffer(),
  )
put('image/skewed.jpg', (await scanJpeg({ ...SCAN, skew: 3 })).jpeg)
put(
  'image/inverted.png',
  await sharp(png).negate({ alpha: false }).png({ palette: true, colours: 16 }).toBuffer(),
)
put(
  'image/faint.jpg',
  await sharp(png).linear(0.12, 190).toColourspace('b-w').jpeg({ quality: 80 }).toBuffer(),
)
/** Upright only by its EXIF orientation. */
put(
  'image/exif-turned.jpg',
  await sharp(png)
    .rotate(270)
    .toColourspace('b-w')
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 60 })
    .toBuffer(),
)
put('image/scan.webp', await sharp(png).webp({ quality: 40 }).toBuffer())
put('image/scan.gif', await sharp(png).gif({ colours: 4 }).toBuffer())

/** White letters on nothing, as a logo for dark pages has them. */
{
  const canvas = createCanvas(900, 220)
  const pen = canvas.getContext('2d')
  pen.fillStyle = '#ffffff'
  pen.font = '40px "DejaVu Sans"'
  pen.fillText('White letters on no ground', 60, 90)
  pen.fillText('are read all the same', 60, 160)
  put('image/transparent.png', canvas.toBuffer('image/png'))
}

/** A fax page as machines send it (CCITT group 4): few bytes, and no tiny picture. */
put(
  'image/fax.tif',
  await sharp(await scanPng({ ...SCAN, height: 860 }))
    .threshold(128)
    .toColourspace('b-w')
    .tiff({ compression: 'ccittfax4', bitdepth: 1 })
    .toBuffer(),
)

/** Two pages in one file. */
{
  const [width, height] = [900, 260]
  const page = async (lines: string[]): Promise<Buffer> =>
    sharp(await scanPng({ lines, width, height }))
      .threshold(128)
      .raw()
      .toBuffer()
  const pages = [
    await page([
      'Telefax, page one of two',
      'Please send the tide tables for',
      'December to the pilot station.',
    ]),
    await page(['Telefax, page two of two', 'The invoice follows by post.']),
  ]
  put('image/two-pages.tif', multiPageTiff(pages, width, height))
}

/** Uncompressed one-bit TIFF of several pages (TIFF 6.0, section 3), white is zero as in a fax. */
function multiPageTiff(pages: readonly Buffer[], width: number, height: number): Uint8Array {
  const stride = (width + 7) >> 3
  const parts = [Buffer.from('II*\0\0\0\0\0', 'latin1')]
  let offset = 8
  let link = { part: parts[0]!, at: 4 }
  for (const grey of pages) {
    const channels = grey.length / (width * height)
    const bits = Buffer.alloc(stride * height)
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++)
        if (grey[(y * width + x) * channels]! < 128) bits[y * stride + (x >> 3)]! |= 128 >> (x & 7)
    const pixels = offset
    const entries: Array<[tag: number, type: number, value: number]> = [
      [256, 4, width],
      [257, 4, height],
      [258, 3, 1],
      [259, 3, 1],
      [262, 3, 0],
      [273, 4, pixels],
      [277, 3, 1],
      [278, 4, height],
      [279, 4, bits.length],
    ]
    const directory = Buffer.alloc(2 + entries.length * 12 + 4)
    directory.writeUInt16LE(entries.length, 0)
    for (const [i, [tag, type, value]] of entries.entries()) {
      directory.writeUInt16LE(tag, 2 + i * 12)
      directory.writeUInt16LE(type, 4 + i * 12)
      directory.writeUInt32LE(1, 6 + i * 12)
      directory.writeUInt32LE(value, 10 + i * 12)
    }
    link.part.writeUInt32LE(offset + bits.length, link.at)
    link = { part: directory, at: directory.length - 4 }
    parts.push(bits, directory)
    offset += bits.length + directory.length
  }
  return Buffer.concat(parts)
}

/** A bitmap of 16 colours, and a plain grey map. */
{
  const { data, info } = await sharp(
    await scanPng({ lines: SCAN.lines.slice(0, 2), width: 900, height: 220 }),
  )
    .removeAlpha()
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const stride = Math.ceil((width * 4) / 32) * 4
  const head = Buffer.alloc(54 + 64)
  head.write('BM')
  head.writeUInt32LE(head.length + stride * height, 2)
  head.writeUInt32LE(head.length, 10)
  head.writeUInt32LE(40, 14)
  head.writeInt32LE(width, 18)
  head.writeInt32LE(height, 22)
  head.writeUInt16LE(1, 26)
  head.writeUInt16LE(4, 28)
  for (let i = 0; i < 16; i++) head.fill(i * 17, 54 + i * 4, 57 + i * 4)
  const pixels = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      pixels[(height - 1 - y) * stride + (x >> 1)]! |=
        (data[y * width + x]! >> 4) << (x & 1 ? 0 : 4)
  put('image/scan.bmp', Buffer.concat([head, pixels]))
}
