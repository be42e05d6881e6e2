// Reproducible random choices: the same seed gives the same choices (mulberry32).

export type Random = {
  /** A whole number from 0 up to, but not including, `below`. */
  below(below: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
  /** `count` different items, in random order. */
  some<T>(from: readonly T[], count: number): T[]
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(fraction() * end)
  return {
    below,
    chance: (probability) => fraction() < probability,
    pick: <T>(from: readonly T[]) => from[below(from.length)] as T,
    some<T>(from: readonly T[], count: number) {
      const left = [...from]
      return Array.from({ length: Math.min(count, left.length) }, () => {
        const at = below(left.length)
        const [taken] = left.splice(at, 1, left.at(-1) as T)
        left.pop()
        return taken as T
      })
    },
  }
}
