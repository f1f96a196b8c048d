/**
 * Makes the fixtures of text formats and of legacy Office: `npx tsx scripts/make-fixtures.ts`, then
 * `UPDATE=1 npx vitest run test/fixtures.test.ts` writes what is read of them, and the diff is the review.
 *
 * Every text is written here. Word, Excel and PowerPoint 97 are made by LibreOffice where it is installed; without it the
 * committed files stay. Not responsible for Office XML, OpenDocument, pictures and PDF (their own makers).
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { writeOleFile } from '../src/ole/write.js'
import { pack } from 'tar-stream'
import { eml, winmail } from './make/mail.js'
import { docx, pptx, xlsx, zip } from './make/office.js'
import { pdf } from './make/pdf.js'

const FOLDER = fileURLToPath(new URL('../test/fixtures/', import.meta.url))
const BY = 'scripts/make-fixtures.ts'

interface Fixture {
  name: string
  bytes: Uint8Array
  expect?: string
  by?: string
  why: string
}

const text = (name: string, encoding: string, content: string, why: string): Fixture => ({
  name,
  bytes: iconv.encode(content, encoding),
  why,
})

const TEXTS: Fixture[] = [
  {
    name: 'nothing.bin',
    bytes: new Uint8Array(0),
    expect: 'ok empty:no-content',
    why: 'a part of no bytes at all is recorded, never an error',
  },
  text(
    'text/brief.txt',
    'windows-1252',
    'Liebe Großmutter,\r\n\r\nder Käse schmeckte – wie immer – „köstlich“.\r\nBis Pfingsten, Ögmundur\r\n',
    'windows-1252 with curly quotes and dashes',
  ),
  text(
    'text/tegami.txt',
    'Shift_JIS',
    '拝啓\r\n春の候、港の灯台はますます美しく見えます。\r\n次の船は四月七日に着く予定です。\r\n敬具\r\n',
    'Shift_JIS without any declaration',
  ),
  text(
    'text/pismo.txt',
    'KOI8-R',
    'Дорогая Ольга,\nпароход пришёл вовремя, ёлка стоит у окна.\nОбнимаю, Пётр\n',
    'KOI8-R without any declaration',
  ),
  text(
    'text/note.txt',
    'utf16le',
    '\ufeffUTF-16 with a mark:\r\nzażółć gęślą jaźń\r\n',
    'UTF-16 by its byte order mark',
  ),
  text(
    'text/todo.md',
    'utf8',
    '# Harbour fair\n\n- paint the *blue* boat\n- ask `Mikkel` about [ropes](https://ropes.example/thick)\n',
    'Markdown is read as it stands',
  ),
  text(
    'text/build.log',
    'utf8',
    '2024-05-01T10:00:00Z INFO  lamp lit\n2024-05-01T10:00:02Z WARN  \u001b[33mfog\u001b[0m ahead\n',
    'a log with terminal escapes',
  ),
  text(
    'text/prices.csv',
    'windows-1252',
    'Artikel;Menge;Preis\r\n"Tau, 12 mm";3;1.234,50\r\nBoje;12;"89,90 €"\r\n"mehr\r\nzeilig";1;0\r\n',
    'semicolons, quoted commas and line breaks, decimal commas',
  ),
  text('text/crew.tsv', 'utf8', 'name\tberth\nÅse\t4\nJürgen\t7\n', 'tabs between cells'),
  text(
    'text/page.html',
    'windows-1252',
    '<!doctype html><html><head><meta charset="windows-1252"><title>Tide tables</title><style>p{color:red}</style><script>var secret = 1</script></head><body><h1>Tide tables</h1><p>High water at <b>noon</b>, caf&eacute; open.<br>Low water at six.</p><table><tr><td>Monday</td><td>4.2 m</td></tr></table><!-- hidden remark --><p style="display:none">invisible</p></body></html>',
    'charset by meta, script and style out, entities, a table',
  ),
  text(
    'text/parts.xml',
    'utf8',
    '<?xml version="1.0" encoding="UTF-8"?>\n<ship name="Elsinore"><part no="7">anchor &amp; chain</part><part no="9"><![CDATA[mast <tall>]]></part></ship>\n',
    'entities, CDATA and attributes of XML',
  ),
  text(
    'text/sign.svg',
    'utf8',
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="80"><title>Pier sign</title><text x="5" y="20">Mind the <tspan>gap</tspan></text></svg>\n',
    'text drawn in an SVG',
  ),
  text(
    'text/meeting.ics',
    'utf8',
    'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1@pier.example\r\nDTSTART;TZID=Europe/Copenhagen:20240502T140000\r\nSUMMARY:Lamp inspection\\, second storey\r\nLOCATION:Lighthouse\r\nDESCRIPTION:Bring the long lad\r\n der and the ledger\r\nATTENDEE;CN="Ida Holm":mailto:ida@pier.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
    'folded lines and escapes of an appointment',
  ),
  text(
    'text/person.vcf',
    'utf8',
    'BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg\r\nORG:Pier Society\r\nTEL;CELL:+45 20 30 40 50\r\nNOTE;ENCODING=QUOTED-PRINTABLE:keeps =\r\nthe spare key\r\nEND:VCARD\r\n',
    'quoted-printable with a soft line break in a card',
  ),
  text(
    'text/rich.rtf',
    'latin1',
    "{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Times;}{\\f1\\fcharset204 Times;}}\\f0 Dear \\b Mikkel\\b0,\\par the \\'93d\\'f8r\\'94 is open: \\u26085?\\u26412?.{\\v hidden}\\par{\\f1 \\'cf\\'f0\\'e8\\'e2\\'e5\\'f2}\\par{\\header Pier Society}}",
    'code pages by font, Unicode escapes, hidden text in, a header',
  ),
]

/** Converts with LibreOffice. @returns undefined where there is none */
function converted(from: string, bytes: Uint8Array, to: string): Uint8Array | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-fixtures-'))
  try {
    writeFileSync(join(folder, `it.${from}`), bytes)
    execFileSync('soffice', ['--headless', '--convert-to', to, `it.${from}`], {
      cwd: folder,
      stdio: 'ignore',
      timeout: 180_000,
    })
    return readFileSync(join(folder, `it.${to}`))
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function legacy(): Promise<Fixture[]> {
  const made = [
    {
      name: 'legacy/letter.doc',
      from: 'docx',
      why: 'Word 97: paragraphs, a table, a footer, umlauts',
      bytes: await docx(
        [
          '# Lotsenbrief',
          'Das Schiff läuft um sechs Uhr ein.',
          [
            ['Boje', 'Tiefe'],
            ['Nord', '12 Faden'],
          ],
          'Gez. Þórdís',
        ],
        'Hafenamt, Seite eins',
      ),
    },
    {
      name: 'legacy/sums.xls',
      from: 'xlsx',
      why: 'Excel 97: two sheets, numbers, shared strings',
      bytes: await xlsx({
        Cargo: [
          ['Ware', 'Tonnen'],
          ['Zucker', 12.5],
          ['Øl', 1234],
        ],
        Crew: [['Name'], ['Åse'], ['港太郎']],
      }),
    },
    {
      name: 'legacy/show.ppt',
      from: 'pptx',
      why: 'PowerPoint 97: titles, lines and notes of two slides',
      bytes: await pptx([
        {
          title: 'Reading the sea',
          lines: ['Waves', 'Wind'],
          notes: 'Tell the story of the lost oar.',
        },
        { title: 'Thanks', lines: ['Questions?'] },
      ]),
    },
  ]
  return made.map(({ name, from, why, bytes }) => ({
    name,
    why,
    by: `${BY}, LibreOffice`,
    bytes: converted(from, bytes, name.slice(-3)) ?? readFileSync(join(FOLDER, name)),
  }))
}

/** A file as Word keeps it inside a document: Ole10Native, [MS-OLEDS] 2.3.6. */
function wrapped(): Fixture {
  const content = Buffer.from('The rope was new, the knot was old.\n')
  const strings = Buffer.from('rope.txt\0C:\\rope.txt\0', 'latin1')
  const path = Buffer.from('C:\\rope.txt\0', 'latin1')
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  }
  const body = Buffer.concat([
    Buffer.from([2, 0]),
    strings,
    Buffer.from([0, 0, 3, 0]),
    number(path.length),
    path,
    number(content.length),
    content,
  ])
  const stream = Buffer.concat([number(body.length), body])
  return {
    name: 'legacy/object.ole',
    bytes: writeOleFile([['\u0001Ole10Native', stream]]),
    why: 'a file wrapped in an OLE object is read as a member',
  }
}

