/**
 * Makes sample-vault/: the mail of Hanna Brandt, translator in Lübeck, as a Maildir with folders.
 *
 * Everything is written here: the letters, the documents attached to them, and the odd, locked, broken
 * and pictured ones that a real archive holds. Run it with `npm run make-sample-vault`; the made files
 * are committed. Nothing but this repository is needed, except for one Word 97 letter, which LibreOffice
 * converts when it is there and which is otherwise kept as it lies.
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eml, winmail, type Attachment, type Mail } from './make/mail.js'
import { docx, pptx, xlsx, zip } from './make/office.js'
import { pdf } from './make/pdf.js'
import { logoPng, photographJpeg, scanJpeg, scanPng } from './make/picture.js'

const VAULT = fileURLToPath(new URL('../sample-vault/', import.meta.url))
const WORD97 = fileURLToPath(new URL('make/kept/mietvertrag.doc', import.meta.url))

const HANNA = 'Hanna Brandt <hanna@brandt.example>'
const TOMAS = 'Tomás Ferreira <tomas.ferreira@lusopress.example>'
const MARGUERITE = 'Marguerite Réaux <m.reaux@editions-du-phare.example>'
const SATO = '佐藤 健一 <sato@kawabata-shoten.example>'
const JONAS = 'Jonas Brandt <jonas.brandt@postkasten.example>'
const CHOIR = 'Kantorei St. Aegidien <noten@aegidien.example>'
const BOILER = 'Nordlicht Heiztechnik <service@nordlicht-heiztechnik.example>'
const BANK = 'Hansekontor Bank <post@hansekontor.example>'
const RIKE = 'Rike Olsen <rike.olsen@olsen-steuer.example>'
const NEWS = 'The Inkwell <letter@inkwell.example>'

const OFFICE = 'application/vnd.openxmlformats-officedocument.'
const TYPES: Record<string, string> = {
  docx: `${OFFICE}wordprocessingml.document`,
  xlsx: `${OFFICE}spreadsheetml.sheet`,
  pptx: `${OFFICE}presentationml.presentation`,
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  zip: 'application/zip',
  csv: 'text/csv',
  doc: 'application/msword',
  rtf: 'application/rtf',
  ics: 'text/calendar',
  dat: 'application/ms-tnef',
  eml: 'message/rfc822',
}
const attach = (name: string, bytes: Uint8Array, type?: string): Attachment => ({
  name,
  type: type ?? TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
  bytes,
})

/** A letter in Word 97's format: converted by LibreOffice, or the one kept from the last time. */
async function word97(text: string[]): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'paperknife-word97-'))
  try {
    writeFileSync(join(folder, 'letter.docx'), await docx(text))
    execFileSync('soffice', ['--headless', '--convert-to', 'doc', 'letter.docx'], {
      cwd: folder,
      stdio: 'ignore',
      timeout: 120_000,
    })
    mkdirSync(join(WORD97, '..'), { recursive: true })
    writeFileSync(WORD97, readFileSync(join(folder, 'letter.doc')))
  } catch (error) {
    if (!existsSync(WORD97)) throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return readFileSync(WORD97)
}

/** ISO-2022-JP of text that EUC-JP can write: each row is `[7-bit JIS bytes in hex]`. */
const jis = (hex: string): Buffer =>
  Buffer.concat([
    Buffer.from('\x1b$B', 'latin1'),
    Buffer.from(hex.replaceAll(' ', ''), 'hex'),
    Buffer.from('\x1b(B', 'latin1'),
  ])

interface Filed extends Mail {
  folder: string
  flags: string
  /** Bytes to store instead of what eml() writes. */
  raw?: Uint8Array
}

const mails: Filed[] = []
let count = 0
function file(
  folder: string,
  flags: string,
  mail: Omit<Mail, 'id'> & { id?: string; raw?: Uint8Array },
): string {
  const id = mail.id ?? `sample-${String(++count).padStart(3, '0')}@brandt.example`
  mails.push({ ...mail, id, folder, flags })
  return id
}

