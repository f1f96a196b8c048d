/**
 * One picture to text: looked at, prepared, read, and read another way up when it reads badly.
 *
 * Not responsible for: whether it should be read at all (image.ts, pdf/decide.ts).
 */
import type { OcrPage } from '../../part/outcome.js'
import type { OcrSettings } from '../../part/settings.js'
import type { Picture } from '../image/picture.js'
import { engineFor } from './engine.js'
import { languageFile } from './languages.js'
import { lookAt } from './look.js'
import { mayHoldText, prepare, resized, stretched, toTurned, type Prepared } from './prepare.js'
import { nativeTesseract } from './native.js'
import { textQuality } from './quality.js'
import { textOf, type Words } from './words.js'

export interface Recognised {
  text: string
  page: OcrPage
  /** Undefined when a look was enough: a blank page, a photograph. */
  engine?: string
}

type Turn = 0 | 90 | 180 | 270

interface Reading {
  words: Words
  prepared: Prepared
  worth: number
  by: OcrSettings
  engine: string
}

/** A reading of at least this confidence is the right way up: upright pages read at 75 to 97, turned ones at 16 to 47. */
const CONFIDENCE_UPRIGHT = 70
/** Languages that may be written from top to bottom, and whose letters have no ascenders to tell up from down. */
export const SQUARE = /^(jpn|chi|kor)/
/** Another way up has to read so much better: of two unreadable readings the page as it lies is kept. */
const BETTER = 1.25
/** A reading of small letters with less confidence is tried at another size. */
const CONFIDENCE_DOUBTED = 88
/** In a reading of less confidence than the first, words of less than the second are noise. */
const CONFIDENCE_POOR = 50
const CONFIDENCE_NOISE = 25

/**
 * @param pixelsMax most pixels given to the engine
 * @param msLeft deadline for everything done to this picture
 * @param isForced reads whatever a look says: to measure what looking saves
 * @returns undefined when the deadline passed before anything was read
 * @throws {PipelineError} `E_OCR_LANGUAGE` · @throws {EngineFault} when the engine failed
 */
export async function recognise(
  original: Picture,
  settings: OcrSettings,
  pixelsMax: number,
  msLeft: number,
  isForced = false,
): Promise<Recognised | undefined> {
  const ends = performance.now() + msLeft
  const picture = stretched(original)
  if (!picture) return nothing(original)
  const look = lookAt(picture)
  if (!isForced && !mayHoldText(picture, look)) return nothing(original)

  const isSquare = settings.languages.some((language) => SQUARE.test(language))
  const read = async (prepared: Prepared, by: OcrSettings): Promise<Reading | undefined> => {
    const engine = await engineFor(by)
    const words = await engine.recognise(prepared.picture, ends - performance.now())
    if (!words) return undefined
    const worth = words.confidence * textQuality(textOf(words)).score
    return { words, prepared, worth, by, engine: engine.name }
  }
  const tries: Array<{ turn: Turn; by: OcrSettings }> = turnsToTry(look.turn, isSquare).map(
    (turn) => ({ turn, by: settings }),
  )
  const vertical = isSquare && look.turn % 180 === 90 ? await forColumns(settings) : undefined
  if (vertical) tries.unshift({ turn: 0, by: vertical })

  let best: Reading | undefined
  for (const { turn, by } of tries) {
    const reading = await read(prepare(picture, look, turn, pixelsMax, isSquare), by)
    if (!reading) break
    if (!best || reading.worth > best.worth * BETTER) best = reading
    const { confidence, words } = reading.words
    if (confidence >= CONFIDENCE_UPRIGHT || (words.length === 0 && by === settings)) break
  }
  if (
    best &&
    best.words.confidence >= CONFIDENCE_POOR &&
    best.words.confidence < CONFIDENCE_DOUBTED
  ) {
    const other = resized(best.prepared, look, pixelsMax)
    const reading = other && (await read(other, best.by))
    if (reading && reading.worth > best.worth) best = reading
  }
  if (!best) return undefined
  const { prepared } = best
  const words = withoutNoise(best.words)
  return {
    text: textOf(words),
    page: {
      confidence: Math.round(words.confidence),
      width: prepared.width,
      height: prepared.height,
      turned: prepared.turn,
      words: toTurned(words.words, prepared),
    },
    engine: best.engine,
  }
}

/**
 * Whether a look is enough to say that a picture is blank or a photograph.
 *
 * @param isSmall for a copy in which small letters may have run together: a look that is in doubt says no
 */
export function isTextless(original: Picture, isSmall = false): boolean {
  const picture = stretched(original)
  return !picture || !mayHoldText(picture, lookAt(picture), isSmall)
}

/** The way up that the look suggests, then its opposite; where the look may err, the picture as it is comes first. */
function turnsToTry(seen: Turn, isSquare: boolean): Turn[] {
  const opposite = ((seen + 180) % 360) as Turn
  return seen !== 0 && isSquare ? [...new Set<Turn>([0, seen, opposite])] : [seen, opposite]
}

/**
 * The same languages with the data for writing from top to bottom, where it is found (`jpn_vert` beside `jpn`): a page
 * of columns then reads at 98 % of its characters, without at 7 %. Used for such pages alone, since both together cost twice as much.
 */
async function forColumns(settings: OcrSettings): Promise<OcrSettings | undefined> {
  const { engine, languagePath } = settings
  const native = engine === 'native' ? await nativeTesseract() : undefined
  const languages = settings.languages.map((language) => {
    const vertical = `${language}_vert`
    const isThere =
      engine === 'native'
        ? native?.languages.has(vertical)
        : languageFile(vertical, languagePath) !== undefined
    return SQUARE.test(language) && isThere ? vertical : language
  })
  const isOther = languages.some((language, i) => language !== settings.languages[i])
  return isOther ? { ...settings, languages: [...new Set(languages)] } : undefined
}

function withoutNoise(all: Words): Words {
  if (all.confidence >= CONFIDENCE_POOR) return all
  const kept = all.words.map(([, , , , , confidence]) => confidence >= CONFIDENCE_NOISE)
  return {
    words: all.words.filter((_, i) => kept[i]),
    breaks: all.breaks.filter((_, i) => kept[i]),
    confidence: all.confidence,
  }
}

function nothing({ width, height }: Picture): Recognised {
  return { text: '', page: { confidence: 0, width, height, turned: 0, words: [] } }
}
