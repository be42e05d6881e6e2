// Limits concurrent file transfers, of all owners and per owner. A caller that finds no free slot is asked to retry, and until then
// no other owner gets more than its share.

import { ApiError } from '@jobcast/contract'

const retryAfterSeconds = 5
/** Share of an owner while others wait for a slot. */
const ownerShare = 0.5
/** How long a refused caller is expected to retry. */
const comesBackMs = 3 * retryAfterSeconds * 1000

export class TransferSlots {
  readonly #most: number
  readonly #what: string
  readonly #ownerMost: number
  readonly #elapsed: () => number
  readonly #ofOwners = new Map<number, number>()
  /** When owners below their share last found no slot. */
  readonly #refusedAt = new Map<number, number>()
  #taken = 0

  /** `what`: for error messages, such as "downloads (max-downloads)". `elapsed`: monotonic milliseconds. */
  constructor(most: number, what: string, elapsed: () => number) {
    this.#most = most
    this.#what = what
    this.#elapsed = elapsed
    this.#ownerMost = Math.ceil(most * ownerShare)
  }

  get taken(): number {
    return this.#taken
  }

  /** Returns a function that releases the slot; further calls do nothing. Throws J-908. */
  take(ownerNo: number): () => void {
    const ofOwner = this.#ofOwners.get(ownerNo) ?? 0
    const hasShare = ofOwner >= this.#ownerMost
    if (hasShare && this.#othersWait(ownerNo))
      throw this.#refusal(`While other owners wait, a node serves for one owner at most ${this.#ownerMost}`)
    if (this.#taken >= this.#most) {
      if (!hasShare) this.#refusedAt.set(ownerNo, this.#elapsed())
      throw this.#refusal(`A node serves at most ${this.#most}`)
    }
    this.#taken++
    this.#ofOwners.set(ownerNo, ofOwner + 1)
    let isHeld = true
    return () => {
      if (isHeld) this.#release(ownerNo)
      isHeld = false
    }
  }

  #othersWait(ownerNo: number): boolean {
    const since = this.#elapsed() - comesBackMs
    for (const [owner, at] of this.#refusedAt) if (at < since) this.#refusedAt.delete(owner)
    return this.#refusedAt.size > (this.#refusedAt.has(ownerNo) ? 1 : 0)
  }

  #release(ownerNo: number): void {
    this.#taken--
    const left = (this.#ofOwners.get(ownerNo) ?? 0) - 1
    if (left > 0) this.#ofOwners.set(ownerNo, left)
    else this.#ofOwners.delete(ownerNo)
  }

  #refusal(limit: string): ApiError {
    return new ApiError('J-908', { detail: `${limit} ${this.#what} at once.`, retryAfterSeconds })
  }
}
