// Runs that are written in batches: visible as a whole, or not at all.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { parseSelector } from '@jobcast/contract/selector'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import type { LargeTrigger } from '../../src/domain/trigger/trigger.ts'
import {
  allExecutions,
  assertRunsAddUp,
  createOne,
  devicePut,
  keyTimes,
  momentAt,
  moveOf,
  readQueue,
  runOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

export async function exerciseLargeRuns(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest
  const deviceNosOf = async (ownerNo: number) => {
    const slice = { after: undefined, limit: 10_000 }
    const { items } = await store.selectDevices({ ownerNo, where: parseSelector('all'), slice })
    return Int32Array.from(items, ({ deviceNo }) => deviceNo)
  }
  const names = (count: number) => Array.from({ length: count }, (_, n) => `d${String(n).padStart(5, '0')}`)
  const large = (
    trigger: ReturnType<Awaited<ReturnType<typeof seedOwner>>['trigger']>,
    deviceNos: Int32Array,
  ) => {
    const { deviceIds: _, quota: __, ...rest } = trigger
    const request = { where: 'all', matched: deviceNos.length, note: null, rollbackOf: null }
    return { ...rest, request, deviceNos } satisfies LargeTrigger
  }

  await t.test('a large run becomes visible as a whole, and queues are in the order of ids', async () => {
    const devices = names(4500)
    const { ownerNo, trigger } = await seedOwner(store, { devices })
    const first = await createOne(store, trigger(['d00007']))
    const making = store.createLargeRun(large(trigger([]), await deviceNosOf(ownerNo)))
    const seen: number[] = []
    let isMade = false
    const watching = (async () => {
      while (!isMade) {
        const { items } = await store.listRuns({
          ownerNo,
          filter: {},
          slice: { after: undefined, limit: 50 },
        })
        seen.push(...items.map(({ counts }) => counts.PENDING))
        await createOne(store, trigger(['d00007']))
      }
    })()
    const run = runOf(await making)
    isMade = true
    await watching
    assert.deepEqual(
      [...new Set(seen)].filter((count) => count !== 1 && count !== devices.length),
      [],
    )
    const made = await store.getRun({ ownerNo, runId: run.runId })
    assert.deepEqual([made?.total, made?.counts.PENDING, made?.where], [4500, 4500, 'all'])
    const { executions } = await readQueue(store, { ownerNo, deviceId: 'd00007' })
    const ids = executions.map(({ jobExecutionId }) => jobExecutionId)
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    )
    assert.equal(ids[0], first.firstExecutionId)
    assert.ok(ids.includes(run.firstExecutionId + 7))
    assert.equal((await readQueue(store, { ownerNo, deviceId: 'd04499' })).total, 1)
    const listed = await store.listReleased({ ownerNo, runId: run.runId, from: 2, to: 4 })
    assert.deepEqual(
      listed?.executions.map(({ deviceId }) => deviceId),
      ['d00002', 'd00003'],
    )
    await store.moveExecution(moveOf(ownerNo, run.firstExecutionId + 3, 'cancel', momentAt(startedAt)))
    await assertRunsAddUp(store, ownerNo)
  })

  const remove = (ownerNo: number, deviceId: string) =>
    underTest.store.deleteDevice({ ownerNo, deviceId, moment: momentAt(startedAt + 5), actor: 'key k1' })

  await t.test('executions for devices deleted before have ended when the run becomes visible', async () => {
    const { ownerNo, trigger } = await seedOwner(store, { devices: ['a', 'b', 'c'] })
    const deviceNos = await deviceNosOf(ownerNo)
    await remove(ownerNo, 'b')
    const { runId } = runOf(await store.createLargeRun(large(trigger([]), deviceNos)))
    const run = await store.getRun({ ownerNo, runId })
    assert.deepEqual([run?.counts.PENDING, run?.counts.CANCELED], [2, 1])
    const states = (await allExecutions(store, ownerNo, { runId })).map(({ deviceId, execState }) => [
      deviceId,
      execState,
    ])
    assert.deepEqual(states, [
      ['c', 'PENDING'],
      ['b', 'CANCELED'],
      ['a', 'PENDING'],
    ])
    await assertRunsAddUp(store, ownerNo)
  })

  await chaosSubtest(
    t,
    'devices that are deleted and put again while it is written get no execution',
    async () => {
      const devices = names(4500)
      const { ownerNo, trigger } = await seedOwner(store, { devices })
      const deviceNos = await deviceNosOf(ownerNo)
      const replaced = devices.slice(0, 20)
      const making = store.createLargeRun(large(trigger([]), deviceNos))
      for (const deviceId of replaced) {
        await remove(ownerNo, deviceId)
        await store.putDevices([devicePut(ownerNo, deviceId)])
      }
      const { runId } = runOf(await making)
      const stateOf = new Map(
        (await allExecutions(store, ownerNo, { runId })).map(({ deviceId, execState }) => [
          deviceId,
          execState,
        ]),
      )
      // Those that come before its transaction are there as if nothing had happened to them.
      for (const deviceId of replaced) {
        const { total } = await readQueue(store, { ownerNo, deviceId })
        assert.equal(stateOf.get(deviceId), total === 0 ? 'CANCELED' : 'PENDING', deviceId)
      }
      assert.equal(stateOf.get(replaced.at(-1) ?? ''), 'CANCELED')
      assert.equal(stateOf.get('d04499'), 'PENDING')
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('one device at the limit causes a refusal of the whole run', async () => {
    const { ownerNo, trigger } = await seedOwner(store, { devices: ['a', 'b', 'c'] })
    const deviceNos = await deviceNosOf(ownerNo)
    for (const deviceId of ['b', 'b', 'c']) await createOne(store, trigger([deviceId]))
    const asked = { ...large(trigger([]), deviceNos), quota: { isOver: false, perDevice: 2 } }
    assert.deepEqual(await store.createLargeRun(asked), { kind: 'device-over-quota', deviceIds: ['b'] })
    assert.equal((await readQueue(store, { ownerNo, deviceId: 'a' })).total, 0)
    const allowed = { ...asked, quota: { isOver: false, perDevice: 3 } }
    assert.equal((await store.createLargeRun(allowed)).kind, 'created')
    assert.equal((await readQueue(store, { ownerNo, deviceId: 'b' })).total, 3)
  })

  await t.test('a key creates one run, and a missing job none', async () => {
    const { ownerNo, trigger } = await seedOwner(store, { devices: ['a', 'b'] })
    const deviceNos = await deviceNosOf(ownerNo)
    const key = (fill: number) => ({
      ...{ key: 'large', requestHash: new Uint8Array(32).fill(fill), ...keyTimes(startedAt) },
    })
    const asked = { ...large(trigger([]), deviceNos), idempotency: key(1) }
    const made = await store.createLargeRun(asked)
    const again = await store.createLargeRun(asked)
    assert.deepEqual([made.kind, again.kind], ['created', 'replayed'])
    assert.equal(runOf(again).runId, runOf(made).runId)
    const other = await store.createLargeRun({ ...asked, idempotency: key(2) })
    assert.equal(other.kind, 'idempotency-key-reused')
    const unknown = await store.createLargeRun({ ...large(trigger([]), deviceNos), jobName: 'none' })
    assert.equal(unknown.kind, 'unknown-job')
    assert.equal((await readQueue(store, { ownerNo, deviceId: 'a' })).total, 1)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('executions of deleted devices left by an earlier process are ended', async () => {
    const { ownerNo, trigger } = await seedOwner(store, { devices: ['a', 'b'] })
    const { runId } = await createOne(store, trigger(['a', 'b']))
    const where = `owner_no = ${ownerNo} AND device_id = 'b'`
    await underTest.execute(`UPDATE device SET deleted_at = ${startedAt} WHERE ${where}`)
    const opened = await underTest.reopen()
    const gone = { moment: momentAt(startedAt + 9), actor: 'clock' }
    const removed = await opened.removeGone(gone)
    assert.deepEqual(
      removed.map(({ deviceId, execState }) => [deviceId, execState]),
      [['b', 'CANCELED']],
    )
    assert.deepEqual(await opened.removeGone(gone), [])
    const run = await opened.getRun({ ownerNo, runId })
    assert.deepEqual([run?.counts.PENDING, run?.counts.CANCELED], [1, 1])
    assert.equal((await readQueue(opened, { ownerNo, deviceId: 'a' })).total, 1)
    await assertRunsAddUp(opened, ownerNo)
  })
}
