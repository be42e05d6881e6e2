// When each API key was last used. Buffered and written in batches: a write per request would double the writes of a
// trigger.

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

  /** After a failed write, the uses are kept for the next one. */
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
