/**
 * Indexing mail from files: messages a second and the memory of the whole tree of processes, in fresh
 * processes. `--vs-mu` lets `mu index` read the same mail in the same run.
 *
 * The mail is made by generate.ts (no attachments unless `--attachments SHARE` asks for some) and lies in
 * a Maildir in a temporary folder that is removed afterwards. `--mbox MB` writes one mbox file of that size instead,
 * and appends ten mails to it after it was indexed. `--again` deletes index.db and lets it be made anew.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eml, type Attachment } from '../scripts/make/mail.js'
import { docx, xlsx } from '../scripts/make/office.js'
import { pdf } from '../scripts/make/pdf.js'
import type { Person } from '../src/mail/message.js'
import { CORPORA, Generator, type GeneratedMessage } from './generate.js'
import { PROGRAM, round, runWatched, type BenchRun, type Finished } from './harness.js'

export async function run(bench: BenchRun): Promise<void> {
  const megabytes = bench.number('mbox', 0)
  if (megabytes > 0) return runMbox(bench, megabytes)
  const messages = bench.number('messages', 5000)
  const share = bench.number('attachments', 0)
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-bench-'))
  try {
    const vault = join(folder, 'mail')
    const bytes = await writeMaildir(vault, messages, share)
    console.error(`${messages} messages, ${Math.round(bytes / 1e6)} MB in ${vault}`)

    const ours = await runWatched(process.execPath, [PROGRAM, 'index', vault, '--ocr', 'off'])
    if (ours.code !== 0) throw new Error(`index ended with ${ours.code}`)
    const indexBytes = folderBytes(join(vault, '.paperknife'))
    bench.emit({ ...lineOf('paperknife', ours, messages, bytes), attachments: share, indexBytes })
    const again = await runWatched(process.execPath, [PROGRAM, 'index', vault, '--ocr', 'off'])
    bench.emit({ ...lineOf('paperknife, nothing new', again, messages, bytes), attachments: share })
    const rate = messages / (ours.ms / 1000)
    bench.readme(
      `Indexing ${messages.toLocaleString('en-US')} messages (${Math.round(bytes / 1e6)} MB)${share > 0 ? `, ${share} attachments a message` : ' without attachments'}`,
      `${Math.round(rate).toLocaleString('en-US')} messages a second${memoryText(ours)}`,
    )

    if (bench.has('again')) await runAgain(bench, vault, messages, bytes, share)
    if (!bench.has('vs-mu')) return
    rmSync(join(vault, '.paperknife'), { recursive: true })
    const home = join(folder, 'mu')
    const made = spawnSync('mu', ['init', `--muhome=${home}`, `--maildir=${vault}`])
    if (made.status !== 0)
      throw new Error('mu (maildir-utils) is not installed, or refused the mail')
    const mu = await runWatched('mu', ['index', `--muhome=${home}`, '--quiet'])
    bench.emit({
      ...lineOf('mu', mu, messages, bytes),
      attachments: share,
      indexBytes: folderBytes(home),
    })
    bench.emit({
      bench: 'index',
      reader: 'paperknife against mu',
      timesAsFast: round(mu.ms / ours.ms),
    })
    bench.readme(
      `The same ${messages.toLocaleString('en-US')} messages with mu index, in the same run`,
      `${Math.round(messages / (mu.ms / 1000)).toLocaleString('en-US')} messages a second${memoryText(mu)}: Paperknife is ${round(mu.ms / ours.ms).toFixed(1)} times as fast`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** index.db made again beside extracts.db: no attachment is read, and it should take what reading the mail takes. */
async function runAgain(
  bench: BenchRun,
  vault: string,
  messages: number,
  bytes: number,
  share: number,
): Promise<void> {
  const words = [PROGRAM, 'index', vault, '--ocr', 'off', '--json']
  const bare = await runWatched(process.execPath, [
    ...words,
    '--attachments',
    'off',
    '--index',
    join(vault, '..', 'without-attachments'),
  ])
  bench.emit({
    ...lineOf('paperknife, attachments off', bare, messages, bytes),
    attachments: share,
  })
  rmSync(join(vault, '.paperknife', 'index.db'))
  const again = await runWatched(process.execPath, words)
  const { contents } = JSON.parse(again.stdout) as { contents: Record<string, number> }
  if (Object.keys(contents).length > 0)
    throw new Error(`attachments were read again: ${JSON.stringify(contents)}`)
  bench.emit({
    ...lineOf('paperknife, index.db made again', again, messages, bytes),
    attachments: share,
    overAttachmentsOff: round(again.ms / bare.ms),
  })
  bench.readme(
    `Making index.db again of ${messages.toLocaleString('en-US')} messages, ${share} attachments a message (none is read again)`,
    `${round(again.ms / 1000)} s; a first index of the same mail with attachments off: ${round(bare.ms / 1000)} s`,
  )
}

