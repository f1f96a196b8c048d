import { describe, expect, test } from 'vitest'
import { ocrRate } from '../../src/cli/sweeping.js'
import {
  bytesText,
  columnsOf,
  cutToColumns,
  dateText,
  durationText,
  jsonLine,
  plain,
} from '../../src/cli/terminal.js'

describe('text of a mail on a terminal', () => {
  test.each([
    ['an escape sequence', '\u001b[2J\u001b]0;title\u0007hello', '[2J ]0;title hello'],
    ['C1 controls', 'a\u009b31mb', 'a 31mb'],
    ['line breaks and tabs', 'one\r\ntwo\tthree', 'one two three'],
    ['marks that turn the direction', 'invoice\u202efdp.exe', 'invoice fdp.exe'],
    ['letters of every script', 'naïve 東京 שלום หน้า', 'naïve 東京 שלום หน้า'],
  ])('%s', (_, text, shown) => expect(plain(text)).toBe(shown))

  test('JSON lines hold no control character, and give back the same text', () => {
    const text = 'a\u0007b\u009bc\u007fd\u2028e\u202ef\u200eg\u200fh\ufeffi'
    const line = jsonLine({ text })
    expect(line).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(line)).toEqual({ text })
  })
})

test('wide characters take two columns, marks none, and a cut never passes the edge', () => {
  expect(columnsOf('東京')).toBe(4)
  expect(columnsOf('e\u0301')).toBe(1)
  expect(cutToColumns('東京都港区', 6)).toBe('東京…')
  expect(cutToColumns('short', 6)).toBe('short')
})

test('sizes, times and dates are written for people', () => {
  expect([0, 999, 1000, 8253, 25_000_000, 1.5e12].map(bytesText)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.0 kB',
    '8.3 kB',
    '25.0 MB',
    '1.5 TB',
  ])
  expect([0.4, 14, 1500, 61_000, 200_000, 18_720_000].map(durationText)).toEqual([
    '0.4 ms',
    '14 ms',
    '1.5 s',
    '61 s',
    '3 min 20 s',
    '5.2 h',
  ])
  expect(dateText(Date.UTC(2024, 2, 5, 8, 12) / 1000)).toBe('2024-03-05 09:12')
})

test('the rate of OCR is told once there is something to go by', () => {
  expect(ocrRate(4_000, 2, 10, 8)).toBe('')
  expect(ocrRate(60_000, 0, 10, 0)).toBe('')
  expect(ocrRate(60_000, 12, 36, 42)).toBe('42 pages a minute, 3 min 0 s left')
})
