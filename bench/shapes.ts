/** The shapes of search that are measured, each with the number of messages that must match where it was planted. */
import type { SearchOptions } from '../src/index/search.js'
import {
  backgroundWord,
  carries,
  carriesRare,
  dateOf,
  hasAttachment,
  type Corpus,
  type Plant,
} from './generate.js'

export interface Shape {
  readonly name: string
  readonly query: string
  /** Whether message `n` matches; absent where nothing was planted to know it. */
  readonly matches?: (n: number, corpus: Corpus) => boolean
  readonly options?: Pick<SearchOptions, 'sort' | 'by'>
  /** A page that begins in the middle of the matches. */
  readonly isDeep?: boolean
  readonly tier?: 'close'
  /** Corpora that hold what it asks for. Default: all. */
  readonly corpora?: ReadonlyArray<Corpus['name']>
}

const has =
  (plant: Plant) =>
  (n: number, corpus: Corpus): boolean =>
    carries(corpus, n, plant)

/** The commonest word of the background. */
const COMMON = backgroundWord(0)

const withAttachments = ['short', 'cjk'] as const

export const SHAPES: readonly Shape[] = [
  // the five of MailVault's description
  {
    name: 'word',
    query: 'invoice',
    matches: (n, c) => carries(c, n, 'invoice') || carries(c, n, 'attachment'),
  },
  {
    name: 'two-words',
    query: 'budget meeting',
    matches: (n, c) => carries(c, n, 'budget') && carries(c, n, 'meeting'),
  },
  { name: 'phrase', query: '"project plan"', matches: has('phrase') },
  { name: 'japanese', query: '請求書', matches: has('japanese') },
  { name: 'accented', query: 'ubersicht', matches: has('accent') },
  // our own
  { name: 'prefix', query: 'inspec*', matches: has('inspect') },
  { name: 'prefix-of-thousands', query: 'ba*' },
  {
    name: 'substring-in-one',
    query: 'voic',
    matches: (n, c) =>
      carries(c, n, 'invoice') || carries(c, n, 'attachment') || carries(c, n, 'voicemail'),
  },
  { name: 'substring-in-hundreds', query: 'ban' },
  { name: 'substring-of-the-commonest', query: COMMON },
  {
    name: 'two-substrings',
    query: 'nvoic udge',
    matches: (n, c) =>
      (carries(c, n, 'invoice') || carries(c, n, 'attachment')) && carries(c, n, 'budget'),
  },
  { name: 'two-letters', query: 'ba' },
  { name: 'phrase-across-cjk', query: '東京の請求書', matches: has('japanese') },
  { name: 'kana', query: 'ミーティング', matches: has('kana') },
  { name: 'cjk-character', query: '京', matches: has('japanese') },
  { name: 'accented-phrase', query: '"creme brulee"', matches: has('french') },
  { name: 'amount', query: '1234.50', matches: has('amount') },
  { name: 'identifier', query: 'REF-2016-1' },
  { name: 'from-word-common-elsewhere', query: 'from:xantippe', matches: has('nameAsSender') },
  {
    name: 'attachment-word-common-elsewhere',
    query: 'attachment:invoice',
    matches: has('attachment'),
    corpora: withAttachments,
  },
  { name: 'subject', query: 'subject:itinerary', matches: has('subject') },
  {
    name: 'date-range',
    query: 'budget after:2016 before:2018',
    matches: (n, c) => carries(c, n, 'budget') && isBetween(c, n, 2016, 2018),
  },
  {
    name: 'date-alone',
    query: 'on:2016',
    matches: (n, c) => isBetween(c, n, 2016, 2017),
  },
  { name: 'unread', query: 'is:unread', matches: has('unread') },
  {
    name: 'unread-and-word',
    query: 'is:unread budget',
    matches: (n, c) => carries(c, n, 'unread') && carries(c, n, 'budget'),
  },
  { name: 'unread-and-commonest', query: `is:unread "${COMMON}"` },
  { name: 'in', query: 'in:archive', matches: has('archived') },
  {
    name: 'in-and-word',
    query: 'in:archive invoice',
    matches: (n, c) =>
      carries(c, n, 'archived') && (carries(c, n, 'invoice') || carries(c, n, 'attachment')),
  },
  { name: 'larger', query: 'larger:5M', matches: has('large') },
  {
    name: 'larger-and-word',
    query: 'larger:5M budget',
    matches: (n, c) => carries(c, n, 'large') && carries(c, n, 'budget'),
  },
  {
    name: 'has-attachment',
    query: 'has:attachment',
    matches: (n, c) => hasAttachment(c, n),
    corpora: withAttachments,
  },
  {
    name: 'rare-and-common',
    query: `zugzwang "${COMMON}"`,
  },
  { name: 'rare', query: 'zugzwang', matches: (n, c) => carriesRare(c.messages, n, 'zugzwang') },
  {
    name: 'three-way-or',
    query: 'invoice OR budget OR meeting',
    matches: (n, c) =>
      carries(c, n, 'invoice') ||
      carries(c, n, 'attachment') ||
      carries(c, n, 'budget') ||
      carries(c, n, 'meeting'),
  },
  {
    name: 'not',
    query: 'budget -meeting',
    matches: (n, c) => carries(c, n, 'budget') && !carries(c, n, 'meeting'),
  },
  { name: 'not-alone', query: '-budget', matches: (n, c) => !carries(c, n, 'budget') },
  { name: 'typo', query: 'quartrely', matches: has('quarterly'), tier: 'close' },
  {
    name: 'attachment-only',
    query: 'warranty',
    matches: has('attachmentOnly'),
    corpora: withAttachments,
  },
  {
    name: 'relevance',
    query: 'budget',
    matches: has('budget'),
    options: { sort: 'relevance' },
  },
  { name: 'deep-page', query: 'budget', matches: has('budget'), isDeep: true },
  {
    name: 'one-content-in-many',
    query: 'brochure',
    matches: has('brochure'),
    corpora: withAttachments,
  },
  { name: 'conversations', query: 'budget', matches: has('budget'), options: { by: 'thread' } },
  { name: 'everything', query: '', matches: () => true },
]

/** In a range of years of local time. */
function isBetween(corpus: Corpus, n: number, from: number, until: number): boolean {
  const date = dateOf(corpus, n) * 1000
  return date >= new Date(from, 0, 1).getTime() && date < new Date(until, 0, 1).getTime()
}
