/** Conditions on a message's row, as SQL. */
import { FLAGS } from '../part/reference.js'
import type { RowTest } from './compile.js'

/** A test as SQL, and the index that gives its rows. */
export function conditionOf(test: RowTest): {
  where: string
  values: readonly unknown[]
  index?: string
} {
  switch (test.kind) {
    case 'flag': {
      const where = `flags & ${test.bit} ${test.set ? '<>' : '='} 0`
      const index =
        test.bit === FLAGS.seen && !test.set
          ? 'INDEXED BY message_unread'
          : test.bit === FLAGS.flagged && test.set
            ? 'INDEXED BY message_flagged'
            : undefined
      return { where, values: [], ...(index && { index }) }
    }
    case 'folder':
      return {
        where: `folder IN (${test.ids.map(() => '?').join(', ')})`,
        values: test.ids,
        index: 'INDEXED BY message_folder',
      }
    case 'thread':
      return { where: 'thread = ?', values: [test.thread], index: 'INDEXED BY message_thread' }
    case 'size':
      return {
        where: 'size > ? AND size < ?',
        values: [test.above ?? -1, test.below ?? Number.MAX_SAFE_INTEGER],
        index: 'INDEXED BY message_size',
      }
    case 'date':
      return {
        where: 'date >= ? AND date < ?',
        values: [test.from ?? Number.MIN_SAFE_INTEGER, test.until ?? Number.MAX_SAFE_INTEGER],
      }
  }
}
