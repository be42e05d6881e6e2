// Counts that read many devices or executions of an owner. Counts of one owner run in sequence, and a result is cached for longer
// the longer it took: at most a twentieth of the time is spent on the same count.

const idleShare = 19
const minAgeMs = 1000
/** Cached results of all owners together. */
const maxCached = 100

type Kept = { result: Promise<unknown>; until: number }

export class CachedCounts {
  readonly #elapsed: () => number
  readonly #kept = new Map<string, Kept>()
  /** Per owner, resolves when the last requested count ends. */
  readonly #turns = new Map<number, Promise<void>>()

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** `question` must name everything that the result depends on. */
  read<Result>(ownerNo: number, question: unknown[], count: () => Promise<Result>): Promise<Result> {
    const key = JSON.stringify([ownerNo, ...question])
    const kept = this.#kept.get(key)
    // The key names the question, and so the type of its result.
    if (kept && this.#elapsed() < kept.until) return kept.result as Promise<Result>
    let startedAt = 0
    const result = this.#inTurn(ownerNo, () => {
      startedAt = this.#elapsed()
      return count()
    })
    const reading: Kept = { result, until: Number.POSITIVE_INFINITY }
    this.#keep(key, reading)
    result.then(
      () => {
        const took = this.#elapsed() - startedAt
        reading.until = this.#elapsed() + Math.max(minAgeMs, took * idleShare)
      },
      () => this.#kept.get(key) === reading && this.#kept.delete(key),
    )
    return result
  }

  #inTurn<Result>(ownerNo: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(ownerNo) ?? Promise.resolve()
    const done = before.then(work)
    const settle = () => {
      if (this.#turns.get(ownerNo) === turn) this.#turns.delete(ownerNo)
    }
    const turn: Promise<void> = done.then(settle, settle)
    this.#turns.set(ownerNo, turn)
    return done
  }

  /** Caches the result, evicting the oldest. */
  #keep(key: string, reading: Kept): void {
    this.#kept.delete(key)
    this.#kept.set(key, reading)
    if (this.#kept.size <= maxCached) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined) this.#kept.delete(oldest)
  }
}
