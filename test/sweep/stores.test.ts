/** Every kind of mail store as programs leave it on a disk, found by looking and searched as a person sees it. */
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openVault, type Mail } from '../../src/api.js'
import { letter, type Letter } from './mailbox.js'

let root: string
let mail: Mail
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'paperknife-stores-'))
  mail = await openVault({ vault: root, sweeper: 'inline', ocr: false, workers: 1 })
})
afterEach(async () => {
  await mail.close()
  rmSync(root, { recursive: true, force: true })
})

function put(place: string, content: string | Buffer = ''): void {
  mkdirSync(dirname(join(root, place)), { recursive: true })
  writeFileSync(join(root, place), content)
}

/** A mail as it stands in an mbox file, with fields that its program adds on top. */
function boxed(given: Letter, fields: readonly string[] = []): string {
  const text = letter(given)
    .toString()
    .replaceAll('\r\n', '\n')
    .replace(/^From /gm, '>From ')
  return `From - Sun Mar  1 10:00:00 2026\n${fields.map((field) => `${field}\n`).join('')}${text}\n\n`
}

/** Subjects and folders of what is found, sorted. */
async function found(query: string): Promise<string[]> {
  const { hits } = await mail.search(query, { limit: 100 })
  return hits.map(({ subject, folder }) => `${subject} in ${folder}`).sort()
}

const COUNTS = { added: 0, changed: 0, moved: 0, removed: 0, unreadable: 0 }

test('Gmail Takeout: one mbox file, its labels as folders', async () => {
  put('Takeout/archive_browser.html', '<html></html>')
  put(
    'Takeout/Mail/All mail Including Spam and Trash.mbox',
    boxed({ subject: 'one' }, ['X-GM-THRID: 1', 'X-Gmail-Labels: Inbox,Unread,Projects/Harbour']) +
      boxed({ subject: 'two' }, [
        'X-GM-THRID: 2',
        'X-Gmail-Labels: =?UTF-8?Q?Archiviert,Ge=C3=B6ffnet,Angebote?=',
      ]) +
      boxed({ subject: 'three', body: 'From the sea\nFrom here on' }, [
        'X-GM-THRID: 3',
        'X-Gmail-Labels: Sent,Starred',
      ]),
  )
  expect((await mail.sweep()).messages).toMatchObject({ ...COUNTS, added: 3 })
  const subjects = async (query: string): Promise<string[]> =>
    (await mail.search(query)).hits.map(({ subject }) => subject).sort()
  expect(await subjects('in:Projects/Harbour')).toEqual(['one'])
  expect(await subjects('in:Angebote')).toEqual(['two'])
  expect(await subjects('in:Sent')).toEqual(['three'])
  expect(await subjects('is:unread')).toEqual(['one'])
  expect(await subjects('is:flagged')).toEqual(['three'])
  const [hit] = (await mail.search('subject:three')).hits
  const bytes = await mail.original(hit as NonNullable<typeof hit>)
  expect(Buffer.from(bytes as Uint8Array).toString()).toContain('\nFrom the sea\nFrom here on')
})

