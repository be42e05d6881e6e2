// Cache of what devices get of a job, as JSON text. A job version never changes, so an entry becomes stale only
// when the database is replaced by an older one.

import type { Store } from '../domain/ports/store.ts'

/** Of all that is cached together, in characters. */
const maxCachedLength = 16 * 1024 * 1024

type DocumentStore = Pick<Store, 'getDocument' | 'getSignature'>

export class Documents {
  readonly #store: DocumentStore
  readonly #documents = new Map<number, string>()
  readonly #signed = new Map<number, string>()
  #size = 0

  constructor(store: DocumentStore) {
    this.#store = store
  }

  /** Synchronous on a hit: awaiting a promise per device would slow down a fan-out. */
  get(jobVersion: number): string | Promise<string> {
    const read = () => this.#store.getDocument({ jobVersion })
    return this.#documents.get(jobVersion) ?? this.#read(this.#documents, jobVersion, read)
  }

  /** What its authors have signed, as fields of JSON text behind a comma; empty if nothing. */
  signed(jobVersion: number): string | Promise<string> {
    const read = async () => {
      const found = await this.#store.getSignature({ jobVersion })
      if (found === undefined) return ''
      return `,"jobName":${JSON.stringify(found.jobName)},"jobSignature":${JSON.stringify(found.envelope)}`
    }
    return this.#signed.get(jobVersion) ?? this.#read(this.#signed, jobVersion, read)
  }

  clear(): void {
    this.#documents.clear()
    this.#signed.clear()
    this.#size = 0
  }

  async #read(cached: Map<number, string>, jobVersion: number, read: () => Promise<string>): Promise<string> {
    const text = await read()
    if (this.#size + text.length > maxCachedLength) this.clear()
    if (!cached.has(jobVersion)) this.#size += text.length
    cached.set(jobVersion, text)
    return text
  }
}
