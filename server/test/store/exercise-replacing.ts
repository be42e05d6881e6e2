// Runs that replace what waits of their job, as every store keeps them until that is done.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type ReplaceDeps, resumeReplacing } from '../../src/domain/trigger/replace-waiting.ts'
import { startedBy } from './device-reports.ts'
import {
  assertRunsAddUp,
  createOne,
  momentAt,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const request = { where: null, matched: null, note: null, rollbackOf: null, replaces: 1 as const }

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
        (await again.listReplacing()).filter(({ runId }) => runId === replacing.runId)
      assert.deepEqual(await listed(), [{ runId: replacing.runId, keyId: 'k1' }])

      const deps = { store: again, moment: () => momentAt(startedAt + 1) }
      const quiet = { link: { wake() {}, withdraw() {} }, changes: { notify() {} } }
      await resumeReplacing({ ...deps, ...quiet } as unknown as ReplaceDeps)
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
}