test('a Thunderbird profile: .sbd walked, .msf and the rest left alone; appended to and compacted', async () => {
  const local = 'ImapMail/mail.example.org'
  const kept = (n: number, status = '0001'): string =>
    boxed({ subject: `letter ${n}`, messageId: `${n}@bird.example` }, [
      `X-Mozilla-Status: ${status}`,
      'X-Mozilla-Status2: 00000000',
    ])
  put('prefs.js', 'user_pref("mail.server", "mail.example.org");\n')
  put('places.sqlite', Buffer.from('SQLite format 3\0'))
  put('msgFilterRules.dat', 'version="9"\n')
  put(`${local}/INBOX`, kept(1) + kept(2, '0000') + kept(3, '0009'))
  put(`${local}/INBOX.msf`, '// <!-- <mdb:mork:z v="1.4"/> -->')
  put(`${local}/Archives.msf`, '// <!-- <mdb:mork:z v="1.4"/> -->')
  put(`${local}/Archives.sbd/2014`, kept(4))
  put(`${local}/Archives.sbd/2014.msf`, '// <!-- <mdb:mork:z v="1.4"/> -->')
  expect((await mail.sweep()).messages).toMatchObject({ ...COUNTS, added: 3 })
  expect(await found('letter')).toEqual([
    `letter 1 in ${local}/INBOX`,
    `letter 2 in ${local}/INBOX`,
    `letter 4 in ${local}/Archives/2014`,
  ])
  expect(await found('is:unread')).toEqual([`letter 2 in ${local}/INBOX`])

  appendFileSync(join(root, local, 'INBOX'), kept(5))
  expect((await mail.sweep()).messages).toMatchObject({ ...COUNTS, added: 1 })
  // Compacted: the first is gone, and all that follow lie elsewhere.
  put(`${local}/INBOX`, kept(2) + kept(5))
  expect((await mail.sweep()).messages).toMatchObject({
    added: 0,
    changed: 0,
    removed: 1,
    total: 3,
  })
  expect(await found('letter')).toEqual([
    `letter 2 in ${local}/INBOX`,
    `letter 4 in ${local}/Archives/2014`,
    `letter 5 in ${local}/INBOX`,
  ])
  // Rewritten by another program with the same bytes in another order.
  put(`${local}/INBOX`, kept(5) + kept(2))
  expect((await mail.sweep({ full: true })).messages).toMatchObject({ added: 0, total: 3 })
  expect((await mail.verify()).differences).toEqual([])
})

test("a Dovecot Maildir: its own files are no mail, sizes in names no part of them, folders' names decoded", async () => {
  for (const folder of ['', '.Sent', '.Entw&APw-rfe.Alt'])
    for (const part of ['cur', 'new', 'tmp'])
      mkdirSync(join(root, folder, part), { recursive: true })
  for (const name of ['dovecot.index', 'dovecot.index.log', 'dovecot.index.cache'])
    put(name, Buffer.alloc(200, 1))
  put('dovecot-uidlist', '3 V1700000000 N4 G0123456789\n1 :1700000001.M1P1.host\n')
  put('dovecot-uidvalidity', '')
  put('dovecot-keywords', '0 $Forwarded\n')
  put('subscriptions', 'V\t2\n\nSent\n')
  put('.Sent/maildirfolder')
  put('cur/1700000001.M1P1.host,S=312,W=325:2,S', letter({ subject: 'one' }))
  put('new/1700000002.M2P1.host,S=312,W=325', letter({ subject: 'two' }))
  put('.Sent/cur/1700000003.M3P1.host:2,RSa', letter({ subject: 'three' }))
  put('.Entw&APw-rfe.Alt/cur/1700000004.M4P1.host:2,D', letter({ subject: 'four' }))
  expect((await mail.sweep()).messages).toMatchObject({ ...COUNTS, added: 4 })
  expect(await found('has:nothing OR one OR two OR three OR four')).toEqual([
    'four in Entwürfe/Alt',
    'one in INBOX',
    'three in Sent',
    'two in INBOX',
  ])
  expect(await found('is:unread')).toEqual(['four in Entwürfe/Alt', 'two in INBOX'])
})

test('Apple Mail: folders of .mbox, lengths and property lists stripped, attachments beside the mail', async () => {
  const emlx = (given: Letter, flags: number): Buffer => {
    const bytes = letter(given)
    const list = `<?xml version="1.0"?><plist version="1.0"><dict><key>flags</key><integer>${flags}</integer></dict></plist>\n`
    return Buffer.concat([Buffer.from(`${bytes.length}      \n`), bytes, Buffer.from(list)])
  }
  const box = 'V10/0A1B/Harbour.mbox/2C3D/Data'
  put(`${box}/Messages/101.emlx`, emlx({ subject: 'one' }, 1))
  put(`${box}/Messages/102.partial.emlx`, emlx({ subject: 'two' }, 0b10000))
  put(`${box}/Attachments/102/2/log.txt`, 'barnacles')
  put('V10/MailData/Envelope Index', Buffer.from('SQLite format 3\0'))
  expect((await mail.sweep()).messages).toMatchObject({ ...COUNTS, added: 2 })
  expect(await found('is:read one OR two')).toContain('one in Harbour')
  expect(await found('barnacles is:flagged is:unread')).toEqual(['two in Harbour'])
})

