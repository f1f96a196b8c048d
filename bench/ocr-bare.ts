/**
 * The engines with nothing around them, for bench/ocr.ts: they take the same file and give the same table of words.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import { languageFile } from '../src/extract/ocr/languages.js'

/** Reads one file. @returns Tesseract's TSV */
export type BareEngine = (file: Uint8Array) => string

interface Api {
  Init(dataPath: null, languages: string, oem: number): number
  SetVariable(name: string, value: string): void
  SetImageFile(exif: number, angle: number): number
  Recognize(monitor: null): number
  GetTSVText(): string
}
interface Core {
  FS: { writeFile(path: string, bytes: Uint8Array): void }
  TessBaseAPI: new () => Api
}

/** The WebAssembly that tesseract.js would choose here, in this thread, without tesseract.js. */
export async function bareCore(language: string): Promise<BareEngine> {
  const ofTesseract = createRequire(
    createRequire(import.meta.url).resolve('tesseract.js/package.json'),
  )
  const { simd, relaxedSimd } = ofTesseract('wasm-feature-detect') as Record<
    'simd' | 'relaxedSimd',
    () => Promise<boolean>
  >
  const variant = (await relaxedSimd()) ? '-relaxedsimd' : (await simd()) ? '-simd' : ''
  const start = ofTesseract(`tesseract.js-core/tesseract-core${variant}-lstm`) as (options: {
    TesseractProgress(): void
    printErr(): void
  }) => Promise<Core>
  const core = await start({ TesseractProgress: () => {}, printErr: () => {} })
  const data = readFileSync(languageFile(language)!)
  core.FS.writeFile(`./${language}.traineddata`, data[0] === 0x1f ? gunzipSync(data) : data)
  const api = new core.TessBaseAPI()
  if (api.Init(null, language, 1) !== 0) throw new Error(`the core does not take ${language}`)
  api.SetVariable('tessedit_pageseg_mode', '3')
  api.SetVariable('debug_file', '/dev/null')
  return (file) => {
    core.FS.writeFile('/input', file)
    if (api.SetImageFile(1, 0) === 1) throw new Error('the core does not take the picture')
    api.Recognize(null)
    return api.GetTSVText()
  }
}

/** One process a file, as Paperknife would start it. */
export function bareProgram(language: string): BareEngine {
  return (file) =>
    spawnSync('tesseract', ['stdin', 'stdout', '-l', language, '--oem', '1', '--psm', '3', 'tsv'], {
      input: file,
      env: { ...process.env, OMP_THREAD_LIMIT: '1' },
      encoding: 'utf8',
      maxBuffer: 1e8,
    }).stdout
}
