import { expect, test } from 'vitest'
import { textOf, type Word } from '../../src/extract/ocr/words.js'

const word = (text: string): Word => [text, 0, 0, 10, 10, 90]

// tesseract-ocr/tesseract#991: a space between characters of scripts that have none
test.each([
  ['Chinese', ['港口', '在', '冬天', '关闭'], '港口在冬天关闭'],
  ['Japanese', ['港', 'の', '朝', 'は', '早い', '。'], '港の朝は早い。'],
  ['Thai', ['ท่า', 'เรือ'], 'ท่าเรือ'],
  ['Korean, which has spaces', ['항구', '안내문'], '항구 안내문'],
  ['English', ['the', 'harbour'], 'the harbour'],
  ['Arabic', ['ميناء', 'الصيد'], 'ميناء الصيد'],
  ['Japanese beside English', ['港', 'the', 'harbour', '港', '町'], '港 the harbour 港町'],
])('words of %s are joined as the script is written', (_, words, text) => {
  expect(textOf({ words: words.map(word), breaks: words.map(() => ''), confidence: 90 })).toBe(text)
})
