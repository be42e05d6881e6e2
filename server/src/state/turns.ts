// Work that takes milliseconds of the event loop takes turns, so that other requests are served in between.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'

/** Per owner: waiting turns, and the one whose pause is not over. */
const maxWaiting = 64

/** Gives a pause of about fifteen times the duration of the steps. */
const stepsPerPausedMs = 2500

let lastTurn: Promise<void> = Promise.resolve()

export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
  return lastTurn
}

/** Adds a pause between two turns of the same owner. */
export class OwnerTurns {
  readonly #queues = new Map<number, { last: Promise<void>; waiting: number }>()

  async take(ownerNo: number, steps: number): Promise<void> {
    const queue = this.#queues.get(ownerNo) ?? { last: Promise.resolve(), waiting: 0 }
    if (queue.waiting >= maxWaiting) throw new ApiError('J-908')
    this.#queues.set(ownerNo, queue)
    queue.waiting++
    const turn = queue.last
    queue.last = turn.then(async () => {
      await sleep(Math.ceil(steps / stepsPerPausedMs), undefined, { ref: false })
      if (--queue.waiting === 0) this.#queues.delete(ownerNo)
    })
    await turn
    await nextTurn()
  }
}
