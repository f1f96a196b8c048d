/** What a host changes while a sweep is at work. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mail } from '../../src/api.js'
import { FAULTS, TestVault } from './mailbox.js'

let vault: TestVault
let mail: Mail
beforeEach(() => {
  vault = new TestVault()
  vi.stubEnv('PAPERKNIFE_FAULTS', FAULTS)
  for (let n = 0; n < 6; n++)
    vault.write(`cur/${n}.host:2,S`, {
      subject: `Letter ${n}`,
      attachments: { 'a.txt': `FAULT slow 400 ${n}` },
    })
})
afterEach(async () => {
  await mail.close()
  vault.remove()
  vi.unstubAllEnvs()
})

test.each(['inline', 'process'] as const)(
  'attachments switched off in mid-sweep are given back, and read when they are on again (%s)',
  async (sweeper) => {
    mail = await vault.open({ sweeper })
    const report = await mail.sweep({
      onProgress: ({ phase, done }) => {
        if (phase === 'text' && done > 0) mail.setAttachments('off')
      },
    })
    expect(report.stopped).toBe(false)
    expect(report.messages.total).toBe(6)
    const { contents } = await mail.status()
    expect(contents['extracting'] ?? 0).toBe(0)
    expect(contents['pending']).toBeGreaterThan(0)
    const waiting = (await mail.explain('a.txt')).flatMap(({ parts }) =>
      parts.map(({ next }) => next),
    )
    expect(waiting).toContain('read when attachments are switched on')

    vault.write('new/9.host', { subject: 'Arrived' })
    expect(await mail.sweep()).toMatchObject({ messages: { added: 1 }, contents: {} })

    mail.setAttachments('on')
    await mail.sweep()
    expect((await mail.status()).contents).toEqual({ ok: 6 })
    for (const { parts } of await mail.explain('a.txt')) expect(parts[0]?.attempts).toBe(1)
  },
  60_000,
)

test('a delivery, a choice and excerpts end at a signal that has fired', async () => {
  mail = await vault.open({ attachments: 'off' })
  await mail.sweep()
  const { hits } = await mail.search('letter')
  vault.write('new/9.host', { subject: 'Arrived' })
  const signal = AbortSignal.abort()
  await expect(mail.deliver('new/9.host', { signal })).rejects.toThrow('aborted')
  const stop = new AbortController()
  const stopped = mail.deliver('new/9.host', { signal: stop.signal })
  stop.abort()
  await expect(stopped).rejects.toThrow('aborted')
  await expect(mail.reExtract({ signal })).rejects.toThrow('aborted')
  await expect(mail.excerpts(hits, { signal })).rejects.toThrow('aborted')
  expect(await mail.search('arrived')).toMatchObject({ hits: [] })
})

test('what arrives during a sweep is searchable at once, and its attachment is read before the backlog', async () => {
  const log = vault.path('log')
  vi.stubEnv('PAPERKNIFE_FAULTS_LOG', log)
  mail = await vault.open()
  let isDelivered = false
  let hadFound = 0
  await mail.sweep({
    onProgress: ({ phase, done }) => {
      if (phase !== 'text' || done < 1 || isDelivered) return
      isDelivered = true
      vault.write('new/9.host', {
        subject: 'Arrived',
        date: 'Mon, 2 Mar 2026 10:00:00 +0100',
        attachments: { 'new.txt': 'FAULT text arrived with it' },
      })
      void mail
        .deliver('new/9.host')
        .then(() => mail.search('subject:arrived'))
        .then(({ hits }) => (hadFound = hits.length))
    },
  })
  expect(hadFound).toBe(1)
  const begun = readFileSync(log, 'utf8').trim().split('\n')
  const at = begun.findIndex((line) => line.includes('arrived with it'))
  // What was given to the thread already goes before it, and nothing else.
  expect(at).toBeGreaterThan(0)
  expect(begun.slice(at + 1).length).toBeGreaterThanOrEqual(2)
  expect(begun).toHaveLength(7)
}, 60_000)
