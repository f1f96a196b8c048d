import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { decodeText, encodingNamed } from '../../src/mail/charset.js'

const RUSSIAN = 'Съешь ещё этих мягких французских булок, да выпей чаю.'
const JAPANESE = '会議の資料を添付します。ご確認をお願いいたします。'
const CHINESE = '我们收到了您的付款，发票将于下周寄出，谢谢您的合作。'
const TRADITIONAL = '我們收到了您的付款，發票將於下週寄出，謝謝您的合作。'
const KOREAN = '회의 자료를 첨부합니다. 확인 부탁드립니다. 감사합니다.'
const POLISH = 'Zażółć gęślą jaźń, proszę o pilną odpowiedź w sprawie umowy.'
const GERMAN = 'Die Fähre über die Förde fällt aus. Grüße vom Übersetzer'
const GREEK = 'Ξεσκεπάζω την ψυχοφθόρα βδελυγμία, παρακαλώ απαντήστε.'

test.each([
  ['windows-1251', RUSSIAN],
  ['koi8-r', RUSSIAN],
  ['cp866', RUSSIAN],
  ['x-mac-cyrillic', RUSSIAN],
  ['shift_jis', JAPANESE],
  ['euc-jp', JAPANESE],
  ['gb2312', CHINESE],
  ['gbk', CHINESE],
  ['gb18030', CHINESE],
  ['big5', TRADITIONAL],
  ['euc-kr', KOREAN],
  ['ks_c_5601-1987', KOREAN],
  ['iso-8859-2', POLISH],
  ['windows-1250', POLISH],
  ['cp852', POLISH],
  ['iso-8859-7', GREEK],
  ['utf-16le', RUSSIAN],
  ['utf-16be', JAPANESE],
  ['utf-7', RUSSIAN],
  ['utf-32le', GREEK],
])('a text declared as %s is read as such', (declared, text) => {
  const codec = { 'ks_c_5601-1987': 'cp949', gb2312: 'gbk', 'x-mac-cyrillic': 'maccyrillic' }[
    declared
  ]
  const bytes = iconv.encode(text, codec ?? declared)
  expect(decodeText(bytes, { declared }).text).toBe(text)
  expect(decodeText(bytes, { declared: `"${declared.toUpperCase()}"` }).text).toBe(text)
})

test.each([
  ['windows-1251', RUSSIAN],
  ['koi8-r', RUSSIAN],
  ['shift_jis', JAPANESE],
  ['euc-jp', JAPANESE],
  ['gb18030', CHINESE],
  ['big5', TRADITIONAL],
  ['euc-kr', KOREAN],
  ['windows-1253', GREEK],
  ['iso-8859-2', POLISH],
  ['windows-1250', POLISH],
  ['cp850', GERMAN],
  ['macroman', GERMAN],
  ['windows-874', 'เรือออกตอนเที่ยง กรุณานำเสื้อกันฝนมาด้วย'],
  ['windows-1254', 'Vapur öğlen kalkıyor, lütfen yanınıza kalın bir palto alın. Teşekkürler, Işıl'],
  [
    'windows-1252',
    'Déjà vu à la fête, où le garçon naïf mangea des crêpes; das Mädchen aß Spätzle.',
  ],
])('a text in %s without a name is found out', (name, text) => {
  expect(decodeText(iconv.encode(text, name)).text).toBe(text)
  expect(decodeText(iconv.encode(text, name), { declared: 'x-unknown' }).text).toBe(text)
})

test('a text that is called UTF-16 or UTF-7 and is not stays readable', () => {
  for (const declared of ['utf-16', 'utf-16le', 'utf-32', 'utf-7']) {
    expect(decodeText(Buffer.from('plain words'), { declared }).text).toBe('plain words')
    expect(decodeText(Buffer.from('Grüße', 'utf8'), { declared }).text).toBe('Grüße')
  }
})

test('a byte order mark wins over the declared name and is no part of the text', () => {
  const marked = (name: string): Buffer => iconv.encode('grün', name, { addBOM: true })
  for (const name of ['utf8', 'utf16le', 'utf16be', 'utf32le', 'utf32be'])
    expect(decodeText(marked(name), { declared: 'iso-8859-1' }).text).toBe('grün')
})

test('UTF-8 is UTF-8 even when it is called Latin-1 or ASCII', () => {
  for (const declared of ['iso-8859-1', 'us-ascii', 'windows-1252', ''])
    expect(decodeText(Buffer.from('Grüße an die Schöne', 'utf8'), { declared }).text).toBe(
      'Grüße an die Schöne',
    )
})

test('a name that the bytes contradict gives way', () => {
  const latin = Buffer.from('Grüße an die schöne Müllerin', 'latin1')
  expect(decodeText(latin, { declared: 'utf-8' }).text).toBe('Grüße an die schöne Müllerin')
  expect(decodeText(latin, { declared: 'us-ascii' }).text).toBe('Grüße an die schöne Müllerin')
})

