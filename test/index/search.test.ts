import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COLUMNS, type FoldedColumns } from '../../src/fold/columns.js'
import { tokens, type Token } from '../../src/fold/fold.js'
import { isMark, SINGLE } from '../../src/fold/marks.js'
import { ALL_COLUMNS, FIELD_COLUMNS, joinedAlike } from '../../src/index/leaves.js'
import { parseQuery, type QueryNode, type TextNode } from '../../src/index/query.js'
import type { Searcher, SearchOptions } from '../../src/index/search.js'
import { FLAGS } from '../../src/part/reference.js'
import { plant, type Planted, type PlantedVault } from './planted.js'

process.env.TZ = 'Europe/Berlin'

const LETTER: Planted[] = [
  {
    subject: 'Invoice for March',
    from: 'Anna Berg <anna@north.example>',
    to: 'Bo Lund <bo@south.example>',
    body: 'Please find the project plan and the invoice INV-2023-001 over 1,234.50 euros.',
    date: '2014-03-05T10:00:00',
    flags: FLAGS.seen,
  },
  {
    subject: 'Übersicht zum Budget',
    from: 'Bo Lund <bo@south.example>',
    to: 'Anna Berg <anna@north.example>',
    cc: 'Zoë Ek <zoe@north.example>',
    body: 'Straße, Café, ﬁnally. Voicemails about the meeting.',
    date: '2014-03-06T10:00:00',
    folder: 'Archive/2014',
    flags: FLAGS.seen | FLAGS.flagged,
  },
  {
    subject: '東京の会議',
    from: '田中 <tanaka@east.example>',
    body: '2023年度の請求書を送ります。Budget 2024年 plan',
    date: '2015-01-01T00:30:00',
    attachments: [
      { name: 'plan-2015.pdf', pages: ['Introduction', 'The warranty covers the budget meeting'] },
    ],
  },
  {
    subject: 'Holiday',
    from: 'Carl <carl@west.example>',
    body: 'Nothing to see. Plan project, not the other way round.',
    date: '2016-07-01T12:00:00',
    attachments: [{ name: 'warranty.txt', pages: ['terms and conditions'] }],
    folder: 'Sent',
    size: 6_000_000,
    messageId: 'holiday@west.example',
  },
  {
    subject: 'Re: Holiday',
    from: 'Anna Berg <anna@north.example>',
    body: 'Enjoy!',
    date: '2016-07-02T12:00:00',
    references: ['holiday@west.example'],
    labels: ['Travel'],
  },
]

