import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/** Who may import whom: each folder (or top file) with those it may name beside itself. DESIGN.md, Rooms. */
const ARROWS: Record<string, readonly string[]> = {
  part: [],
  fold: ['part'],
  ole: [],
  mail: ['part', 'ole'],
  vault: ['part', 'mail'],
  index: ['part', 'fold'],
  extract: ['part', 'ole', 'mail'],
  workers: ['part', 'fold', 'mail', 'vault', 'extract'],
  sweep: ['part', 'fold', 'vault', 'index', 'workers', 'extract'],
  'api.ts': ['part', 'fold', 'vault', 'index', 'workers', 'sweep', 'extract'],
  cli: ['part', 'api.ts'],
}

/** Packages that one folder only may import. */
const OWNED: Record<string, string> = {
  'better-sqlite3': 'index',
  piscina: 'workers',
  'pdfjs-dist': 'extract',
  'tesseract.js': 'extract',
}

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? files(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  )
}

const room = (file: string): string => relative(SRC, file).split('/')[0] as string

const IMPORT = /(?:from\s+|import\s*\(\s*|import\s+)'([^']+)'/g

test.each(files(SRC).map((file) => relative(SRC, file)))('%s imports only what it may', (name) => {
  const file = join(SRC, name)
  const from = room(file)
  const allowed = ARROWS[from]
  expect(allowed, `${from} has no row in ARROWS`).toBeDefined()
  for (const [, target] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    if (target?.startsWith('.')) {
      const to = room(join(dirname(file), target.replace(/\.js$/, '.ts')))
      if (to !== from) expect(allowed, `${name} imports ${target}`).toContain(to)
    } else {
      const owner = Object.entries(OWNED).find(([packageName]) => target?.startsWith(packageName))
      if (owner) expect(from, `${name} imports ${target}`).toBe(owner[1])
    }
  }
})

test('each folder of src has a row', () => {
  expect(Object.keys(ARROWS)).toEqual(expect.arrayContaining(readdirSync(SRC)))
})
