import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Message } from '../../src/mail/message.js'
import { parseMessage } from '../../src/mail/parse.js'
import { DEFAULT_LIMITS as limits } from '../../src/part/limits.js'

const mail = (...lines: string[]): Buffer => Buffer.from(lines.join('\r\n'), 'latin1')
const parse = (bytes: Buffer) => parseMessage(bytes, { limits, want: 'all' })

test('a plain mail gives its headers, its text and no parts', async () => {
  const message = await parse(
    mail(
      'From: Anna Berg <anna@example.org>',
      'To: "Olsen, Per" <per@example.org>, karl@example.org',
      'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= from the =?iso-8859-1?B?5A==?=',
      'Date: Tue, 3 Mar 2020 10:20:30 +0100',
      'Message-ID: <one@example.org>',
      '',
      'Hello there',
      '',
    ),
  )
  expect(message).toMatchObject({
    messageId: 'one@example.org',
    subject: 'Grüße from the ä',
    from: [{ name: 'Anna Berg', address: 'anna@example.org' }],
    to: [
      { name: 'Olsen, Per', address: 'per@example.org' },
      { name: '', address: 'karl@example.org' },
    ],
    date: Date.UTC(2020, 2, 3, 9, 20, 30) / 1000,
    body: 'Hello there',
    parts: [],
    problems: [],
    losses: [],
  })
})

test('an attachment is a part with its name, type, size, hash and bytes', async () => {
  const content = Buffer.from('the content of the file')
  const message = await parse(
    mail(
      'Subject: x',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'see the file',
      '--b',
      "Content-Type: application/pdf; name*=utf-8''%C3%BCber.pdf",
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment',
      '',
      content.toString('base64'),
      '--b--',
      '',
    ),
  )
  expect(message.body).toBe('see the file')
  expect(message.parts).toEqual([
    {
      path: '2',
      name: 'über.pdf',
      declaredType: 'application/pdf',
      charset: '',
      disposition: 'attachment',
      hash: createHash('sha256').update(content).digest('hex'),
      size: content.length,
      bytes: content,
    },
  ])
})

test('an inline text with a file name is a part and no body', async () => {
  const message = await parse(
    mail(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      '',
      'body',
      '--b',
      'Content-Type: text/plain; name="notes.txt"',
      'Content-Disposition: inline; filename="notes.txt"',
      '',
      'notes',
      '--b--',
    ),
  )
  expect(message.body).toBe('body')
  expect(message.parts.map(({ name, size }) => [name, size])).toEqual([['notes.txt', 5]])
})

const names = (message: Message): Array<[string, string, number]> =>
  message.parts.map(({ path, name, size }) => [path, name, size])

test('a nested message, winmail.dat and a signed mail are parts with their bytes', async () => {
  const inner = 'Subject: inner\r\n\r\ninner body'
  const message = await parse(
    mail(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: message/rfc822',
      '',
      inner,
      '--b',
      'Content-Type: application/ms-tnef; name="winmail.dat"',
      'Content-Transfer-Encoding: base64',
      '',
      'eJ8+Ig==',
      '--b',
      'Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m',
      'Content-Transfer-Encoding: base64',
      '',
      'MIIB',
      '--b--',
    ),
  )
  expect(names(message)).toEqual([
    ['1', '', inner.length],
    ['2', 'winmail.dat', 4],
    ['3', 'smime.p7m', 3],
  ])
  expect(Buffer.from(message.parts[0]?.bytes ?? []).toString()).toBe(inner)
  expect(message.parts[0]?.declaredType).toBe('message/rfc822')
})

test('of alternatives the plain text is taken, an invitation among them is a part', async () => {
  const message = await parse(
    mail(
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'plain words',
      '--b',
      'Content-Type: text/html',
      '',
      '<p>html words</p>',
      '--b',
      'Content-Type: text/calendar; method=REQUEST; charset=utf-8',
      '',
      'BEGIN:VCALENDAR',
      '--b--',
    ),
  )
  expect(message.body).toBe('plain words')
  expect(message.parts).toMatchObject([
    { path: '3', declaredType: 'text/calendar', charset: 'utf-8' },
  ])
})

