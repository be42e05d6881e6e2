// Retries in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type RetriedState, retriedStates } from '@jobcast/contract'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import { output, report, reportDone, startedBy, startNext, update } from './device-reports.ts'
import {
  assertRunsAddUp,
  createOne,
  fireClocks,
  momentAt,
  moveOf,
  readQueue,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const retry = { max: 2, backoffSeconds: 10, on: [...retriedStates] }
const after = (seconds: number, chance = 0) => momentAt(startedAt + seconds * 1000, { chance })

export async function exerciseRetries(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  /** An owner with one execution for d1 that its device has started. */
  async function seedStarted(content: Partial<StoredJobContent> = {}) {
    const { store } = underTest
    const seed = await seedOwner(store, { content: { retry, ...content } })
    const { ownerNo } = seed
    const { firstExecutionId: jobExecutionId, runId } = await createOne(store, seed.trigger(['d1']))
    const device = { ownerNo, deviceId: 'd1' }
    await reportDone(store, startNext(device, { moment: after(0) }))
    const fail = (seconds: number, chance?: number) =>
      report(store, update(device, jobExecutionId, 'FAILED', { moment: after(seconds, chance) }))
    const stored = async () => {
      const execution = await underTest.store.getExecution({ ownerNo, jobExecutionId })
      assert.ok(execution)
      return execution
    }
    return { ...seed, device, jobExecutionId, runId, fail, stored }
  }

  await t.test('a failed attempt is offered again when its delay is over, not before', async () => {
    const { store } = underTest
    const { ownerNo, device, jobExecutionId, runId, stored } = await seedStarted()
    await store.recordDeliveries({ notified: [jobExecutionId], delivered: [], at: startedAt })
    const failed = await reportDone(store, update(device, jobExecutionId, 'FAILED', { moment: after(1) }))
    const { execState, attempt, versionNumber, notified, startedAt: begun } = failed.execution
    assert.deepEqual([execState, attempt, versionNumber, notified, begun], ['PENDING', 2, 3, false, null])
    const moved = { ...device, jobExecutionId, runId, from: 'IN_PROGRESS', execState: 'PENDING' }
    assert.deepEqual(failed.moved, moved)
    const delayed = await stored()
    assert.deepEqual(
      [delayed.notBefore, delayed.finishedAt, delayed.startedAt, delayed.notifiedAt, delayed.deliveredAt],
      [after(11).clock, null, null, null, null],
    )
    assert.deepEqual(await fireClocks(store, ownerNo, momentAt(after(11).at - 1)), [])
    assert.equal(await startedBy(store, device, { moment: momentAt(after(11).at - 1) }), undefined)
    assert.deepEqual({ ...(await readQueue(store, device)), mark: 0 }, { mark: 0, total: 0, executions: [] })

    assert.deepEqual(await fireClocks(store, ownerNo, after(11)), [{ ...moved, from: 'PENDING' }])
    assert.deepEqual(await fireClocks(store, ownerNo, after(11)), [])
    assert.equal((await stored()).notBefore, null)
    assert.equal((await stored()).versionNumber, 3)
    const queue = await readQueue(store, device)
    assert.deepEqual([queue.total, queue.executions[0]?.attempt], [1, 2])
    const second = await startedBy(store, device, { moment: after(12) })
    assert.deepEqual([second?.attempt, second?.versionNumber, second?.startedAt], [2, 4, after(12).at])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('there are as many attempts as the job allows, each after twice the delay', async () => {
    const { store } = underTest
    const { ownerNo, device, fail, stored } = await seedStarted({ retry: { ...retry, max: 3 } })
    let seconds = 0
    for (const [chance, delay] of [
      [0, 10],
      [1, 10], // half of 20
      [0.5, 30], // three quarters of 40
    ] as const) {
      await fail(seconds, chance)
      assert.equal((await stored()).notBefore, after(seconds + delay).clock)
      seconds += delay
      await fireClocks(store, ownerNo, after(seconds))
      assert.equal((await startedBy(store, device, { moment: after(seconds) }))?.execState, 'IN_PROGRESS')
    }
    const last = await fail(seconds)
    assert.ok(last.kind === 'done')
    assert.deepEqual([last.execution.execState, last.execution.attempt], ['FAILED', 4])
    assert.equal((await stored()).finishedAt, after(seconds).at)
    assert.equal((await stored()).notBefore, null)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('only the end states in the retry policy are followed by another attempt', async () => {
    const { store } = underTest
    for (const on of [['FAILED'], ['TIMED_OUT'], ['FAILED', 'TIMED_OUT']] as RetriedState[][]) {
      for (const end of ['FAILED', 'TIMED_OUT', 'REJECTED', 'SUCCEEDED'] as const) {
        const content = { retry: { ...retry, on }, timeoutSeconds: 5 }
        const { ownerNo, device, jobExecutionId, stored } = await seedStarted(content)
        if (end === 'TIMED_OUT') await fireClocks(store, ownerNo, after(5))
        else await reportDone(store, update(device, jobExecutionId, end, { moment: after(5) }))
        const { execState, attempt } = await stored()
        const again = (on as string[]).includes(end)
        assert.deepEqual([execState, attempt], again ? ['PENDING', 2] : [end, 1], `${end} with ${on}`)
        await assertRunsAddUp(store, ownerNo)
      }
    }
  })

  await t.test('a device may fail without having started, and that is an attempt as well', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { content: { retry: { ...retry, max: 1 } } })
    const device = { ownerNo, deviceId: 'd1' }
    const { firstExecutionId } = await createOne(store, trigger(['d1']))
    const first = await reportDone(store, update(device, firstExecutionId, 'FAILED'))
    assert.deepEqual(
      [first.moved?.from, first.moved?.execState, first.execution.attempt],
      ['PENDING', 'PENDING', 2],
    )
    await fireClocks(store, ownerNo, after(10))
    const second = await reportDone(
      store,
      update(device, firstExecutionId, 'FAILED', { moment: after(10), attempt: 2 }),
    )
    assert.equal(second.execution.execState, 'FAILED')
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('no attempt begins after the deadline', async () => {
    const { store } = underTest
    for (const [failsAfter, execState] of [
      [4, 'PENDING'],
      [5, 'FAILED'],
    ] as const) {
      const { ownerNo, fail, stored } = await seedStarted({ deadlineSeconds: 15 })
      await fail(failsAfter)
      assert.equal((await stored()).execState, execState)
      await assertRunsAddUp(store, ownerNo)
    }
    const late = await seedStarted({ deadlineSeconds: 15, timeoutSeconds: 5 })
    await fireClocks(store, late.ownerNo, after(5))
    assert.equal((await late.stored()).execState, 'TIMED_OUT')
  })

  await t.test('a late report on the previous attempt changes nothing', async () => {
    const { store } = underTest
    const { ownerNo, device, jobExecutionId, fail, stored } = await seedStarted()
    await fail(1)
    const delayed = await stored()
    const say = async (moment = after(2), attempt?: number) => {
      const outcomes = await store.recordReports([
        update(device, jobExecutionId, 'SUCCEEDED', { moment, attempt }),
        update(device, jobExecutionId, 'IN_PROGRESS', { moment, attempt }),
        update(device, jobExecutionId, 'FAILED', { moment, attempt }),
        output(device, jobExecutionId, 0, 'text', { moment, attempt }),
      ])
      return outcomes.map((outcome) => outcome.kind)
    }
    const all = (kind: string) => [kind, kind, kind, kind]
    assert.deepEqual(await say(after(2), 1), all('unknown-execution'))
    assert.deepEqual(await say(after(2), 2), all('wrong-state'))
    assert.deepEqual(await say(after(2)), all('wrong-state'))
    assert.deepEqual(await stored(), delayed)
    await fireClocks(store, ownerNo, after(11))
    await startedBy(store, device, { moment: after(11) })
    assert.deepEqual(await say(after(12), 1), all('unknown-execution'))
    assert.deepEqual([(await stored()).attempt, (await stored()).versionNumber], [2, 4])
    assert.deepEqual(await say(after(12)), ['done', ...all('wrong-state').slice(1)])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'one report of a failure ends one attempt, however often and late it is delivered',
    async () => {
      const { store } = underTest
      const { ownerNo, device, jobExecutionId, stored } = await seedStarted({
        retry: { ...retry, max: 3, backoffSeconds: 0 },
      })
      const deliver = (seconds: number, clientToken = 'once') =>
        report(store, update(device, jobExecutionId, 'FAILED', { moment: after(seconds), clientToken }))
      const attempts = async () => {
        const { attempt, execState } = await stored()
        return [attempt, execState]
      }
      await deliver(1)
      assert.equal((await deliver(1)).kind, 'done', 'the first answer comes again')
      assert.deepEqual(await attempts(), [2, 'PENDING'])
      await fireClocks(store, ownerNo, after(2))
      await deliver(2)
      assert.deepEqual(await attempts(), [2, 'PENDING'])
      // Not seen before, but about the attempt before: this one is not started.
      assert.equal((await deliver(2, 'late')).kind, 'wrong-state')
      await startedBy(store, device, { moment: after(3) })
      for (let step = 0; step < 20; step++) {
        const clientToken = `step ${step}`
        await reportDone(
          store,
          update(device, jobExecutionId, 'IN_PROGRESS', { moment: after(4), clientToken }),
        )
      }
      await deliver(4)
      assert.deepEqual(await attempts(), [2, 'IN_PROGRESS'])
      await deliver(5, 'second')
      await fireClocks(store, ownerNo, after(6))
      await startedBy(store, device, { moment: after(6) })
      for (const token of ['once', 'second']) assert.equal((await deliver(7, token)).kind, 'done')
      assert.deepEqual(await attempts(), [3, 'IN_PROGRESS'])
      const end = update(device, jobExecutionId, 'SUCCEEDED', { moment: after(8), clientToken: 'end' })
      await reportDone(store, end)
      assert.equal((await reportDone(store, end)).execution.execState, 'SUCCEEDED')
      assert.equal((await deliver(9)).kind, 'done')
      assert.deepEqual(await attempts(), [3, 'SUCCEEDED'])
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('each attempt has its own output, from its first byte on', async () => {
    const { store } = underTest
    const { ownerNo, device, jobExecutionId, runId, fail, stored } = await seedStarted()
    const read = (attempt?: number) => {
      return store.readOutput({ ownerNo, jobExecutionId, offset: 1, limit: 100, attempt })
    }
    const slice = (text: string, ended: boolean) => {
      return { data: text.slice(1), length: text.length, cut: false, runId, ended }
    }
    const asText = async (read: ReturnType<typeof store.readOutput>) => {
      const slice = await read
      return slice && { ...slice, data: Buffer.from(slice.data).toString() }
    }
    await report(store, output(device, jobExecutionId, 0, 'first attempt'))
    await fail(1)
    assert.equal((await stored()).outputBytes, 0)
    assert.deepEqual(await asText(read()), slice('', false))
    assert.deepEqual(await asText(read(1)), slice('first attempt', true))
    await fireClocks(store, ownerNo, after(11))
    await startedBy(store, device, { moment: after(11) })
    const gap = await report(store, output(device, jobExecutionId, 13, '!', { moment: after(12) }))
    assert.deepEqual(gap, { kind: 'output-gap', length: 0 })
    await report(store, output(device, jobExecutionId, 0, 'second', { moment: after(12) }))
    assert.deepEqual(await asText(read()), slice('second', false))
    assert.deepEqual(await asText(read(2)), slice('second', false))
    assert.deepEqual(await asText(read(1)), slice('first attempt', true))
    assert.equal((await stored()).outputBytes, 6)
  })

  await t.test('an attempt that took too long is followed by another, as one that failed is', async () => {
    const { store } = underTest
    const { ownerNo, device, jobExecutionId, runId, stored } = await seedStarted({ timeoutSeconds: 5 })
    const moved = { ...device, jobExecutionId, runId, from: 'IN_PROGRESS', execState: 'PENDING' }
    assert.deepEqual(await fireClocks(store, ownerNo, after(5)), [moved])
    assert.equal((await stored()).notBefore, after(15).clock)
    assert.deepEqual(await fireClocks(store, ownerNo, after(15)), [{ ...moved, from: 'PENDING' }])
    const second = await startedBy(store, device, { moment: after(16) })
    assert.deepEqual([second?.attempt, second?.timesOutAt], [2, after(21).clock])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('an execution that is being canceled is not retried', async () => {
    const { store } = underTest
    const { ownerNo, jobExecutionId, fail, stored } = await seedStarted()
    await store.moveExecution(moveOf(ownerNo, jobExecutionId, 'cancel', after(1)))
    const failed = await fail(2)
    assert.ok(failed.kind === 'done')
    assert.deepEqual([failed.execution.execState, (await stored()).attempt], ['FAILED', 1])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'an execution that waits for a retry ends at once when it is canceled, or its device deleted',
    async () => {
      const { store } = underTest
      for (const end of ['cancel', 'remove-device'] as const) {
        const { ownerNo, device, jobExecutionId, fail, stored } = await seedStarted()
        await fail(1)
        if (end === 'cancel') await store.moveExecution(moveOf(ownerNo, jobExecutionId, end, after(2)))
        else
          await store.deleteDevice({ ownerNo, deviceId: device.deviceId, moment: after(2), actor: 'key k1' })
        const { execState, attempt, notBefore, finishedAt } = await stored()
        assert.deepEqual([execState, attempt, notBefore, finishedAt], ['CANCELED', 2, null, after(2).at])
        assert.deepEqual(await fireClocks(store, ownerNo, after(60)), [])
        await assertRunsAddUp(store, ownerNo)
      }
    },
  )

  await t.test('an execution that waits for a retry does not block others', async () => {
    const { store } = underTest
    const { ownerNo, trigger, device, jobExecutionId, fail } = await seedStarted()
    const { firstExecutionId: next } = await createOne(store, trigger(['d1']))
    const { firstExecutionId: last } = await createOne(store, trigger(['d1']))
    await fail(1)
    assert.equal((await startedBy(store, device, { moment: after(2) }))?.jobExecutionId, next)
    await fireClocks(store, ownerNo, after(11))
    const { total, executions } = await readQueue(store, device)
    assert.equal(total, 3)
    assert.deepEqual(
      executions.map((execution) => execution.jobExecutionId),
      [next, jobExecutionId, last],
    )
  })

  await t.test(
    'a device that fails and asks for the next in one group does not get the same again',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger, device, jobExecutionId } = await seedStarted()
      const moment = after(1)
      const inOneBreath = (id: number) =>
        store.recordReports([update(device, id, 'FAILED', { moment }), startNext(device, { moment })])
      const [, alone] = await inOneBreath(jobExecutionId)
      assert.deepEqual(alone, { kind: 'nothing-pending' })
      const { firstExecutionId: second } = await createOne(store, trigger(['d1']))
      const { firstExecutionId: third } = await createOne(store, trigger(['d1']))
      const [, next] = await inOneBreath(second)
      assert.ok(next?.kind === 'done')
      assert.equal(next.execution.jobExecutionId, third)
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('retry delays continue, or are over, when the store is opened again', async () => {
    const delayed = await seedStarted()
    const over = await seedStarted()
    await delayed.fail(1)
    await over.fail(0)
    // Ends the delay of the second one only.
    await fireClocks(underTest.store, over.ownerNo, after(10))
    const again = await underTest.reopen()
    assert.equal((await readQueue(again, delayed.device)).total, 0)
    assert.equal((await readQueue(again, over.device)).total, 1)
    assert.equal(await startedBy(again, delayed.device, { moment: after(10) }), undefined)
    assert.equal((await startedBy(again, over.device, { moment: after(10) }))?.attempt, 2)
    assert.deepEqual(await fireClocks(again, delayed.ownerNo, momentAt(after(11).at - 1)), [])
    assert.equal((await fireClocks(again, delayed.ownerNo, after(11))).length, 1)
    assert.equal((await startedBy(again, delayed.device, { moment: after(11) }))?.attempt, 2)
    for (const { ownerNo } of [delayed, over]) await assertRunsAddUp(again, ownerNo)
  })

  await t.test('without a delay the next attempt is offered at once', async () => {
    const { store } = underTest
    const { ownerNo, device, fail, stored } = await seedStarted({ retry: { ...retry, backoffSeconds: 0 } })
    await fail(1)
    await fireClocks(store, ownerNo, after(1))
    assert.equal((await stored()).notBefore, null)
    assert.equal((await startedBy(store, device, { moment: after(1) }))?.attempt, 2)
    await assertRunsAddUp(store, ownerNo)
  })
}
