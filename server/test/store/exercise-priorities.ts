// The order in which every store offers executions with priorities.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { shownPending } from '@jobcast/contract'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import { reportDone, startedBy, update } from './device-reports.ts'
import {
  assertRunsAddUp,
  createOne,
  momentAt,
  readQueue,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

/** More than memory names to the database at once. */
const deep = 120

export async function exercisePriorities(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const seenBy = async (device: DeviceKey, store = underTest.store) =>
    (await readQueue(store, device)).executions.map(({ jobExecutionId, priority }) => [
      jobExecutionId,
      priority,
    ])

  await t.test('a higher priority is offered first, then the older one; what runs continues', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    const launched: { id: number; priority: number }[] = []
    for (const priority of [5, 2, 9, undefined, 7, 9, 0, 5, 2]) {
      const given = priority === undefined ? {} : { priority }
      const run = await createOne(store, trigger(['d2', 'd1'], given))
      assert.equal(run.priority ?? 5, priority ?? 5)
      launched.push({ id: run.firstExecutionId + 1, priority: priority ?? 5 })
      assert.equal((await store.getRun({ ownerNo, runId: run.runId }))?.priority, priority ?? 5)
      const jobExecutionId = run.firstExecutionId
      assert.equal((await store.getExecution({ ownerNo, jobExecutionId }))?.priority, priority ?? 5)
    }
    const inOrder = launched.toSorted((one, other) => other.priority - one.priority || one.id - other.id)
    const expected = inOrder.map(({ id, priority }) => [id, priority])
    assert.deepEqual(await seenBy(device), expected)
    const reopened = await underTest.reopen()
    assert.deepEqual(await seenBy(device, reopened), expected)

    // The last one is started by its device, and is not interrupted by what comes then.
    const last = expected.pop() as [number, number]
    await reportDone(reopened, update(device, last[0], 'IN_PROGRESS', { moment: momentAt(startedAt + 1) }))
    assert.deepEqual(await seenBy(device, reopened), [last, ...expected])
    const moment = momentAt(startedAt + 2)
    assert.equal((await startedBy(reopened, device, { moment }))?.jobExecutionId, last[0])
    await reportDone(reopened, update(device, last[0], 'SUCCEEDED', { moment }))
    for (const [id] of expected as [number, number][]) {
      assert.equal((await startedBy(reopened, device, { moment }))?.jobExecutionId, id)
      await reportDone(reopened, update(device, id, 'SUCCEEDED', { moment }))
    }
    assert.equal(await startedBy(reopened, device, { moment }), undefined)
    await assertRunsAddUp(reopened, ownerNo)
  })

  await t.test('the priority of a job is that of its triggers, unless a run has another', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { content: { priority: 7 } })
    const ofJob = await createOne(store, trigger(['d1']))
    const usual = await createOne(store, trigger(['d1'], { priority: 5 }))
    const higher = await createOne(store, trigger(['d1'], { priority: 8 }))
    const priorities = await Promise.all(
      [ofJob, usual, higher].map(async ({ runId }) => (await store.getRun({ ownerNo, runId }))?.priority),
    )
    assert.deepEqual(priorities, [7, 5, 8])
    assert.deepEqual(await seenBy({ ownerNo, deviceId: 'd1' }), [
      [higher.firstExecutionId, 8],
      [ofJob.firstExecutionId, 7],
      [usual.firstExecutionId, 5],
    ])
  })

  await t.test(`the newest of ${deep} is offered first if it has the highest priority`, async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    const create = async (more: object) => (await createOne(store, trigger(['d1'], more))).firstExecutionId
    const low = await create({ priority: 1 })
    const usual: number[] = []
    for (let count = 0; count < deep; count++) usual.push(await create({}))
    const high = await create({ priority: 6 })
    const queue = await readQueue(store, device)
    assert.equal(queue.total, deep + 2)
    assert.deepEqual(
      queue.executions.map(({ jobExecutionId }) => jobExecutionId),
      [high, ...usual].slice(0, shownPending),
    )
    const moment = momentAt(startedAt + 1)
    assert.equal((await startedBy(store, device, { moment }))?.jobExecutionId, high)
    await reportDone(store, update(device, high, 'SUCCEEDED', { moment }))
    assert.equal((await startedBy(store, device, { moment }))?.jobExecutionId, usual[0])
    assert.ok(!usual.includes(low))
  })

  await t.test('a large run has its priority, too', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const slice = { after: undefined, limit: 10 }
    const { items } = await store.selectDevices({ ownerNo, where: { kind: 'all' }, slice })
    const { deviceIds: _, ...large } = trigger([], { priority: 8 })
    const before = await createOne(store, trigger(['d1']))
    const deviceNos = Int32Array.from(items, ({ deviceNo }) => deviceNo)
    const outcome = await store.createLargeRun({ ...large, deviceNos })
    assert.ok(outcome.kind === 'created')
    const first = await startedBy(store, { ownerNo, deviceId: 'd1' })
    assert.deepEqual([first?.runId, first?.priority], [outcome.run.runId, 8])
    assert.notEqual(first?.runId, before.runId)
  })
}
