import { expect, test } from 'vitest'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'

async function pages(rtf: string): Promise<Array<[string | undefined, string]>> {
  const { outcome } = await readDocument(
    { bytes: Buffer.from(rtf, 'latin1') },
    { limits: DEFAULT_LIMITS, ocr: false, passwords: [] },
    'text',
  )
  if (outcome.kind !== 'text') throw new Error(`${outcome.state}: ${outcome.detail}`)
  return outcome.pages.map((page) => [page.member, page.text])
}

const HEAD = `{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss Arial;}{\\f1\\fcharset204 Arial Cyr;}
{\\f2\\fcharset128{\\*\\falt Gothic}MS Gothic;}{\\f3\\fcharset2 Symbol;}
{\\f4\\fcharset2{\\*\\panose 05050102}Symbol;}{\\f5\\fcharset2 Wingdings;}{\\f6\\fcharset2 Code39;}{\\f7 Arial CE;}{\\f8\\fcharset130 Johab;}}`

test.each<[string, string, string]>([
  ['letters of the code page', "B\\'fccher und \\u214?l", 'Bücher und Öl\n'],
  ['a code page for each font', "{\\f1 \\'cf\\'f0\\'e8\\'e2\\'e5\\'f2} hi", 'Привет hi\n'],
  ['two bytes, the second in ASCII', "{\\f2 \\'83A\\'83\\'43}", 'アイ\n'],
  ['skipped fallbacks', "\\uc2\\u26085\\'93\\'fa\\u26412\\'96\\'7b!", '日本!\n'],
  ['no fallback', '\\uc0\\u26085\\u26412 x', '日本x\n'],
  ['a negative code', '\\u-10179?\\u-8694?', '😊\n'],
  ['a symbol font', '{\\f3 a}x', 'αx\n'],
  ['a symbol font by its form', '{\\f4 b}x', 'βx\n'],
  ['letters by their place in a symbol font', '{\\f3\\u-3999?}{\\f5\\u-3999?}x', 'α x\n'],
  ['what a font for bar codes writes', '{\\f6 *AB-12*}', '*AB-12*\n'],
  ['a character set in the name of a font', "{\\f7 \\'b9}", 'ą\n'],
  [
    'two bytes as they are, the second a mark',
    '{\\f2 \x95\\\x83}\x83{ \x83\\\\ x}y\\par z',
    '表マボ ソ xy\nz\n',
  ],
  ['Korean by its letters', "{\\f8 \\'a6\\'81\\'96\\'81 \\'eb_ AB}", '부두 船 AB\n'],
  ['western letters in a font of two bytes', "{\\f2 Universit\\'e0 }e", 'Università e\n'],
  [
    'a symbol that only an instruction names',
    'a{\\field{\\*\\fldinst SYMBOL 98 \\\\f "Symbol"}{\\fldrslt}}c',
    'aβc\n',
  ],
  [
    'what is chosen of a list',
    '{\\field{\\*\\fldinst FORMDROPDOWN {\\*\\formfield{\\fftype2\\ffres1\\ffdefres0{\\*\\ffname D}{\\*\\ffl red}{\\*\\ffl blue}}}}{\\fldrslt}}!',
    'blue!\n',
  ],
  [
    'the letters of an equation, not its properties',
    '{\\mmath{\\*\\moMathPara{\\*\\moMathParaPr{\\mjc left}}{\\*\\moMath{\\mnary{\\mnaryPr{\\mlimLoc subSup}}{\\msub{\\mr i}}{\\me{\\mr  x}}}}}}',
    'i x\n',
  ],
  ['text moved away left out', 'a{\\mvf moved}b', 'ab\n'],
  ['a mark that stands inside a group', '{a\\*\\unknown b}{\\*\\cs5 c}', 'abc\n'],
  ['no digits of a number without end', 'a\\red18446744073709551614 b', 'ab\n'],
  [
    'hidden text read, deleted text left out',
    'a{\\v hidden}b{\\deleted gone}c\\v no\\v0 d',
    'ahiddenbcnod\n',
  ],
  [
    'what a field shows, and where a link leads',
    '{\\field{\\*\\fldinst{HYPERLINK "https://a.example/x"}}{\\fldrslt{here}}} we go\\par',
    'here we go\nhttps://a.example/x\n',
  ],
  [
    'a page number field by its result only',
    'Page {\\field{\\*\\fldinst PAGE}{\\fldrslt 7}}',
    'Page 7\n',
  ],
  ['cells and rows', '\\trowd a\\cell b\\cell\\row c\\cell\\row', 'a\tb\t\nc\t\n'],
  [
    'a note after its paragraph',
    'One{\\super\\chftn{\\footnote \\chftn Note.}} two.\\par Three.',
    'One two.\nNote.\nThree.\n',
  ],
  ['a header once', '{\\header Top\\par}{\\headerf Top\\par}Text', 'Text\nTop\n'],
  [
    'a text box and no copy of it',
    '{\\shp{\\*\\shpinst{\\sp{\\sn a}{\\sv 1}}{\\shptxt Box\\par}}{\\shprslt{\\*\\do{\\dptxbx{\\dptxbxtext Box}}}}}x',
    'x\nBox\n',
  ],
  [
    'a comment without its author',
    'See it{{\\*\\atnid T}{\\*\\atnauthor Tom Frost}\\chatn{\\*\\annotation{\\*\\atndate -2015295488}A remark.}} now.\\par',
    'See it now.\nA remark.\n',
  ],
  [
    'what stands under a phonetic guide',
    `a {\\field{\\*\\fldinst { EQ \\\\* jc3 \\\\* "Font:Gothic" \\\\* hps12 \\\\o\\\\al(\\\\s\\\\up 11(\\u12392\\'3f\\u12358\\'3f),\\u26481\\'3f\\u20140\\'3f)}}{\\fldrslt {}}} b`,
    'a 東京 b\n',
  ],
  [
    'what stands under a phonetic guide once, where its field shows it',
    'a {\\field{\\*\\fldinst { EQ \\\\o\\\\ad(\\\\s\\\\up 9(reading),base)}}{\\fldrslt {base}}} b',
    'a base b\n',
  ],
  [
    'the words of WordArt, and no other property of a shape',
    '{\\shp{\\*\\shpinst{\\sp{\\sn shapeType}{\\sv 136}}{\\sp{\\sn gtextUNICODE}{\\sv Arched w\\u246?rds}}{\\sp{\\sn gtextFont}{\\sv Arial}}}}x\\par',
    'x\nArched wörds\n',
  ],
  [
    'alternative texts, of pictures too, but no names of files',
    '{\\*\\shppict{\\pict{\\*\\picprop{\\sp{\\sn wzDescription}{\\sv A red buoy}}}\\pngblip 00}}{\\shp{\\*\\shpinst{\\sp{\\sn wzName}{\\sv Shape 7}}{\\sp{\\sn wzDescription}{\\sv Picture 3}}}}x\\par',
    'x\nA red buoy\n',
  ],
  [
    'no styles, pictures, unknown destinations',
    '{\\stylesheet{\\s1 Heading;}}{\\*\\unknown what}{\\pict\\wmetafile8 0102}{\\*\\bkmkstart b}t',
    't\n',
  ],
  [
    'the Unicode form of a title',
    '{\\upr{\\title Uebung}{\\*\\ud{\\title \\u220?bung}}}',
    'Übung\n',
  ],
  [
    'quotes, dashes and blanks',
    '\\ldblquote a\\rdblquote\\emdash b\\~c\\_d\\-e',
    '“a”—b\u00a0c-de\n',
  ],
  ['binary that holds braces', 'a{\\pict\\bin5 }}}{{}b', 'ab\n'],
])('%s', async (_, body, expected) => {
  const [page] = await pages(`${HEAD}${body}}`)
  expect(page?.[1] ?? '\n').toBe(expected)
})

