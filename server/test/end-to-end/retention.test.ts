// A service with a retention period purges older runs automatically, on both stores.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'

const day = 24 * 60 * 60_000
const minute = 60_000
const tenMinutes = 10 * 60_000

for (const store of ['SQLite', 'PostgreSQL']) {
  test(`${store}: a run is unknown some minutes after its time, an unfinished one is kept`, async (t) => {
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
    // All nodes have the clock of PostgreSQL, which a test cannot set: there the runs become older.
    const letPass = async (ms: number) => {
      if (databaseUrl === undefined) now += ms
      else
        await execute(
          databaseUrl,
          `UPDATE run SET launched_at = launched_at - ${ms}, ended_at = ended_at - ${ms}`,
        )
    }
    if (databaseUrl === undefined) {
      await letPass(2 * day - minute)
      t.mock.timers.tick(tenMinutes)
      assert.equal((await call('GET', ended)).status, 200)
      await letPass(day)
    } else {
      // One of the clocks is wrong: nobody knows how old anything is. It is so from the first tick on, since what a tick
      // has begun continues after it.
      now += day
      await letPass(3 * day)
      for (let tick = 0; tick < 3; tick++) {
        t.mock.timers.tick(tenMinutes)
        assert.equal((await call('GET', ended)).status, 200)
      }
      now -= day
    }
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

test('leftovers of a large run after a crash are erased after the next start, also if runs are retained forever', async (t) => {
  const dataFolder = temporaryFolder(t)
  const before = await openServer(t, { dataFolder, databaseUrl: undefined })
  await before.putJobAndDevices('restart', ['d1'])
  await before.server.stop()
  const db = new DatabaseSync(join(dataFolder, 'jobcast.db'), { timeout: 30_000 })
  t.after(() => db.close())
  db.exec(`UPDATE last_id SET run_id = 1, execution_id = 3000;
    INSERT INTO run_draft SELECT 1, owner_no, 1, 3000, 0, 1 FROM device;
    WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 2000)
    INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
    SELECT id, 1, owner_no, device_no, 'PENDING', 1, 1 FROM ids, device`)
  const left = () => db.prepare('SELECT count(*) AS count FROM execution').get()?.count
  assert.equal(left(), 2000)
  const { trigger } = await openServer(t, { dataFolder, databaseUrl: undefined })
  await waitUntil('it is erased', () => left() === 0)
  assert.equal((await trigger('restart', ['d1'])).json[0].jobExecutionId, 3001)
})
