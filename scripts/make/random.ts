/** Numbers that are the same on every run and machine: for made-up pictures, mutations and faults. */

/** @returns a function that gives numbers from 0 to 1 (exclusive) */
export function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Choices over such numbers. */
export class Dice {
  readonly next: () => number
  constructor(seed: number) {
    this.next = numbers(seed)
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}