async function tar(members: Record<string, Uint8Array | string>): Promise<Buffer> {
  const archive = pack()
  for (const [name, content] of Object.entries(members))
    archive.entry({ name, mtime: new Date(Date.UTC(2024, 0, 1)) }, Buffer.from(content))
  archive.finalize()
  return buffer(archive)
}

/** An Outlook message: strings as streams, [MS-OXMSG] 2.1 and 2.4, with one attachment by value. */
function outlook(attached: Uint8Array): Uint8Array {
  const utf16 = (content: string): Buffer => Buffer.from(content, 'utf16le')
  const properties = (headBytes: number, method?: number): Buffer => {
    const entry = Buffer.alloc(method === undefined ? 0 : 16)
    if (method !== undefined) {
      entry.writeUInt32LE(0x37050003, 0) // PidTagAttachMethod, a 32-bit number
      entry.writeUInt32LE(6, 4)
      entry.writeUInt32LE(method, 8)
    }
    return Buffer.concat([Buffer.alloc(headBytes), entry])
  }
  return writeOleFile([
    ['__properties_version1.0', properties(32)],
    ['__substg1.0_001A001F', utf16('IPM.Note')],
    ['__substg1.0_0037001F', utf16('Piles, by Outlook')],
    ['__substg1.0_0C1A001F', utf16('Ida Holm')],
    ['__substg1.0_1000001F', utf16('The piles are dry – at last.\r\n')],
    ['__attach_version1.0_#00000000/__properties_version1.0', properties(8, 1)],
    ['__attach_version1.0_#00000000/__substg1.0_3707001F', utf16('plan.docx')],
    ['__attach_version1.0_#00000000/__substg1.0_37010102', attached],
  ])
}

