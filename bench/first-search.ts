/** The first search of a process: `first-search.ts DIRECTORY QUERY` prints milliseconds and hits. */
import { openForReading } from '../src/index/read-files.js'
import { Searcher } from '../src/index/search.js'

const [directory = '', query = ''] = process.argv.slice(2)
const began = performance.now()
const files = openForReading(directory)
const { hits } = await new Searcher(files).search(query, { limit: 500 })
const ms = performance.now() - began
files.close()
console.log(JSON.stringify({ rows: hits.length, ms: Math.round(ms * 100) / 100 }))
