// Counts the steps under way: so that a store closes after them, and takes in no more than it can hold,
// and nothing while the database does not answer.

import { StorageUnavailable, TooMuchWaiting } from '../../domain/common/ports/storage-errors.ts'
import type { DatabaseWatch } from '../../state/database-watch.ts'

/** Triggers, reports and device puts are bounded before they come here; this bounds all else. */
const maxUnderWay = 10_000

type Steps = { [name: string]: (...input: never[]) => unknown }

export class UnderWay {
  readonly #watch: Pick<DatabaseWatch, 'isAway'>
  #count = 0
  #isClosed = false
  #tellDone: () => void = () => undefined

  constructor(watch: Pick<DatabaseWatch, 'isAway'>) {
    this.#watch = watch
  }

  /** The same steps, counted. */
  counting<All extends Steps>(steps: All): All {
    const counted = Object.entries(steps).map(([name, step]) => {
      return [name, (...input: never[]) => this.#take(() => step(...input))]
    })
    return Object.fromEntries(counted)
  }

  /** No step begins from now on; resolves when none is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#tellDone = resolve
    })
  }

  async #take<T>(step: () => T): Promise<Awaited<T>> {
    if (this.#isClosed) throw new StorageUnavailable('it is closed')
    if (this.#watch.isAway) throw new StorageUnavailable('the database does not answer')
    if (this.#count >= maxUnderWay) throw new TooMuchWaiting()
    this.#count++
    try {
      return await step()
    } finally {
      if (--this.#count === 0) this.#tellDone()
    }
  }
}
