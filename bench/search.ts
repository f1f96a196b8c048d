/**
 * Measures searches over generated mail: every shape of shapes.ts fresh, after a fifth of the rows were
 * rewritten, and merged; newest 500 hits with their rows and matched fields. A planted answer of another
 * size than expected is an error, whatever the time.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openForReading, type ReaderFiles } from '../src/index/read-files.js'
import { Searcher } from '../src/index/search.js'
import { openStore } from '../src/index/store.js'
import { fill, folderIds, inputOf } from './fill.js'
import { CORPORA, Generator, count, type Corpus } from './generate.js'
import { round, statistics, type BenchRun } from './harness.js'
import { SHAPES, type Shape } from './shapes.js'

const ROWS = 500
/** What every shape should stay within. */
const QUICK_MS = 14
const STATES = ['fresh', 'rewritten', 'merged'] as const
type State = (typeof STATES)[number]

export async function run(bench: BenchRun): Promise<void> {
  const name = (bench.text('corpus') ?? 'short') as Corpus['name']
  if (!Object.hasOwn(CORPORA, name)) {
    throw new TypeError(`--corpus must be one of ${Object.keys(CORPORA).join(', ')}`)
  }
  const corpus: Corpus = { ...CORPORA[name], messages: bench.number('messages', 50_000) }
  const runs = Math.max(1, bench.number('runs', 9))
  const kept = bench.text('dir')
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'paperknife-bench-'))
  const wrong: string[] = []
  const medians: Medians = new Map()
  try {
    if (!existsSync(join(directory, 'index.db'))) {
      mkdirSync(directory, { recursive: true })
      const { textBytes, seconds } = fill(directory, corpus, {
        keepTexts: !bench.has('no-texts'),
        onProgress: (messages) => {
          if (messages % 50_000 === 0) console.error(`${messages} messages`)
        },
      })
      bench.emit({
        bench: 'search',
        shape: 'build',
        corpus: name,
        messages: corpus.messages,
        textBytes,
        seconds,
        messagesPerSecond: round(corpus.messages / seconds),
      })
    }
    const states = (bench.text('states')?.split(',') ?? STATES) as State[]
    for (const state of states) {
      if (state === 'rewritten') rewriteFifth(directory, corpus)
      if (state === 'merged') merge(directory)
      wrong.push(...(await measure(bench, directory, corpus, state, runs, medians)))
    }
    summarise(bench, corpus, medians)
    sizes(bench, directory, corpus)
    firstSearch(bench, directory, corpus)
  } finally {
    if (kept === undefined) rmSync(directory, { recursive: true, force: true })
  }
  if (wrong.length > 0) throw new Error(`wrong answers:\n${wrong.join('\n')}`)
}

/** Shapes, and the milliseconds of each when merged. */
type Medians = Map<string, number>

/** The slowest shapes for the README: one line must not hide them behind a mean. */
function summarise(bench: BenchRun, corpus: Corpus, medians: Medians): void {
  const slowest = [...medians].sort((a, b) => b[1] - a[1])
  if (slowest.length === 0) return
  const quick = slowest.filter(([, median]) => median <= QUICK_MS)
  const late = slowest.filter(([, median]) => median > QUICK_MS)
  bench.readme(
    `Searching ${corpus.messages.toLocaleString('en-US')} messages (${corpus.name}), newest ${ROWS} hits with rows and matched fields, merged index, median`,
    [
      `${quick.length} of ${slowest.length} shapes within ${QUICK_MS} ms`,
      ...late.map(([shape, median]) => `${shape} ${round(median)} ms`),
    ].join('; '),
  )
}

/** @returns a sentence for each planted answer of a wrong size */
async function measure(
  bench: BenchRun,
  directory: string,
  corpus: Corpus,
  state: State,
  runs: number,
  medians: Medians,
): Promise<string[]> {
  const files = openForReading(directory)
  const wrong: string[] = []
  try {
    const searcher = new Searcher(files)
    for (const shape of SHAPES) {
      if (shape.corpora && !shape.corpora.includes(corpus.name)) continue
      const planted =
        shape.matches && count(corpus.messages, (n) => shape.matches?.(n, corpus) ?? false)
      const all = await searcher.search(shape.query, { limit: 0, countAll: true })
      const tier = shape.tier ?? 'exact'
      const matches = all.tier === tier ? all.count : 0
      if (planted !== undefined && matches !== planted) {
        wrong.push(`${state} ${shape.name} (${shape.query}): ${matches} instead of ${planted}`)
      }
      const after = shape.isDeep ? await middle(searcher, shape, matches ?? 0) : undefined
      const times: number[] = []
      let rows = 0
      for (let i = 0; i < runs; i += 1) {
        const began = performance.now()
        const { hits } = await searcher.search(shape.query, {
          limit: ROWS,
          ...shape.options,
          ...(after !== undefined && { after }),
        })
        times.push(performance.now() - began)
        rows = hits.length
      }
      const measured = statistics(times)
      if (state === 'merged') medians.set(shape.name, measured.median)
      bench.emit({
        bench: 'search',
        shape: shape.name,
        corpus: corpus.name,
        query: shape.query,
        messages: corpus.messages,
        state,
        segments: segments(files),
        matches,
        ...(planted !== undefined && { planted }),
        rows,
        ...measured,
      })
    }
    await excerpts(bench, searcher, corpus, state, runs)
  } finally {
    files.close()
  }
  return wrong
}

