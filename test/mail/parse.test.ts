import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
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
