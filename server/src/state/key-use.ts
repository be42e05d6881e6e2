// When each key was used last. Kept in memory and written in one go now and then: a write for each
// request would double the writes of a trigger.

import type { Store } from '../domain/ports/store.ts'

export class KeyUse {
  readonly #store: Pick<Store, 'recordKeyUse'>
  #uses = new Map<string, number>()

  constructor(store: Pick<Store, 'recordKeyUse'>) {
    this.#store = store
  }

  note(keyId: string, at: number): void {
    this.#uses.set(keyId, at)
  }

  /** What could not be written is kept for the next time. */
  async record(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = this.#uses
    this.#uses = new Map()
    try {
      await this.#store.recordKeyUse(Array.from(uses, ([keyId, at]) => ({ keyId, at })))
    } catch (error) {
      for (const [keyId, at] of uses) if (!this.#uses.has(keyId)) this.#uses.set(keyId, at)
      throw error
    }
  }
}
