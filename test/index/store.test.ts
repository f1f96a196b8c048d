import { spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { segments } from '../../src/index/merging.js'
import { openForReading } from '../../src/index/read-files.js'
import { openStore } from '../../src/index/store.js'
import { chooseDate } from '../../src/index/row-ids.js'
import { folder, hashOf, letter, matches, open, read, readAll, rows } from './letters.js'

const STORE = pathToFileURL(
  fileURLToPath(new URL('../../dist/index/store.js', import.meta.url)),
).href

const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
  return 'none'
}

describe('files', () => {
  test('only their owner can read them', () => {
    const directory = join(folder(), 'index')
    const store = open(directory)
    store.messages.add([letter()])
    expect(statSync(directory).mode & 0o077).toBe(0)
    for (const name of readdirSync(directory))
      expect([name, statSync(join(directory, name)).mode & 0o077]).toEqual([name, 0])
    store.close()
  })

  test('there is one writer, and the next one comes in when it is gone', () => {
    const directory = folder()
    const store = open(directory)
    expect(codeOf(() => open(directory))).toBe('E_INDEX_BUSY')
    store.close()
    open(directory).close()
  })

  test('whatever SQLite says of a table that is gone, the error names the folder and what to do', () => {
    const directory = folder()
    const store = open(directory)
    const other = new Database(join(directory, 'index.db'))
    other.exec('DROP TABLE dictionary')
    other.close()
    expect(() => store.messages.dictionary).toThrow(
      expect.objectContaining({
        code: 'E_INDEX_DAMAGED',
        message: expect.stringMatching(`${directory}.*paperknife index`) as string,
      }),
    )
    store.close()
  })

  test('a writer that holds the files exclusively is said to a reader', () => {
    const directory = folder()
    const store = openStore({ directory, messageChars: 1_000, exclusive: true })
    store.messages.add([letter()])
    expect(codeOf(() => openForReading(directory))).toBe('E_INDEX_BUSY')
    store.close()
    openForReading(directory).close()
  })

  test('after a clean close a copy of the two files is searched', () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add([letter({ body: 'budget' })])
    store.close()
    const copy = folder()
    for (const name of ['index.db', 'extracts.db']) {
      copyFileSync(join(directory, name), join(copy, name))
      chmodSync(join(copy, name), 0o400)
    }
    chmodSync(copy, 0o500)
    expect(matches(copy, 'budget')).toHaveLength(1)
    expect(readdirSync(copy).sort()).toEqual(['extracts.db', 'index.db'])
    chmodSync(copy, 0o700)
  })

  test('a missing, newer or damaged index is an error for a reader', () => {
    const directory = folder()
    expect(codeOf(() => openForReading(directory))).toBe('E_INDEX_MISSING')
    open(directory).close()
    const newer = new Database(join(directory, 'index.db'))
    newer.pragma('user_version = 99')
    newer.close()
    expect(codeOf(() => openForReading(directory))).toBe('E_INDEX_NEWER')
    writeFileSync(join(directory, 'index.db'), 'x'.repeat(100_000))
    expect(codeOf(() => openForReading(directory))).toBe('E_INDEX_DAMAGED')
  })

  test.each(['damaged', 'newer'])(
    'a %s index is set aside and begun afresh, and no extract is lost',
    (how) => {
      const directory = folder()
      const first = open(directory)
      first.messages.add([letter({ files: ['a.pdf'] })])
      readAll(first, () => 'insurance')
      first.close()
      const path = join(directory, 'index.db')
      if (how === 'damaged') writeFileSync(path, 'x'.repeat(100_000))
      else {
        const newer = new Database(path)
        newer.pragma('user_version = 99')
        newer.close()
      }
      const second = open(directory)
      expect(second.opened).toEqual({ setAside: [`${path}.set-aside`], isNewIndex: true })
      second.messages.add([letter({ files: ['a.pdf'] })])
      expect(second.contents.coverage().readable).toBe(1)
      second.rewrites.run({ limit: 10 })
      expect(matches(directory, 'insurance')).toHaveLength(1)
      second.close()
    },
  )

  test('a damage met in use is checked by the next writer and set aside', () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add(Array.from({ length: 2_000 }, () => letter({ body: 'some words here' })))
    store.close()
    const path = join(directory, 'index.db')
    const bytes = readFileSync(path)
    bytes.fill(0xaa, 8192 * 3)
    writeFileSync(path, bytes)
    let error = 'none'
    for (let round = 0; round < 3 && error !== 'rebuilt'; round++)
      try {
        const again = open(directory)
        error = again.opened.isNewIndex ? 'rebuilt' : 'opened'
        again.messages.add([letter({ body: 'more' })])
        again.close()
      } catch (thrown) {
        expect((thrown as { code: string }).code).toBe('E_INDEX_DAMAGED')
      }
    expect(error).toBe('rebuilt')
    expect(existsSync(`${path}.set-aside`)).toBe(true)
  })

  test('when the extracts are lost the contents are read again and the mail is not', () => {
    const directory = folder()
    const first = open(directory)
    first.messages.add([letter({ files: ['a.pdf'], body: 'body' })])
    readAll(first, () => 'insurance')
    first.close()
    writeFileSync(join(directory, 'extracts.db'), 'y'.repeat(50_000))
    const second = open(directory)
    expect(second.opened.isNewIndex).toBe(false)
    expect(second.contents.states()).toEqual({ pending: 1 })
    readAll(second, () => 'assurance')
    expect(matches(directory, 'assurance AND body')).toHaveLength(1)
    expect(matches(directory, 'insurance')).toHaveLength(0)
    second.close()
  })

  test('an older copy of the extracts, put back, is brought up again', () => {
    const directory = folder()
    const path = join(directory, 'extracts.db')
    const first = open(directory)
    first.messages.add([letter({ files: ['a.pdf'] })])
    readAll(first, () => 'insurance')
    first.close()
    const older = readFileSync(path)
    const second = open(directory)
    second.messages.add([letter({ files: ['b.pdf'] })])
    readAll(second, () => 'assurance')
    second.close()
    writeFileSync(path, older)
    const third = open(directory)
    expect(third.contents.states()).toEqual({ ok: 1, pending: 1 })
    readAll(third, () => 'reassurance')
    expect(matches(directory, 'insurance')).toHaveLength(1)
    expect(matches(directory, 'reassurance')).toHaveLength(1)
    expect(matches(directory, 'assurance')).toEqual([])
    third.close()
  })

  test('an index that was folded otherwise is built afresh, and no extract is lost', () => {
    const directory = folder()
    const first = open(directory)
    first.messages.add([letter({ files: ['a.pdf'] })])
    readAll(first, () => 'insurance')
    first.close()
    const db = new Database(join(directory, 'index.db'))
    db.exec(`UPDATE meta SET value = '0' WHERE key = 'fold'`)
    db.close()
    expect(codeOf(() => openForReading(directory))).toBe('E_INDEX_DAMAGED')
    const second = open(directory)
    expect(second.opened).toEqual({ setAside: [], isNewIndex: true })
    expect(second.contents.states()).toEqual({ ok: 1 })
    second.close()
  })

  test.each(['index.db', 'extracts.db'])(
    'a damaged mark in the head of %s does not make it the file of another program',
    (name) => {
      const directory = folder()
      const first = open(directory)
      first.messages.add([letter({ files: ['a.pdf'] })])
      first.close()
      const path = join(directory, name)
      const bytes = readFileSync(path)
      bytes.fill(0x5a, 68, 72)
      writeFileSync(path, bytes)
      const second = open(directory)
      expect(second.opened.setAside).toEqual([`${path}.set-aside`])
      second.close()
    },
  )

  test('checking meets damage that opening does not, in pages and in the word table', () => {
    const harm: Array<(path: string) => void> = [
      (path) => {
        const bytes = readFileSync(path)
        bytes.fill(0, bytes.length - 8192 * 20)
        writeFileSync(path, bytes)
      },
      (path) => {
        const db = new Database(path)
        db.unsafeMode(true)
        db.exec('UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 100')
        db.close()
      },
    ]
    for (const damage of harm) {
      const directory = folder()
      const first = open(directory)
      first.messages.add(Array.from({ length: 1_000 }, (_, n) => letter({ body: `words ${n}` })))
      first.check()
      first.close()
      damage(join(directory, 'index.db'))
      const second = open(directory)
      expect(codeOf(() => second.check())).toBe('E_INDEX_DAMAGED')
      try {
        second.close()
      } catch {
        // What closing writes may meet the damage as well.
      }
      const third = open(directory)
      expect(third.opened).toEqual({
        setAside: [join(directory, 'index.db.set-aside')],
        isNewIndex: true,
      })
      third.close()
    }
  })

  test('a database of another program is never touched', () => {
    const directory = folder()
    const path = join(directory, 'index.db')
    const other = new Database(path)
    other.exec('CREATE TABLE theirs (a)')
    other.close()
    const before = readFileSync(path)
    expect(codeOf(() => open(directory))).toBe('E_INDEX_DAMAGED')
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})

