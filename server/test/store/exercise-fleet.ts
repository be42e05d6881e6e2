// The fleet overview in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { execStates } from '@jobcast/contract'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Flow } from '../../src/domain/device/ports/fleet.ts'
import {
  bringTo,
  createOne,
  devicePut,
  momentAt,
  moveOf,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const minute = 60_000

export async function exerciseFleet(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const devicesOf = (ownerNo: number, limit?: number) =>
    readAll((slice: Slice<string>) => underTest.store.listFleetDevices({ ownerNo, slice }), limit)

  await t.test('an empty owner has nothing waiting, running or online', async () => {
    const { ownerNo } = await seedOwner(underTest.store, { devices: [] })
    assert.deepEqual(await underTest.store.getFleetLevels({ ownerNo }), {
      devices: 0,
      online: 0,
      waiting: 0,
      running: 0,
      oldestWaiting: undefined,
    })
    assert.deepEqual(await devicesOf(ownerNo), [])
    const flows = await underTest.store.countFlows({ ownerNo, after: 0, stepMs: minute })
    assert.deepEqual([flows.flows, flows.more], [[], false])
  })

  await t.test(
    'levels count waiting and running executions and online devices of this owner, also after reopening',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store, { devices: execStates.map(String) })
      const { trigger: foreign } = await seedOwner(store)
      await createOne(store, foreign(['d1']))
      const run = await createOne(store, trigger(execStates.map(String)))
      for (const [index, state] of execStates.entries()) {
        await bringTo(store, ownerNo, run.firstExecutionId + index, state)
      }
      const change = {
        ownerNo,
        online: true,
        at: startedAt,
        session: steadyInstant(1),
        transport: 'mqtt',
      } as const
      await store.recordPresence([
        { ...change, deviceId: 'PENDING' },
        { ...change, deviceId: 'FAILED' },
      ])
      await store.deleteDevice({ ownerNo, deviceId: 'EXPIRED', moment: momentAt(startedAt), actor: 'key k1' })
      const expected = {
        devices: execStates.length - 1,
        online: 2,
        waiting: 1,
        running: 2,
        oldestWaiting: {
          jobExecutionId: run.firstExecutionId,
          runId: run.runId,
          jobName: 'restart',
          deviceId: 'PENDING',
          launchedAt: startedAt,
        },
      }
      assert.deepEqual(await store.getFleetLevels({ ownerNo }), expected)
      assert.deepEqual(await (await underTest.reopen()).getFleetLevels({ ownerNo }), expected)
    },
  )

  await t.test('the oldest waiting execution has not begun, in any run', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const [first, second] = [
      await createOne(store, trigger(['d1'])),
      await createOne(store, trigger(['d1', 'd2', 'd3'], { launchedAt: startedAt + 5 })),
    ]
    await bringTo(store, ownerNo, first.firstExecutionId, 'IN_PROGRESS')
    await bringTo(store, ownerNo, second.firstExecutionId, 'CANCELED')
    const { oldestWaiting } = await store.getFleetLevels({ ownerNo })
    assert.equal(oldestWaiting?.jobExecutionId, second.firstExecutionId + 1)
    assert.deepEqual([oldestWaiting?.deviceId, oldestWaiting?.launchedAt], ['d2', startedAt + 5])
  })

  await t.test(
    'each device has the state of what was launched last on it and what it works on, also when opened again',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store, { devices: ['d1', 'd2', 'd3', 'd4', 'gone'] })
      const first = await createOne(store, trigger(['d1', 'd2', 'd3']))
      await bringTo(store, ownerNo, first.firstExecutionId, 'FAILED')
      await bringTo(store, ownerNo, first.firstExecutionId + 1, 'IN_PROGRESS')
      const second = await createOne(store, trigger(['d1']))
      const third = await createOne(store, trigger(['d2']))
      await store.recordPresence([
        {
          ownerNo,
          deviceId: 'd2',
          online: true,
          at: startedAt,
          session: steadyInstant(1),
          transport: 'mqtt',
        },
      ])
      await store.deleteDevice({ ownerNo, deviceId: 'gone', moment: momentAt(startedAt), actor: 'key k1' })
      const last = (jobExecutionId: number, execState: string) => ({ jobExecutionId, execState })
      const running = last(first.firstExecutionId + 1, 'IN_PROGRESS')
      const expected = [
        {
          deviceId: 'd1',
          online: false,
          lastExecution: last(second.firstExecutionId, 'PENDING'),
          lastEnded: last(first.firstExecutionId, 'FAILED'),
        },
        { deviceId: 'd2', online: true, lastExecution: last(third.firstExecutionId, 'PENDING'), running },
        { deviceId: 'd3', online: false, lastExecution: last(first.firstExecutionId + 2, 'PENDING') },
        { deviceId: 'd4', online: false, lastExecution: null },
      ].map((device) => ({ running: null, lastEnded: null, tags: [], ...device }))
      for (const limit of [1, 3, 100]) assert.deepEqual(await devicesOf(ownerNo, limit), expected)
      // What ended earlier does not hide what still waits, nor the other way round.
      await bringTo(store, ownerNo, second.firstExecutionId, 'SUCCEEDED')
      await underTest.reopen()
      const [d1] = await devicesOf(ownerNo)
      assert.deepEqual(d1?.lastEnded, last(second.firstExecutionId, 'SUCCEEDED'))
      assert.deepEqual(d1?.lastExecution, last(second.firstExecutionId, 'SUCCEEDED'))
    },
  )

  await t.test('flows add up state changes by time step, from a cursor on', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const stepNo = startedAt / minute
    const before = (await store.getEventBounds({ ownerNo })).newest
    const run = await createOne(store, trigger(['d1', 'd2', 'd3']))
    const at = (minutes: number) => momentAt(startedAt + minutes * minute)
    const move = (index: number, event: Parameters<typeof moveOf>[2], minutes: number) =>
      store.moveExecution(moveOf(ownerNo, run.firstExecutionId + index, event, at(minutes)))
    await move(0, 'start', 1)
    await move(1, 'start', 1.9)
    await store.putDevices([devicePut(ownerNo, 'd4')])
    const middle = (await store.getEventBounds({ ownerNo })).newest
    await move(0, 'fail', 2)
    await move(1, 'succeed', 2)
    const sorted = (flows: Flow[]) => flows.toSorted((a, b) => a.stepNo - b.stepNo || (a.to < b.to ? -1 : 1))
    const whole = await store.countFlows({ ownerNo, after: before, stepMs: minute })
    const ends: Flow[] = [
      { stepNo: stepNo + 2, from: 'IN_PROGRESS', to: 'FAILED', count: 1 },
      { stepNo: stepNo + 2, from: 'IN_PROGRESS', to: 'SUCCEEDED', count: 1 },
    ]
    assert.deepEqual(sorted(whole.flows), [
      { stepNo, from: null, to: 'PENDING', count: 3 },
      { stepNo: stepNo + 1, from: 'PENDING', to: 'IN_PROGRESS', count: 2 },
      ...ends,
    ])
    assert.equal(whole.more, false)
    assert.equal(whole.upTo, (await store.getEventBounds({ ownerNo })).newest)
    const rest = await store.countFlows({ ownerNo, after: middle, stepMs: minute })
    assert.deepEqual(sorted(rest.flows), ends)
  })

  await t.test(
    'levels and flows of some jobs only, and the cursor goes past the events of others',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store, { jobs: ['restart', 'update'] })
      const stepNo = startedAt / minute
      const restart = await createOne(store, trigger(['d1', 'd2'], { jobName: 'restart' }))
      const update = await createOne(store, trigger(['d1', 'd2', 'd3'], { jobName: 'update' }))
      await store.moveExecution(moveOf(ownerNo, restart.firstExecutionId, 'start'))
      await store.moveExecution(moveOf(ownerNo, update.firstExecutionId, 'start'))
      const levels = async (jobs?: string[]) => {
        const { devices, waiting, running, oldestWaiting } = await store.getFleetLevels({
          ...{ ownerNo, ...(jobs && { jobs }) },
        })
        return [devices, waiting, running, oldestWaiting?.jobName]
      }
      const devices = (await levels())[0]
      assert.deepEqual(await levels(), [devices, 3, 2, 'restart'])
      assert.deepEqual(await levels(['update', 'x']), [devices, 2, 1, 'update'])
      assert.deepEqual(await levels(['re*']), [devices, 1, 1, 'restart'])
      assert.deepEqual(await levels(['absent']), [devices, 0, 0, undefined])
      const flowsOf = async (jobs: string[]) => {
        const { flows, upTo, more } = await store.countFlows({ ownerNo, jobs, after: 0, stepMs: minute })
        assert.deepEqual([upTo, more], [(await store.getEventBounds({ ownerNo })).newest, false])
        return flows.toSorted((one, other) => (one.to < other.to ? 1 : -1))
      }
      assert.deepEqual(await flowsOf(['update']), [
        { stepNo, from: null, to: 'PENDING', count: 3 },
        { stepNo, from: 'PENDING', to: 'IN_PROGRESS', count: 1 },
      ])
      assert.deepEqual(await flowsOf(['absent']), [])
    },
  )

  await t.test('runs are listed by whether they have ended, with and without a job', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { jobs: ['restart', 'update'] })
    const runs = [
      await createOne(store, trigger(['d1'])),
      await createOne(store, trigger(['d1'], { jobName: 'update' })),
      await createOne(store, trigger(['d1'])),
    ].map(({ runId, firstExecutionId }) => ({ runId, firstExecutionId }))
    await bringTo(store, ownerNo, runs[0]?.firstExecutionId ?? 0, 'SUCCEEDED')
    const listed = async (filter: { jobName?: string; finished?: boolean }) =>
      (await readAll((slice: Slice<number>) => store.listRuns({ ownerNo, filter, slice }), 1)).map(
        ({ runId }) => runs.findIndex((run) => run.runId === runId),
      )
    assert.deepEqual(await listed({}), [2, 1, 0])
    assert.deepEqual(await listed({ finished: false }), [2, 1])
    assert.deepEqual(await listed({ finished: true }), [0])
    assert.deepEqual(await listed({ jobName: 'restart' }), [2, 0])
    assert.deepEqual(await listed({ jobName: 'restart', finished: false }), [2])
    assert.deepEqual(await listed({ jobName: 'update', finished: true }), [])
  })
}
