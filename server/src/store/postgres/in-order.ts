// Steps of one kind that run side by side, yet take effect in the order in which they were sent. Each takes its locks
// when it is its turn; what comes later then waits for those locks as long as it must, and for no more than that.

export class InOrder {
  #last: Promise<unknown> = Promise.resolve()

  /** The step calls `passOn` once it holds its locks; it has passed on at its end in any case. */
  take<T>(step: (passOn: () => void) => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const taken = this.#last.then(() => step(resolve)).finally(resolve)
    this.#last = promise
    return taken
  }
}
