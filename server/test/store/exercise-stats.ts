// Counts over time in every store: state changes of a run, and executions launched in a range.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Flow } from '../../src/domain/device/ports/fleet.ts'
import type { StatsQuestion } from '../../src/domain/device/ports/stats.ts'
import {
  bringTo,
  createOne,
  momentAt,
  moveOf,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const second = 1000

export async function exerciseStats(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('the moves of a run are counted by time step, of all or of every n-th execution', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { devices: ['d1', 'd2', 'd3', 'd4'] })
    const { runId, firstExecutionId: first } = await createOne(store, trigger(['d1', 'd2', 'd3', 'd4']))
    const other = await createOne(store, trigger(['d1']))
    await bringTo(store, ownerNo, other.firstExecutionId, 'FAILED')
    const at = (seconds: number) => momentAt(startedAt + seconds * second)
    for (const [index, seconds] of [1, 1.5, 2].entries()) {
      await store.moveExecution(moveOf(ownerNo, first + index, 'start', at(seconds)))
    }
    await store.moveExecution(moveOf(ownerNo, first, 'succeed', at(5)))
    const asked = { ownerNo, runId, from: startedAt, stepMs: second }
    const sorted = (flows: Flow[]) => flows.toSorted((one, another) => one.stepNo - another.stepNo)
    const started = { from: 'PENDING', to: 'IN_PROGRESS' } as const
    const ended = { stepNo: 5, from: 'IN_PROGRESS', to: 'SUCCEEDED', count: 1 } as const
    assert.deepEqual(sorted(await store.countRunFlows({ ...asked, stride: 1 })), [
      { stepNo: 1, ...started, count: 2 },
      { stepNo: 2, ...started, count: 1 },
      ended,
    ])
    assert.deepEqual(sorted(await store.countRunFlows({ ...asked, stride: 2 })), [
      { stepNo: 1, ...started, count: 1 },
      { stepNo: 2, ...started, count: 1 },
      ended,
    ])
    const { ownerNo: stranger } = await seedOwner(store)
    assert.deepEqual(await store.countRunFlows({ ...asked, ownerNo: stranger, stride: 1 }), [])
  })

  await t.test('what was launched in a range is counted by step and job, with durations', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { jobs: ['restart', 'update'] })
    const { trigger: foreign } = await seedOwner(store)
    const launch = async (seconds: number, jobName: string, deviceIds: string[]) => {
      await createOne(store, foreign(['d1'], { launchedAt: startedAt + seconds * second }))
      return createOne(store, trigger(deviceIds, { jobName, launchedAt: startedAt + seconds * second }))
    }
    await launch(-1, 'restart', ['d1'])
    const early = await launch(0, 'restart', ['d1', 'd2', 'd3'])
    const late = await launch(25, 'update', ['d1'])
    await launch(30, 'update', ['d1'])
    const start = momentAt(startedAt + 40 * second)
    for (const [index, ms] of [100, 200].entries()) {
      await store.moveExecution(moveOf(ownerNo, early.firstExecutionId + index, 'start', start))
      const end = momentAt(startedAt + 40 * second + ms)
      await store.moveExecution(moveOf(ownerNo, early.firstExecutionId + index, 'succeed', end))
    }
    await bringTo(store, ownerNo, late.firstExecutionId, 'FAILED')
    const range = { from: startedAt, to: startedAt + 30 * second, stepMs: 10 * second }
    const read = async (more: Partial<StatsQuestion> = {}) => {
      const asked = { ownerNo, ...range, maxRuns: 10, maxDurations: 10, ...more }
      const { launched, durations, completeFrom } = await store.readStats(asked)
      const counts = launched
        .toSorted((one, other) => one.stepNo - other.stepNo)
        .map(({ counts, ...group }) => [group.stepNo, group.jobName, group.total, counts.FAILED])
      return { counts, ms: durations.map(({ ms }) => ms).sort(), completeFrom }
    }
    const restarts = [0, 'restart', 3, 0]
    const updates = [2, 'update', 1, 1]
    const complete = { completeFrom: undefined }
    assert.deepEqual(await read(), { counts: [restarts, updates], ms: [100, 200], ...complete })
    assert.deepEqual(await read({ jobName: 'update' }), { counts: [updates], ms: [], ...complete })
    for (const jobs of [['update'], ['up*', 'absent'], ['update', 'u*']])
      assert.deepEqual(await read({ jobs }), { counts: [updates], ms: [], ...complete }, jobs.join())
    assert.deepEqual(await read({ jobs: ['*'] }), {
      counts: [restarts, updates],
      ms: [100, 200],
      ...complete,
    })
    for (const more of [
      { jobs: ['updat'] },
      { jobs: ['up*'], jobName: 'restart' },
      { jobs: ['%', 'u_date'] },
    ])
      assert.deepEqual(await read(more), { counts: [], ms: [], ...complete })
    assert.deepEqual(await read({ from: startedAt - 9, to: startedAt }), { counts: [], ms: [], ...complete })
    const newest = await read({ maxRuns: 1 })
    assert.deepEqual(newest, { counts: [updates], ms: [], completeFrom: startedAt + 25 * second })
    assert.ok((await read({ maxDurations: 1 })).ms.length <= 1)
  })

  await t.test(
    'runs are listed by the states they have, and by when they were launched and ended',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store, { jobs: ['restart', 'update'] })
      const runs: number[] = []
      for (const [index, state] of (['FAILED', 'SUCCEEDED', 'PENDING', 'TIMED_OUT'] as const).entries()) {
        const jobName = index === 3 ? 'update' : 'restart'
        const run = await createOne(store, trigger(['d1'], { jobName, launchedAt: startedAt + index }))
        runs.push(run.runId)
        await bringTo(store, ownerNo, run.firstExecutionId, state, momentAt(startedAt + 100 + index))
      }
      const listed = async (filter: Parameters<typeof store.listRuns>[0]['filter']) => {
        const found = await readAll((slice: Slice<number>) => store.listRuns({ ownerNo, filter, slice }), 1)
        return found.map(({ runId }) => runs.indexOf(runId))
      }
      assert.deepEqual(await listed({ execStates: ['FAILED', 'TIMED_OUT'] }), [3, 0])
      assert.deepEqual(await listed({ execStates: ['FAILED', 'PENDING'], jobName: 'restart' }), [2, 0])
      assert.deepEqual(await listed({ launchedAfter: startedAt + 1, launchedBefore: startedAt + 3 }), [2, 1])
      assert.deepEqual(await listed({ finishedAfter: startedAt + 101 }), [3, 1])
      assert.deepEqual(await listed({ finishedAfter: startedAt + 100, jobName: 'update' }), [3])
      assert.deepEqual(await listed({ finishedBefore: startedAt + 103, finished: true }), [1, 0])
      assert.deepEqual(await listed({ finishedAfter: startedAt + 104 }), [])
      assert.deepEqual(await listed({ execStates: ['PENDING'], finished: false }), [2])
    },
  )
}
