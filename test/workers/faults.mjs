// A fault extractor for tests: does what the document's first line says. Reached only through the
// pool option `faults` or the variable PAPERKNIFE_FAULTS; it stands in no table.
import { appendFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'

const PREFIX = 'FAULT '

const held = []

const FAULTS = {
  spin: () => {
    for (;;);
  },
  sleep: () => new Promise(() => {}),
  exit: () => process.exit(3),
  abort: () => process.abort(),
  crash: () => {
    process.kill(process.pid, 'SIGSEGV')
    for (;;);
  },
  heap: () => {
    const rows = []
    for (let n = 0; ; n++) rows.push({ n, text: `row ${n}`.repeat(20) })
  },
  buffers: async () => {
    for (;;) {
      held.push(Buffer.alloc(20_000_000, 1))
      await new Promise((resolve) => setImmediate(resolve))
    }
  },
  'buffers-sync': () => {
    for (;;) held.push(Buffer.alloc(20_000_000, 1))
  },
  /** Needs so many MB for so long, and then gives them back. */
  hold: async (sink, mb, ms) => {
    const needed = []
    for (let n = 0; n < Number(mb); n += 10) {
      needed.push(Buffer.alloc(10_000_000, 1))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await new Promise((resolve) => setTimeout(resolve, Number(ms)))
    sink.line(`read with ${needed.length} buffers`)
  },
  throw: () => {
    throw new Error('thrown at once')
  },
  'throw-stray': () =>
    new Promise(() => {
      setTimeout(() => {
        throw new Error('thrown from a callback')
      }, 10)
    }),
  'throw-late': (sink) => {
    setTimeout(() => {
      throw new Error('thrown after the end')
    }, 20)
    sink.line('read before the late throw')
  },
  'reject-late': (sink) => {
    setTimeout(() => void Promise.reject(new Error('rejected after the end')), 1)
    sink.line('read before the late rejection')
  },
  flood: (sink) => {
    for (;;) sink.line('flood '.repeat(1000))
  },
  print: (sink) => {
    for (let n = 0; n < 20_000; n++) console.log('noise '.repeat(100))
    process.stderr.write('noise')
    sink.line('read while printing')
  },
  slow: async (sink, ms) => {
    await new Promise((resolve) => setTimeout(resolve, Number(ms)))
    sink.line(`read after ${ms} ms`)
  },
  /** So many pages that only the OCR lane can read, for so long. */
  scan: async (sink, pages, ms, _name, { lane, budget }) => {
    if (lane !== 'ocr') return budget.leaveForOcr(Number(pages))
    await new Promise((resolve) => setTimeout(resolve, Number(ms)))
    budget.ocrPages += Number(pages)
    sink.line(`${pages} pages recognised`)
  },
  fetch: (sink, url) => fetch(url),
  text: (sink, ...words) => sink.line(words.join(' ')),
}

export default {
  beforeParse(path) {
    if (process.env.PAPERKNIFE_PARSE_FAULT && path.includes(process.env.PAPERKNIFE_PARSE_FAULT))
      FAULTS.crash()
  },
  extractorFor({ bytes }) {
    const line = Buffer.from(bytes.subarray(0, 200)).toString('latin1').split('\n')[0]
    if (!line.startsWith(PREFIX)) return undefined
    const [name, ...rest] = line.slice(PREFIX.length).trim().split(' ')
    const act = FAULTS[name]
    if (!act) throw new Error(`no such fault: ${name}`)
    return {
      name: 'fault',
      version: 1,
      title: 'Faults',
      types: [],
      extensions: [],
      lane: 'text',
      extract: async (_source, sink, context) => {
        // What was begun, for tests that count readings over several processes.
        const { PAPERKNIFE_FAULTS_LOG: log, PAPERKNIFE_FAULTS_THREADS: withThread } = process.env
        const isLooked = name === 'scan' && context.lane !== 'ocr'
        if (log && !isLooked)
          appendFileSync(log, `${[name, ...rest, ...(withThread ? [threadId] : [])].join(' ')}\n`)
        await act(sink, ...rest, context)
      },
    }
  },
}