/** One large mbox file: memory while it is indexed, and what ten more mails cost. */
async function runMbox(bench: BenchRun, megabytes: number): Promise<void> {
  const kept = bench.text('dir')
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'paperknife-bench-'))
  mkdirSync(folder, { recursive: true })
  try {
    const file = join(folder, `mail-${megabytes}.mbox`)
    const messages = existsSync(file) ? countMbox(file) : await writeMbox(file, megabytes * 1e6)
    const bytes = statSync(file).size
    const index = join(folder, 'index')
    rmSync(index, { recursive: true, force: true })
    const words = [PROGRAM, 'index', file, '--ocr', 'off', '--index', index]
    const ours = await runWatched(process.execPath, words)
    if (ours.code !== 0) throw new Error(`index ended with ${ours.code}`)
    bench.emit({
      ...lineOf('paperknife, one mbox file', ours, messages, bytes),
      indexBytes: folderBytes(index),
    })
    appendFileSync(file, await mbox(messages, 10))
    const grown = await runWatched(process.execPath, [...words, '--json'])
    const { added } = (JSON.parse(grown.stdout) as { messages: { added: number } }).messages
    if (added !== 10) throw new Error(`${added} messages were added instead of 10`)
    bench.emit(lineOf('paperknife, ten mails appended', grown, 10, statSync(file).size - bytes))
    truncateSync(file, bytes)
    bench.readme(
      `Indexing an mbox file of ${megabytes.toLocaleString('en-US')} MB (${messages.toLocaleString('en-US')} messages)`,
      `${Math.round(messages / (ours.ms / 1000)).toLocaleString('en-US')} messages a second${memoryText(ours)}; ten mails appended: ${round(grown.ms / 1000)} s`,
    )
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns messages written */
async function writeMbox(file: string, bytes: number): Promise<number> {
  // Under another name until it is whole.
  const making = `${file}.making`
  writeFileSync(making, '')
  let messages = 0
  for (let written = 0; written < bytes; messages += MBOX_BATCH) {
    const mails = await mbox(messages, MBOX_BATCH)
    appendFileSync(making, mails)
    written += mails.length
  }
  renameSync(making, file)
  return messages
}

const MBOX_BATCH = 500

/** Mails from a number on, as an mbox file holds them. */
async function mbox(first: number, count: number): Promise<Buffer> {
  const generator = new Generator({ ...CORPORA.mailvault, messages: 1_000_000 })
  const pieces: Uint8Array[] = []
  for (let n = first; n < first + count; n++)
    pieces.push(
      Buffer.from(`From ann@example.org ${MBOX_DATE}\n`),
      await mailOf(generator.message(n), false),
      Buffer.from('\n'),
    )
  return Buffer.concat(pieces)
}

const MBOX_DATE = 'Mon Jan  5 10:00:00 2026'

function countMbox(file: string): number {
  const { stdout } = spawnSync('grep', ['-c', `^From .* ${MBOX_DATE}$`, file], { encoding: 'utf8' })
  return Number(stdout)
}

const memoryText = ({ peakBytes }: Finished): string =>
  peakBytes === undefined ? '' : `, ${Math.round(peakBytes / 1e6)} MB of memory`

function lineOf(
  reader: string,
  { ms, peakBytes, cpuMs }: Finished,
  messages: number,
  bytes: number,
) {
  return {
    bench: 'index',
    reader,
    messages,
    mailBytes: bytes,
    seconds: round(ms / 1000),
    cpuSeconds: cpuMs === undefined ? undefined : round(cpuMs / 1000),
    messagesPerSecond: round(messages / (ms / 1000)),
    peakBytes,
  }
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const facts = statSync(join(folder, name))
    return facts.isFile() ? sum + facts.size : sum
  }, 0)
}

/** @returns bytes written */
export async function writeMaildir(
  vault: string,
  messages: number,
  share: number,
): Promise<number> {
  const boxes = { INBOX: '', Archive: '.Archive', Sent: '.Sent' }
  for (const box of Object.values(boxes))
    for (const part of ['cur', 'new', 'tmp']) mkdirSync(join(vault, box, part), { recursive: true })
  let bytes = 0
  const generator = new Generator({ ...CORPORA.mailvault, messages })
  for (const made of generator.all()) {
    const isCarrier = share > 0 && Math.floor((made.n + 1) * share) > Math.floor(made.n * share)
    const mail = await mailOf(made, isCarrier)
    const flags = `${made.flags & 2 ? 'F' : ''}${made.flags & 1 ? 'S' : ''}`
    writeFileSync(
      join(vault, boxes[made.folder], 'cur', `${made.date}.M${made.n}.bench:2,${flags}`),
      mail,
    )
    bytes += mail.length
  }
  return bytes
}

const people = (list: readonly Person[]): string =>
  list.map(({ name, address }) => `${name} <${address}>`).join(', ')

async function mailOf(
  { n, message, date }: GeneratedMessage,
  isCarrier: boolean,
): Promise<Uint8Array> {
  const words = message.body
    .split(' ')
    .map((word) => (/^[\x20-\x7e]*$/.test(word) ? word : `w${word.length}`))
  return eml({
    from: people(message.from),
    to: people(message.to),
    ...(message.cc.length > 0 && { cc: people(message.cc) }),
    subject: message.subject,
    date: new Date(date * 1000).toISOString().replace('.000Z', '+00:00'),
    id: message.messageId,
    ...(message.inReplyTo[0] !== undefined && { inReplyTo: message.inReplyTo[0] }),
    references: message.references,
    text: message.body.replace(/(.{60,90}?) /g, '$1\n'),
    attachments: isCarrier ? [await attachment(n, words)] : [],
  })
}

const OFFICE = 'application/vnd.openxmlformats-officedocument.'

/** A document of a page or two, of another kind each time. */
async function attachment(n: number, words: string[]): Promise<Attachment> {
  const lines = Array.from({ length: Math.ceil(words.length / 12) }, (_, i) =>
    words.slice(i * 12, i * 12 + 12).join(' '),
  )
  switch (n % 3) {
    case 0:
      return {
        name: `note-${n}.docx`,
        type: `${OFFICE}wordprocessingml.document`,
        bytes: await docx(lines),
      }
    case 1:
      return {
        name: `table-${n}.xlsx`,
        type: `${OFFICE}spreadsheetml.sheet`,
        bytes: await xlsx({ Sheet1: lines.map((line, i) => [i + n, ...line.split(' ')]) }),
      }
    default:
      return {
        name: `print-${n}.pdf`,
        type: 'application/pdf',
        bytes: pdf([lines.slice(0, 40), lines.slice(40, 80)]),
      }
  }
}
