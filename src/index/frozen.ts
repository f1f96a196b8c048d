/** An index as it lies where nothing can be written, with what comparing it with its vault asks (sweep/verify.ts). */
import { Contents } from './contents.js'
import { Dictionary } from './dictionary.js'
import { PipelineError } from '../part/errors.js'
import { checkWhole, explained, INDEX } from './files.js'
import { Folders } from './folders.js'
import { Messages, Words } from './messages.js'
import { Meta } from './meta.js'
import { openForReading } from './read-files.js'
import { Rewrites } from './rewrites.js'
import type { Comparable } from './store.js'
import { Vocabulary } from './vocabulary.js'

/** @throws {PipelineError} as openForReading, and E_INDEX_READONLY for an index of a schema too old to be compared as it is */
export function openFrozen(directory: string, exclusive = false): Comparable & { close(): void } {
  const files = openForReading(directory, exclusive)
  const { index, extracts } = files
  try {
    return explained(directory, () => {
      const meta = new Meta(index)
      const contents = new Contents(extracts, new Meta(extracts), index)
      const words = new Words(index)
      const vocabulary = new Vocabulary(index, meta)
      const dictionary = new Dictionary(index, vocabulary)
      return {
        opened: { setAside: [] },
        folders: new Folders(index),
        messages: new Messages(index, meta, contents, words, vocabulary, dictionary, 0),
        contents,
        rewrites: new Rewrites(index, meta, contents, words, vocabulary, 0),
        check: () => checkWhole(directory, files),
        close: () => files.close(),
      }
    })
  } catch (error) {
    const isOlder = (index.pragma('user_version', { simple: true }) as number) < INDEX.version
    files.close()
    if (!isOlder) throw error
    throw new PipelineError(
      'E_INDEX_READONLY',
      `the index in ${directory} was written by an older Paperknife and lies where it cannot be brought up: copy the folder elsewhere and name it with --index`,
      { cause: error },
    )
  }
}
