/**
 * Photographs without a letter in them, of the sizes that telephones and cameras store: ten kinds of scenes, each
 * with the grain of its surfaces, out of focus here and there, with the noise of a sensor. Nothing is written to disk.
 */
import { createCanvas, type Canvas, type SKRSContext2D } from '@napi-rs/canvas'
import type { Picture } from '../../src/extract/image/picture.js'
import { Dice } from './random.js'

const SUBJECTS = [
  'clouds',
  'hills',
  'leaves',
  'bricks',
  'windows',
  'waves',
  'people',
  'lights',
  'grass',
  'cloth',
] as const
export type Subject = (typeof SUBJECTS)[number]

/** 3, 5, 8 and 12 megapixels. */
const SIZES = [
  [2048, 1536],
  [2592, 1944],
  [3264, 2448],
  [4032, 3024],
] as const

/** How much of a surface shows in it, as a share of its brightness: leaves and walls more than the sky. */
const GRAIN: Record<Subject, number> = {
  clouds: 0.06,
  hills: 0.25,
  leaves: 0.25,
  bricks: 0.3,
  windows: 0.12,
  waves: 0.15,
  people: 0.1,
  lights: 0.1,
  grass: 0.25,
  cloth: 0.2,
}

export interface Photograph {
  subject: Subject
  width: number
  height: number
  rgba: Uint8ClampedArray
}

/** @param size default: one of SIZES, upright or across */
export function photograph(seed: number, size?: readonly [number, number]): Photograph {
  const dice = new Dice(seed)
  const subject = SUBJECTS[seed % SUBJECTS.length]!
  let [width, height] = size ?? dice.one(SIZES)
  if (!size && dice.below(3) === 0) [width, height] = [height, width]
  const canvas = createCanvas(width, height)
  const pen = canvas.getContext('2d')
  const scale = Math.max(width, height) / 1000
  scene(pen, dice, { left: 0, top: 0, width, height }, subject, scale)
  blurBand(canvas, pen, 0, height, dice.next() * 0.6 * scale)
  const focus = dice.next()
  blurBand(canvas, pen, 0, height * focus * 0.5, dice.next() * 4 * scale)
  blurBand(canvas, pen, height * (0.5 + focus * 0.5), height, dice.next() * 4 * scale)
  const { data } = pen.getImageData(0, 0, width, height)
  addGrain(data, width, GRAIN[subject], scale, dice)
  return { subject, width, height, rgba: data }
}

/**
 * A sheet of paper as a telephone sees it: on some ground, not quite straight, half in the shade.
 *
 * @param fill share of the picture's height or width that it takes
 */
export function photographOf(
  page: Picture,
  seed: number,
  fill = 0.85,
  [width, height]: readonly [number, number] = SIZES[2],
): Photograph {
  const dice = new Dice(seed)
  const subject = SUBJECTS[seed % SUBJECTS.length]!
  if (page.height > page.width !== height > width) [width, height] = [height, width]
  const canvas = createCanvas(width, height)
  const pen = canvas.getContext('2d')
  const scale = Math.max(width, height) / 1000
  scene(pen, dice, { left: 0, top: 0, width, height }, subject, scale)
  const paper = createCanvas(page.width, page.height)
  const sheet = paper.getContext('2d').createImageData(page.width, page.height)
  for (let i = 0; i < page.grey.length; i++) sheet.data.fill(page.grey[i]!, i * 4, i * 4 + 3)
  for (let i = 3; i < sheet.data.length; i += 4) sheet.data[i] = 255
  paper.getContext('2d').putImageData(sheet, 0, 0)
  const fit = fill * Math.min(width / page.width, height / page.height)
  pen.translate(width / 2, height / 2)
  pen.rotate((dice.next() - 0.5) * 0.06)
  pen.drawImage(
    paper,
    (-page.width * fit) / 2,
    (-page.height * fit) / 2,
    page.width * fit,
    page.height * fit,
  )
  pen.resetTransform()
  const shade = pen.createLinearGradient(0, 0, width, height * dice.next())
  shade.addColorStop(0, '#fff')
  shade.addColorStop(1, '#555')
  pen.globalCompositeOperation = 'multiply'
  pen.fillStyle = shade
  pen.fillRect(0, 0, width, height)
  pen.globalCompositeOperation = 'source-over'
  blurBand(canvas, pen, 0, height, 0.3 * scale)
  const { data } = pen.getImageData(0, 0, width, height)
  addGrain(data, width, 0.02, scale, dice)
  return { subject, width, height, rgba: data }
}

function blurBand(
  canvas: Canvas,
  pen: SKRSContext2D,
  top: number,
  bottom: number,
  radius: number,
): void {
  if (radius < 0.4 || bottom - top < 8) return
  pen.save()
  pen.beginPath()
  pen.rect(0, top, canvas.width, bottom - top)
  pen.clip()
  pen.filter = `blur(${radius.toFixed(1)}px)`
  pen.drawImage(canvas, 0, 0)
  pen.restore()
}