describe('row ids', () => {
  test('100,000 messages of one date import at the rate of others and are all found on their day', () => {
    const directory = folder()
    const store = open(directory)
    const cost = (count: number, dateOf: (n: number) => number): number => {
      const began = process.cpuUsage()
      for (let at = 0; at < count; at += 1_000) {
        const one = letter({ subject: 'x' })
        store.messages.add(
          Array.from({ length: 1_000 }, (_, n) => ({ ...one, date: dateOf(at + n) })),
        )
      }
      const { user, system } = process.cpuUsage(began)
      return (user + system) / count
    }
    const different = cost(10_000, (n) => 1_500_000_000 + n * 1_000)
    const same = cost(50_000, () => 1_600_000_000)
    store.close()
    const again = open(directory)
    again.messages.add([letter({ date: 1_600_000_000 })])
    again.close()
    expect(same).toBeLessThan(different * 3)
    const [found] = rows(
      directory,
      'index',
      `SELECT count(*) AS found, min(id) AS first, max(id) AS last, (SELECT value FROM meta WHERE key = 'shift') AS shift
       FROM message WHERE date = 1600000000`,
    )
    expect(found).toEqual({
      found: 50_001,
      first: 1_600_000_000,
      last: 1_600_050_000,
      shift: '50000',
    })
  }, 120_000)

  test('whatever the dates and the order, each message has its own id, at or after its date', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }), {
          maxLength: 8,
        }),
        fc.infiniteStream(fc.nat({ max: 4 })),
        (batches, choices) => {
          const store = open(folder())
          const held = new Map<number, number>()
          for (const dates of batches) {
            const ids = store.messages.add(dates.map((date) => letter({ date })))
            ids.forEach((id, place) => {
              expect(held.has(id)).toBe(false)
              expect(id).toBeGreaterThanOrEqual(dates[place] as number)
              held.set(id, dates[place] as number)
            })
            const gone = [...held.keys()].filter(() => choices.next().value === 0)
            store.messages.remove(gone)
            for (const id of gone) held.delete(id)
          }
          store.close()
        },
      ),
      { numRuns: 25 },
    )
  })

  test.each([
    ['the Date header', { date: 1_000, received: null, mtimeMs: 5e9 }, 1_000],
    ['Received when Date is missing', { date: null, received: 2_000, mtimeMs: 5e9 }, 2_000],
    ['Received when Date is before 1970', { date: -5, received: 2_000, mtimeMs: 5e9 }, 2_000],
    ['Received when Date is a day later', { date: 99_999, received: 2_000, mtimeMs: 5e9 }, 2_000],
    ['the file when Date is in the future', { date: 9e9, received: null, mtimeMs: 5e9 }, 5e6],
    ['now when all are', { date: 9e9, received: 9e9, mtimeMs: 9e12 }, 1e9],
  ])('the date is %s', (_, facts, expected) => {
    expect(chooseDate({ ...facts, now: 1e12 })).toBe(expected)
  })
})

