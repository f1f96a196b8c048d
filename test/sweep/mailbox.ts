/** Builds small vaults for tests, and looks at what a sweep made of them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { openVault, type Mail, type OpenOptions } from '../../src/api.js'

export const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
export const FAULTS = fileURLToPath(new URL('../workers/faults.mjs', import.meta.url))

export interface Letter {
  subject?: string
  from?: string
  body?: string
  /** RFC 5322 date; default: the first of March 2026. */
  date?: string
  messageId?: string
  /** Name and text or bytes of each attachment. */
  attachments?: Record<string, string | Uint8Array>
}

let count = 0

/** A mail as bytes. */
export function letter({ subject, from, body, date, messageId, attachments }: Letter): Buffer {
  const boundary = 'edge-of-a-part'
  const head = [
    `From: ${from ?? 'Ann Lee <ann@example.org>'}`,
    'To: Bo Ek <bo@example.org>',
    `Subject: ${subject ?? 'no subject'}`,
    `Date: ${date ?? 'Sun, 1 Mar 2026 10:00:00 +0100'}`,
    `Message-ID: <${messageId ?? `${++count}.letter@example.org`}>`,
    'MIME-Version: 1.0',
  ]
  const parts = Object.entries(attachments ?? {})
  if (parts.length === 0)
    return Buffer.from(
      [...head, 'Content-Type: text/plain; charset=utf-8', '', body ?? ''].join('\r\n'),
    )
  return Buffer.from(
    [
      ...head,
      `Content-Type: multipart/mixed; boundary="${boundary}"`,
      '',
      `--${boundary}`,
      'Content-Type: text/plain; charset=utf-8',
      '',
      body ?? '',
      ...parts.flatMap(([name, content]) => [
        `--${boundary}`,
        `Content-Type: application/octet-stream; name="${name}"`,
        `Content-Disposition: attachment; filename="${name}"`,
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n'),
      ]),
      `--${boundary}--`,
      '',
    ].join('\r\n'),
  )
}

/** A folder that is removed afterwards, with a Maildir in it. */
export class TestVault {
  readonly root: string

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'paperknife-vault-'))
    for (const name of ['cur', 'new', 'tmp']) mkdirSync(join(this.root, name))
  }

  path(...names: string[]): string {
    return join(this.root, ...names)
  }

  /** @param place vault-relative: `cur/1.host:2,S`, `.Work/cur/…`, `loose/a.eml` */
  write(place: string, mail: Letter | Buffer): string {
    const file = this.path(place)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, Buffer.isBuffer(mail) ? mail : letter(mail))
    return place
  }

  /** Makes all folders look as if nothing had changed for a minute, so that their times can be trusted. */
  settle(...folders: string[]): void {
    const before = Date.now() / 1000 - 60
    for (const folder of ['', 'cur', 'new', 'tmp', ...folders])
      utimesSync(this.path(folder), before, before)
  }

  open(options: Partial<OpenOptions> = {}): Promise<Mail> {
    return openVault({ vault: this.root, sweeper: 'inline', ocr: false, workers: 1, ...options })
  }

  remove(): void {
    execFileSync('chmod', ['-R', 'u+rwx', this.root])
    rmSync(this.root, { recursive: true, force: true })
  }

  /** Runs the built command line in a process of its own. */
  command(
    args: string[],
    env: Record<string, string> = {},
  ): { status: number | null; signal: string | null; stdout: string; stderr: string } {
    return spawnSync(process.execPath, [CLI, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
      timeout: 60_000,
    })
  }
}

/** Contents whose text is recorded; 0 where there is no index yet. */
export function recorded(directory: string): number {
  const file = join(directory, 'extracts.db')
  if (!existsSync(file)) return 0
  const db = new Database(file)
  try {
    if (!db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'content'").get()) return 0
    return db.prepare(`SELECT count(*) FROM content WHERE state = 'ok'`).pluck().get() as number
  } finally {
    db.close()
  }
}

/** What is in an index, in a form that two indexes can be compared by: rows, words with their places, states, texts. */
export function contentsOf(directory: string): Record<string, unknown> {
  const index = new Database(join(directory, 'index.db'), { readonly: true })
  const extracts = new Database(join(directory, 'extracts.db'), { readonly: true })
  try {
    const places = new Map<number, string>()
    const messages: Record<string, unknown> = {}
    for (const row of index
      .prepare(
        `SELECT message.*, folder.path AS folderPath, folder.name AS folderName
         FROM message JOIN folder ON folder.id = message.folder`,
      )
      .all() as Array<Record<string, unknown>>) {
      const place = `${String(row['path'])}#${String(row['offset'])}`
      places.set(row['id'] as number, place)
      const { date, flags, size, subject, sender, attachments, message_id, folderPath } = row
      const facts = { date, flags, size, subject, sender, attachments, message_id, folderPath }
      messages[place] = {
        ...facts,
        parts: index
          .prepare(
            'SELECT path, name, size, lower(hex(hash)) AS hash FROM part WHERE message = ? ORDER BY number',
          )
          .all(row['id']),
        words: [] as string[],
      }
    }
    index.exec('CREATE VIRTUAL TABLE temp.place USING fts5vocab(main, words, instance)')
    for (const { term, doc, col, offset } of index
      .prepare('SELECT term, doc, col, offset FROM temp.place ORDER BY doc, col, offset, term')
      .all() as Array<{ term: string; doc: number; col: string; offset: number }>)
      (messages[places.get(doc) as string] as { words: string[] }).words.push(
        `${col}:${offset}:${term}`,
      )
    return {
      messages,
      contents: extracts
        .prepare(
          `SELECT lower(hex(hash)) AS hash, state, type, extractor, chars, empty, cut_by, pages FROM content ORDER BY hash`,
        )
        .all(),
      texts: extracts
        .prepare(
          `SELECT lower(hex(content.hash)) AS hash, lower(hex(text)) AS text FROM content_text
           JOIN content ON content.id = content_text.id / 2097152 ORDER BY 1, content_text.id`,
        )
        .all(),
      queued: index.prepare('SELECT count(*) AS n FROM rewrite').get(),
    }
  } finally {
    index.close()
    extracts.close()
  }
}