/** Tiles of this side hold the surface and the noise; a power of two. */
const TILE = 1024

/** Lays a surface of several sizes of grain over the scene, and over both the noise of a sensor, more of it in the dark. */
function addGrain(
  data: Uint8ClampedArray,
  width: number,
  grain: number,
  scale: number,
  dice: Dice,
): void {
  const [surface, noise] = [surfaceTile(), noiseTile()]
  const strength = 1.5 + dice.next() * 5
  const step = 1 / Math.max(1, scale / 2)
  const [left, top, shift] = [dice.below(TILE), dice.below(TILE), dice.below(TILE * TILE)]
  const height = data.length / 4 / width
  for (let y = 0, at = 0; y < height; y++) {
    const coarse = (((top + y * step) & (TILE - 1)) * TILE) | 0
    const fine = ((top + y) & (TILE - 1)) * TILE
    const row = (shift + y * 7919 * 4) & (TILE * TILE - 1)
    for (let x = 0; x < width; x++, at += 4) {
      const bumps =
        surface[coarse + ((left + x * step) & (TILE - 1))]! +
        surface[fine + ((left + x) & (TILE - 1))]! * 0.5
      const gain = 1 + bumps * grain
      const dark = 1.3 - data[at + 1]! / 255
      const speck = noise[(row + x) & (TILE * TILE - 1)]! * strength * dark
      data[at] = data[at]! * gain + speck
      data[at + 1] = data[at + 1]! * gain + speck
      data[at + 2] = data[at + 2]! * gain + speck * 1.2
    }
  }
}

let surfaceMade: Float32Array | undefined
/** Value noise of eight octaves, -1 to 1, without a seam. */
function surfaceTile(): Float32Array {
  if (surfaceMade) return surfaceMade
  const dice = new Dice(11)
  const tile = new Float32Array(TILE * TILE)
  for (let cell = 256, weight = 0.32; cell >= 2; cell /= 2, weight *= 0.85) {
    const side = TILE / cell
    const knots = Float32Array.from({ length: side * side }, () => dice.next() * 2 - 1)
    for (let y = 0, at = 0; y < TILE; y++) {
      const [y0, fy] = [Math.floor(y / cell), (y % cell) / cell]
      const [upper, lower] = [y0 * side, ((y0 + 1) % side) * side]
      for (let x = 0; x < TILE; x++, at++) {
        const [x0, fx] = [Math.floor(x / cell), (x % cell) / cell]
        const x1 = (x0 + 1) % side
        const a = knots[upper + x0]! * (1 - fx) + knots[upper + x1]! * fx
        const b = knots[lower + x0]! * (1 - fx) + knots[lower + x1]! * fx
        tile[at]! += (a * (1 - fy) + b * fy) * weight
      }
    }
  }
  return (surfaceMade = tile)
}

let noiseMade: Float32Array | undefined
/** Nearly normal noise of deviation 1; neighbours share a part of theirs, as after a camera's own smoothing. */
function noiseTile(): Float32Array {
  if (noiseMade) return noiseMade
  const dice = new Dice(12)
  const raw = Float32Array.from(
    { length: TILE * TILE },
    () => (dice.next() + dice.next() + dice.next() - 1.5) * 2,
  )
  noiseMade = raw.map(
    (value, i) => value * 0.8 + (raw[i - 1] ?? 0) * 0.45 + (raw[i - TILE] ?? 0) * 0.4,
  )
  return noiseMade
}

interface Frame {
  left: number
  top: number
  width: number
  height: number
}

