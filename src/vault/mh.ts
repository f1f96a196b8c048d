/** MH folders: one file a message, named by its number; flags in `.mh_sequences`. */
import { FLAGS } from '../part/reference.js'

export const SEQUENCES = '.mh_sequences'

/** Numbers are messages. */
export function isMhName(name: string): boolean {
  return /^[1-9]\d{0,9}$/.test(name)
}

/**
 * @param text of `.mh_sequences`
 * @returns FLAGS bits of a message number
 */
export function mhFlags(text: string): (number: number) => number {
  const unseen: Range[] = []
  const sets: Array<[number, Range[]]> = []
  for (const line of text.split('\n')) {
    const match = /^([\w-]+):\s*(.*)$/.exec(line)
    if (!match) continue
    const ranges = (match[2] as string).split(/\s+/).flatMap((range) => {
      const bounds = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(range)
      return bounds ? [[Number(bounds[1]), Number(bounds[2] ?? bounds[1])] as Range] : []
    })
    const name = (match[1] as string).toLowerCase()
    if (name === 'unseen') unseen.push(...ranges)
    else if (name === 'flagged') sets.push([FLAGS.flagged, ranges])
    else if (name === 'replied' || name === 'answered') sets.push([FLAGS.answered, ranges])
    else if (name === 'forwarded') sets.push([FLAGS.passed, ranges])
    else if (name === 'draft') sets.push([FLAGS.draft, ranges])
  }
  return (number) => {
    let flags = isIn(unseen, number) ? 0 : (FLAGS.seen as number)
    for (const [flag, ranges] of sets) if (isIn(ranges, number)) flags |= flag
    return flags
  }
}

type Range = [number, number]

function isIn(ranges: readonly Range[], number: number): boolean {
  return ranges.some(([from, to]) => number >= from && number <= to)
}
