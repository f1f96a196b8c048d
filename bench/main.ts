/**
 * `npm run bench -- NAME …`: runs one bench of the table below. A new bench is one file and one row.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runBench, type Bench } from './harness.js'

const BENCHES: readonly Bench[] = [
  {
    name: 'extract',
    summary:
      'files and MB a second by format, milliseconds a file, peak memory; against other readers',
    flags: { files: 'DIR', ocr: 'on|off', threads: 'N', runs: 'N', vs: 'DIR' },
    load: () => import('./extract.js'),
  },
  {
    name: 'index',
    summary: 'messages a second and memory while indexing generated mail',
    flags: { messages: 'N', attachments: 'SHARE', again: '', 'vs-mu': '', mbox: 'MB', dir: 'DIR' },
    load: () => import('./index.js'),
  },
  {
    name: 'search',
    summary:
      'every shape of search on generated mail, fresh, rewritten and merged; sizes, first search',
    flags: {
      messages: 'N',
      corpus: 'short|mailvault|cjk',
      states: 'fresh,rewritten,merged',
      runs: 'N',
      dir: 'DIR',
      'no-texts': '',
    },
    load: () => import('./search.js'),
  },
  {
    name: 'deliver',
    summary: 'milliseconds of one delivery into stores of 100 messages and more',
    flags: { messages: 'N', deliveries: 'N', dir: 'DIR' },
    load: () => import('./deliver.js'),
  },
  {
    name: 'sweep',
    summary: 'seconds of a sweep in which little or nothing happened',
    flags: { messages: 'N', folders: 'N', dir: 'DIR' },
    load: () => import('./sweep.js'),
  },
  {
    name: 'startup',
    summary: 'milliseconds of loading, opening and first searching in fresh processes; idle memory',
    flags: { messages: 'N', runs: 'N', dir: 'DIR' },
    load: () => import('./startup.js'),
  },
  {
    name: 'ocr',
    summary:
      'CPU seconds a page by engine, resolution and language, over the bare engine; pages a minute',
    flags: { dpi: 'N', all: '', runs: 'N', seconds: 'N' },
    load: () => import('./ocr.js'),
  },
  {
    name: 'ocr-truth',
    summary:
      'words read and character errors on pictures whose text is known, by engine, language and kind',
    flags: { truth: 'FILE', files: 'DIR', engine: 'wasm|native|tesseract --psm 3' },
    load: () => import('./ocr-truth.js'),
  },
  {
    name: 'looks',
    summary:
      'turned pages set right, upright ones left alone, photographs told from text, and the cost',
    flags: { engine: 'wasm|native', pages: 'N', photographs: 'N' },
    load: () => import('./looks.js'),
  },
  {
    name: 'compare',
    summary: 'two reports side by side: compare A.json B.json; how shapes grow with the messages',
    flags: { growth: '' },
    load: () => import('./compare.js'),
  },
]

const [name, ...words] = process.argv.slice(2)
const bench = BENCHES.find((row) => row.name === name)
if (!bench) {
  for (const { name, summary, flags } of BENCHES) {
    const shown = Object.entries(flags).map(([flag, value]) => `[--${`${flag} ${value}`.trim()}]`)
    console.log(`${name} ${shown.join(' ')}\n    ${summary}`)
  }
  console.log('--save writes bench/results/NAME.json; --save FILE another file')
  process.exitCode = name === undefined || name === '--list' ? 0 : 2
} else {
  const at = words.findIndex((word) => word === '--save')
  let file: string | undefined
  if (at >= 0) {
    const next = words[at + 1]
    const isNamed = next !== undefined && !next.startsWith('--')
    file = isNamed ? next : fileURLToPath(new URL(`results/${bench.name}.json`, import.meta.url))
    words.splice(at, isNamed ? 2 : 1)
  }
  const report = await runBench(bench, words)
  if (file !== undefined) {
    mkdirSync(new URL('results/', import.meta.url), { recursive: true })
    writeFileSync(file, `${JSON.stringify(report, null, 1)}\n`)
    console.error(`written to ${file}`)
  }
}