describe('threads', () => {
  test('messages of one conversation are one thread in whatever order they come', () => {
    const chain = [
      { messageId: 'a', references: [] },
      { messageId: 'b', references: ['a'] },
      { messageId: 'c', references: ['b'] },
      { messageId: 'd', references: ['c'] },
      { messageId: 'x', references: [] },
      { messageId: 'y', references: ['x'] },
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(chain, { minLength: 6 }), (order) => {
        const directory = folder()
        const store = open(directory)
        for (const one of order) store.messages.add([letter(one)])
        store.close()
        const groups = rows(
          directory,
          'index',
          `SELECT group_concat(message_id, '' ORDER BY message_id) AS ids FROM message GROUP BY thread ORDER BY 1`,
        )
        expect(groups.map((group) => group['ids'])).toEqual(['abcd', 'xy'])
      }),
      { numRuns: 20 },
    )
  })

  test('a message without any id is alone, and an emptied thread begins anew', () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add([letter({ messageId: '' }), letter({ messageId: '' })])
    const [first] = store.messages.add([letter({ messageId: 'm', references: ['r'] })])
    store.messages.remove([first as number])
    store.messages.add([
      letter({ messageId: 'm', references: ['r'] }),
      letter({ messageId: 'n', references: ['m'] }),
    ])
    store.close()
    expect(rows(directory, 'index', 'SELECT DISTINCT thread FROM message')).toHaveLength(3)
  })
})

