// Runs that replace what waits of their job, as every store keeps them until that is done.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { RolloutStatus } from '../../src/domain/rollout/judge-rollout.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import { type ReplaceDeps, resumeReplacing } from '../../src/domain/trigger/replace-waiting.ts'
import { startedBy } from './device-reports.ts'
import { rolloutOf } from './exercise-rollouts.ts'
import {
  assertRunsAddUp,
  createOne,
  momentAt,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const request = { where: null, matched: null, note: null, rollbackOf: null, replaces: 1 as const }

const all = { after: 0, limit: 1000 }

function depsOf(store: Store): ReplaceDeps {
  const quiet = { link: { wake() {}, withdraw() {} }, changes: { notify() {} } }
  return { store, moment: () => momentAt(startedAt + 1), ...quiet } as unknown as ReplaceDeps
}

export async function exerciseReplacing(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test(
    'a replacement interrupted by a crash continues: only pending executions of the job on its devices are canceled',
    async () => {
      const { ownerNo, trigger } = await seedOwner(underTest.store, { jobs: ['restart', 'other'] })
      const { store } = underTest
      const running = await createOne(store, trigger(['d1']))
      await startedBy(store, { ownerNo, deviceId: 'd1' })
      const waiting = await createOne(store, trigger(['d1', 'd2', 'd3'], { priority: 8 }))
      const other = await createOne(store, trigger(['d1'], { jobName: 'other' }))
      const replacing = await createOne(store, trigger(['d1', 'd2'], { request }))
      const later = await createOne(store, trigger(['d1']))
      const again = await underTest.reopen()
      const listed = async () =>
        (await again.listReplacing(all)).filter(({ runId }) => runId === replacing.runId)
      assert.deepEqual(await listed(), [{ ownerNo, runId: replacing.runId, keyId: 'k1' }])
      assert.equal((await again.listReplacing({ after: replacing.runId, limit: 100 })).length, 0)

      await resumeReplacing(depsOf(again))
      assert.deepEqual(await listed(), [])
      const stateOf = async (jobExecutionId: number) =>
        (await again.getExecution({ ownerNo, jobExecutionId }))?.execState
      const first = waiting.firstExecutionId
      assert.equal(await stateOf(running.firstExecutionId), 'IN_PROGRESS')
      assert.deepEqual(
        [await stateOf(first), await stateOf(first + 1), await stateOf(first + 2)],
        ['CANCELED', 'CANCELED', 'PENDING'],
      )
      for (const { firstExecutionId } of [other, replacing, later]) {
        assert.equal(await stateOf(firstExecutionId), 'PENDING')
      }
      const history = await again.listTransitions({ ownerNo, jobExecutionId: first })
      assert.deepEqual([history?.at(-1)?.event, history?.at(-1)?.actor], ['superseded', 'key k1'])
      assert.equal((await again.getRun({ ownerNo, runId: replacing.runId }))?.replaces, true)
      assert.equal((await again.getRun({ ownerNo, runId: later.runId }))?.replaces, false)
      await assertRunsAddUp(again, ownerNo)
    },
  )

  await t.test('a run replaces once it is approved, and nothing if it is denied', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const stateOf = async ({ firstExecutionId: jobExecutionId }: { firstExecutionId: number }) =>
      (await store.getExecution({ ownerNo, jobExecutionId }))?.execState
    const listed = async () => (await store.listReplacing(all)).map(({ runId }) => runId)
    const plan = { jobVersion: null, rollout: {}, approval: true, sizes: [1] }
    const [waiting, elsewhere] = [
      await createOne(store, trigger(['d1'])),
      await createOne(store, trigger(['d2'])),
    ]
    const approved = await createOne(store, trigger(['d1'], { request, plan }))
    const denied = await createOne(store, trigger(['d2'], { request, plan }))
    const scheduled = { ...plan, startAt: startedAt + 1000 }
    const later = await createOne(store, trigger(['d2'], { request, plan: scheduled }))
    const decide = async (run: LaunchedRun, more: Partial<RolloutStatus>) => {
      const before = await rolloutOf(store, ownerNo, run)
      const status = { ...before.status, ...more }
      const change = { before, status, nextAt: null, events: [], moment: momentAt(startedAt) }
      assert.ok(await store.changeRollout(change))
    }
    assert.deepEqual(
      await listed(),
      [later.runId],
      'those that wait for approval are not read again and again',
    )
    await resumeReplacing(depsOf(store))
    assert.deepEqual([await stateOf(waiting), await stateOf(elsewhere)], ['PENDING', 'PENDING'])
    const waves = [{ startedAt: momentAt(startedAt).clock, passedAt: null }]
    await decide(approved, { state: 'ROLLING_OUT', waves })
    await decide(denied, { state: 'DENIED' })
    assert.deepEqual(await listed(), [approved.runId, denied.runId, later.runId])
    await resumeReplacing(depsOf(store))
    assert.deepEqual([await stateOf(waiting), await stateOf(elsewhere)], ['CANCELED', 'PENDING'])
    assert.deepEqual(await listed(), [later.runId])
    await decide(later, { state: 'ABORTED' })
    await resumeReplacing(depsOf(store))
    assert.deepEqual([await stateOf(elsewhere), await listed()], ['PENDING', []])
    await assertRunsAddUp(store, ownerNo)
  })
}
