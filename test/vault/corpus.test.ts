import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'
import { parseMessage } from '../../src/mail/parse.js'
import { openMailStore } from '../../src/vault/open.js'
import { readMessage } from '../../src/vault/read.js'
import { CORPUS, corpusRows } from '../corpus.js'

const hasCorpus = existsSync(CORPUS)
if (!hasCorpus) console.log(`skipped: no corpus at ${CORPUS}`)

test.skipIf(!hasCorpus)(
  'every mail of the corpus is listed once, and every one parses in a second',
  { timeout: 120_000 },
  async () => {
    const vault = await openMailStore(CORPUS)
    const { folders, unreadable } = await vault.folders()
    expect(unreadable).toEqual([])
    const seen = new Map<string, number>()
    for (const folder of folders) {
      const { entries } = await vault.entries(folder)
      for (const entry of entries) {
        const key = entry.path
        seen.set(key, (seen.get(key) ?? 0) + (entry.offset ? 0 : 1))
        const read = await readMessage(vault.root, entry, DEFAULT_LIMITS)
        if (read.kind !== 'read') throw new Error(`${entry.path}: ${read.detail}`)
        const began = performance.now()
        await parseMessage(read.bytes, { limits: DEFAULT_LIMITS })
        expect(performance.now() - began, entry.path).toBeLessThan(1000)
      }
    }
    const mails = corpusRows().filter(({ family }) => family === 'eml')
    expect(mails.length).toBeGreaterThan(400)
    expect(mails.filter(({ path }) => !seen.has(path)).map(({ path }) => path)).toEqual([])
    expect([...seen].filter(([, count]) => count !== 1)).toEqual([])
    const documents = corpusRows().filter(({ family }) =>
      /^(pdf|docx|xlsx|pptx|image|odf)/.test(family),
    )
    expect(documents.filter(({ path }) => seen.has(path))).toEqual([])
  },
)
