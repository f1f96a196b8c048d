/**
 * `tsx scripts/make-schema-fixture.ts`: the index that the present version makes of a small vault, kept in
 * test/fixtures/schema so that later versions are tested on it (test/index/migrations.test.ts). To be run, after a
 * build, by whoever raises a schema version, before raising it; what is there already is never made again.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { writeSchemaVault } from './make/schema-vault.js'

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const FIXTURES = fileURLToPath(new URL('../test/fixtures/schema', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'paperknife-schema-'))
try {
  const vault = join(folder, 'mail')
  const index = join(folder, 'index')
  writeSchemaVault(vault)
  const { status, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, 'index', vault, '--index', index, '--ocr', 'off'],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  for (const name of ['index', 'extracts']) {
    const file = join(index, `${name}.db`)
    const db = new Database(file)
    const version = db.pragma('user_version', { simple: true }) as number
    db.exec('VACUUM')
    db.close()
    const kept = join(FIXTURES, `${name}-${version}.db.gz`)
    if (existsSync(kept)) continue
    mkdirSync(FIXTURES, { recursive: true })
    writeFileSync(kept, gzipSync(readFileSync(file), { level: 9 }))
    console.log(kept)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