/** A mail signed by OpenSSL with a key of the moment; the committed file stays where there is no OpenSSL. */
function signed(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-fixtures-'))
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' })
  }
  try {
    writeFileSync(
      join(folder, 'in'),
      'Content-Type: text/plain; charset=utf-8\r\n\r\nThe oath of the harbour master.\r\n',
    )
    openssl(
      ...'req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 9999 -subj /CN=pier.example'.split(
        ' ',
      ),
    )
    openssl(
      ...'smime -sign -nodetach -binary -in in -signer cert -inkey key -outform DER -out out'.split(
        ' ',
      ),
    )
    return readFileSync(join(folder, 'out'))
  } catch {
    return readFileSync(join(FOLDER, 'nest/oath.p7m'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function nests(): Promise<Fixture[]> {
  const plan = await docx(['The plan of the pier', 'Oak piles, forty of them.'])
  const mail = (n: number, attached: boolean): Uint8Array =>
    eml({
      from: 'Ida Holm <ida@pier.example>',
      to: 'Mikkel <mikkel@pier.example>',
      subject: `Piles, letter ${n}`,
      date: '2024-05-02T14:00:00+02:00',
      id: `piles-${n}@pier.example`,
      text: `The piles of load ${n} are wet.\n`,
      attachments: attached
        ? [{ name: 'plan.docx', type: 'application/octet-stream', bytes: plan }]
        : [],
    })
  const archive = await zip({
    '2024/plan.docx': plan,
    '2024/deep/inner.zip': await zip({
      'drawing.pdf': pdf([['Sheet one'], ['Sheet two, scale 1:50']]),
    }),
    'readme.txt': 'Read the plan first.\n',
  })
  const tarred = await tar({
    'pier/costs.csv': 'pile,price\noak,120\n',
    'pier/note.txt': 'Ask the harbour master.\n',
  })
  const box = Buffer.concat(
    [1, 2].flatMap((n) => [
      Buffer.from('From ida@pier.example Thu May  2 14:00:00 2024\n'),
      Buffer.from(Buffer.from(mail(n, false)).toString().replaceAll('\r\n', '\n')),
      Buffer.from('\n\n'),
    ]),
  )
  return [
    {
      name: 'nest/papers.zip',
      bytes: archive,
      why: 'documents in folders and in a zip inside, each under its name',
    },
    { name: 'nest/papers.tar', bytes: tarred, why: 'members of a tar' },
    {
      name: 'nest/papers.tar.gz',
      bytes: gzipSync(tarred),
      why: 'a tar inside gzip, without a level of its own',
    },
    {
      name: 'nest/letter.eml',
      bytes: mail(1, true),
      why: 'a mail as an attachment, with its own attachment of no declared type',
    },
    {
      name: 'nest/winmail.dat',
      bytes: winmail('programme.txt', Buffer.from('Saturday: the reading.\r\n')),
      why: 'what Outlook wraps around attachments',
    },
    { name: 'nest/piles.msg', bytes: outlook(plan), why: 'an Outlook message with an attachment' },
    {
      name: 'nest/oath.p7m',
      bytes: signed(),
      by: `${BY}, OpenSSL`,
      why: 'an opaque signature is opened',
    },
    { name: 'nest/letters.mbox', bytes: box, why: 'a mailbox as an attachment' },
  ]
}

const fixtures = [...TEXTS, ...(await legacy()), wrapped(), ...(await nests())]
for (const { name, bytes } of fixtures) {
  mkdirSync(dirname(join(FOLDER, name)), { recursive: true })
  writeFileSync(join(FOLDER, name), bytes)
}
const rows = fixtures.map(({ name, expect = 'ok', by = BY, why }) => [
  name,
  'text',
  expect,
  by,
  why,
])
writeFileSync(
  join(FOLDER, 'text.manifest.tsv'),
  [['fixture', 'lane', 'expect', 'made by', 'why it exists'], ...rows]
    .map((row) => `${row.join('\t')}\n`)
    .join(''),
)
