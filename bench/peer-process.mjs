// A process of bench/peers.ts: reads each document it is sent with officeparser or unpdf, and says how long that took.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, peer] = process.argv.slice(2)
const require = createRequire(join(folder, 'node_modules', 'x.js'))

/** By peer: the text of a document that is in memory. */
const READERS = {
  async officeparser() {
    const { parseOffice } = require('officeparser')
    return async (bytes) => (await parseOffice(Buffer.from(bytes))).toText()
  },
  async unpdf() {
    const { extractText, getDocumentProxy } = await import(
      pathToFileURL(require.resolve('unpdf').replace(/\.cjs$/, '.mjs')).href
    )
    return async (bytes) => {
      const document = await getDocumentProxy(bytes, { verbosity: 0 })
      try {
        return (await extractText(document, { mergePages: true })).text
      } finally {
        await document.loadingTask.destroy()
      }
    }
  },
}

const read = await READERS[peer]()
process.on('message', async (file) => {
  const bytes = new Uint8Array(readFileSync(file))
  const began = performance.now()
  let characters
  try {
    characters = (await read(bytes)).length
  } catch {
    // What a peer cannot read is not compared.
  }
  process.send({ ms: performance.now() - began, characters })
})
process.send({})
