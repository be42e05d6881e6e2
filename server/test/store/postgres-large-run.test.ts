// A device is deleted and put again while the transaction of a large run is open.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSelector } from '@jobcast/contract/selector'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import { locks } from '../../src/store/postgres/locks.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import {
  allExecutions,
  assertRunsAddUp,
  devicePut,
  momentAt,
  readQueue,
  runOf,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

test('a device that is put again while a large run is written has nothing of it', async (t) => {
  const url = await createDatabase(await sharedPostgres())
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  // First, so that nobody waits for it at the end.
  t.after(() => holder.end())
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const { ownerNo, trigger } = await seedOwner(store, { devices: ['a', 'b'] })
  const slice = { after: undefined, limit: 10 }
  const { items } = await store.selectDevices({ ownerNo, where: parseSelector('all'), slice })
  const { deviceIds: _, quota: __, ...asked } = trigger([])

  await holder.query(`SELECT pg_advisory_lock(${locks.ids}, 0)`)
  const deviceNos = Int32Array.from(items, ({ deviceNo }) => deviceNo)
  const making = store.createLargeRun({ ...asked, deviceNos })
  await waitUntil('it waits for its ids', async () => {
    const waiting = `
      SELECT count(*)::int AS count FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE NOT granted AND datname = current_database()`
    return (await execute(url, waiting))[0]?.count === 1
  })
  await store.deleteDevice({ ownerNo, deviceId: 'b', moment: momentAt(startedAt + 5), actor: 'key k1' })
  await store.putDevices([devicePut(ownerNo, 'b')])
  await holder.query(`SELECT pg_advisory_unlock(${locks.ids}, 0)`)

  const { runId } = runOf(await making)
  const executions = await allExecutions(store, ownerNo, { runId })
  assert.deepEqual(
    executions.map(({ deviceId, execState }) => [deviceId, execState]),
    [
      ['b', 'CANCELED'],
      ['a', 'PENDING'],
    ],
  )
  assert.equal((await readQueue(store, { ownerNo, deviceId: 'b' })).total, 0)
  await assertRunsAddUp(store, ownerNo)
})
