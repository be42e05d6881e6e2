// Runs steps of one kind concurrently; steps that share a key take effect in the order of sending. Each takes its locks when it
// is its turn; later steps then only wait for these locks.

import { isWithin } from '../../domain/common/is-within.ts'
import { LocksBusy } from '../../domain/common/ports/storage-errors.ts'

export class InOrder<Key> {
  /** The end of the last step's turn, by key. */
  readonly #last = new Map<Key, Promise<void>>()

  /**
   * The step calls `releaseTurn` once it holds its locks; otherwise its turn ends with the step. `waitMs`: rejects with LocksBusy
   * if its turn has not come by then.
   */
  async take<T>(
    keys: Iterable<Key>,
    step: (releaseTurn: () => void) => Promise<T>,
    waitMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    // Each key has its own turn, so that a step that gives up does not make one key wait for another.
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
