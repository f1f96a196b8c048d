/**
 * Appointments (iCalendar, RFC 5545; vCalendar 1.0) and address cards (vCard 2.1, RFC 2426, RFC 6350):
 * what a person would search, without the names of the properties, identifiers, time zones and pictures.
 *
 * Both share their lines: folded at any byte, parameters before a colon, escapes in the value.
 */
import type { Extractor } from './extractor.js'

export const calendar: Extractor = {
  name: 'calendar',
  version: 3,
  title: 'Appointments and address cards (ics, vcf)',
  types: ['text/calendar', 'text/vcard'],
  extensions: ['ics', 'vcf'],
  lane: 'text',
  async extract({ bytes, charset }, sink, context) {
    const { decodeText } = await import('../mail/charset.js')
    const { htmlText } = await import('../mail/html.js')
    const { wideEncoding } = await import('../mail/wide.js')
    let file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (wideEncoding(file)) file = Buffer.from(decodeText(file).text, 'utf8')
    // lines are folded between bytes, also inside a character, so they are joined before decoding
    const raw = unfold(file.toString('latin1'))
    const all = decodeText(Buffer.from(raw, 'latin1'), { declared: charset })
    const decode = (text: string, name: string): string =>
      name === '' && ASCII.test(text)
        ? text
        : decodeText(Buffer.from(text, 'latin1'), { declared: name || all.charset }).text

    const { budget } = context
    let zone = 0
    let alarm = 0
    let written = ''
    let lines = 0
    let compared = 0
    for (const rawLine of raw.split('\n')) {
      if ((++lines & 0xfff) === 0) budget.checkTime()
      const property = parseLine(rawLine)
      if (!property) continue
      const { name, parameters } = property
      if (name === 'BEGIN' || name === 'END') {
        if (/^(VTIMEZONE|STANDARD|DAYLIGHT)$/i.test(property.value))
          zone += name === 'BEGIN' ? 1 : -1
        else if (name === 'END') sink.write('\n')
        if (/^VALARM$/i.test(property.value)) alarm += name === 'BEGIN' ? 1 : -1
        written = ''
        continue
      }
      const file = (): string =>
        decode(parameter(parameters, 'X-FILENAME') || parameter(parameters, 'FILENAME'), '')
      if (zone === 0 && name === 'ATTACH' && isBinary(parameters, property.value)) {
        const content = Buffer.from(property.value, 'base64')
        budget.takeBytes(content.length)
        await context.nested(content, file() || 'attachment', parameter(parameters, 'FMTTYPE'))
        continue
      }
      if (zone > 0 || !isSearchable(name) || isBinary(parameters, property.value)) continue
      const isQuoted = /(^|;)(ENCODING=)?QUOTED-PRINTABLE/i.test(parameters)
      let value = decode(
        isQuoted ? unquote(property.value) : property.value,
        parameter(parameters, 'CHARSET'),
      )
      if (alarm > 0 && PROMPT.test(value)) continue
      if (name === 'X-ALT-DESC' || /text\/html/i.test(parameter(parameters, 'FMTTYPE')))
        value = htmlText(unescape(value, false))
      else if (DATES.has(name)) value = shownDate(value)
      else value = unescape(value, COMPOUND.has(name))
      const common = decode(parameter(parameters, 'CN'), '')
      value = value.replace(/^mailto:/i, '').replace(/^_\$!<(.*)>!\$_$/, '$1')
      const line = [common, value, file()]
        .map((piece) => piece.trim())
        .filter((piece, nth, pieces) => piece !== '' && pieces.indexOf(piece) === nth)
        .join(' ')
      // FN repeats N, X-ALT-DESC repeats DESCRIPTION
      if (line === '' || written.includes(line)) continue
      compared += written.length
      written = `${line}\n${compared < COMPARED_CHARS ? written.slice(0, WRITTEN_CHARS) : ''}`
      sink.line(line)
    }
  },
}

/** Joins folded lines: a line end and one blank (RFC 5545 3.1), and soft breaks of quoted-printable (vCard 2.1). */
function unfold(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n')
  if (!/QUOTED-PRINTABLE/i.test(lines)) return lines.replace(/\n[ \t]/g, '')
  let isQuoted = false
  let isOpen = false
  let unfolded = ''
  for (const line of lines.split('\n')) {
    const isFolded = !isOpen && /^[ \t]/.test(line)
    if (!isOpen && !isFolded) {
      const head = line.slice(0, HEAD_CHARS)
      isQuoted = /QUOTED-PRINTABLE/i.test(head.slice(0, Math.max(0, head.indexOf(':'))))
    }
    if (!isOpen && !isFolded && unfolded !== '') unfolded += '\n'
    isOpen = isQuoted && line.endsWith('=')
    unfolded += (isOpen ? line.slice(0, -1) : line).slice(isFolded ? 1 : 0)
  }
  return unfolded
}

