// Windows in every store: executions are only offered while the window is open in the zone of the device.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import { writeOpenZones } from '../../src/domain/window/open-zones.ts'
import type { WindowPut } from '../../src/domain/window/ports/windows.ts'
import { assertUnknown, report, reportDone, startedBy, startNext, update } from './device-reports.ts'
import { schedulePut } from './exercise-schedules.ts'
import {
  assertRunsAddUp,
  by,
  createOne,
  devicePut,
  emptyContent,
  fireClocks,
  momentAt,
  olderThan,
  readQueue,
  runOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const now = momentAt(startedAt)

export function windowPut(ownerNo: number, windowName: string, ...zones: string[]): WindowPut {
  const rule = { cron: '0 2 * * *', durationMinutes: 60, timeZone: 'device', cutoffMinutes: 0, except: [] }
  const times = { at: startedAt, clock: now.clock }
  return { ownerNo, windowName, ...rule, openZones: writeOpenZones(zones), ...by, ...times, most: 1000 }
}

async function putWindow(store: Store, put: WindowPut): Promise<void> {
  assert.equal((await store.putWindow(put)).kind, 'put')
}

async function nameInJob(store: Store, ownerNo: number, window: string): Promise<void> {
  const put = { ownerNo, jobName: 'restart', content: { ...emptyContent, window }, at: startedAt }
  assert.ok(!(await store.putJob(put)).isRefused)
}

/** As whoever looks at the clock finds it. */
async function open(store: Store, ownerNo: number, windowName: string, ...zones: string[]): Promise<void> {
  const all = await store.listAllWindows()
  const found = all.find((each) => each.ownerNo === ownerNo && each.windowName === windowName)
  assert.ok(found)
  await store.setOpenZones([
    { ownerNo, windowName, version: found.version, openZones: writeOpenZones(zones), ...now },
  ])
}

async function setZone(store: Store, device: DeviceKey, timeZone: string | null): Promise<void> {
  await store.recordAttributes([{ device, changes: { timeZone }, at: startedAt }])
}

async function idsOf(store: Store, device: DeviceKey): Promise<number[]> {
  const { total, executions } = await readQueue(store, device)
  assert.equal(total, executions.length)
  return executions.map(({ jobExecutionId }) => jobExecutionId)
}

/** Over any operation. */
async function assertUnseen(store: Store, device: DeviceKey, jobExecutionId: number): Promise<void> {
  assert.ok(!(await idsOf(store, device)).includes(jobExecutionId))
  await assertUnknown(store, device, jobExecutionId)
}

export async function exerciseWindows(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('outside its window nothing of a run is seen or starts, also after a restart', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    await putWindow(store, windowPut(ownerNo, 'nights', 'Europe/Berlin'))
    const [d1, d2] = [
      { ownerNo, deviceId: 'd1' },
      { ownerNo, deviceId: 'd2' },
    ]
    await setZone(store, d1, 'europe/berlin')
    const run = await createOne(store, trigger(['d1', 'd2'], { window: 'nights' }))
    const { firstExecutionId: first, runId } = run
    assert.equal(run.isWindowed, true)
    assert.equal((await store.getRun({ ownerNo, runId }))?.window, 'nights')
    for (const take of [async () => store, underTest.reopen]) {
      const each = await take()
      await assertUnseen(each, d2, first + 1)
      assert.equal((await report(each, startNext(d2))).kind, 'nothing-pending')
      assert.deepEqual(await idsOf(each, d1), [first])
    }
    const { store: again } = underTest
    assert.equal((await startedBy(again, d1))?.jobExecutionId, first)
    await open(again, ownerNo, 'nights')
    // What has begun continues, also after a restart.
    for (const take of [async () => again, underTest.reopen]) {
      const each = await take()
      assert.deepEqual(await idsOf(each, d1), [first])
      assert.equal((await startedBy(each, d1))?.jobExecutionId, first)
      await reportDone(each, update(d1, first, 'IN_PROGRESS', { statusDetails: { step: 'two' } }))
    }
    await reportDone(underTest.store, update(d1, first, 'SUCCEEDED'))
    await open(underTest.store, ownerNo, 'nights', 'UTC')
    assert.equal((await startedBy(underTest.store, d2))?.jobExecutionId, first + 1)
    await assertRunsAddUp(underTest.store, ownerNo)
  })

  await t.test('executions with a closed window do not block others', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    for (const name of ['one', 'two']) await putWindow(store, windowPut(ownerNo, name))
    const many = Array.from({ length: 120 }, () => trigger(['d1'], { window: 'one' }))
    const closed = (await store.createExecutions(many)).map((each) => runOf(each).firstExecutionId)
    const other = (await createOne(store, trigger(['d1'], { window: 'two' }))).firstExecutionId
    const plain = (await createOne(store, trigger(['d1']))).firstExecutionId
    assert.deepEqual(await idsOf(store, device), [plain])
    const before = await readQueue(store, device)
    await open(store, ownerNo, 'two', 'UTC')
    assert.deepEqual(await idsOf(store, device), [other, plain])
    const [again] = await store.readQueues([{ ...device, unlessMark: before.mark }])
    assert.ok(again !== 'unchanged', 'it has changed for whoever compares')
    const now = await readQueue(store, device)
    assert.deepEqual(await store.readQueues([{ ...device, unlessMark: now.mark }]), ['unchanged'])
    assert.equal((await startedBy(store, device))?.jobExecutionId, other)
    await open(store, ownerNo, 'two')
    await reportDone(store, update(device, other, 'SUCCEEDED'))
    assert.equal((await startedBy(store, device))?.jobExecutionId, plain)
    await reportDone(store, update(device, plain, 'SUCCEEDED'))
    await open(store, ownerNo, 'one', 'UTC')
    assert.equal((await startedBy(store, device))?.jobExecutionId, closed[0])
  })

  await t.test(
    'a device is in the zone its owner says, else in the one it reports, else in UTC',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store)
      const device = { ownerNo, deviceId: 'd1' }
      await putWindow(store, windowPut(ownerNo, 'w', 'Asia/Tokyo'))
      const { firstExecutionId: id } = await createOne(store, trigger(['d1'], { window: 'w' }))
      const isSeen = async () => (await idsOf(underTest.store, device)).includes(id)
      assert.equal(await isSeen(), false)
      await setZone(store, device, 'Asia/Tokyo')
      assert.equal(await isSeen(), true)
      const put = (attributes: Record<string, string>) =>
        store.putDevices([{ ...devicePut(ownerNo, 'd1'), attributes }])
      await put({ timeZone: 'America/Lima' })
      assert.equal(await isSeen(), false)
      assert.deepEqual(await store.listZones({ ownerNo }), ['America/Lima', 'Asia/Tokyo'])
      await setZone(store, device, 'Mars/Olympus')
      await put({ timeZone: 'Asia/Tokyo' })
      assert.equal(await isSeen(), true)
      await underTest.reopen()
      assert.equal(await isSeen(), true)
      const { store: again } = underTest
      await again.putDevices([{ ...devicePut(ownerNo, 'd1') }])
      assert.equal(await isSeen(), false)
      await open(again, ownerNo, 'w', 'UTC')
      assert.equal(await isSeen(), true, 'a zone that there is not is UTC')
      await setZone(again, device, 'Asia/Tokyo')
      assert.equal(await isSeen(), false)
      await setZone(again, device, null)
      assert.equal(await isSeen(), true)
      await again.putDevices([{ ...devicePut(ownerNo, 'fresh'), attributes: { timeZone: 'Asia/Tokyo' } }])
      const fresh = { ownerNo, deviceId: 'fresh' }
      await open(again, ownerNo, 'w', 'Asia/Tokyo')
      const { firstExecutionId } = await createOne(again, trigger(['fresh'], { window: 'w' }))
      assert.deepEqual(await idsOf(again, fresh), [firstExecutionId])
      assert.equal(await again.fillZones(), false)
    },
  )

  await t.test("a job's window holds for its runs, unless a run names another, or none", async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    for (const name of ['w', 'open']) await putWindow(store, windowPut(ownerNo, name))
    await nameInJob(store, ownerNo, 'w')
    await putWindow(store, { ...windowPut(ownerNo, 'open', '*'), timeZone: 'UTC' })
    const usual = await createOne(store, trigger(['d1']))
    const windows = async (...runs: { runId: number }[]) =>
      Promise.all(runs.map(async ({ runId }) => (await store.getRun({ ownerNo, runId }))?.window))
    const other = await createOne(store, trigger(['d2'], { window: 'open' }))
    const none = await createOne(store, trigger(['d3'], { window: null }))
    assert.deepEqual(await windows(usual, other, none), ['w', 'open', null])
    assert.deepEqual([usual.isWindowed, none.isWindowed], [true, undefined])
    const seen = await Promise.all(['d1', 'd2', 'd3'].map((deviceId) => idsOf(store, { ownerNo, deviceId })))
    assert.deepEqual(seen, [[], [other.firstExecutionId], [none.firstExecutionId]])
    const [unknown] = await store.createExecutions([trigger(['d1'], { window: 'nobody' })])
    assert.equal(unknown?.kind, 'unknown-window')
  })

  await t.test('a retry waits for its window; large runs and releases do as well', async () => {
    const { store } = underTest
    const retry = { max: 1, backoffSeconds: 1, on: ['FAILED' as const] }
    const { ownerNo, trigger } = await seedOwner(store, { content: { retry } })
    await putWindow(store, windowPut(ownerNo, 'w', 'UTC'))
    const device = { ownerNo, deviceId: 'd1' }
    const { firstExecutionId: id } = await createOne(store, trigger(['d1'], { window: 'w' }))
    assert.equal((await startedBy(store, device))?.jobExecutionId, id)
    await report(store, update(device, id, 'FAILED'))
    await open(store, ownerNo, 'w')
    const plain = (await createOne(store, trigger(['d1']))).firstExecutionId
    assert.deepEqual(await idsOf(store, device), [plain])
    await fireClocks(store, ownerNo, momentAt(startedAt + 60_000))
    assert.deepEqual(await idsOf(store, device), [plain])
    await open(store, ownerNo, 'w', 'UTC')
    assert.deepEqual(await idsOf(store, device), [id, plain])
    await open(store, ownerNo, 'w')

    const slice = { after: undefined, limit: 9 }
    const { items } = await store.selectDevices({ ownerNo, where: { kind: 'all' }, slice })
    const { deviceIds: _, ...large } = trigger([], { window: 'w' })
    const deviceNos = Int32Array.from(items, ({ deviceNo }) => deviceNo)
    const run = runOf(await store.createLargeRun({ ...large, deviceNos }))
    assert.equal(run.isWindowed, true)
    assert.deepEqual(await idsOf(store, { ownerNo, deviceId: 'd2' }), [])
    const gone = await store.createLargeRun({ ...large, window: 'nobody', deviceNos })
    assert.equal(gone.kind, 'unknown-window')
    const plan = { jobVersion: null, rollout: {}, approval: false, sizes: [1] }
    const held = await createOne(store, trigger(['d2'], { plan, window: 'w' }))
    const part = { ownerNo, runId: held.runId, from: 0, to: 1 }
    assert.equal((await store.listReleased(part))?.isWindowed, true)
  })

  await t.test('those for whom something waits under a window are found by their zones', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    await putWindow(store, windowPut(ownerNo, 'w', 'UTC'))
    await setZone(store, { ownerNo, deviceId: 'd2' }, 'Asia/Tokyo')
    const { firstExecutionId: first, runId } = await createOne(
      store,
      trigger(['d1', 'd2', 'd3'], { window: 'w' }),
    )
    await createOne(store, trigger(['d1']))
    const runs = await store.listWindowRuns({ ownerNo, windowName: 'w' })
    assert.deepEqual(
      runs.map((run) => ({ ...run })),
      [{ runId, first, last: first + 2 }],
    )
    const waiting = async (zones?: string[]) => {
      const range = { first, last: first + 2 }
      return (await store.listWaitingDevices({ ...range, zones })).map(({ deviceId }) => deviceId)
    }
    assert.deepEqual(await waiting(), ['d1', 'd2', 'd3'])
    assert.deepEqual(await waiting(['Asia/Tokyo', 'Asia/Seoul']), ['d2'])
    await startedBy(store, { ownerNo, deviceId: 'd1' })
    assert.deepEqual(await waiting(['UTC']), ['d3'])
  })

  await t.test(
    'a window in use is not deleted; what is judged of an older version does not count',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store)
      for (const name of ['of-job', 'of-run', 'free']) await putWindow(store, windowPut(ownerNo, name))
      await nameInJob(store, ownerNo, 'of-job')
      const run = await createOne(store, trigger(['d1'], { window: 'of-run' }))
      const remove = (windowName: string) => store.deleteWindow({ ownerNo, windowName, ...by, at: startedAt })
      const noOthers = { deviceIds: [], devices: 0, groupNames: [] }
      assert.deepEqual(await remove('of-job'), {
        kind: 'in-use',
        jobNames: ['restart'],
        scheduleNames: [],
        runIds: [],
        ...noOthers,
      })
      assert.deepEqual(await remove('of-run'), {
        kind: 'in-use',
        jobNames: [],
        scheduleNames: [],
        runIds: [run.runId],
        ...noOthers,
      })
      assert.deepEqual(
        [await remove('free'), await remove('free')],
        [{ kind: 'deleted' }, { kind: 'unknown-window' }],
      )
      assert.equal(
        (await store.createExecutions([trigger(['d1'], { window: 'free' })]))[0]?.kind,
        'unknown-window',
      )

      const all = await store.listAllWindows()
      const old = all.find((each) => each.ownerNo === ownerNo && each.windowName === 'of-run')
      assert.ok(old)
      await putWindow(store, windowPut(ownerNo, 'of-run'))
      await store.setOpenZones([{ ...old, ...now, openZones: '|UTC|' }])
      await assertUnseen(store, { ownerNo, deviceId: 'd1' }, run.firstExecutionId)
      const end = { event: 'cancel' as const, moment: now, actor: 'key k1' }
      await store.moveRun({ ownerNo, runId: run.runId, from: undefined, ...end })
      assert.deepEqual(await remove('of-run'), { kind: 'deleted' })
      while (await store.purgeRuns(olderThan(startedAt + 1)));
      assert.equal(await store.getRun({ ownerNo, runId: run.runId }), undefined)
    },
  )

  await t.test('a window that is being deleted cannot be referenced', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo } = seed
    const named = { ...emptyContent, window: 'leaving' }
    for (let round = 0; round < 20; round++) {
      await putWindow(store, windowPut(ownerNo, 'leaving'))
      const jobName = `names ${round}`
      const put = schedulePut(seed)
      const [removal, job, schedule] = await Promise.all([
        store.deleteWindow({ ownerNo, windowName: 'leaving', ...by, at: startedAt }),
        store.putJob({ ownerNo, jobName, content: named, at: startedAt }),
        store.putSchedule({ ...put, scheduleName: jobName, content: { ...put.content, window: 'leaving' } }),
      ])
      const isThere = (await store.getWindow({ ownerNo, windowName: 'leaving' })) !== undefined
      const isNamed = !job.lacksWindow || schedule.kind === 'put'
      assert.deepEqual([isThere, removal.kind], isNamed ? [true, 'in-use'] : [false, 'deleted'])
      assert.equal((await store.getJob({ ownerNo, jobName })) === undefined, job.lacksWindow === true)
      await store.deleteJob({ ownerNo, jobName, at: startedAt })
      await store.deleteSchedule({ ownerNo, scheduleName: jobName, ...by, at: startedAt })
    }
  })

  await t.test('windows are listed by name, and are those of their owner', async () => {
    const { store } = underTest
    const [one, other] = [await seedOwner(store), await seedOwner(store)]
    const put = { ...windowPut(one.ownerNo, 'b'), except: ['2026-12-24/2026-12-26'] }
    assert.deepEqual(await store.putWindow({ ...put, most: 1 }).then(({ kind }) => kind), 'put')
    assert.deepEqual(await store.putWindow({ ...put, windowName: 'c', most: 1 }), { kind: 'too-many' })
    await putWindow(store, windowPut(one.ownerNo, 'a'))
    const list = async (ownerNo: number, after?: string) =>
      store.listWindows({ ownerNo, slice: { after, limit: 1 } })
    const page = await list(one.ownerNo)
    assert.deepEqual([page.items.map(({ windowName }) => windowName), page.next], [['a'], 'a'])
    const [last] = (await list(one.ownerNo, 'a')).items
    const { windowName, except, durationMinutes } = last ?? {}
    assert.deepEqual([windowName, except, durationMinutes], ['b', ['2026-12-24/2026-12-26'], 60])
    assert.deepEqual((await list(other.ownerNo)).items, [])
    assert.equal(await store.getWindow({ ownerNo: other.ownerNo, windowName: 'a' }), undefined)
    assert.equal(
      (await store.deleteWindow({ ownerNo: other.ownerNo, windowName: 'a', ...by, at: startedAt })).kind,
      'unknown-window',
    )
  })

  await t.test('changes of windows and groups are recorded once per lineage', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store)
    const change = async (lineage: string, at: number, durationMinutes: number) => {
      await putWindow(store, { ...windowPut(ownerNo, 'w'), durationMinutes, lineage, at })
      return (await store.getWindow({ ownerNo, windowName: 'w' }))?.changers
    }
    assert.deepEqual(await change('a', 1, 60), [{ lineage: 'a', at: 1 }])
    assert.deepEqual(await change('b', 2, 60), [{ lineage: 'a', at: 1 }])
    const both = [
      { lineage: 'a', at: 1 },
      { lineage: 'b', at: 3 },
    ]
    assert.deepEqual(await change('b', 3, 90), both)
    assert.deepEqual(await change('a', 4, 60), [both[1], { lineage: 'a', at: 4 }])
    const regroup = async (lineage: string, at: number, where: string, description: string | null) => {
      const put = { ownerNo, groupName: 'g', where, description, principal: 'key:k1', lineage, at, most: 9 }
      assert.equal((await store.putGroup(put)).kind, 'put')
      return (await store.findGroups({ ownerNo, groupNames: ['g'] }))[0]?.changers
    }
    assert.deepEqual(await regroup('a', 1, 'all', null), [{ lineage: 'a', at: 1 }])
    assert.deepEqual(await regroup('b', 2, 'all', 'All of them'), [{ lineage: 'a', at: 1 }])
    assert.deepEqual(await regroup('b', 3, 'tag=b', 'All of them'), both)
  })

  await t.test('a window and a group have their creator and the last principal that put them', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store)
    const makers = { window: [] as (string | null)[][], group: [] as (string | null)[][] }
    for (const [at, principal] of ['key:k1', 'key:k2', 'user:ana'].entries()) {
      await putWindow(store, { ...windowPut(ownerNo, 'w'), principal, at })
      const group = { ownerNo, groupName: 'g', where: 'all', description: null }
      await store.putGroup({ ...group, principal, lineage: principal, at, most: 9 })
      const window = await store.getWindow({ ownerNo, windowName: 'w' })
      const [listed] = (await store.listGroups({ ownerNo, slice: { after: undefined, limit: 1 } })).items
      makers.window.push([window?.createdBy ?? null, window?.updatedBy ?? null])
      makers.group.push([listed?.createdBy ?? null, listed?.updatedBy ?? null])
    }
    const expected = ['key:k1', 'key:k2', 'user:ana'].map((last) => ['key:k1', last])
    assert.deepEqual(makers, { window: expected, group: expected })
  })
}
