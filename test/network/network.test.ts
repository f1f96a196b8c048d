/**
 * Sweeps with the network watched, three ways: a server that the documents name, a module that stands before every
 * way out of Node in every process and thread, and, where it is installed, strace under all of it.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { reachingDocuments, reachingMail } from '../../scripts/make/reaching.js'
import { scanPng } from '../../scripts/make/picture.js'
import { CLI, FAULTS } from '../sweep/mailbox.js'

const WATCH = new URL('./watch.mjs', import.meta.url).href
const API = new URL('../../dist/api.js', import.meta.url).href

let folder: string
let log: string
let server: Server
let url: string
const requests: string[] = []
let names: string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paperknife-network-'))
  log = join(folder, 'log')
  server = createServer((request, response) => {
    requests.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const documents = await reachingDocuments(url)
  documents['scan.png'] = await scanPng({ lines: ['words of a scan'], width: 900, height: 500 })
  names = Object.keys(documents)
  for (const place of ['documents', 'mail/cur', 'mail/new', 'mail/tmp'])
    mkdirSync(join(folder, place), { recursive: true })
  for (const [name, bytes] of Object.entries(documents))
    writeFileSync(join(folder, 'documents', name), bytes)
  writeFileSync(join(folder, 'mail/cur/1.host:2,S'), reachingMail(url, documents))
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  writeFileSync(log, '')
  requests.length = 0
})

/** Runs node with the watch before everything else. */
function watched(words: string[], env: Record<string, string> = {}, under: string[] = []) {
  const [command = '', ...rest] = [...under, process.execPath, ...words]
  return spawnSync(command, rest, {
    encoding: 'utf8',
    timeout: 120_000,
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=${WATCH}`,
      PAPERKNIFE_NETWORK_LOG: log,
      ...env,
    },
  })
}

function expectSilence(kinds: RegExp): void {
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  // The watch was there, in each kind of place.
  expect(lines.filter((line) => kinds.test(line)).length).toBeGreaterThan(1)
  expect(lines.filter((line) => !line.startsWith('+'))).toEqual([])
  expect(requests).toEqual([])
}

test('the watch sees what a reading asks of the network, in a thread too', async () => {
  const file = join(folder, 'fault.txt')
  writeFileSync(file, `FAULT fetch ${url}/control\n`)
  watched([CLI, 'extract', '--json', '--ocr', 'off', file], { PAPERKNIFE_FAULTS: FAULTS })
  expect(readFileSync(log, 'utf8')).toContain(`thread fetch ${url}/control`)
  await fetch(`${url}/server`)
  expect(requests).toEqual(['/server'])
})

test.each(['wasm', 'auto'])('extract reaches for nothing (OCR: %s)', (engine) => {
  const documents = join(folder, 'documents')
  const { stdout } = watched([CLI, 'extract', '--json', '--ocr-engine', engine, documents])
  const states = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; state: string; chars?: number })
  expect(states).toHaveLength(names.length)
  // They were read, and not refused at the door.
  expect(states.filter(({ state, chars }) => state !== 'ok' || !chars)).toEqual([])
  expectSilence(/^\+thread/)
})

test('index reaches for nothing', () => {
  const { status } = watched([CLI, 'index', join(folder, 'mail')])
  expect(status).toBe(0)
  expectSilence(/^\+thread/)
  const found = watched([CLI, 'search', join(folder, 'mail'), 'words', '--json'])
  expect(found.stdout).toContain('words that reach out')
  expectSilence(/^\+/)
})

test('neither does a host, nor the process that sweeps for it', () => {
  const script = `
    import { openVault } from ${JSON.stringify(API)}
    const mail = await openVault({ vault: ${JSON.stringify(join(folder, 'mail'))}, index: ${JSON.stringify(join(folder, 'index'))} })
    await mail.sweep()
    const { hits } = await mail.search('words')
    console.log(hits.length, (await mail.excerpts(hits)).length)
    await mail.close()`
  const { stdout } = watched(['--input-type=module', '--eval', script])
  expect(stdout).toBe('1 1\n')
  expectSilence(/^\+process/)
})

const hasStrace = spawnSync('strace', ['-f', '-e', 'trace=network', 'true']).status === 0

test.runIf(hasStrace)('the system is asked for no socket that leads out', () => {
  const calls = join(folder, 'calls')
  const { status } = watched(
    [CLI, 'extract', '--json', join(folder, 'documents')],
    { NODE_OPTIONS: '' },
    ['strace', '-f', '-qq', '--seccomp-bpf', '-e', 'trace=network', '-o', calls],
  )
  expect(status).toBe(0)
  const lines = readFileSync(calls, 'utf8').split('\n')
  expect(lines.filter((line) => /AF_INET|AF_PACKET|AF_NETLINK/.test(line))).toEqual([])
  expect(requests).toEqual([])
})
