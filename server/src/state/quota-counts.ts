// How much of each quota is used: read from the store, then counted here. What is deleted, or created by other nodes, is
// not counted: the store is read again where a quota seems to be reached, and now and then.

import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CountedQuota,
  QuotaCountStore,
  QuotaCounts as QuotaCountsPort,
} from '../domain/access/ports/quota-counts.ts'
import type { Quotas } from '../domain/access/quotas.ts'

type Who = number | string

type Count = {
  /** As read; undefined until then. */
  stored: number | undefined
  /** Created since then. */
  created: number
  /** Being created. */
  reserved: number
  readAt: number
  readMs: number
  /** Under way. */
  reading: Promise<void> | undefined
  /** Has not begun. */
  nextRead: Promise<void> | undefined
}

type QuotaCountsOptions = {
  store: QuotaCountStore
  quotas: Quotas
  now: () => number
  /** Monotonic milliseconds. */
  elapsed: () => number
}

/** What other nodes create shows after so long. */
const freshMs = 60_000
/** Whoever asks for more than there is room for makes the store count for a tenth of the time at most. */
const pausePerReadMs = 9
const maxPauseMs = 1000
/** Of each quota. */
const maxCounts = 10_000

export class QuotaCounts implements QuotaCountsPort {
  readonly #options: QuotaCountsOptions
  readonly #counts = new Map<CountedQuota, Map<Who, Count>>()

  constructor(options: QuotaCountsOptions) {
    this.#options = options
  }

  reserve(quota: CountedQuota, who: Who, count = 1): boolean | Promise<boolean> {
    const limit = this.#options.quotas[quota]
    if (limit === 0) return true
    const known = this.#countOf(quota, who)
    if (known.stored === undefined || used(known) + count > limit)
      return this.#reserveAfterRead(quota, who, count)
    known.reserved += count
    if (this.#options.elapsed() - known.readAt > freshMs) this.#read(quota, who).catch(() => undefined)
    return true
  }

  settle(quota: CountedQuota, who: Who, count: number, created: boolean): void {
    if (this.#options.quotas[quota] === 0) return
    const known = this.#countOf(quota, who)
    known.reserved = Math.max(0, known.reserved - count)
    if (created) known.created += count
  }

  used(quota: CountedQuota, who: Who): number {
    const known = this.#counts.get(quota)?.get(who)
    return known === undefined ? 0 : used(known)
  }

  /** Room that was made before this call is found. */
  async #reserveAfterRead(quota: CountedQuota, who: Who, count: number): Promise<boolean> {
    const known = this.#countOf(quota, who)
    await this.#read(quota, who)
    if (used(known) + count > this.#options.quotas[quota]) return false
    known.reserved += count
    return true
  }

  /** A read that begins after this call; all that ask before it begins share it. */
  #read(quota: CountedQuota, who: Who): Promise<void> {
    const known = this.#countOf(quota, who)
    known.nextRead ??= this.#readAfterPause(known, quota, who)
    return known.nextRead
  }

  async #readAfterPause(known: Count, quota: CountedQuota, who: Who): Promise<void> {
    const { store, now, elapsed } = this.#options
    await known.reading
    const waitMs = known.readAt + Math.min(maxPauseMs, known.readMs * pausePerReadMs) - elapsed()
    if (waitMs > 0) await sleep(waitMs)
    const begun = elapsed()
    // What is created meanwhile may be counted twice, until the next time.
    const { created, nextRead } = known
    known.nextRead = undefined
    known.reading = nextRead?.catch(() => undefined)
    try {
      known.stored = await store.countUsed({ quota, who, at: now() })
      known.created -= created
    } finally {
      known.reading = undefined
      known.readAt = elapsed()
      known.readMs = known.readAt - begun
    }
  }

  #countOf(quota: CountedQuota, who: Who): Count {
    return this.#counts.get(quota)?.get(who) ?? this.#newCount(quota, who)
  }

  #newCount(quota: CountedQuota, who: Who): Count {
    const counts = this.#counts.get(quota) ?? new Map<Who, Count>()
    this.#counts.set(quota, counts)
    if (counts.size >= maxCounts) removeIdle(counts)
    const nothing = { stored: undefined, created: 0, reserved: 0, reading: undefined, nextRead: undefined }
    const count = { ...nothing, readAt: Number.NEGATIVE_INFINITY, readMs: 0 }
    counts.set(who, count)
    return count
  }
}

function removeIdle(counts: Map<Who, Count>): void {
  for (const [who, { reserved, reading, nextRead }] of counts) {
    if (reserved === 0 && reading === undefined && nextRead === undefined) counts.delete(who)
  }
}

function used({ stored = 0, created, reserved }: Count): number {
  return stored + created + reserved
}
