/**
 * Whether a file is a mail, an mbox or neither, by its first bytes and its name.
 *
 * Careful on purpose: a vault may hold documents beside the mail, and a text that merely has colons
 * in it is no mail.
 */

export type FileKind = 'mail' | 'mbox' | 'msg' | 'emlx' | 'other'

/** Bytes of a file that `kindByBytes` wants to see. */
export const LOOK_BYTES = 8192

/** Endings of what is never a mail, whatever its bytes look like; saves opening it. */
const NEVER = new Set(
  (
    '7z aac avi avif bak bat bin bmp bz2 c cc cfg class conf cpp crt css csv db dll doc docm docx dotx ' +
    'dylib epub exe flac gif go gz h heic hpp htm html ics ico idx index jar java jpeg jpg js json jsonl ' +
    'key lock log m4a mdb mht mhtml mkv mov mp3 mp4 mpeg msf odg odp ods odt ogg old otf p12 p7m p7s pdf pem ' +
    'php png pps ppsx ppt pptm pptx ps pst py pyc rar rb rs rtf sh so sql sqlite svg swf tar tgz tif ' +
    'tiff tmp tnef toml ts tsv ttf vcf wav webm webp wmf wmv woff woff2 wrl xls xlsb xlsm xlsx xml xz ' +
    'yaml yml zip zst dat sbd plist part crdownload'
  ).split(' '),
)

/** What a name alone says, or undefined when the bytes must be looked at. */
export function kindByName(name: string): FileKind | undefined {
  if (name.startsWith('.')) return 'other'
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
  if (ending === 'eml') return 'mail'
  if (ending === 'emlx') return 'emlx'
  if (NEVER.has(ending) || name.endsWith('~')) return 'other'
  return undefined
}

/** @param head the first `LOOK_BYTES` of the file */
export function kindByBytes(head: Buffer, name: string): FileKind {
  const isMsg = /\.msg$/i.test(name)
  if (head.length >= 8 && head.readUInt32BE(0) === 0xd0cf11e0) return isMsg ? 'msg' : 'other'
  if (head.subarray(0, 512).includes(0)) return 'other'
  const text = head.toString('latin1')
  if (MBOX_LINE.test(text)) {
    if (!looksLikeHead(text.slice(text.indexOf('\n') + 1))) return 'other'
    // A separator line on top of a single mail is an old habit; a .txt may be a list of anything.
    if (isMsg) return 'mail'
    return /\.txt$/i.test(name) && !/mbox/i.test(name) ? 'other' : 'mbox'
  }
  // A text with this ending says itself that it is a mail.
  return isMsg || looksLikeHead(text) ? 'mail' : 'other'
}

/** `From sender date`: the separator of an mbox file at its very start. */
const MBOX_LINE =
  /^From (?:\S.{0,300}? )?(?:[A-Z][a-z]{2},? )?(?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2}) .{0,60}\d{4}.{0,40}\r?\n|^From - .{0,40}\r?\n/

/** Fields that mail has and other texts with colons hardly do. */
const STRONG = new Set([
  'received',
  'return-path',
  'message-id',
  'mime-version',
  'delivered-to',
  'x-mailer',
  'in-reply-to',
  'content-transfer-encoding',
  'dkim-signature',
  'x-mozilla-status',
  'x-gmail-labels',
])
const USUAL = new Set([
  'from',
  'to',
  'subject',
  'date',
  'cc',
  'bcc',
  'reply-to',
  'sender',
  'content-type',
])

function looksLikeHead(text: string): boolean {
  let strong = 0
  let usual = 0
  let fields = 0
  let odd = 0
  const lines = text
    .replace(/^\ufeff|^\xef\xbb\xbf/, '')
    .replace(/^[ \t\r\n]*[\r\n]/, '')
    .split(/\r\n|\n|\r/)
  for (let i = 0; i < Math.min(lines.length, 200); i++) {
    const line = lines[i] as string
    if (line === '') break
    if (/^[ \t]/.test(line)) {
      if (fields === 0) return false
      continue
    }
    const field = /^([\x21-\x39\x3b-\x7e]{1,76})[ \t]*:/.exec(line)
    if (!field) {
      // The last line of what was looked at may be cut; a mail broken in one place is still one.
      if (i === 0 && /^>?From /.test(line)) continue
      if (fields < 2 || ++odd > 1) break
      continue
    }
    fields++
    const name = (field[1] as string).toLowerCase()
    if (STRONG.has(name) || /^content-type[ \t]*:[ \t]*(?:multipart|message)\//i.test(line))
      strong++
    else if (USUAL.has(name)) usual++
  }
  if (fields === 0) return false
  const known = strong + usual
  // Half of the fields known, and two of them, or one that only mail has.
  return (
    (strong >= 1 && known >= 2) ||
    (usual >= 2 && usual * 2 >= fields) ||
    (strong >= 1 && fields === 1)
  )
}
