import { appendFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Mail } from '../../src/api.js'
import { contentsOf, letter, TestVault } from './mailbox.js'

/** What can happen to a vault and its index. Numbers choose among the mails there are. */
type Step =
  | { kind: 'arrive'; folder: number; text: number }
  | { kind: 'deliver'; folder: number; text: number }
  | { kind: 'flag'; mail: number; flags: string }
  | { kind: 'move'; mail: number; folder: number }
  | { kind: 'delete'; mail: number }
  | { kind: 'replace'; mail: number; text: number }
  /** At the end of the mbox file, as a delivery agent does. */
  | { kind: 'append'; text: number }
  /** The mbox file is written anew without a mail, or with another state of one. */
  | { kind: 'compact'; mail: number }
  | { kind: 'mark'; mail: number; status: string }
  /** In the MH folder: a new file, one removed, all numbered afresh, the unseen ones noted. */
  | { kind: 'file'; text: number }
  | { kind: 'refile'; mail: number }
  | { kind: 'pack' }
  | { kind: 'unseen'; mail: number }
  | { kind: 'sweep'; stopAfterMs: number | null }
  | { kind: 'crash'; point: 'rows-added' | 'claimed' | 'recorded' | 'rewritten' }

const FOLDERS = ['', '.Work', '.Work.Old']
const MBOX = 'old.mbox'
const MH = 'mh'
const number = fc.nat({ max: 1_000 })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('arrive'), folder: number, text: number }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('deliver'), folder: number, text: number }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('flag'),
      mail: number,
      flags: fc.constantFrom('', 'S', 'FS', 'RS', 'DFPRST'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move'), mail: number, folder: number }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), mail: number }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace'), mail: number, text: number }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('append'), text: number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact'), mail: number }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mark'),
      mail: number,
      status: fc.constantFrom('RO', 'O'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('file'), text: number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refile'), mail: number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pack') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unseen'), mail: number }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('sweep'),
      stopAfterMs: fc.option(fc.nat({ max: 400 }), { nil: null }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('crash'),
      point: fc.constantFrom('rows-added', 'claimed', 'recorded', 'rewritten'),
    }),
  },
) as fc.Arbitrary<Step>

class Walk {
  readonly vault = new TestVault()
  readonly mails: string[] = []
  /** The mails of the mbox file, separators included. */
  readonly mbox: string[] = []
  /** Numbers of the files in the MH folder. */
  readonly mh: number[] = []
  #mail: Mail | undefined
  #arrived = 0

  constructor() {
    for (const folder of FOLDERS)
      for (const sub of ['cur', 'new', 'tmp'])
        this.vault.write(`${folder === '' ? '' : `${folder}/`}${sub}/.keep`, Buffer.from(''))
    this.vault.write(`${MH}/.mh_sequences`, Buffer.from(''))
  }