const logo: Attachment = {
  name: 'logo.png',
  type: 'image/png',
  bytes: await logoPng(),
  inline: true,
}
const signature = '\n--\nLusopress, Rua da Boavista 14, Porto\n'

// The book from Porto: a thread with a contract, a plan and a question.
const first = file('.Work', 'RS', {
  from: TOMAS,
  to: HANNA,
  subject: 'Translation of "The Lighthouse Keeper\'s Ledger"',
  date: '2024-02-12T10:04:00+00:00',
  text: `Dear Hanna,\n\nwe would love to have you translate the novel into German. 312 pages, delivery by the end of September.\nThe contract is attached; the fee table is on its second page.\n\nBest wishes\nTomás${signature}`,
  attachments: [
    attach(
      'contract-lighthouse.docx',
      await docx(
        [
          '# Translation agreement',
          'between Lusopress, Porto, and Hanna Brandt, Lübeck.',
          'The translator delivers the German text of the novel "The Lighthouse Keeper\'s Ledger" in three instalments.',
          [
            ['Instalment', 'Chapters', 'Due', 'Fee in EUR'],
            ['Keel', '1 to 9', '2024-05-31', '2,450.00'],
            ['Mast', '10 to 18', '2024-07-31', '2,450.00'],
            ['Pennant', '19 to 26', '2024-09-30', '2,980.00'],
          ],
          'Fees are paid within thirty days after each instalment has been accepted.',
          'The translator is named on the title page and in the catalogue.',
        ],
        'Lusopress agreement LP-2024-017, page footer',
      ),
    ),
    logo,
  ],
})
const second = file('.Sent', 'S', {
  from: HANNA,
  to: TOMAS,
  subject: 'Re: Translation of "The Lighthouse Keeper\'s Ledger"',
  date: '2024-02-13T08:40:00+01:00',
  inReplyTo: first,
  references: [first],
  text: 'Dear Tomás,\n\nwith great pleasure. I sign the agreement this week.\nMay I move the second instalment to the middle of August? My daughter finishes school in July.\n\nHanna\n',
})
const third = file('.Work', 'S', {
  from: TOMAS,
  to: HANNA,
  cc: 'Inês Duarte <ines.duarte@lusopress.example>',
  subject: 'Re: Translation of "The Lighthouse Keeper\'s Ledger"',
  date: '2024-02-13T11:15:00+00:00',
  inReplyTo: second,
  references: [first, second],
  text: `Mid-August is fine. Inês will send you the glossary of nautical words.\n\nTomás${signature}`,
  attachments: [logo],
})
file('.Work', 'S', {
  from: 'Inês Duarte <ines.duarte@lusopress.example>',
  to: HANNA,
  subject: 'Glossary of nautical words',
  date: '2024-02-16T16:22:00+00:00',
  references: [first, second, third],
  inReplyTo: third,
  text: `Hello Hanna,\n\nhere is our list, Portuguese and English. Please add the German column.\n\nInês${signature}`,
  attachments: [
    attach(
      'glossary.csv',
      Buffer.from(
        'portuguese,english,note\nfarol,lighthouse,\namarra,hawser,"thick rope, chapter 3"\nquilha,keel,\nescotilha,hatch,\nmaré-cheia,high tide,also as a metaphor in chapter 21\nbússola,compass,\n',
      ),
    ),
    logo,
  ],
})

