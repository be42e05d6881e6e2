// Retention in every store: each run is purged as a whole, with all of its data, and everything else remains unchanged.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { execStates } from '@jobcast/contract'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import { testSize } from '@jobcast/testkit/test-size'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import { output, report, startNext, update } from './device-reports.ts'
import {
  allExecutions,
  allRuns,
  assertRunsAddUp,
  createOne,
  devicePut,
  keyTimes,
  momentAt,
  moveOf,
  olderThan,
  readQueue,
  type Seed,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const hour = 60 * 60_000

/** In batches; gives how many it took. */
async function purgeAll(store: Store, endedBefore: number): Promise<number> {
  for (let calls = 1; ; calls++) {
    if (!(await store.purgeRuns(olderThan(endedBefore)))) return calls
    assert.ok(calls < 1000, 'it does not come to an end')
  }
}

/** One that ends at the instant, by a device that also writes output. */
async function endedRun(store: Store, seed: Seed, deviceIds: string[], at: number): Promise<LaunchedRun> {
  const run = await createOne(store, seed.trigger(deviceIds, { launchedAt: at - 10 }))
  for (const [index, deviceId] of deviceIds.entries()) {
    const device = { ownerNo: seed.ownerNo, deviceId }
    const id = run.firstExecutionId + index
    const moment = momentAt(at)
    await report(store, startNext(device, { moment }))
    await report(store, output(device, id, 0, 'some output'))
    await report(store, update(device, id, index % 2 === 0 ? 'SUCCEEDED' : 'FAILED', { moment }))
  }
  return run
}

async function assertUnknown(store: Store, { ownerNo }: Seed, run: LaunchedRun): Promise<void> {
  const { runId, firstExecutionId: id, devices } = run
  const device = { ownerNo, deviceId: devices.at(0)?.deviceId ?? '' }
  const slice = { offset: 0, limit: 9, attempt: undefined }
  assert.equal(await store.getRun({ ownerNo, runId }), undefined)
  assert.equal(await store.listEndedDevices({ ownerNo, runId, ends: 'unsuccessful' }), undefined)
  assert.equal(await store.getExecution({ ownerNo, jobExecutionId: id }), undefined)
  assert.equal(await store.listTransitions({ ownerNo, jobExecutionId: id }), undefined)
  assert.equal(await store.readOutput({ ownerNo, jobExecutionId: id, ...slice }), undefined)
  assert.equal(await store.readOutput({ ownerNo, jobExecutionId: id, ...slice, attempt: 1 }), undefined)
  assert.equal(await store.getDeviceExecution({ ...device, jobExecutionId: id }), undefined)
  assert.deepEqual(await store.moveExecution(moveOf(ownerNo, id, 'cancel')), { kind: 'unknown-execution' })
  const move = { ownerNo, runId, from: undefined, event: 'cancel', moment: momentAt(startedAt) } as const
  assert.equal(await store.moveRun({ ...move, actor: 'key k1' }), undefined)
  const late = await report(store, update(device, id, 'SUCCEEDED'))
  assert.equal(late.kind, 'unknown-execution')
  await store.recordDeliveries({ notified: [id], delivered: [id], at: startedAt })
  const { events } = await store.listEvents({ ownerNo, filter: {}, slice: { after: 0, limit: 1000 } })
  assert.ok(events.every(({ data }) => !('runId' in data) || data.runId !== runId))
  const ofDevice = await store.listEvents({
    ownerNo,
    filter: { deviceId: device.deviceId },
    slice: { after: 0, limit: 1000 },
  })
  assert.ok(ofDevice.events.every(({ data }) => !('runId' in data) || data.runId !== runId))
  const lists = [{}, device, { runId }, ...execStates.map((execState) => ({ execStates: [execState] }))]
  for (const filter of lists) {
    const found = await allExecutions(store, ownerNo, 'ownerNo' in filter ? device : filter, 2)
    assert.ok(found.every((execution) => execution.runId !== runId))
  }
}

export async function exerciseRetention(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  // The first one: it counts rows, and the others leave some.
  await t.test('nothing of the run is left', async () => {
    const { store, countRows } = underTest
    const seed = await seedOwner(store)
    const { ownerNo } = seed
    const counts = async () => Promise.all(['run', 'transition', 'output', 'device_rename'].map(countRows))
    const run = await endedRun(store, seed, ['d1', 'd2'], startedAt)
    await store.putDevices([devicePut(ownerNo, 'd1', 'renamed')])
    const named = await endedRun(store, seed, ['d1'], startedAt + hour)
    await store.putDevices([devicePut(ownerNo, 'd1', 'renamed again')])
    assert.deepEqual(await counts(), [2, 6, 3, 2])
    await purgeAll(store, startedAt + hour)
    await assertUnknown(store, seed, run)
    assert.equal(
      (await store.getExecution({ ownerNo, jobExecutionId: named.firstExecutionId }))?.deviceName,
      'renamed',
    )
    assert.deepEqual(await counts(), [1, 2, 1, 1])
    await purgeAll(store, startedAt + 2 * hour)
    assert.deepEqual(await counts(), [0, 0, 0, 0])
    assert.equal(await countRows('purged_range'), 0)
    const next = await createOne(store, seed.trigger(['d1']))
    assert.equal(next.devices.at(0)?.deviceName, 'renamed again')
    assert.ok(next.firstExecutionId > named.firstExecutionId)
  })

  await t.test('a run that ended before then is unknown, and all others stay as they are', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo } = seed
    const old = [
      await endedRun(store, seed, ['d1', 'd2'], startedAt),
      await endedRun(store, seed, ['d3'], startedAt + 1),
    ]
    const kept = await endedRun(store, seed, ['d1', 'd3'], startedAt + hour)
    const waiting = await createOne(store, seed.trigger(['d1', 'd2']))
    const before = {
      run: await store.getRun({ ownerNo, runId: kept.runId }),
      history: await store.listTransitions({ ownerNo, jobExecutionId: kept.firstExecutionId }),
      queue: await readQueue(store, { ownerNo, deviceId: 'd1' }),
      executions: (await allExecutions(store, ownerNo)).slice(0, 4),
    }
    await purgeAll(store, startedAt + hour)
    for (const run of old) await assertUnknown(store, seed, run)
    assert.deepEqual(
      {
        run: await store.getRun({ ownerNo, runId: kept.runId }),
        history: await store.listTransitions({ ownerNo, jobExecutionId: kept.firstExecutionId }),
        queue: await readQueue(store, { ownerNo, deviceId: 'd1' }),
        executions: await allExecutions(store, ownerNo),
      },
      before,
    )
    await assertRunsAddUp(store, ownerNo)
    assert.deepEqual(
      (await allRuns(store, ownerNo)).map(({ runId }) => runId),
      [waiting.runId, kept.runId],
    )
    const again = await underTest.reopen()
    for (const run of old) await assertUnknown(again, seed, run)
    assert.equal((await readQueue(again, { ownerNo, deviceId: 'd2' })).total, 1)
    await assertRunsAddUp(again, ownerNo)
    const next = await createOne(again, seed.trigger(['d1']))
    assert.ok(next.firstExecutionId > waiting.firstExecutionId && next.runId > waiting.runId)
  })

  await t.test('the end of its last execution determines the age of a run', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo } = seed
    const run = await createOne(store, seed.trigger(['d1', 'd2'], { launchedAt: startedAt - 9 * hour }))
    const end = (index: number, at: number) =>
      store.moveExecution(moveOf(ownerNo, run.firstExecutionId + index, 'cancel', momentAt(at)))
    await end(0, startedAt - 8 * hour)
    await purgeAll(store, startedAt)
    assert.equal((await store.getRun({ ownerNo, runId: run.runId }))?.counts.PENDING, 1)
    await end(1, startedAt)
    await purgeAll(store, startedAt)
    assert.equal((await allExecutions(store, ownerNo)).length, 2)
    await purgeAll(store, startedAt + 1)
    await assertUnknown(store, seed, run)
  })

  await t.test('a run that is dated wrongly stays while one that was launched before it does', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    // Later than whatever the other tests have left.
    const now = startedAt + 1000 * 24 * hour
    const [old, fresh, ahead] = [now - hour, now, now + 365 * 24 * hour]
    const runs: LaunchedRun[] = []
    for (const at of [old, ahead, old, fresh, old]) runs.push(await endedRun(store, seed, ['d1'], at))
    for (let more = true; more; ) {
      more = await store.purgeRuns({ ...olderThan(now - hour / 2), now })
    }
    const left = (await allRuns(store, seed.ownerNo)).map(({ runId }) => runId).sort((a, b) => a - b)
    const stay = [1, 3, 4].map((index) => runs[index]?.runId)
    assert.deepEqual(left, stay)
  })

  await t.test('a call whose run is purged is a new call', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const idempotency = { key: 'once', requestHash: new Uint8Array(32), ...keyTimes(startedAt) }
    const run = await createOne(store, seed.trigger(['d1'], { idempotency }))
    const [replay] = await store.createExecutions([seed.trigger(['d1'], { idempotency })])
    assert.equal(replay?.kind, 'replayed')
    await store.moveExecution(moveOf(seed.ownerNo, run.firstExecutionId, 'cancel'))
    await purgeAll(store, startedAt + 1)
    const [again] = await store.createExecutions([seed.trigger(['d1'], { idempotency })])
    assert.equal(again?.kind, 'created')
  })

  await t.test('leftovers of purged runs are erased even if nothing more is purged', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    await purgeAll(store, startedAt)
    const before = await underTest.countRows('transition')
    const run = await endedRun(store, seed, ['d1', 'd2'], startedAt)
    assert.ok((await underTest.countRows('transition')) > before)
    const isThere = () => store.getRun({ ownerNo: seed.ownerNo, runId: run.runId })
    while ((await isThere()) !== undefined) await store.purgeRuns(olderThan(startedAt + 1))
    assert.ok((await underTest.countRows('purged_range')) > 0)
    for (let calls = 1; await store.eraseLeftovers(); calls++) assert.ok(calls < 100)
    assert.equal(await underTest.countRows('purged_range'), 0)
    assert.ok((await underTest.countRows('transition')) <= before)
    assert.equal(await store.eraseLeftovers(), false)
  })

  await t.test(
    'a large run is purged at once, and its rows in batches that continue after a restart',
    async () => {
      const { store } = underTest
      const devices = Array.from({ length: 2500 }, (_, index) => `device-${index}`)
      const seed = await seedOwner(store, { devices })
      const { ownerNo } = seed
      const run = await createOne(store, seed.trigger(devices))
      const waits = await createOne(store, seed.trigger(['device-7']))
      let next: number | undefined
      do {
        const moved = await store.moveRun({
          ownerNo,
          runId: run.runId,
          from: next,
          event: 'cancel',
          moment: momentAt(startedAt),
          actor: 'key k1',
        })
        next = moved?.next
      } while (next !== undefined)
      const historyBefore = await underTest.countRows('transition')
      assert.ok(historyBefore >= 2500)
      // The batch that purges the run, and one that begins with its rows.
      for (let calls = 0; (await store.getRun({ ownerNo, runId: run.runId })) !== undefined; calls++) {
        assert.ok(calls < 10 && (await store.purgeRuns(olderThan(startedAt + 1))))
      }
      await assertUnknown(store, seed, run)
      await store.purgeRuns(olderThan(startedAt + 1))
      assert.ok((await underTest.countRows('purged_range')) > 0, 'it was no large run')
      const again = await underTest.reopen()
      await assertUnknown(again, seed, run)
      assert.ok((await purgeAll(again, startedAt + 1)) > 1)
      assert.equal(await underTest.countRows('purged_range'), 0)
      assert.ok((await underTest.countRows('transition')) <= historyBefore - 2500)
      const queue = await readQueue(again, { ownerNo, deviceId: 'device-7' })
      assert.deepEqual(
        queue.executions.map(({ jobExecutionId }) => jobExecutionId),
        [waits.firstExecutionId],
      )
    },
  )

  await chaosSubtest(t, 'runs that never end do not keep newer ones from being purged', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo } = seed
    for (let count = 0; count < 1100; count += 100) {
      await store.createExecutions(Array.from({ length: 100 }, () => seed.trigger(['d1'])))
    }
    const old = await endedRun(store, seed, ['d2'], startedAt)
    await purgeAll(store, startedAt + 1)
    await assertUnknown(store, seed, old)
    assert.equal((await allRuns(store, ownerNo)).length, 1100)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('purging does not affect concurrent triggers and reports', async () => {
    const { store } = underTest
    const seed = await seedOwner(store, { devices: ['a', 'b', 'c', 'd'] })
    const { ownerNo } = seed
    let isOver = false
    const purging = (async () => {
      while (!isOver) await store.purgeRuns(olderThan(startedAt + hour))
    })()
    const kept: number[] = []
    const runs = testSize('runs', { test: 10, chaos: 200 })
    const work = async (deviceId: string, old: boolean) => {
      for (let count = 0; count < runs; count++) {
        const run = await endedRun(store, seed, [deviceId], old ? startedAt : startedAt + 2 * hour)
        if (!old) kept.push(run.runId)
      }
    }
    await Promise.all([work('a', true), work('b', false), work('c', true), work('d', false)])
    isOver = true
    await purging
    await purgeAll(store, startedAt + hour)
    assert.deepEqual(
      (await allRuns(store, ownerNo)).map(({ runId }) => runId),
      kept.sort((one, other) => other - one),
    )
    await assertRunsAddUp(store, ownerNo)
  })
}
