import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  BLOCK_CHARS,
  packBody,
  packPages,
  unpackBody,
  unpackOcr,
  unpackPages,
} from '../../src/fold/texts.js'

const wellFormed = fc.string({ unit: 'grapheme', maxLength: 300 })

test('a body comes back as it was', () => {
  fc.assert(
    fc.property(wellFormed, fc.integer({ min: 1, max: 400 }), (text, times) => {
      const body = text.repeat(times)
      expect(
        packBody(body)
          .map((block) => unpackBody(block))
          .join('') === body,
      ).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('an empty body has no block', () => {
  expect(packBody('')).toEqual([])
})

test('no block holds more than its share, and no character is cut in two', () => {
  for (const text of ['𠮷'.repeat(40_000), `a${'𠮷'.repeat(40_000)}`, 'word '.repeat(20_000)])
    for (const block of packBody(text).map((block) => unpackBody(block))) {
      expect(block.length).toBeLessThanOrEqual(BLOCK_CHARS)
      expect(block).toBe(Buffer.from(block).toString())
    }
})

test('a long text without spaces is cut in one pass', () => {
  const text = '日'.repeat(20_000_000)
  const blocks = packBody(text)
  expect(blocks).toHaveLength(Math.ceil(text.length / BLOCK_CHARS))
})

test('short pages share a block, and a long one is spread over several', () => {
  const pages = [
    { text: 'one', page: 1 },
    { text: 'two', page: 2, member: 'a.zip › b.pdf' },
    { text: 'x '.repeat(20_000), page: 3 },
    { text: '', page: 4 },
  ]
  const blocks = packPages(pages)
  const stored = blocks.flatMap((block) => unpackPages(block.text))
  expect(unpackPages(blocks[0]?.text as Uint8Array).slice(0, 2)).toEqual(pages.slice(0, 2))
  const whole = stored.filter((page) => page.page === 3)
  expect(whole.map((page) => page.isContinued ?? false)).toEqual([false, true, true])
  expect(whole.map((page) => page.text).join('') === pages[2]?.text).toBe(true)
  expect(blocks.every((block) => block.ocr === undefined)).toBe(true)
})

test('what OCR saw stays with its page', () => {
  const ocr = {
    confidence: 90,
    width: 100,
    height: 200,
    turned: 0,
    words: [['word', 1, 2, 3, 4, 90]] as Array<[string, number, number, number, number, number]>,
  }
  const [block] = packPages([
    { text: 'plain', page: 1 },
    { text: 'word', page: 2, ocr },
  ])
  expect(unpackOcr(block?.ocr as Uint8Array)).toEqual([{}, { ocr }])
})
