/**
 * Made-up mail for measuring search: the same seed gives the same messages on every machine, and
 * the planted words have answer sets known beforehand, so that a fast wrong answer is seen.
 *
 * Background words are consonant-vowel syllables drawn by Zipf's law; no planted word can occur in
 * one by chance, because each holds a cluster (dg, oi, ct) that syllables never make.
 * Responsible for the rows; not for folding or writing them.
 */
import { createHash } from 'node:crypto'
import type { Message, Part, Person } from '../src/mail/message.js'
import { FLAGS } from '../src/part/reference.js'

export interface Corpus {
  /** `mailvault`: 3.3 kB a message; `cjk`: half Japanese and Chinese, long attachments; `short`: 150 words, for large counts. */
  readonly name: 'mailvault' | 'cjk' | 'short'
  readonly seed: number
  readonly messages: number
  /** Mean words of a body; lengths vary from a quarter to 2.5 times. */
  readonly words: number
  /** Words of the background vocabulary. */
  readonly vocabulary: number
  /** Share of messages with attachments, and words of an attachment's text. */
  readonly attachmentShare: number
  readonly attachmentWords: number
  /** Share of bodies in Japanese or Chinese. */
  readonly cjkShare: number
}

export const CORPORA: Record<Corpus['name'], Omit<Corpus, 'messages'>> = {
  mailvault: {
    name: 'mailvault',
    seed: 1,
    words: 580,
    vocabulary: 40_000,
    attachmentShare: 0,
    attachmentWords: 0,
    cjkShare: 0,
  },
  cjk: {
    name: 'cjk',
    seed: 2,
    words: 200,
    vocabulary: 40_000,
    attachmentShare: 0.2,
    attachmentWords: 8_500,
    cjkShare: 0.5,
  },
  short: {
    name: 'short',
    seed: 3,
    words: 140,
    vocabulary: 300_000,
    attachmentShare: 0.2,
    attachmentWords: 200,
    cjkShare: 0.02,
  },
}

export interface GeneratedAttachment {
  readonly part: Part
  readonly pages: ReadonlyArray<{ readonly page: number; readonly text: string }>
}

export interface GeneratedMessage {
  readonly n: number
  readonly message: Message
  readonly attachments: readonly GeneratedAttachment[]
  readonly folder: (typeof FOLDERS)[number]
  readonly flags: number
  readonly size: number
  /** Seconds since 1970. */
  readonly date: number
}

export const FOLDERS = ['INBOX', 'Archive', 'Sent'] as const

/** What is planted where, and in which share of the messages (independent of each other). */
const PLANTS = {
  invoice: { share: 0.05, where: 'body', text: 'invoice' },
  budget: { share: 0.08, where: 'body', text: 'Budget' },
  meeting: { share: 0.06, where: 'body', text: 'meeting' },
  phrase: { share: 0.02, where: 'body', text: 'project plan' },
  voicemail: { share: 0.002, where: 'body', text: 'voicemails' },
  accent: { share: 0.01, where: 'body', text: 'Übersicht' },
  french: { share: 0.01, where: 'body', text: 'crème brûlée' },
  quarterly: { share: 0.01, where: 'body', text: 'quarterly' },
  japanese: { share: 0.03, where: 'body', text: '東京の請求書です' },
  kana: { share: 0.01, where: 'body', text: 'ミーティング' },
  amount: { share: 0.002, where: 'body', text: '1,234.50' },
  inspect: { share: 0.01, where: 'body', text: 'inspection' },
  nameInBody: { share: 0.05, where: 'body', text: 'Xantippe' },
  nameAsSender: { share: 0.005, where: 'sender', text: 'Xantippe' },
  subject: { share: 0.02, where: 'subject', text: 'itinerary' },
  attachment: { share: 0.005, where: 'attachment', text: 'invoice' },
  attachmentOnly: { share: 0.003, where: 'attachment', text: 'warranty' },
  brochure: { share: 0.01, where: 'content', text: 'brochure' },
  unread: { share: 0.02, where: 'flag', text: '' },
  flagged: { share: 0.005, where: 'flag', text: '' },
  archived: { share: 0.3, where: 'folder', text: '' },
  sent: { share: 0.2, where: 'folder', text: '' },
  large: { share: 0.004, where: 'size', text: '' },
} as const
export type Plant = keyof typeof PLANTS
const PLANT_NAMES = Object.keys(PLANTS) as Plant[]

/** Words that stand in exactly this many messages, spread evenly. */
const RARE = { zugzwang: 7, ampersand: 40 } as const

function mix(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b ^ 0x165667b1, 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39)
  return (h ^ (h >>> 15)) >>> 0
}

/** Uniform in [0, 1). */
const chance = (a: number, b: number): number => mix(a, b) / 2 ** 32

