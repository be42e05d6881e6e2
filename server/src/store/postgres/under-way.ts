// Counts the steps under way: so that a store closes after them, and takes in no more than it can hold.

import { StorageUnavailable, TooMuchWaiting } from '../../domain/ports/storage-errors.ts'

/** Triggers, reports and device puts are bounded before they come here; this bounds all else. */
const maxUnderWay = 10_000

type Steps = { [name: string]: (...input: never[]) => unknown }

export class UnderWay {
  #count = 0
  #isClosed = false
  #tellDone: () => void = () => undefined

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
    if (this.#count >= maxUnderWay) throw new TooMuchWaiting()
    this.#count++
    try {
      return await step()
    } finally {
      if (--this.#count === 0) this.#tellDone()
    }
  }
}
