// Counts the steps in progress, so that a store closes after them, limits their number, and accepts none while the database does
// not respond.

import { StorageUnavailable, TooMuchWaiting } from '../../domain/common/ports/storage-errors.ts'
import type { DatabaseWatch } from '../../state/database-watch.ts'

/** Triggers, reports and device puts have their own limits; this limits all other steps. */
const maxInFlight = 10_000

type Steps = { [name: string]: (...input: never[]) => unknown }

export class InFlightSteps {
  readonly #watch: Pick<DatabaseWatch, 'isAway'>
  #count = 0
  #isClosed = false
  #tellDone: () => void = () => undefined

  constructor(watch: Pick<DatabaseWatch, 'isAway'>) {
    this.#watch = watch
  }

  /** Wraps steps so that they are counted. */
  counting<All extends Steps>(steps: All): All {
    const counted = Object.entries(steps).map(([name, step]) => {
      return [name, (...input: never[]) => this.#take(() => step(...input))]
    })
    return Object.fromEntries(counted)
  }

  /** Refuses new steps; resolves when none is in progress. */
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
    if (this.#count >= maxInFlight) throw new TooMuchWaiting()
    this.#count++
    try {
      return await step()
    } finally {
      if (--this.#count === 0) this.#tellDone()
    }
  }
}
