/** Allows this many requests per second on average. Unused requests are saved, up to a burst. */
export class RequestBudget {
  readonly #perSecond: number
  readonly #burst: number
  #left: number
  #at = performance.now()

  constructor({ perSecond, burst }: { perSecond: number; burst: number }) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#left = burst
  }

  spend(requests: number): void {
    this.#refill()
    this.#left -= requests
  }

  /** The time until the next request is allowed. */
  waitMs(): number {
    this.#refill()
    return Math.max(0, (-this.#left * 1000) / this.#perSecond)
  }

  #refill(): void {
    const now = performance.now()
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) * this.#perSecond) / 1000)
    this.#at = now
  }
}