/** Text of an event that is remembered, so as not to write the same twice. */
const WRITTEN_CHARS = 20_000
/** Text looked through for this in one file; then a line is compared with the one before it alone. */
const COMPARED_CHARS = 200_000_000
/** Name and parameters of a property stand within so many characters. */
const HEAD_CHARS = 4_000
const ASCII = /^[\t -~]*$/

interface Property {
  name: string
  parameters: string
  value: string
}

/** `group.NAME;PARAMETER="a:b":value`; a colon inside quotes belongs to the parameter. */
function parseLine(line: string): Property | undefined {
  const match = /^(?:[\w-]+\.)?([A-Za-z][\w-]*)((?:;(?:"[^"]*"|[^":])*)?):/.exec(
    line.slice(0, HEAD_CHARS),
  )
  if (!match) return undefined
  return {
    name: (match[1] as string).toUpperCase(),
    parameters: (match[2] as string).slice(1),
    value: line.slice(match[0].length),
  }
}

function parameter(parameters: string, name: string): string {
  if (parameters === '') return ''
  const match = new RegExp(`(?:^|;)${name}=("[^"]*"|[^;]*)`, 'i').exec(parameters)
  return (match?.[1] ?? '').replace(/^"|"$/g, '').replace(/\^n/g, '\n').replace(/\^'/g, '"')
}

/** Identifiers, rules and marks of the programs. */
const SILENT = new Set(
  `ACTION BINARY CALSCALE CLASS CLIENTPIDMAP CREATED DTSTAMP DURATION EXDATE EXRULE FREEBUSY KEY
  LAST-MODIFIED LOGO METHOD PERCENT-COMPLETE PHOTO PRIORITY PRODID RDATE RECURRENCE-ID RELATED-TO REPEAT
  REQUEST-STATUS REV RRULE SEQUENCE SORT-STRING SOUND STATUS TRANSP TRIGGER TZID TZNAME TZOFFSETFROM
  TZOFFSETTO TZURL TZ LANG UID VERSION XML GENDER KIND PROFILE MAILER DCREATED`.split(/\s+/),
)
/** What programs write into every alarm. */
const PROMPT = /^(reminder|this is an event reminder|alarm|event reminder)$/i
/** Properties of programs that people fill in. */
const EXTENDED =
  /^X-(ALT-DESC|WR-CALNAME|WR-CALDESC|ABLABEL|ABRELATEDNAMES|PHONETIC-|SPOUSE|MANAGER|ASSISTANT|SKYPE|AIM|ICQ|JABBER|EVOLUTION-(SPOUSE|MANAGER|ASSISTANT)|WAB-SPOUSE_NAME|SOCIALPROFILE|MAIDENNAME|MS-(IMADDRESS|MANAGER|ASSISTANT|SPOUSE))/

function isSearchable(name: string): boolean {
  return name.startsWith('X-') ? EXTENDED.test(name) : !SILENT.has(name)
}

function isBinary(parameters: string, value: string): boolean {
  return (
    /(^|;)(ENCODING=)?(B|BASE64)(;|$)|VALUE=BINARY/i.test(parameters) ||
    /^data:/i.test(value) ||
    (value.length > 500 && /^[A-Za-z0-9+/=]+$/.test(value))
  )
}

/** Values made of parts by `;`: the parts are words of their own. */
const COMPOUND = new Set(['N', 'ADR', 'ORG', 'GEO', 'NICKNAME', 'CATEGORIES', 'LABEL'])
const DATES = new Set(['DTSTART', 'DTEND', 'DUE', 'COMPLETED', 'BDAY', 'ANNIVERSARY', 'X-ABDATE'])

function unescape(value: string, isCompound: boolean): string {
  const parts = isCompound ? value.replace(/(?<!\\);/g, ' ').replace(/(?<!\\),/g, ', ') : value
  return parts
    .replace(/\\([nN;,\\:"])/g, (_, character: string) =>
      character === 'n' || character === 'N' ? '\n' : character,
    )
    .replace(/[ \t]{2,}/g, ' ')
}

/** `20260305T143000Z` as people write it: `2026-03-05 14:30`. Anything else stays as it is. */
function shownDate(value: string): string {
  const match = /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}))?/.exec(value)
  if (!match) return value
  const [, year, month, day, hour, minute] = match
  return `${year}-${month}-${day}${hour ? ` ${hour}:${minute}` : ''}`
}

function unquote(text: string): string {
  return text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
}
