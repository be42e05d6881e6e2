// Limits concurrent requests across all webhooks. A channel that gets no slot is called back when one is free.

export type SlotWaiter = { pump(): void }

export class Slots {
  #free: number
  readonly #waiting = new Set<SlotWaiter>()

  constructor(count: number) {
    this.#free = count
  }

  tryAcquire(waiter: SlotWaiter): boolean {
    if (this.#free === 0) {
      this.#waiting.add(waiter)
      return false
    }
    this.#free--
    return true
  }

  /** The longest waiting channel comes first; if it has nothing to send any more, the next one is called. */
  release(): void {
    this.#free++
    for (const waiter of this.#waiting) {
      if (this.#free === 0) return
      this.#waiting.delete(waiter)
      waiter.pump()
    }
  }
}
