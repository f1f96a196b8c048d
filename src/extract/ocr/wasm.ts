/**
 * tesseract.js: runs in a nested thread of its own, so that a page can be ended at its deadline
 * without losing the document's thread.
 */
import { createRequire } from 'node:module'
import type * as Tesseract from 'tesseract.js'
import type { OcrSettings } from '../../part/settings.js'
import { EngineFault } from '../extractor.js'
import { toPgm, type Picture } from '../image/picture.js'
import type { OcrEngine } from './engine.js'
import { withLanguageFolder } from './languages.js'
import { wordsOfTsv, type Words } from './words.js'

/** WASM memory only grows (618 MB after 13 varied pictures in one worker): a fresh worker after so many pages, or one very large picture. */
const PAGES_MAX = 50
const LARGE_PIXELS = 14_000_000
const START_MS = 60_000

const { version } = createRequire(import.meta.url)('tesseract.js/package.json') as {
  version: string
}

/** Of the tesseract.js in the package. */
export const WASM_VERSION = version

/** @throws {PipelineError} `E_OCR_LANGUAGE` · @throws {EngineFault} when it does not start */
export function wasmEngine(settings: OcrSettings): Promise<OcrEngine> {
  return withLanguageFolder(
    settings,
    async (folder, isGzipped) => new WasmEngine(settings, await start(settings, folder, isGzipped)),
  )
}

async function start(
  settings: OcrSettings,
  folder: string,
  gzip: boolean,
): Promise<Tesseract.Worker> {
  const { createWorker, OEM, PSM } = (await import('tesseract.js')).default
  let fail: (reason: unknown) => void = () => {}
  const failed = new Promise<never>((_, reject) => (fail = reject))
  failed.catch(() => {})
  const worker = await Promise.race([
    createWorker(settings.languages.join('+'), OEM.LSTM_ONLY, {
      langPath: folder,
      gzip,
      cacheMethod: 'none', // the default writes into the current folder, and reads a stale file from there first
      logger: () => {},
      errorHandler: fail, // without it a refused picture is thrown from a callback and ends the process
    }),
    failed,
    after(START_MS),
  ]).catch((error: unknown) => {
    throw new EngineFault(`tesseract.js does not start: ${String(error)}`)
  })
  if (!worker) throw new EngineFault('tesseract.js does not start')
  await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO, debug_file: '/dev/null' })
  // Resting, it must not keep a process alive that forgot closeOcr(); at work, the page's timer does.
  ;(worker as unknown as { worker: { unref(): void } }).worker.unref()
  return worker
}

class WasmEngine implements OcrEngine {
  readonly name: string
  readonly #worker: Tesseract.Worker
  #pages = 0
  #open = true

  constructor(settings: OcrSettings, worker: Tesseract.Worker) {
    this.name = `tesseract.js ${version} ${settings.languages.join('+')}`
    this.#worker = worker
  }

  get isOpen(): boolean {
    return this.#open
  }

  async recognise(picture: Picture, msLeft: number): Promise<Words | undefined> {
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), Math.max(0, msLeft))
    })
    try {
      const image = toPgm(picture) as unknown as Tesseract.ImageLike
      const reading = this.#worker.recognize(image, {}, { text: false, tsv: true })
      // terminate() leaves the promise of a running recognition pending for ever: hence the race.
      const done = await Promise.race([reading, deadline])
      if (!done) {
        await this.close()
        return undefined
      }
      if (++this.#pages >= PAGES_MAX || picture.grey.length > LARGE_PIXELS) await this.close()
      return wordsOfTsv(done.data.tsv ?? '')
    } catch (error) {
      await this.close()
      throw new EngineFault(`tesseract.js: ${String(error).slice(0, 200)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    await this.#worker.terminate()
  }
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined).unref())
}
