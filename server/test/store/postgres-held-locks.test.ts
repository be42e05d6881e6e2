// While a lock that one owner or one device needs is held, all others are served.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import type { Caller } from '../../src/domain/access/caller.ts'
import { type CancelRunDeps, cancelRun, type RunCancels } from '../../src/domain/trigger/cancel-run.ts'
import { groupWrites } from '../../src/group-writes.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { ChangeSignal } from '../../src/state/change-signal.ts'
import { locks } from '../../src/store/postgres/locks.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { update } from './device-reports.ts'
import { createOne, devicePut, emptyContent, momentAt, seedOwner, startedAt } from './store-under-test.ts'

async function openStoreAndHolder(t: TestContext) {
  const url = await createDatabase(await sharedPostgres())
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  // First, so that nobody waits for it at the end.
  t.after(() => holder.end())
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const writes = groupWrites(store, () => undefined, buildMetrics(), true, undefined)
  const waitForLock = (count: number) =>
    waitUntil('they wait for the lock', async () => {
      // Other tests use the same server.
      const waiting = `
        SELECT count(*)::int AS count FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database()`
      return ((await execute(url, waiting))[0]?.count as number) >= count
    })
  return { url, store, holder, writes, waitForLock }
}

/** What has been settled so far. */
function follow(promises: Promise<unknown>[]): { settled: number } {
  const state = { settled: 0 }
  const count = () => void state.settled++
  for (const promise of promises) promise.then(count, count)
  return state
}

test('while the lock of one owner is held, triggers and puts of the others are served', async (t) => {
  const { store, holder, writes, waitForLock } = await openStoreAndHolder(t)
  const held = await seedOwner(store)
  const other = await seedOwner(store)
  await holder.query('BEGIN')
  await holder.query(`SELECT pg_advisory_xact_lock(${locks.catalogueOfOwner}, ${held.ownerNo})`)
  const waiting = [
    ...Array.from({ length: 5 }, () => writes.recordTrigger(held.trigger(['d1']))),
    writes.recordDevice(devicePut(held.ownerNo, 'd9')),
    store.putJob({ ownerNo: held.ownerNo, jobName: 'new', content: emptyContent, at: startedAt }),
    // In one group with those that have to wait, and behind them.
    ...Array.from({ length: 5 }, () => writes.recordTrigger(held.trigger(['d2']))),
  ]
  const state = follow(waiting)
  const mixed = await Promise.all([
    writes.recordTrigger(other.trigger(['d1'])),
    writes.recordDevice(devicePut(other.ownerNo, 'd9')),
    store.putJob({ ownerNo: other.ownerNo, jobName: 'new', content: emptyContent, at: startedAt }),
  ])
  assert.equal(mixed[0].kind, 'created')
  await waitForLock(1)
  assert.equal((await writes.recordTrigger(other.trigger(['d2']))).kind, 'created')
  assert.equal(state.settled, 0)
  await holder.query('COMMIT')
  for (const outcome of await Promise.all(waiting)) {
    if ('kind' in outcome) assert.equal(outcome.kind, 'created')
  }
})

test('while the row of one execution is held, reports of other devices are served', async (t) => {
  const { store, holder, writes, waitForLock } = await openStoreAndHolder(t)
  const deviceIds = Array.from({ length: 30 }, (_, index) => `d${index}`)
  const { ownerNo, trigger } = await seedOwner(store, { devices: deviceIds })
  const { firstExecutionId } = await createOne(store, trigger(deviceIds))
  await holder.query('BEGIN')
  await holder.query('SELECT FROM execution WHERE execution_id = $1 FOR UPDATE', [firstExecutionId + 7])
  const reports = deviceIds.map((deviceId, index) =>
    writes.recordReport(update({ ownerNo, deviceId }, firstExecutionId + index, 'IN_PROGRESS')),
  )
  const state = follow(reports)
  const outcomes = await Promise.all(reports.filter((_, index) => index !== 7))
  for (const { kind } of outcomes) assert.equal(kind, 'done')
  await waitForLock(1)
  const again = await writes.recordReport(
    update({ ownerNo, deviceId: 'd1' }, firstExecutionId + 1, 'SUCCEEDED'),
  )
  assert.equal(again.kind, 'done')
  assert.equal(state.settled, deviceIds.length - 1)
  await holder.query('COMMIT')
  assert.equal((await reports[7])?.kind, 'done')
})

test('a cancel of a run that takes long is answered meanwhile, and continues', async (t) => {
  const { store, holder, waitForLock } = await openStoreAndHolder(t)
  const { ownerNo, ownerId, trigger } = await seedOwner(store)
  const { runId, firstExecutionId } = await createOne(store, trigger(['d1', 'd2', 'd3']))
  const failures: unknown[] = []
  let looks = 0
  const runCancels: RunCancels = new (class extends Map {
    override get(name: string) {
      looks++
      return super.get(name)
    }
  })()
  const deps: CancelRunDeps = {
    store,
    moment: () => momentAt(startedAt),
    link: { wake() {}, launched() {}, released() {}, withdraw() {}, disconnect() {} },
    changes: new ChangeSignal(),
    runCancels,
    stopping: new AbortController().signal,
    onCancelFailed: (error) => failures.push(error),
  }
  const caller: Caller = { keyId: 'k1', ownerNo, ownerId, scopes: [] }
  await holder.query('BEGIN')
  await holder.query('SELECT FROM execution WHERE execution_id = $1 FOR UPDATE', [firstExecutionId + 2])
  const early = await cancelRun(deps, caller, runId, false, 20)
  assert.deepEqual([early.isDone, early.run.counts.CANCELED], [false, 0])
  await waitForLock(1)
  // Sent again, it joins the one in progress.
  const again = cancelRun(deps, caller, runId, false)
  await waitUntil('it has joined', () => looks === 2)
  await holder.query('COMMIT')
  const { isDone, run } = await again
  assert.deepEqual([isDone, run.counts.CANCELED, failures], [true, 3, []])
  assert.equal(deps.runCancels.size, 0)
})

test('a node that hangs during its health check does not block those of others', async (t) => {
  const { url, store, holder } = await openStoreAndHolder(t)
  await store.checkHealth()
  const other = await openPostgresStore({ url })
  t.after(() => other.close())
  await holder.query('BEGIN')
  await holder.query('UPDATE write_probe SET writes = writes + 1')
  await holder.query('SELECT FROM commit_marker FOR UPDATE')
  await other.checkHealth()
})
