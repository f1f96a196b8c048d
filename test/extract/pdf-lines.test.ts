import { expect, test } from 'vitest'
import { pageText } from '../../src/extract/pdf/lines.js'
import { picturesHeld } from '../../src/extract/pdf/pictures.js'

const item = (str: string, x: number, y: number) => ({
  str,
  dir: 'ltr',
  width: 10,
  height: 12,
  transform: [12, 0, 0, 12, x, y],
  fontName: 'f',
  hasEOL: true,
})

test('a hundred thousand equal words are shown once each, however often they were printed', () => {
  const once = Array.from({ length: 100_000 }, (_, n) => item('same', (n % 400) * 20, n >> 3))
  const twice = once.flatMap((one) => {
    const [, , , , x, y] = one.transform as [number, number, number, number, number, number]
    return [one, item('same', x + 0.4, y + 0.3)]
  })
  expect(pageText(twice).match(/same/g)).toHaveLength(100_000)
})

test('letters one by one make words, also in a font that states them too wide', () => {
  const line = [...'ANCHORS AND CHAIN'].flatMap((letter, n) =>
    letter === ' ' ? [] : [{ ...item(letter, n * 6, 700), hasEOL: false }],
  )
  expect(pageText(line)).toBe('ANCHORS AND CHAIN')
})

test('a file that names pictures a million times holds some', () => {
  expect(picturesHeld(Buffer.from('/Image '.repeat(3_000_000))).any).toBe(true)
})