describe('a few letters', () => {
  let vault: PlantedVault
  let searcher: Searcher
  beforeAll(() => {
    vault = plant(LETTER)
    searcher = vault.searcher()
  })
  afterAll(() => vault.close())

  const found = async (typed: string): Promise<number[]> => {
    const { hits } = await searcher.search(typed, { limit: 100 })
    return hits.map((hit) => vault.ids.indexOf(hit.id))
  }

  test.each<[string, number[]]>([
    ['', [4, 3, 2, 1, 0]],
    ['invoice', [0]],
    ['INVOICE', [0]],
    ['voic', [1, 0]],
    ['"voic"', []],
    ['"voic*"', [1]],
    ['voice*', [1]],
    ['budget', [2, 1]],
    ['budget meeting', [2, 1]],
    ['budget -meeting', []],
    ['budget -warranty', [1]],
    ['-budget', [4, 3, 0]],
    ['-budget -invoice', [4, 3]],
    ['invoice OR enjoy', [4, 0]],
    ['(invoice OR enjoy) -euros', [4]],
    ['"project plan"', [0]],
    ['project plan', [3, 0]],
    ['übersicht', [1]],
    ['ubersicht', [1]],
    ['strasse', [1]],
    ['cafe', [1]],
    ['finally', [1]],
    ['zoe', [1]],
    ['cc:zoe', [1]],
    ['to:zoe', []],
    ['from:anna', [4, 0]],
    ['to:anna', [1]],
    ['people:anna', [4, 1, 0]],
    ['from:(anna OR carl) -enjoy', [3, 0]],
    ['from:anna@north.example', [4, 0]],
    ['subject:invoice', [0]],
    ['subject:project', []],
    ['attachment:warranty', [2]],
    ['filename:warranty', [3]],
    ['filename:plan', [2]],
    ['warranty', [3, 2]],
    ['body:warranty', []],
    ['type:pdf', [2]],
    ['has:attachment', [3, 2]],
    ['-has:attachment', [4, 1, 0]],
    ['has:attachment -type:pdf', [3]],
    ['INV-2023-001', [0]],
    ['INV2023001', [0]],
    ['inv-2023', [0]],
    ['nv-2023-00', [0]],
    ['1,234.50', [0]],
    ['1234.50', [0]],
    ['東京', [2]],
    ['京', [2]],
    ['会', [2]],
    ['請求書', [2]],
    ['求書を', [2]],
    ['書求', []],
    ['2023年', [2]],
    ['2023年度', [2]],
    ['2024年度', []],
    ['年度 budget', [2]],
    ['"budget 2024年"', [2]],
    ['田中', [2]],
    ['from:田', [2]],
    ['bo', [1, 0]],
    ['er', [4, 2, 1, 0].filter((n) => n !== 2)],
    ['is:unread', [4, 3, 2]],
    ['is:read', [1, 0]],
    ['is:flagged', [1]],
    ['-is:flagged -is:unread', [0]],
    ['is:unread OR invoice', [4, 3, 2, 0]],
    ['(is:unread OR is:flagged) budget', [2, 1]],
    ['in:inbox', [4, 2, 0]],
    ['in:archive', [1]],
    ['in:2014', [1]],
    ['in:archive/2014', [1]],
    ['in:nowhere', []],
    ['-in:inbox', [3, 1]],
    ['in:travel', [4]],
    ['in:sent budget', []],
    ['larger:5M', [3]],
    ['smaller:5M', [4, 2, 1, 0]],
    ['larger:5M warranty', [3]],
    ['before:2014-03-06', [0]],
    ['after:2014-03-06', [4, 3, 2, 1]],
    ['on:2014-03-06', [1]],
    ['on:2014', [1, 0]],
    ['after:2014 before:2015', [1, 0]],
    ['on:2015-01-01', [2]],
    ['before:2015 budget', [1]],
    ['-on:2014', [4, 3, 2]],
    ['on:2014 OR enjoy', [4, 1, 0]],
    ['thread:holiday@west.example', [4, 3]],
    ['thread:"Sent/1 <holiday@west.example>"', [4, 3]],
    ['thread:<holiday@west.example> enjoy', [4]],
    ['thread:nobody@nowhere.example', []],
    ['nothing:here', []],
    ['xyzzy', []],
    ['invocie', [0]],
    ['lnv0ice', [0]],
    ['wamanty', [3, 2]],
    ['warrantee budgget', [2]],
    ['from:annna@north.example', [4, 0]],
    ['"invocie"', []],
    ['"" ()', [4, 3, 2, 1, 0]],
    ['- — &', [4, 3, 2, 1, 0]],
  ])('%s finds %j', async (typed, expected) => {
    expect(await found(typed)).toEqual(expected)
  })

  test('a hit carries its row and the fields that matched', async () => {
    const { hits, count, more, coverage } = await searcher.search('warranty', { limit: 10 })
    expect(count).toBe(2)
    expect(more).toBe(false)
    expect(coverage).toEqual({ contents: 2, readable: 2, pending: 0, unreadable: 0 })
    expect(hits[1]).toMatchObject({
      subject: '東京の会議',
      from: '田中 <tanaka@east.example>',
      folder: 'INBOX',
      flags: [],
      attachments: ['plan-2015.pdf'],
      matched: ['attachments'],
      attachmentOnly: true,
      path: 'INBOX/cur/2:2,',
      messageId: '2@planted.example',
    })
    expect(hits[0]).toMatchObject({ matched: ['filenames'], attachmentOnly: false })
  })

  test('an excerpt names the attachment and the page, and marks the words of the original', async () => {
    const { hits } = await searcher.search('warranty OR straße', { limit: 10 })
    const excerpts = await searcher.excerpts(hits)
    expect(excerpts.map(({ snippet }) => snippet)).toEqual([
      'Nothing to see. Plan project, not the other way round.',
      '2023年度の請求書を送ります。Budget 2024年 plan',
      '\u0002Straße\u0003, Café, ﬁnally. Voicemails about the meeting.',
    ])
    expect(excerpts[1]?.attachments).toMatchObject([
      {
        name: 'plan-2015.pdf',
        page: 2,
        snippet: 'The \u0002warranty\u0003 covers the budget meeting',
      },
    ])
    expect(excerpts[0]?.attachments).toMatchObject([{ name: 'warranty.txt', snippet: '' }])
  })

  test('similar words are named, and only taken when nothing matches exactly', async () => {
    const close = await searcher.search('meetnig')
    expect(close).toMatchObject({ tier: 'close', terms: ['meeting'], count: 2 })
    expect(await searcher.search('meeting')).toMatchObject({ tier: 'exact', count: 2 })
  })

  test('an option that makes no sense is named with its rule', async () => {
    for (const [options, rule] of [
      [{ limit: -1 }, /^limit must/],
      [{ after: 'x' }, /^after must/],
      [{ sort: 'best' }, /^sort must/],
      [{ by: 'folder' }, /^by must/],
      [{ countBy: 'size' }, /^countBy must/],
    ] as const)
      await expect(searcher.search('', options as unknown as SearchOptions)).rejects.toThrow(rule)
  })

  test('a conversation, a document or a count draws matches together', async () => {
    const threads = await searcher.search('', { by: 'thread' })
    expect(threads.hits.map(({ id, messages }) => [vault.ids.indexOf(id), messages])).toEqual([
      [4, 2],
      [2, 1],
      [1, 1],
      [0, 1],
    ])
    const [first] = (await searcher.search('', { by: 'thread', limit: 1 })).hits
    const second = await searcher.search('', { by: 'thread', limit: 1, after: String(first?.id) })
    expect(vault.ids.indexOf(second.hits[0]?.id as number)).toBe(2)

    const documents = await searcher.search('warranty', { by: 'document' })
    expect(documents.hits.map(({ document }) => document)).toMatchObject([
      { name: 'warranty.txt', messages: 1 },
      { name: 'plan-2015.pdf', messages: 1 },
    ])

    const counts = async (countBy: 'from' | 'year' | 'folder' | 'type'): Promise<unknown> =>
      (await searcher.search('', { countBy })).counts?.map(({ value, messages }) => [
        value,
        messages,
      ])
    expect(await counts('year')).toEqual([
      ['2016', 2],
      ['2015', 1],
      ['2014', 2],
    ])
    expect(await counts('folder')).toEqual([
      ['INBOX', 3],
      ['Archive/2014', 1],
      ['Sent', 1],
    ])
    expect(await counts('from')).toContainEqual(['anna@north.example', 2])
    expect(await counts('type')).toContainEqual(['pdf', 1])
  })

  test('relevance puts a word in the subject before one in the body', async () => {
    const { hits } = await searcher.search('budget', { sort: 'relevance' })
    expect(hits.map((hit) => vault.ids.indexOf(hit.id))).toEqual([1, 2])
  })

  test('pages follow each other without gaps or repeats', async () => {
    const seen: number[] = []
    let after: string | undefined
    do {
      const page = await searcher.search('', { limit: 2, ...(after && { after }) })
      seen.push(...page.hits.map((hit) => vault.ids.indexOf(hit.id)))
      after = page.next
    } while (after)
    expect(seen).toEqual([4, 3, 2, 1, 0])
  })
})

