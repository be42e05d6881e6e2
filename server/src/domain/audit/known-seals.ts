// The newest seal of each owner that this node has seen. Seals are only appended, so if the newest one is older, different or
// missing, the database was tampered with. Then the chain is not continued, or our key would sign forged entries.

import { isSignedBy, publicKeyId, readPublicKey, type Seal, sealHash } from '@jobcast/contract/audit'

export type KnownSeal = { seal: number; hash: string; lastAuditId: number }
/** `auditId`: the first entry that does not match; null: there are no entries. */
export type Damage = { auditId: number | null; because: string }

/** With more owners, those sealed most recently are kept. */
export const mostKnown = 10_000

export class KnownSeals {
  readonly #key
  readonly #keyId
  readonly #known: Map<string, KnownSeal>
  #isChanged = false

  constructor(publicKey: string, known: Iterable<readonly [ownerId: string, seal: KnownSeal]> = []) {
    this.#key = readPublicKey(publicKey)
    this.#keyId = publicKeyId(publicKey)
    this.#known = new Map(known)
  }

  /** `last`: the newest seal in the database. Undefined: it is the known one, or was added with our key since. */
  judge(ownerId: string, last: Seal | null): Damage | undefined {
    const known = this.#known.get(ownerId)
    const missing = known && known.seal > (last?.seal ?? 0)
    if (missing)
      return {
        auditId: last ? last.lastAuditId + 1 : null,
        because: `the end is missing: seal ${known.seal}, up to entry ${known.lastAuditId}`,
      }
    if (last === null) return undefined
    const { seal, firstAuditId: auditId } = last
    const hash = sealHash(last)
    if (known?.seal === seal) {
      return known.hash === hash
        ? undefined
        : { auditId, because: `seal ${seal} was replaced by another one` }
    }
    if (last.ownerId !== ownerId) return { auditId, because: `seal ${seal} is of another owner` }
    if (last.keyId !== this.#keyId || !isSignedBy(this.#key, last))
      return { auditId, because: `seal ${seal} is not signed by the key of this service` }
    this.add(last)
    return undefined
  }

  /** Records a seal that is in the database. */
  add(seal: Seal): void {
    const { ownerId, lastAuditId } = seal
    this.#known.delete(ownerId)
    this.#known.set(ownerId, { seal: seal.seal, hash: sealHash(seal), lastAuditId })
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostKnown) break
      this.#known.delete(oldest)
    }
    this.#isChanged = true
  }

  /** All known seals, if any was added since the last call; otherwise undefined. */
  takeChanged(): ReadonlyMap<string, KnownSeal> | undefined {
    if (!this.#isChanged) return undefined
    this.#isChanged = false
    return this.#known
  }
}
