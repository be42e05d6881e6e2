// Time limits while windows and freezes hold executions back: they do not run, in either store, nor over a restart.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import { writeOpenZones } from '../../src/domain/window/open-zones.ts'
import { report, reportDone, startedBy, update } from './device-reports.ts'
import { windowPut } from './exercise-windows.ts'
import {
  assertRunsAddUp,
  createOne,
  fireClocks,
  momentAt,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const hour = 3600
const after = (seconds: number) => momentAt(startedAt + seconds * 1000)

export async function exerciseHolds(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  /** A window that is closed, and a run under it on three devices: d1 and d2 in Berlin, d3 in UTC. */
  async function seedRun(content: Partial<StoredJobContent>, devices = ['d1', 'd2', 'd3']) {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { content, devices })
    await store.putWindow(windowPut(ownerNo, 'nights'))
    for (const deviceId of ['d1', 'd2']) {
      const changes = { timeZone: 'Europe/Berlin' }
      await store.recordAttributes([{ device: { ownerNo, deviceId }, changes, at: startedAt }])
    }
    const run = await createOne(store, trigger(devices, { window: 'nights' }))
    return {
      ...{ ownerNo, first: run.firstExecutionId, runId: run.runId, trigger },
      device: (deviceId: string) => ({ ownerNo, deviceId }),
      async open(seconds: number, ...zones: string[]) {
        const all = await underTest.store.listAllWindows()
        const window = all.find((each) => each.ownerNo === ownerNo)
        assert.ok(window)
        const { windowName, version } = window
        const openZones = writeOpenZones(zones)
        await underTest.store.setOpenZones([{ ownerNo, windowName, version, openZones, ...after(seconds) }])
      },
      /** The ids of what the clocks have ended by then, as positions in the run. */
      async ended(seconds: number) {
        const moved = await fireClocks(underTest.store, ownerNo, after(seconds))
        return moved.map((each) => [each.jobExecutionId - run.firstExecutionId, each.execState])
      },
    }
  }
  const freeze = (store: Store, ownerNo: number, seconds: number) =>
    store.freezeFleet({ ownerNo, reason: 'r', principal: 'key:k1', ...after(seconds), until: null })
  const unfreeze = (store: Store, ownerNo: number, seconds: number) =>
    store.unfreezeFleet({ ownerNo, principal: 'key:k1', ...after(seconds) })

  await t.test(
    'an execution that waits for its window does not expire before the window was open long enough',
    async () => {
      const { open, ended, ownerNo } = await seedRun({ expireAfterSeconds: 60 })
      assert.deepEqual(await ended(hour), [])
      await open(hour, 'Europe/Berlin')
      assert.deepEqual(await ended(hour + 29), [])
      await open(hour + 30)
      await underTest.reopen()
      assert.deepEqual(await ended(2 * hour), [])
      await open(2 * hour, 'Europe/Berlin', 'UTC')
      assert.deepEqual(await ended(2 * hour + 29), [])
      assert.deepEqual(await ended(2 * hour + 30), [
        [0, 'EXPIRED'],
        [1, 'EXPIRED'],
      ])
      assert.deepEqual(await ended(2 * hour + 59), [])
      assert.deepEqual(await ended(2 * hour + 60), [[2, 'EXPIRED']])
      await assertRunsAddUp(underTest.store, ownerNo)
    },
  )

  await t.test('a deadline does not run until a held execution may begin', async () => {
    const { open, ended, device, first } = await seedRun({ deadlineSeconds: 60 })
    assert.deepEqual(await ended(hour), [])
    await open(hour, 'Europe/Berlin')
    const begun = await startedBy(underTest.store, device('d1'), { moment: after(hour + 10) })
    assert.deepEqual(begun?.timesOutAt, after(hour + 60).clock)
    // What runs is not held back by what closes.
    await open(hour + 20)
    assert.deepEqual(await ended(hour + 59), [])
    assert.deepEqual(await ended(hour + 60), [[0, 'TIMED_OUT']])
    await open(2 * hour, 'Europe/Berlin', 'UTC')
    assert.deepEqual(await ended(2 * hour + 39), [])
    assert.deepEqual(await ended(2 * hour + 40), [[1, 'TIMED_OUT']])
    const last = await startedBy(underTest.store, device('d3'), { moment: after(2 * hour + 50) })
    assert.equal(last?.jobExecutionId, first + 2)
    assert.deepEqual(await ended(2 * hour + 60), [[2, 'TIMED_OUT']])
  })

  await t.test('the limits of another attempt do not run either', async () => {
    const retry = { max: 2, backoffSeconds: 10, on: ['FAILED' as const] }
    const limits = { expireAfterSeconds: 60, deadlineSeconds: 300, timeoutSeconds: 100 }
    const { open, ended, device, first } = await seedRun({ ...limits, retry }, ['d1'])
    await open(hour, 'Europe/Berlin')
    const d1 = device('d1')
    await startedBy(underTest.store, d1, { moment: after(hour) })
    await open(hour + 5)
    // Unseen from here on: its window is closed.
    const failed = await report(underTest.store, update(d1, first, 'FAILED', { moment: after(hour + 20) }))
    assert.equal(failed.kind, 'done')
    assert.equal((await ended(hour + 30)).length, 1, 'it is offered again')
    assert.deepEqual(await ended(2 * hour), [])
    await open(2 * hour, 'Europe/Berlin')
    assert.deepEqual(await ended(2 * hour + 59), [])
    const begun = await startedBy(underTest.store, d1, { moment: after(2 * hour + 59) })
    assert.equal(begun?.attempt, 2)
    // 30 s of its deadline had passed when it waited for the window, and 59 s after that; its time-out comes first.
    assert.deepEqual(begun?.timesOutAt, after(2 * hour + 159).clock)
    await reportDone(underTest.store, update(d1, first, 'FAILED', { moment: after(2 * hour + 60) }))
    assert.equal((await ended(2 * hour + 81)).length, 1, 'it is offered a third time')
    await startedBy(underTest.store, d1, { moment: after(2 * hour + 139) })
    await underTest.store.recordReports([
      update(d1, first, 'IN_PROGRESS', { moment: after(2 * hour + 140), stepTimeout: 10_000_000 }),
    ])
    assert.deepEqual(await ended(2 * hour + 269), [])
    assert.deepEqual(await ended(2 * hour + 270), [[0, 'TIMED_OUT']])
  })

  await t.test('the expiry of another attempt does not run while its window is closed', async () => {
    const retry = { max: 2, backoffSeconds: 10, on: ['FAILED' as const] }
    const { open, ended, device, first } = await seedRun({ expireAfterSeconds: 60, retry }, ['d1'])
    await open(hour, 'Europe/Berlin')
    await startedBy(underTest.store, device('d1'), { moment: after(hour) })
    await reportDone(underTest.store, update(device('d1'), first, 'FAILED', { moment: after(hour) }))
    assert.equal((await ended(hour + 10)).length, 1, 'it is offered again')
    await open(hour + 30)
    assert.deepEqual(await ended(2 * hour), [])
    await open(2 * hour, 'Europe/Berlin')
    assert.deepEqual(await ended(2 * hour + 39), [])
    assert.deepEqual(await ended(2 * hour + 40), [[0, 'EXPIRED']])
  })

  await t.test('limits do not run in a frozen fleet, also for runs with a rollout', async () => {
    const { store } = underTest
    const limits = { expireAfterSeconds: 60, deadlineSeconds: 90 }
    const { ownerNo, trigger } = await seedOwner(store, { content: limits })
    const plan = { jobVersion: null, rollout: {}, approval: false, sizes: [2] }
    const plain = await createOne(store, trigger(['d1']))
    const run = await createOne(store, trigger(['d2', 'd3'], { plan }))
    const found = await store.getRollout({ ownerNo, runId: run.runId })
    assert.ok(found)
    const status = { ...found.rollout.status, released: 2 }
    const change = { before: found.rollout, status, nextAt: null, events: [] }
    assert.ok(await store.changeRollout({ ...change, moment: after(10) }))
    await freeze(store, ownerNo, 20)
    await freeze(store, ownerNo, 30)
    const ended = async (seconds: number) =>
      (await fireClocks(underTest.store, ownerNo, after(seconds))).map((each) => each.jobExecutionId)
    assert.deepEqual(await ended(hour), [])
    await underTest.reopen()
    assert.deepEqual(await ended(hour + 10), [])
    await unfreeze(underTest.store, ownerNo, hour + 20)
    assert.deepEqual(await ended(hour + 59), [])
    assert.deepEqual(await ended(hour + 60), [plain.firstExecutionId])
    await startedBy(underTest.store, { ownerNo, deviceId: 'd2' }, { moment: after(hour + 61) })
    assert.deepEqual(await ended(hour + 70), [run.firstExecutionId + 1])
    assert.deepEqual(await ended(hour + 99), [])
    assert.deepEqual(await ended(hour + 100), [run.firstExecutionId])
    await assertRunsAddUp(underTest.store, ownerNo)
  })

  await chaosSubtest(
    t,
    'of a run larger than a batch, no more than one row is written while it is held back',
    async () => {
      const devices = Array.from({ length: 2500 }, (_, index) => `d${index + 1}`)
      const { open, ended, ownerNo, runId } = await seedRun({ expireAfterSeconds: 60 }, devices)
      const version = async () => (await underTest.store.getRun({ ownerNo, runId }))?.counts.PENDING
      for (const seconds of [60, 120, hour]) assert.deepEqual(await ended(seconds), [])
      assert.equal(await version(), 2500)
      await open(2 * hour, 'UTC')
      assert.equal((await ended(2 * hour + 60)).length, 2498)
      await open(3 * hour, 'Europe/Berlin')
      assert.equal((await ended(3 * hour + 60)).length, 2)
    },
  )
}
