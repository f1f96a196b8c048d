/**
 * `npm run demo`: indexes a copy of the sample vault, then searches it, with the command line itself.
 * Every line that begins with `$` is a command that can be typed.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const SAMPLE = fileURLToPath(new URL('../sample-vault', import.meta.url))

const SEARCHES = [
  ['a subject', ['german edition']],
  ['a cell of a table in a Word document', ['pennant']],
  ['a cell of a spreadsheet', ['quittengelee']],
  ["a slide's notes", ['foghorn']],
  ['the third page of a PDF', ['chuchotement obstiné']],
  ['a Japanese sentence', ['来年の春に東京で']],
  ['a word in a scan, read by OCR', ['corrosion']],
  ['a word on a photographed receipt', ['tungsten']],
  ['a document in a zip, found without its umlaut', ['nachtzug', 'zuruck']],
]
const UNREAD = ['kontoauszug-2025-01.pdf', 'half.pdf', 'altstimme.mscz-part']

const folder = mkdtempSync(join(tmpdir(), 'paperknife-demo-'))
const began = Date.now()
const bold = (text) => (process.stdout.isTTY ? `\u001b[1m${text}\u001b[0m` : text)

/** Runs the program in the temporary folder. @returns its exit code */
function paperknife(...words) {
  const quoted = words.map((word) => (/^[\w.=/-]+$/.test(word) ? word : `'${word}'`))
  console.log(`$ paperknife ${quoted.join(' ')}`)
  const { status, error } = spawnSync(process.execPath, [PROGRAM, ...words], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (error) throw error
  console.log()
  return status
}

let failures = 0
try {
  cpSync(SAMPLE, join(folder, 'sample-vault'), { recursive: true, preserveTimestamps: true })

  console.log(
    bold('The mail of a translator: 32 messages in five folders, with what people attach.\n'),
  )
  const indexed = paperknife('index', 'sample-vault')
  if (indexed !== 0) failures++

  for (const [what, query] of SEARCHES) {
    console.log(bold(`Looking for ${what}`))
    if (paperknife('search', 'sample-vault', ...query, '--limit', '3') !== 0) failures++
  }

  console.log(bold('What can be searched, and what could not be read'))
  paperknife('status', 'sample-vault')
  console.log(bold('Why not'))
  for (const name of UNREAD) paperknife('explain', 'sample-vault', name)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(
  failures === 0
    ? `Done in ${Math.round((Date.now() - began) / 1000)} s. Your own mail: node dist/cli/main.js index ~/Maildir`
    : `Not as it should be: ${failures} of the searches above found nothing.`,
)
process.exitCode = failures === 0 ? 0 : 1
