/**
 * Language data on this machine: a folder of the operator's, then the npm packages
 * `@tesseract.js-data/<language>`. Nothing is ever fetched.
 */
import { copyFileSync, readdirSync, rmSync, existsSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { PipelineError } from '../../part/errors.js'
import type { OcrSettings } from '../../part/settings.js'
import { temporaryFolder } from '../../part/temporary.js'

const require = createRequire(import.meta.url)
/** Integer weights of the best models: a third of the bytes of `4.0.0`, as accurate (libraries measured at 200 dpi). */
const MODEL = '4.0.0_best_int'

/**
 * The file that holds a language's data, gzipped or plain, or undefined.
 *
 * @param language Tesseract's name: `eng`, `chi_sim`
 */
export function languageFile(language: string, languagePath?: string): string | undefined {
  if (!/^[A-Za-z0-9_]+$/.test(language)) return undefined
  const candidates: string[] = []
  for (const ending of ['traineddata', 'traineddata.gz'])
    if (languagePath) candidates.push(path.join(languagePath, `${language}.${ending}`))
  try {
    const folder = path.dirname(require.resolve(`@tesseract.js-data/${language}/package.json`))
    candidates.push(path.join(folder, MODEL, `${language}.traineddata.gz`))
  } catch {
    // the package is not installed
  }
  return candidates.find((file) => existsSync(file))
}

/** Languages that can be read here, sorted. */
export function installedLanguages(languagePath?: string): string[] {
  const found = new Set<string>()
  const look = (folder: string, name: RegExp): void => {
    let entries: string[]
    try {
      entries = readdirSync(folder)
    } catch {
      return
    }
    for (const entry of entries) {
      const language = name.exec(entry)?.[1]
      if (language && languageFile(language, languagePath)) found.add(language)
    }
  }
  if (languagePath) look(languagePath, /^(\w+)\.traineddata(?:\.gz)?$/)
  for (const folder of require.resolve.paths('@tesseract.js-data/eng') ?? [])
    look(path.join(folder, '@tesseract.js-data'), /^(\w+)$/)
  found.delete('osd') // orientation only, no language
  return [...found].sort()
}

/** @throws {PipelineError} `E_OCR_LANGUAGE`, naming the languages that have no data and how to add them */
export function checkLanguages(settings: OcrSettings): void {
  const missing = settings.languages.filter((l) => !languageFile(l, settings.languagePath))
  if (missing.length === 0) return
  throw new PipelineError(
    'E_OCR_LANGUAGE',
    `no OCR data for ${missing.join(', ')}: run \`npm install ${missing
      .map((l) => `@tesseract.js-data/${l}`)
      .join(' ')}\`, or put ${missing.map((l) => `${l}.traineddata`).join(', ')} into the folder ` +
      `named by languagePath (found here: ${installedLanguages(settings.languagePath).join(', ') || 'none'})`,
  )
}

/**
 * Runs `use` with one folder that holds the data of all languages: the package's own for one
 * language, else a private folder of links that is removed afterwards, by the next process should this one be killed meanwhile.
 */
export async function withLanguageFolder<T>(
  settings: OcrSettings,
  use: (folder: string, isGzipped: boolean) => Promise<T>,
): Promise<T> {
  checkLanguages(settings)
  const files = settings.languages.map((l) => languageFile(l, settings.languagePath)!)
  const folders = new Set(files.map((file) => path.dirname(file)))
  const isGzipped = files.every((file) => file.endsWith('.gz'))
  if (folders.size === 1 && (isGzipped || files.every((file) => !file.endsWith('.gz'))))
    return use([...folders][0]!, isGzipped)

  const folder = temporaryFolder()
  try {
    for (const [i, language] of settings.languages.entries()) {
      const link = path.join(folder, `${language}.traineddata.gz`) // read by its bytes, gzipped or not
      try {
        symlinkSync(files[i]!, link)
      } catch {
        copyFileSync(files[i]!, link) // links need a right of their own on Windows
      }
    }
    return await use(folder, true)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
