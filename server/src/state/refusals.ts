// Buffers refusals for a missing scope until they are written to the audit. They change no state, so they are written in batches,
// up to a second later. For a key that is refused the same call repeatedly, one entry a minute says how often.

import type { Caller } from '../domain/access/caller.ts'
import { principalOf } from '../domain/access/principal.ts'
import { originOf } from '../domain/audit/audit.ts'
import { newEntry } from '../domain/audit/audit-entry.ts'
import type { NewAuditEntry } from '../domain/audit/ports/entries.ts'
import type { Store } from '../domain/common/ports/store.ts'

type Refused = { caller: Caller; what: string; at: number; more: number }

const repeatMs = 60_000
/** Limit per owner of tracked keys and calls, so that one owner does not push out another. Further ones are not recorded. */
const mostOfOwner = 200
/** Limit for all owners together, to bound memory. */
const mostAtOnce = 20_000

export class Refusals {
  readonly #store: Pick<Store, 'recordAudit'>
  readonly #now: () => number
  readonly #seen = new Map<string, Refused>()
  /** Number of tracked refusals per owner. */
  readonly #ofOwner = new Map<number, number>()
  #waiting: NewAuditEntry[] = []

  constructor(store: Pick<Store, 'recordAudit'>, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /** `what`: the method and the pattern of the route. */
  note(caller: Caller, what: string): void {
    const name = `${caller.keyId} ${what}`
    const before = this.#seen.get(name)
    const ofOwner = this.#ofOwner.get(caller.ownerNo) ?? 0
    if (before) before.more++
    else if (ofOwner < mostOfOwner && this.#seen.size < mostAtOnce) {
      this.#ofOwner.set(caller.ownerNo, ofOwner + 1)
      const refused = { caller, what, at: this.#now(), more: 0 }
      this.#seen.set(name, refused)
      this.#waiting.push(toEntry(refused, what))
    }
  }

  async record(): Promise<void> {
    const now = this.#now()
    for (const [name, refused] of this.#seen) {
      const { at, more, what } = refused
      if (now - at < repeatMs && now >= at) continue
      this.#seen.delete(name)
      this.#forget(refused.caller)
      if (more > 0)
        this.#waiting.push(toEntry({ ...refused, at: now }, `${what}, ${more} more within a minute`))
    }
    const entries = this.#waiting
    if (entries.length === 0) return
    this.#waiting = []
    try {
      await this.#store.recordAudit({ entries })
    } catch (error) {
      this.#waiting = withinShares([...entries, ...this.#waiting])
      throw error
    }
  }

  #forget({ ownerNo }: Caller): void {
    const left = (this.#ofOwner.get(ownerNo) ?? 0) - 1
    if (left > 0) this.#ofOwner.set(ownerNo, left)
    else this.#ofOwner.delete(ownerNo)
  }
}

/** Keeps the oldest entries of each owner. */
function withinShares(entries: NewAuditEntry[]): NewAuditEntry[] {
  const counts = new Map<number, number>()
  const kept = entries.filter(({ ownerNo }) => {
    const count = (counts.get(ownerNo) ?? 0) + 1
    counts.set(ownerNo, count)
    return count <= mostOfOwner
  })
  return kept.slice(0, mostAtOnce)
}

function toEntry({ caller, at }: Refused, note: string): NewAuditEntry {
  const { ownerNo, keyId } = caller
  const what = { principal: principalOf(caller), action: 'key.refused', subject: `key:${keyId}` }
  return newEntry({ ownerNo, at }, what, { note }, originOf(caller).origin)
}
