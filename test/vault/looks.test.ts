import { expect, test } from 'vitest'
import { kindByBytes, kindByName } from '../../src/vault/looks.js'

const MAIL =
  'Received: from a by b; Mon, 2 Mar 2020 10:00:00 +0000\nFrom: a@example.org\nSubject: x\n\nbody\n'
const FROM = 'From a@example.org Mon Mar  2 10:00:00 2020\n'

test.each([
  ['one.eml', 'mail'],
  ['ONE.EML', 'mail'],
  ['12.emlx', 'emlx'],
  ['12.partial.emlx', 'emlx'],
  ['report.pdf', 'other'],
  ['Inbox.msf', 'other'],
  ['.hidden', 'other'],
  ['draft~', 'other'],
  ['Inbox', undefined],
  ['2014', undefined],
  ['letter.txt', undefined],
  ['letter.msg', undefined],
])('the name %s says %s', (name, kind) => {
  expect(kindByName(name)).toBe(kind)
})

test.each([
  ['a mail without an ending', 'abc', MAIL, 'mail'],
  ['a mail after blank lines and a mark', 'abc', `\xef\xbb\xbf\n  \n${MAIL}`, 'mail'],
  ['a mail of a few usual fields', 'abc', 'From: a@b.c\nTo: d@e.f\n\nhello', 'mail'],
  ['a MIME head alone', 'abc', 'Content-Type: multipart/mixed; boundary=x\n\n--x', 'mail'],
  [
    'a MIME head alone that calls itself a mail',
    'abc.msg',
    'Content-Type: multipart/mixed; boundary=x\n\n--x',
    'mail',
  ],
  ['an mbox file', 'Inbox', FROM + MAIL, 'mbox'],
  [
    'a Thunderbird file',
    'Inbox',
    `From - Mon Mar 02 10:00:00 2020\r\nX-Mozilla-Status: 0001\r\n${MAIL}`,
    'mbox',
  ],
  [
    'a Takeout file',
    'All mail.mbox',
    `From 123@xxx Mon Mar 02 10:00:00 +0000 2020\nX-GM-THRID: 123\n${MAIL}`,
    'mbox',
  ],
  ['one mail with a separator on top', 'a.msg', FROM + MAIL, 'mail'],
  ['a text that lists mails', 'list.txt', FROM + MAIL, 'other'],
  ['a letter', 'letter', 'Dear Anna,\n\nFrom: here to there.\n', 'other'],
  [
    'a text that begins with From',
    'letter',
    'From Monday to Friday we work.\nSubject: none\n',
    'other',
  ],
  ['notes with colons', 'notes', 'Todo: buy milk\nDone: sleep\nDate: today\n', 'other'],
  ['a calendar', 'invite', 'BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:REQUEST\n', 'other'],
  ['a card', 'card', 'BEGIN:VCARD\nVERSION:3.0\nN:Berg;Anna\n', 'other'],
  [
    'a web answer',
    'dump',
    'HTTP/1.1 200 OK\nContent-Type: text/html\nDate: Mon\n\n<html>',
    'other',
  ],
  [
    'a package description',
    'control',
    'Package: a\nVersion: 1\nMaintainer: b\nDescription: c\n',
    'other',
  ],
  ['a script', 'run', '#!/bin/sh\necho "Subject: x"\n', 'other'],
  ['a picture', 'scan', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'other'],
  ['an Outlook message', 'a.msg', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'msg'],
  ['a Word document', 'a', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'other'],
  ['nothing', 'a', '', 'other'],
])('the bytes of %s', (_, name, text, kind) => {
  expect(kindByBytes(Buffer.from(text, 'latin1'), name)).toBe(kind)
})