describe('messages', () => {
  test('a deleted message takes its rows, words and texts; a content that another carries stays', () => {
    const directory = folder()
    const store = open(directory)
    const [first] = store.messages.add([
      letter({ body: 'zanzibar', files: ['a.pdf', 'b.pdf'] }),
      letter({ body: 'other', files: ['b.pdf'] }),
    ])
    readAll(store, (hash) => (hash === hashOf('a.pdf') ? 'alpha' : 'beta'))
    store.messages.remove([first as number])
    expect(matches(directory, 'zanzibar OR alpha')).toEqual([])
    expect(matches(directory, 'beta')).toHaveLength(1)
    expect(rows(directory, 'extracts', 'SELECT count(*) AS n FROM content_text')).toEqual([
      { n: 1 },
    ])
    expect(rows(directory, 'index', 'SELECT count(*) AS n FROM body')).toEqual([{ n: 1 }])
    expect(store.contents.coverage()).toEqual({
      contents: 1,
      readable: 1,
      pending: 0,
      unreadable: 0,
    })
    store.close()
  })

  test('flags, folder and path change without touching a word, and are found by their new names', () => {
    const store = open(folder())
    const [id] = store.messages.add([letter({ path: 'cur/1.abc:2,' })])
    store.messages.update([{ id: id as number, path: '.Old/cur/1.abc:2,FS', flags: 3, folder: 2 }])
    expect(store.messages.byPath('cur/1.abc:2,')).toBeUndefined()
    expect(store.messages.byPath('.Old/cur/1.abc:2,FS')).toMatchObject({
      id,
      flags: 3,
      folder: 2,
      unique: '1.abc',
    })
    expect(store.messages.byUnique('1.abc')).toHaveLength(1)
    expect(store.messages.entries(2)).toHaveLength(1)
    store.close()
  })

  test('a reused name is another message afterwards', () => {
    const directory = folder()
    const store = open(directory)
    const [id] = store.messages.add([letter({ path: 'a.eml', body: 'older' })])
    store.messages.replace(id as number, letter({ path: 'a.eml', body: 'newer' }))
    expect(matches(directory, 'older')).toEqual([])
    expect(matches(directory, 'newer')).toEqual([store.messages.byPath('a.eml')?.id])
    store.close()
  })
})

