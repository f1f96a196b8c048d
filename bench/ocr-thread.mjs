// A thread of bench/ocr.ts: reads one page over and over, and says so each time. Runs the built files.
import { parentPort, workerData } from 'node:worker_threads'
import { readDocument } from '../dist/extract/read.js'
import { DEFAULT_LIMITS } from '../dist/part/limits.js'

const settings = {
  limits: DEFAULT_LIMITS,
  ocr: { languages: ['eng'], engine: workerData.engine },
  passwords: [],
}
const document = { bytes: new Uint8Array(workerData.png), name: 'page.png' }
await readDocument(document, settings, 'ocr')
parentPort.postMessage('ready')
for (;;) {
  await readDocument(document, settings, 'ocr')
  parentPort.postMessage('page')
}
