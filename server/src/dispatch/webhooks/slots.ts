// Limits concurrent requests across all webhooks, and each owner to a share of them, so that slow receivers take no slots from
// other owners. A channel that gets no slot is called back when one is free.

export type SlotWaiter = { readonly ownerNo: number; pump(): void }

/** An owner may hold one in this many slots. */
const owners = 8

type Share = { held: number; waiting: Set<SlotWaiter> }

export class Slots {
  #free: number
  readonly #perOwner: number
  /** Only owners that hold a slot or wait for one. */
  readonly #shares = new Map<number, Share>()

  constructor(count: number) {
    this.#free = count
    this.#perOwner = Math.max(1, Math.floor(count / owners))
  }

  tryAcquire(waiter: SlotWaiter): boolean {
    const share = this.#shareOf(waiter.ownerNo)
    if (this.#free === 0 || share.held >= this.#perOwner) {
      share.waiting.add(waiter)
      return false
    }
    this.#free--
    share.held++
    return true
  }

  /** Calls further waiting channels while slots are left, since a channel may have nothing more to send. */
  release({ ownerNo }: SlotWaiter): void {
    const share = this.#shareOf(ownerNo)
    this.#free++
    share.held--
    this.#removeIfIdle(ownerNo, share)
    for (let next = this.#takeNext(); next; next = this.#takeNext()) next.pump()
  }

  /** The longest waiting channel of the owner that holds the fewest slots. */
  #takeNext(): SlotWaiter | undefined {
    if (this.#free === 0) return undefined
    let least: Share | undefined
    for (const share of this.#shares.values()) {
      if (share.waiting.size > 0 && share.held < (least?.held ?? this.#perOwner)) least = share
    }
    const [next] = least?.waiting ?? []
    if (next === undefined || least === undefined) return undefined
    least.waiting.delete(next)
    this.#removeIfIdle(next.ownerNo, least)
    return next
  }

  #shareOf(ownerNo: number): Share {
    let share = this.#shares.get(ownerNo)
    if (share === undefined) {
      share = { held: 0, waiting: new Set() }
      this.#shares.set(ownerNo, share)
    }
    return share
  }

  #removeIfIdle(ownerNo: number, { held, waiting }: Share): void {
    if (held === 0 && waiting.size === 0) this.#shares.delete(ownerNo)
  }
}