/** Mulberry32. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Whether message `n` carries a plant. The answer sets of every planted query follow from this alone. */
export function carries(
  corpus: Pick<Corpus, 'seed' | 'attachmentShare'>,
  n: number,
  plant: Plant,
): boolean {
  const { share, where } = PLANTS[plant]
  if ((where === 'attachment' || where === 'content') && !hasAttachment(corpus, n)) return false
  // the shared content is the only attachment of its message
  if (where === 'attachment' && carries(corpus, n, 'brochure')) return false
  const scale = where === 'attachment' || where === 'content' ? corpus.attachmentShare : 1
  return chance(n + corpus.seed * 7_919, PLANT_NAMES.indexOf(plant) + 100) * scale < share
}

export const hasAttachment = (
  corpus: Pick<Corpus, 'seed' | 'attachmentShare'>,
  n: number,
): boolean => chance(n + corpus.seed * 7_919, 1) < corpus.attachmentShare

export const carriesRare = (messages: number, n: number, word: keyof typeof RARE): boolean => {
  const step = Math.max(1, Math.floor(messages / RARE[word]))
  return n % step === step >> 1 && Math.floor(n / step) < RARE[word]
}

/** Number of messages for which `test` holds. */
export function count(messages: number, test: (n: number) => boolean): number {
  let found = 0
  for (let n = 0; n < messages; n += 1) if (test(n)) found += 1
  return found
}

const SYLLABLES: string[] = []
for (const consonant of 'bdfghklmnprstvz') {
  for (const vowel of 'aeiou') SYLLABLES.push(consonant + vowel)
}

/** The background word of a rank; distinct for distinct ranks. */
export function backgroundWord(rank: number): string {
  // ranks are spread so that common words are not all of one beginning
  let left = rank + SYLLABLES.length
  let word = ''
  while (left > 0) {
    word += SYLLABLES[(left * 31 + word.length * 7) % SYLLABLES.length] as string
    left = Math.floor(left / SYLLABLES.length)
  }
  return word
}

/** Characters of made-up Japanese and Chinese text, by frequency: the first are in nearly every text. */
const PLANTED = new Set(Object.values(PLANTS).flatMap(({ text }) => [...text]))
const HAN = Array.from({ length: 2_600 }, (_, i) =>
  String.fromCharCode(0x4e00 + ((i * 7_411) % 20_000)),
).filter((character) => !PLANTED.has(character))
const HIRAGANA = Array.from({ length: 80 }, (_, i) => String.fromCharCode(0x3042 + i)).filter(
  (character) => !PLANTED.has(character),
)

const START = Date.UTC(2014, 0, 1) / 1000
const SPAN = 11 * 365 * 86_400

/** Seconds since 1970; spread evenly over eleven years. */
export const dateOf = ({ messages }: Pick<Corpus, 'messages'>, n: number): number =>
  START + Math.floor((n / messages) * SPAN)

export class Generator {
  readonly corpus: Corpus
  private readonly words: string[]
  private readonly people: Person[]

  constructor(corpus: Corpus) {
    this.corpus = corpus
    this.words = Array.from({ length: corpus.vocabulary }, (_, rank) => backgroundWord(rank))
    this.people = Array.from({ length: 5_000 }, (_, i) => {
      const first = backgroundWord(50_000 + i * 3)
      const last = backgroundWord(90_000 + i * 5)
      return {
        name: `${first[0]?.toUpperCase()}${first.slice(1)} ${last[0]?.toUpperCase()}${last.slice(1)}`,
        address: `${first}.${last}@${backgroundWord(200 + (i % 40))}.example`,
      }
    })
  }

  /** Messages in date order, oldest first: the order in which a first sweep writes best. */
  *all(): Generator_ {
    for (let n = 0; n < this.corpus.messages; n += 1) yield this.message(n)
  }

  date(n: number): number {
    return dateOf(this.corpus, n)
  }

