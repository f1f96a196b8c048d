/** Mail that is made to cost: each within its time, with what could be read, and the reason when it was cut. */
import { expect, test } from 'vitest'
import type { Message } from '../../src/mail/message.js'
import { parseMessage } from '../../src/mail/parse.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import { nastyMail } from './generate.js'

const HEAD = 'From: anna@example.org\r\nSubject: plan\r\nMIME-Version: 1.0\r\n'
const times = (text: string, count: number): string => text.repeat(count)
const body = (text: string): string => `${HEAD}\r\n${text}`
const typed = (type: string, text: string): string => `${HEAD}Content-Type: ${type}\r\n\r\n${text}`
const field = (name: string, value: string): string => `${HEAD}${name}: ${value}\r\n\r\nbody`
const nested = (depth: number): string =>
  HEAD +
  Array.from(
    { length: depth },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  ).join('') +
  '\r\ninner text\r\n'

const isBody = (text: string) => (message: Message) => expect(message.body).toBe(text)
const isLong = (length: number) => (message: Message) =>
  expect(message.body.length).toBeGreaterThan(length)
const notes = (text: string) => (message: Message) =>
  expect(message.problems.join()).toContain(text)
const loses = (text: string) => (message: Message) => expect(message.losses.join()).toContain(text)

const CASES: Array<[string, () => string | Buffer, ((message: Message) => void)?]> = [
  [
    'a flowed body of 130,000 lines',
    () => typed('text/plain; format=flowed', times('flowed line \r\n', 130_000)),
    isLong(1_500_000),
  ],
  [
    'a flowed body of quotes',
    () => typed('text/plain; format=flowed', times(`${times('>', 500)}\r\n`, 5000)),
  ],
  ['multiparts nested 40 deep', () => nested(40), isBody('inner text')],
  ['multiparts nested 400 deep', () => nested(400), notes('deeper than 50')],
  ['a text below 400 multiparts', () => nested(400), isBody('inner text')],
  ['multiparts nested 5,000 deep', () => nested(5000), loses('more parts than are read')],
  [
    '100,000 header fields',
    () => `${HEAD}${times('X-Flood: yes\r\n', 100_000)}\r\nbody`,
    isBody('body'),
  ],
  ['a header field of 5 MB', () => field('X-Long', times('a', 5_000_000)), isBody('body')],
  [
    'a Message-ID of 16 kB',
    () => field('Message-ID', `<${times('a', 16_000)}@x>`),
    (m) => expect(m.messageId).toHaveLength(998),
  ],
  ['30,000 references', () => field('References', times('<a@b> ', 30_000)), isBody('body')],
  ['references never closed', () => field('References', `<${times(' ', 190_000)}`), isBody('body')],
  [
    '20,000 recipients',
    () => field('To', times('a@b.c, ', 20_000)),
    (m) => expect(m.to).toHaveLength(20_000),
  ],
  ...['(', '<', '"', '@', ' ', 'a', '<>', '"a" ', 'a ', ',', ':', '\\', '=?a?q?'].map(
    (piece): (typeof CASES)[0] => [
      `an address list of ${JSON.stringify(piece)}`,
      () => field('To', `x${times(piece, 190_000 / piece.length)}y@b`),
      isBody('body'),
    ],
  ),
  ...['=?a?q?', '=?utf-8?B?QUI=?= ', '=?', '=?utf-8?q?a', '?='].map((piece): (typeof CASES)[0] => [
    `a subject of ${JSON.stringify(piece)}`,
    () => field('Subject', `${times(piece, 190_000 / piece.length)}?=`),
    isBody('body'),
  ]),
  ...['a=b; ', '(', '\\"', ' ', 'n*0*=%41; ', 'a b=c ', '=', '"', ';'].map(
    (piece): (typeof CASES)[0] => [
      `a Content-Type of ${JSON.stringify(piece)}`,
      () => field('Content-Type', `text/plain; ${times(piece, 190_000 / piece.length)}`),
    ],
  ),
  [
    'a transfer encoding of parentheses',
    () => field('Content-Transfer-Encoding', times('(', 190_000)),
    isBody('body'),
  ],
  [
    'a date of months',
    () => field('Date', times('1 jan ', 30_000)),
    (m) => expect(m.date).toBeNull(),
  ],
  [
    '100,000 parts',
    () => typed('multipart/mixed; boundary=b', `${times('--b\r\n\r\na\r\n', 100_000)}--b--`),
    (m) => {
      loses('more than 1000 parts')(m)
      isBody(times('a\n', 1000).trim())(m)
    },
  ],
  [
    'lines like the boundary',
    () => typed('multipart/mixed; boundary=b', `--b\r\n\r\n${times('--bx\r\n', 200_000)}--b--`),
    isLong(900_000),
  ],
  [
    'a boundary of one dash in a line of dashes',
    () => typed('multipart/mixed; boundary=-', `---\r\n\r\n${times('-', 1_000_000)}\r\n-----`),
    isLong(900_000),
  ],
  [
    'another boundary than declared, 100,000 times',
    () => typed('multipart/mixed; boundary=zz', `${times('--b\r\n\r\na\r\n', 100_000)}--b--`),
  ],
  ['a line of 45 MB', () => body(times('a', 45_000_000)), loses('cut')],
  [
    'quoted-printable of equals signs',
    () => typed('text/plain\r\nContent-Transfer-Encoding: quoted-printable', times('=', 3_000_000)),
  ],
  [
    'base64 of paddings',
    () => typed('text/plain\r\nContent-Transfer-Encoding: base64', times('=A', 3_000_000)),
  ],
  ['uuencoded blocks that never end', () => body(times('begin 644 x\r\n#AAAA\r\n', 100_000))],
  [
    '1,500 uuencoded files',
    () => body(times('begin 644 x\r\n#AAAA\r\n`\r\nend\r\n', 1500)),
    (m) => expect(m.parts).toHaveLength(1000),
  ],
  ['ten megabytes of NUL', () => body(times('\0', 10_000_000)), isBody('')],
  [
    'binary junk',
    () =>
      Buffer.from(
        Array.from({ length: 2_000_000 }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255),
      ),
  ],
  [
    'bare carriage returns',
    () => body(times('line\r\n', 300_000)).replaceAll('\r\n', '\r'),
    isLong(1_000_000),
  ],
  [
    '200,000 separator lines on top',
    () => times('From x\n', 200_000) + body('body'),
    isBody('body'),
  ],
  [
    '50,000 lines in the head that are no fields',
    () => `${HEAD}${times('this is no field\r\n', 50_000)}X: y\r\n\r\nbody`,
  ],
  [
    'half of the lines in the head no fields',
    () => `${HEAD}${times('no field\r\nTo: x@y.z\r\n', 20_000)}\r\nbody`,
  ],
  ['empty lines alone', () => times('\r\n', 1_000_000), notes('empty')],
  ['an empty file', () => '', notes('empty')],
  [
    'HTML of 1,000,000 open elements',
    () => typed('text/html', `${times('<b>', 1_000_000)}x`),
    isBody('x'),
  ],
  ['HTML of less-than signs', () => typed('text/html', times('<', 1_000_000))],
  [
    'HTML of hidden elements',
    () => typed('text/html', times('<div style="display:none">x', 100_000)),
  ],
  [
    'HTML that asks for a charset 3,000 times',
    () => typed('text/html', times('<meta ', 3000) + times('\xff', 1000)),
  ],
  [
    'HTML texts of style sheets that never end, in no known encoding',
    () => {
      const text = `--b\r\nContent-Type: text/html\r\n\r\n${times('\xff\xfa', 50)}${times('<style>', 37_000)}\r\n`
      return typed('multipart/mixed; boundary=b', times(text, 15))
    },
  ],
  [
    'an attachment of 40 MB',
    () =>
      typed(
        'application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64',
        times(`${times('QUJD', 19)}\r\n`, 710_000),
      ),
    (m) => {
      expect(m.parts).toMatchObject([{ name: 'a.pdf', size: 40_470_000 }])
      expect(m.parts[0]?.bytes).toBeUndefined()
    },
  ],
]

