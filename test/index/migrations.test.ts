/** Indexes of every schema that was released, as test/fixtures/schema keeps them, opened by this version. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openVault } from '../../src/api.js'
import { migrate } from '../../src/index/migrations.js'
import { EXTRACTS_VERSION, INDEX_VERSION } from '../../src/index/schema.js'
import { writeSchemaVault } from '../../scripts/make/schema-vault.js'

const FIXTURES = new URL('../fixtures/schema/', import.meta.url)
const versionsOf = (name: string): number[] =>
  readdirSync(FIXTURES)
    .map((file) => new RegExp(`^${name}-(\\d+)\\.db\\.gz$`).exec(file)?.[1])
    .filter((version) => version !== undefined)
    .map(Number)
    .sort((a, b) => a - b)
const ofFile = (name: string, version: number): Buffer =>
  gunzipSync(readFileSync(new URL(`${name}-${version}.db.gz`, FIXTURES)))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paperknife-migrations-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('there is an index of every released schema before this one', () => {
  expect(versionsOf('index').slice(0, INDEX_VERSION - 1)).toEqual(
    Array.from({ length: INDEX_VERSION - 1 }, (_, i) => i + 1),
  )
  expect(versionsOf('extracts')).toEqual(Array.from({ length: EXTRACTS_VERSION }, (_, i) => i + 1))
})

const pairs = versionsOf('index').flatMap((index) =>
  versionsOf('extracts').map((extracts) => [index, extracts] as const),
)
test.each(pairs)(
  'index.db of schema %i beside extracts.db of schema %i: nothing is set aside and no content read again',
  async (index, extracts) => {
    const vault = join(folder, 'mail')
    const directory = join(folder, 'index')
    writeSchemaVault(vault)
    const mail = await openVault({ vault, index: directory, sweeper: 'inline', ocr: false })
    try {
      await expect(mail.status()).rejects.toMatchObject({ code: 'E_INDEX_MISSING' })
      mkdirSync(directory)
      writeFileSync(join(directory, 'index.db'), ofFile('index', index))
      writeFileSync(join(directory, 'extracts.db'), ofFile('extracts', extracts))
      // As it lies, before any writer has touched it.
      const { hits: old } = await mail.search('barnacle lantern')
      expect(old).toHaveLength(6)
      expect(await mail.explain(old[0]?.path ?? '')).toHaveLength(1)
      expect(await mail.status()).toMatchObject({ messages: 6, messagesCut: 0 })

      const report = await mail.sweep()
      expect(report).toMatchObject({ setAside: [], contents: {}, messages: { total: 6 } })
      expect((await mail.status()).contents).toEqual({ ok: 4 })
      const { hits } = await mail.search('barnacle note')
      expect(hits).toHaveLength(6)
      expect((await mail.excerpts(hits))[0]?.attachments[0]?.snippet).toContain('barnacle')
      expect(await mail.verify()).toMatchObject({ agrees: true })
    } finally {
      await mail.close()
    }
    for (const [name, version] of [
      ['index', INDEX_VERSION],
      ['extracts', EXTRACTS_VERSION],
    ] as const) {
      const db = new Database(join(directory, `${name}.db`), { readonly: true })
      expect(db.pragma('user_version', { simple: true })).toBe(version)
      db.close()
    }
  },
)

describe('a migration', () => {
  const steps = [
    { to: 2, change: (db: Database.Database) => db.exec('CREATE TABLE two (x)') },
    { to: 3, change: (db: Database.Database) => db.exec('INSERT INTO nowhere VALUES (1)') },
  ]
  const fresh = (): Database.Database => {
    const db = new Database(join(folder, 'a.db'))
    db.exec('CREATE TABLE one (x); INSERT INTO one VALUES (1)')
    db.pragma('user_version = 1')
    return db
  }
  const tables = (db: Database.Database): unknown =>
    db.prepare('SELECT name FROM sqlite_schema ORDER BY 1').pluck().all()

  test('goes step by step to the version asked for', () => {
    const db = fresh()
    expect(migrate(db, steps, 2)).toBe(true)
    expect(db.pragma('user_version', { simple: true })).toBe(2)
    expect(tables(db)).toEqual(['one', 'two'])
    db.close()
  })

  test('that fails in a later step leaves the file as it was', () => {
    const db = fresh()
    expect(() => migrate(db, steps, 3)).toThrow('nowhere')
    expect(db.pragma('user_version', { simple: true })).toBe(1)
    expect(tables(db)).toEqual(['one'])
    db.close()
  })

  test('without a step for each version is none', () => {
    const db = fresh()
    expect(migrate(db, steps.slice(1), 3)).toBe(false)
    expect(migrate(db, steps, 4)).toBe(false)
    expect(tables(db)).toEqual(['one'])
    db.close()
  })
})
