// Batches changes of schedules that are due at the same time: changes that arrive during a write share the next one.

import type { Store } from '../domain/common/ports/store.ts'
import type { ScheduleChange } from '../domain/schedule/ports/schedules.ts'

type Waiting = {
  change: ScheduleChange
  resolve: (isChanged: boolean) => void
  reject: (error: unknown) => void
}

const mostAtOnce = 200

export class ScheduleChanges {
  readonly #store: Pick<Store, 'changeSchedule' | 'changeSchedules'>
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(store: Pick<Store, 'changeSchedule' | 'changeSchedules'>) {
    this.#store = store
  }

  /** False: the schedule was modified since it was read, and nothing was written. */
  write(change: ScheduleChange): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    this.#waiting.push({ change, resolve, reject })
    if (!this.#isWriting) void this.#writeAll()
    return promise
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Changes of the same turn of the event loop share the write.
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#writeSome(this.#waiting.splice(0, mostAtOnce))
    this.#isWriting = false
  }

  async #writeSome(some: Waiting[]): Promise<void> {
    try {
      const changes = some.map(({ change }) => change)
      const done = await this.#store.changeSchedules(changes)
      for (const [index, { resolve }] of some.entries()) resolve(done[index] ?? false)
    } catch {
      // Written one by one, so that one bad change does not fail the others.
      for (const { change, resolve, reject } of some) {
        await this.#store.changeSchedule(change).then(resolve, reject)
      }
    }
  }
}