test.each(CASES)('%s', { timeout: 30_000 }, async (_, make, check) => {
  const made = make()
  const bytes = typeof made === 'string' ? Buffer.from(made, 'latin1') : made
  const began = performance.now()
  const message = await parseMessage(bytes, { limits: DEFAULT_LIMITS, want: 'all' })
  expect(performance.now() - began).toBeLessThan(10_000)
  check?.(message)
})

// nodemailer/mailparser#263: a message inside whose closing boundary is wrong was waited for without end.
test.each([
  ['is that of nobody', '--wrong--'],
  ['is that of the mail around it', '--outer--'],
  ['is missing', ''],
])(
  'a mail with a message inside whose closing boundary %s is read to its end',
  async (_, close) => {
    const inside =
      'Subject: inside\r\nContent-Type: multipart/mixed; boundary=inner\r\n\r\n' +
      `--inner\r\n\r\nthe inner text\r\n${close}\r\n`
    const written =
      `--outer\r\n\r\nthe outer text\r\n--outer\r\nContent-Type: message/rfc822\r\n\r\n${inside}` +
      '--outer\r\nContent-Type: text/plain; name=last.txt\r\nContent-Disposition: attachment\r\n\r\nthe last part\r\n--outer--\r\n'
    const bytes = Buffer.from(typed('multipart/mixed; boundary=outer', written))
    const message = await parseMessage(bytes, { limits: DEFAULT_LIMITS, want: 'all' })
    expect(message.body).toBe('the outer text')
    const said = message.parts.map((part) => Buffer.from(part.bytes ?? []).toString())
    expect(said[0]).toContain('the inner text')
    if (close !== '--outer--') expect(said[1]?.trim()).toBe('the last part')
  },
)