test('title, subject and keywords are read, the program is not', async () => {
  const [page] = await pages(
    `{\\rtf1{\\info{\\title Budget}{\\keywords money}{\\*\\company ACME}{\\creatim\\yr2026}}{\\*\\generator Word;}Text}`,
  )
  expect(page?.[1]).toBe('Budget\nmoney\nText\n')
})

test('braces that do not balance lose no text', async () => {
  expect((await pages('{\\rtf1 one}{\\b two}} three}'))[0]?.[1]).toContain('two')
  expect((await pages('{\\rtf1 {{{ open'))[0]?.[1]).toBe(' open\n')
})

test('text behind a table of styles that never ends is read', async () => {
  const [page] = await pages('{\\rtf1{\\stylesheet{\\s1 Heading;}\\sectd One.\\par{\\b Two.}\\par}')
  expect(page?.[1]).toBe('One.\nTwo.\n')
})

test('a hundred thousand open groups end', async () => {
  expect((await pages(`{\\rtf1 before${'{'.repeat(100_000)} inside`))[0]?.[1]).toMatch(/^before/)
})

test('an embedded document is read as a member', async () => {
  const native = Buffer.from('%Text of the embedded file, long enough to be one.')
  const string = (text: string): Buffer => {
    const bytes = Buffer.alloc(5 + text.length)
    bytes.writeUInt32LE(text.length + 1)
    bytes.write(text, 4, 'latin1')
    return bytes
  }
  const size = Buffer.alloc(4)
  size.writeUInt32LE(native.length)
  const object = Buffer.concat([
    Buffer.from([1, 5, 0, 0, 2, 0, 0, 0]),
    string('Text'),
    string(''),
    string(''),
    size,
    native,
  ])
  const all = await pages(
    `{\\rtf1 Outside{\\object\\objemb{\\*\\objclass Text}{\\*\\objdata ${object.toString('hex')}}{\\result shown}}}`,
  )
  expect(all).toEqual([
    [undefined, 'Outsideshown\n'],
    ['embedded object', native.toString()],
  ])
})

test('a control word that nobody knows has no text, whatever it is called', async () => {
  expect(await pages('{\\rtf1 a\\constructor b\\toString  c}')).toEqual([[undefined, 'ab c\n']])
})

test('a run of two-byte characters is decoded in pieces that part none', async () => {
  // Katakana A, whose second byte is a letter of ASCII, and a blank now and then.
  const piece = `${'\x83A'.repeat(999)} `
  const [[, text] = []] = await pages(`${HEAD}{\\f2 ${piece.repeat(60)}}}`)
  expect(text?.trimEnd() === `${'ア'.repeat(999)} `.repeat(60).trimEnd()).toBe(true)
})
