/**
 * Sweeps of a vault in which little or nothing happened: nothing new, a full check, flags and moves.
 *
 * The vault is folders of small mails, as files, indexed once without attachments.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openVault } from '../src/api.js'
import { round, type BenchRun } from './harness.js'

export async function run(bench: BenchRun): Promise<void> {
  const files = bench.number('messages', 200_000)
  const folders = bench.number('folders', 200)
  const root = mkdtempSync(join(tmpdir(), 'paperknife-sweep-'))
  try {
    const names = Array.from({ length: folders }, (_, n) => `.F${n}`)
    writeVault(root, names, files)
    const mail = await openVault({ vault: root, sweeper: 'inline', ocr: false, attachments: 'off' })
    console.error(`indexing ${files} messages`)
    await mail.sweep()
    settle(root, names)
    await mail.sweep()

    const measure = async (what: string, full = false): Promise<void> => {
      const began = performance.now()
      const { messages } = await mail.sweep({ full })
      const seconds = round((performance.now() - began) / 1000)
      bench.emit({ bench: 'sweep', what, messages: files, folders, seconds, ...messages })
      bench.readme(`A sweep of ${files.toLocaleString('en-US')} messages: ${what}`, `${seconds} s`)
    }
    await measure('nothing new')
    await measure('full check', true)

    const first = join(root, names[0] as string, 'cur')
    for (const name of readdirSync(first).slice(0, 1000))
      renameSync(join(first, name), join(first, name.replace(/:2,.*/, ':2,FS')))
    const second = join(root, names[1] as string, 'cur')
    for (const name of readdirSync(second).slice(0, 100))
      renameSync(join(second, name), join(root, names[2] as string, 'cur', name))
    await measure('1,000 flags and 100 moves')
    await mail.close()
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function writeVault(root: string, names: readonly string[], files: number): void {
  for (const name of ['', ...names])
    for (const sub of ['cur', 'new', 'tmp']) mkdirSync(join(root, name, sub), { recursive: true })
  for (let n = 0; n < files; n++)
    writeFileSync(
      join(root, names[n % names.length] as string, 'cur', `${1_500_000_000 + n}.M${n}.bench:2,S`),
      `From: Ann Lee <ann@example.org>\r\nTo: bo@example.org\r\nSubject: Letter ${n}\r\nDate: ${new Date((1_500_000_000 + n * 60) * 1000).toUTCString()}\r\nMessage-ID: <${n}@example.org>\r\n\r\nLetter ${n} says little.\r\n`,
    )
}

/** As if nothing had changed for a minute: folders whose times are too fresh are compared again. */
function settle(root: string, names: readonly string[]): void {
  const before = Date.now() / 1000 - 60
  for (const name of ['', ...names])
    for (const sub of ['cur', 'new', '']) utimesSync(join(root, name, sub), before, before)
}
