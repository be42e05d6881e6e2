// Histories of executions in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StoredTransition } from '../../src/domain/execution/ports/executions.ts'
import { output, report, reportDone, startNext, update } from './device-reports.ts'
import {
  assertRunsAddUp,
  createOne,
  fireClocks,
  momentAt,
  moveOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const after = (seconds: number) => momentAt(startedAt + seconds * 1000)

export async function exerciseHistory(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  /** `at` in seconds, `from -> to`, event, actor, attempt, version. */
  const inShort = ({ at, from, to, event, actor, attempt, versionNumber }: StoredTransition) => {
    return `${(at - startedAt) / 1000} ${from} -> ${to}: ${event} by ${actor}, attempt ${attempt}, version ${versionNumber}`
  }
  const historyOf = async (ownerNo: number, jobExecutionId: number) =>
    (await underTest.store.listTransitions({ ownerNo, jobExecutionId }))?.map(inShort)

  await t.test('the history of an execution has every transition with time, actor and cause', async () => {
    const { store } = underTest
    const retry = { max: 2, backoffSeconds: 10, on: ['FAILED' as const, 'TIMED_OUT' as const] }
    const { ownerNo, trigger } = await seedOwner(store, { content: { retry, timeoutSeconds: 5 } })
    const device = { ownerNo, deviceId: 'd2' }
    const run = await createOne(store, trigger(['d1', 'd2'], { keyId: 'secret9' }))
    const id = run.firstExecutionId + 1
    await reportDone(store, startNext(device, { moment: after(1) }))
    // Neither progress, nor output, nor what is refused, nor a delivery is a step.
    await reportDone(store, update(device, id, 'IN_PROGRESS', { moment: after(2), stepTimeout: 60_000 }))
    await report(store, output(device, id, 0, 'text'))
    await report(store, update(device, id, 'CANCELED', { moment: after(2) }))
    await store.recordDeliveries({ notified: [id], delivered: [id], at: after(2).at })
    await reportDone(store, update(device, id, 'FAILED', { moment: after(3) }))
    await fireClocks(store, ownerNo, after(13))
    await reportDone(store, startNext(device, { moment: after(14) }))
    await fireClocks(store, ownerNo, after(19))
    await fireClocks(store, ownerNo, after(39))
    await reportDone(store, update(device, id, 'IN_PROGRESS', { moment: after(40) }))
    await store.moveExecution({ ...moveOf(ownerNo, id, 'cancel', after(41)), actor: 'key abc' })
    await reportDone(store, update(device, id, 'CANCELED', { moment: after(42) }))
    const expected = [
      '0 null -> PENDING: trigger by key secret9, attempt 1, version 1',
      '1 PENDING -> IN_PROGRESS: start by device, attempt 1, version 2',
      '3 IN_PROGRESS -> PENDING: retry by device, attempt 1, version 4',
      '14 PENDING -> IN_PROGRESS: start by device, attempt 2, version 5',
      '19 IN_PROGRESS -> PENDING: retry by clock, attempt 2, version 6',
      '40 PENDING -> IN_PROGRESS: start by device, attempt 3, version 7',
      '41 IN_PROGRESS -> CANCELING: cancel by key abc, attempt 3, version 8',
      '42 CANCELING -> CANCELED: confirm-cancel by device, attempt 3, version 9',
    ]
    assert.deepEqual(await historyOf(ownerNo, id), expected)
    assert.deepEqual(await historyOf(ownerNo, id - 1), [expected[0]])
    assert.equal((await store.getExecution({ ownerNo, jobExecutionId: id }))?.versionNumber, 9)
    await underTest.reopen()
    assert.deepEqual(await historyOf(ownerNo, id), expected)
    await assertRunsAddUp(underTest.store, ownerNo)
  })

  await t.test('every kind of end is recorded with its reason', async () => {
    const { store } = underTest
    const content = { expireAfterSeconds: 30, deadlineSeconds: 60, timeoutSeconds: 50 }
    const devices = ['expires', 'succeeds', 'rejects', 'fails', 'times out', 'is late', 'overruns', 'goes']
    const { ownerNo, trigger } = await seedOwner(store, { devices, content })
    const { firstExecutionId, runId } = await createOne(store, trigger(devices))
    const idOf = (deviceId: string) => firstExecutionId + devices.indexOf(deviceId)
    const tell = (deviceId: string, status: Parameters<typeof update>[2], seconds: number) =>
      reportDone(store, update({ ownerNo, deviceId }, idOf(deviceId), status, { moment: after(seconds) }))
    await tell('succeeds', 'SUCCEEDED', 1)
    await tell('rejects', 'REJECTED', 1)
    for (const deviceId of ['fails', 'times out', 'is late', 'overruns'])
      await tell(deviceId, 'IN_PROGRESS', 2)
    await tell('fails', 'FAILED', 3)
    const longer = { moment: after(4), stepTimeout: 3_600_000 }
    await reportDone(store, update({ ownerNo, deviceId: 'is late' }, idOf('is late'), 'IN_PROGRESS', longer))
    await store.moveExecution(moveOf(ownerNo, idOf('overruns'), 'cancel', after(5)))
    await store.deleteDevice({ ownerNo, deviceId: 'goes', moment: after(6), actor: 'key gone' })
    for (const seconds of [30, 52, 60, 65]) await fireClocks(store, ownerNo, after(seconds))
    const last = async (deviceId: string) => (await historyOf(ownerNo, idOf(deviceId)))?.at(-1)
    assert.deepEqual(await Promise.all(devices.map(last)), [
      '30 PENDING -> EXPIRED: expire by clock, attempt 1, version 2',
      '1 PENDING -> SUCCEEDED: succeed by device, attempt 1, version 2',
      '1 PENDING -> REJECTED: reject by device, attempt 1, version 2',
      '3 IN_PROGRESS -> FAILED: fail by device, attempt 1, version 3',
      '52 IN_PROGRESS -> TIMED_OUT: time-out by clock, attempt 1, version 3',
      '60 IN_PROGRESS -> TIMED_OUT: miss-deadline by clock, attempt 1, version 4',
      '65 CANCELING -> CANCELED: overrun-cancel by clock, attempt 1, version 4',
      '6 PENDING -> CANCELED: remove-device by key gone, attempt 1, version 2',
    ])
    assert.equal((await store.getRun({ ownerNo, runId }))?.counts.PENDING, 0)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a step for a whole run is recorded for each of its executions', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const { firstExecutionId, runId } = await createOne(store, trigger(['d1', 'd2']))
    const move = { ownerNo, runId, event: 'force-cancel', moment: after(7), actor: 'key boss' } as const
    await store.moveRun({ ...move, from: undefined })
    for (const id of [firstExecutionId, firstExecutionId + 1]) {
      assert.equal(
        (await historyOf(ownerNo, id))?.at(-1),
        '7 PENDING -> CANCELED: force-cancel by key boss, attempt 1, version 2',
      )
    }
  })

  await t.test("an execution that does not exist, or is another owner's, has no history", async () => {
    const { store } = underTest
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
    const { firstExecutionId } = await createOne(store, theirs.trigger(['d1']))
    assert.equal(
      await store.listTransitions({ ownerNo: mine.ownerNo, jobExecutionId: firstExecutionId }),
      undefined,
    )
    assert.equal(await store.listTransitions({ ownerNo: mine.ownerNo, jobExecutionId: 2 ** 40 }), undefined)
    assert.equal(
      (await store.listTransitions({ ownerNo: theirs.ownerNo, jobExecutionId: firstExecutionId }))?.length,
      1,
    )
  })
}
