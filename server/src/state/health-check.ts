// Checks whether the storage is writable. The check needs no API key and costs a disk sync, so concurrent callers share
// one probe and its result is cached for a second.

import { StorageUnavailable } from '../domain/common/ports/storage-errors.ts'

const cacheMs = 1000
/** A disk slower than this counts as unavailable. */
const timeoutMs = 2000

export class HealthCheck {
  readonly #probe: () => Promise<void>
  #latest: { result: Promise<void>; at: number } | undefined

  constructor(probe: () => Promise<void>) {
    this.#probe = probe
  }

  /** Rejects with StorageUnavailable. */
  check(): Promise<void> {
    const now = performance.now()
    if (this.#latest === undefined || now - this.#latest.at > cacheMs) {
      this.#latest = { result: withTimeout(this.#probe()), at: now }
      // The cached promise may reject while nobody awaits it.
      this.#latest.result.catch(() => undefined)
    }
    return this.#latest.result
  }
}

async function withTimeout(probe: Promise<void>): Promise<void> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new StorageUnavailable('no answer from the disk')), timeoutMs)
  try {
    await Promise.race([probe, timedOut])
  } finally {
    clearTimeout(timer)
  }
}