  message(n: number): GeneratedMessage {
    const { corpus } = this
    const next = random(mix(n, corpus.seed))
    const has = (plant: Plant): boolean => carries(corpus, n, plant)
    const body: string[] = []
    const wanted = Math.round(corpus.words * (0.25 + 1.5 * next()))
    const isCjk = next() < corpus.cjkShare
    if (isCjk) body.push(this.cjk(wanted * 3, next))
    else this.sentence(body, wanted, next)
    if (next() < 0.6) body.push(`REF-${2014 + (n % 11)}-${String(n * 7 + 100_000)}`)
    for (const plant of PLANT_NAMES) {
      if (PLANTS[plant].where === 'body' && has(plant)) insert(body, PLANTS[plant].text, next)
    }
    for (const word of Object.keys(RARE) as Array<keyof typeof RARE>) {
      if (carriesRare(corpus.messages, n, word)) insert(body, word, next)
    }
    const subject: string[] = []
    this.sentence(subject, 3 + Math.floor(next() * 5), next)
    if (has('subject')) insert(subject, PLANTS.subject.text, next)

    const sender = this.person(next)
    const from = has('nameAsSender')
      ? { name: `Xantippe ${sender.name.split(' ')[1] ?? ''}`, address: sender.address }
      : sender
    const date = this.date(n)
    const thread = n % 4 === 0 ? n : n - 1 - (n % 3)
    const attachments = hasAttachment(corpus, n) ? this.attachments(n, next) : []
    return {
      n,
      message: {
        messageId: `${n}.${corpus.seed}@bench.example`,
        inReplyTo: thread < n ? [`${thread}.${corpus.seed}@bench.example`] : [],
        references: thread < n ? [`${thread}.${corpus.seed}@bench.example`] : [],
        subject: `${thread < n ? 'Re: ' : ''}${subject.join(' ')}`,
        from: [from],
        to: [this.person(next)],
        cc: next() < 0.2 ? [this.person(next)] : [],
        bcc: [],
        date,
        received: date,
        body: body.join(' '),
        parts: attachments.map((attachment) => attachment.part),
        labels: [],
        problems: [],
        losses: [],
      },
      attachments,
      folder: has('archived') ? 'Archive' : has('sent') ? 'Sent' : 'INBOX',
      flags: (has('unread') ? 0 : FLAGS.seen) | (has('flagged') ? FLAGS.flagged : 0),
      size: has('large') ? 6_000_000 + n : 2_000 + Math.floor(next() * 60_000),
      date,
    }
  }

  private attachments(n: number, next: () => number): GeneratedAttachment[] {
    const { corpus } = this
    if (carries(corpus, n, 'brochure')) {
      const shared = random(corpus.seed)
      const text: string[] = []
      this.sentence(text, 300, shared)
      text.push('brochure')
      return [attachment('1.2', 'brochure.pdf', 'application/pdf', [text.join(' ')], 'brochure')]
    }
    const pages: string[] = []
    const perPage = 400
    for (let left = corpus.attachmentWords * (0.5 + next()); left > 0; left -= perPage) {
      const text: string[] = []
      if (next() < corpus.cjkShare) text.push(this.cjk(Math.min(left, perPage) * 3, next))
      else this.sentence(text, Math.ceil(Math.min(left, perPage)), next)
      pages.push(text.join(' '))
    }
    for (const plant of PLANT_NAMES) {
      if (PLANTS[plant].where !== 'attachment' || !carries(corpus, n, plant)) continue
      const at = Math.floor(next() * pages.length)
      const text = (pages[at] as string).split(' ')
      insert(text, PLANTS[plant].text, next)
      pages[at] = text.join(' ')
    }
    const isWord = next() < 0.3
    const name = `${this.word(next)}-${n}.${isWord ? 'docx' : 'pdf'}`
    const type = isWord
      ? 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
      : 'application/pdf'
    return [attachment('1.2', name, type, pages, String(n))]
  }

  /** Zipf's law with exponent 1: the first rank stands in nearly every message. */
  private word(next: () => number): string {
    const rank = Math.floor((this.words.length + 1) ** next()) - 1
    return this.words[Math.min(rank, this.words.length - 1)] as string
  }

  private person(next: () => number): Person {
    const rank = Math.floor((this.people.length + 1) ** next()) - 1
    return this.people[Math.min(rank, this.people.length - 1)] as Person
  }

  private sentence(into: string[], words: number, next: () => number): void {
    for (let i = 0; i < words; i += 1) {
      const word = this.word(next)
      into.push(
        i % 11 === 0
          ? `${word[0]?.toUpperCase()}${word.slice(1)}`
          : i % 11 === 10
            ? `${word}.`
            : word,
      )
    }
  }

  private cjk(chars: number, next: () => number): string {
    let text = ''
    const isJapanese = next() < 0.5
    for (let i = 0; i < chars; i += 1) {
      if (i % 17 === 16) text += '。'
      else if (isJapanese && next() < 0.5)
        text += HIRAGANA[Math.floor(HIRAGANA.length ** next()) - 1] ?? 'ん'
      else text += HAN[Math.floor(HAN.length ** next()) - 1] ?? '一'
    }
    return text
  }
}

type Generator_ = IterableIterator<GeneratedMessage>

function insert(words: string[], text: string, next: () => number): void {
  words.splice(Math.floor(next() * (words.length + 1)), 0, text)
}

function attachment(
  path: string,
  name: string,
  type: string,
  pages: readonly string[],
  content: string,
): GeneratedAttachment {
  const size = pages.reduce((sum, page) => sum + page.length, 5_000)
  return {
    part: {
      path,
      name,
      declaredType: type,
      charset: '',
      disposition: 'attachment',
      hash: createHash('sha256').update(content).digest('hex'),
      size,
    },
    pages: pages.map((text, i) => ({ page: i + 1, text })),
  }
}
