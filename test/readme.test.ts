import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { TABLES, withTables } from '../scripts/readme-tables.js'
import { EXTRACTORS } from '../src/extract/table.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('the README', () => {
  test.each(Object.keys(TABLES))(
    'has the table of %s as the code has it (npm run readme)',
    (name) => {
      expect(readme).toContain(`<!-- table ${name} -->\n${TABLES[name]?.()}\n<!-- end -->`)
    },
  )

  test('has no table that the code does not have', () => {
    expect(withTables(readme)).toBe(readme)
  })
})

describe('the table of extractors', () => {
  test('has unique kebab-case names, lower-case types and versions from 1', () => {
    const names = EXTRACTORS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, version, types, extensions, title } of EXTRACTORS) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(version, name).toBeGreaterThanOrEqual(1)
      expect(types.length, name).toBeGreaterThan(0)
      expect(title, name).not.toBe('')
      for (const text of [...types, ...extensions]) expect(text).toBe(text.toLowerCase())
    }
  })
})
