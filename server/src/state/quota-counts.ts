// Usage of each quota: read from the store, then counted here. Deletions, and creations by other nodes, are not counted:
// the store is read again when a quota seems to be reached, and at intervals.

import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CountedQuota,
  QuotaCountStore,
  QuotaCounts as QuotaCountsPort,
} from '../domain/access/ports/quota-counts.ts'
import type { Quotas } from '../domain/access/quotas.ts'

type Who = number | string

type Count = {
  /** Count in the store at the last read; undefined before the first one. */
  stored: number | undefined
  /** Created since that read. */
  created: number
  /** Being created. */
  reserved: number
  readAt: number
  readMs: number
  /** The read in flight. */
  reading: Promise<void> | undefined
  /** The next read, which has not begun. */
  nextRead: Promise<void> | undefined
}

type QuotaCountsOptions = {
  store: QuotaCountStore
  quotas: Quotas
  now: () => number
  /** Monotonic milliseconds. */
  elapsed: () => number
}

/** Maximum delay until creations by other nodes are counted. */
const freshMs = 60_000
/** While a quota is exceeded, repeated calls make the store count for at most a tenth of the time. */
const pausePerReadMs = 9
const maxPauseMs = 1000
/** Per quota. */
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

  /** Takes into account what was deleted before this call. */
  async #reserveAfterRead(quota: CountedQuota, who: Who, count: number): Promise<boolean> {
    const known = this.#countOf(quota, who)
    await this.#read(quota, who)
    if (used(known) + count > this.#options.quotas[quota]) return false
    known.reserved += count
    return true
  }

  /** Resolves after a read that begins after this call. All calls before it begins share it. */
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
    // Creations during the read may be counted twice, until the next read.
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
