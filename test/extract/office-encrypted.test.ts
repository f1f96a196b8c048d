import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readDocument } from '../../src/extract/read.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'

const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../fixtures/office/${name}`, import.meta.url)))
const LOCKED = fixture('locked.docx')

test.each([
  ['without a password', []],
  ['with other passwords', ['gull', 'herring']],
])('a document under a password is locked %s', async (_, passwords) => {
  const { outcome } = await readDocument(
    { bytes: LOCKED },
    { limits: DEFAULT_LIMITS, ocr: false, passwords },
    'text',
  )
  expect(outcome).toEqual({ kind: 'declined', state: 'locked', detail: 'password needed' })
})

test('a document under a password is read when the password is in the list', async () => {
  const { outcome } = await readDocument(
    { bytes: LOCKED },
    { limits: DEFAULT_LIMITS, ocr: false, passwords: ['wrong', 'gull & herring'] },
    'text',
  )
  expect(outcome.kind === 'text' && outcome.pages[0]?.text).toContain('Household budget')
})

test('an OpenDocument encrypted to OpenPGP keys says that no password opens it', async () => {
  const settings = { limits: DEFAULT_LIMITS, ocr: false as const, passwords: ['gull'] }
  const { outcome } = await readDocument({ bytes: fixture('keys.odt') }, settings, 'text')
  expect(outcome).toMatchObject({ state: 'locked', detail: 'an OpenPGP key is needed' })
})

test('an OpenDocument under a password is read when the password is in the list', async () => {
  const read = async (passwords: string[]): Promise<unknown> => {
    const settings = { limits: DEFAULT_LIMITS, ocr: false as const, passwords }
    const { outcome } = await readDocument({ bytes: fixture('locked.odt') }, settings, 'text')
    return outcome.kind === 'text' ? outcome.pages[0]?.text : outcome.state
  }
  expect(await read([])).toBe('locked')
  expect(await read(['herring'])).toBe('locked')
  expect(await read(['herring', 'gull'])).toContain('Minutes of the garden club')
})
