// How many requests are under way at once, of all webhooks together. Who finds no room is called when there is some.

export type Asker = { pump(): void }

export class Slots {
  #free: number
  readonly #waiting = new Set<Asker>()

  constructor(count: number) {
    this.#free = count
  }

  take(asker: Asker): boolean {
    if (this.#free === 0) {
      this.#waiting.add(asker)
      return false
    }
    this.#free--
    return true
  }

  /** Whoever waits longest is asked first; one that has nothing to send by now leaves it to the next. */
  giveBack(): void {
    this.#free++
    for (const asker of this.#waiting) {
      if (this.#free === 0) return
      this.#waiting.delete(asker)
      asker.pump()
    }
  }
}
