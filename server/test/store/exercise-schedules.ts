// Schedules in every store: changes apply to the version that was read, and due schedules are found.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { SchedulePut, StoredSchedule } from '../../src/domain/schedule/ports/schedules.ts'
import {
  by,
  createOne,
  devicePut,
  momentAt,
  moveOf,
  type Seed,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

let last = 1000

export function schedulePut(
  { ownerNo }: Pick<Seed, 'ownerNo'>,
  more: Partial<SchedulePut> = {},
): SchedulePut {
  const scheduleNo = ++last
  return {
    ...{
      ownerNo,
      scheduleName: `s${scheduleNo}`,
      scheduleNo,
      jobName: 'restart',
      keyId: 'k1',
      at: startedAt,
    },
    content: {
      ...{
        description: null,
        version: null,
        targets: { where: 'all' },
        when: { kind: 'cron', cron: '0 3 * * *', timeZone: 'UTC' },
      },
      ...{ rollout: null, approval: false, overlap: 'SKIP', catchUpSeconds: 60, jitterSeconds: 0 },
      ...{ pauseAfterFailures: 2, until: null },
    },
    times: { nextFor: startedAt + 10, dueAt: startedAt + 20 },
    most: 3,
    mostMatching: 0,
    ...more,
  }
}

async function putOne(store: Store, put: SchedulePut): Promise<StoredSchedule> {
  const outcome = await store.putSchedule(put)
  assert.equal(outcome.kind, 'put')
  return 'value' in outcome ? outcome.value : assert.fail()
}

export async function exerciseSchedules(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test(
    'a schedule is made, replaced and read again as it was put, also when opened again',
    async () => {
      const seed = await seedOwner(underTest.store)
      const put = schedulePut(seed)
      const made = await underTest.store.putSchedule(put)
      assert.ok(made.kind === 'put' && made.created)
      assert.deepEqual(
        [made.value.content, made.value.dueAt, made.value.version],
        [put.content, startedAt + 20, 1],
      )
      const same = await underTest.store.putSchedule({ ...put, at: startedAt + 1 })
      assert.ok(same.kind === 'put' && same.isSame && !same.created)
      const putBy = { ...put, keyId: 'k2', content: { ...put.content, putBy: 'k2' } }
      const byOther = await underTest.store.putSchedule(putBy)
      assert.ok(byOther.kind === 'put' && byOther.isSame && byOther.value.keyId === 'k1')
      const times = { nextFor: startedAt + 70, dueAt: startedAt + 80 }
      const described = { ...put, content: { ...put.content, description: 'x' }, times }
      assert.equal((await putOne(underTest.store, described)).nextFor, startedAt + 10)
      const moved = { ...put, content: { ...put.content, until: startedAt + 1000 }, times }
      const replaced = await putOne(underTest.store, moved)
      assert.deepEqual(
        [replaced.nextFor, replaced.dueAt, replaced.scheduleNo],
        [times.nextFor, times.dueAt, put.scheduleNo],
      )
      const store = await underTest.reopen()
      assert.deepEqual(await store.getSchedule(put), replaced)
      const others = await seedOwner(store)
      assert.equal(await store.getSchedule({ ...put, ownerNo: others.ownerNo }), undefined)
      await putOne(store, schedulePut(seed))
      await putOne(store, schedulePut(seed))
      assert.deepEqual(await store.putSchedule(schedulePut(seed)), { kind: 'too-many' })
      const matching = (more: Partial<SchedulePut> = {}) => {
        const put = schedulePut(others, { mostMatching: 1, ...more })
        return { ...put, content: { ...put.content, when: { kind: 'match' as const } } }
      }
      const first = matching()
      await putOne(store, first)
      assert.deepEqual(await store.putSchedule(matching()), { kind: 'too-many-matching' })
      assert.equal((await store.putSchedule({ ...first, jobName: 'other' })).kind, 'put')
      await putOne(store, schedulePut(others, { mostMatching: 1 }))
      const list = { ownerNo: seed.ownerNo, slice: { after: undefined, limit: 2 } }
      const page = await store.listSchedules(list)
      assert.equal(page.items.length, 2)
      assert.equal(
        (await store.listSchedules({ ...list, slice: { after: page.next, limit: 2 } })).items.length,
        1,
      )
      assert.equal(await store.deleteSchedule({ ...put, ...by }), true)
      assert.equal(await store.deleteSchedule({ ...put, ...by }), false)
    },
  )

  await t.test(
    'revoking keys with descendants pauses their schedules and runs that have not started',
    async () => {
      const { store } = underTest
      const seed = await seedOwner(store)
      const { ownerNo } = seed
      const newKey = async (keyId: string, createdBy: string | null = null) => {
        const secretHash = new Uint8Array(32)
        const times = { expiresAt: null, createdAt: startedAt }
        const made = {
          keyId,
          ownerNo,
          keyName: keyId,
          secretHash,
          scopes: [],
          createdBy,
          createdBySession: null,
        }
        return (await store.createApiKey({ ...made, ...times }))?.ownerId ?? ''
      }
      const [parent, child, other] = ['p', 'c', 'o'].map((each) => `left-${each}-${ownerNo}`) as [
        string,
        string,
        string,
      ]
      const ownerId = await newKey(parent)
      await newKey(child, `key:${parent}`)
      await newKey(other)
      const by = (keyId: string) => putOne(store, schedulePut(seed, { keyId, most: 9 }))
      const left = [await by(parent), await by(child)]
      const kept = await by(other)
      const later = { jobVersion: null, rollout: {}, approval: false, sizes: [1], startAt: startedAt + 1000 }
      const runBy = (keyId: string) => createOne(store, seed.trigger(['d1'], { plan: later, keyId }))
      const [held, free] = [await runBy(child), await runBy(other)]
      const revocation = { ownerNo, keyId: parent, principal: 'key:x', at: startedAt }
      const alone = await store.revokeApiKey({ ...revocation, withDescendants: false })
      assert.deepEqual(alone, {
        ...{ kind: 'revoked', keyIds: [parent], enrollmentIds: [], pausedSchedules: [], pausedRuns: [] },
      })
      assert.deepEqual(await store.revokeApiKey({ ...revocation, withDescendants: true }), {
        ...{
          kind: 'revoked',
          keyIds: [child],
          enrollmentIds: [],
          pausedRuns: [{ ownerId, runId: held.runId }],
        },
        pausedSchedules: left.map(({ scheduleName }) => ({ ownerId, scheduleName })),
      })
      for (const schedule of left) {
        const { pausedBy, pausedAt, dueAt, nextFor } = (await store.getSchedule(schedule)) as StoredSchedule
        assert.deepEqual([pausedBy, pausedAt, dueAt, nextFor], ['key:x', startedAt, null, null])
        // What was read before changes nothing any more.
        assert.equal(
          await store.changeSchedule({ before: schedule, set: { dueAt: 5 }, at: startedAt }),
          false,
        )
      }
      assert.deepEqual(await store.getSchedule(kept), kept)
      const stateOf = async ({ runId }: { runId: number }) =>
        (await store.getRollout({ ownerNo, runId }))?.rollout.status.state
      assert.deepEqual([await stateOf(held), await stateOf(free)], ['PAUSED', 'SCHEDULED'])
      // A call of a key that is revoked meanwhile leaves nothing.
      assert.deepEqual(await store.putSchedule(schedulePut(seed, { keyId: child, most: 9 })), {
        kind: 'key-revoked',
      })
      const resume = { pausedAt: null, keyId: child }
      const paused = (await store.getSchedule(left[0] as StoredSchedule)) as StoredSchedule
      assert.equal(await store.changeSchedule({ before: paused, set: resume, at: startedAt }), false)
      assert.equal(
        await store.changeSchedule({ before: paused, set: { ...resume, keyId: other }, at: startedAt }),
        true,
      )
      assert.equal((await store.getSchedule(paused))?.keyId, other)
      const again = schedulePut(seed, { ...paused, keyId: parent, takesOver: true, most: 9 })
      assert.deepEqual(await store.putSchedule(again), { kind: 'key-revoked' })
      const takenOver = await putOne(store, {
        ...again,
        keyId: other,
        scheduleName: (left[1] as StoredSchedule).scheduleName,
      })
      assert.equal(takenOver.keyId, other)
    },
  )

  await t.test('one of two concurrent changes succeeds, with its events', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const before = await putOne(store, schedulePut(seed))
    const { scheduleName, jobName, ownerNo } = before
    const data = { scheduleName, jobName, because: 'why not', principal: 'service' }
    const occurrence = { for: startedAt, principal: null, by: 'me', since: steadyInstant(5) }
    const change = {
      before,
      set: { occurrence, dueAt: 7 },
      events: [{ type: 'schedule.paused' as const, data }],
      at: startedAt,
    }
    const changed = await Promise.all([store.changeSchedule(change), store.changeSchedule(change)])
    assert.deepEqual(changed.toSorted(), [false, true])
    const after = await store.getSchedule(before)
    assert.deepEqual([after?.occurrence, after?.dueAt, after?.version], [occurrence, 7, 2])
    const filter = { types: ['schedule.paused'] }
    const { events } = await store.listEvents({ ownerNo, filter, slice: { after: 0, limit: 10 } })
    assert.deepEqual(
      events.map((each) => each.data),
      [data],
    )
    const due = await store.listDueSchedules({ by: 7, limit: 1000 })
    assert.ok(due.some(({ scheduleNo }) => scheduleNo === before.scheduleNo))
    assert.ok(
      !(await store.listDueSchedules({ by: 6, limit: 1000 })).some(
        (each) => each.scheduleNo === before.scheduleNo,
      ),
    )
    const ahead = await store.listSchedulesAhead({ of: startedAt - 1, limit: 1000 })
    assert.ok(ahead.some(({ scheduleNo }) => scheduleNo === before.scheduleNo))
    assert.deepEqual(await store.listSchedulesAhead({ of: startedAt, limit: 10 }), [])
  })

  await t.test('its runs are known by their occurrence, and its devices while they are busy', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo } = seed
    const schedule = await putOne(store, schedulePut(seed))
    const { scheduleNo, scheduleName } = schedule
    const requestFor = (scheduledFor: number) => {
      const asked = { where: 'all', matched: 2, note: null, rollbackOf: null }
      return { request: { ...asked, scheduleNo, scheduleName, scheduledFor } }
    }
    const run = await createOne(store, seed.trigger(['d1', 'd2'], requestFor(startedAt)))
    await createOne(store, seed.trigger(['d1'], requestFor(startedAt + 1)))
    const stored = await store.getRun({ ownerNo, runId: run.runId })
    assert.deepEqual([stored?.scheduleName, stored?.scheduledFor], [scheduleName, startedAt])
    const found = (scheduledFor: number) => store.findScheduledRun({ scheduleNo, scheduledFor })
    assert.deepEqual([await found(startedAt), await found(startedAt + 7)], [run.runId, undefined])
    const listed = await store.listRuns({
      ownerNo,
      filter: { scheduleName },
      slice: { after: undefined, limit: 9 },
    })
    assert.equal(listed.items.length, 2)
    const first = run.firstExecutionId
    const busy = async (from = first) => {
      const runs = await store.listBusyRuns({ ownerNo, scheduleNo })
      const last = Math.max(...runs.map((each) => each.last))
      return store.listBusyDevices({ first: from, last, limit: 10 })
    }
    assert.deepEqual(
      (await busy()).map(({ jobExecutionId }) => jobExecutionId),
      [first, first + 1, first + 2],
    )
    assert.deepEqual(
      (await busy(first + 1)).map(({ jobExecutionId }) => jobExecutionId),
      [first + 1, first + 2],
    )
    await store.moveExecution(moveOf(ownerNo, first + 1, 'start'))
    const moved = await store.supersede({
      jobExecutionIds: [first, first + 1],
      moment: momentAt(startedAt + 5),
      actor: 'key k1',
    })
    assert.deepEqual(
      moved.map(({ jobExecutionId, execState }) => [jobExecutionId, execState]),
      [[first, 'CANCELED']],
    )
    assert.deepEqual(
      (await busy()).map(({ execState }) => execState),
      ['IN_PROGRESS', 'PENDING'],
    )
    await store.moveExecution(moveOf(ownerNo, first + 1, 'fail'))
    const ends = await store.listScheduledEnds({ scheduleNo, after: 0, limit: 5 })
    assert.deepEqual(
      ends.map(({ FAILED, CANCELED }) => [FAILED, CANCELED]),
      [[1, 1]],
    )
    assert.deepEqual(await store.listScheduledEnds({ scheduleNo, after: run.runId, limit: 5 }), [])
    const sums = async (since: number) => {
      const counted = await store.countScheduled({ scheduleNos: [scheduleNo, 987_654], since })
      return counted.map(({ FAILED, CANCELED, PENDING }) => [FAILED, CANCELED, PENDING])
    }
    assert.deepEqual([await sums(startedAt), await sums(startedAt + 1)], [[[1, 1, 1]], [[0, 0, 1]]])
    assert.deepEqual(await sums(startedAt + 2), [])
    const [open] = await store.listUnfinishedCounts({ ownerNo, scheduleNo, limit: 1 })
    assert.equal(open?.PENDING, 1)
    const counts = (since: number) =>
      store.listRunCounts({ ownerNo, runIds: [open?.runId ?? 0, 987_654], since })
    assert.deepEqual([await counts(0), await counts(Number.MAX_SAFE_INTEGER)], [[open], []])
    const none = { stopRule: null, on: [], ended: null, percent: null }
    const pausedCause = { rule: 'FAILURES' as const, count: 1, ...none }
    const stopBaseline = { runs: [{ runId: run.runId, counts: { FAILED: 1 } }], letsGo: true }
    const set = { watchedRunId: run.runId, pausedCause, stopBaseline, failuresAfter: run.runId }
    assert.ok(await store.changeSchedule({ before: schedule, set, at: startedAt }))
    const changed = await store.getSchedule(schedule)
    assert.deepEqual([changed?.pausedCause, changed?.stopBaseline], [pausedCause, stopBaseline])
    assert.deepEqual(await sums(startedAt), [[0, 0, 1]])
    const judged = await store.listJudgedSchedules({ limit: 1000 })
    assert.ok(judged.some((each) => each.scheduleNo === scheduleNo))
    assert.deepEqual(await store.getRunRange({ runId: run.runId }), {
      ...{ runId: run.runId, first, last: first + 1 },
    })
    await store.recordGiven({ scheduleNo, first, last: first + 1 })
    await store.recordGiven({ scheduleNo, first, last: first + 2 })
    const deviceNos = (await busyNos(store, ownerNo)).concat(987_654)
    assert.deepEqual((await store.listGivenDevices({ scheduleNo, deviceNos })).length, 2)
    const rows = await underTest.countRows('schedule_device')
    assert.equal(await store.deleteSchedule({ ...schedule, ...by, at: startedAt }), true)
    assert.equal(await underTest.countRows('schedule_device'), rows - 2)
  })

  await t.test('several changes in one write: each is made to what was read, or not at all', async () => {
    const { store } = underTest
    const one = await putOne(store, schedulePut(await seedOwner(store)))
    const other = await putOne(store, schedulePut(await seedOwner(store)))
    const stale = { ...one, version: one.version - 1 }
    const at = startedAt
    const changes = [
      { before: other, set: { failures: 7 }, at },
      { before: stale, set: { failures: 8 }, at },
    ]
    assert.deepEqual(await store.changeSchedules(changes), [true, false])
    const failures = [await store.getSchedule(one), await store.getSchedule(other)].map(
      (each) => each?.failures,
    )
    assert.deepEqual(failures, [0, 7])
  })

  await t.test('a schedule of a deleted job is paused in the same step', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo } = seed
    const put = await putOne(store, schedulePut(seed))
    assert.equal(await store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt + 3 }), 'deleted')
    const paused = await store.getSchedule(put)
    assert.deepEqual(
      [paused?.pausedBecause, paused?.pausedBy, paused?.pausedAt, paused?.dueAt],
      ['the job restart was deleted', 'service', startedAt + 3, null],
    )
  })

  await t.test('changes of devices are listed in order, and devices as selectors see them', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store)
    const list = (after: number, limit: number) => store.listDeviceChanges({ ownerNo, after, limit })
    const { upTo } = await list(0, 0)
    const attributes = { fw: '1.0' }
    await store.putDevices([{ ...devicePut(ownerNo, 'c1'), attributes }, devicePut(ownerNo, 'c2')])
    const device = { ownerNo, deviceId: 'c1' }
    const changes = { fw: '2.0', ram: 4 }
    await store.recordAttributes([{ device, changes, at: startedAt }])
    const all = await list(upTo, 10)
    assert.deepEqual(
      all.changes.map(({ names }) => names),
      [undefined, undefined, ['fw', 'ram']],
    )
    const some = await list(upTo, 2)
    assert.deepEqual([some.changes.length, some.isMore, some.upTo], [2, true, some.changes[1]?.eventId])
    const none = { changes: [], moves: [], count: 0, isMore: false, isLost: false }
    assert.deepEqual(await list(all.upTo, 10), { ...none, upTo: all.upTo })
    const deviceNos = all.changes.map(({ deviceNo }) => deviceNo)
    const [c1, c2] = (await store.listSelectable({ ownerNo, deviceNos })).sort((a, b) =>
      a.deviceId < b.deviceId ? -1 : 1,
    )
    assert.deepEqual([c1?.deviceId, c1?.attributes, c1?.online], ['c1', { fw: '1.0' }, false])
    assert.deepEqual(c1?.reportedAttributes, { fw: '2.0', ram: 4 })
    assert.deepEqual([c2?.deviceId, c2?.attributes, c2?.reportedAttributes], ['c2', {}, {}])
    const other = await seedOwner(store)
    assert.deepEqual(await store.listSelectable({ ownerNo: other.ownerNo, deviceNos }), [])
    const when = { kind: 'match' } as const
    const put = schedulePut({ ownerNo })
    const match = await putOne(store, {
      ...put,
      content: { ...put.content, when },
      times: { nextFor: null, dueAt: null },
    })
    const listed = await store.listMatchSchedules()
    assert.ok(listed.some(({ scheduleNo }) => scheduleNo === match.scheduleNo))
  })
}

async function busyNos(store: Store, ownerNo: number): Promise<number[]> {
  const { items } = await store.selectDevices({
    ownerNo,
    where: { kind: 'all' },
    slice: { after: undefined, limit: 10 },
  })
  return items.map(({ deviceNo }) => deviceNo)
}
