// A service that is told how long to keep executions forgets older runs by itself, on either store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const day = 24 * 60 * 60_000
const tenMinutes = 10 * 60_000

for (const store of ['SQLite', 'PostgreSQL']) {
  test(`${store}: a run is unknown some minutes after its time, one that has not finished stays`, async (t) => {
    // Only what runs every so often is steered; all else waits for real time.
    t.mock.timers.enable({ apis: ['setInterval'] })
    const databaseUrl = store === 'SQLite' ? undefined : await createDatabase(await sharedPostgres())
    let now = Date.now()
    const { call, trigger, putJobAndDevices } = await openServer(t, {
      databaseUrl,
      keepEventsDays: 1,
      keepExecutionsDays: 2,
      now: () => now,
    })
    await putJobAndDevices('restart', ['d1', 'd2'])
    const runOf = async (deviceId: string): Promise<string> => {
      const reply = await trigger('restart', [deviceId])
      return reply.headers.get('location') ?? assert.fail(reply.text)
    }
    const [ended, waiting] = [await runOf('d1'), await runOf('d2')]
    assert.equal((await call('POST', `${ended}/cancel`)).status, 200)
    now += 2 * day - 1000
    t.mock.timers.tick(tenMinutes)
    assert.equal((await call('GET', ended)).status, 200)
    now += day
    // The work that a tick has begun is done by threads and connections.
    const isForgotten = async () => {
      t.mock.timers.tick(tenMinutes)
      return (await call('GET', ended)).status === 404
    }
    await waitUntil('it is forgotten', isForgotten, { intervalMs: 20 })
    const left = await call('GET', '/job/api/runs')
    assert.deepEqual(
      left.json.items.map(({ runId }: { runId: number }) => `/job/api/runs/${runId}`),
      [waiting],
    )
    assert.equal((await call('GET', waiting)).json.counts.PENDING, 1)
  })
}
