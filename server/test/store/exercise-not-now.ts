// Executions that their device postpones, in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
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

const after = (seconds: number) => momentAt(startedAt + seconds * 1000)

export async function exerciseNotNow(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  /** An owner with one execution for d1 that its device has started. */
  async function seedStarted(content: Partial<StoredJobContent> = {}) {
    const { store } = underTest
    const seed = await seedOwner(store, { content })
    const { ownerNo } = seed
    const { firstExecutionId: jobExecutionId, runId } = await createOne(store, seed.trigger(['d1']))
    const device = { ownerNo, deviceId: 'd1' }
    await reportDone(store, startNext(device, { moment: after(0) }))
    const notNow = (seconds: number, retryAfterSeconds = '60') =>
      update(device, jobExecutionId, 'REJECTED', {
        moment: after(seconds),
        statusDetails: { reason: 'busy', retryAfterSeconds },
        clientToken: `at ${seconds}`,
      })
    const stored = async () => {
      const execution = await underTest.store.getExecution({ ownerNo, jobExecutionId })
      assert.ok(execution)
      return execution
    }
    return { ...seed, device, jobExecutionId, runId, notNow, stored }
  }

  await t.test(
    'a postponed execution becomes PENDING without using an attempt, and others are offered first',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger, device, jobExecutionId, runId, notNow, stored } = await seedStarted()
      const { firstExecutionId: next } = await createOne(store, trigger(['d1']))
      await report(store, output(device, jobExecutionId, 0, 'in vain'))
      const told = await reportDone(store, notNow(1))
      const { execState, attempt, versionNumber, notified, startedAt: begun } = told.execution
      assert.deepEqual([execState, attempt, versionNumber, notified, begun], ['PENDING', 1, 3, false, null])
      const moved = { ...device, jobExecutionId, runId, from: 'IN_PROGRESS', execState: 'PENDING' }
      assert.deepEqual(told.moved, moved)
      const { notBefore, outputBytes, deliveredAt } = await stored()
      assert.deepEqual([notBefore, outputBytes, deliveredAt], [after(61).clock, 0, null])
      // The same report once more, and one of something else.
      assert.equal((await reportDone(store, notNow(1))).moved, undefined)
      assert.equal((await report(store, notNow(2))).kind, 'wrong-state')
      const history = await store.listTransitions({ ownerNo, jobExecutionId })
      const last = history?.at(-1)
      assert.deepEqual([last?.event, last?.reason, last?.actor], ['not-now', 'busy', 'device'])

      const seen = async () => (await readQueue(store, device)).executions.map((each) => each.jobExecutionId)
      assert.deepEqual(await seen(), [next])
      assert.deepEqual(await fireClocks(store, ownerNo, momentAt(after(61).at - 1)), [])
      assert.equal((await startedBy(store, device, { moment: after(2) }))?.jobExecutionId, next)
      assert.deepEqual(await fireClocks(store, ownerNo, after(61)), [{ ...moved, from: 'PENDING' }])
      assert.deepEqual(await seen(), [next, jobExecutionId])
      await reportDone(store, update(device, next, 'SUCCEEDED', { moment: after(62) }))
      const again = await startedBy(store, device, { moment: after(63) })
      assert.deepEqual([again?.jobExecutionId, again?.attempt], [jobExecutionId, 1])
      // Its output starts over.
      await report(store, output(device, jobExecutionId, 0, 'done', { moment: after(63) }))
      const read = await store.readOutput({ ownerNo, jobExecutionId, offset: 0, limit: 100, attempt: 1 })
      assert.equal(Buffer.from(read?.data ?? []).toString(), 'done')
      await reportDone(store, update(device, jobExecutionId, 'SUCCEEDED', { moment: after(64) }))
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('each postponement changes the mark of the queue', async () => {
    const { store } = underTest
    const { ownerNo, device, notNow } = await seedStarted()
    const marks = new Set<number | undefined>()
    for (let seconds = 1; seconds < 8; seconds += 2) {
      await reportDone(store, notNow(seconds, '1'))
      await fireClocks(store, ownerNo, after(seconds + 1))
      marks.add((await readQueue(store, device)).mark)
    }
    assert.equal(marks.size, 4)
  })

  await t.test(
    'a postponed execution waits at most until its deadline, and does not expire meanwhile',
    async () => {
      const { store } = underTest
      const hurried = await seedStarted({ deadlineSeconds: 30 })
      await reportDone(store, hurried.notNow(1))
      assert.equal((await hurried.stored()).notBefore, after(30).clock)
      await fireClocks(store, hurried.ownerNo, after(30))
      assert.equal((await hurried.stored()).execState, 'TIMED_OUT')
      await assertRunsAddUp(store, hurried.ownerNo)

      const patient = await seedStarted({ expireAfterSeconds: 10 })
      await reportDone(store, patient.notNow(5))
      await fireClocks(store, patient.ownerNo, after(11))
      assert.equal((await patient.stored()).execState, 'PENDING')
      await fireClocks(store, patient.ownerNo, after(65))
      assert.equal((await patient.stored()).notBefore, null)
      await fireClocks(store, patient.ownerNo, momentAt(after(75).at - 1))
      assert.equal((await patient.stored()).execState, 'PENDING')
      await fireClocks(store, patient.ownerNo, after(75))
      assert.equal((await patient.stored()).execState, 'EXPIRED')
      await assertRunsAddUp(store, patient.ownerNo)
    },
  )

  await t.test('an execution that is being canceled cannot be postponed', async () => {
    const { store } = underTest
    const { ownerNo, jobExecutionId, notNow, stored } = await seedStarted()
    await store.moveExecution(moveOf(ownerNo, jobExecutionId, 'cancel', after(1)))
    assert.equal((await reportDone(store, notNow(2))).execution.execState, 'REJECTED')
    assert.equal((await stored()).execState, 'REJECTED')
  })

  await t.test('a postponement continues after the store was reopened', async () => {
    const { ownerNo, device, notNow } = await seedStarted()
    await reportDone(underTest.store, notNow(1))
    const again = await underTest.reopen()
    assert.equal((await readQueue(again, device)).total, 0)
    assert.equal(await startedBy(again, device, { moment: after(60) }), undefined)
    assert.equal((await fireClocks(again, ownerNo, after(61))).length, 1)
    assert.equal((await startedBy(again, device, { moment: after(61) }))?.attempt, 1)
    await assertRunsAddUp(again, ownerNo)
  })
}
