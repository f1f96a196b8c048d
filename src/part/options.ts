/**
 * The options of openVault and extractDocuments, checked at the door: defaults, then kinds, then
 * conflicts. Unknown keys are errors, and no limit is switched off by 0, NaN or a string.
 */
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { DEFAULT_LIMITS, type Limits } from './limits.js'
import type { OcrSettings, ReadSettings } from './settings.js'

export interface OcrOptions {
  /** Tesseract language names in order of preference. Default `['eng']`. */
  languages?: readonly string[]
  /** Default `auto`: the machine's own tesseract when there is one. */
  engine?: 'auto' | 'wasm' | 'native'
  /** Folder with `<lang>.traineddata(.gz)`, looked into before the installed packages. */
  languagePath?: string
}

export interface ThrottleOptions {
  /** Nothing new is begun while the load average of one minute is higher. */
  loadAverageMax?: number
  /** Nothing new is begun while the machine runs on its battery (Linux). */
  pauseOnBattery?: boolean
}

export interface OpenOptions {
  /** The vault: a folder, an mbox file or a single message. This or `vaults`. */
  vault?: string
  /** Several vaults, searched as one. */
  vaults?: readonly string[]
  /** Folder for index.db and extracts.db; with several vaults, a folder of folders. Default: `.paperknife` inside each vault, or on this machine when the vault lies on a network disk. */
  index?: string
  /**
   * Whether vault and index lie on a disk of another machine, where no memory can be shared and no change is told.
   * Default `auto`: as the system says (Linux, and UNC paths of Windows).
   */
  networkDisk?: 'auto' | 'yes' | 'no'
  /** `off`: mail only; switching it on later queues everything. Default `on`. */
  attachments?: 'on' | 'off'
  /** `false`: no OCR. Default: on, English. */
  ocr?: false | OcrOptions
  limits?: Partial<Limits>
  /** Threads that read text. Default: one less than the cores, at least one. */
  workers?: number
  /** Tried on locked documents, in order. */
  passwords?: readonly string[]
  /** `off`: no text of bodies or contents is kept; excerpts then read the mail again. Default `on`. */
  keepTexts?: 'on' | 'off'
  /** Where sweeps run: a process of their own, or this one. Default `process`. */
  sweeper?: 'process' | 'inline'
  /** Hold sweeps back for the sake of the machine. Default: never. */
  throttle?: ThrottleOptions
  /** Resident bytes of the sweeping process at which threads are ended. Default 1 GB. */
  memoryBytesMax?: number
}

/** Checked and frozen: what everything below the door works with. */
export interface Settings extends ReadSettings {
  readonly vaults: readonly string[]
  readonly index: string | undefined
  readonly networkDisk: 'auto' | 'yes' | 'no'
  readonly attachments: 'on' | 'off'
  readonly keepTexts: boolean
  readonly sweeper: 'process' | 'inline'
  readonly throttle: ThrottleOptions | undefined
  readonly workers: number
  readonly memoryBytesMax: number
}

/** See workers/pool.ts for what happens at it. */
export const DEFAULT_MEMORY_BYTES_MAX = 1_000_000_000

const DEFAULT_WORKERS = Math.max(1, availableParallelism() - 1)
const DEFAULT_OCR: OcrSettings = { languages: ['eng'], engine: 'auto' }

type Check = (value: unknown, name: string) => void

const KINDS: Record<keyof OpenOptions, Check> = {
  vault: isText,
  vaults: (value, name) => {
    isTexts(value, name)
    for (const vault of value as string[]) isText(vault, name)
  },
  index: isText,
  networkDisk: isOneOf('auto', 'yes', 'no'),
  attachments: isOneOf('on', 'off'),
  ocr: (value, name) => {
    if (value === false) return
    if (!isPlainObject(value)) throw new TypeError(`${name} must be false or an object`)
    checkKeys(value, OCR_KINDS, `${name}.`)
  },
  limits: (value, name) => {
    if (!isPlainObject(value)) throw new TypeError(`${name} must be an object`)
    for (const [key, limit] of Object.entries(value)) {
      if (!Object.hasOwn(DEFAULT_LIMITS, key)) throw new TypeError(`${name}.${key} is not a limit`)
      if (limit !== undefined) isPositiveInteger(limit, `${name}.${key}`)
    }
  },
  workers: isPositiveInteger,
  passwords: isTexts,
  keepTexts: isOneOf('on', 'off'),
  sweeper: isOneOf('process', 'inline'),
  throttle: (value, name) => {
    if (!isPlainObject(value)) throw new TypeError(`${name} must be an object`)
    checkKeys(value, THROTTLE_KINDS, `${name}.`)
  },
  memoryBytesMax: (value, name) => {
    isPositiveInteger(value, name)
    if ((value as number) < MEMORY_BYTES_LEAST)
      throw new RangeError(`${name} must be at least ${MEMORY_BYTES_LEAST}`)
  },
}

