// Why executions of a run did not succeed, and what their devices have in common.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { parseSelector } from '@jobcast/contract/selector'
import type { ExecutionEvent } from '../../src/domain/execution/execution.ts'
import {
  bringTo,
  createOne,
  devicePut,
  momentAt,
  moveOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const everything = 1_000_000

export async function exerciseRunFailures(t: TestContext, { store }: StoreUnderTest): Promise<void> {
  const end = async (ownerNo: number, id: number, event: ExecutionEvent, reason?: string) => {
    const outcome = await store.moveExecution({ ...moveOf(ownerNo, id, event), ...(reason && { reason }) })
    assert.equal(outcome.kind, 'moved')
  }

  await t.test('executions of runs are counted for the devices that match a selector', async () => {
    const devices = ['in-1', 'in-2', 'out-1']
    const { ownerNo, trigger } = await seedOwner(store, { devices })
    const { ownerNo: stranger } = await seedOwner(store)
    const [mixed, outer, ended] = [
      await createOne(store, trigger(devices)),
      await createOne(store, trigger(['out-1'])),
      await createOne(store, trigger(['in-1', 'out-1'])),
    ]
    await bringTo(store, ownerNo, ended.firstExecutionId, 'FAILED')
    await bringTo(store, ownerNo, mixed.firstExecutionId, 'SUCCEEDED')
    const runIds = [mixed, outer, ended].map(({ runId }) => runId)
    const where = parseSelector('deviceId~in-*')
    const found = await store.countRunsWithin({ ownerNo, runIds, where })
    const shown = found.map(({ runId, total, counts, endedAt }) => [
      ...[runId, total, counts.PENDING, counts.SUCCEEDED, counts.FAILED, endedAt === null],
    ])
    assert.deepEqual(
      shown.sort(([one], [other]) => Number(one) - Number(other)),
      [
        [mixed.runId, 2, 1, 1, 0, true],
        [ended.runId, 1, 0, 0, 1, false],
      ],
    )
    assert.deepEqual(await store.countRunsWithin({ ownerNo: stranger, runIds, where }), [])
    assert.deepEqual(await store.countRunsWithin({ ownerNo, runIds: [], where }), [])
    await store.deleteDevice({ ownerNo, deviceId: 'in-1', moment: momentAt(startedAt), actor: 'key k' })
    const [left, ...more] = await store.countRunsWithin({ ownerNo, runIds, where })
    assert.deepEqual([left?.runId, left?.total, more], [mixed.runId, 1, []])
  })

  await t.test('what callers restricted to devices count is bounded, and only of their devices', async () => {
    const devices = ['in-1', 'in-2', 'out-1']
    const { ownerNo, trigger } = await seedOwner(store, { devices, jobs: ['restart', 'update'] })
    const runs = [
      await createOne(store, trigger(devices)),
      await createOne(store, trigger(['in-1', 'out-1'], { jobName: 'update' })),
    ]
    const [first, second] = runs.map(({ runId }) => runId)
    await bringTo(store, ownerNo, runs[0]?.firstExecutionId ?? 0, 'SUCCEEDED')
    const where = parseSelector('deviceId~in-*')
    const slice = { after: undefined, limit: 9 }
    const { items } = await store.selectDevices({ ownerNo, where, slice })
    const unfinished = (more: object) => store.countUnfinished({ ownerNo, devices: items, ...more })
    const [, ofFirst = 0] = [0, 1].map((index) => (runs[0]?.firstExecutionId ?? 0) + index)
    assert.deepEqual(await unfinished({}), { waiting: 2, running: 0, oldestWaitingId: ofFirst })
    const oldestWaitingId = runs[1]?.firstExecutionId
    assert.deepEqual(await unfinished({ jobs: ['up*'] }), { waiting: 1, running: 0, oldestWaitingId })
    assert.deepEqual(await unfinished({ jobs: ['x'] }), {
      ...{ waiting: 0, running: 0, oldestWaitingId: undefined },
    })

    const range = { ownerNo, from: startedAt - 1, to: startedAt + 60_000, maxRuns: 9 }
    const launched = async (maxExecutions: number, maxRuns = 9) => {
      const found = await store.listLaunchedRuns({ ...range, maxRuns, maxExecutions })
      return [found.runs.map(({ runId, total }) => [runId, total]), found.isComplete]
    }
    const both = [
      [second, 2],
      [first, 3],
    ]
    assert.deepEqual(await launched(5), [both, true])
    assert.deepEqual(await launched(4), [[both[0]], false])
    assert.deepEqual(await launched(1), [[both[0]], false])
    assert.deepEqual(await launched(9, 1), [[both[0]], false])

    const runIds = runs.map(({ runId }) => runId)
    const durations = await store.listDurationsWithin({ ownerNo, runIds, where, stride: 1 })
    assert.deepEqual(
      durations.map(({ runId }) => runId),
      [first],
    )
    const { newest } = await store.getEventBounds({ ownerNo })
    const events = { ownerNo, where, after: 0, before: newest + 1, stepMs: 1000 }
    const flows = async (maxExecutions: number, more = {}) => {
      const { created, isCut, ...found } = await store.countFlowsWithin({ ...events, maxExecutions, ...more })
      const counted = found.flows.map(({ from, to, count }) => `${from} ${to} ${count}`).sort()
      return [created.map(({ runId, total }) => [runId, total]), counted, isCut]
    }
    const moved = ['IN_PROGRESS SUCCEEDED 1', 'PENDING IN_PROGRESS 1']
    assert.deepEqual(await flows(5), [both, moved, false])
    assert.deepEqual(await flows(5, { jobs: ['update'] }), [[both[0]], [], false])
    assert.deepEqual(await flows(4), [[both[0]], moved, true])
    const outside = parseSelector('deviceId=out-1')
    assert.deepEqual(await flows(5, { where: outside }), [both, [], false])
  })

  await t.test(
    'failures are counted by their reason, without what was canceled before it was sent',
    async () => {
      const devices = Array.from({ length: 9 }, (_, index) => `d${index}`)
      const { ownerNo, trigger } = await seedOwner(store, { devices })
      const other = await createOne(store, trigger(['d0']))
      await bringTo(store, ownerNo, other.firstExecutionId, 'FAILED')
      const { runId, firstExecutionId: first } = await createOne(store, trigger(devices))
      const later = await createOne(store, trigger(['d1']))
      await bringTo(store, ownerNo, later.firstExecutionId, 'REJECTED')
      await end(ownerNo, first, 'fail', 'disk full')
      await end(ownerNo, first + 1, 'reject')
      await end(ownerNo, first + 2, 'fail', `disk full${' and more'.repeat(100)}`)
      await end(ownerNo, first + 3, 'fail', `disk full${' and more'.repeat(99)}`)
      await end(ownerNo, first + 4, 'cancel')
      for (const event of ['start', 'cancel', 'confirm-cancel'] as const) await end(ownerNo, first + 5, event)
      await bringTo(store, ownerNo, first + 6, 'SUCCEEDED')
      await end(ownerNo, first + 7, 'start')
      const read = async (more: { groups?: number; sampled?: number } = {}) => {
        const found = await store.countFailures({ ownerNo, runId, groups: 9, sampled: 9, ...more })
        const groups = found?.groups.map(({ execState, event, reason, count, sample }) => [
          ...[execState, event, reason?.slice(0, 10) ?? null, count, sample],
        ])
        return { ...found, groups }
      }
      const long = ['FAILED', 'fail', 'disk full ', 2]
      const groups = [
        ['FAILED', 'fail', 'disk full', 1, ['d0']],
        ['REJECTED', 'reject', null, 1, ['d1']],
        ['CANCELED', 'confirm-cancel', null, 1, ['d5']],
      ]
      assert.deepEqual(await read(), { total: 5, succeeded: 1, groups: [[...long, ['d2', 'd3']], ...groups] })
      assert.deepEqual(await read({ groups: 1, sampled: 0 }), {
        ...{ total: 5, succeeded: 1 },
        groups: [[...long, ['d2']]],
      })
      const { ownerNo: stranger } = await seedOwner(store)
      const asked = { ownerNo: stranger, runId, groups: 9, sampled: 9 }
      assert.equal(await store.countFailures(asked), undefined)
      const compared = { failed: everything, succeeded: everything, least: 1, percent: 0, limit: 9 }
      assert.deepEqual(await store.listSharedValues({ ownerNo: stranger, runId, ...compared }), [])
    },
  )

  await t.test('a run without failures has none', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const { runId } = await createOne(store, trigger(['d1']))
    const found = await store.countFailures({ ownerNo, runId, groups: 9, sampled: 9 })
    assert.deepEqual(found, { total: 0, groups: [], succeeded: 0 })
  })

  await t.test('what failed devices have more often is found: tags, attributes, reported ones', async () => {
    const devices = ['bad1', 'bad2', 'bad3', 'good1', 'good2', 'gone']
    const { ownerNo, trigger } = await seedOwner(store, { devices })
    const isBad = (deviceId: string) => deviceId.startsWith('bad') || deviceId === 'gone'
    await store.putDevices(
      devices.map((deviceId, index) => ({
        ...devicePut(ownerNo, deviceId),
        tags: ['all', ...(isBad(deviceId) ? ['old "x"'] : [])],
        attributes: { site: index % 2 === 0 ? 'berlin' : 'lima', serial: deviceId, fw: '3' },
      })),
    )
    await store.recordAttributes(
      devices.map((deviceId) => ({
        device: { ownerNo, deviceId },
        changes: { fw: isBad(deviceId) ? '2.3' : '2.4', ram: isBad(deviceId) ? 256 : 512 },
        at: startedAt,
      })),
    )
    const { runId, firstExecutionId: first } = await createOne(store, trigger(devices))
    for (const [index, deviceId] of devices.entries()) {
      await bringTo(store, ownerNo, first + index, isBad(deviceId) ? 'FAILED' : 'SUCCEEDED')
    }
    await store.deleteDevice({ ownerNo, deviceId: 'gone', moment: momentAt(startedAt), actor: 'key k1' })
    const asked = { ownerNo, runId, failed: everything, succeeded: everything, percent: 0, limit: 9 }
    const shared = await store.listSharedValues({ ...asked, least: 2 })
    const of = { ofFailed: 3, ofSucceeded: 2 }
    const all = { failed: 3, succeeded: 0, ...of }
    assert.deepEqual(shared, [
      { name: '', isTag: true, isHidden: false, value: 'old "x"', ...all },
      { name: 'fw', isTag: false, isHidden: true, value: '2.3', ...all },
      { name: 'ram', isTag: false, isHidden: false, value: 256, ...all },
      { name: 'site', isTag: false, isHidden: false, value: 'berlin', failed: 2, succeeded: 1, ...of },
    ])
    const clear = await store.listSharedValues({ ...asked, least: 2, percent: 17 })
    assert.deepEqual(clear, shared.slice(0, 3))
    assert.deepEqual(await store.listSharedValues({ ...asked, least: 2, percent: 16 }), shared)
    const alone = await store.listSharedValues({ ...asked, least: 1 })
    assert.equal(alone.filter(({ name }) => name === 'serial').length, 3)
    assert.equal((await store.listSharedValues({ ...asked, least: 1, limit: 2 })).length, 2)
    // Nobody to compare with: as if all others were without.
    const without = await store.listSharedValues({ ...asked, succeeded: 0, least: 3 })
    assert.deepEqual(
      new Set(without.map(({ failed, ofSucceeded }) => `${failed} ${ofSucceeded}`)),
      new Set(['3 0']),
    )
    assert.equal(without.length, 5)
  })

  await t.test('of many devices a part is compared, spread over what repeats itself', async () => {
    const devices = Array.from({ length: 1000 }, (_, index) => `d${String(index).padStart(3, '0')}`)
    const { ownerNo, trigger } = await seedOwner(store, { devices: [] })
    const puts = devices.map((deviceId, index) => ({
      ...devicePut(ownerNo, deviceId),
      attributes: { site: index % 10 },
    }))
    await store.putDevices(puts)
    const { runId } = await createOne(store, trigger(devices))
    const move = { ownerNo, runId, event: 'fail', moment: momentAt(startedAt), actor: 'key k1' } as const
    for (let from: number | undefined; ; ) {
      const moved = await store.moveRun({ ...move, from })
      from = moved?.next
      if (from === undefined) break
    }
    const part = { failed: everything / 10, succeeded: everything, least: 1, percent: 0, limit: 20 }
    const shared = await store.listSharedValues({ ownerNo, runId, ...part })
    assert.equal(shared.length, 10)
    for (const { failed, ofFailed } of shared) {
      assert.ok(ofFailed >= 90 && ofFailed <= 110, `${ofFailed} of 1000`)
      assert.ok(failed >= 5 && failed <= 15, `${failed} of ${ofFailed}`)
    }
  })
}
