import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  statSync,
  openSync,
  writeSync,
  closeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { IndexReader } from '../../src/index/reader.js'
import { openForReading } from '../../src/index/read-files.js'
import { Searcher } from '../../src/index/search.js'
import { plant } from './planted.js'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A closed index of some hundred messages in a folder of its own. */
function copyOfIndex(): string {
  const vault = plant(
    Array.from({ length: 400 }, (_, n) => ({
      subject: `budget ${n}`,
      body: `plan w${n} `.repeat(40),
    })),
  )
  vault.store.checkpoint()
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-damage-'))
  folders.push(folder)
  for (const name of ['index.db', 'extracts.db'])
    copyFileSync(join(vault.directory, name), join(folder, name))
  vault.close()
  return folder
}

test('an index that is missing, cut short or overwritten is an error and never "no match"', async () => {
  expect(() => openForReading(join(tmpdir(), 'paperknife-nothing-here'))).toThrow(
    expect.objectContaining({ code: 'E_INDEX_MISSING' }),
  )
  const damage: Array<(path: string) => void> = [
    (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
    (path) => truncateSync(path, 100),
    (path) => {
      const file = openSync(path, 'r+')
      const noise = Buffer.alloc(statSync(path).size - 8_192, 0xa5)
      writeSync(file, noise, 0, noise.length, 8_192)
      closeSync(file)
    },
  ]
  for (const harm of damage) {
    const folder = copyOfIndex()
    harm(join(folder, 'index.db'))
    const search = async (): Promise<unknown> => {
      const files = openForReading(folder)
      try {
        return await new Searcher(files).search('budget plan', { limit: 500 })
      } finally {
        files.close()
      }
    }
    await expect(search()).rejects.toMatchObject({ code: 'E_INDEX_DAMAGED' })
  }
})

test('damage met by what status and explain ask is told as damage, and the next writer looks at the files', async () => {
  const folder = copyOfIndex()
  const path = join(folder, 'index.db')
  const file = openSync(path, 'r+')
  const noise = Buffer.alloc(statSync(path).size - 8_192 * 12, 0xa5)
  writeSync(file, noise, 0, noise.length, 8_192 * 12)
  closeSync(file)
  const reader = new IndexReader(folder)
  try {
    for (const ask of [() => reader.summary(), () => reader.describe('x'), () => reader.folders()])
      await ask().then(
        () => undefined,
        (error: unknown) => expect(error).toMatchObject({ code: 'E_INDEX_DAMAGED' }),
      )
    await expect(reader.summary()).rejects.toMatchObject({
      code: 'E_INDEX_DAMAGED',
      message: expect.stringContaining('paperknife index') as string,
    })
  } finally {
    reader.close()
  }
  expect(existsSync(`${path}.suspect`)).toBe(true)
})