/** The cursor of the match in the middle. */
async function middle(searcher: Searcher, shape: Shape, matches: number): Promise<string> {
  const { hits } = await searcher.search(shape.query, { limit: Math.max(1, matches >> 1) })
  return String(hits.at(-1)?.id ?? 0)
}

async function excerpts(
  bench: BenchRun,
  searcher: Searcher,
  corpus: Corpus,
  state: State,
  runs: number,
): Promise<void> {
  for (const query of ['invoice', 'attachment:invoice']) {
    const { hits } = await searcher.search(query, { limit: 20 })
    const times: number[] = []
    for (let i = 0; i < runs; i += 1) {
      const began = performance.now()
      await searcher.excerpts(hits)
      times.push(performance.now() - began)
    }
    bench.emit({
      bench: 'search',
      shape: 'excerpts',
      corpus: corpus.name,
      query,
      messages: corpus.messages,
      state,
      rows: hits.length,
      ...statistics(times),
    })
  }
}

const segments = ({ index }: ReaderFiles): number =>
  index.prepare('SELECT count(DISTINCT segid) FROM words_idx').pluck().get() as number

/** Writes every fifth message again, as the text of an attachment that arrives later does. */
function rewriteFifth(directory: string, corpus: Corpus): void {
  const store = openStore({ directory, messageChars: 10_000_000 })
  const { index, close } = openForReading(directory)
  try {
    const ids = index.prepare('SELECT id FROM message ORDER BY id').pluck().all() as number[]
    const generator = new Generator(corpus)
    const folders = folderIds(store)
    let waiting: Array<Parameters<typeof store.rewrites.write>[0][number]> = []
    for (let n = 0; n < corpus.messages; n += 5) {
      const { columns } = inputOf(generator.message(n), folders, false)
      waiting.push({ id: ids[n] as number, columns, revision: 1e12 })
      if (waiting.length < 500 && n + 5 < corpus.messages) continue
      store.rewrites.write(waiting)
      waiting = []
    }
  } finally {
    close()
    store.close()
  }
}

function merge(directory: string): void {
  const store = openStore({ directory, messageChars: 10_000_000 })
  try {
    while (store.idle.step());
  } finally {
    store.close()
  }
}

function sizes(bench: BenchRun, directory: string, corpus: Corpus): void {
  const files = openForReading(directory)
  try {
    for (const [file, db] of [
      ['index.db', files.index],
      ['extracts.db', files.extracts],
    ] as const) {
      const tables = db
        .prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY 2 DESC')
        .all() as Array<{ name: string; bytes: number }>
      bench.emit({
        bench: 'search',
        shape: 'bytes',
        corpus: corpus.name,
        messages: corpus.messages,
        file,
        bytes: tables.reduce((sum, table) => sum + table.bytes, 0),
        tables: Object.fromEntries(
          tables.filter(({ bytes }) => bytes > 100_000).map(({ name, bytes }) => [name, bytes]),
        ),
      })
    }
  } finally {
    files.close()
  }
}

/** Opening, searching and closing in a process that has done nothing yet; loading Node itself is left out. */
function firstSearch(bench: BenchRun, directory: string, corpus: Corpus): void {
  const script = fileURLToPath(new URL('first-search.ts', import.meta.url))
  for (const query of ['budget meeting', 'ban', 'ba']) {
    const child = spawnSync(
      process.execPath,
      [...process.execArgv, '--import', 'tsx', script, directory, query],
      { encoding: 'utf8' },
    )
    if (child.status !== 0) throw new Error(`first search: ${child.stderr}`)
    bench.emit({
      bench: 'search',
      shape: 'first-search',
      corpus: corpus.name,
      query,
      messages: corpus.messages,
      ...(JSON.parse(child.stdout) as Record<string, number>),
    })
  }
}
