// Seals new entries, owner by owner. Any node may do it: a seal is appended only to the one that was read, so of two nodes
// one succeeds and the other retries with the next tick. If the newest seal is not the expected one, the owner is no longer
// sealed: entries are still written, and the operator is notified.

import { hashBytes, type SealBody, sealHash, signedText } from '@jobcast/contract/audit'
import type { Store } from '../common/ports/store.ts'
import { checkTails } from './check-tail.ts'
import type { Damage, KnownSeal, KnownSeals } from './known-seals.ts'
import type { UnsealedOwner } from './ports/audit.ts'
import type { AuditSigner } from './ports/signer.ts'

type SealSteps =
  | 'listUnsealedOwners'
  | 'readUnsealed'
  | 'addSeal'
  | 'announceSeal'
  | 'listLastSeals'
  | 'readSealed'
type SealDeps = {
  store: Pick<Store, SealSteps>
  signer: AuditSigner
  known: KnownSeals
  now: () => number
  stopping: AbortSignal
  /** The audit of this owner was tampered with. */
  onDamaged: (damaged: Damage & { ownerId: string }) => void
  /** Stores known seals across restarts. */
  keepSeals?: ((seals: ReadonlyMap<string, KnownSeal>) => Promise<void>) | undefined
}

/** A larger batch would delay other reads. */
const entriesPerSeal = 2000
const ownersAtOnce = 100
/** An event per second would push others out of the log. */
const announceEveryMs = 60_000
const checkEveryMs = 60 * 60_000
/** How many seals are added while stopping; a stop does not wait for more. */
const sealsAtTheEnd = 100

export class AuditSealer {
  readonly #deps: SealDeps
  /** Seals of this node that are not announced yet, by owner. */
  readonly #unannounced = new Map<number, { sealNo: number; announcedAt: number }>()
  readonly #damaged = new Map<string, { because: string; isLasting: boolean }>()
  #checkedAt = 0
  /** Left in the last tick; undefined: the service is not stopping. */
  #sealsLeft: number | undefined

  constructor(deps: SealDeps) {
    this.#deps = deps
  }

  /** How many owners have a damaged audit. */
  get damaged(): number {
    return this.#damaged.size
  }

  /** Also called at start. */
  async check(): Promise<void> {
    this.#checkedAt = this.#deps.now()
    for await (const { ownerId, damage, isInEntries } of checkTails(this.#deps)) {
      // Only the entries of the newest seal are read, so a check after a later seal says nothing about them.
      if (damage === undefined) this.#clear(ownerId)
      else this.#note(ownerId, damage, isInEntries)
    }
  }

  /** A tick in progress when the service stops ends soon; a tick that begins later seals the rest. */
  async tick(): Promise<void> {
    const { store, stopping, known, keepSeals, now } = this.#deps
    this.#sealsLeft = stopping.aborted ? sealsAtTheEnd : undefined
    if (!stopping.aborted && Math.abs(now() - this.#checkedAt) >= checkEveryMs) await this.check()
    // Each owner once, so that one that cannot be sealed now does not block those after it.
    for (let after: number | undefined = 0; after !== undefined && this.#goesOn(); ) {
      const owners = await store.listUnsealedOwners({ after, limit: ownersAtOnce })
      for (const owner of owners) await this.#seal(owner)
      after = owners.length === ownersAtOnce ? owners.at(-1)?.ownerNo : undefined
    }
    await this.#announceDue()
    const changed = keepSeals && known.takeChanged()
    if (changed) await keepSeals(changed)
  }

  #goesOn(): boolean {
    return this.#sealsLeft === undefined ? !this.#deps.stopping.aborted : this.#sealsLeft > 0
  }

  /** `isLasting`: kept until this process ends, whatever later checks find. */
  #note(ownerId: string, damage: Damage, isLasting = false): void {
    const { because } = damage
    const before = this.#damaged.get(ownerId)
    this.#damaged.set(ownerId, { because, isLasting: isLasting || before?.isLasting === true })
    if (because !== before?.because) this.#deps.onDamaged({ ownerId, ...damage })
  }

  #clear(ownerId: string): void {
    if (!this.#damaged.get(ownerId)?.isLasting) this.#damaged.delete(ownerId)
  }

  /** Seals all entries of an owner, unless another node is faster or the audit is damaged. */
  async #seal(owner: UnsealedOwner): Promise<void> {
    const { store, signer, known, now } = this.#deps
    const { ownerNo, ownerId } = owner
    let { seal: last, announcedAt } = owner
    const damage = known.judge(ownerId, last)
    if (damage) {
      this.#note(ownerId, damage)
      return
    }
    while (this.#goesOn()) {
      const after = last?.lastAuditId ?? 0
      const found = await store.readUnsealed({ ownerNo, after, limit: entriesPerSeal })
      if (found === undefined) return
      const { leaves, root, firstAuditId, lastAuditId, isMore } = found
      const at = now()
      const entries = leaves.length / hashBytes
      const body: SealBody = {
        seal: (last?.seal ?? 0) + 1,
        ownerId,
        at: new Date(at).toISOString(),
        ...{ firstAuditId, lastAuditId, entries },
        root,
        previous: last ? sealHash(last) : null,
        keyId: signer.keyId,
      }
      const seal = { ...body, signature: signer.sign(signedText(body)) }
      const isDue = announcedAt === null || at - announcedAt >= announceEveryMs || at < announcedAt
      const publicKey = isDue ? signer.publicKey : undefined
      if (!(await store.addSeal({ ownerNo, seal, leaves, at, publicKey }))) return
      known.add(seal)
      if (this.#sealsLeft !== undefined) this.#sealsLeft--
      if (isDue) this.#unannounced.delete(ownerNo)
      else this.#unannounced.set(ownerNo, { sealNo: seal.seal, announcedAt: announcedAt ?? at })
      if (isDue) announcedAt = at
      last = seal
      if (!isMore) return
    }
  }

  /** Announces the last seal within a minute, even if none follows, for those who store checkpoints elsewhere. */
  async #announceDue(): Promise<void> {
    const { store, signer, now } = this.#deps
    const at = now()
    for (const [ownerNo, { sealNo, announcedAt }] of this.#unannounced) {
      if (at - announcedAt < announceEveryMs && at >= announcedAt) continue
      await store.announceSeal({ ownerNo, sealNo, at, publicKey: signer.publicKey })
      this.#unannounced.delete(ownerNo)
    }
  }
}