describe('contents', () => {
  test('an outcome counts only for the claim that is held', () => {
    const store = open(folder())
    store.messages.add([letter({ files: ['a.pdf'] })])
    const [due] = store.contents.candidates('text', 10, 0)
    const [first] = store.contents.claim([due?.id as number])
    const [second] = store.contents.claim([due?.id as number])
    expect(second?.attempts).toBe(2)
    expect(store.contents.record([read(first as never, 'one')])).toEqual(['lost'])
    expect(store.contents.record([read(second as never, 'two')])).toEqual(['recorded'])
    expect(store.contents.record([read(second as never, 'two')])).toEqual(['lost'])
    store.close()
  })

  test('candidates come newest mail first, failed ones when they are due', () => {
    const store = open(folder())
    store.messages.add([
      letter({ date: 1_000, files: ['old'] }),
      letter({ date: 3_000, files: ['new'] }),
      letter({ date: 2_000, files: ['failed'] }),
      letter({ date: 4_000, files: ['old', 'twice'] }),
    ])
    const failed = store.contents.byHash(hashOf('failed'))
    const [claimed] = store.contents.claim([failed?.id as number])
    store.contents.record([
      {
        id: claimed?.id as number,
        claim: claimed?.claim as number,
        state: 'failed-transient',
        lane: 'text',
        why: 'retry-due',
        attempts: 1,
        due: 500,
        detail: 'timeout',
      },
    ])
    const names = (now: number): string[] =>
      store.contents
        .candidates('text', 10, now)
        .map(({ hash }) => ['old', 'new', 'failed', 'twice'].find((n) => hashOf(n) === hash) ?? '?')
    expect(names(499).sort()).toEqual(['new', 'old', 'twice'])
    expect(names(499).at(-1)).toBe('new')
    expect(names(500).at(-1)).toBe('failed')
    expect(store.contents.nextDue()).toBe(500)
    store.close()
  })

  test('staleness finds what it concerns and nothing else', () => {
    const store = open(folder())
    store.messages.add([letter({ files: ['a', 'b', 'c'] })])
    const ids = store.contents.candidates('text', 10, 0).map(({ id }) => id)
    const claimed = store.contents.claim(ids)
    store.contents.record(
      claimed.map((content, index) => ({
        ...read(content, 'text'),
        ...(index === 0 && { limits: 'L1' }),
        ...(index === 1 && { languages: 'eng' }),
      })),
    )
    expect(store.contents.staleBy('limits', 'L2').map(({ id }) => id)).toEqual([ids[0]])
    expect(store.contents.staleBy('limits', 'L1')).toEqual([])
    expect(store.contents.staleBy('languages', 'eng+deu').map(({ id }) => id)).toEqual([ids[1]])
    expect(store.contents.staleBy('passwords', 'x')).toEqual([])
    expect(store.contents.staleByExtractor(new Map([['pdf', 1]]), [])).toEqual([])
    expect(store.contents.staleByExtractor(new Map([['pdf', 2]]), [])).toHaveLength(3)
    store.close()
  })

  test('names are found by pattern, brackets in them taken as they are', () => {
    const store = open(folder())
    store.messages.add([letter({ files: ['Report [1].pdf', 'photo.jpg'] })])
    expect(store.contents.list({ name: 'report [*' })).toHaveLength(1)
    expect(store.contents.list({ name: '*.JPG' })).toHaveLength(1)
    expect(store.contents.list({ type: 'application/*', states: ['pending'] })).toHaveLength(2)
    expect(store.contents.list({ states: ['locked'] })).toEqual([])
    store.close()
  })

  test('the backlog and its counts are read from indexes', () => {
    const directory = folder()
    open(directory).close()
    const plan = (sql: string): string =>
      rows(directory, 'extracts', `EXPLAIN QUERY PLAN ${sql}`)
        .map((step) => String(step['detail']))
        .join('; ')
    const indexed = (sql: string, name: string): void => {
      expect(plan(sql)).toContain(`INDEX ${name}`)
      expect(plan(sql)).not.toContain('TEMP B-TREE')
    }
    const from = 'SELECT id FROM content WHERE'
    indexed(
      `${from} state = 'pending' AND lane = 'text' ORDER BY newest DESC LIMIT 9`,
      'content_pending',
    )
    indexed(`${from} state = 'extracting' ORDER BY id LIMIT 9`, 'content_extracting')
    indexed(`${from} state = 'failed-transient' AND due <= 5 ORDER BY due LIMIT 9`, 'content_retry')
    indexed(`${from} revision > 5 AND revision > 0 ORDER BY revision LIMIT 9`, 'content_revision')
    indexed(`${from} limits IS NOT NULL AND (limits < 'a' OR limits > 'a')`, 'content_limits')
    indexed(`${from} extractor = 'pdf' AND (version < 2 OR version > 2)`, 'content_version')
    indexed(`${from} state = 'unsupported' AND type = 'a/b'`, 'content_type')
  })
})

