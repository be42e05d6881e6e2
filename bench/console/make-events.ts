// Triggers and cancels: each cancel ends all executions of its run, with an event for each.

import { setTimeout as sleep } from 'node:timers/promises'
import type { SpawnedServer } from '@jobcast/testkit/spawn-server'

/** Until the work has ended. Returns the rate that was reached, which may be lower on a busy machine. */
export async function withEvents(
  server: SpawnedServer,
  deviceIds: readonly string[],
  perSecond: number,
  work: () => Promise<unknown>,
): Promise<number> {
  let isOver = false
  const ended = work().finally(() => {
    isOver = true
  })
  const begun = performance.now()
  let events = 0
  for (let from = 0; !isOver; from += perSecond) {
    const second = performance.now()
    const first = from % Math.max(1, deviceIds.length - perSecond)
    const { headers, status, text } = await server.trigger(
      'restart',
      deviceIds.slice(first, first + perSecond),
    )
    if (status !== 201) throw new Error(text)
    await server.call('POST', `${headers.get('location')}/cancel`)
    events += perSecond
    await sleep(Math.max(0, 1000 - (performance.now() - second)))
  }
  const seconds = (performance.now() - begun) / 1000
  await ended
  return events / seconds
}
