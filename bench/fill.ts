/**
 * Puts generated mail into an index through the real writer, as a sweep would: messages with their
 * words, contents with their texts. What a sweep does before that (files, parsing, threads) is left out.
 */
import { foldColumns } from '../src/fold/columns.js'
import { packBody, packPages, type BodyDictionary } from '../src/fold/texts.js'
import type { MessageInput } from '../src/index/rows.js'
import { openStore, type Store } from '../src/index/store.js'
import { FOLDERS, Generator, type Corpus, type GeneratedMessage } from './generate.js'

export interface Filled {
  readonly messages: number
  /** Bytes of all fields in UTF-8, before folding. */
  readonly textBytes: number
  readonly seconds: number
}

export interface FillOptions {
  /** Keep texts of bodies and contents. Default true. */
  keepTexts?: boolean
  /** Messages a batch. Default 1,000. */
  batch?: number
  onProgress?: (messages: number) => void
}

const MESSAGE_CHARS = 10_000_000
/** Higher than any revision here: the column is complete, and no rewrite is queued. */
const COMPLETE = 1e12

/** Fills a new index. */
export function fill(directory: string, corpus: Corpus, options: FillOptions = {}): Filled {
  const { keepTexts = true, batch = 1_000, onProgress } = options
  const store = openStore({ directory, messageChars: MESSAGE_CHARS })
  const started = performance.now()
  let textBytes = 0
  try {
    const folders = folderIds(store)
    let waiting: GeneratedMessage[] = []
    const flush = (): void => {
      store.messages.add(
        waiting.map((message) => inputOf(message, folders, keepTexts, store.messages.dictionary)),
      )
      record(store, waiting, keepTexts)
      waiting = []
    }
    for (const message of new Generator(corpus).all()) {
      textBytes += bytesOf(message)
      waiting.push(message)
      if (waiting.length < batch) continue
      flush()
      onProgress?.(message.n + 1)
    }
    flush()
    store.checkpoint()
  } finally {
    store.close()
  }
  return {
    messages: corpus.messages,
    textBytes,
    seconds: Math.round((performance.now() - started) / 100) / 10,
  }
}

export function folderIds(store: Store): Map<string, number> {
  const row = { kind: 'maildir', fingerprint: '', scanned: 0, fullCheck: 0 }
  return new Map(
    FOLDERS.map((name) => [name, store.folders.save({ ...row, path: name, name })] as const),
  )
}

/** A generated message as a worker would hand it over. */
export function inputOf(
  { n, message, attachments, folder, flags, size, date }: GeneratedMessage,
  folders: ReadonlyMap<string, number>,
  keepTexts: boolean,
  dictionary?: BodyDictionary,
): MessageInput {
  return {
    path: `${folder}/cur/${date}.${n}.bench:2,${flags & 2 ? 'F' : ''}${flags & 1 ? 'S' : ''}`,
    folder: folders.get(folder) as number,
    unique: `${date}.${n}.bench`,
    flags,
    size,
    mtimeMs: date * 1000,
    inode: n + 1,
    date,
    messageId: message.messageId,
    references: message.references,
    inReplyTo: message.inReplyTo,
    subject: message.subject,
    from: message.from,
    to: message.to,
    cc: message.cc,
    labels: [],
    parts: attachments.map(({ part }) => ({
      path: part.path,
      name: part.name,
      declaredType: part.declaredType,
      disposition: part.disposition,
      size: part.size,
      hash: part.hash,
      lane: 'text' as const,
    })),
    columns: foldColumns(
      {
        subject: message.subject,
        from: message.from,
        to: message.to,
        cc: message.cc,
        body: message.body,
        files: attachments.map(({ part }) => ({ name: part.name, type: part.declaredType })),
        labels: [],
        attachments: attachments.map(({ pages }) => pages),
      },
      MESSAGE_CHARS,
    ),
    body: keepTexts ? packBody(message.body, dictionary) : null,
    revision: COMPLETE,
  }
}

/** Records the contents of a batch as read. */
function record(store: Store, messages: readonly GeneratedMessage[], keepTexts: boolean): void {
  const pages = new Map(
    messages.flatMap(({ attachments }) =>
      attachments.map((attachment) => [attachment.part.hash, attachment.pages] as const),
    ),
  )
  const due = [...pages.keys()]
    .map((hash) => store.contents.byHash(hash))
    .filter((content) => content !== undefined)
    .filter((content) => content.state === 'pending')
  store.contents.record(
    store.contents.claim(due.map(({ id }) => id)).map((content) => {
      const texts = pages.get(content.hash) ?? []
      return {
        id: content.id,
        claim: content.claim,
        state: 'ok' as const,
        lane: 'text' as const,
        why: content.why,
        attempts: 0,
        ...(keepTexts && { text: packPages(texts) }),
        chars: texts.reduce((sum, page) => sum + page.text.length, 0),
        result: {
          outcome: { kind: 'text' as const, pages: [...texts], pageCount: texts.length },
          type: content.declaredType,
          extractor: 'pdf',
          version: 1,
          ms: 1,
        },
      }
    }),
  )
}

/** UTF-8 bytes of the fields of a message and of its attachments' text. */
function bytesOf({ message, attachments }: GeneratedMessage): number {
  const people = [...message.from, ...message.to, ...message.cc]
  const fields = [
    message.subject,
    message.body,
    ...people.map(({ name, address }) => `${name} ${address}`),
    ...attachments.flatMap(({ part, pages }) => [part.name, ...pages.map(({ text }) => text)]),
  ]
  return fields.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
