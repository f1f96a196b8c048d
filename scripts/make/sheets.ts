/**
 * Pages of text, drawn in as many kinds as a trial needs. Nothing is written to disk.
 *
 * Fonts are the machine's, so trials count and compare, and never look at single pixels.
 */
import { createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas'
import type { Picture } from '../../src/extract/image/picture.js'
import { scene } from './photographs.js'
import { Dice } from './random.js'

/** Fonts by language, and sentences written for this. */
export const WRITING: Record<string, { fonts: string[]; text: string[] }> = {
  eng: {
    fonts: ['Liberation Serif', 'Liberation Sans', 'DejaVu Sans'],
    text: [
      'The pilot boat left the harbour before dawn and returned with two passengers.',
      'Nobody had expected the ice to break so early, least of all the ferryman.',
      'A letter from the insurance company lay unopened on the window sill.',
      'Seventeen crates of oranges were counted twice and written into the ledger.',
    ],
  },
  deu: {
    fonts: ['Liberation Serif', 'Liberation Sans', 'DejaVu Sans'],
    text: [
      'Das Lotsenboot verließ den Hafen vor der Dämmerung und kehrte mit zwei Gästen zurück.',
      'Niemand hatte erwartet, dass das Eis so früh bricht, am wenigsten der Fährmann.',
      'Ein Brief der Versicherung lag ungeöffnet auf dem Fensterbrett.',
      'Siebzehn Kisten Orangen wurden zweimal gezählt und in das Buch eingetragen.',
    ],
  },
  jpn: {
    fonts: ['Noto Sans CJK JP', 'Noto Serif CJK JP'],
    text: [
      '水先船は夜明け前に港を出て、二人の客を乗せて戻ってきた。',
      '氷がこれほど早く割れるとは、渡し守でさえ思っていなかった。',
      '保険会社からの手紙は封を切られないまま窓辺に置かれていた。',
      'みかんの箱は二度数えられ、帳簿に書き込まれた。',
    ],
  },
}

/** Fonts of a language that this machine has. */
export const fontsOf = (language: string): string[] =>
  WRITING[language]!.fonts.filter((font) => GlobalFonts.has(font))

/** An A4 page of forty lines of eleven points. */
export function a4Page(language: string, dpi: number): Picture {
  const { text } = WRITING[language]!
  const scale = dpi / 72
  return drawn(Math.round(595 * scale), Math.round(842 * scale), (pen) => {
    pen.font = `${11 * scale}px "${fontsOf(language)[0]}"`
    for (let line = 0; line < 40; line++)
      pen.fillText(text[line % text.length]!, 60 * scale, (70 + line * 18) * scale)
  })
}

/** How the lines of a page may stand. */
export const LAYOUTS = [
  'prose',
  'columns',
  'letter',
  'list',
  'table',
  'capitals',
  'picture',
  'few',
] as const

/** A page of 1,100 by 800 pixels, a third of an A4 one at 200 dpi, and what is written on it. */
export function mixedPage(
  language: string,
  layout: (typeof LAYOUTS)[number],
  seed: number,
): Picture & { lines: string[] } {
  const dice = new Dice(seed)
  const [width, height] = [1100, 800]
  const size = 22 + dice.below(12)
  const sentences = WRITING[language]!.text
  const units =
    language === 'jpn'
      ? sentences.flatMap((s) => s.split(/(?<=[、。])/))
      : sentences.flatMap((s) => s.split(' '))
  const joint = language === 'jpn' ? '' : ' '
  const written: string[] = []
  const picture = drawn(width, height, (pen) => {
    pen.font = `${size}px "${dice.one(fontsOf(language))}"`
    const write = (x: number, y: number, room: number, lines: number, ragged = 0): void => {
      for (let line = 0; line < lines && y + line * size * 1.5 < height - size; line++) {
        const wanted = room * (1 - dice.next() * ragged)
        let text = dice.one(units)
        for (
          let next = dice.one(units);
          pen.measureText(text + joint + next).width < wanted;
          next = dice.one(units)
        )
          text += joint + next
        written.push(layout === 'capitals' ? text.toUpperCase() : text)
        pen.fillText(written.at(-1)!, x, y + line * size * 1.5)
      }
    }
    const number = (): string => `${dice.below(900) + 100},${dice.below(90) + 10}`
    switch (layout) {
      case 'prose':
      case 'capitals':
        return write(60, 80, 980, 18, 0.1)
      case 'columns':
        write(60, 80, 460, 18, 0.1)
        return write(580, 80, 460, 18, 0.1)
      case 'letter':
        write(700, 80, 330, 3, 0.5)
        return write(60, 300, 980, 10, 0.3)
      case 'list':
        for (let line = 0; line < 12; line++) {
          pen.fillText(`${line + 1}.`, 80, 90 + line * size * 1.8)
          write(140, 90 + line * size * 1.8, 300 + dice.below(500), 1)
        }
        return
      case 'table':
        for (let line = 0; line < 12; line++) {
          write(60, 90 + line * size * 1.8, 480, 1, 0.4)
          for (const x of [640, 790, 940]) pen.fillText(number(), x, 90 + line * size * 1.8)
        }
        return
      case 'picture':
        scene(pen, dice, { left: 60, top: 60, width: 420, height: 340 })
        write(520, 90, 520, 8, 0.1)
        return write(60, 440, 980, 8, 0.1)
      case 'few':
        return write(60, 120 + dice.below(300), 600, 3, 0.5)
    }
  })
  return { ...picture, lines: written }
}

/** Japanese from top to bottom, the columns from the right. */
export function columnsPage(): Picture & { lines: string[] } {
  const { text } = WRITING['jpn']!
  const lines = [...text, ...text, ...text]
  const picture = drawn(900, 1100, (pen) => {
    pen.font = `30px "${fontsOf('jpn').at(-1)}"`
    for (const [column, line] of lines.entries())
      for (const [i, character] of [...line].entries()) {
        const isMark = '、。'.includes(character)
        const x = 820 - column * 60 + (isMark ? 18 : 0)
        pen.fillText(character, x, 90 + i * 33 - (isMark ? 16 : 0))
      }
  })
  return { ...picture, lines }
}

/** Share of what is written in lines that stands in a text: words, or characters where words have no spaces. */
export function shareRead(lines: readonly string[], text: string): number {
  const units = (of: string): string[] =>
    (of.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) =>
      /\p{sc=Han}|\p{sc=Hiragana}/u.test(word) ? [...word] : [word],
    )
  const left = new Map<string, number>()
  for (const unit of units(text)) left.set(unit, (left.get(unit) ?? 0) + 1)
  const wanted = units(lines.join('\n'))
  const read = wanted.filter((unit) => {
    const count = left.get(unit) ?? 0
    left.set(unit, count - 1)
    return count > 0
  })
  return read.length / wanted.length
}

function drawn(width: number, height: number, draw: (pen: SKRSContext2D) => void): Picture {
  const canvas = createCanvas(width, height)
  const pen = canvas.getContext('2d')
  pen.fillStyle = '#fff'
  pen.fillRect(0, 0, width, height)
  pen.fillStyle = '#000'
  draw(pen)
  return { width, height, grey: greyOf(pen.getImageData(0, 0, width, height).data) }
}

/** Luma of opaque pixels. */
function greyOf(rgba: Uint8ClampedArray): Uint8Array {
  const grey = new Uint8Array(rgba.length / 4)
  for (let i = 0; i < grey.length; i++)
    grey[i] = (rgba[i * 4]! * 77 + rgba[i * 4 + 1]! * 151 + rgba[i * 4 + 2]! * 28) >> 8
  return grey
}
