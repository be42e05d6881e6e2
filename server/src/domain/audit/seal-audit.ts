// Seals new entries, owner by owner. Any node may do it: a seal is added only behind the one that was read, so of two nodes
// one adds it and the other begins anew with the next tick. Where the newest seal is not the one that was there, the owner is
// not sealed any more: entries are written on, and the operator decides.

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
  /** The audit of this owner is not the one that was sealed. */
  onDamaged: (damaged: Damage & { ownerId: string }) => void
  /** Where they are known after a restart. */
  keepSeals?: ((seals: ReadonlyMap<string, KnownSeal>) => Promise<void>) | undefined
}

/** A larger batch would hold up who reads meanwhile. */
const entriesPerSeal = 2000
const ownersAtOnce = 100
/** An event for each second would push others out of the log. */
const announceEveryMs = 60_000
const checkEveryMs = 60 * 60_000
/** A stop does not wait for the rest. */
const sealsAtTheEnd = 100

export class AuditSealer {
  readonly #deps: SealDeps
  /** Seals of this node that were not announced, by owner. */
  readonly #unannounced = new Map<number, { sealNo: number; announcedAt: number }>()
  readonly #damaged = new Map<string, { because: string; isLasting: boolean }>()
  #checkedAt = 0
  /** Of the last tick; undefined: the service does not stop. */
  #sealsLeft: number | undefined

  constructor(deps: SealDeps) {
    this.#deps = deps
  }

  /** Owners whose audit is not the one that was sealed. */
  get damaged(): number {
    return this.#damaged.size
  }

  /** At start as well. */
  async check(): Promise<void> {
    this.#checkedAt = this.#deps.now()
    for await (const { ownerId, damage, isInEntries } of checkTails(this.#deps)) {
      // Only the entries of the newest seal are read: a seal that is added later says nothing about them.
      if (damage === undefined) this.#clear(ownerId)
      else this.#note(ownerId, damage, isInEntries)
    }
  }

  /** One that is under way when the service stops ends soon; one that begins later seals what is left. */
  async tick(): Promise<void> {
    const { store, stopping, known, keepSeals, now } = this.#deps
    this.#sealsLeft = stopping.aborted ? sealsAtTheEnd : undefined
    if (!stopping.aborted && Math.abs(now() - this.#checkedAt) >= checkEveryMs) await this.check()
    // Each once: one that another node seals as well, or that must not be sealed, does not hold up those behind it.
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

  /** `isLasting`: until this process ends, whatever is found later. */
  #note(ownerId: string, damage: Damage, isLasting = false): void {
    const { because } = damage
    const before = this.#damaged.get(ownerId)
    this.#damaged.set(ownerId, { because, isLasting: isLasting || before?.isLasting === true })
    if (because !== before?.because) this.#deps.onDamaged({ ownerId, ...damage })
  }

  #clear(ownerId: string): void {
    if (!this.#damaged.get(ownerId)?.isLasting) this.#damaged.delete(ownerId)
  }

  /** All that an owner has, unless another node has sealed it, or it must not be sealed. */
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

  /** Whoever keeps the last checkpoint has it within a minute, also where nothing follows it. */
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
