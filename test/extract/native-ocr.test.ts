/** The tesseract of this machine: it reads what it is given, and what the machine lacks for a moment is no fault of a scan. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fontsOf, mixedPage, shareRead } from '../../scripts/make/sheets.js'
import { nativeTesseract } from '../../src/extract/ocr/native.js'
import { recognise } from '../../src/extract/ocr/recognise.js'

const NATIVE = new URL('../../dist/extract/ocr/native.js', import.meta.url).href

/** A process of its own, for all files that it may open are opened. */
const SCRIPT = `
import { closeSync, openSync } from 'node:fs'
import { nativeEngine } from '${NATIVE}'
const settings = { languages: ['eng'], engine: 'native' }
const engine = await nativeEngine(settings)
const files = []
const fill = () => { try { for (;;) files.push(openSync('/dev/null', 'r')) } catch {} }
const picture = { width: 1, height: 1, grey: new Uint8Array(1) }
const fault = (promise) => promise.then(() => 'none', (error) => error.name)
fill()
const full = await fault(engine.recognise(picture, 5_000))
// Asked for the first time while nothing can be started, and again when it can.
const other = { ...settings, languagePath: process.argv[2] }
const asked = await fault(nativeEngine(other))
for (const file of files) closeSync(file)
const again = await fault(nativeEngine(other))
console.log(JSON.stringify({ full, asked, again }))
`

test.runIf(process.platform === 'linux')(
  'a tesseract that cannot be started for want of files is a fault of ours, and tried again',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'paperknife-native-'))
    try {
      const program = join(folder, 'tesseract')
      writeFileSync(program, '#!/bin/sh\necho tesseract 5.0.0\necho eng\n')
      chmodSync(program, 0o755)
      writeFileSync(join(folder, 'eng.traineddata'), '')
      const script = join(folder, 'fill.mjs')
      writeFileSync(script, SCRIPT)
      const line = `ulimit -n 80; exec "$0" "$1" "$2"`
      const out = execFileSync('sh', ['-c', line, process.execPath, script, folder], {
        encoding: 'utf8',
        env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
      })
      expect(JSON.parse(out)).toEqual({ full: 'EngineFault', asked: 'EngineFault', again: 'none' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

const english = (await nativeTesseract())?.languages.has('eng') && fontsOf('eng').length > 0
test.runIf(english)(
  'a page is read by the tesseract of this machine',
  async () => {
    const page = mixedPage('eng', 'letter', 3)
    const read = await recognise(page, { languages: ['eng'], engine: 'native' }, 25e6, 60_000)
    expect(read?.engine).toMatch(/^tesseract \d/)
    expect(shareRead(page.lines, read?.text ?? '')).toBeGreaterThan(0.9)
  },
  60_000,
)
