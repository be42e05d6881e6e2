// When each API key was last used.

import type { StoredApiKey } from '../domain/access/ports/api-keys.ts'
import type { Store } from '../domain/common/ports/store.ts'
import { LastUses } from './last-uses.ts'

export class KeyUse {
  readonly #uses: LastUses

  constructor(store: Pick<Store, 'recordKeyUse'>) {
    this.#uses = new LastUses((uses) => store.recordKeyUse(uses.map(({ id, at }) => ({ keyId: id, at }))))
  }

  note(keyId: string, at: number): void {
    this.#uses.note(keyId, at)
  }

  lastUsedAt({ keyId, lastUsedAt }: Pick<StoredApiKey, 'keyId' | 'lastUsedAt'>): number | null {
    return this.#uses.latest(keyId, lastUsedAt) || null
  }

  record(): Promise<void> {
    return this.#uses.record()
  }
}
