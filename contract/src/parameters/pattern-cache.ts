// A cache of compiled patterns, so that patterns of a job's version are compiled once and not for each value of each run.

import { type CompiledPattern, compilePattern } from './linear-pattern.ts'

/** Maximum number of steps of all cached patterns: about 4 MB. */
const maxKeptSteps = 50_000

/** An LRU cache. */
export class PatternCache {
  readonly #patterns = new Map<string, CompiledPattern>()
  readonly #maxSteps: number
  #steps = 0
  /** The number of compilations. */
  compiled = 0

  constructor(maxSteps = maxKeptSteps) {
    this.#maxSteps = maxSteps
  }

  get steps(): number {
    return this.#steps
  }

  /** Throws a PatternError. */
  get(source: string): CompiledPattern {
    const kept = this.#patterns.get(source)
    if (kept !== undefined) {
      this.#patterns.delete(source)
      this.#patterns.set(source, kept)
      return kept
    }
    const pattern = compilePattern(source)
    this.compiled++
    this.#patterns.set(source, pattern)
    this.#steps += pattern.size
    for (const [oldest, { size }] of this.#patterns) {
      if (this.#steps <= this.#maxSteps || oldest === source) break
      this.#patterns.delete(oldest)
      this.#steps -= size
    }
    return pattern
  }
}

export const patternCache = new PatternCache()
