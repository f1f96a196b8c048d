import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  FIELDS,
  QUERY_LIMITS,
  join,
  negate,
  parseQuery,
  type QueryNode,
} from '../../src/index/query.js'

process.env.TZ = 'Europe/Berlin'

const NOW = new Date('2014-03-05T12:00:00+01:00')
const at = (local: string): number => Math.floor(new Date(local).getTime() / 1000)

/** A tree as one line, so that a table of queries can be read. */
function show(node: QueryNode | null): string {
  if (!node) return 'everything'
  switch (node.kind) {
    case 'text': {
      const text = node.quoted ? `"${node.text}"` : node.text
      return `${node.field ? `${node.field}:` : ''}${text}${node.prefix ? '*' : ''}`
    }
    case 'and':
    case 'or':
      return `(${node.of.map(show).join(node.kind === 'and' ? ' & ' : ' | ')})`
    case 'not':
      return `!${show(node.of)}`
    case 'date':
      return `date[${node.from ?? ''}..${node.until ?? ''}]`
    case 'flag':
      return `flag[${node.bit}${node.set ? '+' : '-'}]`
    case 'size':
      return `size[${node.above ?? ''}..${node.below ?? ''}]`
    case 'folder':
      return `folder[${node.name}]`
    case 'thread':
      return `thread[${node.of}]`
    case 'type':
      return `type[${node.name}]`
    case 'has-attachment':
      return 'has-attachment'
  }
}

const read = (typed: string): string => show(parseQuery(typed, NOW).tree)

test.each([
  ['', 'everything'],
  ['   \n\t ', 'everything'],
  ['budget', 'budget'],
  ['budget meeting', '(budget & meeting)'],
  ['budget AND meeting', '(budget & meeting)'],
  ['budget and meeting', '(budget & and & meeting)'],
  ['budget OR meeting', '(budget | meeting)'],
  ['budget or meeting', '(budget & or & meeting)'],
  ['a b OR c d', '((a & b) | (c & d))'],
  ['a OR b OR c', '(a | b | c)'],
  ['a (b OR c)', '(a & (b | c))'],
  ['a (b c)', '(a & b & c)'],
  ['a -b', '(a & !b)'],
  ['a NOT b', '(a & !b)'],
  ['a AND NOT b', '(a & !b)'],
  ['a −b －c', '(a & !b & !c)'],
  ['NOT NOT a', 'a'],
  ['-(a OR b)', '!(a | b)'],
  ['-"a b"', '!"a b"'],
  ['-from:anna', '!from:anna'],
  ['(-a)', '!a'],
  ['re-use', 're-use'],
  ['a - b', '(a & - & b)'],
  ['--force', '--force'],
  ['"project plan"', '"project plan"'],
  ['“project plan”', '"project plan"'],
  ['„Projekt Plan“', '"Projekt Plan"'],
  ['«plan de projet»', '"plan de projet"'],
  ['»Projekt Plan«', '"Projekt Plan"'],
  ['「請求書 東京」', '"請求書 東京"'],
  ['"a" "b c"', '("a" & "b c")'],
  ['"project pl', '"project pl"*'],
  ['"project ', '"project "'],
  ['5" screen', '(5 & screen)'],
  ['"inv*"', '"inv"*'],
  ['"inv"*', '"inv"*'],
  ['inv*', 'inv*'],
  ['*', 'everything'],
  ['""', 'everything'],
  ['from:anna', 'from:anna'],
  ['FROM:anna', 'from:anna'],
  ['from： anna', 'from:anna'],
  ['from:"Anna Berg"', 'from:"Anna Berg"'],
  ['from:“Anna Berg”', 'from:"Anna Berg"'],
  ['from:anna@example.com', 'from:anna@example.com'],
  ['from:(anna OR bob) plan', '((from:anna | from:bob) & plan)'],
  ['subject:(a -b to:c)', '(subject:a & !subject:b & to:c)'],
  ['from:', 'everything'],
  ['from: AND plan', 'plan'],
  ['from:-anna', 'from:-anna'],
  ['subject:re:plan', 'subject:re:plan'],
  [
    'to:a cc:b people:c body:d attachment:e filename:f',
    '(to:a & cc:b & people:c & body:d & attachment:e & filename:f)',
  ],
  ['http://example.com/x', 'http://example.com/x'],
  ['12:30', '12:30'],
  ['constructor:x toString:y __proto__:z', '(constructor:x & toString:y & __proto__:z)'],
  ['is:unread', 'flag[1-]'],
  ['is:flagged', 'flag[2+]'],
  ['-is:read', '!flag[1+]'],
  ['has:attachment', 'has-attachment'],
  ['has:pdf', 'type[pdf]'],
  ['type:.PDF', 'type[pdf]'],
  ['type:(pdf OR word)', '(type[pdf] | type[word])'],
  ['in:INBOX', 'folder[INBOX]'],
  ['in:"Sent Mail"', 'folder[Sent Mail]'],
  ['in:anywhere plan', 'plan'],
  ['thread:<a@b>', 'thread[a@b]'],
  ['larger:5M', 'size[5000000..]'],
  ['smaller:1.5MB', 'size[..1500000]'],
  ['larger:10k smaller:2GiB', '(size[10000..] & size[..2147483648])'],
  ['is:happy', 'is:happy'],
  ['before:soon', 'before:soon'],
  [')', 'everything'],
  ['((((', 'everything'],
  ['a) b', '(a & b)'],
  ['(a', 'a'],
  ['OR', 'everything'],
  ['OR a OR', 'a'],
  ['a OR OR b', '(a | b)'],
  ['AND NOT', 'everything'],
  ['NOT OR a', 'a'],
  ['a\u0000b', '(a & b)'],
  ['a\ud800b', '(a & b)'],
  ['😀 a', '(😀 & a)'],
])('%s reads as %s', (typed, tree) => {
  expect(read(typed)).toBe(tree)
})

