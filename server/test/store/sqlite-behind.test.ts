// Memory is updated after a change is in the file, so other threads may already have read it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report, update } from './device-reports.ts'
import { plan, releaseTo, rolloutOf } from './exercise-rollouts.ts'
import { openSqliteUnderTest } from './sqlite-under-test.ts'
import { createOne, seedOwner } from './store-under-test.ts'

test('a device may report on a released execution before memory is updated', async (t) => {
  const { store } = await openSqliteUnderTest(t)
  const { ownerNo, trigger } = await seedOwner(store)
  const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
  const before = await rolloutOf(store, ownerNo, run)
  const [first, second] = [run.firstExecutionId, run.firstExecutionId + 1]
  // Written in this order; memory learns of the release when its answer comes, which is after the reports were sent.
  const [isReleased, one, two] = await Promise.all([
    store.changeRollout(releaseTo(before, 1)),
    report(store, update({ ownerNo, deviceId: 'd1' }, first, 'SUCCEEDED')),
    report(store, update({ ownerNo, deviceId: 'd2' }, second, 'SUCCEEDED')),
  ])
  assert.deepEqual([isReleased, one.kind, two.kind], [true, 'done', 'unknown-execution'])
})