test('HTML is read when the plain text is missing, empty or only a note that there is HTML', async () => {
  const alternative = (plain: string): Buffer =>
    mail(
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      plain,
      '--b',
      'Content-Type: text/html',
      '',
      `<p>${'real words '.repeat(100)}</p>`,
      '--b--',
    )
  expect((await parse(alternative('   '))).body).toMatch(/^real words/)
  const both = (await parse(alternative('Please use a modern mail reader.'))).body
  expect(both).toMatch(/^Please use a modern mail reader\.\nreal words/)
  expect((await parse(mail('Content-Type: text/html', '', '<b>only</b> html'))).body).toBe(
    'only html',
  )
})

test('files in the body text become parts and leave the text', async () => {
  const message = await parse(
    mail(
      'Subject: files',
      '',
      'before',
      'begin 644 cat.txt',
      '#0V%T',
      '`',
      'end',
      'between, begin 644 is prose here',
      'begin with nothing',
      '=ybegin line=128 size=3 name=dog.bin',
      Buffer.from([0x6e, 0x99, 0x91]).toString('latin1'),
      '=yend size=3',
      'after',
    ),
  )
  expect(message.body).toBe('before\nbetween, begin 644 is prose here\nbegin with nothing\nafter')
  expect(names(message)).toEqual([
    ['1.file1', 'cat.txt', 3],
    ['1.file2', 'dog.bin', 3],
  ])
  expect(message.parts.map(({ bytes }) => Buffer.from(bytes ?? []).toString('latin1'))).toEqual([
    'Cat',
    'Dog\x67'.slice(0, 2) + '\x67',
  ])
})

test('flowed text is made whole, with DelSp for languages without blanks', async () => {
  const flowed = (params: string, ...lines: string[]): Promise<Message> =>
    parse(mail(`Content-Type: text/plain; charset=utf-8; format=flowed${params}`, '', ...lines))
  expect((await flowed('', 'a long ', 'line', '> quoted ', '> words', '-- ', 'name')).body).toBe(
    'a long line\n> quoted words\n-- \nname',
  )
  expect((await flowed('; delsp=yes', 'Donau ', 'dampf')).body).toBe('Donaudampf')
})