// Paris: slides with notes, a catalogue as PDF, a reply in French.
const paris = file('.Work', 'S', {
  from: MARGUERITE,
  to: HANNA,
  subject: 'Salon du livre : votre intervention',
  date: '2024-03-05T09:12:00+01:00',
  text: "Chère Hanna,\n\nmerci d'avoir accepté de parler au salon. Vous trouverez ci-joint le diaporama de l'année dernière ; les commentaires sous les diapositives sont de ma main.\nL'hôtel est réservé, près de la Bibliothèque.\n\nBien à vous\nMarguerite Réaux\n",
  attachments: [
    attach(
      'salon-2024.pptx',
      await pptx([
        { title: 'Traduire la mer', lines: ['Trois romans', 'Trois vocabulaires'] },
        {
          title: 'Words that drown',
          lines: ['farol, phare, Leuchtturm', 'What a reader hears'],
          notes: 'Pause here and let the foghorn recording play before the next slide.',
        },
        {
          title: 'Questions',
          lines: ['Merci'],
          notes: 'If nobody asks, tell the story of the misprinted almanac.',
        },
      ]),
    ),
  ],
})
file('.Sent', 'S', {
  from: HANNA,
  to: MARGUERITE,
  subject: 'Re: Salon du livre : votre intervention',
  date: '2024-03-05T18:30:00+01:00',
  inReplyTo: paris,
  references: [paris],
  text: "Chère Marguerite,\n\nmerci pour le diaporama. J'arrive le jeudi par le train de nuit.\nPourriez-vous demander un pupitre plutôt qu'une table ?\n\nHanna\n",
})
file('.Work', 'FS', {
  from: MARGUERITE,
  to: HANNA,
  subject: 'Catalogue de printemps',
  date: '2024-03-18T14:05:00+01:00',
  html: '<html><head><style>p{color:#333}</style></head><body><p>Chère Hanna,</p><p>voici notre <b>catalogue de printemps</b>&nbsp;; votre traduction est à la page&nbsp;3.</p><p>Amitiés<br>Marguerite</p></body></html>',
  attachments: [
    attach(
      'catalogue-printemps.pdf',
      pdf(
        [
          ['Éditions du Phare', 'Catalogue de printemps 2024', '', 'Romans, récits, poèmes.'],
          [
            'Poèmes',
            '',
            'Anselme Kerguelen : Les heures de sel.',
            'Quarante poèmes écrits sur un chalutier.',
            '',
            'Ida Rosenkranz : Brouillard.',
          ],
          [
            'Romans traduits',
            '',
            'Das Salzjahr, roman, traduit par Hanna Brandt.',
            'Une gardienne de phare compte les naufrages et finit par compter les années.',
            "La critique parle d'un chuchotement obstiné.",
          ],
          [
            'Commandes',
            '',
            'Par la poste ou par courrier électronique.',
            'Remise de cinq pour cent pour les bibliothèques.',
          ],
        ],
        { title: 'Catalogue de printemps 2024' },
      ),
    ),
  ],
})

// Tokyo: a Japanese letter with a Japanese document, and one in ISO-2022-JP as older programs send it.
file('.Work', 'S', {
  from: SATO,
  to: HANNA,
  subject: '日本語版の出版について',
  date: '2024-04-02T11:30:00+09:00',
  text: 'ブラント様\n\nいつもお世話になっております。川端書店の佐藤です。\n小説の日本語版について、添付の資料をご確認ください。\n灯台の場面の翻訳が特に素晴らしいと編集部で話題になりました。\n\n佐藤健一\n',
  attachments: [
    attach(
      '出版計画.docx',
      await docx([
        '# 出版計画書',
        '本書は来年の春に東京で出版する予定です。',
        '表紙には港の写真を使用します。',
        [
          ['項目', '期日'],
          ['初校', '十月一日'],
          ['印刷', '一月二十日'],
        ],
        '契約書は別便でお送りいたします。',
      ]),
    ),
  ],
})
file('.Archive', 'S', {
  from: SATO,
  to: HANNA,
  subject: 'older program',
  date: '2019-05-14T10:00:00+09:00',
  id: 'old-jis@kawabata-shoten.example',
  raw: Buffer.concat([
    Buffer.from(
      'From: sato@kawabata-shoten.example\r\nTo: hanna@brandt.example\r\nSubject: =?ISO-2022-JP?B?GyRCJDQwJzsiGyhC?=\r\nDate: Tue, 14 May 2019 10:00:00 +0900\r\nMessage-ID: <old-jis@kawabata-shoten.example>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=ISO-2022-JP\r\nContent-Transfer-Encoding: 7bit\r\n\r\n',
    ),
    // はじめてご連絡いたします。
    jis('244f 2438 2461 2446 2434 4f22 4d6d 2424 243f 2437 245e 2439 2123'),
    Buffer.from('\r\n'),
    // 東京の桜が満開になりました。
    jis('456c 357e 244e 3a79 242c 4b7e 332b 244b 244a 246a 245e 2437 243f 2123'),
    Buffer.from('\r\n'),
  ]),
})

