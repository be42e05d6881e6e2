// Triggers in every store: order, atomicity, and ownership of jobs and devices.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  allExecutions,
  answered,
  createOne,
  devicePut,
  emptyContent,
  momentAt,
  moveOf,
  runOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

export async function exerciseTriggers(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test(
    'a refused trigger does not stop the others in its group, and outcomes keep the order',
    async () => {
      const { store } = underTest
      const { trigger, ownerNo } = await seedOwner(store)
      const outcomes = await store.createExecutions([
        trigger(['d2', 'd1']),
        trigger(['d1'], { jobName: 'nobody knows it' }),
        trigger(['d3']),
        trigger(['d1', 'missing', 'd2', 'gone']),
        trigger(['d1']),
      ])
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind),
        ['created', 'unknown-job', 'created', 'unknown-device', 'created'],
      )
      assert.deepEqual(outcomes[3], { kind: 'unknown-device', deviceIds: ['missing', 'gone'] })
      const created = [0, 2, 4].map((index) => answered(runOf(outcomes[index])))
      assert.deepEqual(
        created.map((run) => run.devices.map((device) => device.deviceId)),
        [['d2', 'd1'], ['d3'], ['d1']],
      )
      const stored = await allExecutions(store, ownerNo)
      assert.deepEqual(
        stored.map(({ jobExecutionId, runId, deviceId }) => ({ jobExecutionId, runId, deviceId })).reverse(),
        created.flatMap(({ runId, firstExecutionId, devices }) =>
          devices.map(({ deviceId }, index) => ({
            jobExecutionId: firstExecutionId + index,
            runId,
            deviceId,
          })),
        ),
      )
    },
  )

  await t.test(
    'ids only grow, without a gap inside a run, also after a group that made nothing',
    async () => {
      const { store, reopen } = underTest
      const { trigger } = await seedOwner(store)
      const first = await createOne(store, trigger(['d1', 'd2', 'd3']))
      await store.createExecutions([trigger(['missing'])])
      const second = await createOne(store, trigger(['d1']))
      const third = await createOne(await reopen(), trigger(['d1']))
      assert.ok(second.firstExecutionId >= first.firstExecutionId + 3)
      assert.ok(third.firstExecutionId > second.firstExecutionId)
      assert.ok(first.runId < second.runId && second.runId < third.runId)
    },
  )

  await t.test('an execution is equal to the response of its trigger', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    const run = await createOne(store, trigger(['d2', 'd1'], { launchedAt: startedAt + 7 }))
    assert.deepEqual(await store.getExecution({ ownerNo, jobExecutionId: run.firstExecutionId + 1 }), {
      jobExecutionId: run.firstExecutionId + 1,
      jobName: 'restart',
      deviceId: 'd1',
      deviceName: 'name of d1',
      execState: 'PENDING',
      launchedAt: startedAt + 7,
      runId: run.runId,
      attempt: 1,
      versionNumber: 1,
      startedAt: null,
      finishedAt: null,
      notifiedAt: null,
      deliveredAt: null,
      notBefore: null,
      statusDetails: {},
      result: null,
      outputBytes: 0,
      outputCut: false,
      priority: 5,
    })
    const stored = await store.getRun({ ownerNo, runId: run.runId })
    assert.deepEqual(
      { ...stored, counts: stored?.counts.PENDING },
      {
        ...{ endedAt: null, keyId: 'k1', keyName: null, where: null, matched: null, note: null },
        ...{ rollbackOf: null, window: null, priority: 5, replaces: false, version: 1, parameters: {} },
        runId: run.runId,
        jobName: 'restart',
        jobVersion: run.jobVersion,
        launchedAt: startedAt + 7,
        total: 2,
        counts: 2,
        retryOf: null,
        where: null,
        matched: null,
        scheduleNo: null,
        scheduleName: null,
        scheduledFor: null,
        note: null,
      },
    )
  })

  await t.test('one unknown device among 1000 and nothing is made; without it all are made', async () => {
    const { store } = underTest
    const devices = Array.from({ length: 1000 }, (_, index) => `d${index}`)
    const { trigger, ownerNo } = await seedOwner(store, { devices })
    for (const at of [0, 500, 1000]) {
      const [outcome] = await store.createExecutions([trigger(devices.toSpliced(at, 0, 'missing'))])
      assert.deepEqual(outcome, { kind: 'unknown-device', deviceIds: ['missing'] })
    }
    assert.deepEqual(await allExecutions(store, ownerNo), [])
    await createOne(store, trigger(devices))
    const stored = await allExecutions(store, ownerNo)
    assert.deepEqual(stored.map((execution) => execution.deviceId).reverse(), devices)
  })

  await t.test(
    'a list of more names than are looked up at once: the first position of each counts',
    async () => {
      const { store } = underTest
      const { trigger, ownerNo } = await seedOwner(store)
      const other = await seedOwner(store)
      const many = Array.from({ length: 60_000 }, (_, index) => (index < 59_000 ? 'd2' : 'd3'))
      const run = await createOne(store, trigger([...many, 'd1', 'd2']))
      assert.deepEqual(
        answered(run).devices.map(({ deviceId, deviceName }) => [deviceId, deviceName]),
        ['d2', 'd3', 'd1'].map((deviceId) => [deviceId, `name of ${deviceId}`]),
      )
      const stored = await allExecutions(store, ownerNo)
      assert.deepEqual(stored.map(({ deviceId }) => deviceId).reverse(), ['d2', 'd3', 'd1'])
      const unknown = Array.from({ length: 150 }, (_, index) => `missing-${index}`)
      assert.deepEqual(
        await store
          .createExecutions([
            trigger([...many, 'missing', 'd1', 'missing', 'gone']),
            trigger([...many, ...unknown]),
            trigger(many, { jobName: 'nobody knows it' }),
            other.trigger(['d1']),
          ])
          .then((outcomes) => outcomes.slice(0, 3)),
        [
          { kind: 'unknown-device', deviceIds: ['missing', 'gone'] },
          { kind: 'unknown-device', deviceIds: unknown.slice(0, 100) },
          { kind: 'unknown-job' },
        ],
      )
      assert.equal((await allExecutions(store, ownerNo)).length, 3)
    },
  )

  await t.test('resources of another owner are unknown', async () => {
    const { store } = underTest
    const mine = await seedOwner(store, { jobs: ['mine'], devices: ['my device'] })
    const theirs = await seedOwner(store, { jobs: ['theirs'], devices: ['their device'] })
    const run = await createOne(store, theirs.trigger(['their device']))
    const outcomes = await store.createExecutions([
      mine.trigger(['my device'], { jobName: 'theirs' }),
      mine.trigger(['my device', 'their device']),
    ])
    assert.deepEqual(outcomes, [
      { kind: 'unknown-job' },
      { kind: 'unknown-device', deviceIds: ['their device'] },
    ])
    assert.equal(
      await store.getExecution({ ownerNo: mine.ownerNo, jobExecutionId: run.firstExecutionId }),
      undefined,
    )
    assert.equal(await store.getRun({ ownerNo: mine.ownerNo, runId: run.runId }), undefined)
    assert.deepEqual(await allExecutions(store, mine.ownerNo, { deviceId: 'their device' }), [])
    assert.deepEqual(await allExecutions(store, mine.ownerNo, { jobName: 'theirs' }), [])
    assert.deepEqual(await allExecutions(store, mine.ownerNo, { runId: run.runId }), [])
    assert.deepEqual(await store.moveExecution(moveOf(mine.ownerNo, run.firstExecutionId, 'cancel')), {
      kind: 'unknown-execution',
    })
  })

  await t.test('jobs and devices are unknown once deleted, and known again once put again', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    assert.equal(await store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt }), 'deleted')
    assert.deepEqual(await store.createExecutions([trigger(['d1'])]), [{ kind: 'unknown-job' }])
    await store.putJob({ ownerNo, jobName: 'restart', content: emptyContent, at: startedAt })
    await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: momentAt(startedAt), actor: 'key k1' })
    assert.deepEqual(await store.createExecutions([trigger(['d1'])]), [
      { kind: 'unknown-device', deviceIds: ['d1'] },
    ])
    await store.putDevices([devicePut(ownerNo, 'd1')])
    assert.equal((await createOne(store, trigger(['d1']))).devices.length, 1)
  })

  await t.test(
    'a group that fails in the middle leaves nothing behind, and the next one succeeds',
    async () => {
      const { store, failAt } = underTest
      const { trigger, ownerNo } = await seedOwner(store)
      await failAt(startedAt + 13)
      const before = await createOne(store, trigger(['d1', 'd2']))
      const bad = trigger(['d2', 'd3'], { launchedAt: startedAt + 13 })
      await assert.rejects(store.createExecutions([trigger(['d1']), bad, trigger(['d3'])]))
      const after = await createOne(store, trigger(['d3', 'd1']))
      assert.ok(after.firstExecutionId > before.firstExecutionId + 1)
      for (const filter of [{}, { deviceId: 'd1' }, { deviceId: 'd3' }]) {
        const listed = await allExecutions(store, ownerNo, filter)
        assert.ok(listed.every(({ runId }) => runId === before.runId || runId === after.runId))
      }
      const deleted = await store.deleteDevice({
        ownerNo,
        deviceId: 'd2',
        moment: momentAt(startedAt),
        actor: 'key k1',
      })
      assert.deepEqual(
        deleted?.map((moved) => moved.runId),
        [before.runId],
      )
    },
  )
}
