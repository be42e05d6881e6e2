// The documents of jobs, as JSON text. A version of a job never changes, so what was read once holds.

import type { Store } from '../domain/ports/store.ts'

/** All kept documents together, in characters. */
const maxKept = 16 * 1024 * 1024

export class Documents {
  readonly #store: Pick<Store, 'getDocument'>
  readonly #kept = new Map<number, string>()
  #size = 0

  constructor(store: Pick<Store, 'getDocument'>) {
    this.#store = store
  }

  /** At once where it is known: a wait for each device would make a fan-out slower. */
  get(jobVersion: number): string | Promise<string> {
    return this.#kept.get(jobVersion) ?? this.#read(jobVersion)
  }

  async #read(jobVersion: number): Promise<string> {
    const document = await this.#store.getDocument({ jobVersion })
    if (this.#size + document.length > maxKept) {
      this.#kept.clear()
      this.#size = 0
    }
    if (!this.#kept.has(jobVersion)) this.#size += document.length
    this.#kept.set(jobVersion, document)
    return document
  }
}