/** @param scale pixels a unit: a scene of 1000 units is as wide as the picture */
export function scene(
  pen: SKRSContext2D,
  dice: Dice,
  frame: Frame,
  subject: Subject = dice.one(SUBJECTS),
  scale = 1,
): void {
  pen.save()
  pen.beginPath()
  pen.rect(frame.left, frame.top, frame.width, frame.height)
  pen.clip()
  pen.translate(frame.left, frame.top)
  pen.scale(scale, scale)
  const [width, height] = [frame.width / scale, frame.height / scale]
  const colour = (low: number, high: number, alpha = 1): string =>
    `rgba(${[0, 1, 2].map(() => low + dice.below(high - low)).join(', ')}, ${alpha})`
  const sky = pen.createLinearGradient(0, 0, width * (dice.next() - 0.5), height)
  sky.addColorStop(0, colour(120, 240))
  sky.addColorStop(1, subject === 'lights' ? colour(0, 40) : colour(40, 200))
  pen.fillStyle = sky
  pen.fillRect(0, 0, width, height)
  const at = (): [number, number] => [dice.next() * width, dice.next() * height]
  const blob = (x: number, y: number, rx: number, ry: number, turn = 0): void => {
    pen.beginPath()
    pen.ellipse(x, y, rx, ry, turn, 0, 7)
    pen.fill()
  }
  const stroke = (x: number, y: number, dx: number, dy: number): void => {
    pen.beginPath()
    pen.moveTo(x, y)
    pen.lineTo(x + dx, y + dy)
    pen.stroke()
  }
  switch (subject) {
    case 'clouds':
      for (let i = 0; i < 400; i++) {
        pen.fillStyle = colour(60, 255, 0.15)
        blob(...at(), 20 + dice.below(120), 10 + dice.below(60))
      }
      break
    case 'hills':
      for (let ridge = 0; ridge < 6; ridge++) {
        pen.fillStyle = colour(20 + ridge * 10, 150 - ridge * 12)
        pen.beginPath()
        pen.moveTo(0, height)
        let y = height * (0.3 + ridge * 0.11)
        for (let x = 0; x <= width; x += 8) pen.lineTo(x, (y += (dice.next() - 0.5) * 14))
        pen.lineTo(width, height)
        pen.fill()
      }
      break
    case 'leaves':
      for (let i = 0; i < 3_000 * Math.max(1, scale); i++) {
        pen.fillStyle = colour(10, 200)
        blob(...at(), 3 + dice.below(16), 2 + dice.below(7), dice.next() * 6)
      }
      break
    case 'bricks': {
      const [w, h] = [40 + dice.below(40), 16 + dice.below(16)]
      for (let row = 0; row * h < height; row++)
        for (let x = row % 2 ? -w / 2 : 0; x < width; x += w) {
          pen.fillStyle = colour(90, 190)
          pen.fillRect(x + 2, row * h + 2, w - 4, h - 4)
        }
      break
    }
    case 'windows': {
      const [w, h] = [22 + dice.below(40), 30 + dice.below(50)]
      for (let y = h; y < height; y += h * 1.8)
        for (let x = w; x < width; x += w * (1.7 + 0.1 * dice.next())) {
          pen.fillStyle = colour(20, 110)
          pen.fillRect(x, y + dice.below(3), w, h)
        }
      break
    }
    case 'waves':
      pen.lineWidth = 2
      for (let y = 0; y < height; y += 5) {
        pen.strokeStyle = colour(60, 220, 0.7)
        pen.beginPath()
        for (let x = 0; x <= width; x += 12)
          pen.lineTo(x, y + Math.sin(x / 25 + y / 9) * 5 + dice.next() * 4)
        pen.stroke()
      }
      break
    case 'people': {
      const size = 40 + dice.below(200)
      for (let y = size; y < height + size; y += size * 2.2)
        for (let x = size * dice.next(); x < width; x += size * (1.6 + dice.next())) {
          pen.fillStyle = colour(20, 220)
          blob(x, y + size * 1.5, size, size * 0.9)
          pen.fillStyle = colour(30, 120)
          blob(x, y - size * 0.1, size * 0.5, size * 0.66)
          const face = pen.createRadialGradient(x - size * 0.1, y, size * 0.1, x, y, size * 0.6)
          face.addColorStop(0, colour(190, 240))
          face.addColorStop(1, colour(110, 170))
          pen.fillStyle = face
          blob(x, y, size * 0.4, size * 0.55)
          pen.fillStyle = colour(20, 70)
          for (const side of [-0.16, 0.16])
            blob(x + side * size, y - size * 0.1, size * 0.06, size * 0.03)
          blob(x, y + size * 0.28, size * 0.14, size * 0.03)
          pen.lineWidth = 0.8
          for (let hair = 0; hair < 120; hair++) {
            pen.strokeStyle = colour(20, 130, 0.6)
            const from = (dice.next() - 0.5) * size
            stroke(x + from, y - size * 0.45, from * 0.3, size * (0.1 + 0.5 * dice.next()))
          }
        }
      break
    }
    case 'lights':
      for (let i = 0; i < 500; i++) {
        pen.fillStyle = colour(150, 255, 0.4 + dice.next() * 0.6)
        const r = 1 + dice.below(9)
        blob(...at(), r, r)
      }
      break
    case 'grass':
      for (let i = 0; i < 5_000 * Math.max(1, scale); i++) {
        pen.strokeStyle = colour(20, 190)
        pen.lineWidth = 1 + dice.below(3)
        stroke(...at(), dice.below(20) - 10, -8 - dice.below(40))
      }
      break
    case 'cloth':
      for (let y = 0; y < height; y += 9)
        for (let x = 0; x < width; x += 9) {
          pen.fillStyle = (x + y) % 18 ? colour(60, 130) : colour(120, 230)
          pen.fillRect(x, y, 9, 9)
        }
      break
  }
  pen.restore()
}
