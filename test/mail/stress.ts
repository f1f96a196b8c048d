/**
 * Reads generated nasty mails until told to stop: none may throw, take over a second, or make memory
 * grow. `node --import tsx test/mail/stress.ts [inputs] [first seed]` prints the seeds of those that do.
 */
import { parseMessage } from '../../src/mail/parse.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import { nastyMail } from './generate.js'

const [inputs = 10_000, first = 1] = process.argv.slice(2).map(Number)
const MAX_MS = 1000
const MAX_GROWTH = 400_000_000

let failures = 0
let slowest = 0
let before = 0
for (let seed = first; seed < first + inputs; seed++) {
  const bytes = nastyMail(seed)
  const began = performance.now()
  try {
    await parseMessage(bytes, { limits: DEFAULT_LIMITS, want: 'all' })
  } catch (error) {
    failures++
    console.error(`seed ${seed} threw`, error)
  }
  const ms = performance.now() - began
  slowest = Math.max(slowest, ms)
  if (ms > MAX_MS) {
    failures++
    console.error(`seed ${seed} took ${Math.round(ms)} ms`)
  }
  if (seed === first + 500) before = process.memoryUsage.rss()
}
const growth = before === 0 ? 0 : process.memoryUsage.rss() - before
if (growth > MAX_GROWTH) {
  failures++
  console.error(`memory grew by ${growth} bytes`)
}
console.log(JSON.stringify({ inputs, failures, slowestMs: Math.round(slowest), growth }))
process.exitCode = failures > 0 ? 1 : 0