/** Texts from few words, so that they meet often; in every script and column. */
const WORDS = [
  'budget',
  'budgets',
  'meeting',
  'meet',
  'invoice',
  'voicemail',
  'plan',
  'project',
  'planning',
  'an',
  'a',
  'übersicht',
  'Straße',
  'INV-2023-001',
  'INV2023001',
  '1,234.50',
  '1234',
  '東京',
  '東京都',
  '京都',
  '都',
  '請求書',
  '請求',
  'カタカナ',
  'ガ',
  '2023年',
  '年',
  '회의',
  'การประชุม',
  'бюджет',
  'ёлка',
  'مرحبا',
  'שלום',
  'ﬁn',
  'e\u0301te\u0301',
  'été',
  'x@y.example',
]
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 7 }).map((words) => words.join(' '))
const planted: fc.Arbitrary<Planted> = fc.record({
  subject: text,
  from: text,
  to: text,
  cc: text,
  body: text,
  attachments: fc.array(
    fc.record({
      name: fc.constantFrom('plan.pdf', 'budget.txt', '請求書.pdf'),
      pages: fc.array(text, { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
  flags: fc.integer({ min: 0, max: 3 }),
  folder: fc.constantFrom('INBOX', 'Archive'),
  date: fc.constantFrom('2014-01-01T00:00:00', '2014-12-31T23:59:59', '2015-06-01T12:00:00'),
  size: fc.integer({ min: 1, max: 10 }),
})

const FIELD = [
  'from:',
  'to:',
  'cc:',
  'people:',
  'subject:',
  'body:',
  'attachment:',
  'filename:',
  '',
]
const leafText = fc
  .tuple(
    fc.constantFrom(...FIELD, '', '', '', ''),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...WORDS) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          'udge',
          'voic',
          'eti',
          'lan',
          'bu',
          'pl',
          '京',
          'カ',
          'nv-2023',
          '234.5',
          'bud*',
        ),
      },
      {
        weight: 2,
        arbitrary: fc
          .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 })
          .map((words) => `"${words.join(' ')}"`),
      },
    ),
  )
  .map(([field, word]) => field + word)
