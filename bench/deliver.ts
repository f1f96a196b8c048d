/**
 * One delivery into stores of growing size: from the file in new/ to the row and its words in the index.
 *
 * A store is filled through the index's own writer and merged as a sweep would leave it, with folders and rows but
 * no files: a delivery looks at its own file only. All stores are open at once, and each mail is delivered into
 * every one of them in turn, so that whatever else the machine does meanwhile touches all sizes alike.
 */
import {
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eml } from '../scripts/make/mail.js'
import { openVault, type Mail } from '../src/api.js'
import { openForReading } from '../src/index/read-files.js'
import { segments } from '../src/index/merging.js'
import { openStore } from '../src/index/store.js'
import { fill } from './fill.js'
import { CORPORA, Generator } from './generate.js'
import { round, statistics, type BenchRun } from './harness.js'

const SIZES = [100, 1_000, 5_000, 50_000, 1_000_000] as const
/** Deliveries before those that are measured: code and caches are cold at first. */
const WARM = 100

interface Target {
  messages: number
  root: string
  mail: Mail
  times: number[]
}

export async function run(bench: BenchRun): Promise<void> {
  const most = bench.number('messages', SIZES.at(-1) as number)
  const sizes = [...SIZES.filter((size) => size < most), most]
  const deliveries = bench.number('deliveries', 500)
  const kept = bench.text('dir')
  const letters = await writeLetters(deliveries + WARM)
  const work = mkdtempSync(join(kept ?? tmpdir(), 'paperknife-deliver-'))
  const targets: Target[] = []
  try {
    for (const messages of sizes)
      targets.push({ messages, times: [], ...(await opened(work, kept, messages)) })
    for (const [n, letter] of letters.entries()) {
      const name = `${1_800_000_000 + n}.M${n}.bench`
      for (const { root, mail, times } of targets) {
        writeFileSync(join(root, 'tmp', name), letter)
        renameSync(join(root, 'tmp', name), join(root, 'new', name))
        const began = performance.now()
        await mail.deliver(join('new', name))
        if (n >= WARM) times.push(performance.now() - began)
      }
    }
    for (const { mail } of targets) await mail.close()
    const lines = targets.map(({ messages, root, times }) => {
      const { median, max } = statistics(times)
      const mean = round(times.reduce((sum, time) => sum + time, 0) / times.length)
      const line = { messages, median, mean, max, segments: segmentsOf(root) }
      bench.emit({ bench: 'deliver', ...line })
      return line
    })
    const [first, last] = [lines[0], lines.at(-1)]
    if (!first || !last) return
    const highest = Math.max(...lines.map(({ max }) => max))
    bench.readme(
      `One delivery into ${count(last.messages)} messages, from the file to the index (median; mean)`,
      `${last.median} ms; ${last.mean} ms (into ${count(first.messages)}: ${first.median} ms; ${first.mean} ms); the slowest of ${count(deliveries)} into any size ${highest} ms`,
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const count = (n: number): string => n.toLocaleString('en-US')

async function opened(
  work: string,
  kept: string | undefined,
  messages: number,
): Promise<{ root: string; mail: Mail }> {
  const root = join(work, String(messages))
  for (const name of ['cur', 'new', 'tmp']) mkdirSync(join(root, name), { recursive: true })
  const index = join(root, '.paperknife')
  const store = kept === undefined ? index : join(kept, `store-${messages}`)
  if (!existsSync(join(store, 'index.db'))) {
    // Under another name until it is whole: a kept store that was interrupted is no store.
    const making = `${store}.making`
    rmSync(making, { recursive: true, force: true })
    console.error(`filling ${messages}`)
    fill(making, { ...CORPORA.short, attachmentShare: 0, messages })
    const filled = openStore({ directory: making, messageChars: 10_000_000 })
    while (filled.idle.step());
    filled.close()
    renameSync(making, store)
  }
  if (store !== index) cpSync(store, index, { recursive: true, mode: COPY })
  return { root, mail: await openVault({ vault: root, sweeper: 'inline', ocr: false }) }
}

/** A clone where the file system can. */
const COPY = constants.COPYFILE_FICLONE

function segmentsOf(root: string): number {
  const files = openForReading(join(root, '.paperknife'))
  try {
    return segments(files.index, 'words')
  } finally {
    files.close()
  }
}

async function writeLetters(count: number): Promise<Uint8Array[]> {
  const letters: Uint8Array[] = []
  const generator = new Generator({
    ...CORPORA.short,
    seed: 99,
    attachmentShare: 0,
    messages: count,
  })
  for (const { n, message } of generator.all())
    letters.push(
      await eml({
        from: 'Ann Lee <ann@example.org>',
        to: 'Bo Ek <bo@example.org>',
        subject: message.subject,
        date: new Date((1_780_000_000 + n * 60) * 1000).toISOString().replace('.000Z', '+00:00'),
        id: `${n}.deliver@example.org`,
        text: message.body,
      }),
    )
  return letters
}