const OCR_KINDS: Record<keyof OcrOptions, Check> = {
  languages: (value, name) => {
    isTexts(value, name)
    const languages = value as string[]
    if (languages.length === 0) throw new RangeError(`${name} must name at least one language`)
    for (const language of languages)
      if (!isLanguageName(language))
        throw new RangeError(`${name} holds ${JSON.stringify(language)}, which names no language`)
  },
  engine: isOneOf('auto', 'wasm', 'native'),
  languagePath: isText,
}

const THROTTLE_KINDS: Record<keyof ThrottleOptions, Check> = {
  loadAverageMax: (value, name) => {
    if (typeof value !== 'number') throw new TypeError(`${name} must be a number`)
    if (!(value > 0)) throw new RangeError(`${name} must be positive`)
  },
  pauseOnBattery: (value, name) => {
    if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`)
  },
}

/** Node itself with one thread holds about 120 MB. */
export const MEMORY_BYTES_LEAST = 300_000_000

/** Whether a name can be one of Tesseract's: `eng`, `chi_sim`. Says nothing of its data. */
export const isLanguageName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9_]*$/.test(name)

/**
 * @param options as given; `undefined` counts as absent
 * @throws {TypeError} an unknown key or a wrong kind · {RangeError} a value outside its rule; both name the option
 */
export function settle(options: OpenOptions): Settings {
  checkKeys(options, KINDS)
  if ((options.vault === undefined) === (options.vaults === undefined))
    throw new TypeError('give either vault or vaults')
  const vaults = options.vaults ?? [options.vault as string]
  if (vaults.length === 0) throw new RangeError('vaults must name at least one vault')
  const places = vaults.map((vault) => resolve(vault))
  const twice = vaults.find((_, at) => places.indexOf(places[at] as string) < at)
  if (twice !== undefined) throw new RangeError(`vaults names ${twice} twice`)
  return Object.freeze({
    vaults: Object.freeze([...vaults]),
    index: options.index,
    networkDisk: options.networkDisk ?? 'auto',
    attachments: options.attachments ?? 'on',
    keepTexts: (options.keepTexts ?? 'on') === 'on',
    sweeper: options.sweeper ?? 'process',
    throttle: options.throttle && Object.freeze({ ...options.throttle }),
    ...reading(options),
  })
}

/** The options of a reading without a vault. */
export interface ReadingOptions extends Pick<
  OpenOptions,
  'limits' | 'ocr' | 'passwords' | 'workers' | 'memoryBytesMax'
> {
  signal?: AbortSignal
}

type Reading = ReadSettings & Pick<Settings, 'workers' | 'memoryBytesMax'>

/** As `settle`, for documents that lie in no vault. */
export function settleReading(options: ReadingOptions): Reading {
  const { limits, ocr, passwords, workers, memoryBytesMax } = KINDS
  const signal: Check = (value, name) => {
    if (!(value instanceof AbortSignal)) throw new TypeError(`${name} must be an AbortSignal`)
  }
  checkKeys(options, { limits, ocr, passwords, workers, memoryBytesMax, signal })
  return reading(options)
}

function reading(options: ReadingOptions): Reading {
  return Object.freeze({
    limits: Object.freeze({ ...DEFAULT_LIMITS, ...withoutUndefined(options.limits ?? {}) }),
    ocr:
      options.ocr === false
        ? (false as const)
        : Object.freeze({ ...DEFAULT_OCR, ...withoutUndefined(options.ocr ?? {}) }),
    passwords: Object.freeze([...(options.passwords ?? [])]),
    workers: options.workers ?? DEFAULT_WORKERS,
    memoryBytesMax: options.memoryBytesMax ?? DEFAULT_MEMORY_BYTES_MAX,
  })
}

function checkKeys(given: unknown, kinds: Record<string, Check>, prefix = ''): void {
  if (!isPlainObject(given)) throw new TypeError('options must be an object')
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, key)) throw new TypeError(`${prefix}${key} is not an option`)
    if (value !== undefined) kinds[key]?.(value, `${prefix}${key}`)
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown, name: string): void {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`)
  if (value === '' || value.includes('\0'))
    throw new RangeError(`${name} must not be empty or hold a NUL`)
}

function isTexts(value: unknown, name: string): void {
  if (!Array.isArray(value) || value.some((text) => typeof text !== 'string'))
    throw new TypeError(`${name} must be an array of strings`)
}

function isPositiveInteger(value: unknown, name: string): void {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number`)
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new RangeError(`${name} must be a positive integer`)
}

function isOneOf(...allowed: string[]): Check {
  return (value, name) => {
    if (typeof value !== 'string' || !allowed.includes(value))
      throw new (typeof value === 'string' ? RangeError : TypeError)(
        `${name} must be ${allowed.map((one) => `'${one}'`).join(' or ')}`,
      )
  }
}

function withoutUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}
