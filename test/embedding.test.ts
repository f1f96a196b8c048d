/** The README's example of embedding, taken from the README, compiled, and run against a small vault. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

test('the example in the README compiles and runs', { timeout: 120_000 }, () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
  expect(example).toContain("from 'paperknife'")
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-embedding-'))
  try {
    const vault = join(folder, 'mail')
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules/paperknife'), 'dir')
    cpSync(join(ROOT, 'sample-vault/.Archive'), vault, { recursive: true })
    mkdirSync(join(vault, 'new'), { recursive: true })
    writeFileSync(
      join(vault, 'new/1733011200.M1.host'),
      'From: a@example.org\nSubject: arrived\nMessage-ID: <1@example.org>\n\nbody\n',
    )
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(
      join(folder, 'example.ts'),
      example.replace('/mail/hanna', vault).replace("'corrosion'", "'kellerabteil'"),
    )
    const compiled = spawnSync(
      process.execPath,
      [
        ...[join(ROOT, 'node_modules/typescript/bin/tsc'), '--ignoreConfig', '--strict'],
        ...['--module', 'nodenext', '--target', 'es2022', '--skipLibCheck', '--types', 'node'],
        ...['--typeRoots', join(ROOT, 'node_modules/@types'), 'example.ts'],
      ],
      { cwd: folder, encoding: 'utf8' },
    )
    expect(compiled.stdout).toBe('')
    const { stdout, stderr, status } = spawnSync(process.execPath, ['example.js'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 90_000,
    })
    expect(stderr).toBe('')
    expect(stdout).toContain('Mietvertrag Hüxstraße 41')
    expect(stdout).toMatch(/1 of 1 attachments searched/)
    expect(stdout).toMatch(/ ok read again when/)
    expect(stdout).toContain('0 0 true')
    for (const call of 'sweep deliver watch search status explain reExtract verify close'.split(
      ' ',
    ))
      expect(example).toContain(`mail.${call}(`)
    expect(status).toBe(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
