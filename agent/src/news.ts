// Lets one waiter sleep until there is news. News that came before anybody waited counts, so none is missed.

import { orAborted } from './or-aborted.ts'

export class News {
  #next = Promise.withResolvers<void>()

  tell(): void {
    this.#next.resolve()
  }

  /** Rejects when the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await orAborted(this.#next.promise, signal)
    this.#next = Promise.withResolvers()
  }
}
