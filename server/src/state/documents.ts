// Cache of job documents as JSON text. A job version never changes, so an entry becomes stale only
// when the database is replaced by an older one.

import type { Store } from '../domain/ports/store.ts'

/** Of all cached documents together, in characters. */
const maxCachedLength = 16 * 1024 * 1024

export class Documents {
  readonly #store: Pick<Store, 'getDocument'>
  readonly #cached = new Map<number, string>()
  #size = 0

  constructor(store: Pick<Store, 'getDocument'>) {
    this.#store = store
  }

  /** Synchronous on a hit: awaiting a promise per device would slow down a fan-out. */
  get(jobVersion: number): string | Promise<string> {
    return this.#cached.get(jobVersion) ?? this.#read(jobVersion)
  }

  clear(): void {
    this.#cached.clear()
    this.#size = 0
  }

  async #read(jobVersion: number): Promise<string> {
    const document = await this.#store.getDocument({ jobVersion })
    if (this.#size + document.length > maxCachedLength) {
      this.clear()
    }
    if (!this.#cached.has(jobVersion)) this.#size += document.length
    this.#cached.set(jobVersion, document)
    return document
  }
}
