// Where a batch of a large run ended is kept in memory: it must not be ahead of what is on disk.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrateDatabase, openDatabase } from '../../src/store/sqlite/database.ts'
import { prepareWrites } from '../../src/store/sqlite/operations.ts'
import { sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'
import { devicePut, emptyContent, momentAt, startedAt } from './store-under-test.ts'

const total = 2500

async function openWithRun(t: TestContext) {
  const db = openDatabase(':memory:')
  t.after(() => db.close())
  migrateDatabase(db, sqliteMigrations())
  const writes = prepareWrites(db)
  const owner = await writes.createOwner({ ownerId: 'o', ownerName: 'o', createdAt: startedAt })
  assert.ok(owner !== 'name-taken')
  const { ownerNo } = owner
  const content = { ...emptyContent, expireAfterSeconds: 1 }
  const { ref } = await writes.putJob({ ownerNo, jobName: 'j', content, at: startedAt })
  assert.ok(ref)
  const { jobNo, versionNo: jobVersion } = ref
  const puts = Array.from({ length: total }, (_, index) => devicePut(ownerNo, `d${index}`))
  const deviceNos = Int32Array.from(await writes.putDevices(puts), (put) => put.deviceNo)
  const ids = { runId: 1, firstExecutionId: 1, total, ownerNo, jobNo, jobVersion, keyId: 'k1', audit: '{}' }
  const times = { launchedAt: startedAt, expireAt: startedAt + 1000, deadlineAt: null }
  await writes.recordTriggers([{ ...ids, ...times, deviceNos, retryOf: null, idempotency: null }])
  const counts = () => db.prepare('SELECT pending, expired, expire_at FROM run').get()
  return { db, writes, counts }
}

test('a batch that the database rolls back is taken again', async (t) => {
  const { db, writes, counts } = await openWithRun(t)
  const moment = momentAt(startedAt + 1000)
  assert.deepEqual((await writes.fireClocks(moment)).moved.length, 1000)
  // Fails after the batch was applied: the counts of a run are written last.
  db.exec("CREATE TRIGGER refuse AFTER UPDATE OF expired ON run BEGIN SELECT RAISE(ABORT, 'refused'); END")
  await assert.rejects(writes.fireClocks(moment), /refused/)
  db.exec('DROP TRIGGER refuse')
  let moved = 0
  for (let more = true; more; ) {
    const fired = await writes.fireClocks(moment)
    moved += fired.moved.length
    more = fired.more
  }
  assert.equal(moved, 1500)
  assert.deepEqual({ ...counts() }, { pending: 0, expired: total, expire_at: null })
  const left = db.prepare("SELECT count(*) AS n FROM execution WHERE state <> 'EXPIRED'").get()
  assert.equal(left?.n, 0)
})
