import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CONTENT_STATES, DECLINED_STATES, type ContentState } from '../../src/part/states.js'
import { hasTransition, transition, type ContentEvent } from '../../src/sweep/transition.js'

/** The states table of DESIGN.md, once more, by hand. */
const TABLE: Array<[ContentState, ContentEvent, ContentState]> = [
  ['pending', { kind: 'claimed' }, 'extracting'],
  ['pending', { kind: 'declined', state: 'too-large' }, 'too-large'],
  ['extracting', { kind: 'extracted' }, 'ok'],
  ['extracting', { kind: 'extracted', leavesPages: true }, 'pending'],
  ['extracting', { kind: 'declined', state: 'locked' }, 'locked'],
  ['extracting', { kind: 'faulted', isLast: false }, 'failed-transient'],
  ['extracting', { kind: 'faulted', isLast: true }, 'gave-up'],
  ['extracting', { kind: 'died', isLast: false }, 'failed-transient'],
  ['extracting', { kind: 'died', isLast: true }, 'gave-up'],
  ['extracting', { kind: 'interrupted' }, 'pending'],
  ['failed-transient', { kind: 'claimed' }, 'extracting'],
  ['failed-transient', { kind: 'forced' }, 'pending'],
  ['ok', { kind: 'stale' }, 'pending'],
  ['damaged', { kind: 'stale' }, 'pending'],
  ['unsupported', { kind: 'forced' }, 'pending'],
  ['gave-up', { kind: 'forced' }, 'pending'],
]

test.each(TABLE)('%s on %j becomes %s', (from, event, to) => {
  expect(transition(from, event)).toBe(to)
})

test('a poison file is ended by force only, and no state is a dead end', () => {
  expect(hasTransition('gave-up', 'stale')).toBe(false)
  expect(() => transition('gave-up', { kind: 'stale' })).toThrow('no transition from gave-up')
  for (const state of CONTENT_STATES)
    expect(hasTransition(state, 'forced') || state === 'extracting').toBe(true)
})

test('any walk along the table stays in the list of states', () => {
  const event: fc.Arbitrary<ContentEvent> = fc.oneof(
    fc.constantFrom<ContentEvent>(
      { kind: 'claimed' },
      { kind: 'extracted' },
      { kind: 'interrupted' },
      { kind: 'stale' },
      { kind: 'forced' },
    ),
    fc.boolean().map((isLast): ContentEvent => ({ kind: 'faulted', isLast })),
    fc.boolean().map((isLast): ContentEvent => ({ kind: 'died', isLast })),
    fc.constantFrom(...DECLINED_STATES).map((state): ContentEvent => ({ kind: 'declined', state })),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      let state: ContentState = 'pending'
      for (const next of events)
        if (hasTransition(state, next.kind)) state = transition(state, next)
      expect(CONTENT_STATES).toContain(state)
    }),
  )
})
