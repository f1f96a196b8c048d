/**
 * One delivery into stores of growing size: from the file in new/ to the row and its words in the index.
 *
 * A store is filled through the index's own writer, with folders and rows but no files: a delivery looks
 * at its own file only. The deliveries are plain mails, one after the other, as a server hands them over.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eml } from '../scripts/make/mail.js'
import { openVault } from '../src/api.js'
import { fill } from './fill.js'
import { CORPORA, Generator } from './generate.js'
import { round, statistics, type BenchRun } from './harness.js'

const SIZES: number[] = []

export async function run(bench: BenchRun): Promise<void> {
  const most = bench.number('messages', 50_000)
  const deliveries = bench.number('deliveries', 500)
  const lines: Array<{ messages: number; median: number; mean: number }> = []
  for (const messages of [...SIZES.filter((size) => size < most), most]) {
    const line = await measure(messages, deliveries)
    lines.push(line)
    bench.emit({ bench: 'deliver', ...line })
  }
  const [first, last] = [lines[0], lines.at(-1)]
  if (first && last)
    bench.readme(
      `One delivery into ${last.messages.toLocaleString('en-US')} messages`,
      `${last.median} ms (into ${first.messages}: ${first.median} ms)`,
    )
}

async function measure(messages: number, deliveries: number) {
  const root = mkdtempSync(join(tmpdir(), 'paperknife-deliver-'))
  try {
    for (const name of ['cur', 'new', 'tmp']) mkdirSync(join(root, name))
    fill(join(root, '.paperknife'), { ...CORPORA.short, attachmentShare: 0, messages })
    const letters: string[] = []
    const generator = new Generator({
      ...CORPORA.short,
      seed: 99,
      attachmentShare: 0,
      messages: deliveries + WARM,
    })
    for (const { n, message } of generator.all()) {
      const path = join('new', `${1_800_000_000 + n}.M${n}.bench`)
      writeFileSync(
        join(root, path),
        await eml({
          from: 'Ann Lee <ann@example.org>',
          to: 'Bo Ek <bo@example.org>',
          subject: message.subject,
          date: new Date((1_780_000_000 + n * 60) * 1000).toISOString().replace('.000Z', '+00:00'),
          id: `${n}.deliver@example.org`,
          text: message.body,
        }),
      )
      letters.push(path)
    }
    const mail = await openVault({ vault: root, sweeper: 'inline', ocr: false })
    const times: number[] = []
    for (const [n, path] of letters.entries()) {
      const began = performance.now()
      await mail.deliver(path)
      if (n >= WARM) times.push(performance.now() - began)
    }
    await mail.close()
    const { median, max } = statistics(times)
    const mean = round(times.reduce((sum, time) => sum + time, 0) / times.length)
    return { messages, median, mean, max }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Deliveries before those that are measured: the thread is loaded by the first. */
const WARM = 20
