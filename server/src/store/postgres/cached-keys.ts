// A cache of API keys, so that a trigger does not look its key up before its transaction. Cached keys may be outdated. Each
// entry belongs to a state of its owner's names (directory.ts), which a revocation also changes (note_changed_name) and which
// the writing transaction compares. So the cache never decides anything on its own.

import type { CachedKey, StoredApiKey } from '../../domain/access/ports/api-keys.ts'
import type { Trigger } from '../../domain/trigger/trigger.ts'
import type { Queries } from '../queries.ts'
import { computed, select, text } from '../schema/column.ts'
import { apiKey, owner } from '../schema/tables.ts'
import type { Names } from './directory.ts'

const FOUND = select({
  ...apiKey.fields,
  ownerId: owner.fields.ownerId,
  asOf: computed('catalogue_state(api_key.owner_no)', text()),
})
const FIND =
  `SELECT ${FOUND} FROM api_key JOIN owner USING (owner_no) WHERE key_id = ANY (CAST(:keyIds AS text[]))` as const

const mostKeys = 10_000

export class CachedKeys {
  readonly #keys = new Map<string, CachedKey>()
  readonly #most: number

  constructor(most = mostKeys) {
    this.#most = most
  }

  lookUpCached(keyId: string): CachedKey | undefined {
    return this.#keys.get(keyId)
  }

  /** Reads the existing keys and caches them. */
  async find(queries: Queries, keyIds: string[]): Promise<Map<string, StoredApiKey>> {
    const found = await queries.all(FOUND, FIND, { keyIds })
    for (const keyId of keyIds) this.#keys.delete(keyId)
    return new Map(
      found.map(({ asOf, ...key }) => {
        this.#remember({ key, asOf })
        return [key.keyId, key]
      }),
    )
  }

  /** For triggers in a transaction that has read this state of the names: finds those whose cached key has changed. */
  async findChanged(
    queries: Queries,
    triggers: Trigger[],
    names: Names,
  ): Promise<(trigger: Trigger) => boolean> {
    const old = triggers.filter((trigger) => isKeyOlder(trigger, names))
    if (old.length === 0) return () => false
    const before = new Map(old.map(({ keyId }) => [keyId, this.#keys.get(keyId)]))
    const now = await this.find(queries, [...before.keys()])
    const isSame = ({ keyId, keyAsOf }: Trigger) => {
      const known = before.get(keyId)
      const found = now.get(keyId)
      return known?.asOf === keyAsOf && known && found && decisive(known.key) === decisive(found)
    }
    const changed = new Set(old.filter((trigger) => !isSame(trigger)))
    return (trigger) => changed.has(trigger)
  }

  clear(): void {
    this.#keys.clear()
  }

  #remember(found: CachedKey): void {
    if (found.key.revokedAt !== null) return
    // Rare, and active entries return with their next use.
    if (this.#keys.size >= this.#most) this.#keys.clear()
    this.#keys.set(found.key.keyId, found)
  }
}

/** Whether its key was cached in another state than that of the names. */
export function isKeyOlder({ ownerNo, keyAsOf }: Trigger, names: Names): boolean {
  return keyAsOf !== undefined && keyAsOf !== names.get(ownerNo)?.state
}

/** All fields that determine what the key may do. */
function decisive(key: StoredApiKey): string {
  const { ownerNo, secretHash, scopes, restriction, expiresAt, revokedAt } = key
  const secret = Buffer.from(secretHash).toString('hex')
  return JSON.stringify([ownerNo, secret, scopes, restriction, expiresAt, revokedAt])
}
