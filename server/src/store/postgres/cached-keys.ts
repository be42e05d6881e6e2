// API keys that were found, so that a trigger need not look its key up before its transaction. What is remembered may be
// void by now. It belongs to a state of its owner's names (directory.ts), which a revocation changes as well
// (note_changed_name), and which the transaction that writes compares. So nothing remembered decides anything on its own.

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

  /** Those that are there, as they are now; they are remembered. */
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

  /** Of triggers in a transaction that has found this state of the names: whether its recalled key is another by now. */
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
    // Rare: whatever is in use comes back with its next use.
    if (this.#keys.size >= this.#most) this.#keys.clear()
    this.#keys.set(found.key.keyId, found)
  }
}

/** Whether its key was recalled in another state than that of the names. */
export function isKeyOlder({ ownerNo, keyAsOf }: Trigger, names: Names): boolean {
  return keyAsOf !== undefined && keyAsOf !== names.get(ownerNo)?.state
}

/** All that decides what may be done with it. */
function decisive(key: StoredApiKey): string {
  const { ownerNo, secretHash, scopes, restriction, expiresAt, revokedAt } = key
  const secret = Buffer.from(secretHash).toString('hex')
  return JSON.stringify([ownerNo, secret, scopes, restriction, expiresAt, revokedAt])
}
