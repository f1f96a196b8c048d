/** Mails made from a seed: well-formed ones as mailers send them, and nasty ones. */

/** Small deterministic generator (mulberry32), so that a seed names a mail. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const WORDS =
  'budget Übersicht meeting straße invoice naïve plan 請求書 отчёт review résumé the of and'.split(
    ' ',
  )

export function words(pick: (below: number) => number, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++)
    text += (i % 11 === 10 ? '\r\n' : i > 0 ? ' ' : '') + WORDS[pick(WORDS.length)]
  return text
}

const quotedPrintable = (text: string): string =>
  [...Buffer.from(text, 'utf8')]
    .map((byte) =>
      (byte >= 33 && byte <= 126 && byte !== 61) || byte === 10 || byte === 13 || byte === 32
        ? String.fromCharCode(byte)
        : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')
    .replace(/ \r\n/g, '=20\r\n')
    .split('\r\n')
    .map((line) => line.replace(/(.{60,70}[^=]{3})(?=.)/g, '$1=\r\n'))
    .join('\r\n')

const base64 = (bytes: Buffer): string =>
  bytes.toString('base64').replace(/(.{76})(?=.)/g, '$1\r\n')

/** A mail as the RFCs want it: multiparts up to three deep, all transfer encodings, names in all forms. */
export function wellFormedMail(seed: number): Buffer {
  const pick = random(seed)
  const encoded = (text: string): string =>
    pick(2) === 0
      ? `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
      : `=?utf-8?Q?${quotedPrintable(text).replace(/=\r\n/g, '').replaceAll(' ', '_').replaceAll('?', '=3F')}?=`
  const text = (subtype: string): string => {
    const content =
      subtype === 'html' ? `<p>${words(pick, 5 + pick(80))}</p>` : words(pick, 5 + pick(200))
    switch (pick(3)) {
      case 0:
        return `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${content}`
      case 1:
        return `Content-Type: text/${subtype}; charset="UTF-8"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${quotedPrintable(content)}`
      default:
        return `Content-Transfer-Encoding: base64\r\nContent-Type: text/${subtype};\r\n\tcharset=utf-8\r\n\r\n${base64(Buffer.from(content))}`
    }
  }
  const file = (): string => {
    const bytes = Buffer.from(Array.from({ length: 1 + pick(3000) }, () => pick(256)))
    const name = ['a.pdf', 'plan 2024.docx', 'über.xlsx', '請求書.pdf', 'a"b.txt'][
      pick(5)
    ] as string
    const parameter = /^[\w. ]+$/.test(name)
      ? `filename="${name}"`
      : `filename*=utf-8''${encodeURIComponent(name).replaceAll("'", '%27')}`
    return `Content-Type: application/octet-stream\r\nContent-Disposition: attachment;\r\n ${parameter}\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(bytes)}`
  }
  const multipart = (subtype: string, parts: string[]): string => {
    const boundary = `=_b${pick(1e9)}.${pick(1e9)}`
    return (
      `Content-Type: multipart/${subtype};\r\n boundary="${boundary}"\r\n\r\n` +
      (pick(2) === 0 ? 'This is a multi-part message in MIME format.\r\n' : '') +
      parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('') +
      `--${boundary}--\r\n`
    )
  }
  const alternative = (): string => multipart('alternative', [text('plain'), text('html')])
  const content = [
    () => text('plain'),
    () => text('html'),
    alternative,
    () => multipart('mixed', [text('plain'), file()]),
    () => multipart('mixed', [alternative(), file(), file()]),
    () => multipart('mixed', [multipart('related', [alternative(), file()]), file()]),
  ][pick(6)] as () => string
  const head = [
    `Received: from a.example.org by b.example.org; Tue, 3 Mar 2020 10:${10 + pick(50)}:30 +0100 (CET)`,
    `From: ${[`Anna Berg`, `"Berg, Anna"`, encoded('Jörg Müller')][pick(3)]} <anna${pick(100)}@example.org>`,
    `To: karl@example.org,\r\n "Olsen, Per" <per@example.org>`,
    `Subject: ${pick(2) === 0 ? encoded(words(pick, 3)) : 'Quarterly plan'}`,
    `Date: Tue, ${1 + pick(28)} Mar 2020 10:20:30 +0${pick(10)}00`,
    `Message-ID: <${seed}.${pick(1e9)}@example.org>`,
    'MIME-Version: 1.0',
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n${content()}\r\n`, 'utf8')
}

