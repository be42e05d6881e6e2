// Devices that got the job of a schedule with match, in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { StoredSchedule } from '../../src/domain/schedule/ports/schedules.ts'
import { schedulePut } from './exercise-schedules.ts'
import { createOne, momentAt, moveOf, type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'

const at = steadyInstant(1000)
const later = steadyInstant(5000)
const latest = steadyInstant(9000)

export async function exerciseGivenDevices(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const seedRun = async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const first = schedulePut(seed)
    const { scheduleNo, scheduleName } = first
    const put = async (content: Partial<StoredSchedule['content']>, jobName = first.jobName) => {
      const outcome = await store.putSchedule({
        ...first,
        jobName,
        content: { ...first.content, ...content },
      })
      assert.equal(outcome.kind, 'put')
    }
    let scheduledFor = startedAt
    const launch = async (deviceIds: string[]) => {
      const asked = { where: 'all', matched: 2, note: null, rollbackOf: null, scheduledFor: scheduledFor++ }
      const request = { ...asked, scheduleNo, scheduleName }
      const { firstExecutionId: first } = await createOne(store, seed.trigger(deviceIds, { request }))
      await store.recordGiven({ scheduleNo, first, last: first + deviceIds.length - 1 })
      return first
    }
    const all = () => store.listAllGiven({ scheduleNo, after: -1, limit: 10 })
    return { ...seed, store, scheduleNo, launch, all, put }
  }

  await t.test(
    'devices that got the job, how often and when again, also if it is recorded twice',
    async () => {
      const { store, scheduleNo, launch, all } = await seedRun()
      const first = await launch(['d1', 'd2'])
      const [one, two] = await all()
      assert.ok(one && two)
      assert.deepEqual(
        [one.jobExecutionId, two.jobExecutionId, one.times, one.endedAt, one.againAt],
        [first, first + 1, 1, null, null],
      )
      assert.ok(one.jobVersion !== null && one.jobVersion === two.jobVersion)
      const deviceNos = [one.deviceNo, two.deviceNo]
      assert.deepEqual(await store.listGiven({ scheduleNo, deviceNos: [two.deviceNo, 987_654] }), [two])
      assert.deepEqual(await store.listAllGiven({ scheduleNo, after: one.deviceNo, limit: 1 }), [two])

      // Of another execution, nothing has ended.
      const ended = { scheduleNo, deviceNos, at }
      await store.recordEnded({ ...ended, jobExecutionIds: [first, first + 9], againAt: later })
      await store.recordEnded({ ...ended, jobExecutionIds: [first, first + 9], againAt: latest })
      assert.deepEqual(await all(), [{ ...one, endedAt: at, againAt: later }, two])
      await store.recordGiven({ scheduleNo, first, last: first + 1 })
      assert.deepEqual(await all(), [{ ...one, endedAt: at, againAt: later }, two])

      const firstAgain = async () => {
        const found = await store.listFirstAgain({ scheduleNos: [scheduleNo, 987_654] })
        return found.toSorted((a, b) => b.scheduleNo - a.scheduleNo)
      }
      assert.deepEqual(
        new Map((await firstAgain()).map((each) => [each.scheduleNo, each.againAt])),
        new Map([
          [scheduleNo, later],
          [987_654, null],
        ]),
      )
      const due = (by: number) => store.listDueAgain({ scheduleNo, by: steadyInstant(by), limit: 5 })
      assert.deepEqual([await due(later - 1), await due(later)], [[], [one.deviceNo]])

      const second = await launch(['d1'])
      const [again] = await all()
      assert.deepEqual(again, { ...one, jobExecutionId: second, times: 2, endedAt: null, againAt: null })
      assert.deepEqual(await due(latest), [])
    },
  )

  await t.test(
    'a device that left starts over, not later than the limit; a dropped one counts as never given',
    async () => {
      const { store, scheduleNo, launch, all } = await seedRun()
      const first = await launch(['d1', 'd2'])
      const given = await all()
      const deviceNos = given.map(({ deviceNo }) => deviceNo)
      await store.recordEnded({ scheduleNo, deviceNos, jobExecutionIds: [first], at, againAt: latest })
      await store.recordLeft({ scheduleNo, deviceNos, againAt: later })
      assert.deepEqual(
        (await all()).map(({ times, againAt }) => [times, againAt]),
        [
          [0, later],
          [0, null],
        ],
      )
      await store.recordLeft({ scheduleNo, deviceNos, againAt: at })
      assert.equal((await all())[0]?.againAt, later)
      await store.dropGiven({ scheduleNo, deviceNos, by: steadyInstant(later - 1) })
      assert.equal((await all()).length, 2)
      await store.dropGiven({ scheduleNo, deviceNos, by: later })
      assert.deepEqual(
        (await all()).map(({ deviceNo }) => deviceNo),
        deviceNos.slice(1),
      )
    },
  )

  await t.test('another rule or job of the schedule clears the records of the previous one', async () => {
    const { store, scheduleNo, launch, all, put } = await seedRun()
    const match = (again: 'WHILE_MATCHING' | 'ON_NEW_VERSION') => ({ kind: 'match' as const, again })
    await put({ when: match('WHILE_MATCHING') })
    const first = await launch(['d1', 'd2'])
    const given = await all()
    const [one, two] = given
    assert.ok(one && two)
    const deviceNos = given.map(({ deviceNo }) => deviceNo)
    await store.cancelLeft({
      jobExecutionIds: [first + 1],
      moment: momentAt(startedAt + 5),
      actor: 'clock',
    })
    const jobExecutionIds = [first, first + 1]
    await store.recordEnded({ scheduleNo, deviceNos, jobExecutionIds, at, againAt: later })
    const againAt = async () => (await all()).map((each) => each.againAt)
    await put({ when: match('WHILE_MATCHING'), description: 'still' })
    assert.deepEqual(await againAt(), [later, later])
    await put({ when: match('ON_NEW_VERSION') })
    assert.deepEqual(await againAt(), [null, later])
    assert.deepEqual(
      (await all()).map(({ jobVersion }) => jobVersion),
      [one.jobVersion, two.jobVersion],
    )
    await put({ when: match('ON_NEW_VERSION') }, 'other')
    assert.deepEqual(
      (await all()).map(({ jobVersion }) => jobVersion),
      [null, null],
    )
  })

  await t.test(
    'ends of its executions are in the log, and pending executions of leaving devices are canceled',
    async () => {
      const { store, scheduleNo, ownerNo, launch, trigger } = await seedRun()
      const first = await launch(['d1', 'd2'])
      const foreign = await createOne(store, trigger(['d1']))
      await store.moveExecution(moveOf(ownerNo, first + 1, 'start'))
      await store.moveExecution(moveOf(ownerNo, foreign.firstExecutionId, 'cancel'))
      const canceled = {
        jobExecutionIds: [first, first + 1],
        moment: momentAt(startedAt + 5),
        actor: 'clock',
      }
      const moved = await store.cancelLeft(canceled)
      assert.deepEqual(
        moved.map(({ jobExecutionId, execState }) => [jobExecutionId, execState]),
        [[first, 'CANCELED']],
      )
      assert.deepEqual(await store.cancelLeft(canceled), [])
      const jobExecutionIds = [first, first + 1, 987_654_321]
      assert.deepEqual(await store.listUnended({ jobExecutionIds }), [first + 1])
      const { moves, changes, count } = await store.listDeviceChanges({
        ...{ ownerNo, after: 0, limit: 100, withMoves: true },
      })
      assert.deepEqual(
        moves.map(({ eventId, deviceNo, ...move }) => move),
        [{ scheduleNo, jobExecutionId: first, cause: 'no-longer-matching', isEnd: true }],
      )
      assert.equal(count, changes.length + 2)
      const without = await store.listDeviceChanges({ ownerNo, after: 0, limit: 100 })
      assert.deepEqual([without.moves, without.changes], [[], changes])
    },
  )
}
