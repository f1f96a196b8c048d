/**
 * Reading a vault's index beside its writer. Opens the files read-only, and again when the writer has put new
 * ones in their place.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Answers, type DescribedMessage, type Summary } from './answers.js'
import type { Excerpt } from './excerpts.js'
import { openForReading, type ReaderFiles } from './read-files.js'
import { codeOf, explanationOf, isDamage } from './files.js'
import type { Hit, SearchResult } from './hits.js'
import type { SearchOptions } from './search.js'
import { PipelineError } from '../part/errors.js'

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
    return this.#ask((answers) => answers.search(typed, options))
  }

  async excerpts(hits: readonly Hit[]): Promise<Excerpt[]> {
    return this.#ask((answers) => answers.excerpts(hits))
  }

  async describe(what: string): Promise<DescribedMessage[]> {
    return this.#ask((answers) => answers.describe(what))
  }

  async summary(): Promise<Summary> {
    return this.#ask((answers) => answers.summary())
  }

  async folders(): Promise<string[]> {
    return this.#ask((answers) => answers.folders())
  }

  close(): void {
    this.#opened?.files.close()
    this.#opened = undefined
  }

  /**
   * What cannot be read is opened once more before it is called damaged: between the opening of a file and the first look at
   * its log the writer may have put another pair in their place.
   */
  async #ask<T>(ask: (answers: Answers) => T | Promise<T>): Promise<T> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await ask(this.#open())
      } catch (error) {
        // Of an error of ours what is under it.
        const cause = error instanceof PipelineError ? error.cause : error
        const code = codeOf(cause)
        if (!code.startsWith('SQLITE_')) throw error
        this.close()
        if (!isDamage(code)) throw cause === error ? explanationOf(this.#directory, error) : error
        if (!isFirst) throw explanationOf(this.#directory, cause)
      }
    }
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
