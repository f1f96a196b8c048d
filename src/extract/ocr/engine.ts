/**
 * The interface of an OCR engine, and the one engine this thread keeps warm.
 *
 * Not responsible for: how a picture is prepared and which reading of it wins (recognise.ts).
 */
import type { OcrSettings } from '../../part/settings.js'
import type { Picture } from '../image/picture.js'
import { nativeEngine } from './native.js'
import { wasmEngine } from './wasm.js'
import type { Words } from './words.js'

export interface OcrEngine {
  /** Program, version and languages, as stored beside the content: `tesseract.js 7.0.0 eng+deu`. */
  readonly name: string
  /**
   * Reads one picture, one at a time.
   *
   * @param msLeft deadline of this picture
   * @returns undefined when the deadline passed; the engine is gone then, and `engineFor` makes a new one
   * @throws {EngineFault} when the engine failed, not the picture
   */
  recognise(picture: Picture, msLeft: number): Promise<Words | undefined>
  /** False once it was closed, by a deadline or by `close()`. */
  readonly isOpen: boolean
  close(): Promise<void>
}

let warm: { key: string; engine: OcrEngine } | undefined

/**
 * The engine for these settings; kept over documents of the same settings, replaced when they change.
 *
 * @throws {PipelineError} `E_OCR_LANGUAGE` when a language has no data here
 */
export async function engineFor(settings: OcrSettings): Promise<OcrEngine> {
  const key = JSON.stringify([settings.engine, settings.languages, settings.languagePath])
  if (warm?.key === key && warm.engine.isOpen) return warm.engine
  await closeOcr()
  const native = settings.engine === 'wasm' ? undefined : await nativeEngine(settings)
  const engine = native ?? (await wasmEngine(settings))
  warm = { key, engine }
  return engine
}

/** Releases the engine of this thread: its nested thread and its memory. Call it before a thread or process rests for long. */
export async function closeOcr(): Promise<void> {
  const engine = warm?.engine
  warm = undefined
  await engine?.close()
}
