/** A real index in a temporary folder, from messages written down in a test. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldColumns, type FoldedColumns } from '../../src/fold/columns.js'
import { packBody, packPages } from '../../src/fold/texts.js'
import { openForReading, type ReaderFiles } from '../../src/index/read-files.js'
import { Searcher } from '../../src/index/search.js'
import { openStore, type Store } from '../../src/index/store.js'
import type { TextPage } from '../../src/part/outcome.js'

export interface Planted {
  subject?: string
  /** `Name <address>`, several with commas. */
  from?: string
  to?: string
  cc?: string
  body?: string
  /** Each with its pages; a name ending in .pdf is a PDF. */
  attachments?: ReadonlyArray<{ name: string; pages: ReadonlyArray<string | TextPage> }>
  /** Local time. Default: 2020-01-01, a minute later for each message. */
  date?: string
  /** Default INBOX. */
  folder?: string
  /** FLAGS bits. Default 0. */
  flags?: number
  size?: number
  labels?: readonly string[]
  messageId?: string
  references?: readonly string[]
}

export interface PlantedVault {
  readonly directory: string
  readonly store: Store
  /** Ids in the order of the messages. */
  readonly ids: readonly number[]
  /** What went into the word table, in the order of the messages. */
  readonly columns: readonly FoldedColumns[]
  searcher(): Searcher
  close(): void
}

const people = (line = ''): Array<{ name: string; address: string }> =>
  line
    .split(',')
    .map((one) => /^\s*(.*?)\s*<(.*)>\s*$/.exec(one) ?? [one, '', one.trim()])
    .filter(([, name, address]) => name || address)
    .map(([, name = '', address = '']) => ({ name, address }))

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const pageOf = (page: string | TextPage, i: number): TextPage =>
  typeof page === 'string' ? { text: page, page: i + 1 } : page

/** Writes messages as a sweep does: bodies first, then contents, then the attachment column again. */
export function plant(messages: readonly Planted[], { isRead = true } = {}): PlantedVault {
  const directory = mkdtempSync(join(tmpdir(), 'paperknife-planted-'))
  const store = openStore({ directory, messageChars: 10_000_000 })
  const folders = new Map<string, number>()
  const folderId = (name: string): number => {
    const known = folders.get(name)
    if (known !== undefined) return known
    const row = { path: name, name, kind: 'maildir', fingerprint: '', scanned: 0, fullCheck: 0 }
    const id = store.folders.save(row)
    folders.set(name, id)
    return id
  }
  const columns: FoldedColumns[] = []
  const texts = new Map<string, TextPage[]>()
  const inputs = messages.map((message, n) => {
    const parts = (message.attachments ?? []).map(({ name, pages }, i) => {
      const hash = hashOf(JSON.stringify([name, pages]))
      texts.set(hash, pages.map(pageOf))
      return {
        path: `1.${i + 2}`,
        name,
        declaredType: name.endsWith('.pdf') ? 'application/pdf' : 'text/plain',
        disposition: 'attachment' as const,
        size: 1_000,
        hash,
        lane: 'text' as const,
      }
    })
    const input = {
      subject: message.subject ?? '',
      from: people(message.from),
      to: people(message.to),
      cc: people(message.cc),
      body: message.body ?? '',
      files: parts.map((part) => ({ name: part.name, type: part.declaredType })),
      labels: message.labels ?? [],
    }
    const read = isRead ? parts.map((part) => texts.get(part.hash) as TextPage[]) : []
    columns.push(foldColumns({ ...input, attachments: read }, 10_000_000))
    const date = Math.floor(new Date(message.date ?? '2020-01-01T00:00:00').getTime() / 1000)
    return {
      ...input,
      columns: foldColumns({ ...input, attachments: [] }, 10_000_000),
      body: packBody(input.body),
      parts,
      date: message.date ? date : date + n * 60,
      folder: folderId(message.folder ?? 'INBOX'),
      flags: message.flags ?? 0,
      size: message.size ?? 1_000 + n,
      messageId: message.messageId ?? `${n}@planted.example`,
      references: message.references ?? [],
      inReplyTo: [],
      path: `${message.folder ?? 'INBOX'}/cur/${n}:2,`,
      unique: String(n),
      mtimeMs: 0,
      inode: n,
    }
  })
  const ids = store.messages.add(inputs)
  if (isRead) read(store, texts)
  const opened: ReaderFiles[] = []
  return {
    directory,
    store,
    ids,
    columns,
    searcher: () => {
      const files = openForReading(directory)
      opened.push(files)
      return new Searcher(files)
    },
    close: () => {
      for (const files of opened) files.close()
      store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function read(store: Store, texts: ReadonlyMap<string, TextPage[]>): void {
  const due = store.contents.candidates('text', 1_000_000, 0)
  const claimed = store.contents.claim(due.map((content) => content.id))
  store.contents.record(
    claimed.map((content) => {
      const pages = texts.get(content.hash) as TextPage[]
      return {
        id: content.id,
        claim: content.claim,
        state: 'ok' as const,
        lane: 'text' as const,
        why: content.why,
        attempts: 0,
        text: packPages(pages),
        chars: pages.reduce((sum, page) => sum + page.text.length, 0),
        result: {
          outcome: { kind: 'text' as const, pages },
          type: content.declaredType,
          extractor: 'plain',
          version: 1,
          ms: 1,
        },
      }
    }),
  )
  store.rewrites.queue()
  store.rewrites.run({ limit: 1_000_000 })
}