describe('days are local time', () => {
  const day = [at('2014-03-05T00:00:00+01:00'), at('2014-03-06T00:00:00+01:00')]
  test.each([
    ['on:2014-03-05', `date[${day[0]}..${day[1]}]`],
    ['on:2014-3-5', `date[${day[0]}..${day[1]}]`],
    ['on:2014/03/05', `date[${day[0]}..${day[1]}]`],
    ['on:20140305', `date[${day[0]}..${day[1]}]`],
    ['on:5.3.2014', `date[${day[0]}..${day[1]}]`],
    ['on:05-03-2014', `date[${day[0]}..${day[1]}]`],
    ['on:3/5/2014', `date[${day[0]}..${day[1]}]`],
    ['on:２０１４-03-05', `date[${day[0]}..${day[1]}]`],
    ['on:today', `date[${day[0]}..${day[1]}]`],
    ['after:2014-03-05', `date[${day[0]}..]`],
    ['before:2014-03-05', `date[..${day[0]}]`],
    ['after:2014', `date[${at('2014-01-01T00:00:00+01:00')}..]`],
    ['before:2014', `date[..${at('2014-01-01T00:00:00+01:00')}]`],
    ['on:2014-07', `date[${at('2014-07-01T00:00:00+02:00')}..${at('2014-08-01T00:00:00+02:00')}]`],
    [
      'on:2013..2014',
      `date[${at('2013-01-01T00:00:00+01:00')}..${at('2015-01-01T00:00:00+01:00')}]`,
    ],
    ['on:2014..', `date[${at('2014-01-01T00:00:00+01:00')}..]`],
    ['newer:7d', `date[${at('2014-02-26T12:00:00+01:00')}..]`],
    ['older:1y', `date[..${at('2013-03-05T12:00:00+01:00')}]`],
    ['newer_than:2w', `date[${at('2014-02-19T12:00:00+01:00')}..]`],
    ['newer:1m', `date[${at('2014-02-05T12:00:00+01:00')}..]`],
  ])('%s reads as %s', (typed, tree) => {
    expect(read(typed)).toBe(tree)
  })

  test.each([
    'on:2014-02-30',
    'on:2014-13',
    'on:0',
    'before:1.2',
    'on:..',
    'on:1..2..3',
    'newer:d',
  ])('%s is no day and is searched as words, with a notice', (typed) => {
    const { tree, notices } = parseQuery(typed, NOW)
    expect(show(tree)).toBe(typed)
    expect(notices).toHaveLength(1)
  })

  test('a month back from the 31st is the last day of the shorter month', () => {
    const now = new Date('2014-03-31T12:00:00+02:00')
    expect(show(parseQuery('newer:1m', now).tree)).toBe(
      `date[${at('2014-02-28T12:00:00+01:00')}..]`,
    )
  })
})