// The house: a scanned inspection report, a receipt, a rental agreement in Word 97, a quarrel about noise.
file('', 'S', {
  from: BOILER,
  to: HANNA,
  subject: 'Prüfbericht Ihrer Heizung',
  date: '2024-10-08T15:44:00+02:00',
  text: 'Sehr geehrte Frau Brandt,\n\nanbei der Prüfbericht als Scan. Die Straße war gesperrt, daher die Verspätung.\nDer nächste Termin ist im Oktober 2025.\n\nMit freundlichen Grüßen\nNordlicht Heiztechnik\n',
  attachments: [
    attach(
      'scan-boiler-report.pdf',
      pdf([
        await scanJpeg({
          lines: [
            'INSPECTION REPORT',
            'Customer: Hanna Brandt, Huxstrasse 41',
            'Appliance: condensing boiler, serial number NB-77120',
            'Burner pressure: within tolerance',
            'Flue gas: 9.1 percent carbon dioxide',
            'Remark: the expansion vessel shows corrosion',
            'and should be replaced before winter.',
            'Inspector: K. Petersen',
          ],
          skew: 0.6,
        }),
      ]),
    ),
  ],
})
file('', 'S', {
  from: JONAS,
  to: HANNA,
  subject: 'Receipt for the cello',
  date: '2024-11-21T20:10:00+01:00',
  text: 'Hi Mum,\n\nhere is the receipt for the repair, just photographed. They changed the bridge and two strings.\n\nJonas\n',
  attachments: [
    attach(
      'receipt.png',
      await scanPng({
        lines: [
          'Violin workshop Thorvald',
          'Repair of one violoncello',
          'New bridge, maple        148.00',
          'Two strings, tungsten     96.50',
          'Total                    244.50',
          'Paid in cash, thank you',
        ],
        width: 900,
        height: 560,
        seed: 3,
      }),
    ),
    attach('evening.jpg', await photographJpeg()),
  ],
})
file('.Archive', 'S', {
  from: 'Hausverwaltung Trave <info@hv-trave.example>',
  to: HANNA,
  subject: 'Mietvertrag Hüxstraße 41',
  date: '2018-08-30T09:00:00+02:00',
  text: 'Sehr geehrte Frau Brandt,\n\nanbei der Mietvertrag im alten Word-Format. Bitte unterschrieben zurück.\n',
  attachments: [
    attach(
      'mietvertrag.doc',
      await word97([
        'Mietvertrag',
        'Die Wohnung im zweiten Obergeschoss der Hüxstraße 41 wird ab dem 1. Oktober 2018 vermietet.',
        'Zur Wohnung gehört ein Kellerabteil mit der Nummer 17.',
        'Die Kündigungsfrist beträgt drei Monate.',
      ]),
    ),
  ],
})
file('.Archive', 'S', {
  from: 'Hausverwaltung Trave <info@hv-trave.example>',
  to: 'Mieter Hüxstraße 41 <mieter@hv-trave.example>',
  subject: 'Ruhezeiten',
  date: '2021-06-11T08:15:00+02:00',
  text: 'Liebe Mieterinnen und Mieter,\n\nbitte beachten Sie die Ruhezeiten zwischen 13 und 15 Uhr. Das Üben von Blasinstrumenten ist in dieser Zeit nicht gestattet.\n',
})

