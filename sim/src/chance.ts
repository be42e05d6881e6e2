// Reproducible random choices: the same seed and subject give the same choices, regardless of the order in which
// messages arrive.

export type Chance = {
  /** From 0 up to, but not including, 1. */
  fraction(): number
  within(range: { from: number; to: number }): number
  pick<T>(from: readonly T[]): T
}

/** FNV-1a hashes the subject to a number, which seeds mulberry32. */
export function chanceOf(seed: number, subject: string): Chance {
  let state = (seed ^ 0x811c9dc5) >>> 0
  for (let i = 0; i < subject.length; i++) state = Math.imul(state ^ subject.charCodeAt(i), 0x01000193) >>> 0
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    fraction,
    within: ({ from, to }) => from + fraction() * (to - from),
    pick: <T>(from: readonly T[]) => from[Math.floor(fraction() * from.length)] as T,
  }
}
