import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { readDocument } from '../../src/extract/read.js'
import type { Outcome } from '../../src/part/outcome.js'
import { DEFAULT_LIMITS, type Limits } from '../../src/part/limits.js'

async function read(
  bytes: Uint8Array | string,
  name = '',
  limits: Partial<Limits> = {},
): Promise<Outcome> {
  const { outcome } = await readDocument(
    { bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes, name },
    { limits: { ...DEFAULT_LIMITS, ...limits }, ocr: false, passwords: [] },
    'text',
  )
  return outcome
}

async function text(bytes: Uint8Array | string, name = ''): Promise<string> {
  const outcome = await read(bytes, name)
  if (outcome.kind !== 'text') throw new Error(`${outcome.state}: ${outcome.detail}`)
  return outcome.pages.map((page) => page.text).join('\f')
}

const LETTER = 'Sehr geehrte Frau Müller, die Übersicht für März enthält größere Beträge.\n'.repeat(
  4,
)
const JAPANESE = '請求書を送ります。よろしくお願いいたします。会議は東京で行います。\n'.repeat(4)
const RUSSIAN = 'Уважаемые коллеги, отправляю обзор бюджета за второй квартал.\n'.repeat(4)

test.each([
  ['utf-8', LETTER],
  ['windows-1252', LETTER],
  ['utf-16le', LETTER],
  ['utf-16be', LETTER],
  ['utf-32le', LETTER],
  ['shift_jis', JAPANESE],
  ['euc-jp', JAPANESE],
  ['utf-16le', JAPANESE],
  ['koi8-r', RUSSIAN],
  ['windows-1251', RUSSIAN],
  ['gb18030', '尊敬的客户，您好。附件是第二季度的预算报告。\n'.repeat(4)],
  ['big5', '親愛的客戶您好，附件是第二季度的預算報告。\n'.repeat(4)],
  ['euc-kr', '안녕하세요, 이번 분기의 예산 보고서를 보내드립니다.\n'.repeat(4)],
])('a text in %s is read without being told so', async (encoding, written) => {
  const addBOM = encoding.startsWith('utf-16') || encoding.startsWith('utf-32')
  expect(await text(iconv.encode(written, encoding, { addBOM }))).toBe(written)
})

test('a text named .docx is read as the text it is', async () => {
  expect(await text('Just words.', 'plan.docx')).toBe('Just words.')
})

test('lines end alike, controls and terminal colours go', async () => {
  expect(await text('one\r\ntwo\rthree\x1b[31m red\x1b[0m\x07\n')).toBe('one\ntwo\nthree red\n')
})

test('a file of no bytes or of blanks says why it has no text', async () => {
  expect(await read('')).toMatchObject({ kind: 'text', empty: 'no-content' })
  expect(await read(' \n ')).toMatchObject({ kind: 'text', empty: 'no-content' })
})

test('a longer text is cut and keeps what was read', async () => {
  const outcome = await read('word '.repeat(100), '', { textChars: 50 })
  expect(outcome).toMatchObject({ kind: 'text', cutBy: 'text-chars' })
  expect(outcome.kind === 'text' && outcome.pages[0]?.text).toHaveLength(50)
})

test('a file written into a text is read under its name', async () => {
  const outcome = await read('See this.\nbegin 644 note.txt\n+:&5L;&\\@=V]R;&0`\n`\nend\nBye.\n')
  expect(outcome.kind === 'text' && outcome.pages.map((page) => [page.member, page.text])).toEqual([
    [undefined, 'See this.\nBye.\n'],
    ['note.txt', 'hello world'],
  ])
})

test.each([
  ['commas', 'name,amount\n"Müller, Anna","1,200"\n', 'name\tamount\nMüller, Anna\t1,200\n'],
  ['semicolons', 'a;b\n1,5;2,5\n3,5;4,5\n', 'a\tb\n1,5\t2,5\n3,5\t4,5\n'],
  ['a named delimiter', 'sep=|\na|b,c\n', 'a\tb,c\n'],
  [
    'lines and quotes in a cell',
    'a,"two\nlines ""quoted"""\nb,c\n',
    'a\ttwo\nlines "quoted"\nb\tc\n',
  ],
  ['a quote never closed', 'a,"b\nc,d\n', 'a\tb\nc\td\n'],
])('a table with %s', async (_, written, expected) => {
  expect(await text(written, 'table.csv')).toBe(expected)
})

test('a web page gives what is seen of it', async () => {
  const page = `<html><head><meta charset="iso-8859-1"><title>Title</title><style>p{}</style></head>
    <body><script>no()</script><p>B\xfccher &amp; mehr<table><tr><td>a<td>b</table></body></html>`
  expect(await text(Buffer.from(page, 'latin1'))).toBe('Title\nBücher & mehr\na\tb')
})

test('XML gives its text and the values of attributes, however broken', async () => {
  const order = '<?xml version="1.0"?><o xmlns="http://x"><l no="A-7">Pens &amp; ink</l><l>Café<b>'
  expect(await text(order)).toBe('A-7\nPens & ink\nCafé\n')
})

test('escapes of JSON are undone in the lines that are values, not in what follows them', async () => {
  const lines = ['{"a":"Gr\\u00fc\\u00dfe"}', '[1]', 'C:\\new\\u00fcber', '{"cut": "\\u00fc']
  expect(await text(lines.join('\n'), 'a.json')).toBe(
    ['{"a":"Grüße"}', ...lines.slice(1)].join('\n'),
  )
})