describe('rewrites', () => {
  test('rewriting a message twice leaves no word of the older text findable', () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add([letter({ files: ['a.pdf'], body: 'keeps', subject: 'INV-2023-001' })])
    readAll(store, () => 'first alpha')
    const again = (text: string): void => {
      store.contents.requeue([1], 'forced', 'text')
      readAll(store, () => text)
    }
    again('second beta')
    again('third gamma')
    expect(matches(directory, 'first OR alpha OR second OR beta')).toEqual([])
    expect(matches(directory, 'keeps AND third AND gamma AND inv2023001')).toHaveLength(1)
    store.close()
  })

  test('a rewritten row holds the same words as one written complete', () => {
    const directory = folder()
    const store = open(directory)
    const body = 'Grüße aus 東京,\nsee INV-2023-001 and docu-\nment. '.repeat(2_000)
    const one = letter({
      body,
      files: ['a b.pdf', 'c.docx'],
      from: 'Lee, Ann "Q"',
      to: '日本 太郎',
    })
    store.messages.add([one])
    const folded = store.rewrites.refold(one.date)
    expect(folded?.columns.body === one.columns.body).toBe(true)
    expect({ ...folded?.columns, body: '' }).toEqual({ ...one.columns, body: '' })
    store.close()
  })

  test('a phrase never reaches across two attachments or pages', () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add([letter({ files: ['a.pdf', 'b.pdf'] })])
    const claimed = store.contents.claim(
      store.contents.candidates('text', 9, 0).map(({ id }) => id),
    )
    store.contents.record(claimed.map((content) => read(content, 'left right', 'left right')))
    store.rewrites.queue()
    store.rewrites.run({ limit: 9 })
    expect(matches(directory, '"left right"')).toHaveLength(1)
    expect(matches(directory, '"right left"')).toEqual([])
    store.close()
  })

  test('a message that carries a known content gets its text without a reading', () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add([letter({ files: ['a.pdf'] })])
    readAll(store, () => 'insurance')
    store.messages.add([letter({ files: ['a.pdf'] })])
    // Written once, complete.
    expect(matches(directory, 'insurance')).toHaveLength(2)
    expect(store.rewrites.run({ limit: 9 })).toEqual({ rewritten: 0, left: 0 })
    // With one that is not known yet it waits for both.
    store.messages.add([letter({ files: ['a.pdf', 'new.pdf'] })])
    expect(matches(directory, 'insurance')).toHaveLength(2)
    expect(store.rewrites.run({ limit: 9 })).toEqual({ rewritten: 1, left: 0 })
    expect(matches(directory, 'insurance')).toHaveLength(3)
    store.close()
  })

  test('a message waits until its other contents are settled', () => {
    const store = open(folder())
    store.messages.add([letter({ files: ['a', 'b'] })])
    const [first] = store.contents.candidates('text', 9, 0)
    const claimed = store.contents.claim([first?.id as number])
    store.contents.record(claimed.map((content) => read(content, 'text')))
    store.rewrites.queue()
    expect(store.rewrites.run({ limit: 9, settledLanes: ['text'] })).toEqual({
      rewritten: 0,
      left: 1,
    })
    expect(store.rewrites.run({ limit: 9, settledLanes: ['ocr'] })).toEqual({
      rewritten: 1,
      left: 0,
    })
    store.close()
  })

  test('without kept texts the message is to be read again', () => {
    const store = open(folder())
    const one = letter({ files: ['a.pdf'], keep: false })
    store.messages.add([one])
    readAll(store, () => 'text')
    expect(store.rewrites.toRead(9)).toEqual([{ id: one.date, reference: { path: one.path } }])
    const revision = store.contents.byHash(hashOf('a.pdf'))?.revision as number
    store.rewrites.write([{ id: one.date, columns: one.columns, revision }])
    expect(store.rewrites.toRead(9)).toEqual([])
    store.close()
  })

  test('a process killed between the commit of the extracts and that of the index loses nothing', async () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add([letter({ files: ['a.pdf'], body: 'body' })])
    store.close()
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { openStore } from ${JSON.stringify(STORE)}
         import { packPages } from ${JSON.stringify(STORE.replace('index/store', 'fold/texts'))}
         const store = openStore({ directory: ${JSON.stringify(directory)}, messageChars: 1e6 })
         const [content] = store.contents.claim(store.contents.candidates('text', 1, 0).map(({ id }) => id))
         const pages = [{ text: 'insurance' }]
         store.contents.record([{ id: content.id, claim: content.claim, state: 'ok', lane: 'text', why: 'never-seen',
           attempts: 1, result: { outcome: { kind: 'text', pages }, type: 'application/pdf', ms: 1 },
           text: packPages(pages), chars: 9 }])
         process.kill(process.pid, 'SIGKILL')`,
      ],
      { stdio: 'inherit' },
    )
    const signal = await new Promise((resolve) => child.on('exit', (_, by) => resolve(by)))
    expect(signal).toBe('SIGKILL')
    expect(matches(directory, 'insurance')).toEqual([])
    const again = open(directory)
    expect(again.contents.states()).toEqual({ ok: 1 })
    expect(again.rewrites.run({ limit: 9 })).toEqual({ rewritten: 1, left: 0 })
    expect(matches(directory, 'insurance AND body')).toHaveLength(1)
    again.close()
  })
})

describe('idle work', () => {
  const words = (directory: string): Array<Record<string, unknown>> =>
    rows(directory, 'index', `SELECT text, messages, mask, newest FROM term ORDER BY text`)
  const rest = (store: ReturnType<typeof open>): void => {
    while (store.idle.step());
  }

  test('merges to one segment, counts exactly and drops dead terms, also when interrupted', () => {
    const directory = folder()
    let store = open(directory)
    for (let round = 0; round < 30; round++)
      store.messages.add(
        Array.from({ length: 20 }, (_, n) =>
          letter({ date: 1_000 + round * 100 + n, body: `common round${round} number${n}` }),
        ),
      )
    for (const round of [0, 4, 5])
      store.messages.remove(Array.from({ length: 20 }, (_, n) => 1_000 + round * 100 + n))
    store.idle.step()
    store.close()
    store = open(directory)
    rest(store)
    store.close()
    const files = openForReading(directory)
    expect(segments(files.index, 'words')).toBe(1)
    expect(segments(files.index, 'term_gram')).toBe(1)
    files.close()
    const found = new Map(words(directory).map((term) => [term['text'], term]))
    expect(found.get('common')).toMatchObject({ messages: 540, mask: 1, newest: 3_919 })
    expect(found.get('number3')).toMatchObject({ messages: 27 })
    expect(found.get('round1')).toMatchObject({ messages: 20, newest: 1_119 })
    expect(found.has('round0')).toBe(false)
    expect(
      rows(
        directory,
        'index',
        `SELECT rowid FROM term_gram WHERE term_gram MATCH '"d0 " AND "und"'`,
      ),
    ).toEqual([])
  })

  test('the counts are those of an index built afresh after a crash lost some', () => {
    const directory = folder()
    const store = open(directory)
    const batch = (from: number, body: string) =>
      Array.from({ length: 10 }, (_, n) => letter({ date: from + n, body }))
    store.messages.add(batch(1_000, 'early word'))
    store.messages.add(batch(2_000, 'late word'))
    // A crash: the files as they are, without the counts in memory.
    const copy = folder()
    for (const name of readdirSync(directory))
      if (name !== 'writer.lock') copyFileSync(join(directory, name), join(copy, name))
    store.close()
    const again = open(copy)
    rest(again)
    again.close()
    const other = open(directory)
    rest(other)
    other.close()
    expect(words(copy)).toEqual(words(directory))
    expect(words(copy)).toContainEqual({ text: 'word', messages: 20, mask: 1, newest: 2_009 })
  })

  test('a search never takes a term for older than it is while counts are gathered', () => {
    const directory = folder()
    const store = open(directory)
    store.messages.add([letter({ date: 1_000, body: 'word' })])
    store.messages.add([letter({ date: 2_000, body: 'word' })])
    const [bound] = rows(
      directory,
      'index',
      `SELECT max(newest, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'unwritten')) AS newest
       FROM term WHERE text = 'word'`,
    )
    expect(bound).toEqual({ newest: 2_000 })
    store.close()
    expect(words(directory)).toContainEqual({ text: 'word', messages: 2, mask: 1, newest: 2_000 })
  })

  test('purge leaves no byte of deleted text in the files', () => {
    const directory = folder()
    const store = open(directory)
    const secret = letter({
      body: 'zanzibarword',
      subject: 'quixoticword',
      from: 'Xerxesword',
      messageId: 'secretid@example.org',
      files: ['oxymoronword.pdf'],
    })
    const others = Array.from({ length: 300 }, () => letter({ body: 'usual words in mail' }))
    store.messages.add([...others.slice(150), secret, ...others.slice(0, 150)])
    readAll(store, () => 'palimpsestword')
    store.idle.step()
    store.messages.remove([secret.date])
    store.idle.purge()
    const grams = ['zanzibarword', 'quixoticword', 'erxesword', 'oxymoronword', 'palimpsestword']
    for (const name of readdirSync(directory)) {
      const bytes = readFileSync(join(directory, name)).toString('latin1')
      for (const word of [...grams, 'secretid', 'anzibarwor', 'limpsestw'])
        expect([name, word, bytes.includes(word)]).toEqual([name, word, false])
    }
    expect(matches(directory, 'usual')).toHaveLength(300)
    store.close()
  })
})