/** Pieces that break things, alone and next to each other. */
const NASTY: ReadonlyArray<(pick: (below: number) => number) => string> = [
  () => '\r\n',
  () => '\n',
  () => '\r',
  () => '\0',
  () => '\x1b$B',
  () => ' '.repeat(50),
  () => 'From anna@example.org Mon Mar  2 10:00:00 2020\n',
  () => '>From ',
  () => 'Subject: =?utf-8?B?',
  () => 'Subject: =?x?q?=?=?=?=\n',
  () => 'To: "a" <b@c>, (d (e) f), <g>, h:;\n',
  () => 'Date: 31 Feb 2020 25:61:61 +9999\n',
  (pick) =>
    `Content-Type: multipart/${['mixed', 'alternative', 'digest'][pick(3)]}; boundary=b${pick(3)}\n`,
  (pick) => `Content-Type: multipart/mixed; boundary="${' '.repeat(pick(3))}"\n`,
  (pick) =>
    `Content-Type: ${['text/plain', 'text/html', 'message/rfc822', 'text', '/', ';;;', 'image/png'][pick(7)]}\n`,
  () => 'Content-Type: text/plain; format=flowed; delsp=yes; charset=utf-7\n',
  (pick) =>
    `Content-Transfer-Encoding: ${['base64', 'quoted-printable', '7bit', 'x-uuencode', '"', 'binary (x'][pick(6)]}\n`,
  () =>
    "Content-Disposition: attachment; filename*0*=iso-2022-jp''%1B$B; filename*1*=%25; filename=x\n",
  (pick) => `--b${pick(3)}\n`,
  (pick) => `--b${pick(3)}--\n`,
  (pick) => `--b${pick(3)}   \r\n`,
  () => 'begin 644 a.txt\n#0V%T\n`\nend\n',
  () => '=ybegin line=128 size=3 name=a\nabc\n=yend size=3\n',
  () => 'QUJD=\nQ=JDRA==QUJD\n',
  () => '=\n=3D=ZZ=\r\n=4',
  () => '<div style="display:none"><p><![CDATA[<!--<script>',
  () => '</div></script>&#x110000;&amp',
  (pick) => 'x'.repeat(pick(2000)),
  (pick) => Buffer.from(Array.from({ length: pick(60) }, () => pick(256))).toString('latin1'),
]

/** A mail put together from nasty pieces, mutated ones of a well-formed mail among them. */
export function nastyMail(seed: number): Buffer {
  const pick = random(seed)
  if (pick(3) === 0) {
    // A well-formed mail with some places broken.
    let text = wellFormedMail(seed).toString('latin1')
    for (let i = 0; i < 1 + pick(12); i++) {
      const at = pick(text.length)
      const piece = (NASTY[pick(NASTY.length)] as (typeof NASTY)[0])(pick)
      text =
        text.slice(0, at) +
        (pick(3) === 0 ? '' : piece) +
        text.slice(at + pick(pick(2) === 0 ? 400 : 2))
    }
    return Buffer.from(pick(4) === 0 ? text.slice(0, pick(text.length)) : text, 'latin1')
  }
  let text = pick(2) === 0 ? 'From: a@example.org\nSubject: s\n' : ''
  for (let i = 0; i < pick(60); i++) text += (NASTY[pick(NASTY.length)] as (typeof NASTY)[0])(pick)
  return Buffer.from(text, 'latin1')
}