test.each([
  ['letters placed one by one', '<tspan x="1" y="2">H</tspan><tspan x="5" y="2">i</tspan>', 'Hi\n'],
  ['an index', 'H<tspan dy="5">2</tspan><tspan dy="-5">O</tspan>', 'H2O\n'],
  [
    'words of one line',
    '<tspan x="1" y="2">one</tspan><tspan x="9" y="2">two</tspan>',
    'one two\n',
  ],
  ['lines', '<tspan x="1" y="2">one</tspan><tspan x="1" y="9">two</tspan>', 'one\ntwo\n'],
  ['lines by a shift', '<tspan x="1">one</tspan><tspan x="1" dy="1em">two</tspan>', 'one\ntwo\n'],
])('%s of a text in SVG', async (_, pieces, expected) => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><text x="1" y="2">${pieces}</text></svg>`
  expect(await text(svg, 'a.svg')).toBe(expected)
})

test('entities of a DTD are not expanded', async () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE o [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><o>&b;&f;x</o>`
  expect(await text(bomb)).not.toMatch(/haha|root:/)
})

// officeParser: such a number was thrown as a RangeError.
test.each([
  ['a.html', '<p>one &#999999999; &#x110000; &#xD800; two</p>', 'one \ufffd \ufffd \ufffd two'],
  [
    'a.svg',
    '<svg xmlns="http://www.w3.org/2000/svg"><text>one &#999999999; two</text></svg>',
    'one \ufffd two\n',
  ],
  ['a.rtf', '{\\rtf1 one\\u99999999999? \\u-99999999999? two}', /^one.*two\n$/],
])('characters beyond Unicode in %s cost nothing beside them', async (name, written, expected) => {
  expect(await text(written, name)).toEqual(
    typeof expected === 'string' ? expected : expect.stringMatching(expected),
  )
})

test('deep XML is cut, not followed for ever', async () => {
  const outcome = await read(`<?xml version="1.0"?><a>first${'<a>'.repeat(5_000)}`)
  expect(outcome).toMatchObject({ kind: 'text', cutBy: 'xml-depth' })
})

test('a drawing gives its words', async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><style>.a{}</style><title>Plan</title><text>Ground <tspan>floor</tspan></text></svg>`
  expect(await text(svg)).toBe('Plan\nGround floor\n')
})

test('an appointment: folded lines, escapes, people; no zones and identifiers', async () => {
  const lines = [
    'BEGIN:VCALENDAR',
    'PRODID:-//x//EN',
    'BEGIN:VTIMEZONE',
    'TZID:Europe/Berlin',
    'COMMENT:zone',
    'END:VTIMEZONE',
    'BEGIN:VEVENT',
    'UID:123@x',
    'DTSTART;TZID=Europe/Berlin:20260305T143000',
    'SUMMARY:Budget re',
    ' view',
    'ATTENDEE;CN="Anna: Müller";ROLE=X:mailto:anna@example.com',
    'DESCRIPTION:First\\nsecond\\, third',
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  expect((await text(lines.join('\r\n'))).trim()).toBe(
    '2026-03-05 14:30\nBudget review\nAnna: Müller anna@example.com\nFirst\nsecond, third',
  )
})

test('a line folded inside a character is joined before it is decoded', async () => {
  const bytes = Buffer.from('BEGIN:VCARD\r\nFN:J\u00fcrgen\r\nEND:VCARD')
  const at = bytes.indexOf(0xc3) + 1
  const folded = Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n '), bytes.subarray(at)])
  expect((await text(folded)).trim()).toBe('Jürgen')
})

test('an old card: quoted-printable in its own character set, the picture left out', async () => {
  const card = [
    'BEGIN:VCARD',
    'VERSION:2.1',
    'N;CHARSET=SHIFT_JIS;ENCODING=QUOTED-PRINTABLE:=8E=52=93=63;=91=BE=98=59',
    'NOTE;ENCODING=QUOTED-PRINTABLE:one=0D=0A=',
    'two',
    'TEL;WORK:+49 30 123',
    `PHOTO;ENCODING=BASE64:${'AAAA'.repeat(50)}`,
    'END:VCARD',
  ]
  expect((await text(card.join('\r\n'))).trim()).toBe('山田 太郎\none\ntwo\n+49 30 123')
})

// Putting a million marks in order takes minutes inside the engine, where nothing can end a thread.
test('a letter under a million marks keeps thirty of them', async () => {
  const [letter, next] = (await text(`first ק${'\u0301\u0323'.repeat(500_000)} next`))
    .split(' ')
    .slice(1)
  expect(letter).toHaveLength(31)
  expect(next).toBe('next')
})

// A pattern went on from each of the marks to the line's end.
test('a line of thousands of quoted-printable marks costs what its length costs', async () => {
  const card = `BEGIN:VCARD\nNOTE;ENCODING=QUOTED-PRINTABLE:K=C3=A4=\nse=20=\nund=20=\nBrot\nX${'QUOTED-PRINTABLE'.repeat(100_000)}\nFN:Ann\nEND:VCARD\n`
  expect(await text(card, 'a.vcf')).toBe('Käse und Brot\nAnn\n\n')
})

test('an appointment of very many lines costs what its length costs', async () => {
  const lines = Array.from({ length: 200_000 }, (_, n) => `COMMENT:${n} about`)
  const file = [
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT',
    ...lines,
    'SUMMARY:end',
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  const read = (await text(file.join('\r\n'), 'a.ics')).trimEnd().split('\n')
  expect([read[0], read.at(-2), read.at(-1)]).toEqual(['0 about', '199999 about', 'end'])
})
