// Checks whether the storage works. The check needs no API key and costs a disk sync or a request, so concurrent callers share
// one probe and its result is cached for a second.

import { StorageUnavailable } from '../domain/common/ports/storage-errors.ts'

const cacheMs = 1000
/** Slower storage counts as unavailable. */
const timeoutMs = 2000

export class HealthCheck {
  readonly #probe: () => Promise<void>
  readonly #what: string
  #latest: { result: Promise<void>; at: number } | undefined

  /** `what`: a description of the probe for people. */
  constructor(probe: () => Promise<void>, what = 'the disk') {
    this.#probe = probe
    this.#what = what
  }

  /** Rejects with StorageUnavailable. */
  check(): Promise<void> {
    const now = performance.now()
    if (this.#latest === undefined || now - this.#latest.at > cacheMs) {
      this.#latest = { result: withTimeout(this.#probe(), this.#what), at: now }
      // The cached promise may reject while nobody awaits it.
      this.#latest.result.catch(() => undefined)
    }
    return this.#latest.result
  }
}

async function withTimeout(probe: Promise<void>, what: string): Promise<void> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new StorageUnavailable(`no answer from ${what}`)), timeoutMs)
  try {
    await Promise.race([probe, timedOut])
  } finally {
    clearTimeout(timer)
  }
}
