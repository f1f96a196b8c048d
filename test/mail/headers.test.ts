import { expect, test } from 'vitest'
import { parseAddresses } from '../../src/mail/addresses.js'
import { first, parseHead, parseStructured } from '../../src/mail/head.js'
import { decodeWords } from '../../src/mail/words.js'

const latin = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

test.each([
  ['plain', 'plain'],
  ['=?utf-8?Q?Gr=C3=BC=C3=9Fe_an?= alle', 'Grüße an alle'],
  ['=?UTF-8?B?R3LDvMOf?= =?UTF-8?B?ZQ==?=', 'Grüße'],
  ['=?UTF-8?B?R3LD?= =?UTF-8?B?vMOfZQ==?=', 'Grüße'],
  ['=?iso-8859-1?Q?a?= =?iso-8859-2?Q?=B1?=', 'aą'],
  ['=?iso-8859-1*de?Q?=E4?=', 'ä'],
  ['a=?utf-8?q?b?=c', 'abc'],
  ['=?utf-8?q?a b?=', 'a b'],
  ['=?utf-8?q?open', '=?utf-8?q?open'],
  ['=?utf-8?x?no?=', '=?utf-8?x?no?='],
  ['=?no-such-charset?q?a=E4?=', 'aä'],
  ['=?utf-8?q?=ZZ=4?=', '=ZZ=4'],
  ['=?iso-2022-jp?B?GyRCJUYbKEI=?= =?iso-2022-jp?B?GyRCJUYbKEI=?=', 'テテ'],
  [latin('roh: Grüße'), 'roh: Grüße'],
  ['roh: Gr\xfc\xdfe', 'roh: Grüße'],
  ['a\0b\x1b[31m', 'a b [31m'],
])('the header text %j reads %j', (raw, text) => {
  expect(decodeWords(raw)).toBe(text)
})

test.each([
  ['anna@example.org', [['', 'anna@example.org']]],
  ['Anna Berg <anna@example.org>', [['Anna Berg', 'anna@example.org']]],
  [
    '"Berg, Anna" <anna@example.org>, karl@example.org',
    [
      ['Berg, Anna', 'anna@example.org'],
      ['', 'karl@example.org'],
    ],
  ],
  ['Berg, Anna <anna@example.org>', [['Berg, Anna', 'anna@example.org']]],
  ['anna@example.org (Anna Berg)', [['Anna Berg', 'anna@example.org']]],
  ['"=?utf-8?Q?J=C3=B6rg?=" <j@example.org>', [['Jörg', 'j@example.org']]],
  ['=?utf-8?Q?J=C3=B6rg?= <j@example.org>', [['Jörg', 'j@example.org']]],
  [
    'Team: a@b.c, B <b@b.c>;, d@b.c',
    [
      ['', 'a@b.c'],
      ['B', 'b@b.c'],
      ['', 'd@b.c'],
    ],
  ],
  ['undisclosed-recipients:;', []],
  ['<@relay.example:anna@example.org>', [['', 'anna@example.org']]],
  ['pete(his account)@silly.test(his host)', [['his account his host', 'pete@silly.test']]],
  ['"a b"@example.org', [['', '"a b"@example.org']]],
  ["'Anna' <anna@example.org>", [['Anna', 'anna@example.org']]],
  ['Anna', [['Anna', '']]],
  ['Anna <>', [['Anna', '']]],
  ['<anna@example.org', [['', 'anna@example.org']]],
  [
    'a@b.c; d@e.f',
    [
      ['', 'a@b.c'],
      ['', 'd@e.f'],
    ],
  ],
  ['mailto:anna@example.org', [['', 'anna@example.org']]],
  ['"Anna \\"the\\" Berg" <anna@example.org>', [['Anna "the" Berg', 'anna@example.org']]],
  ['', []],
])('the address list %j', (raw, persons) => {
  expect(parseAddresses(raw).map(({ name, address }) => [name, address])).toEqual(persons)
})

test.each([
  ['text/plain; charset=utf-8', 'text/plain', { charset: 'utf-8' }],
  ['TEXT/HTML;CHARSET="UTF-8" ; x', 'text/html', { charset: 'UTF-8' }],
  ['multipart/mixed boundary="a;b"', 'multipart/mixed', { boundary: 'a;b' }],
  ["attachment; filename*=UTF-8''%C3%BCber%20uns.pdf", 'attachment', { filename: 'über uns.pdf' }],
  [
    "attachment; filename*0*=iso-2022-jp''%1B$B%25F; filename*1*=%25%39%25%48%1B(B.txt",
    'attachment',
    { filename: 'テスト.txt' },
  ],
  ['attachment; filename*1="b.txt"; filename*0="a"', 'attachment', { filename: 'ab.txt' }],
  ['attachment; filename="=?utf-8?B?w7wucGRm?="', 'attachment', { filename: 'ü.pdf' }],
  ['attachment; filename="C:\\temp\\a.pdf"', 'attachment', { filename: 'C:\\temp\\a.pdf' }],
  ['attachment (comment; filename=no); filename=a(b).txt', 'attachment', { filename: 'a(b).txt' }],
  ['attachment; filename="a;b\\"c.txt"', 'attachment', { filename: 'a;b"c.txt' }],
  [`attachment; filename=${latin('ü.txt')}`, 'attachment', { filename: 'ü.txt' }],
])('the structured field %j', (raw, value, params) => {
  const parsed = parseStructured(raw)
  expect(parsed.value).toBe(value)
  expect(Object.fromEntries(parsed.params)).toEqual(params)
})

test('fields are unfolded, odd lines are dropped and marked', () => {
  const head = parseHead('A: one\r\n two\r\nB : three\r\nno field\r\nC:\r\n')
  expect(head.isWellFormed).toBe(false)
  expect([first(head, 'a'), first(head, 'b'), first(head, 'c')]).toEqual(['one two', 'three', ''])
})

// The end of each word was looked for afresh: 140 kB of words that are never closed took twelve seconds.
test('words that are never closed cost what their length costs', () => {
  const open = '=?a?q?x'.repeat(28_000)
  expect(decodeWords(`${open}?=`)).toHaveLength(open.length - '=?a?q?'.length)
})
