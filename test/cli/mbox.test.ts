import { expect, test } from 'vitest'
import { mboxEntry } from '../../src/cli/mbox.js'

const hit = { from: 'Ann Lee <ann@example.org>', date: 1_700_000_000 }

test('lines that begin with From are quoted once more, and one empty line ends the message', () => {
  const mail = Buffer.from('Subject: a\r\n\r\nFrom here\r\n>From there\r\n\r\n\r\n')
  expect(mboxEntry(mail, hit).toString()).toBe(
    'From ann@example.org Tue Nov 14 22:13:20 2023\nSubject: a\n\n>From here\n>>From there\n\n',
  )
})

// A pattern for the empty lines at the end went back over each stretch of them from each of its lines.
test('a stretch of empty lines costs what its length costs', () => {
  const mail = Buffer.from(`Subject: a\n\n${'\n'.repeat(2_000_000)}b`)
  expect(mboxEntry(mail, hit).subarray(-3).toString()).toBe('b\n\n')
})
