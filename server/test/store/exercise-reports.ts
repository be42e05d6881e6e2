// Reports of devices in every store: start-next and update.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { execStates, reportedStatuses } from '@jobcast/contract'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import type { DeviceReport } from '../../src/domain/execution/device-report.ts'
import { eventOf, isTerminal, nextState } from '../../src/domain/execution/execution.ts'
import { recordStamped, type StampDeps } from '../../src/domain/execution/stamp-reports.ts'
import { output, report, reportDone, startedBy, startNext, update } from './device-reports.ts'
import {
  assertRunsAddUp,
  bringTo,
  createOne,
  devicePut,
  emptyContent,
  fireClocks,
  momentAt,
  moveOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const later = momentAt(startedAt + 1000)
const muchLater = momentAt(startedAt + 9000)

export async function exerciseReports(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest

  /** An owner with one execution for d1. */
  async function seedOne() {
    const seed = await seedOwner(store)
    const run = await createOne(store, seed.trigger(['d1']))
    const jobExecutionId = run.firstExecutionId
    return { ...seed, run, jobExecutionId, device: { ownerNo: seed.ownerNo, deviceId: 'd1' } }
  }

  await t.test(
    'a device has its whole timeout from the commit of its start, however long that took',
    async () => {
      const seed = await seedOwner(store, { content: { timeoutSeconds: 5 } })
      const { ownerNo, trigger } = seed
      const deviceIds = ['d1', 'd2', 'd3']
      const { firstExecutionId: first } = await createOne(store, trigger(deviceIds))
      await createOne(store, trigger(['d2']))
      const [d1, d2, d3] = deviceIds.map((deviceId) => ({ ownerNo, deviceId })) as [
        DeviceKey,
        DeviceKey,
        DeviceKey,
      ]
      await reportDone(store, startNext(d2))
      let now = momentAt(startedAt + 100_000)
      const slow: StampDeps = {
        moment: () => now,
        store: {
          async recordReports(reports, options) {
            const outcomes = await store.recordReports(reports, options)
            now = momentAt(now.at + 4600)
            return outcomes
          },
          async delayTimeouts(delay) {
            await store.delayTimeouts(delay)
            now = momentAt(now.at + (now.at < startedAt + 105_000 ? 900 : 100))
          },
        },
      }
      // They came long before.
      const arrived = { moment: momentAt(startedAt + 1) }
      const outcomes = await recordStamped(slow, [
        startNext(d1, arrived),
        update(d2, first + 1, 'IN_PROGRESS', arrived),
        update(d3, first + 2, 'SUCCEEDED', arrived),
      ])
      const committed = startedAt + 100_000 + 4600 + 900
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind === 'done' && outcome.execution.timesOutAt),
        [committed + 5000, startedAt + 5000, null],
      )
      const stored = await store.getDeviceExecution({ ...d1, jobExecutionId: first })
      assert.deepEqual(
        [stored?.timesOutAt, stored?.startedAt, stored?.versionNumber],
        [committed + 5000, startedAt + 100_000, 2],
      )
      const other = await store.getDeviceExecution({ ...d2, jobExecutionId: first + 1 })
      assert.equal(other?.timesOutAt, startedAt + 5000)
      assert.deepEqual(
        (await fireClocks(store, ownerNo, momentAt(committed + 4999))).map(
          ({ jobExecutionId }) => jobExecutionId,
        ),
        [first + 1],
      )
      assert.equal((await fireClocks(store, ownerNo, momentAt(committed + 5000)))[0]?.execState, 'TIMED_OUT')
    },
  )

  await t.test(
    'start-next starts the oldest pending execution, and returns it again without a change',
    async () => {
      const { ownerNo, trigger, device, run, jobExecutionId } = await seedOne()
      await createOne(store, trigger(['d1']))
      const statusDetails = { step: 'one' }
      const first = await reportDone(store, startNext(device, { moment: later, statusDetails }))
      assert.deepEqual(first, {
        kind: 'done',
        execution: {
          jobExecutionId,
          execState: 'IN_PROGRESS',
          attempt: 1,
          versionNumber: 2,
          statusDetails,
          launchedAt: startedAt,
          startedAt: later.at,
          updatedAt: later.at,
          timesOutAt: null,
          notified: true,
          jobVersion: run.jobVersion,
          priority: 5,
          runId: run.runId,
        },
        moved: { ...device, jobExecutionId, runId: run.runId, from: 'PENDING', execState: 'IN_PROGRESS' },
      })
      const other = { moment: muchLater, statusDetails: { step: 'two' }, stepTimeout: 5000 }
      const again = await reportDone(store, startNext(device, other))
      assert.deepEqual(again, { kind: 'done', execution: first.execution, moved: undefined })
      const stored = await store.getExecution({ ownerNo, jobExecutionId })
      assert.deepEqual(
        [stored?.execState, stored?.versionNumber, stored?.startedAt, stored?.statusDetails],
        ['IN_PROGRESS', 2, later.at, statusDetails],
      )
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('executions in progress come before pending ones, then the oldest', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    const ids: number[] = []
    for (let count = 0; count < 4; count++) {
      ids.push((await createOne(store, trigger(['d2', 'd1']))).firstExecutionId + 1)
    }
    const [first = 0, second = 0, third = 0, fourth = 0] = ids
    const next = async () => (await startedBy(store, device))?.jobExecutionId
    await reportDone(store, update(device, third, 'IN_PROGRESS'))
    assert.equal(await next(), third)
    await store.moveExecution(moveOf(ownerNo, third, 'cancel'))
    assert.equal((await startedBy(store, device))?.execState, 'CANCELING')
    await reportDone(store, update(device, second, 'IN_PROGRESS'))
    assert.equal(await next(), second)
    await reportDone(store, update(device, second, 'SUCCEEDED'))
    assert.equal(await next(), third)
    await reportDone(store, update(device, third, 'CANCELED'))
    assert.equal(await next(), first)
    await reportDone(store, update(device, first, 'FAILED'))
    assert.equal(await next(), fourth)
    await reportDone(store, update(device, fourth, 'REJECTED'))
    assert.equal(await next(), undefined)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a report of progress is stored; one that changes the state causes notices', async () => {
    const { ownerNo, device, jobExecutionId } = await seedOne()
    const brief = { isBrief: true, statusDetails: { step: '1' } }
    const started = await report(store, update(device, jobExecutionId, 'IN_PROGRESS', brief))
    assert.equal(started.kind, 'done')
    assert.deepEqual(
      await report(
        store,
        update(device, jobExecutionId, 'IN_PROGRESS', { ...brief, statusDetails: { step: '2' } }),
      ),
      { kind: 'noted' },
    )
    const stored = await store.getDeviceExecution({ ...device, jobExecutionId })
    assert.deepEqual(stored?.statusDetails, { step: '2' })
    assert.equal(stored?.versionNumber, 3)
    const late = await report(
      store,
      update(device, jobExecutionId, 'IN_PROGRESS', { ...brief, expectedVersion: 2 }),
    )
    assert.equal(late.kind, 'wrong-version')
    const ended = await report(store, update(device, jobExecutionId, 'SUCCEEDED', brief))
    assert.equal(ended.kind === 'done' && ended.moved?.execState, 'SUCCEEDED')
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'nothing is pending for a device without executions, and a device that does not exist is unknown',
    async () => {
      const { ownerNo, jobExecutionId } = await seedOne()
      await store.deleteDevice({ ownerNo, deviceId: 'd3', moment: later, actor: 'key k1' })
      const nobody = { ownerNo, deviceId: 'nobody' }
      const outcomes = await store.recordReports([
        startNext({ ownerNo, deviceId: 'd2' }),
        startNext(nobody),
        startNext({ ownerNo, deviceId: 'd3' }),
        startNext({ ownerNo: 2 ** 30, deviceId: 'd1' }),
        update(nobody, jobExecutionId, 'SUCCEEDED'),
        output(nobody, jobExecutionId, 0, 'text'),
      ])
      const unknown = { kind: 'unknown-device' }
      assert.deepEqual(outcomes, [{ kind: 'nothing-pending' }, unknown, unknown, unknown, unknown, unknown])
    },
  )

  await t.test(
    'a device that is put again after its deletion may report again, on what it gets then',
    async () => {
      const { ownerNo, trigger, device, jobExecutionId } = await seedOne()
      await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: later, actor: 'key k1' })
      await store.putDevices([devicePut(ownerNo, 'd1')])
      assert.equal(await startedBy(store, device), undefined)
      assert.equal((await report(store, update(device, jobExecutionId, 'SUCCEEDED'))).kind, 'wrong-state')
      const { firstExecutionId } = await createOne(store, trigger(['d1']))
      assert.equal((await startedBy(store, device))?.jobExecutionId, firstExecutionId)
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await chaosSubtest(
    t,
    'from every state every status counts or is refused as the table of states says',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const device = { ownerNo, deviceId: 'd1' }
      for (const state of execStates) {
        for (const status of reportedStatuses) {
          const { firstExecutionId, runId } = await createOne(store, trigger(['d1']))
          await bringTo(store, ownerNo, firstExecutionId, state)
          const before = await store.getExecution({ ownerNo, jobExecutionId: firstExecutionId })
          const seenBefore = await store.getDeviceExecution({ ...device, jobExecutionId: firstExecutionId })
          assert.ok(before && seenBefore)
          const brought = { statusDetails: { said: status }, result: '{"said":1}' }
          const sent = update(device, firstExecutionId, status, { moment: later, ...brought })
          const outcome = await report(store, sent)
          const event = eventOf(status, state)
          const execState = nextState(state, event)
          const after = await store.getExecution({ ownerNo, jobExecutionId: firstExecutionId })
          if (execState === undefined) {
            assert.deepEqual(outcome, { kind: 'wrong-state', execution: seenBefore })
            assert.deepEqual(after, before)
            continue
          }
          const moved = { ...device, jobExecutionId: firstExecutionId, runId, from: state, execState }
          assert.ok(outcome.kind === 'done')
          assert.deepEqual(outcome.moved, event === 'progress' ? undefined : moved)
          assert.deepEqual(
            outcome.execution,
            await store.getDeviceExecution({ ...device, jobExecutionId: firstExecutionId }),
          )
          assert.deepEqual(after, {
            ...before,
            execState,
            versionNumber: before.versionNumber + 1,
            startedAt: event === 'start' ? later.at : before.startedAt,
            finishedAt: isTerminal(execState) ? later.at : null,
            notifiedAt: later.at,
            deliveredAt: later.at,
            statusDetails: brought.statusDetails,
            result: { said: 1 },
          })
        }
      }
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('a report that expects another version is refused with the current one', async () => {
    const { ownerNo, device, jobExecutionId } = await seedOne()
    const expecting = (expectedVersion: number, status: 'IN_PROGRESS' | 'SUCCEEDED') =>
      report(store, update(device, jobExecutionId, status, { expectedVersion, statusDetails: { a: 'b' } }))
    for (const wrong of [2, 7]) {
      const refused = await expecting(wrong, 'IN_PROGRESS')
      assert.ok(refused.kind === 'wrong-version')
      assert.deepEqual([refused.execution.execState, refused.execution.versionNumber], ['PENDING', 1])
    }
    assert.equal((await store.getExecution({ ownerNo, jobExecutionId }))?.deliveredAt, null)
    assert.equal((await expecting(1, 'IN_PROGRESS')).kind, 'done')
    assert.equal((await expecting(1, 'SUCCEEDED')).kind, 'wrong-version')
    assert.equal((await expecting(2, 'IN_PROGRESS')).kind, 'done')
    assert.equal((await expecting(3, 'SUCCEEDED')).kind, 'done')
    // The end comes before the version: nothing would make this one right.
    assert.equal((await expecting(1, 'SUCCEEDED')).kind, 'wrong-state')
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a report from a device that has not seen the cancel request yet counts, once', async () => {
    const { ownerNo, device, jobExecutionId } = await seedOne()
    await reportDone(store, startNext(device))
    const cancel = await store.moveExecution(moveOf(ownerNo, jobExecutionId, 'cancel'))
    assert.equal(cancel.kind === 'moved' && cancel.execution.versionNumber, 3)
    const kinds = []
    for (const expectedVersion of [1, 2, 2, 3, 4, 4]) {
      kinds.push(
        (await report(store, update(device, jobExecutionId, 'IN_PROGRESS', { expectedVersion }))).kind,
      )
    }
    const wrong = 'wrong-version'
    assert.deepEqual(kinds, [wrong, 'done', wrong, wrong, 'done', wrong])
    await reportDone(store, update(device, jobExecutionId, 'SUCCEEDED', { expectedVersion: 5 }))
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    "a report on another attempt, another device's execution or none at all is on an unknown execution",
    async () => {
      const { ownerNo, device, jobExecutionId } = await seedOne()
      const foreign = await seedOne()
      const sister = { ownerNo, deviceId: 'd2' }
      const before = await store.getExecution({ ownerNo, jobExecutionId })
      const sent: DeviceReport[] = [
        update(device, jobExecutionId, 'SUCCEEDED', { attempt: 2 }),
        update(sister, jobExecutionId, 'SUCCEEDED'),
        update(foreign.device, jobExecutionId, 'SUCCEEDED'),
        update(device, foreign.jobExecutionId, 'SUCCEEDED'),
        update(device, 2 ** 40, 'SUCCEEDED'),
        output(device, jobExecutionId, 0, 'text', { attempt: 2 }),
        output(sister, jobExecutionId, 0, 'text'),
        output(foreign.device, jobExecutionId, 0, 'text'),
        output(device, 2 ** 40, 0, 'text'),
      ]
      for (const outcome of await store.recordReports(sent)) {
        assert.deepEqual(outcome, { kind: 'unknown-execution' })
      }
      assert.deepEqual(await store.getExecution({ ownerNo, jobExecutionId }), before)
      assert.equal(await store.getDeviceExecution({ ...sister, jobExecutionId }), undefined)
      assert.equal(await store.getDeviceExecution({ ...foreign.device, jobExecutionId }), undefined)
      assert.equal(await store.getDeviceExecution({ ...device, jobExecutionId: 2 ** 40 }), undefined)
      assert.equal(await store.getDeviceExecution({ ownerNo, deviceId: 'nobody', jobExecutionId }), undefined)
      await reportDone(store, update(device, jobExecutionId, 'SUCCEEDED', { attempt: 1 }))
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('a report of progress that comes twice counts once', async () => {
    const { ownerNo, device, jobExecutionId } = await seedOne()
    const progress = async (clientToken: string | undefined, more?: object) => {
      const sent = update(device, jobExecutionId, 'IN_PROGRESS', { clientToken, moment: later, ...more })
      const { execution, moved } = await reportDone(store, sent)
      return { version: execution.versionNumber, details: execution.statusDetails, moved: moved?.execState }
    }
    const details = { percent: '10' }
    const start = { expectedVersion: 1, statusDetails: details }
    assert.deepEqual(await progress('a', start), { version: 2, details, moved: 'IN_PROGRESS' })
    // As it was sent, with the version of then. With another content it is another report.
    assert.deepEqual(await progress('a', start), { version: 2, details, moved: undefined })
    assert.equal((await store.getDeviceExecution({ ...device, jobExecutionId }))?.updatedAt, later.at)
    assert.equal((await progress('a', { statusDetails: { percent: '99' } })).version, 3)
    const versions = []
    for (const token of ['b', 'b', 'a', undefined, undefined, 'a', 'b'])
      versions.push((await progress(token)).version)
    assert.deepEqual(versions, [4, 4, 5, 6, 7, 7, 7])
    // What others do in between is no report.
    await store.moveExecution(moveOf(ownerNo, jobExecutionId, 'cancel'))
    assert.equal((await progress('a')).version, 8)
    assert.equal((await progress('c')).version, 9)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'given details replace the previous ones and stay where none are given; so does the result',
    async () => {
      const { ownerNo, device, jobExecutionId } = await seedOne()
      const steps: [Partial<Parameters<typeof update>[3]>, object, unknown][] = [
        [{}, {}, null],
        [{ statusDetails: { a: '1', b: '2' } }, { a: '1', b: '2' }, null],
        [{ result: '{"n":[1,"ü",null]}' }, { a: '1', b: '2' }, { n: [1, 'ü', null] }],
        [{ statusDetails: { b: '3' } }, { b: '3' }, { n: [1, 'ü', null] }],
        [{ statusDetails: {}, result: '"text"' }, {}, 'text'],
      ]
      for (const [brought, statusDetails, result] of steps) {
        await reportDone(store, update(device, jobExecutionId, 'IN_PROGRESS', { ...brought }))
        const stored = await store.getExecution({ ownerNo, jobExecutionId })
        assert.deepEqual([stored?.statusDetails, stored?.result], [statusDetails, result])
      }
      await reportDone(store, update(device, jobExecutionId, 'SUCCEEDED'))
      assert.equal((await store.getExecution({ ownerNo, jobExecutionId }))?.result, 'text')
    },
  )

  await t.test('reports of one list take effect in its order, and so do lists sent at once', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const [d1, d2] = ['d1', 'd2'].map((deviceId) => ({ ownerNo, deviceId }))
    assert.ok(d1 && d2)
    const first = (await createOne(store, trigger(['d1', 'd2']))).firstExecutionId
    const second = (await createOne(store, trigger(['d1', 'd2']))).firstExecutionId
    const outcomes = await store.recordReports([
      startNext(d1),
      update(d1, first, 'SUCCEEDED', { expectedVersion: 2 }),
      startNext(d2),
      startNext(d1),
      update(d1, first, 'FAILED'),
      update(d1, second, 'FAILED', { expectedVersion: 2 }),
      startNext(d1),
    ])
    assert.deepEqual(
      outcomes.map((outcome) =>
        outcome.kind === 'done'
          ? [outcome.execution.jobExecutionId, outcome.execution.execState]
          : outcome.kind,
      ),
      [
        [first, 'IN_PROGRESS'],
        [first, 'SUCCEEDED'],
        [first + 1, 'IN_PROGRESS'],
        [second, 'IN_PROGRESS'],
        'wrong-state',
        [second, 'FAILED'],
        'nothing-pending',
      ],
    )
    const sent = [
      store.recordReports([update(d2, first + 1, 'SUCCEEDED')]),
      store.recordReports([startNext(d2)]),
      store.recordReports([update(d2, second + 1, 'SUCCEEDED', { expectedVersion: 2 })]),
      store.recordReports([startNext(d2)]),
    ]
    assert.deepEqual(
      (await Promise.all(sent)).map(([outcome]) => outcome?.kind),
      ['done', 'done', 'done', 'nothing-pending'],
    )
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a refused report does not affect the others in its list', async () => {
    const { ownerNo, device, jobExecutionId } = await seedOne()
    const other = await seedOne()
    const outcomes = await store.recordReports([
      update({ ownerNo, deviceId: 'nobody' }, jobExecutionId, 'SUCCEEDED'),
      update(device, 2 ** 40, 'SUCCEEDED'),
      update(device, jobExecutionId, 'IN_PROGRESS'),
      update(device, jobExecutionId, 'CANCELED'),
      output(device, jobExecutionId, 5, 'text'),
      update(device, jobExecutionId, 'SUCCEEDED', { expectedVersion: 9 }),
      startNext(other.device),
      output(device, jobExecutionId, 0, 'text'),
      update(device, jobExecutionId, 'SUCCEEDED'),
    ])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.kind),
      [
        'unknown-device',
        'unknown-execution',
        'done',
        'wrong-state',
        'output-gap',
        'wrong-version',
        'done',
        'output-kept',
        'done',
      ],
    )
    for (const owner of [ownerNo, other.ownerNo]) await assertRunsAddUp(store, owner)
  })

  await t.test(
    'the first report of a device proves that it has the execution, unless that was recorded before',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const device = { ownerNo, deviceId: 'd1' }
      const ids: number[] = []
      for (let count = 0; count < 4; count++)
        ids.push((await createOne(store, trigger(['d1']))).firstExecutionId)
      const [silent = 0, notified = 0, confirmed = 0, canceled = 0] = ids
      const times = async (id: number) => {
        const execution = await store.getExecution({ ownerNo, jobExecutionId: id })
        return [execution?.notifiedAt, execution?.deliveredAt].map((at) => (at ? at - startedAt : at))
      }
      const deliver = (notified: number[], delivered: number[], after: number) =>
        store.recordDeliveries({ notified, delivered, at: startedAt + after })
      await deliver([notified, confirmed, 2 ** 40], [2 ** 40], 1)
      await deliver([notified], [confirmed], 2)
      await deliver([confirmed], [confirmed], 3)
      assert.equal((await store.getDeviceExecution({ ...device, jobExecutionId: notified }))?.notified, true)
      assert.equal((await store.getDeviceExecution({ ...device, jobExecutionId: silent }))?.notified, false)
      assert.equal((await store.getExecution({ ownerNo, jobExecutionId: notified }))?.versionNumber, 1)
      await report(store, update(device, silent, 'CANCELED', { moment: later }))
      assert.deepEqual(await times(silent), [null, null])
      for (const id of [silent, notified, confirmed]) {
        await reportDone(store, update(device, id, 'IN_PROGRESS', { moment: later }))
        await reportDone(store, update(device, id, 'SUCCEEDED', { moment: muchLater }))
      }
      await store.moveExecution(moveOf(ownerNo, canceled, 'cancel', later))
      assert.deepEqual(await Promise.all(ids.map(times)), [
        [1000, 1000],
        [1, 1000],
        [1, 2],
        [null, null],
      ])
      await deliver([], [canceled], 4)
      assert.deepEqual(await times(canceled), [4, 4])
    },
  )

  await t.test('an execution carries the document its job had when it was launched', async () => {
    const { ownerNo, trigger } = await seedOwner(store, { jobs: [] })
    const launched = []
    for (const document of [{ v: 1 }, { v: 2, text: 'ü"\n' }, {}]) {
      await store.putJob({ ownerNo, jobName: 'job', content: { ...emptyContent, document }, at: startedAt })
      launched.push({ document, run: await createOne(store, trigger(['d1'], { jobName: 'job' })) })
    }
    await store.deleteJob({ ownerNo, jobName: 'job', at: startedAt })
    for (const { document, run } of launched) {
      const execution = await startedBy(store, { ownerNo, deviceId: 'd1' })
      assert.equal(execution?.jobVersion, run.jobVersion)
      assert.deepEqual(
        JSON.parse((await store.getDocument({ jobVersion: run.jobVersion })).document),
        document,
      )
      await reportDone(store, update({ ownerNo, deviceId: 'd1' }, run.firstExecutionId, 'SUCCEEDED'))
    }
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a list of reports of which the database refuses one leaves nothing behind', async () => {
    const { ownerNo, device, jobExecutionId } = await seedOne()
    const other = await seedOne()
    const failing = momentAt(startedAt + 13)
    await underTest.failAt(failing.at)
    await assert.rejects(
      store.recordReports([
        startNext(other.device),
        update(device, jobExecutionId, 'FAILED', { moment: failing }),
      ]),
      /refused/,
    )
    for (const each of [{ ownerNo, jobExecutionId }, other]) {
      assert.equal(
        (await store.getExecution({ ownerNo: each.ownerNo, jobExecutionId: each.jobExecutionId }))
          ?.versionNumber,
        1,
      )
      await assertRunsAddUp(store, each.ownerNo)
    }
    assert.equal((await startedBy(store, device))?.jobExecutionId, jobExecutionId)
    assert.equal((await startedBy(store, other.device))?.versionNumber, 2)
    for (const each of [ownerNo, other.ownerNo]) await assertRunsAddUp(store, each)
  })
}
