// Token buckets by name: each holds up to `burst` tokens and gains `perSecond` of them a second.

type BucketOptions = {
  perSecond: number
  burst: number
  /** Monotonic milliseconds. */
  elapsed: () => number
  /** Clients choose their addresses, so the number of buckets is bounded. */
  maxBuckets?: number
}

type Bucket = { tokens: number; at: number }

const defaultMaxBuckets = 50_000

export class TokenBuckets {
  readonly perSecond: number
  readonly burst: number
  readonly #elapsed: () => number
  readonly #perGeneration: number
  // Two generations: when the first is full it becomes the second, and buckets unused since then are dropped. A dropped
  // bucket counts as full again, as it would be after a while anyway.
  #recent = new Map<string, Bucket>()
  #older = new Map<string, Bucket>()

  constructor({ perSecond, burst, elapsed, maxBuckets = defaultMaxBuckets }: BucketOptions) {
    this.perSecond = perSecond
    this.burst = burst
    this.#elapsed = elapsed
    this.#perGeneration = Math.ceil(maxBuckets / 2)
  }

  get size(): number {
    return this.#recent.size + this.#older.size
  }

  /** Whether there is less than one token. */
  isEmpty(name: string): boolean {
    const bucket = this.#recent.get(name) ?? this.#older.get(name)
    if (bucket === undefined) return false
    return bucket.tokens + ((this.#elapsed() - bucket.at) / 1000) * this.perSecond < 1
  }

  /** Takes `cost` tokens, at most a full bucket. If there are fewer, takes none and returns the milliseconds to wait. */
  take(name: string, cost = 1): number {
    const bucket = this.#filled(name)
    const price = Math.min(cost, this.burst)
    if (bucket.tokens < price) return Math.ceil(((price - bucket.tokens) / this.perSecond) * 1000)
    bucket.tokens -= price
    return 0
  }

  /** For work already done: takes `cost` tokens even if there are fewer, down to a debt of one full bucket. */
  charge(name: string, cost: number): void {
    const bucket = this.#filled(name)
    bucket.tokens = Math.max(-this.burst, bucket.tokens - cost)
  }

  #filled(name: string): Bucket {
    const now = this.#elapsed()
    const bucket = this.#recent.get(name) ?? this.#promote(name, now)
    const gained = ((now - bucket.at) / 1000) * this.perSecond
    bucket.tokens = Math.min(this.burst, bucket.tokens + gained)
    bucket.at = now
    return bucket
  }

  #promote(name: string, now: number): Bucket {
    const bucket = this.#older.get(name) ?? { tokens: this.burst, at: now }
    if (this.#recent.size >= this.#perGeneration) {
      this.#older = this.#recent
      this.#recent = new Map()
    } else this.#older.delete(name)
    this.#recent.set(name, bucket)
    return bucket
  }
}
