/**
 * Sweeps of a vault in which little or nothing happened: nothing new, a full check, flags and moves.
 *
 * The vault is folders of small mails, as files, indexed once without attachments. `--dir` keeps it for the next run.
 */
import {
  existsSync,
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
import { openVault, type Mail } from '../src/api.js'
import { round, type BenchRun } from './harness.js'

export async function run(bench: BenchRun): Promise<void> {
  const files = bench.number('messages', 200_000)
  const folders = bench.number('folders', 200)
  const kept = bench.text('dir')
  const root =
    kept === undefined
      ? mkdtempSync(join(tmpdir(), 'paperknife-sweep-'))
      : join(kept, `vault-${files}-${folders}`)
  try {
    const names = Array.from({ length: folders }, (_, n) => `.F${n}`)
    if (!existsSync(join(root, WRITTEN))) writeVault(root, names, files)
    console.error(`indexing ${files} messages`)
    await withMail(root, (mail) => mail.sweep())
    settle(root, names)
    await withMail(root, (mail) => mail.sweep())
    const mail = await opened(root)

    const measure = async (what: string, full = false): Promise<void> => {
      const began = performance.now()
      const { messages } = await mail.sweep({ full })
      const seconds = round((performance.now() - began) / 1000)
      bench.emit({ bench: 'sweep', what, messages: files, folders, seconds, ...messages })
      if (messages.added + messages.changed > 0)
        throw new Error(`${what}: ${messages.added + messages.changed} messages were read`)
      bench.readme(`A sweep of ${files.toLocaleString('en-US')} messages: ${what}`, `${seconds} s`)
    }
    await measure('nothing new')
    await measure('full check', true)

    const first = join(root, names[0] as string, 'cur')
    for (const name of readdirSync(first).slice(0, 1000)) {
      const flags = name.endsWith(':2,FS') ? ':2,S' : ':2,FS'
      renameSync(join(first, name), join(first, name.replace(/:2,.*/, flags)))
    }
    const [fuller, other] = [1, 2]
      .map((n) => join(root, names[n] as string, 'cur'))
      .sort((a, b) => readdirSync(b).length - readdirSync(a).length) as [string, string]
    for (const name of readdirSync(fuller).slice(0, 100))
      renameSync(join(fuller, name), join(other, name))
    await measure('1,000 flags and 100 moves')
    await mail.close()
  } finally {
    if (kept === undefined) rmSync(root, { recursive: true, force: true })
  }
}

/** Says that the vault beside it is whole. */
const WRITTEN = '.written'

const opened = (root: string): Promise<Mail> =>
  openVault({ vault: root, sweeper: 'inline', ocr: false, attachments: 'off' })

async function withMail(root: string, run: (mail: Mail) => Promise<unknown>): Promise<void> {
  const mail = await opened(root)
  try {
    await run(mail)
  } finally {
    await mail.close()
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
  writeFileSync(join(root, WRITTEN), '')
}

/** As if nothing had changed for a minute: folders whose times are too fresh are compared again. */
function settle(root: string, names: readonly string[]): void {
  const before = Date.now() / 1000 - 60
  for (const name of ['', ...names])
    for (const sub of ['cur', 'new', '']) utimesSync(join(root, name, sub), before, before)
}
