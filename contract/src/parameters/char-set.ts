// A set of characters, as ranges. Lookups use binary search, so that all steps of a pattern take about the same time.

import type { CharRange } from './pattern-syntax.ts'

/** Caches the last result: the steps of a repetition share a set and look up the same character. */
export class CharSet {
  /** The first and last characters of the ranges, which are sorted and disjoint. */
  readonly #from: number[] = []
  readonly #to: number[] = []
  readonly #isNegated: boolean
  #code = -1
  #has = false

  constructor(ranges: readonly CharRange[], isNegated: boolean) {
    this.#isNegated = isNegated
    for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
      const last = this.#to.length - 1
      const end = this.#to[last]
      if (end !== undefined && from <= end + 1) this.#to[last] = Math.max(end, to)
      else {
        this.#from.push(from)
        this.#to.push(to)
      }
    }
  }

  has(code: number): boolean {
    if (code !== this.#code) {
      this.#code = code
      this.#has = this.#within(code) !== this.#isNegated
    }
    return this.#has
  }

  #within(code: number): boolean {
    let [low, high] = [0, this.#from.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#to[middle] as number) < code) low = middle + 1
      else high = middle
    }
    return low < this.#from.length && (this.#from[low] as number) <= code
  }
}
