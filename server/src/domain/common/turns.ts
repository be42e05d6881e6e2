// What takes milliseconds of the event loop takes turns: between two of them everybody else is served.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'

/** Of one owner, those that wait and the one whose pause is not over. */
const maxWaiting = 64

/** A pause of about fifteen times what the steps take. */
const stepsPerPausedMs = 2500

let lastTurn: Promise<void> = Promise.resolve()
const queues = new Map<number, { last: Promise<void>; waiting: number }>()

export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
  return lastTurn
}

/**
 * For what a caller can make as long as it likes by sending it again: its owner's next turn comes after a pause, so that one owner
 * has a small share of the event loop, however many calls it sends. Throws J-908 if too many of the owner wait.
 */
export async function ownersTurn(ownerNo: number, steps: number): Promise<void> {
  const queue = queues.get(ownerNo) ?? { last: Promise.resolve(), waiting: 0 }
  if (queue.waiting >= maxWaiting) throw new ApiError('J-908')
  queues.set(ownerNo, queue)
  queue.waiting++
  const turn = queue.last
  queue.last = turn.then(async () => {
    await sleep(Math.ceil(steps / stepsPerPausedMs), undefined, { ref: false })
    if (--queue.waiting === 0) queues.delete(ownerNo)
  })
  await turn
  await nextTurn()
}
