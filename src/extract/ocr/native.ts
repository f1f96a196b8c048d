/**
 * The machine's own `tesseract`, where there is one: one process a page, fed through its standard
 * input, killed at its deadline. Twice as cheap as WASM in CPU and as accurate (measured at 200 dpi).
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { OcrSettings } from '../../part/settings.js'
import { EngineFault } from '../extractor.js'
import { pgmHead, type Picture } from '../image/picture.js'
import { child as atWork } from './child.js'
import type { OcrEngine } from './engine.js'
import { wordsOfTsv, type Words } from './words.js'

const run = promisify(execFile)
const OUTPUT_BYTES_MAX = 64_000_000

interface Program {
  version: string
  languages: ReadonlySet<string>
}
const programs = new Map<string, Promise<Program | undefined>>()

/** Version and languages of the `tesseract` on PATH, or undefined. Asked once a thread and folder. */
export function nativeTesseract(languagePath?: string): Promise<Program | undefined> {
  const key = languagePath ?? ''
  const known = programs.get(key)
  if (known) return known
  const asked = (async () => {
    const folder = languagePath ? ['--tessdata-dir', languagePath] : []
    const options = { timeout: 10_000, windowsHide: true }
    const about = await run('tesseract', ['--version'], options)
    const version = /tesseract v?(\d[\w.]*)/.exec(about.stdout + about.stderr)?.[1]
    if (!version || Number.parseInt(version) < 4) return undefined // before 4 there was no LSTM and no TSV to trust
    const list = await run('tesseract', [...folder, '--list-langs'], options)
    const languages = new Set(
      (list.stdout + list.stderr)
        .split('\n')
        .slice(1)
        .map((l) => l.trim()),
    )
    return { version, languages }
  })().catch((error: unknown) => {
    // What this machine lacks only now is asked for again.
    if (/^(EAGAIN|EMFILE|ENFILE|ENOMEM)$/.test(String((error as { code?: unknown }).code)))
      programs.delete(key)
    return undefined
  })
  programs.set(key, asked)
  return asked
}

/**
 * @returns undefined when there is no tesseract, or it lacks a language that WASM may have
 * @throws {EngineFault} when `settings.engine` demands it and it cannot be used
 */
export async function nativeEngine(settings: OcrSettings): Promise<OcrEngine | undefined> {
  // A folder of ours helps only where it holds all languages as plain files.
  const { languagePath } = settings
  const ownFolder =
    languagePath &&
    settings.languages.every((l) => existsSync(path.join(languagePath, `${l}.traineddata`)))
      ? languagePath
      : undefined
  const program = await nativeTesseract(ownFolder)
  const lacks = settings.languages.filter((l) => !program?.languages.has(l))
  if (program && lacks.length === 0) return new NativeEngine(settings, program.version, ownFolder)
  if (settings.engine === 'native')
    throw new EngineFault(
      program
        ? `the tesseract of this machine lacks ${lacks.join(', ')}`
        : 'no tesseract 4 or later on PATH',
    )
  return undefined
}

class NativeEngine implements OcrEngine {
  readonly name: string
  readonly isOpen = true
  readonly #arguments: string[]

  constructor(settings: OcrSettings, version: string, folder: string | undefined) {
    const languages = settings.languages.join('+')
    this.name = `tesseract ${version} ${languages}`
    this.#arguments = [
      ...(folder ? ['--tessdata-dir', folder] : []),
      ...['stdin', 'stdout', '-l', languages, '--oem', '1', '--psm', '3', 'tsv'],
    ]
  }

  recognise(picture: Picture, msLeft: number): Promise<Words | undefined> {
    return new Promise((resolve, reject) => {
      let child: ChildProcess
      try {
        child = spawn('tesseract', this.#arguments, {
          // Its threads fight over few cores: 4.4 s a page with one, 10.8 s with all, on two cores.
          env: { ...process.env, OMP_THREAD_LIMIT: '1' },
          stdio: ['pipe', 'pipe', 'ignore'],
          windowsHide: true,
        })
      } catch (error) {
        // No memory, no process, no file left: thrown and not told as an event.
        reject(new EngineFault(`tesseract: ${String(error)}`))
        return
      }
      atWork.onChange(child.pid ?? 0)
      const out: Buffer[] = []
      let bytes = 0
      let isLate = false
      const timer = setTimeout(
        () => {
          isLate = true
          child.kill('SIGKILL')
        },
        Math.max(0, msLeft),
      )
      // Without a file left there are no streams either; 'error' follows.
      child.stdout?.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > OUTPUT_BYTES_MAX) child.kill('SIGKILL')
        else out.push(chunk)
      })
      child.stdin?.on('error', () => {}) // it may end before it has read everything: the exit code tells
      child.on('exit', () => atWork.onChange(0))
      child.on('error', (error) => {
        clearTimeout(timer)
        reject(new EngineFault(`tesseract: ${error.message}`))
      })
      child.on('close', (code, signal) => {
        clearTimeout(timer)
        if (isLate) resolve(undefined)
        else if (code === 0) resolve(wordsOfTsv(Buffer.concat(out).toString('utf8')))
        else reject(new EngineFault(`tesseract ended with ${signal ?? `code ${code}`}`))
      })
      child.stdin?.write(pgmHead(picture))
      child.stdin?.end(picture.grey)
    })
  }

  async close(): Promise<void> {}
}
