// When each API key was last used. Buffered and written in batches: a write per request would double the writes of a
// trigger. What this node has not written yet is shown all the same.

import type { StoredApiKey } from '../domain/access/ports/api-keys.ts'
import type { Store } from '../domain/common/ports/store.ts'

export class KeyUse {
  readonly #store: Pick<Store, 'recordKeyUse'>
  #uses = new Map<string, number>()
  /** Those being written. */
  #written = new Map<string, number>()

  constructor(store: Pick<Store, 'recordKeyUse'>) {
    this.#store = store
  }

  note(keyId: string, at: number): void {
    this.#uses.set(keyId, at)
  }

  lastUsedAt({ keyId, lastUsedAt }: Pick<StoredApiKey, 'keyId' | 'lastUsedAt'>): number | null {
    const known = [lastUsedAt, this.#uses.get(keyId), this.#written.get(keyId)]
    const latest = Math.max(...known.map((at) => at ?? 0))
    return latest === 0 ? null : latest
  }

  /** After a failed write, the uses are kept for the next one. */
  async record(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = this.#uses
    this.#written = uses
    this.#uses = new Map()
    try {
      await this.#store.recordKeyUse(Array.from(uses, ([keyId, at]) => ({ keyId, at })))
    } catch (error) {
      for (const [keyId, at] of uses) if (!this.#uses.has(keyId)) this.#uses.set(keyId, at)
      throw error
    } finally {
      this.#written = new Map()
    }
  }
}
