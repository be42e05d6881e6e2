import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecutionFilter } from '../../src/domain/execution/ports/executions.ts'
import { migrateDatabase, openDatabase } from '../../src/store/sqlite/database.ts'
import { openNamedQueries } from '../../src/store/sqlite/named-queries.ts'
import { prepareWrites } from '../../src/store/sqlite/operations.ts'
import { sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'
import { listExecutions } from '../../src/store/tables/execution-list.ts'
import type { JobRef } from '../../src/store/tables/jobs.ts'
import { emptyContent } from './store-under-test.ts'

const runs = 100
const runsPerSlice = 7

/** Runs of two executions each, launched at 1, 2, 3 …, in turn of two jobs. */
async function openFilled() {
  const db = openDatabase(':memory:')
  migrateDatabase(db, sqliteMigrations())
  const writes = prepareWrites(db)
  const owner = await writes.createOwner({ ownerId: 'o', ownerName: 'o', createdAt: 0 })
  assert.ok(owner !== 'name-taken')
  const { ownerNo } = owner
  const jobs: JobRef[] = []
  for (const jobName of ['even', 'odd']) {
    jobs.push((await writes.putJob({ ownerNo, jobName, content: emptyContent, at: 0 })).ref as JobRef)
  }
  const puts = ['a', 'b'].map((deviceId) => ({ ownerNo, deviceId, deviceName: deviceId, tags: [], at: 0 }))
  const deviceNos = Int32Array.from(await writes.putDevices(puts), (put) => put.deviceNo)
  await writes.recordTriggers(
    Array.from({ length: runs }, (_, index) => {
      const { jobNo, versionNo: jobVersion } = jobs[index % 2] as JobRef
      const ids = { runId: index + 1, firstExecutionId: 2 * index + 1, total: 2 }
      const none = { idempotency: null, expireAt: null, deadlineAt: null, retryOf: null, audit: '{}' }
      return { ...ids, ...none, ownerNo, jobNo, jobVersion, launchedAt: index + 1, keyId: 'k1', deviceNos }
    }),
  )
  const queries = openNamedQueries(db)
  return (filter: ExecutionFilter, before: number) =>
    listExecutions(queries, { ownerNo, filter, slice: { after: before, limit: 3 } }, runsPerSlice)
}

const filters: [string, ExecutionFilter, number][] = [
  ['the oldest', { launchedBefore: 3 }, 4],
  ['the oldest of one job', { launchedBefore: 3, jobName: 'odd' }, 2],
  ['the newest', { launchedAfter: runs }, 2],
  ['a state that none is in', { execStates: ['SUCCEEDED'] }, 0],
  ['all', { launchedAfter: 0 }, 2 * runs],
]
for (const [title, filter, expected] of filters) {
  test(`slices that stop looking after some runs find ${title}, each once, newest first`, async () => {
    const list = await openFilled()
    const found: number[] = []
    let before: number | undefined = Number.MAX_SAFE_INTEGER
    let slices = 0
    while (before !== undefined) {
      const slice = await list(filter, before)
      found.push(...slice.items.map((execution) => execution.jobExecutionId))
      before = slice.next
      assert.ok(++slices <= runs, 'it does not get on')
    }
    assert.equal(found.length, expected)
    assert.deepEqual(
      found,
      [...new Set(found)].sort((a, b) => b - a),
    )
    assert.ok(slices > 5, 'nothing was cut')
  })
}
