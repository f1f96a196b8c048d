/** The vault that the indexes in test/fixtures/schema were made of. Never to be changed: they are compared with it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BOUNDARY = 'edge-of-a-part'

/** @param root a folder that does not exist yet: a Maildir with two folders, six mails, four contents */
export function writeSchemaVault(root: string): void {
  for (const folder of ['', '.Archive'])
    for (const part of ['cur', 'new', 'tmp'])
      mkdirSync(join(root, folder, part), { recursive: true })
  for (let n = 1; n <= 6; n++)
    writeFileSync(
      join(root, n > 4 ? '.Archive' : '', 'cur', `170000000${n}.M${n}.host:2,${n % 2 ? 'S' : ''}`),
      letter(n),
    )
}

function letter(n: number): string {
  return [
    'From: Ann Lee <ann@example.org>',
    'To: Bo Ek <bo@example.org>',
    `Subject: lantern number ${n}`,
    `Date: Tue, ${n} Sep 2026 10:00:00 +0200`,
    `Message-ID: <${n}.schema@example.org>`,
    ...(n > 1 ? ['References: <1.schema@example.org>'] : []),
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    `The harbour of letter ${n} was quiet.`,
    `--${BOUNDARY}`,
    `Content-Type: text/plain; name="note-${n % 4}.txt"`,
    `Content-Disposition: attachment; filename="note-${n % 4}.txt"`,
    '',
    `${'barnacle '.repeat(40)}of note ${n % 4}`,
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n')
}
