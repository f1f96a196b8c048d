import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldText, foldTexts, isPaired, joinedForms, tokens } from '../../src/fold/fold.js'
import { SEPARATOR, SINGLE } from '../../src/fold/marks.js'

/** Folded text with its marks made visible: | for a separator, = before a single character. */
const shown = (text: string): string =>
  foldText(text).replaceAll(SEPARATOR, '|').replaceAll(SINGLE, '=')
/** The running part of it. */
const running = (text: string): string => shown(text).split(' |')[0] as string

describe('words', () => {
  test.each([
    ['Hello, World', 'hello world'],
    ['Réunion', 'reunion'],
    ['Re\u0301union', 'reunion'],
    ['Straße STRASSE ẞ', 'strasse strasse ss'],
    ['ﬁnance ﬂuß', 'finance fluss'],
    ['Ærø œuvre Łódź Đorđe', 'aero oeuvre lodz dorde'],
    ['İstanbul ISTANBUL ılık', 'istanbul istanbul ilik'],
    ['Đặng Nguyễn Thị', 'dang nguyen thi'],
    ['ΣΊΣΥΦΟΣ Σίσυφος', 'σισυφοσ σισυφοσ'],
    ['Ёлка йод За́мок', 'елка йод замок'],
    ['їжак й', 'їжак й'],
    ['مُحَمَّد كتــاب أحمد', 'محمد كتاب أحمد'],
    ['שָׁלוֹם', 'שלום'],
    ['हिन्दी कि', 'हिन्दी कि'],
    ['it’s l’été', 'it s l ete'],
    ['Ｐａｐｅｒ ２０２４', 'paper 2024'],
    ['m² 5㎏ ½', 'm2 5kg 1 2'],
    ['𝐁udget', 'budget'],
    ['Paperknife™', 'paperknife'],
    ['docu\u00adment zero\u200bwidth \u202aleft\u202c', 'document zerowidth left'],
    ['docu-\nment, docu-\r\n  ment', 'document document'],
    ['docu\u00ad\nment', 'document'],
    ['A-\nB 10-\n20 and -\nand', 'a b 10 20 and and'],
    ['a\ud800b \udc00c', 'a b c'],
    ['private \ue000use\ue002pdf\uf8ff', 'private use pdf'],
    ['\0null\0', 'null'],
    [`${'x'.repeat(64)} ${'y'.repeat(65)} z`, `${'x'.repeat(64)} z`],
    [`${'я'.repeat(65)} z`, 'z'],
    ['👍🏽 fine 1️⃣', 'fine 1'],
    ['', ''],
    ['... --- ...', ''],
  ])('%j folds to %j', (text, folded) => {
    expect(running(text)).toBe(folded)
  })

  test('base64 is dropped and prose, paths and numbers of the same length are kept', () => {
    const base64 = Buffer.from(
      Array.from({ length: 57 }, (_, index) => (index * 97 + 31) % 251),
    ).toString('base64')
    expect(foldText(`before\n${base64}\n${base64}\nafter`)).toBe('before after')
    const path = 'home/anna/documents/archive/correspondence/insurance/claims/letters'
    expect(foldText(path).split(' ')).toHaveLength(8)
    expect(foldText('1234567890/1234567890/1234567890/1234567890/1234567890/1234567890')).not.toBe(
      '',
    )
  })
})

describe('scripts matched as pairs', () => {
  test.each([
    ['日本語', '日 日本 本語 語'],
    ['が', 'が'],
    ['か\u3099', 'が'],
    ['ｶﾞｲﾄﾞ', 'ガ ガイ イド ド'],
    ['한국어', '한 한국 국어 어'],
    ['\u1112\u1161\u11ab\u1100\u116e\u11a8', '한 한국 국'],
    ['น้ำ', 'น น้ ้ํ ํา า'],
    ['ສະບາຍ', 'ສ ສະ ະບ ບາ າຍ ຍ'],
    ['ភាសា', 'ភ ភា ាស សា ា'],
    ['မြန်', 'မ မြ ြန န် ်'],
    ['𠮷野家', '𠮷 𠮷野 野家 家'],
    ['2024年度', '2024 年 年度 度'],
    ['PDFを', 'pdf を'],
    ['東\n京\r\n都', '東 東京 京都 都'],
    ['東 京', '東 京'],
    ['한\n국', '한 국'],
  ])('%j folds to %j', (text, folded) => {
    expect(running(text)).toBe(folded)
  })

  test('a single character stands once at the end', () => {
    expect(shown('日本、日本')).toBe('日 日本 本 日 日本 本 | =日 =本')
  })

  test.each([
    ['日', true],
    ['가', true],
    ['ก', true],
    ['𠮷', true],
    ['ー', true],
    ['a', false],
    ['я', false],
    ['ह', false],
    ['é', false],
  ])('%j is paired: %j', (character, paired) => {
    expect(isPaired(character)).toBe(paired)
  })
})