// Money: a workbook, a bank statement with a password, a tax list, a zip of receipts.
const tax = file('', 'FS', {
  from: RIKE,
  to: HANNA,
  subject: 'Unterlagen für die Steuererklärung 2024',
  date: '2025-02-03T10:20:00+01:00',
  text: 'Liebe Hanna,\n\nich brauche noch: Honorare, Reisekosten, die Quittung für den Schreibtisch.\nDie Tabelle vom letzten Jahr liegt bei, bitte ergänzen.\n\nRike\n',
  attachments: [
    attach(
      'honorare-2024.xlsx',
      await xlsx({
        Honorare: [
          ['Rechnung', 'Verlag', 'Betrag', 'Bemerkung'],
          ['RE-2024-031', 'Lusopress', 2450, 'erste Rate'],
          ['RE-2024-044', 'Lusopress', 2450, 'zweite Rate'],
          ['RE-2024-052', 'Éditions du Phare', 1180.5, 'Nachdruck'],
          ['RE-2024-058', 'Lusopress', 2980, 'Schlussrate Quittengelee'],
        ],
        Reisen: [
          ['Datum', 'Ziel', 'Kosten'],
          ['2024-03-21', 'Paris, Nachtzug', 214.3],
          ['2024-06-02', 'Porto', 388],
        ],
      }),
    ),
  ],
})
file('.Sent', 'S', {
  from: HANNA,
  to: RIKE,
  subject: 'Re: Unterlagen für die Steuererklärung 2024',
  date: '2025-02-05T21:02:00+01:00',
  inReplyTo: tax,
  references: [tax],
  text: 'Liebe Rike,\n\nalles in einem Archiv, die Liste der Belege ist eine Textdatei darin.\n\nHanna\n',
  attachments: [
    attach(
      'belege.zip',
      await zip({
        'belege/liste.txt':
          'Schreibtisch, Eiche, 640,00 EUR\nDrehstuhl, 189,00 EUR\nWörterbuch der Seemannssprache, 48,00 EUR\n',
        'belege/reise/paris.docx': await docx([
          'Reisekosten Paris',
          'Nachtzug hin und zurück, Liegewagen, 214,30 EUR.',
          'Taxi zur Bibliothek wegen Regen, 18,00 EUR.',
        ]),
      }),
    ),
  ],
})
file('', 'S', {
  from: BANK,
  to: HANNA,
  subject: 'Ihr Kontoauszug Januar 2025',
  date: '2025-02-01T04:00:00+01:00',
  text: 'Ihr Kontoauszug ist mit Ihrem persönlichen Kennwort geschützt.\n',
  attachments: [
    attach(
      'kontoauszug-2025-01.pdf',
      pdf([['Kontoauszug', 'Saldo 4.812,07 EUR', 'Gutschrift Lusopress']], {
        password: 'travemuende',
      }),
    ),
  ],
})
file('', '', {
  from: RIKE,
  to: HANNA,
  subject: 'Invoice 2025-0093 for bookkeeping',
  date: '2025-03-10T09:00:00+01:00',
  text: 'Dear Hanna,\n\nplease find my invoice INV-2025-0093 over 1,234.50 EUR attached. Due in fourteen days.\n\nRike\n',
  attachments: [
    attach(
      'INV-2025-0093.pdf',
      pdf([
        [
          'Invoice INV-2025-0093',
          '',
          'Bookkeeping, first quarter',
          'Hours: 19',
          'Amount: 1,234.50 EUR',
        ],
        [
          'Terms',
          '',
          'Payable within fourteen days without deduction.',
          'Late fees follow the usual gooseberry clause.',
        ],
      ]),
    ),
  ],
})

