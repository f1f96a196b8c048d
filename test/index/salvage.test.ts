import { cpSync, mkdtempSync, openSync, closeSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/index/store.js'
import { plant } from './planted.js'

const CONTENTS = 300
const PAGE = 8192

/** A text that no compression makes small, so that it lies in many pages. */
const page = (n: number): string =>
  Array.from({ length: 60 }, (_, i) => `word${(n * 7919 + i * 104_729) % 1_000_003}`).join(' ')

let whole: string
beforeAll(() => {
  const vault = plant(
    Array.from({ length: CONTENTS }, (_, n) => ({
      subject: `letter ${n}`,
      // Some are long, so that their texts overflow their pages.
      attachments: [
        { name: `${n}.pdf`, pages: Array.from({ length: n % 50 === 0 ? 200 : 2 }, () => page(n)) },
      ],
    })),
  )
  vault.store.close()
  whole = mkdtempSync(join(tmpdir(), 'paperknife-salvage-'))
  cpSync(vault.directory, whole, { recursive: true })
  rmSync(vault.directory, { recursive: true })
})
afterAll(() => rmSync(whole, { recursive: true, force: true }))

/** Noise over some pages, as a torn write or a bad sector leaves it. */
function harm(directory: string, pages: readonly number[]): void {
  const file = openSync(join(directory, 'extracts.db'), 'r+')
  for (const number of pages) writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, number * PAGE)
  closeSync(file)
}

/** Opens as the writer does once damage was met. */
function opened(pages: readonly number[], version?: number) {
  const directory = mkdtempSync(join(tmpdir(), 'paperknife-salvage-'))
  cpSync(whole, directory, { recursive: true })
  harm(directory, pages)
  cpSync(join(directory, 'index.db'), join(directory, 'extracts.db.suspect'))
  if (version !== undefined) {
    const db = new Database(join(directory, 'extracts.db'))
    db.exec('ALTER TABLE content ADD COLUMN colour TEXT')
    db.pragma(`user_version = ${version}`)
    db.close()
  }
  const store = openStore({ directory, messageChars: 1_000_000 })
  try {
    const { setAside, salvaged } = store.opened
    const { readable, pending, contents } = store.contents.coverage()
    return { setAside, salvaged, readable, pending, contents }
  } finally {
    store.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Pages of a table or an index, its root first. */
const pagesOf = (name: string): number[] => {
  const db = new Database(join(whole, 'extracts.db'), { readonly: true })
  try {
    const sql = 'SELECT pageno - 1 FROM dbstat WHERE name = ? ORDER BY path'
    return db.prepare(sql).pluck().all(name) as number[]
  } finally {
    db.close()
  }
}

describe('of a damaged extracts.db', () => {
  test('an overwritten page costs the texts that lay in it, and no others', () => {
    const pages = statSync(join(whole, 'extracts.db')).size / PAGE
    const roots = [pagesOf('content')[0], pagesOf('content_text')[0]]
    let noticed = 0
    for (let number = 0; number < pages; number += 3) {
      if (roots.includes(number)) continue
      const { setAside, salvaged, readable, pending, contents } = opened([number])
      // A page of one long text has no structure that could be found broken.
      if (setAside.length === 0) continue
      noticed++
      expect(contents, `page ${number}`).toBe(CONTENTS)
      expect(readable + pending, `page ${number}`).toBe(CONTENTS)
      expect(salvaged?.saved, `page ${number}`).toBe(readable)
      expect(readable, `page ${number}`).toBeGreaterThan(CONTENTS * 0.75)
    }
    expect(noticed).toBeGreaterThan(5)
  })

  test('the first page, which says where the tables are, costs nothing', () => {
    expect(opened([0])).toMatchObject({
      salvaged: { saved: CONTENTS, lost: 0 },
      readable: CONTENTS,
      pending: 0,
    })
  })

  test('one of a newer schema gives up what this version knows of', () => {
    expect(opened([], 99)).toMatchObject({
      setAside: [expect.stringContaining('extracts.db.set-aside')],
      salvaged: { saved: CONTENTS, lost: 0 },
      readable: CONTENTS,
    })
  })

  test('what is lost waits to be read again, also when the first page went with it', () => {
    const [leaf] = pagesOf('content_text').slice(-1)
    const { readable, pending, salvaged } = opened([0, leaf as number])
    expect(pending).toBeGreaterThan(0)
    expect(readable).toBe(CONTENTS - pending)
    expect(salvaged).toEqual({ saved: readable, lost: pending })
  })
})
