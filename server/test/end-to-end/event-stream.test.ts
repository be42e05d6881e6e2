// A listener whose connection is cut repeatedly, directly and by kills of the server, gets every event once and in order.
// "node server/test/end-to-end/event-stream.test.ts cuts=1000" cuts more often.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobcastEvent } from '@jobcast/contract'
import { EventListener } from '@jobcast/testkit/event-listener'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'

const cuts = testSize('cuts', { test: 10, chaos: 250 })
/** Of the cuts, one in so many is a kill of the server. */
const cutsPerKill = 10
/** More than a listener waits for, and little enough to compare in the end. */
const runsPerCut = 5
const devices = deviceIdsUpTo(20)

test(
  `cut ${cuts} times, a listener misses nothing and gets nothing twice (seed ${testSeed})`,
  longTest,
  async (t) => {
    const folder = newTemporaryFolder()
    await seedData(folder, { jobs: ['restart'], deviceIds: devices })
    const server = new RestartingServer(folder)
    t.after(() => server.end())
    removeAfter(t, folder)
    const random = seededRandom(testSeed)

    const heard: JobcastEvent[] = []
    let lastId = '0'
    let cut = 1
    const isOver = () => cut > cuts
    const working = keepBusy(server, random, () => cut * runsPerCut, isOver)
    for (; !isOver(); cut++) {
      const listener = await listenFrom(server, lastId)
      const enough = heard.length + 1 + random.below(5)
      await listener.until(() => heard.length + listener.events.length >= enough).catch(() => undefined)
      if (cut % cutsPerKill === 0) await server.killAndStart()
      else listener.close()
      await listener.ended
      heard.push(...listener.events)
      lastId = listener.lastId
    }
    const triggered = await working

    const rest = await listenFrom(server, lastId)
    const whole = await listenFrom(server, '0')
    const finished = (events: JobcastEvent[]) => events.filter(({ type }) => type === 'run.finished').length
    await whole.until(() => finished(whole.events) >= triggered)
    await rest.until(() => rest.lastId === whole.lastId)
    whole.close()
    rest.close()
    assert.deepEqual([...heard, ...rest.events], whole.events)
    const ids = whole.events.map(({ eventId }) => eventId)
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
    )
    t.diagnostic(`${whole.events.length} events of ${triggered} answered runs`)
  },
)

async function listenFrom(server: RestartingServer, lastId: string): Promise<EventListener> {
  for (;;) {
    const { http, adminKey } = await server.running()
    try {
      const from = lastId === '0' ? { query: '?after=0' } : { lastEventId: lastId }
      const listener = await EventListener.open(http, adminKey, from)
      assert.equal(listener.response.status, 200)
      return listener
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
    }
  }
}

/** Triggers and cancels for as long as the test listens; gives how many runs were answered as canceled. */
async function keepBusy(
  server: RestartingServer,
  random: Random,
  mostRuns: () => number,
  isOver: () => boolean,
): Promise<number> {
  let canceled = 0
  while (!isOver()) {
    try {
      const api = await server.running()
      const some = random.some(devices, 1 + random.below(devices.length))
      const run = (await api.trigger('restart', some)).headers.get('location')
      if ((await api.call('POST', `${run}/cancel`)).status === 200) canceled++
    } catch {
      // Killed in the middle of it.
    }
    await waitUntil('the listener keeps up', () => isOver() || canceled < mostRuns(), { intervalMs: 1 })
  }
  return canceled
}
