// The connection is lost between COMMIT and its result: the caller gets the actual outcome.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import { CommitUnknown, StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import type { Trigger } from '../../src/domain/trigger/trigger.ts'
import { locks } from '../../src/store/postgres/locks.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { type CommitProxy, openCommitProxy } from './commit-proxy.ts'
import { update } from './device-reports.ts'
import { allRuns, createOne, devicePut, keyTimes, seedOwner, startedAt } from './store-under-test.ts'

async function openBehindProxy(t: TestContext) {
  const databaseUrl = await createDatabase(await sharedPostgres())
  const proxy = await openCommitProxy(t, databaseUrl)
  const store = await openPostgresStore({ url: proxy.url })
  t.after(() => {
    proxy.isDown = false
    return store.close()
  })
  // The first trigger notes since when its partition is in use, in a transaction of its own that nobody waits for.
  const first = await seedOwner(store)
  await createOne(store, first.trigger(['d1']))
  const noted = 'SELECT FROM execution_partition WHERE first_id = 0 AND began_at IS NOT NULL'
  await waitUntil('it is noted', async () => (await execute(databaseUrl, noted)).length > 0)
  return { databaseUrl, proxy, store, ...(await seedOwner(store)) }
}

/** Rejects with just this, and not with a more special error. */
const isUnavailable = (error: unknown) =>
  error instanceof StorageUnavailable && !(error instanceof CommitUnknown)

const keyed = (key: string): Partial<Trigger> => ({
  idempotency: { key, requestHash: new Uint8Array(32), ...keyTimes(startedAt, startedAt - 1000) },
})

async function breaking<T>(
  proxy: CommitProxy,
  way: Parameters<CommitProxy['breakNext']>[0],
  work: () => Promise<T>,
) {
  const before = proxy.broken
  proxy.breakNext(way)
  try {
    return await work()
  } finally {
    assert.equal(proxy.broken, before + 1)
  }
}

test('a trigger, a report and a put that were committed are answered, though the connection was lost', async (t) => {
  const { proxy, store, ownerNo, trigger } = await openBehindProxy(t)
  // One device has a statement of its own.
  for (const [round, deviceIds] of [['d1'], ['d1'], ['d1', 'd2'], ['d1', 'd2']].entries()) {
    const { runId, firstExecutionId } = await breaking(proxy, 'after-commit', () =>
      createOne(store, trigger(deviceIds)),
    )
    assert.deepEqual((await allRuns(store, ownerNo)).map((run) => run.runId).includes(runId), true)
    const device = { ownerNo, deviceId: 'd1' }
    const [reported] = await breaking(proxy, 'after-commit', () =>
      store.recordReports([update(device, firstExecutionId, 'SUCCEEDED')]),
    )
    assert.equal(reported?.kind, 'done')
    const [put] = await breaking(proxy, 'after-commit', () =>
      store.putDevices([devicePut(ownerNo, `new ${round}`)]),
    )
    assert.equal(put?.created, true)
  }
  assert.equal((await allRuns(store, ownerNo)).length, 4)
  // The first one of each kind has read the names.
  assert.equal(proxy.brokenAlone, 2)
})

test('a group with keys is one statement; if its answer is lost, keys tell what was made', async (t) => {
  const { proxy, store, ownerNo, trigger } = await openBehindProxy(t)
  await createOne(store, trigger(['d1', 'd2']))
  const used = await createOne(store, trigger(['d1'], keyed('used')))
  const group = [trigger(['d1'], keyed('a')), trigger(['d2']), trigger(['d1'], keyed('used'))]
  const send = () => store.createExecutions(group)
  const [first, plain, again] = await breaking(proxy, 'after-commit', send)
  assert.equal(proxy.brokenAlone, 1)
  assert.equal(first?.kind, 'replayed')
  assert.ok(plain?.kind === 'unreadable' && plain.error instanceof CommitUnknown)
  assert.ok(again?.kind === 'replayed' && again.run.runId === used.runId)
  assert.equal((await allRuns(store, ownerNo)).length, 4)

  const refused = () => store.createExecutions([trigger(['d1'], keyed('b')), trigger(['d2'], keyed('c'))])
  await assert.rejects(breaking(proxy, 'before-commit', refused), isUnavailable)
  assert.equal(proxy.brokenAlone, 2)
  const kinds = (await refused()).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['created', 'created'], 'the keys were not used up')

  const alone = () => store.createExecutions([trigger(['d1'], keyed('alone'))])
  await assert.rejects(breaking(proxy, 'before-commit', alone), isUnavailable)
  assert.equal((await breaking(proxy, 'after-commit', alone))[0]?.kind, 'replayed')
  assert.equal(proxy.brokenAlone, 4)
  assert.equal((await allRuns(store, ownerNo)).length, 7)
})

