// How many files are on their way at once, of all owners and of one. Whoever finds no free slot is asked to come again, and until then
// no other owner takes more than its share.

import { ApiError } from '@jobcast/contract'

const retryAfterSeconds = 5
/** Of an owner while others have found no slot. */
const ownerShare = 0.5
/** How long whoever found none is expected back. */
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

  /** `what`: in the message, such as "downloads (max-downloads)". `elapsed`: monotonic milliseconds. */
  constructor(most: number, what: string, elapsed: () => number) {
    this.#most = most
    this.#what = what
    this.#elapsed = elapsed
    this.#ownerMost = Math.ceil(most * ownerShare)
  }

  get taken(): number {
    return this.#taken
  }

  /** Throws J-908. The slot is free again once it is released, for the first time. */
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