test.each([
  [
    'a separator line on top',
    ['From anna@example.org Mon Mar  2 10:00:00 2020', 'Subject: plan', '', 'body'],
    [],
  ],
  ['blank lines on top', ['', '', 'Subject: plan', '', 'body'], []],
  [
    'a line in the head that is no field',
    ['Subject: plan', 'no field', 'From: a@b.c', '', 'body'],
    ['a line of the head is no field'],
  ],
  [
    'no empty line after the head',
    ['From: a@b.c', 'Subject: plan', 'body'],
    ['no empty line ends the head'],
  ],
  [
    'two content types',
    ['Subject: plan', 'Content-Type: text/plain', 'Content-Type: text/html', '', 'body'],
    [],
  ],
  [
    'a multipart without boundary',
    ['Subject: plan', 'Content-Type: multipart/mixed', '', 'body'],
    ['a multipart has no parts; it was read as text'],
  ],
  [
    'a boundary that never comes',
    ['Subject: plan', 'Content-Type: multipart/mixed; boundary=b', '', 'body'],
    ['a multipart has no parts; it was read as text'],
  ],
  [
    'a boundary that never closes',
    ['Subject: plan', 'Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'body'],
    [],
  ],
  [
    'another boundary than named',
    [
      'Subject: plan',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--c',
      'Content-Type: text/plain',
      '',
      'body',
      '--c--',
    ],
    ['the boundary of a multipart is not the one it names'],
  ],
  [
    'an inner boundary that never closes',
    [
      'Subject: plan',
      'Content-Type: multipart/mixed; boundary=a',
      '',
      '--a',
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      '',
      'body',
      '--a--',
    ],
    [],
  ],
])('%s: the mail is read all the same', async (_, lines, problems) => {
  const message = await parse(mail(...lines))
  expect(message.subject).toMatch(/^plan/)
  expect(message.body).toBe('body')
  expect(message.problems).toEqual(problems)
  expect(message.losses).toEqual([])
})

test('a mail cut in the middle of an attachment keeps what came', async () => {
  const message = await parse(
    mail(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      '',
      'body',
      '--b',
      'Content-Type: application/pdf; name=a.pdf',
      'Content-Transfer-Encoding: base64',
      '',
      'QUJDREVG',
      'QUJDR',
    ),
  )
  expect(message.body).toBe('body')
  expect(names(message)).toEqual([['2', 'a.pdf', 9]])
})

test('base64 with padding in the middle, without padding, and with a footer behind it is read', async () => {
  const decode = async (...lines: string[]): Promise<string> => {
    const head = ['Content-Type: application/x; name=a', 'Content-Transfer-Encoding: base64', '']
    const message = await parse(mail(...head, ...lines))
    return Buffer.from(message.parts[0]?.bytes ?? []).toString('latin1')
  }
  expect(await decode('QUI=', 'QUI=')).toBe('ABAB')
  expect(await decode('QUI')).toBe('AB')
  expect(await decode('QUI= and words behind it')).toBe('AB')
  expect(await decode('QUI=', '', '____________', 'a list, its footer')).toBe('AB')
  expect(await decode('Q U\0I=')).toBe('AB')
})

test('a part without a head is text from its first line on', async () => {
  const message = await parse(
    mail(
      'From: anna@example.org',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=between',
      '',
      '--between',
      'Content-Type: text/plain',
      '',
      'The first section.',
      '--between',
      'Words where a head should be.',
      '',
      'And those behind.',
      '--between',
      'Content-Type: text/plain',
      '',
      'The last section.',
      '--between--',
      '',
    ),
  )
  const lines = message.body.split('\n').filter((line) => line.trim() !== '')
  expect(lines).toEqual([
    'The first section.',
    'Words where a head should be.',
    'And those behind.',
    'The last section.',
  ])
})

test('headers in raw bytes are read in whatever charset', async () => {
  const subject = async (head: Buffer, type = ''): Promise<string> =>
    (
      await parse(
        Buffer.concat([Buffer.from('Subject: '), head, Buffer.from(`\r\n${type}\r\nbody`)]),
      )
    ).subject
  expect(await subject(Buffer.from('Grüße', 'utf8'))).toBe('Grüße')
  expect(await subject(Buffer.from('Grüße', 'latin1'))).toBe('Grüße')
  expect(
    await subject(
      Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
      'Content-Type: text/plain; charset=windows-1251\r\n',
    ),
  ).toBe('Привет')
})

test('line ends of a bare carriage return are read, with a stray line feed too', async () => {
  const text = 'Subject: plan\rFrom: a@b.c\r\rone\rtwo'
  expect(await parse(Buffer.from(text))).toMatchObject({ subject: 'plan', body: 'one\ntwo' })
  expect(await parse(Buffer.from(`${text}\nthree\n`))).toMatchObject({
    subject: 'plan',
    body: 'one\ntwo\nthree',
  })
})

test('a mail saved as UTF-16 is read', async () => {
  const text = '\ufeffSubject: Grüße\r\nFrom: a@b.c\r\n\r\nbody'
  expect(await parse(Buffer.from(text, 'utf16le'))).toMatchObject({
    subject: 'Grüße',
    body: 'body',
  })
})

test('bytes are handed out for the hashes that are wanted, and never above partBytes', async () => {
  const bytes = mail(
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: application/x; name=a',
    '',
    'one',
    '--b',
    'Content-Type: application/x; name=b',
    '',
    'two',
    '--b--',
  )
  const none = await parseMessage(bytes, { limits })
  expect(none.parts.map((part) => part.bytes)).toEqual([undefined, undefined])
  const want = new Set([none.parts[1]?.hash ?? ''])
  const some = await parseMessage(bytes, { limits, want })
  expect(some.parts.map((part) => part.bytes?.length)).toEqual([undefined, 3])
  const small = await parseMessage(bytes, { limits: { ...limits, partBytes: 2 }, want: 'all' })
  expect(small.parts.map(({ bytes: held, size }) => [held, size])).toEqual([
    [undefined, 3],
    [undefined, 3],
  ])
})

test('the newest Received header with a date is taken, and labels are split', async () => {
  const message = await parse(
    mail(
      'Received: by c with SMTP; nonsense',
      'Received: from a by b; Tue, 3 Mar 2020 10:20:30 +0100',
      'Received: from x by a; Tue, 3 Mar 2020 09:00:00 +0100',
      'X-Gmail-Labels: Inbox,=?UTF-8?Q?Pers=C3=B6nlich?=,"Project X"',
      '',
      'body',
    ),
  )
  expect(message.received).toBe(Date.UTC(2020, 2, 3, 9, 20, 30) / 1000)
  expect(message.date).toBeNull()
  expect(message.labels).toEqual(['Inbox', 'Persönlich', 'Project X'])
})
