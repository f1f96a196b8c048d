import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromModifiedUtf7, maildirName, nameText, systemPath } from '../../src/vault/names.js'

test('any name of bytes becomes text and can be turned back', () => {
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0 && byte !== 0x2f)))
    .filter((bytes) => bytes.length > 0)
  fc.assert(
    fc.property(name, (bytes) => {
      const text = nameText(bytes)
      // Valid UTF-8 from one end to the other: it is stored and printed.
      expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text)
      const back = systemPath('/vault', text)
      expect(Buffer.from(back)).toEqual(Buffer.concat([Buffer.from('/vault/'), bytes]))
    }),
  )
})

test('different names never become the same text', () => {
  expect(nameText(Buffer.from('a\xfc', 'latin1'))).toBe('a\\xfc')
  expect(nameText(Buffer.from('a\\xfc'))).toBe('a\\x5cxfc')
})

test.each([
  ['Entw&APw-rfe', 'Entwürfe'],
  ['&ZeVnLIqe-', '日本語'],
  ['Tom &- Jerry', 'Tom & Jerry'],
  ['R&D', 'R&D'],
  ['&AAAA', '&AAAA'],
  ['plain', 'plain'],
])('the mailbox name %s reads %s', (name, text) => {
  expect(fromModifiedUtf7(name)).toBe(text)
})

test('letters that are no flags are ignored', () => {
  expect(maildirName('1491941793.M41850P8566V0I4.mx1,S=10956:2,STln')).toEqual({
    unique: '1491941793.M41850P8566V0I4.mx1,S=10956',
    flags: 1 | 16,
  })
})
