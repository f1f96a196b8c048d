import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clearStale, temporaryFolder } from '../../src/part/temporary.js'

let at: string
beforeEach(() => {
  at = mkdtempSync(join(tmpdir(), 'paperknife-test-'))
})
afterEach(() => rmSync(at, { recursive: true, force: true }))

test('what a killed process left is removed; what lives, is young or has another name stays', () => {
  const { pid: gone } = spawnSync(process.execPath, ['--version'])
  const kept = join(at, 'language.traineddata')
  writeFileSync(kept, 'data')
  const names = [
    `paperknife-of-${gone}-abcdef`,
    `paperknife-of-${process.pid}-abcdef`,
    'paperknife-of-x',
  ]
  for (const name of names) {
    mkdirSync(join(at, name))
    symlinkSync(kept, join(at, name, 'link'))
  }
  const present = (): boolean[] => names.map((name) => existsSync(join(at, name)))
  clearStale(at)
  expect(present()).toEqual([true, true, true])
  clearStale(at, Date.now() + 3_600_000)
  expect(present()).toEqual([false, true, true])
  expect(existsSync(kept)).toBe(true)
})

test('a folder names the process that made it', () => {
  const folder = temporaryFolder()
  expect(basename(folder)).toMatch(new RegExp(`^paperknife-of-${process.pid}-`))
  rmSync(folder, { recursive: true })
})
