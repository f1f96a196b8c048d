/** From checked arguments to the options of the public API. */
import { readFileSync, statSync } from 'node:fs'
import { PipelineError } from '../part/errors.js'
import { isLanguageName } from '../part/options.js'
import { inspectOcr, type OpenOptions } from '../api.js'
import { UsageError } from './exit.js'
import type { Arguments } from './flags.js'

type ReadingOptions = Pick<
  OpenOptions,
  'limits' | 'ocr' | 'passwords' | 'workers' | 'memoryBytesMax'
>

/** What the reading of documents depends on; only what was given, so that the API's defaults stand. */
export function readingOptions(given: Arguments): ReadingOptions {
  const languages = languagesOf(given)
  const engine = given.text('ocr-engine') as 'auto' | 'wasm' | 'native' | undefined
  const languagePath = given.text('language-path')
  if (languagePath !== undefined && !isFolder(languagePath))
    throw new UsageError(`--language-path: there is no folder ${languagePath}`)
  const workers = given.number('workers')
  const memoryBytesMax = given.number('memory-bytes-max')
  const passwords = given.text('passwords')
  const limits = given.limits()
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(workers !== undefined && { workers }),
    ...(memoryBytesMax !== undefined && { memoryBytesMax }),
    ...(passwords !== undefined && { passwords: passwordsIn(passwords) }),
    ...(given.isOn('ocr') === false
      ? { ocr: false as const }
      : {
          ocr: {
            ...(languages && { languages }),
            ...(engine && { engine }),
            ...(languagePath && { languagePath }),
          },
        }),
  }
}

/**
 * Says at once, and once, that OCR cannot work as asked, before anything is read.
 *
 * @throws {PipelineError} `E_OCR_LANGUAGE`
 */
export async function checkOcr(given: Arguments): Promise<void> {
  const { ocr } = readingOptions(given)
  if (!ocr || Object.keys(ocr).length === 0) return
  const { engine, problem, engines } = await inspectOcr(ocr)
  if (engine === undefined)
    throw new PipelineError(
      'E_OCR_LANGUAGE',
      `scans cannot be read as asked: ${problem} (found: ${engines.map(({ name, languages }) => `${name} with ${languages.join(', ') || 'no language'}`).join('; ')}); paperknife doctor says how to add a language, --ocr off does without`,
    )
}

/** @param vault first word of the command */
export function vaultOptions(given: Arguments): OpenOptions {
  const vault = given.positional[0] as string
  const index = given.text('index')
  const networkDisk = given.text('network-disk') as OpenOptions['networkDisk']
  return {
    vault,
    ...(index !== undefined && { index }),
    ...(networkDisk && { networkDisk }),
    sweeper: 'inline',
  }
}

/** The first word and the vaults of `--also`, searched as one. */
export function vaultsOptions(given: Arguments): OpenOptions {
  const { vault, ...options } = vaultOptions(given)
  const also = given.text('also')?.split(',') ?? []
  if (also.includes('')) throw new UsageError('--also must name vaults, joined by commas')
  if (also.length > 0 && options.index !== undefined)
    throw new UsageError(
      '--also searches the indexes inside the vaults: it cannot stand with --index',
    )
  if (also.length > 0 && given.text('before-id') !== undefined)
    throw new UsageError('--before-id is an id of one index: it cannot stand with --also')
  return also.length === 0
    ? { vault: vault as string, ...options }
    : { vaults: [vault as string, ...also], ...options }
}

/** Options of the commands that sweep. */
export function sweepingOptions(given: Arguments): OpenOptions {
  const attachments = given.text('attachments') as 'on' | 'off' | undefined
  const keepTexts = given.text('keep-texts') as 'on' | 'off' | undefined
  const loadAverageMax = given.number('load-max')
  const throttle = {
    ...(loadAverageMax !== undefined && { loadAverageMax }),
    ...(given.has('pause-on-battery') && { pauseOnBattery: true }),
  }
  return {
    ...vaultOptions(given),
    ...readingOptions(given),
    ...(Object.keys(throttle).length > 0 && { throttle }),
    ...(attachments && { attachments }),
    ...(keepTexts && { keepTexts }),
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function languagesOf(given: Arguments): string[] | undefined {
  const typed = given.text('languages')
  const languages = typed?.split('+')
  if (languages?.every(isLanguageName) === false)
    throw new UsageError(`--languages must be names joined by +, as eng+deu, not "${typed}"`)
  return languages
}

/** Lines of a file; empty ones are no passwords. */
function passwordsIn(file: string): string[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--passwords: cannot read ${file} (${(error as Error).message})`)
  }
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter((line) => line !== '')
}
