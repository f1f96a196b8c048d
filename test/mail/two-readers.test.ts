/** plain.ts and lenient.ts (MailParser) must see the same mail; MailParser's own reading is a third voice. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { headStart } from '../../src/mail/condition.js'
import { readLenientTree } from '../../src/mail/lenient.js'
import { parseMessage } from '../../src/mail/parse.js'
import { readPlainTree } from '../../src/mail/plain.js'
import type { Tree } from '../../src/mail/tree.js'
import { DEFAULT_LIMITS as limits } from '../../src/part/limits.js'
import { CORPUS, corpusRows } from '../corpus.js'
import { wellFormedMail } from './generate.js'

const hasCorpus = existsSync(CORPUS)
if (!hasCorpus) console.log(`skipped: no corpus at ${CORPUS}`)
const mails = (): Array<{ path: string; bytes: Buffer }> =>
  corpusRows()
    .filter(({ family }) => family === 'eml')
    .map(({ path }) => ({ path, bytes: readFileSync(`${CORPUS}/${path}`) }))

const shape = (tree: Tree): unknown => ({
  head: tree.head.fields,
  leaves: tree.leaves.map(({ path, head, within, raw }) => ({
    path,
    head: head.fields,
    within,
    // Whether the last line end belongs to the part is a matter of taste at the end of a mail.
    raw: raw.toString('latin1').trimEnd(),
  })),
})

/** Mails of the corpus that the two may read differently, and why. */
const DIFFERENT: Record<string, string> = {
  'weird-boundary.msg': 'a boundary that ends in blanks: MailParser trims it',
  'very-long-boundary.msg': 'the same',
  'very-very-long-boundary.msg': 'the same',
  'malformed/017.eml': 'no semicolon before the boundary: MailParser finds no parameter',
}

test.skipIf(!hasCorpus)(
  'both readers give the same tree for plain mails of the corpus',
  async () => {
    let compared = 0
    for (const { path, bytes } of mails()) {
      const mail = bytes.subarray(headStart(bytes))
      const plain = readPlainTree(mail)
      if (!plain || Object.keys(DIFFERENT).some((name) => path.endsWith(name))) continue
      const lenient = await readLenientTree(mail, limits, performance.now() + 10_000)
      expect(shape(lenient), path).toEqual(shape(plain))
      compared++
    }
    expect(compared).toBeGreaterThan(300)
  },
)

test('both readers give the same tree for generated mails', async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const mail = wellFormedMail(seed)
    const plain = readPlainTree(mail)
    expect(plain, `seed ${seed}`).toBeDefined()
    const lenient = await readLenientTree(mail, limits, performance.now() + 10_000)
    expect(shape(lenient), `seed ${seed}`).toEqual(shape(plain as Tree))
  }
})

test('MailParser by itself agrees on headers, text and attachments of generated mails', async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const mail = wellFormedMail(seed)
    const ours = await parseMessage(mail, { limits, want: 'all' })
    const theirs = await simpleParser(mail, {
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipImageLinks: true,
    })
    const words = (text: string | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim()
    expect(words(ours.subject), `seed ${seed}`).toBe(words(theirs.subject))
    expect(ours.from.map(({ name, address }) => [name, address])).toEqual(
      theirs.from?.value.map(({ name, address }) => [name, address]),
    )
    expect(ours.date).toBe(theirs.date ? theirs.date.getTime() / 1000 : null)
    if (theirs.text) expect(words(ours.body), `seed ${seed}`).toBe(words(theirs.text))
    expect(ours.parts.map(({ name, hash }) => [name, hash])).toEqual(
      theirs.attachments.map(({ filename, content }) => [
        filename ?? '',
        createHash('sha256').update(content).digest('hex'),
      ]),
    )
  }
})