test('MH folders: numbers are messages, sequences are flags, removed ones stay out', async () => {
  put('inbox/.mh_sequences', 'cur: 2\nunseen: 2-3\nflagged: 1\n')
  put('inbox/1', letter({ subject: 'one' }))
  put('inbox/2', letter({ subject: 'two' }))
  put('inbox/,3', letter({ subject: 'removed' }))
  put('inbox/old/.mh_sequences', '')
  put('inbox/old/7', letter({ subject: 'seven' }))
  expect((await mail.sweep()).messages).toMatchObject({ ...COUNTS, added: 3 })
  expect(await found('is:unread')).toEqual(['two in inbox'])
  expect(await found('is:flagged')).toEqual(['one in inbox'])
  expect(await found('seven')).toEqual(['seven in inbox/old'])
})

test('all of them in one tree: duplicates by Message-ID are all listed, their attachment read once', async () => {
  const same: Letter = {
    subject: 'The plan',
    messageId: 'plan@example.org',
    attachments: { 'plan.txt': 'barnacles' },
  }
  put('maildir/cur/1700000001.M1P1.host:2,S', letter(same))
  mkdirSync(join(root, 'maildir/new'))
  put('maildir/.Copies/cur/1700000009.M1P1.host:2,S', letter(same))
  mkdirSync(join(root, 'maildir/.Copies/new'))
  put('export/plan.eml', letter(same))
  put('mh/.mh_sequences', '')
  put('mh/1', letter(same))
  put('box.mbox', boxed(same))
  put('documents/report.txt', 'Plan: none\nDate: never\nbarnacles')
  copyFileSync(
    join(import.meta.dirname, '../fixtures/formats/meeting.msg'),
    join(root, 'outlook.msg'),
  )
  const { messages, contents } = await mail.sweep()
  expect(messages).toMatchObject({ ...COUNTS, added: 6 })
  // Two of them are the appointment's own.
  expect(contents.ok).toBe(3)
  const plans = (await mail.explain('plan.txt')).flatMap(({ parts }) => parts)
  expect(plans).toHaveLength(5)
  expect(new Set(plans.map(({ hash }) => hash)).size).toBe(1)
  expect((await found('barnacles')).map((hit) => hit.replace(/.* in /, ''))).toEqual([
    'box',
    'export',
    'maildir',
    'maildir/Copies',
    'mh',
  ])
  expect(await mail.verify()).toMatchObject({ agrees: true })
})

test('whatever is done with a vault, no file or folder of it changes', async () => {
  cpSync(new URL('../../sample-vault', import.meta.url), root, {
    recursive: true,
    filter: (place) => !place.endsWith('.paperknife'),
  })
  put('boxes/Inbox', boxed({ subject: 'Boxed', attachments: { 'a.txt': 'apricots' } }))
  const state = (): Record<string, unknown> =>
    Object.fromEntries(
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((path) => !path.startsWith('.paperknife'))
        .map((path) => {
          const { mode, ino, mtimeMs, ctimeMs } = lstatSync(join(root, path))
          const isFolder = lstatSync(join(root, path)).isDirectory()
          const bytes = isFolder ? '' : readFileSync(join(root, path), 'base64')
          return [path, { mode, ino, mtimeMs, ctimeMs, bytes }]
        }),
    )
  mkdirSync(join(root, '.paperknife'), { recursive: true })
  const before = state()
  expect(Object.keys(before).length).toBeGreaterThan(32)
  expect((await mail.sweep()).messages.added).toBe(33)
  const { hits } = await mail.search('apricots')
  expect(hits).toHaveLength(1)
  await mail.excerpts(hits)
  await mail.explain(hits[0]?.path ?? '')
  await mail.reExtract({ states: ['ok'] })
  await mail.sweep({ full: true })
  expect((await mail.verify({ purge: true })).agrees).toBe(true)
  expect(state()).toEqual(before)
})
