// Timers of executions in every store, on a clock that never jumps.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import { reportDone, startedBy, startNext, update } from './device-reports.ts'
import {
  allExecutions,
  assertRunsAddUp,
  createOne,
  emptyContent,
  fireClocks,
  momentAt,
  moveOf,
  readQueue,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const after = (seconds: number) => momentAt(startedAt + seconds * 1000)
const before = (seconds: number) => momentAt(startedAt + seconds * 1000 - 1)

export async function exerciseClocks(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  /** An owner with one run on three devices; the first two have started theirs. */
  async function seedRun(content: Partial<StoredJobContent>) {
    const { store } = underTest
    const seed = await seedOwner(store, { content })
    const { ownerNo } = seed
    const { firstExecutionId: first, runId } = await createOne(store, seed.trigger(['d1', 'd2', 'd3']))
    const [d1, d2, d3] = ['d1', 'd2', 'd3'].map((deviceId) => ({ ownerNo, deviceId }))
    assert.ok(d1 && d2 && d3)
    for (const device of [d1, d2]) await reportDone(store, startNext(device, { moment: after(0) }))
    const states = async () => {
      const listed = await allExecutions(underTest.store, ownerNo)
      return listed.map((execution) => execution.execState).reverse()
    }
    return { ...seed, d1, d2, d3, first, runId, states }
  }

  await t.test('a pending execution expires at its time and not before; a started one does not', async () => {
    const { store } = underTest
    const { ownerNo, d3, first, runId, states } = await seedRun({ expireAfterSeconds: 30 })
    assert.deepEqual(await fireClocks(store, ownerNo, before(30)), [])
    const jobExecutionId = first + 2
    assert.deepEqual(await fireClocks(store, ownerNo, after(30)), [
      { ...d3, jobExecutionId, runId, from: 'PENDING', execState: 'EXPIRED' },
    ])
    assert.deepEqual(await states(), ['IN_PROGRESS', 'IN_PROGRESS', 'EXPIRED'])
    const expired = await store.getExecution({ ownerNo, jobExecutionId })
    assert.deepEqual([expired?.finishedAt, expired?.versionNumber], [after(30).at, 2])
    assert.deepEqual([expired?.notifiedAt, expired?.deliveredAt], [null, null])
    assert.equal((await readQueue(store, d3)).total, 0)
    assert.deepEqual(await fireClocks(store, ownerNo, after(3600)), [])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('each attempt has its own time to wait, from the end of its delay on', async () => {
    const { store } = underTest
    const retry = { max: 1, backoffSeconds: 40, on: ['FAILED' as const] }
    const { ownerNo, d1, d2, d3, first, states } = await seedRun({ expireAfterSeconds: 30, retry })
    for (const [index, device] of [d1, d2].entries()) {
      await reportDone(store, update(device, first + index, 'FAILED', { moment: after(10) }))
    }
    // The first attempt of the third one is over its time, the retry delays of the others are not.
    assert.equal((await fireClocks(store, ownerNo, after(30))).length, 1)
    assert.deepEqual(await states(), ['PENDING', 'PENDING', 'EXPIRED'])
    assert.equal((await readQueue(store, d3)).total, 0)
    assert.equal((await fireClocks(store, ownerNo, after(52))).length, 2)
    await startedBy(store, d1, { moment: after(60) })
    assert.deepEqual(await fireClocks(store, ownerNo, before(82)), [])
    assert.equal((await fireClocks(store, ownerNo, after(82))).length, 1)
    assert.deepEqual(await states(), ['IN_PROGRESS', 'EXPIRED', 'EXPIRED'])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('an execution that runs too long times out, counted from its start', async () => {
    const { store } = underTest
    const { ownerNo, d1, d3, first, runId, states } = await seedRun({ timeoutSeconds: 10 })
    await startedBy(store, d3, { moment: after(5) })
    const seen = await store.getDeviceExecution({ ...d3, jobExecutionId: first + 2 })
    assert.equal(seen?.timesOutAt, after(15).clock)
    // Progress alone gives no more time.
    await reportDone(store, update(d1, first, 'IN_PROGRESS', { moment: after(9) }))
    assert.deepEqual(await fireClocks(store, ownerNo, before(10)), [])
    assert.deepEqual((await fireClocks(store, ownerNo, after(10)))[0], {
      ...d1,
      jobExecutionId: first,
      runId,
      from: 'IN_PROGRESS',
      execState: 'TIMED_OUT',
    })
    assert.deepEqual(await states(), ['TIMED_OUT', 'TIMED_OUT', 'IN_PROGRESS'])
    assert.deepEqual(await fireClocks(store, ownerNo, before(15)), [])
    assert.equal((await fireClocks(store, ownerNo, after(15))).length, 1)
    assert.equal((await store.getDeviceExecution({ ...d1, jobExecutionId: first }))?.timesOutAt, null)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a step timeout replaces the timeout of the job; discarded, that starts over', async () => {
    const { store } = underTest
    const { ownerNo, d1, d3, first, states } = await seedRun({ timeoutSeconds: 10 })
    const step = async (seconds: number, stepTimeout: number | 'discard' | undefined) => {
      const sent = update(d1, first, 'IN_PROGRESS', { moment: after(seconds), stepTimeout })
      return (await reportDone(store, sent)).execution.timesOutAt
    }
    assert.equal(await step(1, 60_000), after(61).clock)
    assert.equal(await step(2, undefined), after(61).clock)
    assert.equal(await step(3, 2_000), after(5).clock)
    assert.equal(await step(4, 'discard'), after(14).clock)
    const started = await startedBy(store, d3, { moment: after(4), stepTimeout: 30_000 })
    assert.equal(started?.timesOutAt, after(34).clock)
    await fireClocks(store, ownerNo, before(14))
    assert.deepEqual(await states(), ['IN_PROGRESS', 'TIMED_OUT', 'IN_PROGRESS'])
    await fireClocks(store, ownerNo, after(14))
    assert.deepEqual(await states(), ['TIMED_OUT', 'TIMED_OUT', 'IN_PROGRESS'])
    await fireClocks(store, ownerNo, after(34))
    assert.deepEqual(await states(), ['TIMED_OUT', 'TIMED_OUT', 'TIMED_OUT'])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a step timeout of a job without a timeout can be discarded', async () => {
    const { store } = underTest
    const { ownerNo, d1, d2, first, states } = await seedRun({})
    await reportDone(store, update(d1, first, 'IN_PROGRESS', { moment: after(1), stepTimeout: 5000 }))
    await reportDone(store, update(d2, first + 1, 'IN_PROGRESS', { moment: after(1), stepTimeout: 5000 }))
    const sent = update(d1, first, 'IN_PROGRESS', { moment: after(2), stepTimeout: 'discard' })
    assert.equal((await reportDone(store, sent)).execution.timesOutAt, null)
    await fireClocks(store, ownerNo, after(86_400))
    assert.deepEqual(await states(), ['IN_PROGRESS', 'TIMED_OUT', 'PENDING'])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'the deadline ends pending and running executions, and a cancel keeps its own timer',
    async () => {
      const { store } = underTest
      const { ownerNo, d1, d2, first, states } = await seedRun({ deadlineSeconds: 30, timeoutSeconds: 100 })
      assert.equal(
        (await store.getDeviceExecution({ ...d1, jobExecutionId: first }))?.timesOutAt,
        after(30).clock,
      )
      await store.moveExecution(moveOf(ownerNo, first + 1, 'cancel', after(20)))
      // Nothing else ends it: the device has all of that time, and is shown it.
      assert.equal(
        (await store.getDeviceExecution({ ...d2, jobExecutionId: first + 1 }))?.timesOutAt,
        after(80).clock,
      )
      assert.deepEqual(await fireClocks(store, ownerNo, before(30)), [])
      const moved = await fireClocks(store, ownerNo, after(30))
      assert.deepEqual(
        moved.map(({ from, execState }) => [from, execState]),
        [
          ['IN_PROGRESS', 'TIMED_OUT'],
          ['PENDING', 'TIMED_OUT'],
        ],
      )
      assert.deepEqual(await states(), ['TIMED_OUT', 'CANCELING', 'TIMED_OUT'])
      assert.deepEqual(await fireClocks(store, ownerNo, before(80)), [])
      assert.equal((await fireClocks(store, ownerNo, after(80))).length, 1)
      assert.deepEqual(await states(), ['TIMED_OUT', 'CANCELED', 'TIMED_OUT'])
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('the deadline ends an execution that waits for a retry', async () => {
    const { store } = underTest
    const retry = { max: 5, backoffSeconds: 10, on: ['FAILED' as const] }
    const { ownerNo, d1, first, states } = await seedRun({ deadlineSeconds: 30, retry })
    await reportDone(store, update(d1, first, 'FAILED', { moment: after(1) }))
    // Both at once: its retry delay is over, and so is its deadline.
    await fireClocks(store, ownerNo, after(30))
    assert.deepEqual(await states(), ['TIMED_OUT', 'TIMED_OUT', 'TIMED_OUT'])
    assert.deepEqual(await fireClocks(store, ownerNo, after(60)), [])
    assert.equal((await readQueue(store, d1)).total, 0)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a cancel that the device does not confirm in time is done without it', async () => {
    const { store } = underTest
    const { ownerNo, d1, d2, first, states } = await seedRun({ timeoutSeconds: 10 })
    const moment = { ...after(5), cancelDeadlineMs: 7000 }
    for (const id of [first, first + 1]) await store.moveExecution(moveOf(ownerNo, id, 'cancel', moment))
    assert.equal(
      (await store.getDeviceExecution({ ...d1, jobExecutionId: first }))?.timesOutAt,
      after(12).clock,
    )
    // Neither progress nor a step timeout gives it more time.
    const sent = update(d1, first, 'IN_PROGRESS', { moment: after(11), stepTimeout: 60_000 })
    assert.equal((await reportDone(store, sent)).execution.timesOutAt, after(12).clock)
    assert.deepEqual(await fireClocks(store, ownerNo, before(12)), [])
    await reportDone(store, update(d2, first + 1, 'CANCELED', { moment: before(12) }))
    assert.equal((await fireClocks(store, ownerNo, after(12))).length, 1)
    assert.deepEqual(await states(), ['CANCELED', 'CANCELED', 'PENDING'])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('timers do not affect ended executions', async () => {
    const { store } = underTest
    const all = { expireAfterSeconds: 10, timeoutSeconds: 10, deadlineSeconds: 10 }
    const { ownerNo, d1, d2, d3, first, states } = await seedRun(all)
    await reportDone(store, update(d1, first, 'SUCCEEDED'))
    await reportDone(store, update(d2, first + 1, 'FAILED'))
    await reportDone(store, update(d3, first + 2, 'REJECTED'))
    assert.deepEqual(await fireClocks(store, ownerNo, after(60)), [])
    assert.deepEqual(await states(), ['SUCCEEDED', 'FAILED', 'REJECTED'])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('timers continue after the store was reopened', async () => {
    const expiring = await seedRun({ expireAfterSeconds: 30 })
    const timing = await seedRun({ timeoutSeconds: 30 })
    const late = await seedRun({ deadlineSeconds: 30 })
    const canceled = await seedRun({})
    const canceling = { ...after(0), cancelDeadlineMs: 30_000 }
    await underTest.store.moveExecution(moveOf(canceled.ownerNo, canceled.first, 'cancel', canceling))
    const store = await underTest.reopen()
    const owners = [expiring, timing, late, canceled].map(({ ownerNo }) => ownerNo)
    assert.deepEqual(await fireClocks(store, owners, before(30)), [])
    assert.equal((await fireClocks(store, owners, after(30))).length, 7)
    assert.deepEqual(await expiring.states(), ['IN_PROGRESS', 'IN_PROGRESS', 'EXPIRED'])
    assert.deepEqual(await timing.states(), ['TIMED_OUT', 'TIMED_OUT', 'PENDING'])
    assert.deepEqual(await late.states(), ['TIMED_OUT', 'TIMED_OUT', 'TIMED_OUT'])
    assert.deepEqual(await canceled.states(), ['CANCELED', 'IN_PROGRESS', 'PENDING'])
    for (const ownerNo of owners) await assertRunsAddUp(store, ownerNo)
  })

  for (const [title, content, ended] of [
    ['expires', { expireAfterSeconds: 30 }, { PENDING: 0, IN_PROGRESS: 2, EXPIRED: 2498 }],
    ['misses its deadline', { deadlineSeconds: 30 }, { PENDING: 0, IN_PROGRESS: 0, TIMED_OUT: 2500 }],
  ] as const) {
    await chaosSubtest(t, `a run larger than a batch ${title} completely, over several calls`, async () => {
      const { store } = underTest
      const devices = Array.from({ length: 2500 }, (_, index) => `d${index}`)
      const { ownerNo, trigger } = await seedOwner(store, { devices, content })
      const { runId, firstExecutionId } = await createOne(store, trigger(devices))
      for (const index of [3, 1999]) await startedBy(store, { ownerNo, deviceId: `d${index}` })
      const calls = []
      for (let more = true; more; ) {
        const fired = await store.fireClocks(after(30))
        calls.push(fired.moved.filter((moved) => moved.ownerNo === ownerNo))
        more = fired.more
      }
      assert.ok(calls.length > 1, 'all of it was moved at once, and nobody else got in between')
      const ids = calls.flat().map((moved) => moved.jobExecutionId)
      assert.equal(new Set(ids).size, ids.length)
      assert.ok(ids.every((id) => id >= firstExecutionId && id < firstExecutionId + 2500))
      const { counts } = (await store.getRun({ ownerNo, runId })) ?? {}
      assert.deepEqual(
        Object.keys(ended).map((state) => counts?.[state as keyof typeof counts]),
        Object.values(ended),
      )
      await assertRunsAddUp(store, ownerNo)
    })
  }

  await t.test('small runs are fired together', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store, {
      content: { expireAfterSeconds: 30, deadlineSeconds: 40 },
    })
    await store.createExecutions(
      Array.from({ length: 300 }, (_, index) => trigger([index % 2 ? 'd1' : 'd2'])),
    )
    const first = await store.fireClocks(after(30))
    assert.equal(first.moved.filter((moved) => moved.ownerNo === ownerNo).length, 300)
    assert.deepEqual(await fireClocks(store, ownerNo, after(40)), [])
    await assertRunsAddUp(store, ownerNo)
  })

  await chaosSubtest(t, 'more timeouts than fit in a batch are fired over several calls', async () => {
    const { store } = underTest
    const devices = Array.from({ length: 1500 }, (_, index) => `d${index}`)
    const { ownerNo, trigger } = await seedOwner(store, { devices, content: { timeoutSeconds: 30 } })
    const { runId } = await createOne(store, trigger(devices))
    await store.recordReports(devices.map((deviceId) => startNext({ ownerNo, deviceId })))
    assert.equal((await fireClocks(store, ownerNo, after(30))).length, 1500)
    assert.equal((await store.getRun({ ownerNo, runId }))?.counts.TIMED_OUT, 1500)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a wall clock that jumps fires nothing early and keeps nothing alive', async () => {
    const { store } = underTest
    const all = { expireAfterSeconds: 30, timeoutSeconds: 30, deadlineSeconds: 40 }
    const { ownerNo, d1, first, states } = await seedRun(all)
    const day = 86_400_000
    const ahead = momentAt(startedAt + day, { clock: before(30).clock })
    assert.deepEqual(await fireClocks(store, ownerNo, ahead), [])
    const back = momentAt(startedAt - day, { clock: after(30).clock })
    assert.equal((await fireClocks(store, ownerNo, back)).length, 3)
    assert.deepEqual(await states(), ['TIMED_OUT', 'TIMED_OUT', 'EXPIRED'])
    assert.equal((await store.getExecution({ ownerNo, jobExecutionId: first }))?.finishedAt, back.at)
    // The time of a start is for people; its time-out counts on the steady clock.
    const next = await seedRun(all)
    const { trigger } = next
    const triggered = trigger(['d1'], { launchedAt: startedAt + day, clock: steadyInstant(startedAt) })
    await createOne(store, triggered)
    assert.deepEqual(await fireClocks(store, next.ownerNo, before(30)), [])
    assert.equal((await readQueue(store, d1)).total, 0)
    assert.equal((await fireClocks(store, next.ownerNo, after(30))).length, 4)
    for (const owner of [ownerNo, next.ownerNo]) await assertRunsAddUp(store, owner)
  })

  await t.test('changing or deleting a job does not affect the timers of its runs', async () => {
    const { store } = underTest
    const { ownerNo, d3, states } = await seedRun({ expireAfterSeconds: 30, timeoutSeconds: 30 })
    const content = { ...emptyContent, expireAfterSeconds: 1, timeoutSeconds: 1, deadlineSeconds: 1 }
    await store.putJob({ ownerNo, jobName: 'restart', content, at: startedAt })
    await store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt })
    assert.deepEqual(await fireClocks(store, ownerNo, after(20)), [])
    const started = await startedBy(store, d3, { moment: after(20) })
    assert.equal(started?.timesOutAt, after(50).clock)
    await fireClocks(store, ownerNo, after(50))
    assert.deepEqual(await states(), ['TIMED_OUT', 'TIMED_OUT', 'TIMED_OUT'])
  })
}