describe('joined forms', () => {
  test.each([
    ['INV-2023-001', ['inv2023001']],
    ['scan_0001.pdf', ['scan0001']],
    ['РФ-2023/15', ['рф202315']],
    ['1,234.50', ['1234 50']],
    ['1.234.567,89', ['1234567 89']],
    ['1\u202f234,5', ['1234 5']],
    ['12’500', ['12500']],
    ['01.02.2023', ['01022023']],
    ['well-known and/or', []],
    ['1.2.3 3.14', []],
    ['anna2@example.org', []],
  ])('%j has %j', (text, forms) => {
    expect(joinedForms(text)).toEqual(forms)
  })

  test('a joined form stands behind a separator, never in the running text', () => {
    expect(shown('pay INV-2023-001 now')).toBe('pay inv 2023 001 now | inv2023001')
  })

  // A pattern that looked to the end of the chain at each of its words took two minutes for each.
  test.each(['a-', '1.', 'ab_', "111'"])('a chain of %j costs what its length costs', (link) => {
    expect(joinedForms(`${link.repeat(64_000)}x`).length).toBeLessThanOrEqual(1)
  })

  test.each([
    ['1-2-3-4-5-6-7-8', ['12345678']],
    ['1-2-3-4-5-6-7-8-9', ['23456789']],
    [`1-${'x'.repeat(39)}`, [`1${'x'.repeat(39)}`]],
    [`1-${'x'.repeat(40)}`, []],
    [`1${',234'.repeat(21)}`, [`1${'234'.repeat(21)}`]],
    [`1${',234'.repeat(40)}`, []],
  ])('of %j, what is too long to be an identifier is none', (text, forms) => {
    expect(joinedForms(text)).toEqual(forms)
  })

  test('the halves of a word broken at a line end are found too', () => {
    expect(shown('a well-\nknown name')).toBe('a wellknown name | well known')
  })
})

// Putting a million marks in order takes minutes, inside the engine.
test('a letter under a million marks is a letter', () => {
  const flood = '\u0301\u0323'.repeat(500_000)
  expect(shown(`ca${flood}fé ק${flood}ר`)).toMatch(/^cafe ק[\u0301\u0323]+ר$/)
})

test('texts of one column are kept apart and their forms stand at its end', () => {
  expect(
    foldTexts(['INV-1', '', '日', '...', 'end']).replaceAll(SEPARATOR, '|').replaceAll(SINGLE, '='),
  ).toBe('inv 1 | 日 | end | inv1 | =日')
})

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        ...[
          'a',
          'B',
          '7',
          ' ',
          '-',
          '\n',
          '\u00ad',
          'é',
          'e',
          '\u0301',
          'ﬁ',
          'ß',
          'İ',
          'ς',
          'й',
          'ё',
        ],
        ...[
          '日',
          '本',
          'が',
          'ｶ',
          'ﾞ',
          '한',
          '\u1112',
          '\u1161',
          'น',
          '้',
          'ำ',
          'ह',
          'ि',
          '\ud842',
          '\udfb7',
        ],
        ...['\ue000', '\u200d', ',', '.', '1', '234', 'ـ', 'َ', 'م', '①', '½', '_'],
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join('')),
)

describe('for any text', () => {
  test('tokens agree with the running part of the folded text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const joined = tokens(text)
          .map((token) => token.text)
          .join(' ')
        const folded = foldText(text)
        expect(folded === joined || folded.startsWith(`${joined} ${SEPARATOR}`)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('offsets lie in the text, in order, and folding what they cover gives the token again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let before = 0
        for (const token of tokens(text)) {
          expect(token.start).toBeGreaterThanOrEqual(token.run === undefined ? before : 0)
          expect(token.end).toBeGreaterThan(token.start)
          expect(token.end).toBeLessThanOrEqual(text.length)
          before = token.start
          const again = tokens(text.slice(token.start, token.end)).map((each) => each.text)
          expect(again).toContain(token.text)
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('a folded word folds to itself', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const token of tokens(text))
          if (token.run === undefined)
            expect(tokens(token.text).map((each) => each.text)).toEqual([token.text])
      }),
      { numRuns: 2000 },
    )
  })

  test('only our own tokens hold private-use characters, spaces are single, tokens at most 64 units', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const folded = foldText(text)
        if (folded === '') return
        for (const token of folded.split(' ')) {
          expect(token).not.toBe('')
          expect(token.length).toBeLessThanOrEqual(65)
          expect(/[\ue000-\uf8ff]/.test(token.replace(/^[\ue000\ue001]/, ''))).toBe(false)
          expect(Buffer.from(token).toString()).toBe(token)
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('the result does not depend on what was folded before', () => {
    fc.assert(
      fc.property(anyText, anyText, (first, second) => {
        const alone = foldText(second)
        foldText(first)
        expect(foldText(second)).toBe(alone)
      }),
    )
  })
})

test('ligatures of many letters are taken apart, and a flood of them does not grow past twice its length', () => {
  expect(foldText('\ufdfa')).toBe('صلى الله عليه وسلم')
  const flood = '\ufdfa'.repeat(10_000)
  expect(foldText(flood).length).toBeLessThan(3 * flood.length)
})