test('what was not committed is refused, and nothing of it is there', async (t) => {
  const { proxy, store, ownerNo, trigger } = await openBehindProxy(t)
  await assert.rejects(
    breaking(proxy, 'before-commit', () => createOne(store, trigger(['d1']))),
    isUnavailable,
  )
  assert.deepEqual(await allRuns(store, ownerNo), [])
  // Its connection is not used again, and its marker is.
  for (let count = 0; count < 4; count++) await createOne(store, trigger(['d1', 'd2']))
  await assert.rejects(
    breaking(proxy, 'before-commit', () => createOne(store, trigger(['d1']))),
    isUnavailable,
  )
  assert.equal(proxy.brokenAlone, 1)
  assert.equal((await allRuns(store, ownerNo)).length, 4)
})

test('a commit that the server gets after it was given up is rolled back', async (t) => {
  const { proxy, store, ownerNo, trigger } = await openBehindProxy(t)
  await createOne(store, trigger(['d1', 'd2']))
  for (const [before, deviceIds] of [['d1'], ['d1', 'd2']].entries()) {
    await assert.rejects(
      breaking(proxy, 'late', () => createOne(store, trigger(deviceIds))),
      isUnavailable,
    )
    assert.equal(proxy.brokenAlone, before + 1)
    await proxy.sendLate()
    assert.equal((await allRuns(store, ownerNo)).length, before + 1)
    await createOne(store, trigger(deviceIds))
    assert.equal((await allRuns(store, ownerNo)).length, before + 2)
  }
})

test('while the database is away, whoever asked is told that it may have been made', async (t) => {
  const { proxy, store, ownerNo, trigger } = await openBehindProxy(t)
  proxy.isDown = true
  await assert.rejects(
    breaking(proxy, 'after-commit', () => createOne(store, trigger(['d1']))),
    CommitUnknown,
  )
  proxy.isDown = false
  assert.equal((await allRuns(store, ownerNo)).length, 1)
  await createOne(store, trigger(['d1']))
  // The names are known by now.
  proxy.isDown = true
  await assert.rejects(
    breaking(proxy, 'after-commit', () => createOne(store, trigger(['d1']))),
    CommitUnknown,
  )
  assert.equal(proxy.brokenAlone, 1)
  proxy.isDown = false
  assert.equal((await allRuns(store, ownerNo)).length, 3)
})

test('a statement of its own whose connection the server ends is looked up', async (t) => {
  const { databaseUrl, store, ownerNo, trigger } = await openBehindProxy(t)
  await createOne(store, trigger(['d1']))
  // Holds what the statement waits for, so that it is in progress when it is ended.
  const other = new pg.Client(databaseUrl)
  await other.connect()
  t.after(() => other.end())
  await other.query(`SELECT pg_advisory_lock(${locks.eventsOfOwner}, ${ownerNo})`)
  const made = createOne(store, trigger(['d1']))
  made.catch(() => undefined)
  // Other tests use the same server.
  const waiting = `
    SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`
  await waitUntil('it waits', async () => (await execute(databaseUrl, waiting)).length > 0)
  await execute(databaseUrl, `SELECT pg_terminate_backend(pid) FROM (${waiting}) AS waiting`)
  await assert.rejects(made, isUnavailable)
  await other.query('SELECT pg_advisory_unlock_all()')
  assert.equal((await allRuns(store, ownerNo)).length, 1)
  await createOne(store, trigger(['d1']))
  assert.equal((await allRuns(store, ownerNo)).length, 2)
})

test('what only reads in a transaction writes nothing', async (t) => {
  const { databaseUrl, store, trigger } = await openBehindProxy(t)
  const commits = async () =>
    (await execute(databaseUrl, 'SELECT coalesce(sum(commits), 0)::int AS commits FROM commit_marker'))[0]
      ?.commits
  const before = await commits()
  const [outcome] = await store.createExecutions([trigger(['nobody'])])
  assert.equal(outcome?.kind, 'unknown-device')
  assert.equal(await commits(), before)
  await store.checkHealth()
  assert.notEqual(await commits(), before)
})

test('when BEGIN alone is canceled, nothing that was sent behind it takes effect', async (t) => {
  const databaseUrl = await createDatabase(await sharedPostgres())
  const proxy = await openCommitProxy(t, databaseUrl)
  const store = await openPostgresStore({ url: proxy.url })
  t.after(() => store.close())
  const { ownerNo, trigger } = await seedOwner(store)
  proxy.failNextBegin()
  await assert.rejects(createOne(store, trigger(['d1'])), StorageUnavailable)
  assert.deepEqual(await allRuns(store, ownerNo), [])
  proxy.failNextBegin()
  await assert.rejects(store.putDevices([devicePut(ownerNo, 'new')]), StorageUnavailable)
  assert.equal(await store.getDevice({ ownerNo, deviceId: 'new' }), undefined)
})
