// Lets one waiter sleep until it is woken. A wake-up before the wait counts, so none is missed.

import { orAborted } from '../transport/or-aborted.ts'

export class WakeUp {
  #next = Promise.withResolvers<void>()

  wake(): void {
    this.#next.resolve()
  }

  /** Rejects when the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await orAborted(this.#next.promise, signal)
    this.#next = Promise.withResolvers()
  }
}