// The choir: dates, a text sheet, a part in a format that nobody reads.
file('', 'S', {
  from: CHOIR,
  to: 'Alt <alt@aegidien.example>',
  subject: 'Probenplan Weihnachtsoratorium',
  date: '2024-09-30T19:45:00+02:00',
  text: 'Liebe Sängerinnen,\n\nder Probenplan als Kalenderdatei und die Altstimme fürs Notenprogramm.\nBitte Bleistifte mitbringen!\n',
  attachments: [
    attach(
      'proben.ics',
      Buffer.from(
        'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Kantorei//Proben//DE\r\nBEGIN:VEVENT\r\nUID:probe-1@aegidien.example\r\nDTSTART:20241107T183000Z\r\nSUMMARY:Probe mit Orchester\r\nLOCATION:St. Aegidien\\, Seitenkapelle\r\nDESCRIPTION:Choräle 5 und 9\\, bitte auswe\r\n ndig\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
      ),
    ),
    attach(
      'altstimme.mscz-part',
      Uint8Array.from({ length: 3000 }, (_, i) => (i * 151 + (i >> 3)) & 255),
    ),
  ],
})
file('', 'S', {
  from: CHOIR,
  to: 'Alt <alt@aegidien.example>',
  subject: 'Text zum Schlusschoral',
  date: '2024-11-12T21:00:00+01:00',
  text: 'Der Text liegt als RTF bei.\n',
  attachments: [
    attach(
      'schlusschoral.rtf',
      Buffer.from(
        "{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Times;}}\\f0\\fs24 Nun seid ihr wohl gerochen\\par an eurer Feinde Schar.\\par Bitte das \\b Fis\\b0  im Alt nicht zu tief: h\\'f6her denken!\\par}",
      ),
    ),
  ],
})

// What other programs send: winmail.dat, a forwarded mail, a broken mail, a mail without a date.
file('', 'S', {
  from: 'Frederik Nyborg <nyborg@oresund-festival.example>',
  to: HANNA,
  subject: 'Programme draft (sent from Outlook)',
  date: '2025-04-14T12:00:00+02:00',
  text: 'Programme attached. It may arrive as winmail.dat.\n',
  attachments: [
    attach(
      'winmail.dat',
      winmail(
        'programme.txt',
        Buffer.from(
          'Saturday 14:00, marquee two: Hanna Brandt reads from the Ledger.\r\nSunday 11:00: panel on untranslatable puns.\r\n',
        ),
      ),
    ),
  ],
})
const forwarded = eml({
  from: 'Copenhagen Harbour Hotel <booking@harbour-hotel.example>',
  to: 'Frederik Nyborg <nyborg@oresund-festival.example>',
  subject: 'Booking confirmation 88213',
  date: '2025-04-20T08:00:00+02:00',
  id: 'booking-88213@harbour-hotel.example',
  text: 'Room with a view of the drawbridge, two nights, breakfast with rye bread included.\n',
})
file('', 'FRS', {
  from: 'Frederik Nyborg <nyborg@oresund-festival.example>',
  to: HANNA,
  subject: 'Fwd: your hotel',
  date: '2025-04-20T09:10:00+02:00',
  text: 'Dear Hanna, your room is booked, see the attached mail. Frederik\n',
  attachments: [attach('booking.eml', forwarded)],
})
file('', '', {
  from: 'unknown',
  to: HANNA,
  subject: 'broken',
  date: '2023-01-09T03:00:00+01:00',
  id: 'broken@nowhere.example',
  raw: Buffer.from(
    'From: "Broken Mailer <robot@nowhere.example>\r\nSubject: =?utf-8?B?RMO8cmZ0aWdlIEtvcGZ6ZWlsZW4=?=\r\nDate: Mon, 9 Jan 2023 03:00:00 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="never-closed"\r\n\r\n--never-closed\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nDer Anh=E4nger ging verloren, der Rest auch\r\n--never-closed\r\nContent-Type: application/pdf; name="half.pdf"\r\nContent-Disposition: attachment; filename="half.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQKJeLjz9MKMSAwIG9iago8PC9UeXBlL0NhdGFsb2cvUGFnZXMgMiAwIF',
  ),
})
file('.Archive', 'S', {
  from: JONAS,
  to: HANNA,
  subject: 'no date',
  date: '2020-07-05T18:00:00+02:00',
  id: 'undated@postkasten.example',
  raw: Buffer.from(
    'Received: from postkasten.example by mx.brandt.example; Sun, 5 Jul 2020 18:00:04 +0200\r\nFrom: Jonas Brandt <jonas.brandt@postkasten.example>\r\nTo: hanna@brandt.example\r\nSubject: On the ferry\r\nMessage-ID: <undated@postkasten.example>\r\nContent-Type: text/plain; charset=utf-8; format=flowed\r\n\r\nWe are on the ferry to Trelleborg, the sea is as flat as \r\na plate. Photographs follow when there is a net.\r\n',
  ),
})