test('a query beyond a cap is read up to it, with a notice', () => {
  const long = parseQuery('word '.repeat(2_000), NOW)
  expect(long.notices).toHaveLength(2)
  expect(long.tree?.kind === 'and' && long.tree.of.length).toBe(QUERY_LIMITS.terms)
  const deep = parseQuery('('.repeat(500) + 'a' + ')'.repeat(500), NOW)
  expect(show(deep.tree)).toBe('a')
  expect(deep.notices).toHaveLength(1)
  expect(parseQuery('NOT '.repeat(900) + 'a', NOW).tree?.kind).toBe('text')
})

/** Nodes of a tree and its depth; a flat tree has no AND right inside an AND. */
function measure(node: QueryNode): { terms: number; depth: number } {
  if (node.kind === 'not') {
    expect(node.of.kind).not.toBe('not')
    const inside = measure(node.of)
    return { terms: inside.terms, depth: inside.depth + 1 }
  }
  if (node.kind !== 'and' && node.kind !== 'or') return { terms: 1, depth: 1 }
  expect(node.of.length).toBeGreaterThan(1)
  const inside = node.of.map((of) => {
    expect(of.kind).not.toBe(node.kind)
    return measure(of)
  })
  return {
    terms: inside.reduce((sum, of) => sum + of.terms, 0),
    depth: 1 + Math.max(...inside.map((of) => of.depth)),
  }
}

const PIECES = [
  '(',
  ')',
  '（',
  '"',
  '“',
  '”',
  '«',
  '「',
  '」',
  '-',
  '*',
  ':',
  '：',
  ' ',
  '\u3000',
  '\u0000',
  '\ud800',
  '\udfff',
  'OR',
  'AND',
  'NOT',
  'or',
  'from:',
  'subject:',
  'in:',
  'is:unread',
  'before:',
  'on:2014',
  'larger:5M',
  'type:',
  'has:attachment',
  'thread:',
  'budget',
  'übersicht',
  '東京',
  'a',
  'ﬁ',
  '5.3.2014',
  '1,234.50',
  'INV-2023-001',
  "'",
  '\\',
  ';',
  '%',
]

test('no text is an error, and every tree is flat and within the caps', () => {
  const typed = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 300 }).map((pieces) => pieces.join('')),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 600 }).map((pieces) => pieces.join(' ')),
  )
  fc.assert(
    fc.property(typed, (text) => {
      const { tree } = parseQuery(text, NOW)
      if (!tree) return
      const { terms, depth } = measure(tree)
      expect(terms).toBeLessThanOrEqual(QUERY_LIMITS.terms)
      expect(depth).toBeLessThanOrEqual(QUERY_LIMITS.depth * 4 + 4)
    }),
    { numRuns: 500 },
  )
})

/** Trees that can be written down; parts of an AND or OR are put together by `join`, so they are flat. */
const { tree: anyTree } = fc.letrec<{ tree: QueryNode }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('text' as const),
      text: fc.stringMatching(/^[a-zäöü東京]{1,6}$/),
      quoted: fc.boolean(),
      prefix: fc.boolean(),
      field: fc.option(fc.constantFrom(...FIELDS)),
    }),
    fc.constant<QueryNode>({ kind: 'has-attachment' }),
    fc.array(tie('tree'), { minLength: 2, maxLength: 4 }).map((of) => join('and', of) as QueryNode),
    fc.array(tie('tree'), { minLength: 2, maxLength: 4 }).map((of) => join('or', of) as QueryNode),
    tie('tree').map(negate),
  ),
}))

function write(node: QueryNode): string {
  if (node.kind === 'text') {
    const text = node.quoted ? `"${node.text}"` : node.text
    return `${node.field ? `${node.field}:` : ''}${text}${node.prefix ? '*' : ''}`
  }
  if (node.kind === 'not') return `-${write(node.of)}`
  if (node.kind === 'and') return `(${node.of.map(write).join(' ')})`
  if (node.kind === 'or') return `(${node.of.map(write).join(' OR ')})`
  return 'has:attachment'
}

test('a tree that is written down reads as the same tree', () => {
  fc.assert(
    fc.property(anyTree, (tree) => {
      fc.pre(measure(tree).depth < QUERY_LIMITS.depth && measure(tree).terms < QUERY_LIMITS.terms)
      expect(show(parseQuery(write(tree), NOW).tree)).toBe(show(tree))
    }),
  )
})