  async take(given: Step): Promise<void> {
    switch (given.kind) {
      case 'arrive':
        this.#write(given)
        break
      case 'deliver': {
        const place = this.#write(given)
        await (await this.#opened()).deliver(place)
        break
      }
      case 'flag':
        this.#rename(given.mail, (folder, unique) =>
          place(folder, 'cur', `${unique}:2,${given.flags}`),
        )
        break
      case 'move':
        this.#rename(given.mail, (_folder, unique) =>
          place(FOLDERS[given.folder % FOLDERS.length] as string, 'cur', `${unique}:2,S`),
        )
        break
      case 'delete': {
        const at = this.#choose(given.mail)
        if (at === undefined) break
        rmSync(this.vault.path(this.mails[at] as string))
        this.mails.splice(at, 1)
        break
      }
      case 'replace': {
        const at = this.#choose(given.mail)
        if (at !== undefined)
          this.vault.write(this.mails[at] as string, this.#letter(given.text, true))
        break
      }
      case 'append': {
        this.mbox.push(this.#mboxMail(given.text))
        appendFileSync(this.vault.path(MBOX), this.mbox.at(-1) as string)
        break
      }
      case 'compact':
      case 'mark': {
        if (this.mbox.length === 0) break
        const at = given.mail % this.mbox.length
        const changed =
          given.kind === 'compact'
            ? []
            : [(this.mbox[at] as string).replace(/^Status: .*$/m, `Status: ${given.status}`)]
        this.mbox.splice(at, 1, ...changed)
        writeFileSync(this.vault.path(MBOX), this.mbox.join(''))
        break
      }
      case 'file': {
        this.mh.push((this.mh.at(-1) ?? 0) + 1)
        this.#arrived++
        this.vault.write(`${MH}/${this.mh.at(-1)}`, this.#letter(given.text))
        break
      }
      case 'refile': {
        if (this.mh.length === 0) break
        const [file] = this.mh.splice(given.mail % this.mh.length, 1)
        rmSync(this.vault.path(MH, String(file)))
        break
      }
      case 'pack':
        for (const [at, file] of this.mh.entries()) {
          if (file === at + 1) continue
          renameSync(this.vault.path(MH, String(file)), this.vault.path(MH, String(at + 1)))
          this.mh[at] = at + 1
        }
        break
      case 'unseen':
        if (this.mh.length > 0)
          writeFileSync(
            this.vault.path(MH, '.mh_sequences'),
            `unseen: ${this.mh[given.mail % this.mh.length]}\n`,
          )
        break
      case 'sweep':
        await (
          await this.#opened()
        ).sweep(
          given.stopAfterMs === null ? {} : { signal: AbortSignal.timeout(given.stopAfterMs) },
        )
        break
      case 'crash':
        await this.close()
        this.vault.command(['index', this.vault.root, '--ocr', 'off'], {
          PAPERKNIFE_CRASH_AT: given.point,
        })
        break
    }
  }

  /** One whole look at everything: file times of a test are too close to tell changes by. */
  async end(): Promise<void> {
    await (await this.#opened()).sweep({ full: true })
    const { agrees, differences } = await (await this.#opened()).verify()
    expect(differences).toEqual([])
    expect(agrees).toBe(true)
    await this.close()
  }

  async close(): Promise<void> {
    await this.#mail?.close()
    this.#mail = undefined
  }

  async #opened(): Promise<Mail> {
    return (this.#mail ??= await this.vault.open())
  }

  #write({ folder, text }: { folder: number; text: number }): string {
    const at = place(FOLDERS[folder % FOLDERS.length] as string, 'new', `${++this.#arrived}.host`)
    this.vault.write(at, this.#letter(text))
    this.mails.push(at)
    return at
  }

  /** Few texts, so that mails share contents. */
  #letter(text: number, isLonger = false) {
    return {
      subject: `letter ${text % 7}`,
      body: `words of letter ${text}${isLonger ? ', written once more' : ''}`,
      date: new Date(Date.UTC(2026, 0, 1 + (text % 5))).toUTCString(),
      messageId: `${this.#arrived}.${text}@example.org`,
      attachments: {
        [`${text % 4}.txt`]: `words of attachment ${text % 4}`,
        ...(text % 3 === 0 && { 'other.csv': `a,b\n${text % 2},two` }),
      },
    }
  }

  #mboxMail(text: number): string {
    this.#arrived++
    const mail = letter(this.#letter(text)).toString().replaceAll('\r\n', '\n')
    return `From ann@example.org Mon Jan  5 10:00:00 2026\nStatus: O\n${mail}\n\n`
  }

  #rename(mail: number, to: (folder: string, unique: string) => string): void {
    const at = this.#choose(mail)
    if (at === undefined) return
    const from = this.mails[at] as string
    const folder = dirname(dirname(from)).replace(/^\.$/, '')
    const target = to(folder, basename(from).replace(/:2,.*/, ''))
    if (existsSync(this.vault.path(target))) return
    renameSync(this.vault.path(from), this.vault.path(target))
    this.mails[at] = target
  }

  #choose(mail: number): number | undefined {
    return this.mails.length === 0 ? undefined : mail % this.mails.length
  }
}

function place(folder: string, sub: string, name: string): string {
  return [folder, sub, name].filter((part) => part !== '').join('/')
}

test('any walk of deliveries, moves, flags, deletions, crashes and sweeps ends as if indexed afresh', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const walk = new Walk()
      try {
        for (const one of steps) await walk.take(one)
        await walk.end()
        const afresh = await walk.vault.open({ index: walk.vault.path('.paperknife/afresh') })
        await afresh.sweep()
        await afresh.close()
        expect(contentsOf(walk.vault.path('.paperknife'))).toEqual(
          contentsOf(walk.vault.path('.paperknife/afresh')),
        )
      } finally {
        await walk.close()
        walk.vault.remove()
      }
    }),
    { numRuns: Number(process.env['PAPERKNIFE_WALKS'] ?? 6), interruptAfterTimeLimit: 60_000 },
  )
}, 120_000)