const { query } = fc.letrec<{ query: string }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leafText,
    fc.constantFrom(
      'is:unread',
      'is:flagged',
      'in:inbox',
      'on:2014',
      'after:2015',
      'larger:5',
      'smaller:5',
      'has:attachment',
      'type:pdf',
    ),
    fc.tuple(tie('query'), tie('query')).map(([a, b]) => `(${a} ${b})`),
    fc.tuple(tie('query'), tie('query')).map(([a, b]) => `(${a} OR ${b})`),
    fc.tuple(tie('query'), tie('query'), tie('query')).map(([a, b, c]) => `(${a} ${b} -${c})`),
    tie('query').map((a) => `-${a}`),
  ),
}))

/** Tokens of each column; marks of ours stay, so that no phrase reaches across them. */
type Naive = Planted & { columns: FoldedColumns }

function columnTokens({ columns }: Naive, mask: number): string[][] {
  return COLUMNS.filter((_, i) => mask & (1 << i)).map((column) => columns[column].split(' '))
}

/** The rules of a word or phrase, written as a scan. */
function holdsText(node: TextNode, message: Naive): boolean {
  const mask = node.field ? FIELD_COLUMNS[node.field] : ALL_COLUMNS
  const wanted = tokens(node.text)
  if (wanted.length === 0) return true
  if (wanted.length === 1 && wanted[0]?.run) {
    const single = SINGLE + wanted[0].text
    return columnTokens(message, mask).some((all) => all.includes(single))
  }
  const inner = wanted.slice(
    wanted[0]?.run === 'first' ? 1 : 0,
    wanted.at(-1)?.run === 'last' ? -1 : undefined,
  )
  const joined = joinedAlike(node.text, wanted).map((parts) => parts.map((text) => ({ text })))
  return [inner, ...joined].some((parts) => holdsParts(node, parts, mask, message))
}

function holdsParts(
  { quoted, prefix }: TextNode,
  parts: ReadonlyArray<Pick<Token, 'text' | 'run'>>,
  mask: number,
  message: Naive,
): boolean {
  const last = parts.length - 1
  const first = parts[0] as Pick<Token, 'text' | 'run'>
  return COLUMNS.some((column, c) => {
    if (!(mask & (1 << c))) return false
    const all = message.columns[column].split(' ').filter(Boolean)
    const isHead = ['subject', 'sender', 'recipients', 'copies'].includes(column)
    return all.some((_, at) =>
      parts.every(({ text: token, run }, i) => {
        const here = all[at + i]
        if (here === undefined || isMark(here)) return false
        if (run) return here === token
        if (last === 0) {
          if (prefix) return here.startsWith(first.text)
          const isShort = [...first.text].length < 3
          if (quoted || (isShort && !isHead)) return here === first.text
          return here.includes(first.text)
        }
        if (i === 0 && !quoted) return here.endsWith(token)
        if (i === last && (prefix || !quoted)) return here.startsWith(token)
        return here === token
      }),
    )
  })
}

function holds(node: QueryNode | null, message: Naive): boolean {
  if (!node) return true
  switch (node.kind) {
    case 'text':
      return holdsText(node, message)
    case 'and':
      return node.of.every((of) => holds(of, message))
    case 'or':
      return node.of.some((of) => holds(of, message))
    case 'not':
      return !holds(node.of, message)
    case 'flag':
      return (((message.flags ?? 0) & node.bit) !== 0) === node.set
    case 'folder':
      return message.folder?.toLowerCase() === node.name
    case 'size':
      return (message.size ?? 0) > (node.above ?? -1) && (message.size ?? 0) < (node.below ?? 1e12)
    case 'date': {
      const date = new Date(message.date as string).getTime() / 1000
      return date >= (node.from ?? -Infinity) && date < (node.until ?? Infinity)
    }
    case 'has-attachment':
      return (message.attachments?.length ?? 0) > 0
    case 'type':
      return (message.attachments ?? []).some(({ name }) => name.endsWith(`.${node.name}`))
    case 'thread':
      return false
  }
}

test('a search agrees with a scan of the same texts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(planted, { minLength: 1, maxLength: 12 }),
      fc.array(query, { minLength: 1, maxLength: 25 }),
      async (messages, queries) => {
        const vault = plant(messages)
        try {
          const searcher = vault.searcher()
          const naive = messages.map((message, i) => ({
            ...message,
            columns: vault.columns[i] as FoldedColumns,
          }))
          for (const typed of queries) {
            const { tree } = parseQuery(typed)
            const expected = vault.ids
              .filter((_, i) => holds(tree, naive[i] as Naive))
              .sort((a, b) => b - a)
            const { hits, count, tier } = await searcher.search(typed, { limit: 1_000 })
            if (tier === 'close') {
              expect(expected).toEqual([])
              continue
            }
            expect({ typed, ids: hits.map((hit) => hit.id) }).toEqual({ typed, ids: expected })
            expect(count).toBe(expected.length)
          }
        } finally {
          vault.close()
        }
      },
    ),
    { numRuns: 40 },
  )
}, 120_000)
