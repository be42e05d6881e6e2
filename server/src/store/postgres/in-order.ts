// Steps of one kind that run side by side; those that share a key take effect in the order in which they were sent. Each
// takes its locks when it is its turn; what comes later then waits for those locks as long as it must, and for no more
// than that.

import { isWithin } from '../../domain/common/is-within.ts'
import { LocksBusy } from '../../domain/common/ports/storage-errors.ts'

export class InOrder<Key> {
  /** Of each key, when the turn of the last step is over. */
  readonly #last = new Map<Key, Promise<void>>()

  /**
   * The step calls `releaseTurn` once it holds its locks; it has passed on at its end in any case. `waitMs`: it rejects with
   * LocksBusy when its turn has not come by then.
   */
  async take<T>(
    keys: Iterable<Key>,
    step: (releaseTurn: () => void) => Promise<T>,
    waitMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    // Each key has a turn of its own: whoever gives up must not make one key wait for another.
    const turns = [...new Set(keys)].map((key) => {
      const turn = { key, before: this.#last.get(key), ...Promise.withResolvers<void>() }
      this.#last.set(key, turn.promise)
      return turn
    })
    const releaseTurn = () => {
      for (const turn of turns) this.#end(turn)
    }
    const before = new Set(turns.flatMap((turn) => turn.before ?? []))
    if (before.size > 0 && !(await isWithin(Promise.all(before), waitMs))) {
      for (const turn of turns) void Promise.resolve(turn.before).then(() => this.#end(turn))
      throw new LocksBusy()
    }
    try {
      return await step(releaseTurn)
    } finally {
      releaseTurn()
    }
  }

  #end({ key, promise, resolve }: { key: Key; promise: Promise<void>; resolve: () => void }): void {
    if (this.#last.get(key) === promise) this.#last.delete(key)
    resolve()
  }
}
