// Queues of devices in every store: waiting executions and those in progress.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { shownPending } from '@jobcast/contract'
import { testSize } from '@jobcast/testkit/test-size'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import type { DeviceQueue } from '../../src/domain/execution/device-report.ts'
import { output, report, reportDone, startedBy, startNext, update } from './device-reports.ts'
import {
  assertRunsAddUp,
  bringTo,
  createOne,
  devicePut,
  fireClocks,
  keyTimes,
  momentAt,
  moveOf,
  readQueue,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const now = momentAt(startedAt)
const idsOf = ({ executions }: DeviceQueue) => executions.map((execution) => execution.jobExecutionId)

/** Of steps sent while a queue is read: which of them it meets is another each time. Six have each end of each device. */
const rounds = testSize('rounds', { test: 2, chaos: 100 })

export async function exerciseQueues(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test(
    'a device has something unfinished from a trigger until its end, also after a restart',
    async () => {
      const { store, reopen } = underTest
      const { ownerNo, trigger } = await seedOwner(store)
      const device = { ownerNo, deviceId: 'd1' }
      assert.equal(await store.hasUnfinished(device), false)
      const { firstExecutionId } = await createOne(store, trigger(['d1']))
      assert.equal(await store.hasUnfinished(device), true)
      assert.equal(await store.hasUnfinished({ ownerNo, deviceId: 'd2' }), false)
      assert.equal(await store.hasUnfinished({ ownerNo, deviceId: 'unknown' }), false)
      await bringTo(store, ownerNo, firstExecutionId, 'CANCELING')
      const again = await reopen()
      assert.equal(await again.hasUnfinished(device), true)
      const ended = await createOne(again, trigger(['d3']))
      await bringTo(again, ownerNo, ended.firstExecutionId, 'SUCCEEDED')
      assert.equal(await again.hasUnfinished({ ownerNo, deviceId: 'd3' }), false)
    },
  )

  await t.test('a queue has executions in progress, then waiting ones, each oldest first', async () => {
    const { store, reopen } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    const ids: number[] = []
    for (let count = 0; count < 15; count++) {
      ids.push((await createOne(store, trigger(['d2', 'd1', 'd3']))).firstExecutionId + 1)
    }
    const [canceling = 0, ended = 0, running = 0] = [ids[3], ids[5], ids[12]]
    await reportDone(store, update(device, running, 'IN_PROGRESS'))
    await bringTo(store, ownerNo, canceling, 'CANCELING')
    await bringTo(store, ownerNo, ended, 'SUCCEEDED')
    const waiting = ids.filter((id) => ![canceling, ended, running].includes(id))
    for (const open of [async () => store, reopen]) {
      const each = await open()
      const queue = await readQueue(each, device)
      assert.equal(queue.total, 14)
      assert.deepEqual(idsOf(queue), [canceling, running, ...waiting].slice(0, shownPending))
      for (const execution of queue.executions) {
        const { jobExecutionId } = execution
        assert.deepEqual(await each.getDeviceExecution({ ...device, jobExecutionId }), execution)
      }
    }
    await assertRunsAddUp(underTest.store, ownerNo)
  })

  await t.test(
    'queues are answered in the order of the request, with nothing for a device that does not exist',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store)
      const foreign = await seedOwner(store, { devices: ['theirs'] })
      const { firstExecutionId: first } = await createOne(store, trigger(['d1', 'd2', 'd3']))
      await store.deleteDevice({ ownerNo, deviceId: 'd3', moment: now, actor: 'key k1' })
      const known = await readQueue(store, { ownerNo, deviceId: 'd1' })
      const wanted: (DeviceKey & { unlessMark?: number | undefined })[] = [
        { ownerNo, deviceId: 'nobody' },
        { ownerNo, deviceId: 'd2' },
        { ownerNo, deviceId: 'theirs' },
        { ownerNo, deviceId: 'd1', unlessMark: known.mark },
        { ownerNo, deviceId: 'd3' },
        { ownerNo, deviceId: 'd1' },
        { ownerNo: foreign.ownerNo, deviceId: 'theirs' },
      ]
      const answers = await store.readQueues(wanted)
      assert.deepEqual(
        answers.map((answer) => (typeof answer === 'object' ? idsOf(answer) : answer)),
        [undefined, [first + 1], undefined, 'unchanged', undefined, [first], []],
      )
      assert.deepEqual(await store.readQueues([]), [])
    },
  )

  await t.test('the mark of a queue changes exactly when the queue does', async () => {
    const { store } = underTest
    const retry = { max: 1, backoffSeconds: 10, on: ['FAILED' as const] }
    const { ownerNo, trigger } = await seedOwner(store, { content: { retry } })
    const device = { ownerNo, deviceId: 'd1' }
    const first = (await createOne(store, trigger(['d1']))).firstExecutionId
    const later = momentAt(startedAt + 10_000)
    const keyed = trigger(['d1', 'd2'], {
      idempotency: { key: 'k', requestHash: new Uint8Array(32), ...keyTimes(startedAt) },
    })
    const steps: [string, boolean, () => Promise<unknown>][] = [
      ['nothing', false, async () => undefined],
      ['another device gets something', false, () => createOne(store, trigger(['d2']))],
      ['it gets something', true, () => createOne(store, keyed)],
      ['the same call again', false, () => store.createExecutions([keyed])],
      ['a call that is refused', false, () => store.createExecutions([trigger(['d1', 'nobody'])])],
      ['it is notified', false, () => store.recordDeliveries({ notified: [first], delivered: [], at: 1 })],
      ['it is renamed', false, () => store.putDevices([devicePut(ownerNo, 'd1', 'renamed')])],
      [
        'it comes online',
        false,
        () =>
          store.recordPresence([
            { ...device, online: true, at: 1, transport: 'mqtt', session: steadyInstant(1) },
          ]),
      ],
      ['it starts the first', true, () => report(store, startNext(device))],
      ['it asks again', false, () => report(store, startNext(device))],
      ['it reports progress', false, () => report(store, update(device, first, 'IN_PROGRESS'))],
      ['it writes', false, () => report(store, output(device, first, 0, 'text'))],
      ['it says what is refused', false, () => report(store, update(device, first, 'CANCELED'))],
      ['a clock with nothing to do', false, () => fireClocks(store, ownerNo, now)],
      ['it fails and waits for a retry', true, () => report(store, update(device, first, 'FAILED'))],
      ['its retry delay is over', true, () => fireClocks(store, ownerNo, later)],
      ['it starts again', true, () => report(store, startNext(device, { moment: later }))],
      ['it shall stop', true, () => store.moveExecution(moveOf(ownerNo, first, 'cancel'))],
      ['a cancel that is refused', false, () => store.moveExecution(moveOf(ownerNo, first, 'cancel'))],
      ['it stops', true, () => report(store, update(device, first, 'CANCELED'))],
      ['the other is canceled', true, () => store.moveExecution(moveOf(ownerNo, first + 2, 'cancel'))],
    ]
    let { mark } = await readQueue(store, device)
    assert.notEqual(mark, undefined)
    for (const [title, changes, take] of steps) {
      const before = await readQueue(store, device)
      await take()
      const [queue] = await store.readQueues([{ ...device, unlessMark: mark }])
      assert.ok(queue)
      assert.equal(queue !== 'unchanged', changes, title)
      if (queue === 'unchanged') continue
      assert.notEqual(queue.mark, mark, title)
      assert.notDeepEqual({ ...queue, mark: 0 }, { ...before, mark: 0 }, title)
      mark = queue.mark
    }
    assert.equal((await readQueue(store, device)).total, 0)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a run that is being written is seen by all its devices or by none', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const wanted = ['d1', 'd2', 'd3'].map((deviceId) => ({ ownerNo, deviceId }))
    for (let round = 0; round < rounds; round++) {
      // So that there is something to read for one of them.
      const { firstExecutionId: older } = await createOne(store, trigger(['d1']))
      const sent: Promise<unknown>[] = []
      const looks: ReturnType<typeof store.readQueues>[] = []
      for (let count = 0; count < 5; count++) {
        sent.push(store.createExecutions([trigger(['d1', 'd2', 'd3'])]))
        looks.push(store.readQueues(wanted), store.readQueues(wanted))
        await Promise.race([sent.at(-1), looks.at(-1)])
        looks.push(store.readQueues(wanted))
      }
      for (const queues of await Promise.all(looks)) {
        const [ofFirst = [], ofSecond, ofThird] = queues.map((queue) => {
          assert.ok(typeof queue === 'object')
          assert.equal(queue.total, queue.executions.length)
          return idsOf(queue)
        })
        const shared = ofFirst.filter((id) => id !== older)
        assert.equal(shared.length, ofFirst.length - 1)
        assert.deepEqual(
          ofSecond,
          shared.map((id) => id + 1),
        )
        assert.deepEqual(
          ofThird,
          shared.map((id) => id + 2),
        )
      }
      await Promise.all(sent)
      for (const device of wanted) {
        for (const id of idsOf(await readQueue(store, device))) {
          await store.moveExecution(moveOf(ownerNo, id, 'cancel'))
        }
      }
    }
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'an execution that ends or is delayed while a queue is read is in it or not, and the total agrees',
    async () => {
      const { store } = underTest
      const retry = { max: 9, backoffSeconds: 10, on: ['FAILED' as const] }
      const { ownerNo, trigger } = await seedOwner(store, { content: { retry } })
      for (let round = 0; round < rounds; round++) {
        const device = { ownerNo, deviceId: round % 2 ? 'd1' : 'd2' }
        const first = (await createOne(store, trigger([device.deviceId]))).firstExecutionId
        const second = (await createOne(store, trigger([device.deviceId]))).firstExecutionId
        const status = round % 3 ? 'SUCCEEDED' : 'FAILED'
        const sent: Promise<unknown>[] = [store.recordReports([startNext(device)])]
        const looks = [store.readQueues([device])]
        sent.push(store.recordReports([update(device, first, status)]))
        // So many that some are answered from after the report, though they were sent before it was done.
        for (let count = 0; count < 8; count++) {
          const next = Array.from({ length: 10 }, () => store.readQueues([device]))
          looks.push(...next)
          await next[0]
        }
        await Promise.all(sent)
        looks.push(store.readQueues([device]))
        for (const [queue] of await Promise.all(looks)) {
          assert.ok(typeof queue === 'object')
          assert.equal(queue.total, queue.executions.length)
          assert.ok(queue.executions.every(({ attempt }) => attempt === 1))
          assert.equal(queue.executions.at(-1)?.jobExecutionId, second)
        }
        for (const id of [first, second]) await store.moveExecution(moveOf(ownerNo, id, 'force-cancel'))
      }
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('a failed trigger does not change the queues', async () => {
    const { store, failAt } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    const { firstExecutionId } = await createOne(store, trigger(['d1']))
    await failAt(startedAt + 13)
    const { mark } = await readQueue(store, device)
    await assert.rejects(store.createExecutions([trigger(['d1', 'd2'], { launchedAt: startedAt + 13 })]))
    assert.deepEqual(await store.readQueues([{ ...device, unlessMark: mark }]), ['unchanged'])
    assert.equal((await startedBy(store, device))?.jobExecutionId, firstExecutionId)
    assert.equal(await startedBy(store, { ownerNo, deviceId: 'd2' }), undefined)
  })

  await t.test('a device that is deleted and put again has an empty queue', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    await createOne(store, trigger(['d1']))
    await startedBy(store, device)
    await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: now, actor: 'key k1' })
    assert.deepEqual(await store.readQueues([device]), [undefined])
    await store.putDevices([devicePut(ownerNo, 'd1')])
    assert.deepEqual(idsOf(await readQueue(store, device)), [])
    const { firstExecutionId } = await createOne(store, trigger(['d1']))
    assert.deepEqual(idsOf(await readQueue(store, device)), [firstExecutionId])
    await assertRunsAddUp(store, ownerNo)
  })
}
