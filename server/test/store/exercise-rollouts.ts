// Held executions in every store: of runs with a rollout, and of frozen fleets.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import { withDecision } from '../../src/domain/rollout/approval.ts'
import type { RolloutChange } from '../../src/domain/rollout/ports/rollouts.ts'
import type { StoredRollout } from '../../src/domain/rollout/rollout.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import type { TriggerPlan } from '../../src/domain/trigger/trigger.ts'
import { assertUnknown, output, report, startedBy, startNext, update } from './device-reports.ts'
import {
  assertRunsAddUp,
  bringTo,
  createOne,
  devicePut,
  fireClocks,
  momentAt,
  olderThan,
  readQueue,
  runOf,
  type Seed,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const now = momentAt(startedAt)
export const plan: TriggerPlan = { jobVersion: null, rollout: {}, approval: false, sizes: [1, 2] }

export async function rolloutOf(
  store: Store,
  ownerNo: number,
  { runId }: LaunchedRun,
): Promise<StoredRollout> {
  const found = await store.getRollout({ ownerNo, runId })
  assert.ok(found)
  return found.rollout
}

/** Releases up to this position, as a rule would. */
export function releaseTo(
  before: StoredRollout,
  released: number,
  more: Partial<RolloutChange> = {},
): RolloutChange {
  const details = { wave: 1, released }
  const state = released >= before.total ? 'RELEASED' : before.status.state
  const status = { ...before.status, state, released }
  return { before, status, nextAt: null, events: [{ type: 'run.released', details }], moment: now, ...more }
}

async function startedId(store: Store, device: DeviceKey): Promise<number | undefined> {
  return (await startedBy(store, device))?.jobExecutionId
}

async function seen(store: Store, { ownerNo }: Seed, ...deviceIds: string[]): Promise<number[]> {
  const queues = await Promise.all(deviceIds.map((deviceId) => readQueue(store, { ownerNo, deviceId })))
  for (const { total, executions } of queues) assert.equal(total, executions.length)
  return queues.map(({ total }) => total)
}

export async function exerciseRollouts(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('involved principals and decisions are stored with a run', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const asked = { ...plan, approval: { required: 2 }, sizes: [1] }
    const { deviceIds: _, ...large } = seed.trigger(['d1'], { plan: asked, hands: ['key:b'] })
    const slice = { after: undefined, limit: 1 }
    const { items } = await store.selectDevices({
      ownerNo: seed.ownerNo,
      where: { kind: 'all' },
      slice,
    })
    const deviceNos = Int32Array.from(items, ({ deviceNo }) => deviceNo)
    for (const run of [
      await createOne(store, seed.trigger(['d1'], { plan: asked, hands: ['key:b'] })),
      runOf(await store.createLargeRun({ ...large, deviceNos })),
    ]) {
      const before = await rolloutOf(store, seed.ownerNo, run)
      assert.deepEqual([before.status.approval?.hands, before.plan.approval], [['key:b'], { required: 2 }])
      const decision = { principal: 'key:c', lineage: 'key:a', at: startedAt, comment: 'é' }
      const status = withDecision(before.status, { ...decision, decision: 'APPROVED', counts: true })
      assert.ok(await store.changeRollout({ before, status, nextAt: null, events: [], moment: now }))
      assert.deepEqual((await rolloutOf(store, seed.ownerNo, run)).status, status)
    }
  })

  await t.test('a job that has a rollout asks for a plan, of the version that counts', async () => {
    const { store } = underTest
    const rollout = { waves: [{ size: 1 }, { size: '100%' }] }
    const seed = await seedOwner(store, { content: { rollout } })
    const [asked] = await store.createExecutions([seed.trigger(['d1', 'd2'])])
    assert.ok(asked?.kind === 'needs-plan')
    assert.deepEqual(asked.rollout, rollout)
    const wrong = seed.trigger(['d1'], { plan: { ...plan, jobVersion: asked.jobVersion + 1, sizes: [1] } })
    const right = seed.trigger(['d1'], { plan: { ...plan, jobVersion: asked.jobVersion, sizes: [1] } })
    const kinds = (await store.createExecutions([wrong, right])).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['needs-plan', 'created'])
    const plain = await seedOwner(store)
    const stale = plain.trigger(['d1'], { plan: { ...plan, jobVersion: 1_000_000, sizes: [1] } })
    assert.equal((await store.createExecutions([stale]))[0]?.kind, 'needs-plan')
  })

  await t.test('what is in progress is counted by the values of an attribute, of either side', async () => {
    const { store } = underTest
    const devices = Array.from({ length: 6 }, (_, index) => `d${index}`)
    const { ownerNo, trigger } = await seedOwner(store, { devices })
    const own = ['a', 'b', 'a', undefined, 'b', 'a']
    await store.putDevices(
      devices.map((deviceId, index) => {
        const site = own[index]
        return { ...devicePut(ownerNo, deviceId), attributes: site === undefined ? {} : { site } }
      }),
    )
    const [d0] = devices.map((deviceId) => ({ ownerNo, deviceId }))
    assert.ok(d0)
    await store.recordAttributes([{ device: d0, changes: { site: 'b' }, at: startedAt }])
    const { firstExecutionId: first } = await createOne(store, trigger(devices))
    const read = async (by: string, from: number, released: number) => {
      const found = await store.readBudget({ ownerNo, by, first, from, released, to: 6 })
      const groups = new Map<string, number[]>()
      found.next.forEach((value, index) => {
        if (value !== null) groups.set(value, [...(groups.get(value) ?? []), released + index])
      })
      const counts = found.unfinished.map(({ value, count }) => [groups.get(value), count])
      return { from: found.from, next: [...groups.values()], counts: counts.sort() }
    }
    const begin = { from: 0, next: [[2, 5], [4]] }
    assert.deepEqual(await read('site', 0, 2), {
      ...begin,
      counts: [
        [[2, 5], 1],
        [[4], 1],
      ],
    })
    assert.deepEqual(await read('own.site', 0, 2), {
      ...begin,
      counts: [
        [[2, 5], 1],
        [[4], 1],
      ],
    })
    assert.deepEqual(await read('reported.site', 0, 2), { from: 0, next: [], counts: [] })
    assert.deepEqual(await read('reported.site', 0, 0), { from: 0, next: [[0]], counts: [] })
    await bringTo(store, ownerNo, first, 'SUCCEEDED')
    await bringTo(store, ownerNo, first + 5, 'CANCELED')
    assert.deepEqual(await read('site', 0, 2), { from: 1, next: [[2], [4]], counts: [[[4], 1]] })
    await bringTo(store, ownerNo, first + 1, 'FAILED')
    assert.deepEqual(await read('site', 1, 2), { from: 2, next: [[2], [4]], counts: [] })
  })

  await t.test('an unreleased execution is unknown to its device, also after a restart', async () => {
    const { store, reopen } = underTest
    const seed = await seedOwner(store)
    const { ownerNo, trigger } = seed
    const run = runOf((await store.createExecutions([trigger(['d1', 'd2', 'd3'], { plan })]))[0])
    const { firstExecutionId: first } = run
    assert.equal(run.isHeld, true)
    const later = await createOne(store, trigger(['d3']))
    for (const open of [async () => store, reopen]) {
      const each = await open()
      const d2 = { ownerNo, deviceId: 'd2' }
      assert.deepEqual(await seen(each, seed, 'd1', 'd2', 'd3'), [0, 0, 1])
      assert.equal((await report(each, startNext(d2))).kind, 'nothing-pending')
      for (const status of ['IN_PROGRESS', 'SUCCEEDED', 'REJECTED'] as const) {
        assert.equal((await report(each, update(d2, first + 1, status))).kind, 'unknown-execution')
      }
      assert.equal(await each.getDeviceExecution({ ...d2, jobExecutionId: first + 1 }), undefined)
    }
    // Held ones are older than what is offered, and do not stand in its way.
    assert.equal(await startedId(underTest.store, { ownerNo, deviceId: 'd3' }), later.firstExecutionId)
    await assertRunsAddUp(underTest.store, ownerNo)
  })

  await t.test(
    'a release is visible to its devices only, and the second of two concurrent changes has no effect',
    async () => {
      const { store } = underTest
      const seed = await seedOwner(store)
      const { ownerNo, trigger } = seed
      const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
      const { firstExecutionId: first, runId } = run
      const before = await rolloutOf(store, ownerNo, run)
      const both = await Promise.all([
        store.changeRollout(releaseTo(before, 1)),
        store.changeRollout(releaseTo(before, 2)),
      ])
      assert.deepEqual(both.toSorted(), [false, true])
      const { status } = await rolloutOf(store, ownerNo, run)
      const expected = both[0] ? [1, 0, 0] : [1, 1, 0]
      assert.equal(status.released, both[0] ? 1 : 2)
      const part = await store.listReleased({ ownerNo, runId, from: 0, to: status.released })
      assert.equal(part?.executions[0]?.jobExecutionId, first)
      for (const open of [async () => store, underTest.reopen]) {
        assert.deepEqual(await seen(await open(), seed, 'd1', 'd2', 'd3'), expected)
      }
      assert.equal(await startedId(underTest.store, { ownerNo, deviceId: 'd1' }), first)
      const second = await rolloutOf(underTest.store, ownerNo, run)
      assert.ok(await underTest.store.changeRollout(releaseTo(second, 3)))
      assert.deepEqual(await seen(underTest.store, seed, 'd1', 'd2', 'd3'), [1, 1, 1])
      const open = await underTest.store.listOpenRollouts()
      assert.equal(
        open.find((each) => each.runId === runId),
        undefined,
      )
      const { events } = await underTest.store.listEvents({
        ownerNo,
        filter: { types: ['run.*'] },
        slice: { after: 0, limit: 9 },
      })
      const released = events.filter(({ type }) => type === 'run.released').map(({ data }) => data)
      assert.deepEqual(
        released.map((data) => 'released' in data && data.released),
        [status.released, 3],
      )
    },
  )

  await t.test('a large run is held back and released like any other', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo, trigger } = seed
    const slice = { after: undefined, limit: 9 }
    const { items } = await store.selectDevices({ ownerNo, where: { kind: 'all' }, slice })
    const { deviceIds: _, ...large } = trigger([], { plan })
    const deviceNos = Int32Array.from(items, ({ deviceNo }) => deviceNo)
    const run = runOf(await store.createLargeRun({ ...large, deviceNos }))
    assert.equal(run.isHeld, true)
    assert.deepEqual(await seen(store, seed, 'd1', 'd2', 'd3'), [0, 0, 0])
    const before = await rolloutOf(store, ownerNo, run)
    assert.equal(before.total, 3)
    assert.ok(await store.changeRollout(releaseTo(before, 1)))
    assert.deepEqual(await seen(store, seed, 'd1', 'd2', 'd3'), [1, 0, 0])
  })

  await t.test('the mark of a queue is another one once something of it is released', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
    const marked = ['d1', 'd2'].map((deviceId) => ({ ownerNo, deviceId }))
    const before = await store.readQueues(marked)
    // Nobody reads what was released: that may fail, and a sweep must still find it.
    assert.ok(await store.changeRollout(releaseTo(await rolloutOf(store, ownerNo, run), 1)))
    const again = marked.map((device, index) => {
      const queue = before[index]
      return { ...device, unlessMark: typeof queue === 'object' ? queue.mark : undefined }
    })
    const [d1, d2] = await store.readQueues(again)
    assert.deepEqual([typeof d1, d2], ['object', 'unchanged'])
  })

  await t.test('timers of pending executions start with their release', async () => {
    const { store } = underTest
    const content = { expireAfterSeconds: 10, deadlineSeconds: 20 }
    const seed = await seedOwner(store, { content })
    const { ownerNo, trigger } = seed
    const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
    const { firstExecutionId: first } = run
    const at = (seconds: number) => momentAt(startedAt + seconds * 1000)
    assert.deepEqual(await fireClocks(store, ownerNo, at(1000)), [])
    const release = releaseTo(await rolloutOf(store, ownerNo, run), 2, { moment: at(1000) })
    assert.ok(await store.changeRollout(release))
    assert.equal(await startedId(store, { ownerNo, deviceId: 'd2' }), first + 1)
    const running = await store.getDeviceExecution({ ownerNo, deviceId: 'd2', jobExecutionId: first + 1 })
    assert.equal(running?.timesOutAt, steadyInstant(startedAt + 1_020_000))
    assert.deepEqual(await fireClocks(store, ownerNo, at(1009)), [])
    const expired = await fireClocks(store, ownerNo, at(1010))
    assert.deepEqual(
      expired.map(({ jobExecutionId, execState }) => [jobExecutionId, execState]),
      [[first, 'EXPIRED']],
    )
    const missed = await fireClocks(store, ownerNo, at(1020))
    assert.deepEqual(
      missed.map(({ jobExecutionId, execState }) => [jobExecutionId, execState]),
      [[first + 1, 'TIMED_OUT']],
    )
    assert.deepEqual(await fireClocks(store, ownerNo, at(9000)), [])
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'executions are canceled with the change of their rollout, or nothing is written',
    async () => {
      const { store } = underTest
      const seed = await seedOwner(store)
      const { ownerNo, trigger } = seed
      const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
      const { firstExecutionId: first } = run
      assert.ok(await store.changeRollout(releaseTo(await rolloutOf(store, ownerNo, run), 1)))
      const before = await rolloutOf(store, ownerNo, run)
      const canceling = (jobExecutionIds: number[]) =>
        releaseTo(before, 2, { cancels: { jobExecutionIds, actor: 'key k1' } })
      assert.equal(await startedId(store, { ownerNo, deviceId: 'd1' }), first)
      assert.equal(await store.changeRollout(canceling([first, first + 1])), false, 'one has started')
      assert.equal(await store.changeRollout(canceling([first + 1, first + 1_000_000])), false)
      assert.deepEqual((await rolloutOf(store, ownerNo, run)).status, before.status)
      const stateOf = async (jobExecutionId: number) =>
        (await store.getExecution({ ownerNo, jobExecutionId }))?.execState
      assert.equal(await stateOf(first + 1), 'PENDING')
      assert.ok(await store.changeRollout(canceling([first + 1, first + 2])))
      assert.deepEqual([await stateOf(first + 1), await stateOf(first + 2)], ['CANCELED', 'CANCELED'])
      assert.equal((await rolloutOf(store, ownerNo, run)).status.released, 2)
      assert.equal(await store.changeRollout(canceling([])), false, 'the rollout has changed since')
      assert.deepEqual(await seen(store, seed, 'd1', 'd2', 'd3'), [1, 0, 0])
      const history = await store.listTransitions({ ownerNo, jobExecutionId: first + 2 })
      assert.deepEqual([history?.at(-1)?.event, history?.at(-1)?.actor], ['cancel', 'key k1'])
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('a stopped run is held until it is canceled, then its rollout has ended', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { ownerNo, trigger } = seed
    const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
    const { runId, firstExecutionId: first } = run
    assert.ok(await store.changeRollout(releaseTo(await rolloutOf(store, ownerNo, run), 1)))
    const going = await rolloutOf(store, ownerNo, run)
    const status = { ...going.status, state: 'ABORTED' } as const
    const stop = { before: going, status, nextAt: null, events: [], moment: now }
    assert.ok(await store.changeRollout(stop))
    assert.deepEqual(await seen(store, seed, 'd1', 'd2', 'd3'), [1, 0, 0])
    const stopped = { ownerNo, runId, event: 'rollout-stopped', moment: now, actor: 'clock' } as const
    const batch = await store.moveRun({ ...stopped, from: first + 1 })
    assert.deepEqual(
      batch?.moved.map(({ execState }) => execState),
      ['CANCELED', 'CANCELED'],
    )
    const over = await rolloutOf(store, ownerNo, run)
    assert.ok(await store.changeRollout({ ...stop, before: over, isOver: true }))
    assert.deepEqual(await seen(store, seed, 'd1', 'd2', 'd3'), [1, 0, 0])
    assert.ok(!(await store.listOpenRollouts()).some((each) => each.runId === runId))
    const parts = [
      { from: 1, to: 3 },
      { from: 0, to: 1 },
    ]
    const counted = await store.countRunParts({ ownerNo, runId, parts })
    assert.deepEqual(
      [counted.run, ...counted.parts].map(({ CANCELED, PENDING }) => [CANCELED, PENDING]),
      [
        [2, 1],
        [2, 0],
        [0, 1],
      ],
    )
    const ended = { ownerNo, first, last: first + 2, execStates: ['CANCELED', 'FAILED'] as const }
    const named = await store.listEndedPart({ ...ended, limit: 5 })
    assert.deepEqual(
      named.map(({ deviceId, execState }) => [deviceId, execState]),
      [
        ['d3', 'CANCELED'],
        ['d2', 'CANCELED'],
      ],
    )
    assert.equal((await store.listEndedPart({ ...ended, limit: 1 })).length, 1)
    assert.deepEqual(await store.listEndedPart({ ...ended, execStates: ['FAILED'], limit: 5 }), [])
    assert.equal(await store.countOffline({ ownerNo, runId, from: 0, to: 3 }), 1)
    await store.moveRun({
      ownerNo,
      runId,
      event: 'cancel',
      moment: momentAt(startedAt + 1),
      actor: 'key k1',
      from: undefined,
    })
    assert.equal((await store.listEndedPart({ ...ended, limit: 1 }))[0]?.deviceId, 'd1', 'it ended last')
    while (await store.purgeRuns(olderThan(startedAt + 2)));
    assert.equal(await store.getRollout({ ownerNo, runId }), undefined)
  })

  await t.test('a version was released once an earlier run of it was, as a whole', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const jobName = 'restart'
    const version = await store.getJobVersion({ ownerNo, jobName, version: 1 })
    assert.ok(version)
    const { jobNo, versionNo } = version
    const wasReleased = (before: number, of = versionNo) =>
      store.wasReleased({ jobNo, versionNo: of, before })
    const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
    const last = Number.MAX_SAFE_INTEGER
    assert.equal(await wasReleased(last), false)
    assert.ok(await store.changeRollout(releaseTo(await rolloutOf(store, ownerNo, run), 2)))
    assert.equal(await wasReleased(last), false, 'some of it is held back')
    assert.ok(await store.changeRollout(releaseTo(await rolloutOf(store, ownerNo, run), 3)))
    assert.deepEqual(
      [await wasReleased(last), await wasReleased(run.runId), await wasReleased(last, versionNo + 1)],
      [true, false, false],
    )
    const other = await seedOwner(store)
    const plain = await createOne(store, other.trigger(['d1']))
    const found = await store.getJobVersion({ ownerNo: other.ownerNo, jobName, version: 1 })
    assert.ok(found)
    const { jobNo: otherNo, versionNo: one } = found
    assert.equal(await store.wasReleased({ jobNo: otherNo, versionNo: one, before: last }), true)
    assert.equal(await store.wasReleased({ jobNo: otherNo, versionNo: one, before: plain.runId }), false)
  })

  await t.test(
    'those that were released can be taken back, and only one run is the first to do so',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store)
      const run = await createOne(store, trigger(['d1', 'd2', 'd3'], { plan }))
      const { runId } = run
      const released = () => store.listEndedDevices({ ownerNo, runId, ends: 'released' })
      assert.deepEqual(await released(), [])
      assert.ok(await store.changeRollout(releaseTo(await rolloutOf(store, ownerNo, run), 2)))
      assert.deepEqual(await released(), ['d1', 'd2'])
      const plain = await createOne(store, trigger(['d3']))
      assert.deepEqual(await store.listEndedDevices({ ownerNo, runId: plain.runId, ends: 'released' }), [
        'd3',
      ])
      assert.equal(await store.findRollback({ ownerNo, runId }), undefined)
      const request = { where: null, matched: null, note: null, rollbackOf: runId }
      const first = await createOne(store, trigger(['d1'], { request: { ...request, rollbackOnce: runId } }))
      const second = trigger(['d2'], { request: { ...request, rollbackOnce: runId } })
      await assert.rejects(store.createExecutions([second]))
      await createOne(store, trigger(['d2'], { request }))
      assert.equal(await store.findRollback({ ownerNo, runId }), first.runId)
      assert.equal(await store.findRollback({ ownerNo: ownerNo + 1, runId }), undefined)
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('a frozen fleet is offered nothing, and running executions continue', async () => {
    const { store, reopen } = underTest
    const seed = await seedOwner(store)
    const other = await seedOwner(store)
    const { ownerNo, trigger } = seed
    await createOne(store, other.trigger(['d1']))
    const { firstExecutionId: first } = await createOne(store, trigger(['d1', 'd2']))
    const [d1, d2] = [
      { ownerNo, deviceId: 'd1' },
      { ownerNo, deviceId: 'd2' },
    ]
    assert.equal(await startedId(store, d1), first)
    const { mark } = await readQueue(store, d2)
    const freeze = {
      ownerNo,
      reason: 'black Friday',
      principal: 'key:k1',
      ...{ at: startedAt, clock: momentAt(startedAt).clock },
      until: startedAt + 5,
    }
    assert.equal(await store.freezeFleet(freeze), true)
    assert.equal(await store.freezeFleet({ ...freeze, reason: 'still' }), false)
    assert.notEqual((await store.readQueues([{ ...d2, unlessMark: mark }]))[0], 'unchanged')
    for (const open of [async () => store, reopen]) {
      const each = await open()
      assert.deepEqual(await seen(each, seed, 'd1', 'd2'), [1, 0])
      assert.deepEqual(await seen(each, other, 'd1'), [1])
      assert.equal((await report(each, startNext(d2))).kind, 'nothing-pending')
      await assertUnknown(each, d2, first + 1)
      assert.equal(
        (await each.getDeviceExecution({ ...d1, jobExecutionId: first }))?.execState,
        'IN_PROGRESS',
      )
      assert.equal((await each.getFreeze({ ownerNo }))?.reason, 'still')
    }
    const again = underTest.store
    assert.equal((await report(again, output(d1, first, 0, 'x'))).kind, 'output-kept')
    assert.equal((await report(again, update(d1, first, 'SUCCEEDED'))).kind, 'done')
    const end = { ownerNo, principal: 'service', at: startedAt, clock: momentAt(startedAt).clock }
    assert.equal(await again.unfreezeFleet({ ...end, expiredBy: startedAt + 4 }), false)
    assert.equal(await again.unfreezeFleet({ ...end, expiredBy: startedAt + 5 }), true)
    assert.equal(await again.unfreezeFleet(end), false)
    assert.equal(await startedId(again, d2), first + 1)
    const { events } = await again.listEvents({
      ownerNo,
      filter: { types: ['fleet.*'] },
      slice: { after: 0, limit: 9 },
    })
    assert.deepEqual(
      events.map(({ type }) => type),
      ['fleet.frozen', 'fleet.frozen', 'fleet.unfrozen'],
    )
  })
}
