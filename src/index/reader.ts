/**
 * Reading a vault's index beside its writer. Opens the files read-only, and again when the writer has put new
 * ones in their place.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Answers, type DescribedMessage, type Summary } from './answers.js'
import type { Excerpt } from './excerpts.js'
import { openForReading, type ReaderFiles } from './read-files.js'
import type { Hit, SearchResult } from './hits.js'
import type { SearchOptions } from './search.js'

/** One who can be asked about a vault's index, wherever it is open. */
export interface Reader {
  /** @throws {PipelineError} `E_INDEX_MISSING`, `E_INDEX_NEWER`, `E_INDEX_DAMAGED`, `E_INDEX_BUSY` */
  search(typed: string, options: SearchOptions): Promise<SearchResult>
  /** For hits that `search` of this reader gave. */
  excerpts(hits: readonly Hit[]): Promise<Excerpt[]>
  /** @param what vault-relative path, Message-ID, hash of a content or file name · newest first */
  describe(what: string): Promise<DescribedMessage[]>
  summary(): Promise<Summary>
  /** Vault-relative paths of all folders. */
  folders(): Promise<string[]>
  close(): void
}

export class IndexReader implements Reader {
  readonly #directory: string
  readonly #exclusive: boolean
  /** With devices and inodes of the files that were opened. */
  #opened: { files: ReaderFiles; inodes: string; answers: Answers } | undefined

  /**
   * @param directory folder of index.db and extracts.db
   * @param exclusive where no memory can be shared (a network disk): see openForReading
   */
  constructor(directory: string, exclusive = false) {
    this.#directory = directory
    this.#exclusive = exclusive
  }

  async search(typed: string, options: SearchOptions): Promise<SearchResult> {
    return this.#open().search(typed, options)
  }

  async excerpts(hits: readonly Hit[]): Promise<Excerpt[]> {
    return this.#open().excerpts(hits)
  }

  async describe(what: string): Promise<DescribedMessage[]> {
    return this.#open().describe(what)
  }

  async summary(): Promise<Summary> {
    return this.#open().summary()
  }

  async folders(): Promise<string[]> {
    return this.#open().folders()
  }

  close(): void {
    this.#opened?.files.close()
    this.#opened = undefined
  }

  #open(): Answers {
    const inodes = ['index.db', 'extracts.db']
      .map((name) => statSync(join(this.#directory, name), { throwIfNoEntry: false }))
      .map((file) => (file ? `${file.dev}:${file.ino}` : ''))
      .join()
    if (this.#opened?.inodes === inodes) return this.#opened.answers
    this.close()
    const files = openForReading(this.#directory, this.#exclusive)
    try {
      const answers = new Answers(this.#directory, files)
      this.#opened = { files, inodes, answers }
      return answers
    } catch (error) {
      files.close()
      throw error
    }
  }
}