test.each(['text/plain', 'text/html'])('a body over messageChars says so: %s', async (type) => {
  const limits = { ...DEFAULT_LIMITS, messageChars: 1000 }
  const read = (chars: number) =>
    parseMessage(Buffer.from(typed(type, times('a', chars))), { limits })
  expect(await read(1000)).toMatchObject({ body: times('a', 1000), losses: [] })
  expect(await read(1001)).toMatchObject({
    body: times('a', 1000),
    losses: ['the body text was cut'],
  })
})

test('a mail over messageBytes is read up to there and says so', async () => {
  const limits = { ...DEFAULT_LIMITS, messageBytes: 1000 }
  const message = await parseMessage(Buffer.from(body(times('word ', 1000))), { limits })
  expect(message.subject).toBe('plan')
  expect(message.body.length).toBeGreaterThan(800)
  expect(message.losses).toEqual(['larger than 1000 bytes; the rest was not read'])
})

test.each([
  [
    'behind a boundary that is not the one named',
    typed('multipart/mixed; boundary=b', `${times('--c\r\n\r\na\r\n', 30)}--c--`),
  ],
  [
    'after another multipart, behind a boundary that is not the one named',
    typed(
      'multipart/mixed; boundary=a',
      `${times('--a\r\n\r\na\r\n', 15)}--a\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${times('--c\r\n\r\na\r\n', 15)}--c--\r\n--a--`,
    ),
  ],
  ['written into the text', body(times('begin 644 a\r\n#86)C\r\n`\r\nend\r\n', 30))],
])('more parts than are read, %s, are told', async (_, written) => {
  const limits = { ...DEFAULT_LIMITS, messageParts: 20 }
  const { losses } = await parseMessage(Buffer.from(written), { limits })
  expect(losses).toEqual(['more than 20 parts; the rest was not read'])
})

test('a reading that takes too long keeps what it has', async () => {
  const limits = { ...DEFAULT_LIMITS, parseTimeoutMs: 1 }
  const parts = times('--b\r\n\r\nword\r\n', 900)
  const message = await parseMessage(Buffer.from(typed('multipart/mixed; boundary=b', parts)), {
    limits,
  })
  expect(message.subject).toBe('plan')
  expect(message.losses.join()).toContain('too long')
})

test(
  'mails made of nasty pieces never throw, never hang, and give the same message twice',
  { timeout: 120_000 },
  async () => {
    for (let seed = 1; seed <= 600; seed++) {
      const bytes = nastyMail(seed)
      const began = performance.now()
      const message = await parseMessage(bytes, { limits: DEFAULT_LIMITS, want: 'all' })
      expect(performance.now() - began, `seed ${seed}`).toBeLessThan(2000)
      const again = await parseMessage(bytes, { limits: DEFAULT_LIMITS, want: 'all' })
      expect(again, `seed ${seed}`).toEqual(message)
      const paths = message.parts.map(({ path }) => path)
      expect(new Set(paths).size, `seed ${seed}: ${paths.join(' ')}`).toBe(paths.length)
      for (const part of message.parts) {
        expect(part.bytes?.length).toBe(part.size)
        expect(part.name).not.toMatch(/\p{Cc}/u)
      }
      expect(message.subject + message.body).not.toContain('\0')
      expect([...message.problems, ...message.losses].join()).not.toMatch(/\p{Cc}/u)
    }
  },
)
