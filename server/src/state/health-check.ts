// Can the storage be written right now? One look at a time, shared by all who ask, and good for a second: whoever
// asks needs no key, and each look costs a sync of the disk.

import { StorageUnavailable } from '../domain/ports/storage-errors.ts'

const goodForMs = 1000
/** A disk that takes longer is as good as none. */
const patienceMs = 2000

export class HealthCheck {
  readonly #look: () => Promise<void>
  #latest: { result: Promise<void>; at: number } | undefined

  constructor(look: () => Promise<void>) {
    this.#look = look
  }

  /** Rejects with StorageUnavailable. */
  check(): Promise<void> {
    const now = performance.now()
    if (this.#latest === undefined || now - this.#latest.at > goodForMs) {
      this.#latest = { result: withinPatience(this.#look()), at: now }
      // Kept for whoever asks next; nobody may be there to hear of it.
      this.#latest.result.catch(() => undefined)
    }
    return this.#latest.result
  }
}

async function withinPatience(look: Promise<void>): Promise<void> {
  const { promise: tooLong, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new StorageUnavailable('no answer from the disk')), patienceMs)
  try {
    await Promise.race([look, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
