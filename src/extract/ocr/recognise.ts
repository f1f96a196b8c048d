/**
 * One picture to text: prepared, read, turned when it reads badly.
 *
 * Not responsible for: whether it should be read at all (image.ts, pdf/decide.ts).
 */
import type { OcrPage } from '../../part/outcome.js'
import type { OcrSettings } from '../../part/settings.js'
import type { Picture } from '../image/picture.js'
import { engineFor } from './engine.js'
import { textOf } from './words.js'

export interface Recognised {
  text: string
  page: OcrPage
  engine: string
}

/**
 * @param msLeft deadline for everything done to this picture
 * @returns undefined when the deadline passed
 * @throws {PipelineError} `E_OCR_LANGUAGE` · @throws {EngineFault} when the engine failed
 */
export async function recognise(
  picture: Picture,
  settings: OcrSettings,
  msLeft: number,
): Promise<Recognised | undefined> {
  const ends = performance.now() + msLeft
  const engine = await engineFor(settings)
  const words = await engine.recognise(picture, ends - performance.now())
  if (!words) return undefined
  return {
    text: textOf(words),
    page: {
      confidence: Math.round(words.confidence),
      width: picture.width,
      height: picture.height,
      turned: 0,
      words: words.words,
    },
    engine: engine.name,
  }
}
