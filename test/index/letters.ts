/** Messages and outcomes for tests of the store, made in one line each. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { foldColumns } from '../../src/fold/columns.js'
import { packBody, packPages } from '../../src/fold/texts.js'
import { openForReading } from '../../src/index/read-files.js'
import type { ContentOutcome, ClaimedContent, MessageInput } from '../../src/index/rows.js'
import { openStore, type Store } from '../../src/index/store.js'

const made: string[] = []
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true })
})

export function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'paperknife-store-'))
  made.push(directory)
  return directory
}

export const open = (directory: string): Store => openStore({ directory, messageChars: 10_000_000 })

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export interface Letter {
  date?: number
  subject?: string
  from?: string
  to?: string
  body?: string
  /** Names of attachments; the name stands for the bytes too. */
  files?: string[]
  messageId?: string
  references?: string[]
  path?: string
  keep?: boolean
}

let serial = 0

export function letter(given: Letter = {}): MessageInput {
  const number = ++serial
  const from = [{ name: given.from ?? 'Ann Lee', address: 'ann@example.org' }]
  const to = [{ name: given.to ?? 'Bo Ek', address: 'bo@example.org' }]
  const files = given.files ?? []
  const path = given.path ?? `cur/${number}.host:2,S`
  return {
    path,
    folder: 1,
    unique: path.replace(/^.*\//, '').replace(/:2,.*$/, ''),
    flags: 1,
    size: 1_000,
    mtimeMs: 1_700_000_000_000,
    inode: number,
    date: given.date ?? 1_700_000_000 + number * 100,
    messageId: given.messageId ?? `${number}@example.org`,
    references: given.references ?? [],
    inReplyTo: [],
    subject: given.subject ?? 'subject',
    from,
    to,
    cc: [],
    labels: [],
    parts: files.map((name, index) => ({
      path: `${index + 2}`,
      name,
      declaredType: 'application/pdf',
      disposition: 'attachment' as const,
      size: name.length,
      hash: hashOf(name),
      lane: 'text' as const,
    })),
    columns: foldColumns(
      {
        subject: given.subject ?? 'subject',
        from,
        to,
        cc: [],
        body: given.body ?? '',
        files: files.map((name) => ({ name, type: 'application/pdf' })),
        labels: [],
        attachments: [],
      },
      10_000_000,
    ),
    body: given.keep === false ? null : packBody(given.body ?? ''),
  }
}

/** A claimed content that was read, with this text. */
export function read(content: ClaimedContent, ...pages: string[]): ContentOutcome {
  const outcome = {
    kind: 'text' as const,
    pages: pages.map((text, index) => ({ text, page: index + 1 })),
  }
  return {
    id: content.id,
    claim: content.claim,
    state: 'ok',
    lane: 'text',
    why: 'never-seen',
    attempts: content.attempts,
    result: { outcome, type: 'application/pdf', extractor: 'pdf', version: 1, ms: 5 },
    text: packPages(outcome.pages),
    chars: pages.join('').length,
  }
}

/** Reads every pending content; its text is what `textOf` gives for its hash. */
export function readAll(store: Store, textOf: (hash: string) => string): void {
  const due = store.contents.candidates('text', 1_000, 0)
  const claimed = store.contents.claim(due.map((content) => content.id))
  store.contents.record(claimed.map((content) => read(content, textOf(content.hash))))
  store.rewrites.queue()
  store.rewrites.run({ limit: 1_000 })
}

/** Ids of the messages that match an FTS5 expression, as a search would find them. */
export function matches(directory: string, expression: string): number[] {
  const files = openForReading(directory)
  try {
    return files.index
      .prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid')
      .pluck()
      .all(expression) as number[]
  } finally {
    files.close()
  }
}

/** Rows of a statement on one of the databases. */
export function rows(
  directory: string,
  name: 'index' | 'extracts',
  sql: string,
  ...values: unknown[]
): Array<Record<string, unknown>> {
  const files = openForReading(directory)
  try {
    return files[name].prepare(sql).all(...values) as Array<Record<string, unknown>>
  } finally {
    files.close()
  }
}