test('a UTF-8 text that is damaged in one place stays UTF-8', () => {
  const bytes = Buffer.concat([
    Buffer.from('Größe, Übermut, Ärger, süß, schön, Öl', 'utf8'),
    Buffer.from([0xc3]),
  ])
  expect(decodeText(bytes, { declared: 'utf-8' }).text).toBe(
    'Größe, Übermut, Ärger, süß, schön, Öl�',
  )
})

test('seven-bit encodings are found by their escapes', () => {
  const bytes = Buffer.from('1b2442256d256425331b28421b2442256d1b2842', 'hex')
  expect(decodeText(bytes).text).toBe('ロヤコロ')
  expect(decodeText(bytes, { declared: 'us-ascii' }).text).toBe('ロヤコロ')
  expect(decodeText(Buffer.from('~{<:Ky2;~} ok', 'latin1'), { declared: 'hz-gb-2312' }).text).toBe(
    '己所不 ok',
  )
  expect(
    decodeText(Buffer.from('\x1b$)C\x0e0!\x0f', 'latin1'), { declared: 'iso-2022-kr' }).text,
  ).toBe('가')
})

test('a declaration in markup counts after the one beside the bytes', () => {
  const html = iconv.encode(
    `<html><head><meta charset="windows-1251"></head>${RUSSIAN}`,
    'windows-1251',
  )
  expect(decodeText(html, { markup: true }).text).toContain(RUSSIAN)
  const xml = iconv.encode(`<?xml version="1.0" encoding="koi8-r"?><a>${RUSSIAN}</a>`, 'koi8-r')
  expect(decodeText(xml, { markup: true }).text).toContain(RUSSIAN)
})

test.each([
  ['UTF8', 'utf-8'],
  ['utf_8', 'utf-8'],
  ['"ISO-8859-1"', 'windows-1252'],
  ['iso8859_15', 'iso-8859-15'],
  ['cp-1252', 'windows-1252'],
  ['windows1251', 'windows-1251'],
  ['x-sjis', 'shift_jis'],
  ['CP932', 'shift_jis'],
  ['unicode-1-1-utf-7', 'utf-7'],
  ['base64', undefined],
  ['8bit', undefined],
  ['no such thing', undefined],
  ['__proto__', undefined],
])('the label %s means %s', (label, name) => {
  expect(encodingNamed(label)).toBe(name)
})

test('UTF-16 without a mark is known by the high bytes of its script', () => {
  for (const line of [RUSSIAN, GREEK, JAPANESE, CHINESE, KOREAN])
    for (const name of ['utf-16le', 'utf-16be']) {
      const text = `${line}\r\n${line}\r\n`
      expect(decodeText(iconv.encode(text, name)).text, name).toBe(text)
    }
})

test('a text called Western that is of another script by its bytes is not believed', () => {
  for (const [name, text] of [
    ['windows-1251', RUSSIAN],
    ['shift_jis', JAPANESE],
    ['windows-1253', GREEK],
  ] as const)
    expect(decodeText(iconv.encode(text, name), { declared: 'iso-8859-1' }).text).toBe(text)
  const french = 'ÉTÉ À ÉÈÊ, ÇÀ ÊÎÔÛ'
  expect(decodeText(Buffer.from(french, 'latin1'), { declared: 'iso-8859-1' }).text).toBe(french)
})

test.each([
  [
    'names and a line',
    'José Ñúñez',
    '“smart quotes” – it’s £5',
    'Straße 12',
    'MÜLLER STRASSE ÜBER ÖL',
  ],
  ['signs between letters', 'B×H×T', 'Windows®XP', '0,2 W/m²K', '10 µA, 5 µF', 'x² + y³ = ƒ(x)'],
  ['hardly another letter', 'ÅÄÖ åäö', 'ÄÖÜ äöüß', 'ßßßß øøø æææ'],
])('short Western texts stay Western: %s', (_, ...texts) => {
  for (const text of texts)
    expect(decodeText(iconv.encode(text, 'windows-1252')).text, text).toBe(text)
})

test('a few accented letters are Western', () => {
  expect(decodeText(Buffer.from('caf\xe9', 'latin1')).text).toBe('café')
  expect(decodeText(Buffer.from('M\xfcller', 'latin1')).text).toBe('Müller')
  expect(decodeText(Buffer.from('\xdcbersicht', 'latin1')).text).toBe('Übersicht')
  expect(decodeText(Buffer.from('Se\xf1or Nu\xf1ez \x96 \x93quoted\x94', 'latin1')).text).toBe(
    'Señor Nuñez – “quoted”',
  )
})