// Newsletters, as they pile up.
const LETTERS: Array<[string, string, string]> = [
  [
    '2024-01-15',
    'On commas',
    'A comma is a breath that someone else takes for you. This week: serial commas and the courts.',
  ],
  [
    '2024-04-15',
    'False friends',
    'Gift is not a gift in German, and become is not bekommen. A list of forty pairs, alphabetical.',
  ],
  [
    '2024-07-15',
    'The fee survey',
    'Translators report a median of twenty-one euros a page. The budget of publishers has not moved.',
  ],
  [
    '2024-10-15',
    'Dictionaries we love',
    "From the seaman's glossary to the dialect atlas: readers send photographs of their shelves.",
  ],
  [
    '2025-01-15',
    'Machines and meaning',
    'What happens to irony when nobody was in the room. An interview in three languages.',
  ],
  ['2025-04-15', 'The quiet verb', 'To dwell, demeurer, wohnen: an essay on staying put.'],
]
for (const [day, title, text] of LETTERS)
  file('.Newsletters', 'S', {
    from: NEWS,
    to: HANNA,
    subject: `The Inkwell: ${title}`,
    date: `${day}T06:00:00+00:00`,
    html: `<html><head><style>.x{display:block}</style><script>var t = 1</script></head><body><h1>${title}</h1><p>${text}</p><p><a href="https://inkwell.example/off">Unsubscribe</a></p><img src="cid:logo.png" alt=""></body></html>`,
    headers: [
      'List-Id: The Inkwell <letter.inkwell.example>',
      'List-Unsubscribe: <https://inkwell.example/off>',
    ],
    attachments: [logo],
  })

// Family, the newest, unread.
const trip = file('new', '', {
  from: JONAS,
  to: HANNA,
  subject: 'Summer in Ærøskøbing?',
  date: '2025-05-02T17:45:00+02:00',
  text: 'Hej Mum,\n\nshall we take the little house on Ærø again? Uncle Göran says the garden is full of rhubarb.\nI could bring the cello.\n\nJonas\n',
})
file('.Sent', 'S', {
  from: HANNA,
  to: JONAS,
  subject: 'Re: Summer in Ærøskøbing?',
  date: '2025-05-02T19:03:00+02:00',
  inReplyTo: trip,
  references: [trip],
  text: 'Ja! I ask Göran about the second week of July. Bring the bicycle pump as well.\n',
})
file('new', '', {
  from: TOMAS,
  to: HANNA,
  subject: 'The German edition has arrived',
  date: '2025-05-05T09:30:00+01:00',
  references: [first],
  text: `Dear Hanna,\n\nten copies are on their way. The binding is beautiful.\n\nTomás${signature}`,
  attachments: [logo],
})

rmSync(VAULT, { recursive: true, force: true })
for (const folder of ['', '.Archive', '.Newsletters', '.Sent', '.Work'])
  for (const box of ['cur', 'new', 'tmp']) {
    mkdirSync(join(VAULT, folder, box), { recursive: true })
    // Git keeps no empty folder, and a Maildir has all three.
    if (box === 'tmp' || (box === 'new' && folder !== ''))
      writeFileSync(join(VAULT, folder, box, '.keep'), '')
  }
mails.sort((a, b) => Date.parse(a.date) - Date.parse(b.date))
mails.forEach((mail, i) => {
  const seconds = Date.parse(mail.date) / 1000
  const name = `${seconds}.M${i + 1}.brandt`
  const path =
    mail.folder === 'new'
      ? join(VAULT, 'new', name)
      : join(VAULT, mail.folder, 'cur', `${name}!2,${mail.flags}`)
  writeFileSync(path, mail.raw ?? eml(mail))
  utimesSync(path, seconds, seconds)
})
console.log(`${mails.length} mails`)
